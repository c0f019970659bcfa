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
    // Scenes that do not follow have a node that is about to leave the patch.
    draft.patch.keepInScenes(node, catalogue: draft.catalogue)
    draft.patch.rename(node.id, to: newName)
    draft.patch.settings = draft.patch.settings.renaming { $0 == name ? newName : $0 }
    draft.patch.renameInScenes(name, to: newName)
    draft.isSilent = false
  }

  func inverse(in draft: Draft) -> Edit {
    // A reference that waited for the new name gets the node, and must not follow it back.
    let settings = draft.patch.settings
    let there = settings.renaming { $0 == name ? newName : $0 }
    let back = there.renaming { $0 == newName ? name : $0 }
    // The same for scenes that have a node of the new name and none of the old one.
    let scenes = draft.patch.scenes.filter {
      newName != name && $0.value.follows(name, to: newName) && $0.value.state.id(named: newName) != nil
        && $0.value.state.id(named: name) == nil
    }
    let names = scenes.keys.sorted().map { Edit.scene($0, .edit(.rename(name, to: newName))) }
    return .joined([.rename(newName, to: name)] + (newName == name ? [] : back.edits(to: settings)) + names)
  }

  func describe() -> String { "rename \(name) \(newName)" }
}
