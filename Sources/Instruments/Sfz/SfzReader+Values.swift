import Patch

/// Values of opcodes.
extension SfzReader {
  /// The number 0...127 (or to `last`) after `prefix`, if nothing else follows.
  static func number(in name: String, after prefix: String, last: Int = 127) -> Int? {
    guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)) else { return nil }
    return (0...last).contains(number) ? number : nil
  }

  func set(_ place: inout Float, _ value: Int?) {
    if let value { place = Float(value) }
  }

  func set(_ place: inout Int32, _ value: Int?) {
    if let value { place = Int32(value) }
  }

  mutating func unreadable(_ name: String, _ value: String, _ wanted: String, _ place: SourceLine) {
    find("\(name)=\(value.prefix(60)): \(wanted) is wanted; it has no effect", place)
  }

  /// A number within `range`. A number out of range is limited, and trailing text (`3dB`) is ignored as in
  /// ARIA, both with a finding.
  mutating func real(
    _ name: String, _ value: String, _ range: ClosedRange<Double>, _ place: SourceLine
  ) -> Double? {
    guard let (number, rest) = Self.leadingNumber(value) else {
      unreadable(name, value, "a number", place)
      return nil
    }
    if !rest.isEmpty { garbage(name, value, rest, place) }
    let limited = min(max(number, range.lowerBound), range.upperBound)
    if limited != number {
      find("\(name)=\(value.prefix(60)) is out of range; \(Self.text(limited)) is used", place)
    }
    return limited
  }

  private mutating func garbage(_ name: String, _ value: String, _ rest: Substring, _ place: SourceLine) {
    find("\(name)=\(value.prefix(60)): `\(rest.prefix(40))` is no part of a number and is left out", place)
  }

  /// The number at the start of a value (digits, a point and an exponent), and the rest.
  static func leadingNumber(_ value: String) -> (number: Double, rest: Substring)? {
    let bytes = Array(value.utf8)
    var end = 0
    func digits() -> Int {
      let start = end
      while end < bytes.count, (48...57).contains(bytes[end]) { end += 1 }
      return end - start
    }
    if let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { end += 1 }
    var count = digits()
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      end += 1
      count += digits()
    }
    guard count > 0 else { return nil }
    let mantissa = end
    if end < bytes.count, bytes[end] | 32 == UInt8(ascii: "e") {
      end += 1
      if end < bytes.count, bytes[end] == UInt8(ascii: "-") || bytes[end] == UInt8(ascii: "+") { end += 1 }
      if digits() == 0 { end = mantissa }
    }
    let text = String(decoding: bytes[..<end], as: UTF8.self)
    // Swift does not parse numbers that begin or end with their point.
    let isBare = text.hasSuffix(".") || text.includes(".e") || text.includes(".E")
    let whole = isBare ? text.substituting(".", with: ".0") : text
    let sign = whole.hasPrefix("-") ? "-" : ""
    let plain = whole.drop { $0 == "-" || $0 == "+" }
    guard let number = Double(sign + (plain.hasPrefix(".") ? "0" : "") + plain), number.isFinite else {
      return nil
    }
    return (number, Substring(decoding: bytes[end...], as: UTF8.self))
  }

  mutating func integer(
    _ name: String, _ value: String, _ range: ClosedRange<Int>, _ place: SourceLine
  ) -> Int? {
    real(name, value, Double(range.lowerBound)...Double(range.upperBound), place).map { Int($0) }
  }

  private static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? String(Int(number)) : String(number)
  }

  mutating func isPower(_ name: String, _ value: String, _ place: SourceLine) -> Bool? {
    if value == "power" { return true }
    if value == "gain" { return false }
    unreadable(name, value, "power or gain", place)
    return nil
  }

  /// A key by number or name (C4 is 60), shifted by the `<control>` offsets; -1 is no key.
  mutating func key(_ name: String, _ value: String, _ place: SourceLine) -> Int? {
    let note = Self.leadingNote(value)
    let number = note == nil ? Self.leadingNumber(value) : nil
    guard let written = note?.key ?? number.map({ Int(min(max($0.number, -2000), 2000)) }) else {
      unreadable(name, value, "a key such as 60 or C4", place)
      return nil
    }
    if let rest = note?.rest ?? number?.rest, !rest.isEmpty { garbage(name, value, rest, place) }
    if written == -1, note == nil { return -1 }
    let offset = noteOffset + 12 * octaveOffset + (name.hasPrefix("sw_") ? switchOffset : 0)
    let (key, overflow) = written.addingReportingOverflow(offset)
    guard !overflow, (-1000...1000).contains(key) else {
      unreadable(name, value, "a key 0...127", place)
      return nil
    }
    let limited = min(max(key, 0), 127)
    // Offsets may intentionally move the ends of a range out of bounds.
    if limited != key, offset == 0 {
      find("\(name)=\(value) is out of range; \(limited) is used", place)
    }
    return limited
  }

  static func noteKey(_ text: String) -> Int? {
    leadingNote(text).flatMap { $0.rest.isEmpty ? $0.key : nil }
  }

  /// The note name at the start of a value, and the rest.
  private static func leadingNote(_ text: String) -> (key: Int, rest: Substring)? {
    var rest = text.lowercased()[...]
    guard let letter = rest.popFirst(),
      let base = ["c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11][letter]
    else { return nil }
    var key = base
    if rest.first == "#" || rest.first == "♯" {
      key += 1
      rest.removeFirst()
    } else if rest.first == "b" || rest.first == "♭" {
      key -= 1
      rest.removeFirst()
    }
    let isNegative = rest.first == "-"
    if isNegative { rest.removeFirst() }
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits) else { return nil }
    let octave = isNegative ? -number : number
    guard (-1...10).contains(octave) else { return nil }
    return (key + 12 * (octave + 1), rest.dropFirst(digits.count))
  }
}
