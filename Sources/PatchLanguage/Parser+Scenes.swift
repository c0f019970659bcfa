import Patch

/// Arguments of scenes.
extension Parser {
  mutating func sceneNumber(_ verb: Verb) throws(Fault) -> Int {
    let token = try word("the number of a scene", verb)
    let text = source.string(token.range)
    guard let number = Int(text) else { throw Fault(token.start, .notNumber(text, "the number of a scene")) }
    mark(.number(number), token.start)
    return number
  }

  /// `1 2`: two scenes.
  mutating func morph(_ verb: Verb) throws(Fault) -> Morph {
    let from = try sceneNumber(verb)
    return Morph(from, try sceneNumber(verb))
  }

  mutating func percent(_ verb: Verb) throws(Fault) -> Double {
    let token = try word("a place such as `40%`", verb)
    let percent = try number(token.range, in: .percent, "a place in percent")
    mark(.value(Value.number(percent, .percent).line), token.start)
    return percent
  }

  /// A name in quotes, `off`, or an edit of the scene; nothing: the present state under the old name. A name that is a
  /// word and no verb needs no quotes.
  mutating func sceneChange(_ verb: Verb) throws(Fault) -> SceneChange {
    guard position < end else { return .store(name: nil) }
    let token = tokens[position]
    if accept(Word.dropped.text) { return .drop }
    let isAlone = position + 1 == end && token.kind == .word
    let isQuoted = source.bytes[token.start] == UInt8(ascii: "\"")
    if isQuoted || isAlone && Verb.named(source.string(token.range)) == nil {
      _ = advance()
      return .store(name: try Words.text(source, token.range))
    }
    let (inner, statement) = try self.statement()
    guard case .edit(let edit) = statement, inner.name != verb.name else {
      throw Fault(token.start, .notInScene(inner))
    }
    return .edit(edit)
  }
}
