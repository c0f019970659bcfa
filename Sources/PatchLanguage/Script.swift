import Patch

/// One line of a script with its time.
public struct ScriptLine: Hashable, Sendable {
  /// Seconds from the start.
  public var time: Double
  /// A line of the language, without its time.
  public var text: String
  /// Line of the text in the file, from 1.
  public var line: Int
  /// Column of the text in the file, from 1.
  public var column: Int
}

/// Scripts: statements with times. A line may begin with `at 1.5s`; otherwise it has the time of the line
/// before.
public enum Script {
  /// Maximum length of a script in seconds: a week.
  public static let longest = 604_800.0

  /// The lines in order of time (of equal times, in file order), without blank lines and comments.
  public static func read(_ text: String, file: String) -> (lines: [ScriptLine], diagnostics: [Diagnostic]) {
    let source = Source(text, file: file)
    var lines: [ScriptLine] = []
    var diagnostics: [Diagnostic] = []
    var time = 0.0
    var start = 0
    var number = 0
    while start < source.bytes.count {
      let end = source.bytes[start...].firstIndex(of: 10) ?? source.bytes.count
      do throws(Fault) {
        if let line = try read(source, start..<end, number: number, time: &time) { lines.append(line) }
      } catch {
        diagnostics.append(
          source.diagnostic(error, line: number, start: start))
      }
      start = end + 1
      number += 1
    }
    let ordered = lines.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    return (ordered.map(\.element), diagnostics)
  }

  private static func read(
    _ source: Source, _ range: Range<Int>, number: Int, time: inout Double
  ) throws(Fault) -> ScriptLine? {
    var tokens: [Token] = []
    let comment = try Lexer.split(source.bytes, range, into: &tokens)
    guard let first = tokens.first else { return nil }
    var begin = first.start
    if source.string(first.range) == "at" {
      guard tokens.count > 1 else { throw Fault(first.end, .noTime(nil)) }
      let text = source.string(tokens[1].range)
      guard let value = Value(number: text), case .number(let seconds, let unit) = value,
        unit == .seconds || unit == .none, seconds >= 0, seconds.isFinite
      else { throw Fault(tokens[1].start, .noTime(text)) }
      guard seconds <= longest else {
        throw Fault(tokens[1].start, .tooLate(text))
      }
      time = seconds
      guard tokens.count > 2 else { return nil }
      begin = tokens[2].start
    } else if source.string(first.range) == "sostenuto" {
      return nil
    }
    let end = comment.map { $0.lowerBound - 1 } ?? range.upperBound
    let column = source.string(range.lowerBound..<begin).count + 1
    var last = end
    while last > begin, Lexer.isBlank(source.bytes[last - 1]) { last -= 1 }
    return ScriptLine(time: time, text: source.string(begin..<last), line: number + 1, column: column)
  }
}
