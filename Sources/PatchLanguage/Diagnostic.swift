import Patch

/// An error or warning at a place in a text.
public struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
  /// Error or warning.
  public enum Severity: String, Sendable {
    /// An error leaves the line out; a warning does not.
    case error, warning
  }

  /// Name of the file as given; empty at a prompt.
  public var file: String
  /// Line number, from 1.
  public var line: Int
  /// Column in characters, from 1.
  public var column: Int
  /// Error or warning.
  public var severity: Severity
  /// Description of the problem.
  public var message: String
  /// Suggested correction.
  public var hint: String?

  /// A diagnostic at a position in a file.
  public init(
    file: String, line: Int, column: Int, severity: Severity = .error, message: String, hint: String? = nil
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.severity = severity
    self.message = message
    self.hint = hint
  }

  /// The message with its hint, without a place: "no node `pian`; did you mean `piano`?"
  public var words: String { hint.map { "\(message); \($0)" } ?? message }

  /// `FILE:LINE:COLUMN: error: message; hint`, escaped, on one line.
  public var description: String {
    let text = "\(severity.rawValue): \(words)"
    return Visible.text(file.isEmpty ? "\(column): \(text)" : "\(file):\(line):\(column): \(text)")
  }
}

extension [Diagnostic] {
  /// The first error, or else the first warning, and the number of others, for one line; nil: there is none.
  public var summary: (text: String, isError: Bool)? {
    let errors = filter { $0.severity == .error }
    guard let first = errors.first ?? first else { return nil }
    let others = (errors.isEmpty ? self : errors).count - 1
    let more = others == 0 ? "" : "(1 of \(others + 1); `sostenuto check` lists them) "
    return (more + first.description, first.severity == .error)
  }
}

/// Cache of the last column computed. Errors are found from left to right, and a line of a megabyte may hold
/// thousands, so counting continues from the last one.
private final class ColumnCount {
  var start = -1
  var offset = 0
  var characters = 0
}

/// The marks of the last line with an error, which may have thousands.
private final class MarkedLine {
  var line = -1 ..< -1
  var marks: [Parser.Mark] = []
}

/// The bytes of a text, and conversion from offsets to places.
struct Source {
  let bytes: [UInt8]
  let file: String
  /// Number of the first line, and column offset on it: for a line taken from a longer text.
  var firstLine = 1
  var firstColumn = 1
  private let counted = ColumnCount()
  private let marked = MarkedLine()

  init(_ text: String, file: String) {
    bytes = Array(text.utf8)
    self.file = file
  }

  init(bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  func string(_ range: Range<Int>) -> String {
    bytes.withUnsafeBufferPointer {
      String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
    }
  }

  /// `line` counts from 0 and begins at byte `start`. Long words in the message are shortened.
  func diagnostic(
    _ offset: Int, line: Int, start: Int, _ message: String, hint: String?,
    severity: Diagnostic.Severity = .error
  ) -> Diagnostic {
    let place = place(offset, line: line, start: start)
    return Diagnostic(
      file: file, line: place.line, column: place.column, severity: severity,
      message: Self.withShortQuotes(message), hint: hint)
  }

  /// Most characters of a quoted word in a message: a pasted one may have thousands.
  private static let longestQuote = 60

  /// A message whose words between backquotes are shortened in the middle.
  private static func withShortQuotes(_ message: String) -> String {
    guard message.utf8.count > longestQuote else { return message }
    let parts = message.split(separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part -> String in
      guard index % 2 == 1, part.count > longestQuote else { return String(part) }
      return String(part.prefix(longestQuote - 20)) + "…" + String(part.suffix(19))
    }.joined(separator: "`")
  }

  /// Place of a byte. `line` counts from 0 and begins at byte `start`.
  func place(_ offset: Int, line: Int, start: Int) -> TextPlace {
    let column = characters(from: start, to: max(start, min(offset, bytes.count)))
    return TextPlace(line: firstLine + line, column: column + (line == 0 ? firstColumn : 1))
  }

  /// The same for a fault, in words.
  func diagnostic(_ fault: Fault, line: Int, start: Int) -> Diagnostic {
    diagnostic(fault.offset, line: line, start: start, fault.reason.message, hint: fault.reason.hint)
  }

  private func characters(from start: Int, to offset: Int) -> Int {
    if counted.start != start || counted.offset > offset {
      (counted.start, counted.offset, counted.characters) = (start, start, 0)
    }
    let characters = counted.characters + string(counted.offset..<offset).count
    // Only before ASCII does a character certainly end.
    if offset < bytes.count, bytes[offset] > 32, bytes[offset] < 127 {
      (counted.offset, counted.characters) = (offset, characters)
    }
    return characters
  }

  /// Offset of the part that an error is about in a line; the line's first word if it is none of its parts.
  func offset(of part: EditError.Part?, in line: Range<Int>) -> Int {
    guard let part else { return line.lowerBound }
    if marked.line != line { (marked.line, marked.marks) = (line, marks(in: line)) }
    return marked.marks.first { $0.part.covers(part) }?.offset ?? line.lowerBound
  }

  private func marks(in line: Range<Int>) -> [Parser.Mark] {
    var tokens: [Token] = []
    _ = try? Lexer.split(bytes, line, into: &tokens)
    return StatementParser.clauses(tokens).flatMap { clause in
      var parser = Parser(self, tokens, clause, isMarking: true)
      _ = try? parser.statement()
      return parser.marks ?? []
    }
  }

  static func isNameByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "_") || byte >= 0x80
  }
}
