import Glibc
import Patch

/// Frequency response of a filter or an equalizer, in one row of braille.
///
/// The sections are the analogue ones of Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
/// coefficients", to which the kernels keep.
enum ResponseCurve {
  /// Decibels at the upper and the lower edge of the row.
  private static let span = 12.0

  private struct Section {
    private let frequency: Double
    /// Coefficients of 1, s and s^2; s is 1j at `frequency`.
    private let over: (Double, Double, Double)
    private let under: (Double, Double, Double)

    func decibels(at frequency: Double) -> Double {
      let x = frequency / self.frequency
      let top = hypot(over.0 - over.2 * x * x, over.1 * x)
      let bottom = hypot(under.0 - under.2 * x * x, under.1 * x)
      guard top > 1e-9, bottom > 1e-12 else { return -180 }
      return 20 * log10(top / bottom)
    }

    init?(_ type: String, frequency: Double, decibels: Double, q: Double) {
      self.frequency = max(frequency, 1)
      let k = 1 / max(q, 0.01)
      let g = pow(10, decibels / 40)
      let slope = g.squareRoot() * k
      switch type {
      case "peak": (over, under) = ((1, g * k, 1), (1, k / g, 1))
      case "lowshelf": (over, under) = ((g * g, g * slope, g), (1, slope, g))
      case "highshelf": (over, under) = ((g, g * slope, g * g), (g, slope, 1))
      case "lowpass": (over, under) = ((1, 0, 0), (1, k, 1))
      case "highpass": (over, under) = ((0, 0, 1), (1, k, 1))
      case "bandpass": (over, under) = ((0, k, 0), (1, k, 1))
      case "notch": (over, under) = ((1, 0, 1), (1, k, 1))
      default: return nil
      }
    }
  }

  /// Curve from 20 Hz at the left to 20 kHz at the right, two dots per column; +12 dB at the top, -12 dB at
  /// the bottom.
  static func braille(_ facts: NodeFacts, columns: Int) -> String {
    let sections = sections(facts)
    var field = BrailleField(columns: columns, rows: 1)
    for dot in 0..<field.dotColumns {
      let frequency = 20 * pow(1000, Double(dot) / Double(max(1, field.dotColumns - 1)))
      let level = sections.reduce(0) { $0 + $1.decibels(at: frequency) }
      field.set(dot, min(3, max(0, Int(limited: (span - level) / (2 * span) * 3))))
    }
    return field.text(row: 0)
  }

  private static func sections(_ facts: NodeFacts) -> [Section] {
    func section(_ prefix: String) -> Section? {
      guard
        case .text(let type)? = facts.node.value(at: ParameterPath(prefix + "type"), description: facts.kind)
      else { return nil }
      return Section(
        type, frequency: facts.number(ParameterPath(prefix + "freq")) ?? 1000,
        decibels: max(-60, facts.number(ParameterPath(prefix + "gain")) ?? 0),
        q: facts.number(ParameterPath(prefix + "q")) ?? 0.707)
    }
    guard case .response(let name?)? = facts.kind?.face else { return [section("")].compactMap { $0 } }
    let bands = facts.count(name)
    return bands > 0 ? (1...bands).compactMap { section("band\($0).") } : []
  }
}
