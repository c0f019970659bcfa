import Patch

/// Values as written: bare words, quoted texts, lists.
enum Words {
  static func value(_ source: Source, _ range: Range<Int>) throws(Fault) -> Value {
    try value(source, range, depth: 0)
  }

  private static func value(_ source: Source, _ range: Range<Int>, depth: Int) throws(Fault) -> Value {
    guard let first = range.first else { throw Fault(range.lowerBound, .missing("a value", nil)) }
    switch source.bytes[first] {
    case UInt8(ascii: "\""): return .text(try text(source, range))
    case UInt8(ascii: "["):
      guard depth < 2 else { throw Fault(first, .listTooDeep) }
      return .list(try list(source, range, depth: depth))
    default: return .text(try text(source, range))
    }
  }

  /// A bare word as it is, or the text between quotes.
  static func text(_ source: Source, _ range: Range<Int>) throws(Fault) -> String {
    guard let first = range.first, source.bytes[first] == UInt8(ascii: "\"") else {
      if let quote = source.bytes[range].firstIndex(of: UInt8(ascii: "\"")) {
        throw Fault(quote, .quotedPart)
      }
      return source.string(range)
    }
    let end = try Lexer.afterQuotes(source.bytes, from: first, to: range.upperBound)
    guard end == range.upperBound else { throw Fault(end, .quotedPart) }
    let inner = first + 1..<end - 1
    guard source.bytes[inner].contains(UInt8(ascii: "\\")) else { return source.string(inner) }
    return try unescaped(source, inner)
  }

  private static func unescaped(_ source: Source, _ range: Range<Int>) throws(Fault) -> String {
    var result: [UInt8] = []
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = source.bytes[index]
      guard byte == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
        result.append(byte)
        index += 1
        continue
      }
      switch source.bytes[index + 1] {
      case UInt8(ascii: "n"): result.append(10)
      case UInt8(ascii: "t"): result.append(9)
      case UInt8(ascii: "\""): result.append(UInt8(ascii: "\""))
      case UInt8(ascii: "\\"): result.append(UInt8(ascii: "\\"))
      case UInt8(ascii: "u"):
        guard let close = source.bytes[index..<range.upperBound].firstIndex(of: UInt8(ascii: "}")),
          source.bytes[index + 2] == UInt8(ascii: "{"),
          let code = UInt32(source.string(index + 3..<max(index + 3, close)), radix: 16),
          let scalar = Unicode.Scalar(code)
        else { throw Fault(index, .noCode) }
        result += Array(Character(scalar).utf8)
        index = close + 1
        continue
      default:
        throw Fault(index, .noEscape(source.string(index + 1..<index + 2)))
      }
      index += 2
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func list(_ source: Source, _ range: Range<Int>, depth: Int) throws(Fault) -> [Value] {
    var values: [Value] = []
    for element in try elements(source, range) { values.append(try value(source, element, depth: depth + 1)) }
    return values
  }

  /// Ranges of a list's elements, without surrounding blanks.
  static func elements(_ source: Source, _ range: Range<Int>) throws(Fault) -> [Range<Int>] {
    let bytes = source.bytes
    guard range.count >= 2, bytes[range.upperBound - 1] == UInt8(ascii: "]") else {
      throw Fault(range.lowerBound, .noList)
    }
    let end = range.upperBound - 1
    var elements: [Range<Int>] = []
    var start = range.lowerBound + 1
    var index = start
    var openBrackets = 0
    func element(_ from: Int, _ to: Int) -> Range<Int> {
      var (from, to) = (from, to)
      while from < to, Lexer.isBlank(bytes[from]) { from += 1 }
      while to > from, Lexer.isBlank(bytes[to - 1]) { to -= 1 }
      return from..<to
    }
    while index < end {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        index = try Lexer.afterQuotes(bytes, from: index, to: end)
        continue
      case UInt8(ascii: "["): openBrackets += 1
      case UInt8(ascii: "]"):
        openBrackets -= 1
        if openBrackets < 0 { throw Fault(index, .noList) }
      case UInt8(ascii: ",") where openBrackets == 0:
        elements.append(element(start, index))
        start = index + 1
      default: break
      }
      index += 1
    }
    let isEmpty = elements.isEmpty && bytes[start..<end].allSatisfy(Lexer.isBlank)
    if !isEmpty { elements.append(element(start, end)) }
    return elements
  }
}

/// A word as it may be typed outside the language, such as a path at the prompt.
public enum QuotedText {
  /// The text between quotes, its escapes undone; what does not begin with a quote is taken as it is. Throws for
  /// quotes that are not closed, with the column in the word.
  public static func read(_ word: String) throws(Diagnostic) -> String {
    guard word.utf8.first == UInt8(ascii: "\"") else { return word }
    let source = Source(word, file: "")
    do throws(Fault) {
      return try Words.text(source, 0..<source.bytes.count)
    } catch {
      throw source.diagnostic(error, line: 0, start: 0)
    }
  }
}

/// Names of ports and settings: `piano.out`, `dist.drive`, `main.in[0]`, `main[0,1]`, `main[0..3,0]`,
/// `main.in[..]`.
enum Reference {
  /// Maximum number of settings for one range.
  static let mostPaths = 4096

  static func port(_ source: Source, _ range: Range<Int>) throws(Fault) -> PortName {
    let quotes = source.bytes[range].firstIndex(of: UInt8(ascii: "\""))
    if quotes == range.lowerBound { return try serverPort(source, range) }
    let bare = range.lowerBound..<(quotes ?? range.upperBound)
    let split = source.bytes[bare].firstIndex {
      $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "[")
    }
    guard let split else { return PortName(source.string(range)) }
    if source.bytes[split] == UInt8(ascii: ":") { return try serverPort(source, range) }
    if source.bytes[bare].contains(UInt8(ascii: "[")) { return try element(source, range) }
    guard split > range.lowerBound, split + 1 < range.upperBound else {
      throw Fault(range.lowerBound, .noPort(source.string(range)))
    }
    let (node, rest) = (source.string(range.lowerBound..<split), split + 1..<range.upperBound)
    return PortName(
      node, quotes == rest.lowerBound ? try Words.text(source, rest) : try pattern(source, rest))
  }

  /// `main[0,1]`, `main.in[0]`: the port of an element.
  private static func element(_ source: Source, _ range: Range<Int>) throws(Fault) -> PortName {
    let (node, settings) = try settings(source, range)
    guard let path = settings.single else { throw Fault(range.lowerBound, .portRange(source.string(range))) }
    return PortName(node, path.line)
  }

  /// `"system:playback_*"`: a port of another program, as the server names it.
  private static func serverPort(_ source: Source, _ range: Range<Int>) throws(Fault) -> PortName {
    let text = try Words.text(source, range)
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
      text.index(after: colon) < text.endIndex
    else { throw Fault(range.lowerBound, .noPort(source.string(range))) }
    return PortName(program: String(text[..<colon]), port: String(text[text.index(after: colon)...]))
  }

  /// A port's name, or a pattern of names of another program's ports.
  private static func pattern(_ source: Source, _ range: Range<Int>) throws(Fault) -> String {
    let isStar = { (byte: UInt8) in byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") }
    guard source.bytes[range].contains(where: isStar) else { return try plain(source, range, "a port") }
    for index in range where !isStar(source.bytes[index]) {
      _ = try plain(source, index..<index + 1, "a port")
    }
    return source.string(range)
  }

  /// A name of letters, digits, `_`, `-` and `.`.
  static func plain(_ source: Source, _ range: Range<Int>, _ noun: String) throws(Fault) -> String {
    for index in range {
      let byte = source.bytes[index]
      guard Source.isNameByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else {
        throw Fault(range.lowerBound, .invalidName(source.string(range), of: noun))
      }
    }
    return source.string(range)
  }

  /// The node, and its setting or settings.
  static func settings(_ source: Source, _ range: Range<Int>) throws(Fault) -> (String, ParameterRange) {
    guard
      let split = source.bytes[range].firstIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }
      ),
      split > range.lowerBound
    else {
      throw Fault(range.lowerBound, .noParameter(source.string(range)))
    }
    let name = source.string(range.lowerBound..<split)
    let rest = source.bytes[split] == UInt8(ascii: ".") ? split + 1 : split
    return (name, try settingRange(source, rest..<range.upperBound))
  }

  /// The settings of a closed range. Open ranges are refused, since a node that does not exist yet has no
  /// sizes.
  static func paths(_ source: Source, _ range: Range<Int>) throws(Fault) -> [ParameterPath] {
    let settings = try settingRange(source, range)
    guard let open = settings.spans.first(where: { $0.last == nil }) else { return settings.closedPaths }
    throw Fault(range.lowerBound, .openRange(open))
  }

  /// `drive`, `in[0]`, `[0,1]`, `[0..3,0]`, `in[..]`, `[2..,0]`.
  static func settingRange(_ source: Source, _ range: Range<Int>) throws(Fault) -> ParameterRange {
    guard let open = source.bytes[range].firstIndex(of: UInt8(ascii: "[")) else {
      if range.isEmpty { throw Fault(range.lowerBound, .missing("a parameter", nil)) }
      return ParameterRange(try plain(source, range, "a parameter"))
    }
    guard source.bytes[range.upperBound - 1] == UInt8(ascii: "]"), open + 2 < range.upperBound else {
      throw Fault(open, .noIndex)
    }
    let name = try plain(source, range.lowerBound..<open, "a parameter")
    var spans: [ParameterRange.Span] = []
    var count = 1
    for element in try Words.elements(source, open..<range.upperBound) {
      let part = source.string(element)
      guard let span = span(part) else {
        throw Fault(element.lowerBound, .notIndex(part, .setting))
      }
      count *= span.last.map { $0 - span.first + 1 } ?? 1
      guard count <= mostPaths else { throw Fault(element.lowerBound, .tooManySettings(part)) }
      spans.append(span)
    }
    return ParameterRange(name, spans)
  }

  /// `3`, `0..7`, `2..`, `..7`, `..`.
  static func span(_ text: String) -> ParameterRange.Span? {
    if let index = Int(text), (0..<mostPaths).contains(index) { return ParameterRange.Span(index) }
    guard let dots = text.place(of: "..") else { return nil }
    let (low, high) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard let first = low.isEmpty ? 0 : Int(low), (0..<mostPaths).contains(first) else { return nil }
    if high.isEmpty { return ParameterRange.Span(first, nil) }
    guard let last = Int(high), first <= last, last < mostPaths else { return nil }
    return ParameterRange.Span(first, last)
  }
}
