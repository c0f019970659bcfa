/// `move dist before main`, `move dist last`: moves a node's paragraph in the file.
struct MoveNode: EditVerbs {
  var name: String
  /// The node that will follow it; nil: none, it becomes the last.
  var before: String?

  func apply(to draft: inout Draft) throws(EditError) {
    let node = try draft.patch.node(named: name)
    let next = try before.map { name throws(EditError) in try draft.patch.node(named: name) }
    if next?.id == node.id { throw .beforeItself(name) }
    draft.patch.move(node.id, before: next?.id)
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let node = try draft.patch.node(named: name)
    return .move(name, before: draft.patch.node(after: node.id)?.name)
  }

  func describe() -> String { "move \(name) " + (before.map { "before \($0)" } ?? "last") }
}
