/// `copy dist dist2`: a new node with the kind and the settings of another one, without its cables, place and
/// comments.
struct CopyNode: EditMacro {
  var name: String
  var newName: String

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let original = try draft.patch.node(named: name)
    return .add(Node(name: newName, kind: original.kind, settings: original.settings), before: nil)
  }

  func describe() -> String { "copy \(name) \(newName)" }
}
