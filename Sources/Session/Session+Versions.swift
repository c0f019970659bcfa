import Engine
import Patch
import PatchLanguage

/// A file that others changed while it was open here.
extension Session {
  /// Loads the file's present version as one undoable edit; nodes that stay go on sounding. Files that nodes lack
  /// are tried again. Returns a description.
  public func reload() throws -> String {
    try take(try readAgain())
    // An instrument's own file may be as it was, and the sound that it names be there now.
    retryFailures(all: true)
    return "reloaded \(file ?? ""); undo brings your own edits back"
  }

  /// Merges others' changes with the edits made here, as one undoable edit that is not saved yet. On a
  /// conflict, our side wins. Returns a description.
  public func merge() throws -> String {
    let version = try readAgain()
    let merged = merged(with: version)
    try take(merged, of: version)
    guard let first = merged.conflicts.first else { return "merged with \(file ?? ""), not saved yet" }
    let count = merged.conflicts.count
    return "\(count) conflict\(count == 1 ? "" : "s"), yours kept (\(first)\(count > 1 ? ", …" : ""));"
      + " merged with \(file ?? ""), not saved yet"
  }

  /// Contents of the file.
  struct Version {
    var bytes: [UInt8]
    var patch: Patch
    var diagnostics: [Diagnostic]

    /// The first line that could not be read.
    var fault: Diagnostic? { diagnostics.first { $0.severity == .error } }
  }

  /// Takes the whole version in place of the patch.
  func take(_ version: Version) throws {
    try edit(to: version.patch)
    accept(version.bytes, as: patch)
    saved = patch
    diagnostics = version.diagnostics
    journal?.clear()
    journaled = (0, 0)
  }

  func merged(with version: Version) -> PatchMerge.Result {
    PatchMerge.merge(base: common, ours: patch, theirs: version.patch, catalogue: catalogue)
  }

  /// Takes the result of a merge with the version.
  func take(_ merged: PatchMerge.Result, of version: Version) throws {
    try edit(to: merged.patch)
    accept(version.bytes, as: version.patch)
    let text = PatchWriter.write(patch, catalogue: catalogue, whole: true)
    saved =
      text == PatchWriter.write(version.patch, catalogue: catalogue, whole: true) ? patch : version.patch
    diagnostics = version.diagnostics
    if keepsJournal, journalFault == nil {
      do { try rewriteJournal() } catch { journal?.postponeRewriting() }
    }
  }

  private func readAgain() throws -> Version {
    guard let file else { throw FileError.noFile(isSaving: false) }
    return version(of: try PatchFile.read(file), in: file)
  }

  func version(of bytes: [UInt8], in file: String) -> Version {
    let (theirs, found) = PatchReader.read(bytes: bytes, file: file, catalogue: catalogue)
    return Version(bytes: bytes, patch: theirs, diagnostics: found)
  }

  /// Edits the patch until it equals `target`, which has its own insides of sub-patches: no edit means others of the same file,
  /// or what a file has.
  func edit(to target: Patch) throws {
    let edits = try PatchDifference.edits(from: patch, to: target, catalogue: catalogue)
    if !edits.isEmpty { try perform(exactly: .joined(edits)) }
  }

  private func accept(_ bytes: [UInt8], as version: Patch) {
    savedBytes = bytes
    common = version
    commonBytes = nil
    isForeign = false
    versionConflict = nil
  }
}
