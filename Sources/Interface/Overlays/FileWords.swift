import Patch
import PatchLanguage
import Session

/// Paths for Tab, wherever one is typed.
enum FileWords {
  /// Endings of files that a node's parameter takes.
  static func endings(_ type: ParameterDescription.FileType) -> [String] {
    switch type {
    case .instrument: StarterPatch.instruments + StarterPatch.sounds
    case .audio, .impulse, .sample, .wavetable: StarterPatch.sounds
    case .scale: ["scl"]
    case .keyMap: ["kbm"]
    case .patch: ["patch"]
    }
  }

  /// Most bytes of a path (`PATH_MAX`).
  private static let longest = 4096

  /// Files that the program opens.
  static let openable =
    ["patch"] + StarterPatch.instruments + StarterPatch.sounds + StarterPatch.songs

  /// Paths that begin with what is typed, folders with a slash at their end. `file`: relative paths begin in its folder;
  /// empty: in the working folder. `endings`: of the files; empty: of any.
  static func paths(_ typed: String, from file: String, endings: [String]) -> [String] {
    if typed.utf8.count > longest { return [] }
    let cut = typed.lastIndex(of: "/").map { typed.index(after: $0) } ?? typed.startIndex
    let (folder, start) = (String(typed[..<cut]), typed[cut...].lowercased())
    let place = FilePath.resolved(folder.isEmpty ? "./" : folder, from: file)
    return FolderListing.entries(of: place)
      .filter { $0.name.lowercased().hasPrefix(start) }
      .filter { $0.isFolder || endings.isEmpty || endings.contains($0.ending) }
      .map { folder + $0.name + ($0.isFolder ? "/" : "") }
  }

  /// The same as words of the language: a folder's quotes stay open, since its path goes on.
  static func candidates(_ typed: String, from file: String, endings: [String]) -> [Completion.Candidate] {
    paths(typed, from: file, endings: endings).map { path in
      let word = Quoting.word(path)
      let isOpen = path.hasSuffix("/") && word.hasPrefix("\"")
      return Completion.Candidate(
        isOpen ? String(word.dropLast()) : word, path.hasSuffix("/") ? "folder" : "")
    }
  }

  @MainActor static func candidates(_ place: Completion.FilePlace, _ desk: Desk) -> [Completion.Candidate] {
    switch place.purpose {
    case .parameter(let type):
      candidates(place.typed, from: desk.workbench.file ?? "", endings: endings(type))
    case .recording: candidates(place.typed, from: "", endings: ["wav", "flac", "ogg", "opus"])
    }
  }

  /// For a command of the program; its argument may be quoted.
  static func argument(_ typed: String, endings: [String]) -> [Completion.Candidate] {
    candidates(String(typed.drop { $0 == "\"" }), from: "", endings: endings)
  }

  /// The beginning that all have in common.
  static func common(_ paths: [String]) -> String {
    guard var common = paths.first else { return "" }
    for path in paths { common = String(zip(common, path).prefix { $0 == $1 }.map(\.0)) }
    return common
  }
}
