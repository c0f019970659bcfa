import Glibc

/// Patches that were opened or saved last, in `$XDG_STATE_HOME/sostenuto/recent`: absolute paths, the newest first.
package enum RecentFiles {
  private static let most = 50

  private static var path: String { StateFolder.path + "/recent" }

  /// Recent files that still exist, the latest first.
  package static func list() -> [String] {
    guard let bytes = try? PatchFile.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { access($0, R_OK) == 0 }
  }

  /// Puts a file at the head. A failure is not reported, since losing the list is harmless.
  package static func note(_ file: String) {
    let full = PatchFile.absolute(PatchFile.resolved(file))
    guard !full.contains("\n") else { return }
    let files = [full] + list().filter { $0 != full }
    PatchFile.makeFolder(StateFolder.path)
    try? PatchFile.replace(path, with: files.prefix(most).map { $0 + "\n" }.joined())
  }
}
