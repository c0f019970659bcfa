import Engine
import Patch
import PatchLanguage

/// What the session writes to its journal, and how it takes up one that was left behind.
extension Session {
  /// On disk before the edit is acknowledged.
  func record(_ record: Journal.Record) {
    guard let journal else { return }
    do throws(FileError) {
      try journal.append(record, base: savedText)
    } catch {
      notice("edits are no longer safe from a crash: \(error.description)")
      self.journal = nil
    }
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

  /// Undoing what was done before the file was saved: the journal does not know that edit, so it gets
  /// what the step does (the inverse of its inverse).
  private func recordStep(_ change: Change) {
    guard let back = try? change.patch.applying(change.inverse, catalogue: Engine.catalogue) else { return }
    record(.apply(back.inverse.line))
    journaled = (0, 0)
  }

  /// Opens the journal of `file`. False: it cannot be had, and the person has been told why.
  func openJournal() -> Bool {
    do throws(FileError) {
      // Patches without a file: the first journal that no other session holds.
      for number in 1...(file == nil ? 99 : 1) {
        journal = try Journal(path: Journal.path(for: file, number: number))
        if journal != nil { return true }
      }
      isLocked = file != nil
      notice(
        "another session has this patch open: edits are kept in memory only, and cannot be saved over it")
    } catch {
      notice("edits are not safe from a crash: \(error.description)")
    }
    return false
  }

  /// Opens the journal; edits in it that were never saved are made again, on the patch that they were
  /// made to, with their undo history.
  func recover() {
    journaled = (0, 0)
    isLocked = false
    guard options.keepsJournal, !options.isOffline, openJournal(), let journal else { return }
    let content: Journal.Content?
    do throws(FileError) {
      content = try journal.read()
    } catch {
      notice("the journal cannot be read: \(error.description)")
      return
    }
    guard let content else {
      journal.clear()
      return
    }
    let text = PatchWriter.write(patch, catalogue: Engine.catalogue)
    let base = PatchReader.read(content.base, file: "", catalogue: Engine.catalogue).patch
    let isSameBase = PatchWriter.write(base, catalogue: Engine.catalogue) == text
    var rehearsal = Rehearsal(patch: base)
    let refused = content.broken + content.records.count { !rehearsal.replay($0) }
    if PatchWriter.write(rehearsal.patch, catalogue: Engine.catalogue) == text {
      // Saved, and then killed before the journal was emptied; or everything was undone.
      journal.clear()
      return
    }
    patch = rehearsal.patch
    history = rehearsal.history
    journaled = rehearsal.depth
    // The steps of a gesture are one edit.
    let records = content.records.count { if case .amend = $0 { false } else { true } }
    let count = max(0, records - (refused - content.broken))
    notice(
      "recovered \(count) unsaved edit\(count == 1 ? "" : "s")"
        + (refused > 0 ? ", \(refused) could not be read" : "") + "; undo takes them back"
    )
    guard !isSameBase else { return }
    notice("the file was changed by another program after those edits began")
    // Differs from any version that the file can have.
    savedStamp = FileStamp.none
  }
}

extension Rehearsal {
  /// False: the record makes no sense here.
  fileprivate mutating func replay(_ record: Journal.Record) -> Bool {
    do {
      switch record {
      case .undo: try perform(.undo)
      case .redo: try perform(.redo)
      case .edit(let line):
        try perform(statement(line))
      case .amend(let line):
        guard case .edit(let edit) = try statement(line) else { return false }
        try amend(edit)
      case .apply(let line):
        guard case .edit(let edit) = try statement(line) else { return false }
        try apply(edit)
      }
      return true
    } catch {
      return false
    }
  }

  private func statement(_ line: String) throws(Diagnostic) -> Statement {
    try StatementParser.parse(line, patch: patch, catalogue: Engine.catalogue)
  }
}
