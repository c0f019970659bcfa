import Drivers
import Engine
import Glibc
import Patch
import PatchLanguage

extension Session {
  /// Opens a patch, and takes up the edits that were made to it and never saved. Errors in it are in
  /// `diagnostics`; its sound lines are in force all the same. A file that does not exist yet is an
  /// empty patch that saving creates.
  public func open(_ path: String) throws(FileError) {
    var bytes: [UInt8]?
    do throws(FileError) {
      bytes = try PatchFile.read(path)
    } catch {
      guard error.code == ENOENT, !options.isOffline else { throw error }
    }
    ProcessMemory.prepare(forText: bytes?.count ?? 0)
    if file != nil || !patch.nodes.isEmpty { leave() }
    file = path
    savedBytes = bytes
    patch = read(bytes ?? [])
    begin()
  }

  /// A new patch without a file; what was left of one that was never saved comes back.
  public func openEmpty() {
    leave()
    begin()
  }

  /// The patch that these bytes are, its errors in `diagnostics`.
  private func read(_ bytes: [UInt8]) -> Patch {
    diagnostics = []
    if bytes.isEmpty { return Patch() }
    let result = PatchReader.read(bytes: bytes, file: file ?? "", catalogue: Engine.catalogue)
    diagnostics = result.diagnostics
    if !options.isOffline, !Self.isText(bytes) { notice("bytes that are not UTF-8 are read as `\u{FFFD}`") }
    return result.patch
  }

  package nonisolated static func isText(_ bytes: [UInt8]) -> Bool {
    // A character of three bytes takes the place of each fault.
    String(validating: bytes, as: UTF8.self) != nil
  }

  private func begin() {
    history = History()
    saved = patch
    common = patch
    commonBytes = nil
    isForeign = false
    recover()
    engine.adopt(patch)
    wishForFiles()
  }

  /// The patch that was open goes; its identities are not to be taken for those of the next.
  private func leave() {
    journal = nil
    patch = Patch()
    file = nil
    savedBytes = nil
    diagnostics = []
    engine.adopt(patch)
    wishForFiles()
  }

  // MARK: Saving

  /// Writes the patch to its file, or to `path` from now on: in canonical form, through a temporary
  /// file that takes the old one's place only when it is whole. Refuses where that would lose what others
  /// wrote or what was not understood (`FileError.obstacle`), but for the reasons in `accepted`. Returns what
  /// was done, in words. A save that fails changes nothing.
  @discardableResult public func save(
    as path: String? = nil, despite accepted: Set<SaveObstacle.Reason> = []
  ) throws(FileError) -> String {
    guard let wanted = path ?? file else { throw FileError("the patch has no file yet: give a name") }
    let isOwn = file.map { PatchFile.isSame($0, wanted) } ?? false
    let target = isOwn ? file ?? wanted : wanted
    let present = try? PatchFile.read(target)
    let obstacles = isOwn ? try ownObstacles(target, present) : foreignObstacles(target)
    for reason in obstacles where !accepted.contains(reason) {
      throw FileError(SaveObstacle(reason: reason, path: target))
    }
    var said = "saved \(target)"
    if isOwn, let present, obstacles.contains(where: { if case .unread = $0 { true } else { false } }) {
      let kept = try PatchFile.keepOriginal(of: target, present)
      said += "; what was not understood is in \(PatchFile.split(kept).name)"
    }
    if isOwn {
      try write(patch, to: target)
    } else {
      try saveElsewhere(target)
    }
    diagnostics = diagnostics.filter { $0.severity == .warning }
    journal?.clear()
    journaled = (0, 0)
    if journal != nil { journalFault = nil }
    return said
  }

  private func write(_ patch: Patch, to target: String) throws(FileError) {
    let text = PatchWriter.write(patch, catalogue: Engine.catalogue)
    try PatchFile.replace(target, with: text)
    self.patch = patch
    saved = patch
    common = patch
    commonBytes = nil
    savedBytes = Array(text.utf8)
    isForeign = false
  }

  /// The patch gets another file, with files that it names as seen from there; the old file's journal goes,
  /// since all that is in it is saved.
  private func saveElsewhere(_ target: String) throws(FileError) {
    let old = (journal, journalFault, isLocked)
    var other: Journal?
    if keepsJournal {
      // Held before anything is written, so that no other session opens the file meanwhile.
      other = try? findJournal(for: target, telling: true)
      if let other, let left = try other.read(), !left.records.isEmpty {
        notice("unsaved edits of what \(target) was are kept as \(try other.keepCopy())")
      }
    }
    let paths = FilePaths(from: file, to: target)
    let moved = paths.rebased(history, of: patch)
    try write(paths.rebased(patch), to: target)
    history = moved
    file = target
    old.0?.remove()
    journal = other
    isLocked = false
    journalFault = nil
    if keepsJournal, other == nil { _ = openJournal() }
    wishForFiles()
  }

  /// Obstacles to saving over the patch's own file.
  private func ownObstacles(_ path: String, _ present: [UInt8]?) throws(FileError) -> [SaveObstacle.Reason] {
    var reasons: [SaveObstacle.Reason] = []
    if isLocked { reasons.append(.openElsewhere) }
    if present == nil, PatchFile.exists(path) { throw PatchFile.failure(path) }
    if let present, isForeign || present != savedBytes { reasons.append(.changed) }
    let lines = Set(diagnostics.filter { $0.severity == .error }.map(\.line)).count
    if lines > 0 || !(present.map(Self.isText) ?? true) { reasons.append(.unread(lines: lines)) }
    return reasons
  }

  /// What speaks against saving over a file that is not the patch's own.
  private func foreignObstacles(_ path: String) -> [SaveObstacle.Reason] {
    guard PatchFile.exists(path) else { return [] }
    return isOpenElsewhere(path) ? [.openElsewhere] : [.exists]
  }

  private func isOpenElsewhere(_ path: String) -> Bool {
    [Journal.besidePath(for: path), Journal.statePath(for: path)].contains { journal in
      let file = Glibc.open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { return false }
      defer { Glibc.close(file) }
      return flock(file, LOCK_EX | LOCK_NB) != 0
    }
  }

  /// Everything since the file was saved is undone. What was undone can be redone.
  public func revert() throws(FileError) {
    // One that is refused would be refused for ever.
    while patch != saved, journaled.undo > 0, undo() != nil {}
    while patch != saved, history.canRedo, redo() != nil {}
    guard patch == saved else {
      throw FileError("the file is not what the edits began with: open it again instead")
    }
    journal?.clear()
    journaled = (0, 0)
  }

  /// Ends the session. Unsaved edits are forgotten, as the person wants it, or stay in the journal for
  /// the next session (after a signal, say).
  public func close(keepingEdits: Bool = false) {
    stop()
    library.cancel()
    if !keepingEdits || !isModified { journal?.remove() } else { journal?.flush() }
    journal = nil
  }
}
