import Analysis
import Patch
import Screen
import Session

extension SoundPainting {
  /// Filled up to the level, without a fill beside another: then this is a line, and the other is filled. The highest
  /// levels are a line above.
  static func drawSpectrum(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    let floor = SoundState.floors[sound.floor]
    let plot = SpectrumPlot(floor: floor, rect: rect)
    var layers: [(BrailleField, ThemeKey)] = []
    if let spectrum = sound.picture.spectrum {
      layers.append((plot.field(spectrum, isFilled: sound.kept?.spectrum == nil), .accent))
    }
    if sound.holdsPeaks, let held = sound.picture.held {
      layers.append((plot.field(held, isFilled: false), .value))
    }
    if let kept = sound.kept?.spectrum { layers.append((plot.field(kept, isFilled: true), .dim)) }
    plot.draw(layers, on: &canvas)
  }

  static func spectrumFacts(_ sound: SoundState) -> [Fact] {
    var facts: [Fact] = []
    if let peak = sound.picture.spectrum?.peak {
      facts.append(
        ("loudest", "\(hertz(peak.frequency)) \(note(peak.frequency, sound)) at \(decibels(peak.level)) dB"))
      if let other = sound.kept?.spectrum {
        // A note a semitone beside it is another one.
        let there = other.peak(from: peak.frequency * 0.97, to: peak.frequency * 1.03)
        if let there {
          facts.append(("above \(sound.kept?.name ?? "")", "\(signed(peak.level - there.level)) dB"))
        }
      }
    } else {
      let isSilent = sound.picture.spectrum?.levels.allSatisfy { $0 <= -120 } ?? true
      facts.append(("loudest", isSilent ? "silence" : "no tone"))
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
