/// Type of an option's or argument's value.
protocol ParameterValue: Sendable {
  /// nil: the word is no such value.
  init?(word: String)
  /// The value as it would be typed.
  var word: String { get }
  /// All values, as they would be typed; empty: more than could be listed.
  static var choices: [String] { get }
}

extension ParameterValue {
  static var choices: [String] { [] }
}

extension ParameterValue where Self: RawRepresentable<String> & CaseIterable {
  init?(word: String) { self.init(rawValue: word) }
  var word: String { rawValue }
  static var choices: [String] { allCases.map(\.rawValue) }
}

extension String: ParameterValue {
  init?(word: String) { self = word }
  var word: String { self }
}

extension Int: ParameterValue {
  init?(word: String) { self.init(word) }
  var word: String { String(self) }
}

extension Double: ParameterValue {
  init?(word: String) { self.init(word) }
  /// Without `.0`.
  var word: String { Int(exactly: self).map(String.init) ?? String(self) }
}

/// Values that an option takes.
struct Limit<Value>: Sendable {
  /// "1 to 8192 frames", after "--period is".
  let words: String
  let contains: @Sendable (Value) -> Bool

  init(_ words: String, contains: @escaping @Sendable (Value) -> Bool) {
    self.words = words
    self.contains = contains
  }
}

extension Limit where Value: ParameterValue & Comparable {
  /// A range; `unit` follows its bounds in the words.
  init(_ range: ClosedRange<Value>, _ unit: String = "") {
    let bounds = "\(range.lowerBound.word) to \(range.upperBound.word)"
    self.init(unit.isEmpty ? bounds : "\(bounds) \(unit)") { range.contains($0) }
  }
}

/// Reason why a value is refused.
enum Refusal {
  /// It is no value of the type.
  case unreadable
  /// The limit's words.
  case outside(String)
}
