/// `insert eq equalizer into dist -> main`
struct InsertNode: EditVerbs {
  var node: Node
  var cable: CableName

  func apply(to draft: inout Draft) throws(EditError) {
    try AllOf(edits: steps(in: draft)).apply(to: &draft)
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    try AllOf(edits: steps(in: draft)).inverse(in: draft)
  }

  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    try AllOf(edits: steps(in: draft)).perform(on: &draft)
  }

  func describe() -> String {
    let line = "insert \(node.name) \(node.kind)\(AddNode.settings(of: node)) into \(cable)"
    return AddNode.joined(line, withRemarksOf: node)
  }

  /// The second cable keeps the gain, map and comments of the replaced one. A new node that passes sound
  /// unchanged therefore changes nothing.
  private func steps(in draft: Draft) throws(EditError) -> [Edit] {
    let patch = draft.patch
    let old = try patch.existing(cable, catalogue: draft.catalogue)
    let name = patch.name(of: old.ends)
    let isEvents = draft.carriesEvents(old.ends)
    var first = CableName(name.source, PortName(node.name))
    var second = CableName(PortName(node.name), name.destination)
    if let kind = draft.catalogue[node.kind] {
      guard let input = kind.inputs.first(where: { $0.isEvents == isEvents }),
        let output = kind.outputs.first(where: { $0.isEvents == isEvents })
      else {
        throw .cannotStand(kind: node.kind, in: name, isEvents ? .events : .audio)
      }
      first.destination.port = input.name
      second.source.port = output.name
    }
    var steps: [Edit] = [
      .disconnect(name), .add(node, before: name.destination.node),
      .connect(first), .connect(second, old.settings),
    ]
    if !old.comments.isEmpty { steps.append(.comment(.cable(second), old.comments)) }
    return steps
  }
}
