/// An edit that expands to others, depending on the patch that it is applied to.
protocol EditMacro: EditVerbs {
  func expanded(in draft: Draft) throws(EditError) -> Edit
}

extension EditMacro {
  func apply(to draft: inout Draft) throws(EditError) { try draft.apply(try expanded(in: draft)) }
  func inverse(in draft: Draft) throws(EditError) -> Edit {
    try expanded(in: draft).verbs.inverse(in: draft)
  }
  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    try draft.perform(try expanded(in: draft))
  }
}

/// `set main[0..7,0] -6dB`, `set main.mute.in[..] off`: one value for several settings.
struct SetRange: EditMacro {
  var name: String
  var range: ParameterRange
  var value: Value?
  /// Seconds.
  var over: Double?

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let node = try draft.patch.node(named: name)
    try SetParameter.check(over: over)
    return .joined(
      try range.paths(of: node, draft.catalogue[node.kind]).map { .set(name, $0, value, over: over) })
  }

  func describe() -> String { SetParameter.line(name + range.suffix, value, over) }
}
