import Engine
import Glibc
import PatchLanguage

@testable import Session

private let saved = """
  sostenuto 1
  node osc oscillator
  node main matrix inputs=4 outputs=2
  node out output
  connect osc -> main
  connect main -> out

  """

/// Opens a session on a journal left by an earlier session. For any content: the patch opens, edits work, a
/// session that ends without saving loses none, and the saved file equals the document shown.
@MainActor func recoverJournal(_ bytes: [UInt8]) {
  empty()
  write(patchPath, saved.utf8)
  write(Journal.besidePath(for: patchPath), bytes)
  guard let recovered = session() else { preconditionFailure("does not open") }
  checkText(recovered.patch)
  _ = try? recovered.perform("node lfo oscillator freq=2Hz")
  _ = try? recovered.undo()
  _ = try? recovered.perform("node lfo oscillator freq=3Hz")
  let shown = text(recovered)
  recovered.close(keepingEdits: true)

  guard let again = session() else { preconditionFailure("does not open again") }
  precondition(text(again) == shown, "edits are lost")
  save(again)
  again.close()
  guard let third = session() else { preconditionFailure("does not open when saved") }
  precondition(text(third) == shown && !third.isModified, "saved as something else")
  third.close()
}

/// Whatever stands in the way is accepted.
@MainActor private func save(_ session: Session) {
  var accepted: Set<SaveObstacle.Reason> = []
  while true {
    do {
      try session.save(despite: accepted)
      return
    } catch {
      guard let obstacle = error.obstacle, accepted.insert(obstacle.reason).inserted else {
        preconditionFailure("cannot be saved: \(error)")
      }
    }
  }
}

@MainActor private func session() -> Session? {
  let session = Session()
  return (try? session.open(patchPath)) == nil ? nil : session
}

@MainActor private func text(_ session: Session) -> String {
  PatchWriter.write(session.patch, catalogue: KindRegistry.builtIn.catalogue)
}

/// Removes files that earlier runs set aside.
private func empty() {
  guard let directory = opendir(folder) else { return }
  defer { closedir(directory) }
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name.contains("fuzz.patch") { unlink(folder + name) }
  }
}
