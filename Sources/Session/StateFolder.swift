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

  /// The folder of that name for when the state folder cannot be written: in a folder of ours for temporary files, which nobody
  /// else may enter. nil: there is none, and none can be made. `creating`: makes it if it is missing. `shared`: the folder for
  /// temporary files.
  static func spare(_ name: String, creating: Bool = true, in shared: String = temporary) -> String? {
    var path = shared + "/sostenuto-\(geteuid())"
    for part in ["", "/" + name] {
      path += part
      if creating { mkdir(path, 0o700) }
      // Where everybody writes, another person may have made a folder, or a link, of this name.
      var info = stat()
      guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid(),
        info.st_mode & 0o077 == 0
      else { return nil }
    }
    return path
  }

  static var temporary: String {
    guard let folder = getenv("TMPDIR"), folder.pointee == CChar(UInt8(ascii: "/")) else { return "/tmp" }
    return String(cString: folder)
  }

  /// The folders of that name in which an earlier session may have left something.
  static func places(_ name: String) -> [String] {
    [path + "/" + name] + (spare(name, creating: false).map { [$0] } ?? [])
  }

  /// Name for a file's data in it: the file's name, and a hash of its whole path.
  static func name(for file: String, after: String) -> String {
    let full = PatchFile.absolute(PatchFile.resolved(file))
    return FileName.joined(
      PatchFile.split(full).name, after: "-" + FileName.hash(full) + after, reserving: FileName.reserve)
  }
}
