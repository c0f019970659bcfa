import Patch

/// Arguments of notes, controllers and the transport.
extension Parser {
  mutating func key(_ verb: Verb) throws(Fault) -> Int {
    let token = try word("a key", verb)
    let text = source.string(token.range)
    if let key = Value.key(named: text) { return key }
    if let key = Int(text), (0...127).contains(key) { return key }
    throw Fault(token.start, .notKey(text))
  }

  func integer(_ token: Token, _ range: ClosedRange<Int>, _ noun: String) throws(Fault) -> Int {
    let text = source.string(token.range)
    guard let number = Int(text), range.contains(number) else {
      throw Fault(token.start, .notInRange(text, noun, range))
    }
    return number
  }

  mutating func bend(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("how far", verb)
    let bend = try number(token.range, in: .none, "a bend from -1 to 1")
    guard (-1...1).contains(bend) else { throw Fault(token.start, .bendOutOfRange(bend)) }
    return bend
  }

  /// `node` or `node.port`
  mutating func source(_ verb: Verb) throws(Fault) -> PortName {
    let token = try word("a node or port", verb)
    let port = try Reference.port(source, token.range)
    mark(.node(port.node), token.start)
    mark(.port(port), token.start)
    return port
  }

  mutating func soundFile(_ verb: Verb) throws(Fault) -> String {
    let token = try word("a file", verb)
    let text = try Words.text(source, token.range)
    guard !text.isEmpty else { throw missing("a file", verb) }
    mark(.value(text), token.start)
    return text
  }

  /// A time in the past; minutes are common there.
  mutating func past(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("a time such as `5min`", verb)
    let text = source.string(token.range)
    guard let seconds = Moment.seconds(text), seconds > 0 else {
      throw Fault(token.start, .notNumber(text, "a time"))
    }
    return seconds
  }

  // MARK: Controls

  /// A control and its target; nil: the words are a performance, whose node may have a number as its name.
  mutating func control(_ verb: Verb) throws(Fault) -> (number: Int, target: ControlTarget?)? {
    guard position < end, tokens[position].kind == .word,
      let number = Int(source.string(tokens[position].range))
    else { return nil }
    let isCable = position + 2 < end && tokens[position + 2].kind == .arrow
    let isNamed =
      position + 1 < end
      && source.bytes[tokens[position + 1].range].contains {
        $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[")
      }
    let isOff = position + 2 == end && source.string(tokens[position + 1].range) == Word.none.text
    let isMorph = position + 4 == end && source.string(tokens[position + 1].range) == Word.morph.text
    guard isCable || isNamed || isOff || isMorph || position + 1 == end else { return nil }
    let first = advance()
    mark(.number(number), first.start)
    guard position < end else { throw missing("what it is to turn, or `off`", verb) }
    if accept(Word.none.text) { return (number, nil) }
    if isMorph, accept(Word.morph.text) { return (number, .morph(try morph(verb))) }
    return (number, try target(verb))
  }

  /// A value that a control or a map moves: `dist.drive`, `main[0,1]`, `piano -> dist`.
  mutating func target(_ verb: Verb) throws(Fault) -> ControlTarget {
    if position + 1 < end, tokens[position + 1].kind == .arrow { return .gain(try cable(verb)) }
    let token = try word("what it is to turn", verb)
    let (name, range) = try setting(token.range)
    guard let path = range.single else { throw Fault(token.start, .controlOfRange) }
    return .setting(name, path)
  }

  /// `tank.time as size`, or `size off`.
  mutating func publication(_ verb: Verb) throws(Fault) -> (name: String, target: ControlTarget?) {
    if position + 2 == end, tokens[position].kind == .word,
      source.string(tokens[position + 1].range) == Word.unpublished.text
    {
      let token = advance()
      _ = accept(Word.unpublished.text)
      let name = source.string(token.range)
      mark(.value(name), token.start)
      return (name, nil)
    }
    let target = try target(verb)
    guard accept(Word.published.text) else { throw missing("`as` and a name", verb) }
    let token = try word("a name", verb)
    let name = source.string(token.range)
    mark(.value(name), token.start)
    if let container = NodePath.container(of: name) { mark(.node(container), token.start) }
    return (name, target)
  }

  // MARK: Transport

  mutating func tempo(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("a tempo", verb)
    let tempo = try number(token.range, in: .none, "a tempo in beats a minute")
    mark(.value(Value.number(tempo, .none).line), token.start)
    return tempo
  }

  mutating func meter(_ verb: Verb) throws(Fault) -> Meter {
    let token = try word("a meter", verb)
    let text = source.string(token.range)
    guard let meter = Meter(text) else { throw Fault(token.start, .noMeter(text)) }
    mark(.value(meter.description), token.start)
    return meter
  }

  /// `5`, or `5.3` for the third beat.
  func bar(_ token: Token) throws(Fault) -> BarPlace {
    let text = source.string(token.range)
    guard let place = BarPlace(text) else { throw Fault(token.start, .noBar(text)) }
    return place
  }

  /// Seconds from the start of the piece.
  mutating func moment(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("a bar or a time", verb)
    let text = source.string(token.range)
    guard let seconds = Moment.seconds(text) else { throw Fault(token.start, .noMoment(text)) }
    guard seconds >= 0 else { throw Fault(token.start, .negativePosition(seconds)) }
    guard seconds <= Script.longest else { throw Fault(token.start, .tooLate(text)) }
    return seconds
  }

  /// Seconds from the start of a file.
  mutating func filePosition(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("a time", verb)
    let seconds = try number(token.range, in: .seconds, "a time")
    guard seconds >= 0, seconds.isFinite else { throw Fault(token.start, .negativePosition(seconds)) }
    return seconds
  }
}
