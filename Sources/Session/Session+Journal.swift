import Drivers
import Engine
import Glibc
import Patch
import PatchLanguage

/// Journaling of a session, and its behaviour when that fails.
extension Session {
  var keepsJournal: Bool { options.keepsJournal && !options.isOffline }

  /// Writes a record before the edit is acknowledged. On failure `journalFault` has the reason, as long as it
  /// lasts.
  func record(_ record: JournalContent.Record) {
    guard keepsJournal, journalFault == nil else { return }
    do throws(FileError) {
      guard let journal else { throw FileError.noJournal }
      try journal.append(record, start: journalStart)
    } catch {
      journalFailed(error)
    }
  }

  /// Returns when the journal has every edit, also on a disk that has kept it waiting.
  package func finishJournal() {
    journal?.finish()
    if let fault = journal?.takeFault() { journalFailed(fault) }
  }

  /// Content before the first record after reading or writing the file.
  private var journalStart: JournalContent {
    let text = commonBytes ?? savedBytes ?? []
    return JournalContent(
      owner: file.map { PatchFile.absolute(PatchFile.resolved($0)) }, file: text, base: text)
  }

  private func journalFailed(_ error: FileError) {
    guard journalFault == nil else { return }
    journalFault = error.code == 0 ? error.description : String(cString: strerror(error.code))
    nextMending = 0
    notice("edits are not safe from a crash until this has passed: \(error.description)")
  }

  func recordUndo(_ change: Change) {
    if journaled.undo > 0 {
      record(.undo)
      journaled = (journaled.undo - 1, journaled.redo + 1)
    } else {
      recordStep(change)
    }
  }

  func recordRedo(_ change: Change) {
    if journaled.redo > 0 {
      record(.redo)
      journaled = (journaled.undo + 1, journaled.redo - 1)
    } else {
      recordStep(change)
    }
  }

  /// Records a change that the journal can have by no line of its own, such as an undo of an edit from before the last save:
  /// it gets the edit that the step makes (the inverse of its inverse).
  func recordStep(_ change: Change) {
    guard let back = try? change.patch.applying(exactly: change.inverse, catalogue: catalogue) else {
      journalFailed(.stepNotRecorded)
      return
    }
    record(.apply(back.inverse.line))
    journaled = (0, 0)
  }

  /// Opens the journal of `file`. False: not possible; the reason has been reported.
  func openJournal() -> Bool {
    journal = nil
    isLocked = false
    journalFault = nil
    do throws(FileError) {
      journal = try findJournal(for: file, telling: true, recovering: true)
      if journal != nil { return true }
      isLocked = file != nil
      journalFault = "open in another session"
      notice(
        "another session has this patch open: edits are kept in memory only, and it is asked before they are saved"
      )
    } catch {
      journalFailed(error)
    }
    return false
  }

  /// The journal beside the file, or the one in the state folder if the file's folder is not writable. nil:
  /// another session holds it. `recovering`: for a patch without a file, one with edits will do.
  func findJournal(for file: String?, telling: Bool, recovering: Bool = false) throws(FileError) -> Journal? {
    var found: [String] = []
    defer { if telling { for text in found { notice(text) } } }
    guard let file else { return try findUntitledJournal(recovering: recovering, &found) }
    do throws(FileError) {
      return try Journal.open(at: Journal.besidePath(for: file), notices: &found)
    } catch {
      guard [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.code),
        let journal = try? Journal.open(at: Journal.statePath(for: file), notices: &found)
      else { throw error }
      return journal
    }
  }

  /// For a patch without a file, of the journals that no other session holds: the first with edits of a patch that began as
  /// this one, or as any if this one begins empty; or else the first without edits. nil: there is none.
  private func findUntitledJournal(recovering: Bool, _ notices: inout [String]) throws(FileError) -> Journal?
  {
    var free: Journal?
    for number in 1...99 {
      let path = Journal.untitledPath(number)
      if free != nil, !PatchFile.exists(path) { break }
      guard let journal = try Journal.open(at: path, notices: &notices) else { continue }
      if journal.isEmpty {
        free = free ?? journal
      } else if recovering, let content = try? journal.read() {
        if commonBytes.map({ content.file == JournalContent.whole($0) }) ?? true { return journal }
        notices.append(
          "unsaved edits of another patch without a name are kept: `sostenuto` alone brings them back")
      }
    }
    return free
  }

  /// Called after each edit and periodically: restarts a failed journal, and shortens a long one.
  func maintainJournal() {
    guard keepsJournal else { return }
    if journalFault == nil {
      if let journal {
        if let error = journal.takeFault() { journalFailed(error) }
        if journal.isLong { shortenJournal() }
      }
    }
    guard journalFault != nil, monotonicTime() >= nextMending else { return }
    nextMending = monotonicTime() + 250_000_000
    beginJournalAnew()
  }

  private func shortenJournal() {
    do throws(FileError) {
      try rewriteJournal()
    } catch {
      // It continues as it is, and grows.
      journal?.postponeRewriting()
    }
  }

  /// Starts a new journal with everything unsaved, once there is room again and no other session holds it.
  private func beginJournalAnew() {
    do throws(FileError) {
      if journal?.isGone ?? true {
        journal = nil
        guard let other = try findJournal(for: file, telling: true) else { return }
        // A session that held it ended with edits, which must stay.
        if !other.isEmpty {
          let kept = try other.keepCopy()
          other.clear()
          notice("another session of this patch ended with unsaved edits: its journal is kept as \(kept)")
        }
        journal = other
      }
      try rewriteJournal()
      journalFault = nil
      isLocked = false
      notice(.news("edits are safe from a crash again"))
    } catch {
      if error.code != 0 { journalFault = String(cString: strerror(error.code)) }
    }
  }

  /// Replaces the journal by the whole state: the oldest undoable state, and the edits since.
  func rewriteJournal() throws(FileError) {
    guard let journal else { throw FileError.noJournal }
    if patch == saved, !isForeign {
      journal.clear()
      journaled = (0, 0)
      return
    }
    let (content, depth) = journalContent
    try journal.rewrite(content)
    journaled = depth
  }

  private var journalContent: (JournalContent, depth: (undo: Int, redo: Int)) {
    let text = PatchWriter.write(patch, catalogue: catalogue, whole: true)
    var content = journalStart
    if let origin = try? history.origin(of: patch, catalogue: catalogue) {
      let undone = history.redoList
      content.base = Array(PatchWriter.write(origin, catalogue: catalogue, whole: true).utf8)
      content.records = (history.undoList.reversed() + undone).map { .edit($0) }
      content.records += undone.map { _ in .undo }
      // Used only if a rehearsal leads to the present patch.
      var rehearsal = Rehearsal(
        patch: PatchReader.read(bytes: content.base, file: "", catalogue: catalogue).patch,
        catalogue: catalogue)
      rehearsal.acceptsUnknownKinds = true
      let isWhole = content.records.allSatisfy { rehearsal.replay($0) }
      if isWhole, PatchWriter.write(rehearsal.patch, catalogue: catalogue, whole: true) == text {
        return (content, rehearsal.depth)
      }
    }
    content.base = Array(text.utf8)
    content.records = []
    return (content, (0, 0))
  }
}
