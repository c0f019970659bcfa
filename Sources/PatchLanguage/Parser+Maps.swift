import Patch

/// Arguments of `map`.
extension Parser {
  /// `in.cc74 -> filter.freq 200Hz..8kHz curve=log`; no course for `off`.
  mutating func controllerMap(_ verb: Verb) throws(Fault) -> (name: MapName, course: MapCourse?) {
    let name = try mapName(verb)
    if accept(Word.gone.text) { return (name, nil) }
    var course = MapCourse()
    while position < end, tokens[position].kind == .word {
      let token = advance()
      if token.equals > 0 {
        try option(token, into: &course)
      } else if course.ends == nil {
        course.ends = try ends(token)
      } else {
        throw Fault(token.start, .surplus(source.string(token.range), verb))
      }
    }
    return (name, course)
  }

  /// `in.cc74 -> filter.freq`
  mutating func mapName(_ verb: Verb) throws(Fault) -> MapName {
    let token = try word("a controller such as `in.cc74`", verb)
    let text = source.string(token.range)
    guard let point = text.firstIndex(of: "."), point > text.startIndex,
      let sender = MapSource(String(text[..<point]), word: text[text.index(after: point)...])
    else { throw Fault(token.start, .noSender(text)) }
    mark(.node(sender.node), token.start)
    guard position < end, tokens[position].kind == .arrow else { throw missing("`->`", verb) }
    _ = advance()
    return MapName(sender, try target(verb))
  }

  /// `LOW..HIGH`
  private mutating func ends(_ token: Token) throws(Fault) -> MapCourse.Ends {
    let text = source.string(token.range)
    guard let dots = text.place(of: ".."), dots.lowerBound > text.startIndex, dots.upperBound < text.endIndex
    else { throw Fault(token.start, .noEnds(text)) }
    let (low, high) = (String(text[..<dots.lowerBound]), String(text[dots.upperBound...]))
    guard !Quoting.needsQuotes(low), !Quoting.needsQuotes(high) else {
      throw Fault(token.start, .noEnds(text))
    }
    mark(.value(low), token.start)
    mark(.value(high), token.end - high.utf8.count)
    return MapCourse.Ends(low, high)
  }

  private mutating func option(_ token: Token, into course: inout MapCourse) throws(Fault) {
    let key = source.string(token.start..<token.equals)
    let word = source.string(token.equals + 1..<token.end)
    mark(.word(key), token.start)
    func choice<T: RawRepresentable<String>>(_ option: MapOption) throws(Fault) -> T {
      guard let choice = T(rawValue: word) else {
        throw Fault(token.equals + 1, .noOptionWord(word, of: option))
      }
      return choice
    }
    switch key {
    case MapOption.curve.name: course.curve = try choice(MapOption.curve)
    case MapOption.mode.name: course.mode = try choice(MapOption.mode)
    case MapOption.takeover.name: course.takeover = try choice(MapOption.takeover)
    case MapOption.echo.name:
      guard NodeName.fault(in: word) == nil else {
        throw Fault(token.equals + 1, .invalidName(word, of: "a node"))
      }
      mark(.node(word), token.equals + 1)
      mark(.value(word), token.equals + 1)
      course.echo = word
    default: throw Fault(token.start, .noMapOption(key))
    }
  }
}
