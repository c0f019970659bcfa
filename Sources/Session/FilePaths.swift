import Engine
import Glibc
import Patch

/// Adapts the paths in a patch, which are relative to its folder, when it moves.
enum FilePaths {
  /// The patch for `new`'s folder, with the same files. `old`: its previous place; nil: paths are relative to
  /// the working folder.
  static func rebased(_ patch: Patch, from old: String?, to new: String) -> Patch {
    let before = folder(of: old)
    let after = folder(of: new)
    guard before != after else { return patch }
    var patch = patch
    for node in patch.nodes.values {
      guard let kind = Engine.catalogue[node.kind] else { continue }
      for (path, value) in node.settings where kind[parameter: path.name]?.form == .file {
        guard case .text(let file) = value, !file.isEmpty, !file.hasPrefix("/") else { continue }
        let edit = Edit.set(
          node.name, path, .text(relative(absolute(file, in: before), to: after)), over: nil)
        if let change = try? patch.applying(edit, catalogue: Engine.catalogue) { patch = change.patch }
      }
    }
    return patch
  }

  /// Absolute, without symbolic links.
  private static func folder(of path: String?) -> String {
    PatchFile.absolute(path.map { PatchFile.split($0).folder } ?? ".")
  }

  /// Without `.` and `..`. Resolved by the file system if the file's folder exists, otherwise textually.
  private static func absolute(_ path: String, in folder: String) -> String {
    let full = PatchFile.absolute(folder + "/" + path)
    var parts: [Substring] = []
    for part in full.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// `../samples/x.wav`; absolute if the two have nothing in common.
  private static func relative(_ path: String, to folder: String) -> String {
    let parts = path.split(separator: "/")
    let base = folder.split(separator: "/")
    let common = zip(parts, base).prefix { $0 == $1 }.count
    guard common > 0 else { return path }
    let up = base.dropFirst(common).map { _ in ".." }
    return (up + parts.dropFirst(common).map(String.init)).joined(separator: "/")
  }
}
