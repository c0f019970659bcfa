import Analysis
import Glibc
import Patch
import Screen
import Session

extension SoundPainting {
  /// Frequencies at the left and right edge, Hz.
  private static let frequencies = 20.0...20000.0
  /// Level at the upper edge, dB.
  private static let top = 6.0

  /// Filled up to the level, without a fill beside another: then this is a line, and the other is filled. The highest
  /// levels are a line above.
  static func drawSpectrum(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    let floor = SoundState.floors[sound.floor]
    var layers: [(BrailleField, ThemeKey)] = []
    if let spectrum = sound.picture.spectrum {
      layers.append((field(spectrum, floor, rect.size, isFilled: sound.kept?.spectrum == nil), .accent))
    }
    if sound.holdsPeaks, let held = sound.picture.held {
      layers.append((field(held, floor, rect.size, isFilled: false), .value))
    }
    if let kept = sound.kept?.spectrum {
      layers.append((field(kept, floor, rect.size, isFilled: true), .dim))
    }
    BrailleField.draw(layers, at: rect.origin, on: &canvas)
    let step = rect.rows >= 12 ? -floor / 8 : -floor / 4
    var level = 0.0
    var free = rect.row
    while level > floor {
      let row = rect.row + Int(limited: (top - level) / (top - floor) * Double(rect.rows - 1))
      if row >= free {
        label(Printout.fixed(level, 0), row: row, rect, on: &canvas)
        free = row + 1
      }
      level -= step
    }
    let marks = [20.0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]
    labels(
      marks.map { ($0 < 1000 ? Printout.fixed($0, 0) : Printout.fixed($0 / 1000, 0) + "k", share($0)) }, rect,
      on: &canvas)
  }

  private static func share(_ frequency: Double) -> Double {
    log(frequency / frequencies.lowerBound) / log(frequencies.upperBound / frequencies.lowerBound)
  }

  private static func frequency(_ share: Double) -> Double {
    frequencies.lowerBound * pow(frequencies.upperBound / frequencies.lowerBound, share)
  }

  private static func field(_ spectrum: Spectrum, _ floor: Double, _ size: Size, isFilled: Bool)
    -> BrailleField
  {
    var field = BrailleField(columns: size.columns, rows: size.rows)
    var before: Int?
    for dot in 0..<field.dotColumns {
      let low = frequency((Double(dot) - 0.5) / Double(max(1, field.dotColumns - 1)))
      let high = frequency((Double(dot) + 0.5) / Double(max(1, field.dotColumns - 1)))
      guard let level = spectrum.level(from: low, to: high) else { break }
      let share = (top - Double(level)) / (top - floor)
      let row = max(0, Int(limited: share * Double(field.dotRows - 1)))
      // A line goes from where it was to where it is; what lies below the picture is not there.
      let from = before ?? row
      let first = isFilled ? row : min(row, from + 1)
      let last = isFilled ? field.dotRows - 1 : max(row, from - 1)
      if first < field.dotRows { field.set(dot, rows: first...max(first, last)) }
      before = row
    }
    return field
  }

  static func spectrumFacts(_ sound: SoundState) -> [Fact] {
    var facts: [Fact] = []
    if let peak = sound.picture.spectrum?.peak {
      facts.append(
        ("loudest", "\(hertz(peak.frequency)) \(note(peak.frequency, sound)) at \(decibels(peak.level)) dB"))
      if let other = sound.kept?.spectrum {
        let there = other.peak(from: peak.frequency * 0.99, to: peak.frequency * 1.01)
        if let there {
          facts.append(("above \(sound.kept?.name ?? "")", "\(signed(peak.level - there.level)) dB"))
        }
      }
    } else {
      facts.append(("loudest", "silence"))
    }
    if sound.holdsPeaks, let peak = sound.picture.held?.peak {
      facts.append(("held", "\(hertz(peak.frequency)) at \(decibels(peak.level)) dB"))
    }
    facts.append(("down to", "\(Printout.fixed(SoundState.floors[sound.floor], 0)) dB"))
    return facts
  }

  private static func note(_ frequency: Double, _ sound: SoundState) -> String {
    name(of: Pitch(frequency: frequency), sound)
  }
}
