/// `disconnect piano -> dist`
struct Disconnect: EditVerbs {
  var name: CableName

  func apply(to draft: inout Draft) throws(EditError) {
    let cable = try draft.patch.existing(name, catalogue: draft.catalogue)
    draft.patch.unplug(cable.ends)
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let cable = try draft.patch.existing(name, catalogue: draft.catalogue)
    return .joined(Connect.restoring(cable.ends, in: draft.patch))
  }

  func describe() -> String { "disconnect \(name)" }
}
