/// Formatting of values, for the language (exact: parsing gives the same bits) and for people.
extension Value {
  /// The value in the edit language: `-6dB`, `1.2kHz`, `[0.5,1]`, `"two words"`.
  public var line: String {
    switch self {
    case .number(let number, let unit): Self.exact(number, unit)
    case .text(let text): Quoting.word(text)
    case .list(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
    }
  }

  /// Rounded, for views: `-6.0 dB`, `1.20 kHz`, `250 ms`.
  public var display: String {
    switch self {
    case .number(let number, let unit): Self.rounded(number, unit)
    case .text(let text): text
    case .list(let values): values.map(\.display).joined(separator: ", ")
    }
  }

  /// The name of a MIDI key, with sharps: 60 is `C4`, 0 is `C-1`.
  public static func noteName(_ key: Int) -> String {
    let names = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]
    let pitch = ((key % 12) + 12) % 12
    return names[pitch] + String((key - pitch) / 12 - 1)
  }

  private static func exact(_ number: Double, _ unit: Unit) -> String {
    guard number.isFinite else { return "-inf" }
    switch unit {
    case .hertz where abs(number) >= 1000: return decimal(number, scaledBy: -3) + "kHz"
    case .seconds where number != 0 && abs(number) < 1: return decimal(number, scaledBy: 3) + "ms"
    case .key:
      if let key = Int(exactly: number), (0...127).contains(key) { return noteName(key) }
      return decimal(number, scaledBy: 0) + "note"
    case .notes: return NoteLength.line(number) ?? decimal(number, scaledBy: 0) + "/1"
    default: return decimal(number, scaledBy: 0) + unit.rawValue
    }
  }

  private static func rounded(_ number: Double, _ unit: Unit) -> String {
    guard number.isFinite else { return number < 0 ? "-inf dB" : "inf" }
    switch unit {
    case .decibels: return fixed(number, digits: 1) + " dB"
    case .hertz:
      if abs(number) >= 1000 { return fixed(number / 1000, digits: 2) + " kHz" }
      return fixed(number, digits: number != 0 && abs(number) < 1 ? 3 : 1) + " Hz"
    case .seconds:
      return abs(number) < 1 ? fixed(number * 1000, digits: 1) + " ms" : fixed(number, digits: 2) + " s"
    case .key:
      if let key = Int(exactly: number), (0...127).contains(key) { return noteName(key) }
      return fixed(number, digits: 2)
    case .notes: return exact(number, unit)
    case .percent: return fixed(number, digits: 0) + " %"
    case .cents, .semitones, .octaves: return fixed(number, digits: 1) + " " + unit.rawValue
    case .none:
      if let whole = Int(exactly: number) { return String(whole) }
      return fixed(number, digits: 3)
    }
  }

  /// Number with `digits` digits after the point.
  private static func fixed(_ number: Double, digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (number * scale).rounded()
    guard abs(scaled) < 1e15 else { return "\(number)" }
    let whole = Int(abs(scaled))
    let sign = scaled < 0 ? "-" : ""
    guard digits > 0 else { return sign + String(whole) }
    let text = String(whole)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return sign + padded.dropLast(digits) + "." + padded.suffix(digits)
  }

  /// The shortest decimal that parses to the same bits, its point moved right by `shift`.
  static func decimal(_ number: Double, scaledBy shift: Int) -> String {
    if shift == 0, let whole = Int(exactly: number), whole.magnitude < 1_000_000_000_000_000 {
      return String(whole)
    }
    var digits: [UInt8] = []
    var exponent = 0
    var isNegative = false
    var afterPoint = false
    var text = number.description.utf8[...]
    while let byte = text.popFirst() {
      switch byte {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "."): afterPoint = true
      case UInt8(ascii: "e"):
        exponent += Int(Substring(text)) ?? 0
        text = text[text.endIndex...]
      default:
        digits.append(byte)
        if afterPoint { exponent -= 1 }
      }
    }
    exponent += shift
    while digits.count > 1, digits.last == 48 {
      digits.removeLast()
      exponent += 1
    }
    let leading = digits.prefix { $0 == 48 }.count
    digits.removeFirst(min(leading, digits.count - 1))
    if digits == [48] { return "0" }

    let sign = isNegative ? "-" : ""
    let point = digits.count + exponent
    let body = String(decoding: digits, as: UTF8.self)
    if point > 18 || point < -8 { return sign + body + "e\(exponent)" }
    if exponent >= 0 { return sign + body + String(repeating: "0", count: exponent) }
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + body }
    return sign + body.prefix(point) + "." + body.dropFirst(point)
  }
}

/// Quoting of words of the language.
public enum Quoting {
  /// `text` as one word: without quotes if that parses to the same text.
  public static func word(_ text: String) -> String { needsQuotes(text) ? quoted(text) : text }

  /// `text` in quotes, with escapes.
  public static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default:
        if Visible.isHidden(scalar) {
          result += Visible.escaped(scalar)
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  package static func needsQuotes(_ text: String) -> Bool {
    if text.isEmpty || text == "default" || text == "over" { return true }
    var previous: UInt8 = 32
    var isPlain = true
    for byte in text.utf8 {
      switch byte {
      case 0...32, 127, UInt8(ascii: "\""), UInt8(ascii: ";"), UInt8(ascii: "["), UInt8(ascii: "]"),
        UInt8(ascii: ","):
        return true
      case UInt8(ascii: "#") where previous == 32: return true
      case UInt8(ascii: ">") where previous == UInt8(ascii: "-"): return true
      case 0x80...: isPlain = false
      default: break
      }
      previous = byte
    }
    return !isPlain
      && text.unicodeScalars.contains { $0.properties.isWhitespace || Visible.isHidden($0) }
  }
}
