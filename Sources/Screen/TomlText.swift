import TOMLKit

/// A syntax error in TOML; `line` counts from 1.
package struct TomlFault: Error, CustomStringConvertible {
  package var line: Int
  package var description: String
}

/// TOML as used in the user's themes and keymaps.
package enum TomlText {
  /// The parsed table. Input that would crash the library, or that it would accept silently, is rejected
  /// first.
  package static func table(_ text: String) throws(TomlFault) -> TOMLTable {
    if let line = line(withNamelessTable: text) {
      throw TomlFault(line: line, description: "a table's name is missing after `[`")
    }
    if let line = line(withList: text) {
      throw TomlFault(
        line: line, description: "a list or a text of several lines, which no theme or keymap has")
    }
    if let end = text.utf8.firstIndex(of: 0) {
      let line = text.utf8[..<end].count { $0 == 10 } + 1
      throw TomlFault(line: line, description: "a null character, which no text has")
    }
    do {
      return try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw TomlFault(line: error.source.begin.line, description: error.description)
    } catch {
      throw TomlFault(line: 1, description: "\(error)")
    }
  }

  /// The first line with a `[` followed by neither a name nor `]`: toml++ 3.4 assumes one of them, and aborts
  /// otherwise.
  private static func line(withNamelessTable text: String) -> Int? {
    var line = 1
    var isAtStart = true
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == "[", isAtStart {
        var name = rest.drop { $0 == " " || $0 == "\t" }
        if name.first == "[" { name = name.dropFirst().drop { $0 == " " || $0 == "\t" } }
        guard let first = name.first, first == "]" || isNameStart(first) else { return line }
      }
      if scalar == "\n" { line += 1 }
      isAtStart =
        "\n\r\u{B}\u{C}\u{85}\u{2028}\u{2029}".unicodeScalars.contains(scalar)
        || isAtStart && (scalar.properties.isWhitespace || scalar == "\u{FEFF}")
    }
    return nil
  }

  /// The first line with a `[` after other text, or with three quotes: toml++ 3.4 aborts at `[}` too, and
  /// themes and keymaps have no lists.
  private static func line(withList text: String) -> Int? {
    let bytes = Array(text.utf8)
    var line = 1
    var isAtStart = true
    var quote: UInt8?
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 10 {
        (quote, isAtStart) = (nil, true)
        line += 1
      } else if let open = quote {
        if byte == open { quote = nil }
        if byte == UInt8(ascii: "\\"), open == UInt8(ascii: "\""), index + 1 < bytes.count,
          bytes[index + 1] != 10
        {
          index += 1
        }
      } else if byte == UInt8(ascii: "#") {
        while index + 1 < bytes.count, bytes[index + 1] != 10 { index += 1 }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        if bytes[index...].prefix(3).count(where: { $0 == byte }) == 3 { return line }
        (quote, isAtStart) = (byte, false)
      } else if byte == UInt8(ascii: "[") {
        guard isAtStart else { return line }
      } else if byte > 32 {
        isAtStart = false
      }
      index += 1
    }
    return nil
  }

  private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      || scalar == "_" || scalar == "-" || scalar == "\"" || scalar == "'"
  }
}
