import Patch

/// The words of faults.
extension Fault.Reason {
  /// The reason.
  var message: String {
    switch self {
    case .unopenedBracket: "`]` without `[`"
    case .unclosedBracket: "`[` without `]`"
    case .unclosedQuotes: "the quotes are not closed"
    case .quotedPart: "quotes go around the whole value"
    case .noCode: "a code is written `\\u{1F3B9}`"
    case .noEscape(let letter): "`\\\(letter)` means nothing"
    case .noList: "a list is written `[a,b]`"
    case .listTooDeep: "a list cannot be this deep"
    case .conflictMarker: "a conflict of two versions begins, ends or divides here"
    case .noVerb(let name): "no verb `\(name)`"
    case .missing(let noun, _): "\(noun) is missing"
    case .surplus(let word, _): "`\(word)` is too much"
    case .noChoice(let word, let choice): "\(choice.refusal ?? "no") `\(word)`"
    case .portRange(let text): "a cable leads to one port, not to `\(text)`"
    case .noPort(let text): "`\(text)` is not a port"
    case .noParameter(let text): "`\(text)` names no parameter"
    case .invalidName(let text, let noun): "`\(text)` cannot be \(noun)"
    case .noIndex: "an index is written `[0]` or `[0,1]`"
    case .notIndex(let text, .matrix(let noun)): "`\(text)` is not \(noun)"
    case .notIndex(let text, _): "`\(text)` is not an index"
    case .tooManySettings(let text): "`\(text)` is too many"
    case .openRange(let span): "`\(span.line)` has no end here"
    case .noMixing(let word): "`mix` is `speakers` or `discrete`, not `\(word)`"
    case .noAttribute(let key): "a cable has no `\(key)`"
    case .needsDepth(let key): "`\(key)` wants a depth before it"
    case .noCurve(let word): "`curve` cannot be `\(word)`"
    case .setTwice(let path): "`\(path.line)` is set twice"
    case .notNumber(let text, let noun): "`\(text)` is not \(noun)"
    case .notInRange(let text, let noun, let range):
      "`\(text)` is not \(noun) from \(range.lowerBound) to \(range.upperBound)"
    case .noMap: "a map is a list such as `[0,1]`"
    case .noChannel(let value): "a map holds channel numbers and -1, not `\(value.line)`"
    case .noPlace(let text): "a place is `COLUMN,ROW`, not `\(text)`"
    case .commentOfRange: "a comment is about one line"
    case .controlOfRange: "a control turns one value"
    case .noSender(let text): "`\(text)` names no controller"
    case .noMapOption(let key): "a map has no `\(key)`"
    case .noOptionWord(let word, let option): "`\(option.name)` cannot be `\(word)`"
    case .noEnds(let text): "`\(text)` is no range"
    case .notKey(let text): "`\(text)` is not a key"
    case .bendOutOfRange: "a bend goes from -1 to 1"
    case .negativePosition: "a position is not negative"
    case .noMeter(let text): "`\(text)` is not a meter"
    case .noBar(let text): "`\(text)` is not a bar"
    case .noMoment(let text): "`\(text)` is neither a bar nor a time"
    case .lateVersion: "`sostenuto 1` is the first line of a file"
    case .wrongVersion(let words):
      "this program reads version 1, not \(words.isEmpty ? "none" : "`\(words.joined(separator: " "))`")"
    case .notInFile(let verb): "`\(verb.name)` does not belong in a patch file"
    case .notInScene(let verb): "`\(verb.name)` does not belong in a scene"
    case .durationInFile: "`over` has no meaning in a file"
    case .noTime(let text): text.map { "`\($0)` is not a time" } ?? "a time is missing"
    case .tooLate(let text): "`\(text)` is too late"
    case .refused(let error): error.message
    }
  }

  /// A suggestion: "did you mean `piano`?"
  var hint: String? {
    switch self {
    case .noEscape: "write `\\\\` for a backslash"
    case .conflictMarker: "keep what is right of it, and take the marks away"
    case .noVerb("at"): "times stand in a script, for `--script`"
    case .noVerb(let name): Nearest.hint(for: name, among: Verb.all.lazy.map(\.name))
    case .surplus(_, let verb) where verb.takesValues:
      "write `\(verb.usage)`; a value with spaces is quoted"
    case .missing(_, let verb?), .surplus(_, let verb): "write `\(verb.usage)`"
    case .noChoice(let word, let choice):
      Nearest.hint(for: word, among: choice.words) ?? "there are \(Self.list(choice.words))"
    case .portRange: "write a cable for each"
    case .noPort: "write `node` or `node.port`"
    case .noParameter: "write `node.parameter`"
    case .notIndex(_, .setting): "indices count from 0; a range is `0..3`"
    case .notIndex(_, .span): "write `3` or `0..3`"
    case .notIndex(_, .matrix): "they count from 0"
    case .openRange: "write both, or a line `set NODE[..] VALUE`"
    case .noAttribute(let key):
      Nearest.hint(for: key, among: Attribute.all.map(\.name))
        ?? "it has \(Self.list(Attribute.all.map(\.name)))"
    case .needsDepth: "write `by 2oct` and then the rest"
    case .noCurve(let word):
      Nearest.hint(for: word, among: Attribute.curve.choices)
        ?? "it is one of \(Attribute.curve.choices.joined(separator: ", "))"
    case .noSender:
      "write `node.` and one of \(Self.list(MapSource.Sender.examples)), with `@1` for a channel"
    case .noMapOption(let key):
      Nearest.hint(for: key, among: MapOption.all.map(\.name))
        ?? "it has \(Self.list(MapOption.all.map(\.name)))"
    case .noOptionWord(let word, let option):
      Nearest.hint(for: word, among: option.choices)
        ?? "it is one of \(option.choices.joined(separator: ", "))"
    case .noEnds: "write `200Hz..8kHz`"
    case .noMeter: "write `3/4`"
    case .noBar: "bars count from 1: `bar 5`, or `bar 5.3` for its third beat"
    case .noMoment: "write `bar 5`, `30s` or `2m30s`"
    case .notKey: "keys are C-1 to G9, or 0 to 127"
    case .wrongVersion: "the first line is `sostenuto 1`"
    case .notInFile:
      "a file holds \(Self.list(Verb.all.filter(\.belongsInFiles).map(\.name))) lines; scripts hold the rest"
    case .notInScene: "a scene has nodes, their settings, and cables; its name stands in quotes"
    case .durationInFile: "leave it out"
    case .noTime: "write `at 1.5s …` or `at bar 5 …`"
    case .tooLate: "a script lasts a week at most, 604800s"
    case .refused(let error): error.hint
    case .unopenedBracket, .unclosedBracket, .unclosedQuotes, .quotedPart, .noCode, .noList, .listTooDeep,
      .missing(_, nil), .invalidName, .noIndex, .tooManySettings, .noMixing, .setTwice, .notNumber,
      .notInRange, .noMap, .noChannel, .noPlace, .commentOfRange, .controlOfRange, .bendOutOfRange,
      .negativePosition,
      .lateVersion:
      nil
    }
  }

  /// "node, connect, set and layout"
  private static func list(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.joined() }
    return words.dropLast().joined(separator: ", ") + " and " + last
  }
}

extension Choice {
  /// The words of which one must stand there.
  var words: [String] { branches.map(\.word.text) }
}
