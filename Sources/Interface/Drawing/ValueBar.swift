import Glibc
import Patch
import Screen

/// A value as a bar within its range.
enum ValueBar {
  /// The place of a value in its range, 0...1, evenly in its steps: in dB above -60, in octaves, in decades; nil for words
  /// and lists.
  static func share(of value: Value, _ parameter: ParameterDescription) -> Double? {
    guard case .number(let number, _) = value, let course = course(of: parameter) else { return nil }
    return course.share(number)
  }

  /// The length of a note whose value is near a place in the range.
  static func note(at share: Double, _ parameter: ParameterDescription, wholeNote: Double) -> Value? {
    guard case .number(let number, _)? = value(at: share, parameter) else { return nil }
    return .note(nearest: parameter.unit == .hertz ? 1 / max(number, 1e-6) : number, wholeNote: wholeNote)
  }

  /// The value at a place in the range, in steps that a key makes too, or finer; nil for words and lists.
  static func value(at share: Double, _ parameter: ParameterDescription) -> Value? {
    guard let course = course(of: parameter) else { return nil }
    let share = min(1, max(0, share))
    let (low, high) = (parameter.range.lowerBound, parameter.range.upperBound)
    if share == 0, parameter.unit == .decibels, low < -60 { return .number(low, parameter.unit) }
    let number = course.number(share)
    let isWhole = parameter.form == .integer || parameter.unit == .percent || parameter.unit == .cents
    let digits = 2 - Int(limited: log10(max(abs(number), 1e-6)).rounded(.down))
    let scale = parameter.unit == .decibels ? 2 : isWhole ? 1 : pow(10, Double(min(6, max(0, digits))))
    return .number(min(max((number * scale).rounded() / scale, low), high), parameter.unit)
  }

  /// The bar, between two edges.
  static func spans(_ share: Double, columns: Int) -> [Span] {
    let full = min(columns, max(0, Int(limited: (share * Double(columns)).rounded())))
    return [
      Span("▕", .rule), Span(String(repeating: "█", count: full), .meterLow),
      Span(String(repeating: "░", count: columns - full), .meterEmpty), Span("▏", .rule),
    ]
  }

  /// A range in even steps.
  private struct Course {
    let low: Double
    let high: Double
    let isLogarithmic: Bool

    func share(_ number: Double) -> Double {
      guard high > low else { return 0 }
      let place =
        isLogarithmic ? log(max(number, low) / low) / log(high / low) : (number - low) / (high - low)
      return min(1, max(0, place))
    }

    func number(_ share: Double) -> Double {
      isLogarithmic ? low * pow(high / low, share) : low + share * (high - low)
    }
  }

  private static func course(of parameter: ParameterDescription) -> Course? {
    let (low, high) = (parameter.range.lowerBound, parameter.range.upperBound)
    guard high.isFinite, parameter.form == .continuous || parameter.form == .integer else { return nil }
    switch parameter.unit {
    case .decibels: return Course(low: max(low, -60), high: high, isLogarithmic: false)
    case .hertz where low >= 0: return Course(low: max(low, 1), high: max(high, 2), isLogarithmic: true)
    case .seconds where low >= 0:
      return Course(low: max(low, 0.001), high: max(high, 0.01), isLogarithmic: true)
    default: return low.isFinite ? Course(low: low, high: high, isLogarithmic: false) : nil
    }
  }
}
