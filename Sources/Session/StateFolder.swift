import Glibc
import Recording

/// Folder for data outside the patches' folders: `$XDG_STATE_HOME/sostenuto`, by the XDG base directory
/// specification. Any thread.
package enum StateFolder {
  package static var path: String {
    func variable(_ name: String) -> String? {
      guard let value = getenv(name), value.pointee != 0 else { return nil }
      return String(cString: value)
    }
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/sostenuto" }
    return (variable("HOME") ?? "/tmp") + "/.local/state/sostenuto"
  }

  /// A folder in it, created if it is missing.
  static func folder(_ name: String) -> String {
    let path = path + "/" + name
    PatchFile.makeFolder(path)
    return path
  }

  /// Name for a file's data in it: the file's name, and a hash of its whole path.
  static func name(for file: String, after: String) -> String {
    let full = PatchFile.absolute(PatchFile.resolved(file))
    return FileName.joined(
      PatchFile.split(full).name, after: "-" + FileName.hash(full) + after, reserving: FileName.reserve)
  }
}
