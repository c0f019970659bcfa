import Patch

/// One line of a script with its time.
public struct ScriptLine: Hashable, Sendable {
  /// Seconds from the start; no meaning for a line at a bar.
  public var time: Double
  /// The place at which the transport is when it is due; nil: its time counts.
  public var place: BarPlace?
  /// A line of the language, without its time.
  public var text: String
  /// Line of the text in the file, from 1.
  public var line: Int
  /// Column of the text in the file, from 1.
  public var column: Int
}

/// Scripts: statements with times. A line may begin with `at 1.5s`, or with `at bar 5` or `at bar 5.3`; otherwise it has
/// the time or bar of the line before. A line at a bar is due once, as soon as the transport is there or beyond.
public enum Script {
  /// Maximum length of a script in seconds: a week.
  public static let longest = 604_800.0

  /// The lines in order of time (of equal times, in file order), without blank lines and comments; then those at bars, in
  /// their order.
  public static func read(_ text: String, file: String) -> (lines: [ScriptLine], diagnostics: [Diagnostic]) {
    let source = Source(text, file: file)
    var lines: [ScriptLine] = []
    var diagnostics: [Diagnostic] = []
    var due = (time: 0.0, place: BarPlace?.none)
    let lineEnd = Lexer.lineEnd(of: source.bytes)
    var start = Lexer.start(of: source.bytes)
    var number = 0
    while start < source.bytes.count {
      let end = source.bytes[start...].firstIndex(of: lineEnd) ?? source.bytes.count
      do throws(Fault) {
        if let line = try read(source, start..<end, number: number, due: &due) { lines.append(line) }
      } catch {
        diagnostics.append(
          source.diagnostic(error, line: number, start: start))
      }
      start = end + 1
      number += 1
    }
    let timed = lines.filter { $0.place == nil }.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    let placed = lines.compactMap { line in line.place.map { (line: line, place: $0) } }.enumerated()
      .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
    return (timed.map(\.element) + placed.map(\.element.line), diagnostics)
  }

  private static func read(
    _ source: Source, _ range: Range<Int>, number: Int, due: inout (time: Double, place: BarPlace?)
  ) throws(Fault) -> ScriptLine? {
    var tokens: [Token] = []
    let comment = try Lexer.split(source.bytes, range, into: &tokens)
    guard let first = tokens.first else { return nil }
    var begin = first.start
    if source.string(first.range) == "at" {
      guard tokens.count > 1 else { throw Fault(first.end, .noTime(nil)) }
      let text = source.string(tokens[1].range)
      var used = 2
      if text == Word.bar.text {
        guard tokens.count > 2 else { throw Fault(tokens[1].end, .missing("a bar", nil)) }
        let parser = Parser(source, tokens, 0..<tokens.count)
        due = (0, try parser.bar(tokens[2]))
        used = 3
      } else {
        guard let seconds = Moment.seconds(text), seconds >= 0 else {
          throw Fault(tokens[1].start, .noTime(text))
        }
        guard seconds <= longest else { throw Fault(tokens[1].start, .tooLate(text)) }
        due = (seconds, nil)
      }
      guard tokens.count > used else { return nil }
      begin = tokens[used].start
    } else if source.string(first.range) == "sostenuto" {
      return nil
    }
    let end = comment.map { $0.lowerBound - 1 } ?? range.upperBound
    let column = source.string(range.lowerBound..<begin).count + 1
    var last = end
    while last > begin, Lexer.isBlank(source.bytes[last - 1]) { last -= 1 }
    return ScriptLine(
      time: due.time, place: due.place, text: source.string(begin..<last), line: number + 1, column: column)
  }
}

/// Times in the language.
enum Moment {
  /// Seconds of `1.5s`, `250ms`, `90`, `5min`, `2m` or `2m30s`; nil: it is no time.
  static func seconds(_ text: String) -> Double? {
    if let value = Value(number: text) {
      guard case .number(let seconds, let unit) = value, unit == .seconds || unit == .none else { return nil }
      return seconds.isFinite ? seconds : nil
    }
    guard let mark = text.firstIndex(of: "m"), let minutes = Double(text[..<mark]), minutes >= 0 else {
      return nil
    }
    var rest = text[text.index(after: mark)...]
    if rest.hasPrefix("in") { rest = rest.dropFirst(2) }
    var seconds = 0.0
    if !rest.isEmpty {
      guard case .number(let number, .seconds)? = Value(number: String(rest)), number >= 0 else { return nil }
      seconds = number
    }
    let sum = minutes * 60 + seconds
    return sum.isFinite ? sum : nil
  }
}
