/// `disconnect piano -> dist`
///
/// By the server's names, `disconnect "firefox:out_1" -> "system:playback_1"`, it also ends a connection that is no part
/// of the patch. The patch stays as it is, and the connection is a matter of the session's, which knows from the change
/// what has ended (`Change.ended`); so the edit is its own inverse.
struct Disconnect: EditVerbs {
  var name: CableName

  func apply(to draft: inout Draft) throws(EditError) {
    guard let cable = try cable(in: draft) else { return draft.ended.append(name) }
    draft.patch.keepInScenes(cable.ends)
    draft.patch.unplug(cable.ends)
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    guard let cable = try cable(in: draft) else { return .disconnect(name) }
    return .joined(Connect.restoring(cable.ends, in: draft.patch))
  }

  func describe() -> String { "disconnect \(name)" }

  /// The patch's cable; nil for a connection that only the server has.
  private func cable(in draft: Draft) throws(EditError) -> Cable? {
    do throws(EditError) {
      return try draft.patch.existing(name, catalogue: draft.catalogue)
    } catch {
      let ends = [name.source, name.destination]
      if case .severalCables = error { throw error }
      guard ends.contains(where: { $0.program != nil }) else { throw error }
      for end in ends where end.program == nil { _ = try draft.patch.node(named: end.node) }
      return nil
    }
  }
}
