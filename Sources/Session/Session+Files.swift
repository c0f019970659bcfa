import Drivers
import Engine
import Glibc
import Midi
import Patch
import PatchLanguage

extension Session {
  /// Opens a patch, and restores unsaved edits from its journal. Errors in it are in `diagnostics`; its valid
  /// lines apply all the same. A missing file is an empty patch that saving creates, in a folder that is there.
  public func open(_ path: String) throws(FileError) {
    var bytes: [UInt8]?
    do throws(FileError) {
      bytes = try PatchFile.readArgument(path)
    } catch {
      guard error.code == ENOENT, !options.isOffline else { throw error }
      try Self.checkFolder(of: path)
    }
    ProcessMemory.prepare(forText: bytes?.count ?? 0)
    if file != nil || !patch.nodes.isEmpty { closePatch() }
    file = path
    savedBytes = bytes
    patch = read(bytes ?? [])
    begin()
    if keepsJournal, bytes != nil { RecentFiles.note(path) }
  }

  /// Opens a patch in place of the present one, or a patch that plays the file: an instrument, a sound or a MIDI file. Takes
  /// end. `keepingEdits`: unsaved edits of the present patch stay in its journal. Main thread.
  public func openOther(_ path: String, keepingEdits: Bool = false) throws {
    // A file that cannot be read leaves the present patch as it is.
    let song = StarterPatch.isSong(path) ? try Song.read(path) : nil
    let starter = StarterPatch.text(playing: path)
    if starter != nil, song == nil { _ = try PatchFile.firstByte(of: path) }
    if starter == nil {
      if PatchFile.exists(path) { _ = try PatchFile.read(path) } else { try Self.checkFolder(of: path) }
    }
    endSong()
    finishTakes()
    if keepingEdits, isModified { journal?.flush() } else { journal?.remove() }
    closePatch()
    if let starter {
      openText(starter)
      if song != nil { try playSong(path) }
    } else {
      try open(path)
    }
  }

  /// Edits of a patch whose folder is not there could neither be saved nor be written down as a journal.
  private static func checkFolder(of path: String) throws(FileError) {
    let folder = PatchFile.split(path).folder
    guard PatchFile.exists(folder) else { throw .noFolder(path: folder) }
  }

  /// Opens a new patch without a file; unsaved edits of an earlier one come back.
  public func openEmpty() {
    closePatch()
    begin()
  }

  /// Parses a patch; errors go to `diagnostics`.
  private func read(_ bytes: [UInt8]) -> Patch {
    diagnostics = []
    if bytes.isEmpty { return Patch() }
    let result = PatchReader.read(bytes: bytes, file: file ?? "", catalogue: catalogue)
    diagnostics = result.diagnostics
    if !options.isOffline, !Self.isText(bytes) { notice("bytes that are not UTF-8 are read as `\u{FFFD}`") }
    return result.patch
  }

  package nonisolated static func isText(_ bytes: [UInt8]) -> Bool {
    // Valid UTF-8; otherwise each fault was replaced by a character of three bytes.
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// Opens a patch that is in no file.
  public func openText(_ text: String) {
    let bytes = Array(text.utf8)
    patch = read(bytes)
    begin(text: bytes)
  }

  /// `text`: what a patch without a file begins as.
  private func begin(text: [UInt8]? = nil) {
    history = History()
    saved = patch
    common = patch
    commonBytes = text
    isForeign = false
    fileWatch = FileWatch()
    versionConflict = nil
    recover()
    beginTape()
    engine.adopt(patch)
    supervisor.update(transport: patch.settings.mode)
    requestFiles()
    holdOutputs()
  }

  /// Closes the open patch, so that its identities are not taken for those of the next.
  private func closePatch() {
    journal = nil
    patch = Patch()
    file = nil
    shelf = DefinitionLibrary.Shelf()
    savedBytes = nil
    diagnostics = []
    engine.adopt(patch)
    requestFiles()
    holdOutputs()
  }

  // MARK: Saving

  /// Saves the patch to its file, or to `path` from now on: in canonical form, through a temporary file that
  /// is renamed when it is complete. Throws if that would lose changes by others or unreadable lines
  /// (`FileError.obstacle`), except for reasons in `accepted`. Returns a description. A save that fails
  /// changes nothing.
  @discardableResult public func save(
    as path: String? = nil, despite accepted: Set<SaveObstacle.Reason> = []
  ) throws(FileError) -> String {
    followMaps()
    findDefinitions()
    guard let wanted = path ?? file else { throw FileError.noFile(isSaving: true) }
    let isOwn = file.map { PatchFile.isSame($0, wanted) } ?? false
    let target = isOwn ? file ?? wanted : wanted
    let present = try? PatchFile.read(target)
    let obstacles = try isOwn ? ownObstacles(target, present) : foreignObstacles(target)
    for reason in obstacles where !accepted.contains(reason) {
      throw FileError.obstacle(SaveObstacle(reason: reason, path: target))
    }
    var said = "saved \(target)"
    if isOwn, let present, obstacles.contains(where: { if case .unread = $0 { true } else { false } }) {
      let kept = try PatchFile.keepOriginal(of: target, present)
      said += "; what was not understood is in \(PatchFile.split(kept).name)"
    }
    do throws(EditError) {
      try storeStates()
      try keepEnds()
    } catch {
      throw FileError.statesRefused(error)
    }
    let others = try saveDefinitions(of: patch, for: file, despite: accepted)
    if !others.isEmpty { said += ", with \(others.joined(separator: ", "))" }
    if isOwn {
      try write(patch, to: target)
    } else {
      try saveElsewhere(target)
    }
    diagnostics = diagnostics.filter { $0.severity == .warning }
    journal?.clear()
    journaled = (0, 0)
    if journal != nil { journalFault = nil }
    if keepsJournal { RecentFiles.note(target) }
    return said
  }

  private func write(_ patch: Patch, to target: String) throws(FileError) {
    let text = PatchWriter.write(patch, catalogue: catalogue(for: target))
    try PatchFile.replace(target, with: text)
    self.patch = patch
    saved = patch
    common = patch
    commonBytes = nil
    savedBytes = Array(text.utf8)
    isForeign = false
    versionConflict = nil
  }

  /// Saves to another file, with adapted paths. The old file's journal is removed, since everything in it is
  /// saved.
  private func saveElsewhere(_ target: String) throws(FileError) {
    let old = (journal, journalFault, isLocked)
    var other: Journal?
    if keepsJournal {
      // Locked before anything is written, so that no other session opens the file meanwhile.
      other = try? findJournal(for: target, telling: true)
      if let other, let left = try other.read(), !left.records.isEmpty {
        notice("unsaved edits of what \(target) was are kept as \(try other.keepCopy())")
      }
    }
    let paths = FilePaths(from: file, to: target, catalogue: catalogue)
    let moved = paths.rebased(history, of: patch)
    try write(paths.rebased(patch), to: target)
    history = moved
    file = target
    old.0?.remove()
    journal = other
    isLocked = false
    journalFault = nil
    if keepsJournal, other == nil { _ = openJournal() }
    requestFiles()
  }

  /// Obstacles to saving over the patch's own file.
  private func ownObstacles(_ path: String, _ present: [UInt8]?) throws(FileError) -> [SaveObstacle.Reason] {
    var reasons: [SaveObstacle.Reason] = []
    if isLocked { reasons.append(.openElsewhere) }
    if present == nil, try PatchFile.isReplaceable(path) { throw PatchFile.failure(path) }
    if let present, isForeign || present != savedBytes { reasons.append(.changed) }
    let lines = Set(diagnostics.filter { $0.severity == .error }.map(\.line)).count
    if lines > 0 || !(present.map(Self.isText) ?? true) { reasons.append(.unread(lines: lines)) }
    return reasons
  }

  /// Obstacles to saving over another file.
  private func foreignObstacles(_ path: String) throws(FileError) -> [SaveObstacle.Reason] {
    guard try PatchFile.isReplaceable(path) else { return [] }
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

  /// Undoes all edits since the file was saved. They can be redone.
  public func revert() throws(FileError) {
    do throws(EditError) {
      while patch != saved, journaled.undo > 0, try undo() != nil {}
      while patch != saved, history.canRedo, try redo() != nil {}
    } catch {
      throw FileError.revertRefused(error)
    }
    guard patch == saved else {
      throw FileError.revertedElsewhere
    }
    journal?.clear()
    journaled = (0, 0)
  }

  /// Ends the session. Unsaved edits are discarded, or, with `keepingEdits`, stay in the journal for the next
  /// session (after a signal, for example).
  public func close(keepingEdits: Bool = false) {
    stop()
    library.cancel()
    if !keepingEdits || !isModified { journal?.remove() } else { journal?.flush() }
    journal = nil
  }
}
