import Patch

/// Notes, pedals, controllers and the transport.
extension Parser {
  mutating func performance(_ verb: Verb) throws(Fault) -> Performance {
    let node = try name(verb, "a node")
    switch verb {
    case .note:
      let isOn = try onOrOff(verb)
      let key = try key()
      guard isOn else { return Performance(node, .noteOff(key: key)) }
      var velocity = 100
      if let token = next() { velocity = try integer(token, 1...127, "a velocity") }
      return Performance(node, .noteOn(key: key, velocity: velocity))
    case .pedal:
      let token = try word(verb, "a pedal")
      let name = source.string(token.range)
      guard let pedal = Performance.Pedal(rawValue: name) else {
        throw Fault(
          token.start, "no pedal `\(name)`",
          hint: Nearest.hint(for: name, among: Performance.Pedal.allCases.map(\.rawValue))
            ?? "there are sustain, sostenuto and soft")
      }
      return Performance(node, .pedal(pedal, try onOrOff(verb)))
    case .control:
      let number = try integer(try word(verb, "a controller"), 0...127, "a controller")
      return Performance(node, .control(number, try integer(try word(verb, "a value"), 0...127, "a value")))
    case .bend:
      let token = try word(verb, "how far")
      let bend = try number(token.range, in: .none, "a bend from -1 to 1")
      guard (-1...1).contains(bend) else { throw Fault(token.start, "a bend goes from -1 to 1") }
      return Performance(node, .bend(bend))
    case .play:
      guard accept("at") else { return Performance(node, .play(at: nil)) }
      return Performance(node, .play(at: try seconds(verb)))
    case .cue: return Performance(node, .cue(try seconds(verb)))
    default: return Performance(node, .stop)
    }
  }

  private mutating func onOrOff(_ verb: Verb) throws(Fault) -> Bool {
    if accept("on") { return true }
    if accept("off") { return false }
    throw missing(verb, "`on` or `off`")
  }

  private mutating func key() throws(Fault) -> Int {
    let token = try word(.note, "a key")
    let text = source.string(token.range)
    if let key = Value.key(named: text) { return key }
    if let key = Int(text), (0...127).contains(key) { return key }
    throw Fault(token.start, "`\(text)` is not a key", hint: "keys are C-1 to G9, or 0 to 127")
  }

  private mutating func integer(_ token: Token, _ range: ClosedRange<Int>, _ what: String) throws(Fault)
    -> Int
  {
    let text = source.string(token.range)
    guard let number = Int(text), range.contains(number) else {
      throw Fault(token.start, "`\(text)` is not \(what) from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private mutating func seconds(_ verb: Verb) throws(Fault) -> Double {
    let token = try word(verb, "a time")
    let seconds = try number(token.range, in: .seconds, "a time")
    guard seconds >= 0, seconds.isFinite else { throw Fault(token.start, "a position is not negative") }
    return seconds
  }
}
