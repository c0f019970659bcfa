/// A word of a line, as a range of bytes.
struct Token {
  enum Kind { case word, arrow, separator }
  var kind: Kind
  var start: Int
  var end: Int
  /// Offset of the first `=` outside quotes and brackets; -1 for none.
  var equals = -1

  var range: Range<Int> { start..<end }
}

/// Splits a line into words, arrows, `;` and its comment.
///
/// `#` starts a comment at the start of a line or after a blank. Quotes and brackets hold words together.
/// `->` splits words, except after an `=`.
struct Lexer {
  /// Appends the words of the line, and returns the comment's range (without `#`).
  static func split(
    _ bytes: [UInt8], _ line: Range<Int>, into tokens: inout [Token]
  ) throws(Fault) -> Range<Int>? {
    var index = line.lowerBound
    let end = line.upperBound
    var afterBlank = true
    while index < end {
      let byte = bytes[index]
      if isBlank(byte) {
        afterBlank = true
        index += 1
        continue
      }
      if byte == UInt8(ascii: "#"), afterBlank { return index + 1..<end }
      if byte == UInt8(ascii: ";") {
        tokens.append(Token(kind: .separator, start: index, end: index + 1))
        index += 1
        afterBlank = true
        continue
      }
      if isArrow(bytes, index, end) {
        tokens.append(Token(kind: .arrow, start: index, end: index + 2))
        index += 2
        afterBlank = true
        continue
      }
      let token = try word(bytes, from: index, to: end)
      tokens.append(token)
      index = token.end
      afterBlank = false
    }
    return nil
  }

  private static func word(_ bytes: [UInt8], from start: Int, to end: Int) throws(Fault) -> Token {
    var token = Token(kind: .word, start: start, end: end)
    var index = start
    var openBrackets = 0
    var firstBracket = start
    scan: while index < end {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        index = try afterQuotes(bytes, from: index, to: end)
        continue scan
      case UInt8(ascii: "["):
        if openBrackets == 0 { firstBracket = index }
        openBrackets += 1
      case UInt8(ascii: "]"):
        openBrackets -= 1
        if openBrackets < 0 { throw Fault(index, .unopenedBracket) }
      case UInt8(ascii: "=") where openBrackets == 0 && token.equals < 0: token.equals = index
      case UInt8(ascii: ";") where openBrackets == 0: break scan
      case UInt8(ascii: "-") where openBrackets == 0 && token.equals < 0 && isArrow(bytes, index, end):
        break scan
      default: if openBrackets == 0, isBlank(byte) { break scan }
      }
      index += 1
    }
    if openBrackets > 0 { throw Fault(firstBracket, .unclosedBracket) }
    token.end = index
    return token
  }

  /// Offset of the byte after the closing quote.
  static func afterQuotes(_ bytes: [UInt8], from open: Int, to end: Int) throws(Fault) -> Int {
    var index = open + 1
    while index < end {
      if bytes[index] == UInt8(ascii: "\\") {
        index += 2
      } else if bytes[index] == UInt8(ascii: "\"") {
        return index + 1
      } else {
        index += 1
      }
    }
    throw Fault(open, .unclosedQuotes)
  }

  /// The byte that ends the lines of a text: LF, or CR in a text without any LF, as old editors have it. Before LF, CR is a
  /// blank.
  static func lineEnd(of bytes: [UInt8]) -> UInt8 { bytes.contains(10) || !bytes.contains(13) ? 10 : 13 }

  /// The first byte of a text: behind a byte order mark, if it begins with one.
  static func start(of bytes: [UInt8]) -> Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 13 || byte == 11 || byte == 12
  }

  private static func isArrow(_ bytes: [UInt8], _ index: Int, _ end: Int) -> Bool {
    bytes[index] == UInt8(ascii: "-") && index + 1 < end && bytes[index + 1] == UInt8(ascii: ">")
  }
}
