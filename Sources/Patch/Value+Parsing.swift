/// Parsing of numbers with units: `-6dB`, `-inf`, `80%`, `1.2kHz`, `250ms`, `C#4`, `1/8`.
///
/// Works on bytes and scales by decimal exponent, so that `250ms` and `0.25s` are the same bits.
extension Value {
  /// The number in `text`, in its unit's base; nil if it is not a number.
  public init?(number text: String) {
    var text = text
    let parsed = text.withUTF8 { NumberParser(bytes: $0).parse() }
    guard let (number, unit) = parsed else { return nil }
    self = .number(number, unit)
  }

  /// The MIDI key of a note name (`C4` is 60, `Bb-1`, `f#3`); nil if it is none.
  public static func key(named text: String) -> Int? {
    var text = text
    return text.withUTF8 { NumberParser(bytes: $0).noteName() }
  }
}

struct NumberParser {
  let bytes: UnsafeBufferPointer<UInt8>
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
  ]

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  func parse() -> (Double, Unit)? {
    guard let first = bytes.first else { return nil }
    if isLetter(first) { return noteName().map { (Double($0), .key) } }
    var position = 0
    var isNegative = false
    if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      isNegative = first == UInt8(ascii: "-")
      position = 1
    }
    if isNegative, suffixMatches("inf", from: position, length: 3) {
      guard let (unit, _) = unit(from: position + 3) else { return nil }
      return (-.infinity, unit == .none ? .decibels : unit)
    }
    var mantissa: UInt64 = 0
    var digits = 0
    var significant = 0
    var exponent = 0
    var isExact = true
    func take(_ digit: UInt8) {
      digits += 1
      if significant < 18 {
        mantissa = mantissa * 10 + UInt64(digit - 48)
        if mantissa > 0 { significant += 1 }
      } else {
        isExact = false
        exponent += 1
      }
    }
    while position < bytes.count, isDigit(bytes[position]) {
      take(bytes[position])
      position += 1
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      while position < bytes.count, isDigit(bytes[position]) {
        take(bytes[position])
        exponent -= 1
        position += 1
      }
    }
    guard digits > 0 else { return nil }
    if position < bytes.count, bytes[position] == UInt8(ascii: "/") {
      return NoteLength.parsed(bytes, from: 0).map { ($0, .notes) }
    }
    let digitsEnd = position
    let written = exponentPart(from: &position)
    guard let (unit, scale) = unit(from: position), abs(written) <= 400 else { return nil }
    exponent += written + scale

    var number: Double
    if isExact, mantissa < 1 << 53, abs(exponent) <= 22 {
      number =
        exponent < 0 ? Double(mantissa) / Self.powers[-exponent] : Double(mantissa) * Self.powers[exponent]
    } else {
      let start = isLetter(first) || isDigit(first) || first == UInt8(ascii: ".") ? 0 : 1
      let decimal = String(decoding: bytes[start..<digitsEnd], as: UTF8.self)
      let padded = decimal.hasSuffix(".") ? decimal + "0" : decimal.hasPrefix(".") ? "0" + decimal : decimal
      guard let exact = Double(padded + "e\(written + scale)") else { return nil }
      number = exact
    }
    guard number.isFinite else { return nil }
    if isNegative, number != 0 { number = -number }
    return (number, unit)
  }

  /// The exponent of `e-5`, if digits follow the letter; otherwise 0.
  private func exponentPart(from position: inout Int) -> Int {
    guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return 0 }
    var next = position + 1
    var isNegative = false
    if next < bytes.count, bytes[next] == UInt8(ascii: "-") || bytes[next] == UInt8(ascii: "+") {
      isNegative = bytes[next] == UInt8(ascii: "-")
      next += 1
    }
    let start = next
    var exponent = 0
    while next < bytes.count, isDigit(bytes[next]) {
      if exponent < 10_000 { exponent = exponent * 10 + Int(bytes[next] - 48) }
      next += 1
    }
    guard next > start else { return 0 }
    position = next
    return isNegative ? -exponent : exponent
  }

  /// The unit in the rest of the text, and the power of ten that scales to its base.
  private func unit(from position: Int) -> (Unit, Int)? {
    let length = bytes.count - position
    switch length {
    case 0: return (.none, 0)
    case 1:
      if bytes[position] == UInt8(ascii: "%") { return (.percent, 0) }
      if bytes[position] == UInt8(ascii: "s") { return (.seconds, 0) }
    default:
      for (name, unit, scale) in Self.suffixes where name.utf8.count == length {
        if suffixMatches(name, from: position, length: length) { return (unit, scale) }
      }
    }
    return nil
  }

  private static let suffixes: [(String, Unit, Int)] = [
    ("db", .decibels, 0), ("hz", .hertz, 0), ("khz", .hertz, 3), ("ms", .seconds, -3), ("us", .seconds, -6),
    ("st", .semitones, 0), ("oct", .octaves, 0), ("cents", .cents, 0), ("cent", .cents, 0), ("ct", .cents, 0),
    ("note", .key, 0),
  ]

  private func suffixMatches(_ lowercased: String, from position: Int, length: Int) -> Bool {
    guard bytes.count - position >= length else { return false }
    var index = position
    for byte in lowercased.utf8 {
      if bytes[index] | 0x20 != byte { return false }
      index += 1
    }
    return true
  }

  func noteName() -> Int? {
    guard bytes.count >= 2, bytes.count <= 6 else { return nil }
    var key: Int
    switch bytes[0] | 0x20 {
    case UInt8(ascii: "c"): key = 0
    case UInt8(ascii: "d"): key = 2
    case UInt8(ascii: "e"): key = 4
    case UInt8(ascii: "f"): key = 5
    case UInt8(ascii: "g"): key = 7
    case UInt8(ascii: "a"): key = 9
    case UInt8(ascii: "b"): key = 11
    default: return nil
    }
    var position = 1
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "#") {
        key += 1
      } else if bytes[position] == UInt8(ascii: "b") {
        key -= 1
      } else {
        break
      }
      position += 1
    }
    var isNegative = false
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") {
      isNegative = true
      position += 1
    }
    guard position < bytes.count, bytes.count - position <= 2 else { return nil }
    var octave = 0
    while position < bytes.count {
      guard isDigit(bytes[position]) else { return nil }
      octave = octave * 10 + Int(bytes[position] - 48)
      position += 1
    }
    let number = key + 12 * ((isNegative ? -octave : octave) + 1)
    return (0...127).contains(number) ? number : nil
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }
  private func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 97 < 26 }
}
