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
    let seconds: Double
    if text.hasSuffix("min"), let minutes = Double(text.dropLast(3)) {
      seconds = minutes * 60
    } else {
      seconds = try number(token.range, in: .seconds, "a time")
    }
    guard seconds > 0, seconds.isFinite else { throw Fault(token.start, .notNumber(text, "a time")) }
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
