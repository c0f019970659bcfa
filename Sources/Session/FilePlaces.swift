import Engine
import Glibc
import Instruments
import Patch
import PatchLanguage

/// Textual operations on paths.
package enum FilePath {
  /// Absolute, without `.`, `..` and needless slashes.
  package static func plain(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Resolves a path in a patch from the working folder. It is relative to the folder of `file`, or to the
  /// home folder if it begins with `~/`.
  package static func resolved(_ written: String, from file: String) -> String {
    if written.hasPrefix("/") { return written }
    if written.hasPrefix("~/"), let home { return home + written.dropFirst() }
    guard let slash = file.lastIndex(of: "/") else { return written }
    return file[...slash] + written
  }

  /// The same as an absolute path, which means the file in any patch.
  package static func absolute(_ written: String, from file: String) -> String {
    plain(PatchFile.absolute(resolved(written, from: file)))
  }

  private static var home: String? {
    if let home = getenv("HOME") { return String(cString: home) }
    return getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
  }

  /// The same in the form in which the loader builds names: without needless slashes.
  static func loaderPath(_ written: String, from file: String) -> String {
    let path = resolved(written, from: file)
    return (path.hasPrefix("/") ? "/" : "") + path.split(separator: "/").joined(separator: "/")
  }

  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The real absolute folder of a file; nil if it does not exist.
  static func realFolder(of file: String) -> String? {
    guard let path = realpath(PatchFile.split(file).folder, nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// `path` relative to `folder`, both plain. nil: it lies elsewhere.
  static func relative(_ path: String, to folder: String) -> String? {
    if folder == "/" { return String(path.dropFirst()) }
    return path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : nil
  }

  /// The lowest common folder; plain paths of files.
  static func commonFolder(of files: [String]) -> String {
    var common: [Substring]?
    for file in files {
      let parts = file.split(separator: "/").dropLast()
      guard let known = common else {
        common = Array(parts)
        continue
      }
      common = zip(known, parts).prefix { $0 == $1 }.map(\.0)
    }
    return "/" + (common ?? []).joined(separator: "/")
  }
}

/// A file named in a setting of a patch, with the other files that it needs.
package struct PatchReference: Sendable {
  /// The scene whose node it is; nil: the patch's own.
  package var scene: Int?
  package var node: String
  package var path: ParameterPath
  /// The setting as written.
  package var written: String
  /// The setting resolved from the working folder.
  package var found: String
  /// Absolute, plain; the file itself first. Empty if it cannot be read.
  package var files: [(source: String, place: String)] = []
  /// Reasons why a copy would not sound the same elsewhere.
  package var faults: [String] = []
}

extension Patch {
  /// Every file that the patch and its scenes name, in order; `file`: path of the patch. Instruments are searched for their
  /// includes and samples. Worker.
  package func references(
    from file: String, catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) -> [PatchReference] {
    references(from: file, catalogue, [FilePath.plain(PatchFile.absolute(file))])
  }

  /// `seen`: this file and those that have it inside.
  fileprivate func references(
    from file: String, _ catalogue: KindCatalogue, _ seen: Set<String>
  ) -> [PatchReference] {
    var references: [PatchReference] = []
    let stored = scenes.sorted { $0.key < $1.key }
    let states = stored.map { (number: Int?($0.key), nodes: $0.value.state.nodes) }
    for state in [(nil, nodes)] + states {
      for node in state.nodes.values {
        for parameter in catalogue[node.kind]?.parameters ?? [] where parameter.fileType != nil {
          let path = ParameterPath(parameter.name)
          guard case .text(let written)? = node.settings[path], !written.isEmpty else { continue }
          var reference = Self.reference(node.name, path, written, file)
          if parameter.fileType == .patch { reference.addInside(catalogue, seen) }
          reference.scene = state.number
          references.append(reference)
        }
      }
    }
    for (number, scene) in stored {
      for case .set(let name, let path, .text(let written)?, _) in scene.waitingLines
      where !written.isEmpty && catalogue.takesFile(path.name, of: nil) {
        var reference = Self.reference(name, path, written, file)
        reference.scene = number
        references.append(reference)
      }
    }
    return references
  }

  private static func reference(
    _ node: String, _ path: ParameterPath, _ written: String, _ file: String
  ) -> PatchReference {
    let found = FilePath.loaderPath(written, from: file)
    var reference = PatchReference(node: node, path: path, written: written, found: found)
    do throws(LoadError) {
      let files = try InstrumentFiles(path: found)
      guard let folder = FilePath.realFolder(of: found) else {
        throw LoadError(path: found, .system(ENOENT))
      }
      // Named from its folder as the instrument names it: symbolic links on the way become folders in the
      // copy.
      let named = found.lastIndex(of: "/").map { String(found[...$0]) } ?? ""
      for source in files.paths where source.hasPrefix(named) && (!named.isEmpty || !source.hasPrefix("/")) {
        reference.files.append((source, FilePath.plain(folder + "/" + source.dropFirst(named.count))))
      }
      reference.faults = (files.missing + files.anchored).map(\.description)
    } catch {
      reference.faults = [error.description]
    }
    return reference
  }
}

extension PatchReference {
  /// Adds the files that a sub-patch's own file names, which are found from there.
  fileprivate mutating func addInside(_ catalogue: KindCatalogue, _ seen: Set<String>) {
    guard let place = files.first?.place, !seen.contains(place), let bytes = try? PatchFile.read(found) else {
      return
    }
    let names = catalogue.with(definitions: LibraryNames(for: found, kinds: catalogue))
    let inner = PatchReader.read(bytes: bytes, file: found, catalogue: names).patch
    for reference in inner.references(from: found, catalogue, seen.union([place])) {
      let name = "\(PatchFile.split(found).name): \(reference.node).\(reference.path.line)"
      faults += reference.faults.map { "\(name): \($0)" }
      if reference.written.hasPrefix("/") || reference.written.hasPrefix("~/") {
        faults.append("\(name): `\(reference.written)` is found here only")
      } else {
        files += reference.files
      }
    }
  }
}
