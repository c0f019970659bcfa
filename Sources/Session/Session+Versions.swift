import Engine
import Patch
import PatchLanguage

/// A file that others changed while it was open here.
extension Session {
  /// Loads the file's present version as one undoable edit; nodes that stay go on sounding. Returns a
  /// description.
  public func reload() throws -> String {
    let (bytes, theirs, found) = try readAgain()
    try edit(to: theirs)
    accept(bytes, as: patch)
    saved = patch
    diagnostics = found
    journal?.clear()
    journaled = (0, 0)
    return "reloaded \(file ?? ""); undo brings your own edits back"
  }

  /// Merges others' changes with the edits made here, as one undoable edit that is not saved yet. On a
  /// conflict, our side wins. Returns a description.
  public func merge() throws -> String {
    let (bytes, theirs, found) = try readAgain()
    let merged = PatchMerge.merge(
      base: common, ours: patch, theirs: theirs, catalogue: catalogue)
    try edit(to: merged.patch)
    accept(bytes, as: theirs)
    let text = PatchWriter.write(patch, catalogue: catalogue)
    saved = text == PatchWriter.write(theirs, catalogue: catalogue) ? patch : theirs
    diagnostics = found
    if keepsJournal, journalFault == nil {
      do { try rewriteJournal() } catch { journal?.postponeRewriting() }
    }
    guard let first = merged.conflicts.first else { return "merged with \(file ?? ""), not saved yet" }
    let count = merged.conflicts.count
    return "\(count) conflict\(count == 1 ? "" : "s"), yours kept (\(first)\(count > 1 ? ", …" : ""));"
      + " merged with \(file ?? ""), not saved yet"
  }

  private func readAgain() throws -> ([UInt8], Patch, [Diagnostic]) {
    guard let file else { throw FileError.noFile(isSaving: false) }
    let bytes = try PatchFile.read(file)
    let (theirs, found) = PatchReader.read(bytes: bytes, file: file, catalogue: catalogue)
    return (bytes, theirs, found)
  }

  /// Edits the patch until it equals `target`.
  private func edit(to target: Patch) throws {
    let edits = try PatchDifference.edits(from: patch, to: target, catalogue: catalogue)
    guard !edits.isEmpty else { return }
    try perform(edits.count == 1 ? edits[0] : .all(edits), acceptsUnknownKinds: true)
  }

  private func accept(_ bytes: [UInt8], as version: Patch) {
    savedBytes = bytes
    common = version
    commonBytes = nil
    isForeign = false
  }
}
