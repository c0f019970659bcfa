/// `disconnect dist`: every cable of a node.
struct IsolateNode: EditMacro {
  var name: String

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let (patch, catalogue) = (draft.patch, draft.catalogue)
    let node = try patch.node(named: name)
    // A cable from the node to itself is among both.
    let cables =
      patch.cables(into: node.id, catalogue: catalogue)
      + patch.cables(from: node.id, catalogue: catalogue).filter { $0.ends.destination.node != node.id }
    if cables.isEmpty { throw .noCables(name) }
    return .joined(cables.map { .disconnect(patch.name(of: $0.ends)) })
  }

  func describe() -> String { "disconnect \(name)" }
}
