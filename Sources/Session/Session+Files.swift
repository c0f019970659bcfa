import Drivers
import Engine
import Foundation
import Patch
import PatchLanguage

/// Why a file could not be opened or saved, with its name.
public struct FileError: Error, CustomStringConvertible, Sendable {
  public var description: String
  public init(_ description: String) { self.description = description }
}

extension Session {
  /// Opens a patch, and takes up the edits that were made to it and never saved. Errors in it are in
  /// `diagnostics`; its sound lines are in force all the same. A file that does not exist yet is an
  /// empty patch that saving creates.
  public func open(_ path: String) throws(FileError) {
    let text: String
    let stamp = FileStamp(path: path)
    if stamp == nil, PatchFile.descriptor(of: path) == nil {
      guard errno == ENOENT, !options.isOffline else {
        throw FileError("\(path): \(String(cString: strerror(errno)))")
      }
      text = ""
    } else {
      text = String(decoding: try PatchFile.read(path), as: UTF8.self)
    }
    ProcessMemory.prepare(forText: text.utf8.count)
    if file != nil || !patch.nodes.isEmpty { leave() }
    file = path
    savedStamp = stamp
    if text.isEmpty {
      patch = Patch()
      diagnostics = []
    } else {
      (patch, diagnostics) = PatchReader.read(text, file: path, catalogue: Engine.catalogue)
    }
    savedText = text
    begin()
  }

  /// A new patch without a file; what was left of one that was never saved comes back.
  public func openEmpty() {
    leave()
    begin()
  }

  private func begin() {
    history = History()
    saved = patch
    mayOverwrite = false
    recover()
    engine.adopt(patch)
    wishForFiles()
  }

  /// The patch that was open goes; its identities are not to be taken for those of the next.
  private func leave() {
    journal = nil
    patch = Patch()
    file = nil
    savedStamp = nil
    savedText = ""
    diagnostics = []
    engine.adopt(patch)
    wishForFiles()
  }

  /// Writes the patch to its file, or to `path` from now on: in canonical form, through a temporary
  /// file that takes the old one's place only when it is whole. Refuses, in words, where that would lose
  /// what others wrote or what was not understood, until `acceptOverwriting`.
  public func save(as path: String? = nil) throws(FileError) {
    guard let target = path ?? file else { throw FileError("the patch has no file yet: give a name") }
    if path == nil || path == file, !mayOverwrite, let reason = reasonNotToOverwrite(target) {
      throw FileError("\(target) \(reason): save under another name, or again to overwrite it")
    }
    let old = file
    file = target
    if old != target { rebase(from: old, to: target) }
    let text = PatchWriter.write(patch, catalogue: Engine.catalogue)
    do throws(FileError) {
      try PatchFile.replace(target, with: text)
    } catch {
      file = old
      throw error
    }
    saved = patch
    savedText = text
    savedStamp = FileStamp(path: target)
    diagnostics = diagnostics.filter { $0.severity == .warning }
    mayOverwrite = false
    journaled = (0, 0)
    if old != target {
      journal?.remove()
      journal = nil
      isLocked = false
      if options.keepsJournal, !options.isOffline { _ = openJournal() }
    }
    journal?.clear()
  }

  private func reasonNotToOverwrite(_ path: String) -> String? {
    if isLocked { return "is open in another session" }
    if diagnostics.contains(where: { $0.severity == .error }) {
      return "has lines that were not understood, which saving would lose"
    }
    guard let savedStamp, let now = FileStamp(path: path), now != savedStamp else { return nil }
    return "was changed by another program since it was read"
  }

  /// The person was told what speaks against overwriting the file, and wants it: the next `save` does.
  public func acceptOverwriting() { mayOverwrite = true }

  /// Everything since the file was saved is undone. What was undone can be redone.
  public func revert() throws(FileError) {
    while patch != saved, journaled.undo > 0 { undo() }
    while patch != saved, history.canRedo { redo() }
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
    if !keepingEdits || !isModified { journal?.remove() }
    journal = nil
  }

  /// Files that the patch names are found from its new folder too.
  private func rebase(from old: String?, to new: String) {
    let before = old.map { ($0 as NSString).deletingLastPathComponent } ?? ""
    let after = (new as NSString).deletingLastPathComponent
    guard before != after else { return }
    for node in patch.nodes.values {
      for parameter in Engine.catalogue[node.kind]?.parameters ?? [] where parameter.form == .file {
        let name = parameter.name
        guard case .text(let path) = node.settings[ParameterPath(name)], !path.hasPrefix("/"), !path.isEmpty
        else {
          continue
        }
        let full = URL(fileURLWithPath: before.isEmpty ? path : before + "/" + path).standardizedFileURL.path
        let edit = Edit.set(node.name, ParameterPath(name), .text(full), over: nil)
        if let change = try? patch.applying(edit, catalogue: Engine.catalogue) { patch = change.patch }
      }
    }
    wishForFiles()
  }
}
