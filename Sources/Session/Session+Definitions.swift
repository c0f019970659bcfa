import Engine
import Patch
import PatchLanguage

// Sub-patches whose inside is in files of their own.

extension Session {
  /// The kinds with the files of sub-patches, for a patch at this path.
  func catalogue(for path: String?) -> KindCatalogue {
    path == file ? catalogue : engine.kinds.catalogue.with(definitions: library(for: path))
  }

  /// Shows a sub-patch the reason why nothing is inside.
  func markDefinition(of node: Node) {
    guard catalogue[node.kind]?.isContainer == true else { return }
    var reason: String?
    if !patch.hasInside(node.name), let file = catalogue.definitionFile(of: node),
      case .missing(let fault)? = catalogue.definitions?.definition(of: file)
    {
      reason = fault
    }
    engine.markPlaceholder(node.id, reason)
  }

  func library(for path: String?) -> DefinitionLibrary {
    DefinitionLibrary(for: path, kinds: engine.kinds.catalogue, shelf: shelf)
  }

  /// Files of sub-patches that have edits which are not saved.
  public var modifiedDefinitions: [String] { changedDefinitions(of: patch, for: file).map(\.place) }

  private struct ChangedDefinition {
    var place: String
    var patch: Patch
    var text: String
    var base: [UInt8]?
  }

  /// `path`: place of the patch, to whose folder its paths are relative. What is inside others comes first.
  private func changedDefinitions(of patch: Patch, for path: String?) -> [ChangedDefinition] {
    let library = library(for: path)
    let catalogue = engine.kinds.catalogue.with(definitions: library)
    var seen: Set<String> = []
    var changed: [ChangedDefinition] = []
    for (node, file) in patch.sharing(catalogue).reversed() {
      let place = library.place(of: file)
      guard seen.insert(place).inserted else { continue }
      let entry = try? library.entry(at: place)
      let inner = patch.definition(
        inside: node.name, base: catalogue.definition(of: node), catalogue: catalogue)
      let own = FilePaths(from: path, to: place, catalogue: catalogue).rebased(inner)
      let there = library.catalogue(at: place)
      let text = PatchWriter.write(own, catalogue: there)
      if let entry, PatchWriter.write(entry.patch, catalogue: there) == text { continue }
      changed.append(ChangedDefinition(place: place, patch: own, text: text, base: entry?.bytes))
    }
    return changed
  }

  /// The sub-patches of files, by place, that have edits which are not saved.
  func definitionsAsHere() -> [(place: String, patch: Patch, text: String)] {
    changedDefinitions(of: patch, for: file).map { ($0.place, $0.patch, $0.text) }
  }

  /// Saves the files of sub-patches that have unsaved edits. Returns their names.
  func saveDefinitions(
    of patch: Patch, for path: String?, despite accepted: Set<SaveObstacle.Reason>
  ) throws(FileError) -> [String] {
    let changed = changedDefinitions(of: patch, for: path)
    for definition in changed where !accepted.contains(.changed) {
      let present = try? PatchFile.read(definition.place)
      guard present == nil || present == definition.base else {
        throw FileError.obstacle(SaveObstacle(reason: .changed, path: definition.place))
      }
    }
    for definition in changed {
      try PatchFile.replace(definition.place, with: definition.text)
      shelf.put(Array(definition.text.utf8), at: definition.place)
    }
    return changed.map { PatchFile.split($0.place).name }
  }
}
