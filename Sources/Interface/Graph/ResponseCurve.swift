import Glibc
import Patch

/// Frequency response of a filter or an equalizer, in one row of braille.
///
/// The sections are those of Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
/// coefficients", evaluated on the unit circle.
enum ResponseCurve {
  /// Decibels at the upper and the lower edge of the row.
  private static let span = 12.0
  private static let rate = 48000.0

  private struct Section {
    var b: (Double, Double, Double)
    var a: (Double, Double, Double)

    func decibels(at frequency: Double) -> Double {
      let w = 2 * Double.pi * frequency / rate
      let (c1, s1, c2, s2) = (cos(w), sin(w), cos(2 * w), sin(2 * w))
      let top = hypot(b.0 + b.1 * c1 + b.2 * c2, b.1 * s1 + b.2 * s2)
      let bottom = hypot(a.0 + a.1 * c1 + a.2 * c2, a.1 * s1 + a.2 * s2)
      guard top > 1e-9, bottom > 1e-12 else { return -180 }
      return 20 * log10(top / bottom)
    }

    init?(_ type: String, frequency: Double, decibels: Double, q: Double) {
      let w = 2 * Double.pi * min(max(frequency, 1), 0.49 * rate) / rate
      let (c, s) = (cos(w), sin(w))
      let alpha = s / (2 * max(q, 0.01))
      let g = pow(10, decibels / 40)
      switch type {
      case "peak":
        b = (1 + alpha * g, -2 * c, 1 - alpha * g)
        a = (1 + alpha / g, -2 * c, 1 - alpha / g)
      case "lowshelf", "highshelf":
        let sign = type == "lowshelf" ? 1.0 : -1.0
        let root = 2 * g.squareRoot() * alpha
        b = (
          g * ((g + 1) - sign * (g - 1) * c + root), sign * 2 * g * ((g - 1) - sign * (g + 1) * c),
          g * ((g + 1) - sign * (g - 1) * c - root)
        )
        a = (
          (g + 1) + sign * (g - 1) * c + root, -sign * 2 * ((g - 1) + sign * (g + 1) * c),
          (g + 1) + sign * (g - 1) * c - root
        )
      case "lowpass":
        b = ((1 - c) / 2, 1 - c, (1 - c) / 2)
        a = (1 + alpha, -2 * c, 1 - alpha)
      case "highpass":
        b = ((1 + c) / 2, -(1 + c), (1 + c) / 2)
        a = (1 + alpha, -2 * c, 1 - alpha)
      case "bandpass":
        b = (alpha, 0, -alpha)
        a = (1 + alpha, -2 * c, 1 - alpha)
      case "notch":
        b = (1, -2 * c, 1)
        a = (1 + alpha, -2 * c, 1 - alpha)
      default: return nil
      }
    }
  }

  /// Curve from 20 Hz at the left to 20 kHz at the right, two dots per column; +12 dB at the top, -12 dB at
  /// the bottom.
  static func braille(_ facts: NodeFacts, columns: Int) -> String {
    let sections = sections(facts)
    let dots = max(0, columns) * 2
    let heights = (0..<dots).map { dot in
      let frequency = 20 * pow(1000, Double(dot) / Double(max(1, dots - 1)))
      let level = sections.reduce(0) { $0 + $1.decibels(at: frequency) }
      return min(3, max(0, Int(limited: (span - level) / (2 * span) * 3)))
    }
    let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
    return String(
      String.UnicodeScalarView(
        (0..<max(0, columns)).compactMap { column in
          Unicode.Scalar(0x2800 + bits[0][heights[2 * column]] + bits[1][heights[2 * column + 1]])
        }))
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
