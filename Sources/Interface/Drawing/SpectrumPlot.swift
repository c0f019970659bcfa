import Analysis
import Glibc
import Screen
import Session

/// Spectra over the logarithm of frequency, with levels at the left and frequencies below.
struct SpectrumPlot {
  /// Lowest level, dB.
  var floor: Double
  /// Place of the curves, without the labels.
  var rect: Rect

  /// Frequencies at the left and right edge, Hz.
  private static let frequencies = 20.0...20000.0
  /// Level at the upper edge, dB.
  private static let top = 6.0

  func draw(_ layers: [(BrailleField, ThemeKey)], on canvas: inout Canvas) {
    BrailleField.draw(layers, at: rect.origin, on: &canvas)
    let step = rect.rows >= 12 ? -floor / 8 : -floor / 4
    var level = 0.0
    var free = rect.row
    while level > floor {
      let row = rect.row + Int(limited: (Self.top - level) / (Self.top - floor) * Double(rect.rows - 1))
      if row >= free {
        PlotLabels.label(Printout.fixed(level, 0), row: row, rect, on: &canvas)
        free = row + 1
      }
      level -= step
    }
    let marks = [20.0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]
    PlotLabels.labels(
      marks.map {
        ($0 < 1000 ? Printout.fixed($0, 0) : Printout.fixed($0 / 1000, 0) + "k", Self.share($0))
      }, rect, on: &canvas)
  }

  private static func share(_ frequency: Double) -> Double {
    log(frequency / frequencies.lowerBound) / log(frequencies.upperBound / frequencies.lowerBound)
  }

  private static func frequency(_ share: Double) -> Double {
    frequencies.lowerBound * pow(frequencies.upperBound / frequencies.lowerBound, share)
  }

  /// A spectrum's curve, or all below it.
  func field(_ spectrum: Spectrum, isFilled: Bool) -> BrailleField {
    var field = BrailleField(columns: rect.columns, rows: rect.rows)
    var before: Int?
    for dot in 0..<field.dotColumns {
      let low = Self.frequency((Double(dot) - 0.5) / Double(max(1, field.dotColumns - 1)))
      let high = Self.frequency((Double(dot) + 0.5) / Double(max(1, field.dotColumns - 1)))
      guard let level = spectrum.level(from: low, to: high) else { break }
      let share = (Self.top - Double(level)) / (Self.top - floor)
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
}
