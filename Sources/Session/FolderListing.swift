import Glibc

/// An entry of a folder, for browsers and completion.
package struct FolderEntry: Hashable, Sendable {
  /// Name in its folder.
  package var name: String
  package var isFolder: Bool

  /// The lower-case end of the name behind its last dot; empty: it has none.
  package var ending: String { FolderListing.ending(of: name) }
}

/// Contents of folders.
package enum FolderListing {
  /// The entries that are shown: folders first, each part sorted without regard to case. Hidden ones are left out, and so
  /// are those that are neither files nor folders.
  package static func entries(of folder: String) -> [FolderEntry] {
    let found = PatchFile.names(in: folder).compactMap { name -> FolderEntry? in
      guard !name.hasPrefix(".") else { return nil }
      var facts = stat()
      guard stat(folder + "/" + name, &facts) == 0 else { return nil }
      switch facts.st_mode & S_IFMT {
      case S_IFDIR: return FolderEntry(name: name, isFolder: true)
      case S_IFREG: return FolderEntry(name: name, isFolder: false)
      default: return nil
      }
    }
    return found.sorted { a, b in
      if a.isFolder != b.isFolder { return a.isFolder }
      let names = (a.name.lowercased(), b.name.lowercased())
      return names.0 == names.1 ? a.name < b.name : names.0 < names.1
    }
  }

  package static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  /// The lower-case end of a path's name behind its last dot; empty: it has none.
  package static func ending(of path: String) -> String {
    let name = PatchFile.split(path).name
    return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
  }
}
