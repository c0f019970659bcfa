/// Sound files within the text of an SFZ instrument, after a `<sample>` header.
enum EmbeddedSample {
  typealias Decoded = (bytes: [UInt8], end: Int)

  /// Cakewalk's own encoding, as described by sfzformat.info: each byte is shifted by 42, or by 64 after a
  /// `=`; line ends are left out, and a `$` is the end.
  static func rapture(_ text: [UInt8], from start: Int) -> Decoded {
    var bytes: [UInt8] = []
    var index = start
    while index < text.count, text[index] != UInt8(ascii: "$") {
      let byte = text[index]
      index += 1
      if byte == 10 || byte == 13 { continue }
      if byte == UInt8(ascii: "="), index < text.count {
        bytes.append(text[index] &- 64)
        index += 1
      } else {
        bytes.append(byte &- 42)
      }
    }
    return (bytes, min(index + 1, text.count))
  }

  /// Base64 (RFC 4648) over any number of lines, with or without `=` at its end.
  static func base64(_ text: [UInt8], from start: Int) -> Decoded {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    var index = start
    var hasEnded = false
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "=") {
        hasEnded = true
      } else if !SfzScanner.isSpace(byte) {
        guard !hasEnded, let value = value(byte) else { break }
        bits = bits << 6 | UInt32(value)
        count += 1
        if count % 4 == 0 { bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)] }
      }
      index += 1
    }
    if count % 4 == 2 { bytes.append(UInt8(bits >> 4 & 255)) }
    if count % 4 == 3 { bytes += [UInt8(bits >> 10 & 255), UInt8(bits >> 2 & 255)] }
    return (bytes, index)
  }

  private static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
