/// `rename dist fuzz`
struct RenameNode: EditVerbs {
  var name: String
  var newName: String

  func apply(to draft: inout Draft) throws(EditError) {
    let node = try draft.patch.node(named: name)
    if newName == name { return }
    if let fault = NodeName.fault(in: newName) { throw .invalidName(newName, fault) }
    if draft.patch[named: newName] != nil {
      throw .nodeExists(newName, isNew: false)
    }
    draft.patch.rename(node.id, to: newName)
    draft.isSilent = false
  }

  func inverse(in draft: Draft) -> Edit { .rename(newName, to: name) }

  func describe() -> String { "rename \(name) \(newName)" }
}
