import Engine
import Glibc
import Patch
import PatchLanguage

/// Recovery of edits left by an earlier session.
extension Session {
  /// Opens the journal and repeats its unsaved edits on the patch that they were made to, with their undo
  /// history. Edits that cannot be repeated are reported, and kept in a file.
  func recover() {
    journaled = (0, 0)
    isLocked = false
    journalFault = nil
    guard keepsJournal else { return }
    if let file { for text in PatchFile.clearLeftOvers(of: file) { notice(text) } }
    guard openJournal(), let own = journal else { return }
    var source = own
    var content: JournalContent?
    do throws(FileError) {
      content = try own.read()
      if content == nil {
        own.clear()
        if let (other, left) = try journalElsewhere(besides: own) { (source, content) = (other, left) }
      }
    } catch {
      notice("the journal cannot be read: \(error.description)")
      return
    }
    guard let content else { return }
    let isKept = restore(content, from: source)
    if source !== own {
      // From now on it lies in the patch's usual place.
      do throws(FileError) {
        try rewriteJournal()
        source.remove()
      } catch {
        journal = source
      }
    } else if isKept || own.isLong {
      // Edits that could not be restored must not be reported again.
      rewriteRecovered()
    }
  }

  private func rewriteRecovered() {
    do throws(FileError) { try rewriteJournal() } catch { journal?.postponeRewriting() }
  }

  /// Repeats the edits. True: some failed, and a copy of the journal has been kept.
  private func restore(_ content: JournalContent, from source: Journal) -> Bool {
    let text = PatchWriter.write(patch, catalogue: catalogue, whole: true)
    let common = PatchReader.read(bytes: content.file, file: "", catalogue: catalogue).patch
    let isSame = file == nil || PatchWriter.write(common, catalogue: catalogue, whole: true) == text
    if file == nil { commonBytes = content.file }
    let base =
      content.base == content.file
      ? common : PatchReader.read(bytes: content.base, file: "", catalogue: catalogue).patch
    var rehearsal = Rehearsal(patch: base, catalogue: catalogue)
    // Edits that were valid before may name unknown kinds.
    rehearsal.acceptsUnknownKinds = true
    var refused = content.broken
    for record in content.records where !rehearsal.replay(record) { refused.append(record.words) }
    let isKept = !refused.isEmpty && keep(refused, source)
    if PatchWriter.write(rehearsal.patch, catalogue: catalogue, whole: true) == text {
      // Saved, and then killed before the journal was emptied; or everything was undone.
      if refused.isEmpty || isKept { source.clear() }
      return isKept
    }
    patch = rehearsal.patch
    history = rehearsal.history
    journaled = rehearsal.depth
    // The steps of a gesture are one edit.
    let records = content.records.count { if case .amend = $0 { false } else { true } }
    let count = max(1, records - (refused.count - content.broken.count))
    notice(
      .news(
        content.records.isEmpty
          ? "recovered what was not saved"
          : count == 1
            ? "recovered 1 unsaved edit; undo takes it back"
            : "recovered \(count) unsaved edits; undo takes them back"))
    if !isSame {
      notice("the file was changed by others after those edits began")
      isForeign = true
      self.common = common
      commonBytes = content.file
    }
    return isKept
  }

  /// Reports edits that could not be restored, and keeps them.
  private func keep(_ refused: [String], _ source: Journal) -> Bool {
    let first = refused.prefix(3).map { "`\($0.count > 60 ? $0.prefix(60) + "…" : $0[...])`" }
    let names = first.joined(separator: ", ") + (refused.count > first.count ? ", …" : "")
    let what = "\(refused.count) edit\(refused.count == 1 ? "" : "s") could not be restored (\(names))"
    do throws(FileError) {
      notice("\(what); all of the journal is kept as \(try source.keepCopy())")
      return true
    } catch {
      notice("\(what), and the journal could not be copied: \(error.description)")
      return false
    }
  }

  /// A journal of this patch in another place: in the state folder, since the patch's folder was not writable
  /// then; or beside it under an old name of the patch.
  private func journalElsewhere(besides own: Journal) throws(FileError) -> (Journal, JournalContent)? {
    guard let file else { return nil }
    var notices: [String] = []
    let statePath = Journal.statePath(for: file)
    if own.path != statePath,
      let journal = try? Journal.open(at: statePath, creating: false, notices: &notices)
    {
      if let content = try journal.read() { return (journal, content) }
      journal.clear()
    }
    let (folder, name) = PatchFile.split(PatchFile.resolved(file))
    for entry in PatchFile.names(in: folder) where entry.hasPrefix(".") && entry.hasSuffix(".journal") {
      let path = folder + "/" + entry
      guard path != own.path, let content = Self.orphanedContent(path), let owner = content.owner else {
        continue
      }
      let oldName = PatchFile.split(owner).name
      guard oldName != name, !PatchFile.exists(folder + "/" + oldName) else { continue }
      guard content.file == savedBytes.map(JournalContent.whole) else {
        notice("`\(oldName)` is not there, but unsaved edits of it are: open it by that name to see them")
        continue
      }
      guard let journal = try? Journal.open(at: path, creating: false, notices: &notices) else { continue }
      notice(.news("these are edits of `\(oldName)`, as this patch was called"))
      return (journal, content)
    }
    return nil
  }

  /// Content of a journal whose patch may be missing: a plain file of ours that nobody holds.
  private static func orphanedContent(_ path: String) -> JournalContent? {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
      info.st_nlink == 1, info.st_size > 0, flock(file, LOCK_SH | LOCK_NB) == 0,
      let bytes = try? PatchFile.read(file, path),
      JournalContent.heads.contains(where: { bytes.starts(with: ($0 + "\n").utf8) })
    else { return nil }
    let content = JournalContent(reading: bytes)
    return content.records.isEmpty && content.base == content.file ? nil : content
  }
}

extension Rehearsal {
  /// False: the record cannot be applied here.
  mutating func replay(_ record: JournalContent.Record) -> Bool {
    do {
      switch record {
      case .undo:
        guard history.canUndo else { return false }
        try perform(.undo)
      case .redo:
        guard history.canRedo else { return false }
        try perform(.redo)
      case .edit(let line):
        try perform(statement(line))
      case .apply(let line):
        guard case .edit(let edit) = try statement(line) else { return false }
        try perform(exactly: edit)
      case .amend(let line):
        guard history.canUndo, case .edit(let edit) = try statement(line) else { return false }
        try amend(edit)
      }
      return true
    } catch {
      return false
    }
  }

  private func statement(_ line: String) throws(Diagnostic) -> Statement {
    try StatementParser.parse(line, patch: patch, catalogue: catalogue)
  }
}
