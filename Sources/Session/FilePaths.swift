import Engine
import Glibc
import Patch
import PatchLanguage

/// Rewrites the paths in a patch and its history, which are relative to the patch's folder, when the patch moves.
package struct FilePaths {
  private let before: String
  private let after: String
  private let catalogue: KindCatalogue

  /// `old`: the patch's previous place; nil: its paths are relative to the working folder.
  init(from old: String?, to new: String, catalogue: KindCatalogue) {
    self.catalogue = catalogue
    before = Self.folder(of: old ?? "")
    after = Self.folder(of: new)
  }

  /// The patch for the new folder, with the same files.
  func rebased(_ patch: Patch) -> Patch {
    guard before != after else { return patch }
    // Without inverses: that of an edit of a scene compares the scene as a whole, which has thousands of nodes. A set that is
    // refused has changed nothing.
    var draft = Draft(patch: patch, catalogue: catalogue)
    for edit in rebasing(patch) { try? draft.apply(edit) }
    for (number, scene) in patch.scenes {
      let edits = rebasing(scene)
      if edits.isEmpty { continue }
      do {
        try draft.apply(.scene(number, .edit(.all(edits))))
      } catch {
        for edit in edits { try? draft.apply(.scene(number, .edit(edit))) }
      }
    }
    return draft.patch
  }

  /// Edits after which the nodes of a patch name the same files from the new folder.
  private func rebasing(_ patch: Patch) -> [Edit] {
    var edits: [Edit] = []
    for node in patch.nodes.values {
      for (path, value) in node.settings {
        let there = rebased(value, at: path.name, of: node.kind)
        if there != value { edits.append(.set(node.name, path, there, over: nil)) }
      }
    }
    return edits
  }

  /// The same for the nodes of a scene, and those that it has inside files that are not there.
  private func rebasing(_ scene: PatchScene) -> [Edit] {
    let waiting = scene.waitingLines.compactMap { line -> Edit? in
      guard case .set = line else { return nil }
      let there = rebased(line, in: scene.state)
      return there == line ? nil : there
    }
    return rebasing(scene.state) + waiting
  }

  /// The history for the new folder: undo and redo lead to the same files. `patch`: the patch at which the history
  /// stands, with paths for the old folder.
  func rebased(_ history: History, of patch: Patch) -> History {
    guard before != after else { return history }
    var history = history
    history.rewrite(at: patch, catalogue: catalogue) { edit, patch in
      rebased(edit, in: patch)
    } line: { line, patch in
      rebased(line, in: patch)
    }
    return history
  }

  // MARK: Edits

  /// The same for one edit of `patch`; the patch tells the kinds of its nodes.
  private func rebased(_ edit: Edit, in patch: Patch) -> Edit {
    switch edit {
    case .add(let node, let next): return .add(rebased(node), before: next)
    case .replace(let name, let node): return .replace(name, with: rebased(node))
    case .insert(let node, let cable): return .insert(rebased(node), into: cable)
    case .set(let name, let path, let value?, let over):
      return .set(name, path, rebased(value, at: path.name, ofNode: name, in: patch), over: over)
    case .setRange(let name, let range, let value?, let over):
      return .setRange(name, range, rebased(value, at: range.name, ofNode: name, in: patch), over: over)
    case .scene(let number, .edit(let edit)):
      guard let scene = patch.scenes[number] else { return .scene(number, .edit(edit)) }
      return .scene(number, .edit(rebased(edit, in: scene.state)))
    case .all(let edits):
      // Later edits may refer to nodes that earlier ones add.
      var draft = Draft(patch: patch, catalogue: catalogue)
      draft.acceptsUnknownKinds = true
      var result: [Edit] = []
      for (number, edit) in edits.enumerated() {
        result.append(rebased(edit, in: draft.patch))
        do { try draft.apply(edit) } catch { return .all(result + edits[(number + 1)...]) }
      }
      return .all(result)
    default: return edit
    }
  }

  /// The same for the line of an edit. A line without a file keeps its exact text.
  private func rebased(_ line: String, in patch: Patch) -> String {
    let statement = try? StatementParser.parse(line, patch: patch, catalogue: catalogue)
    guard case .edit(let written)? = statement else { return line }
    let edit = patch.canonical(written, catalogue: catalogue)
    let there = rebased(edit, in: patch)
    return there == edit ? line : there.line
  }

  private func rebased(_ node: Node) -> Node {
    var node = node
    for (path, value) in node.settings { node.settings[path] = rebased(value, at: path.name, of: node.kind) }
    return node
  }

  /// A node inside a sub-patch may be in a file that is not there.
  private func rebased(_ value: Value, at parameter: String, ofNode name: String, in patch: Patch) -> Value {
    let kind = patch[named: name]?.kind
    if kind == nil, !name.utf8.contains(UInt8(ascii: "/")) { return value }
    return rebased(value, at: parameter, of: kind)
  }

  private func rebased(_ value: Value, at parameter: String, of kind: String?) -> Value {
    guard catalogue.takesFile(parameter, of: kind),
      case .text(let file) = value, !file.isEmpty, !file.hasPrefix("/"), !file.hasPrefix("~/")
    else { return value }
    return .text(Self.relative(Self.absolute(file, in: before), to: after))
  }

  // MARK: Paths

  /// Absolute, without symbolic links.
  private static func folder(of path: String) -> String {
    FilePath.realFolder(of: path) ?? PatchFile.absolute(PatchFile.split(path).folder)
  }

  /// Without `.` and `..`. Resolved by the file system if the file's folder exists, otherwise textually.
  private static func absolute(_ path: String, in folder: String) -> String {
    FilePath.plain(PatchFile.absolute(folder + "/" + path))
  }

  /// `../samples/x.wav`; absolute if the two have nothing in common.
  package static func relative(_ path: String, to folder: String) -> String {
    let parts = path.split(separator: "/")
    let base = folder.split(separator: "/")
    let common = zip(parts, base).prefix { $0 == $1 }.count
    guard common > 0 else { return path }
    let up = base.dropFirst(common).map { _ in ".." }
    let relative = (up + parts.dropFirst(common).map(String.init)).joined(separator: "/")
    // A folder of that name is not the person's own.
    return relative.hasPrefix("~/") ? "./" + relative : relative
  }
}
