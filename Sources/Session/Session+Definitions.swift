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
    engine.markPlaceholder(node.id, definitionFault(of: node))
  }

  /// Tells of sub-patches whose files cannot be read, where there is no screen that shows it.
  package func tellOfMissingDefinitions() {
    for node in patch.nodes.values {
      if let fault = definitionFault(of: node) { notice("`\(node.name)` is a placeholder: \(fault)") }
    }
  }

  /// Reason why nothing is inside a sub-patch of a file; nil: something is, or the node is none.
  private func definitionFault(of node: Node) -> String? {
    guard catalogue[node.kind]?.isContainer == true, !patch.hasInside(node.name),
      let file = catalogue.definitionFile(of: node),
      case .missing(let fault)? = catalogue.definitions?.definition(of: file)
    else { return nil }
    return fault
  }

  func library(for path: String?) -> DefinitionLibrary {
    DefinitionLibrary(for: path, kinds: engine.kinds.catalogue, shelf: shelf)
  }

  /// Files of sub-patches that have edits which are not saved.
  public var modifiedDefinitions: [String] { library(for: file).changes(in: patch).map(\.place) }

  /// The sub-patches of files, by place, that have edits which are not saved.
  func definitionsAsHere() -> [(place: String, patch: Patch, text: String)] {
    library(for: file).changes(in: patch).map { ($0.place, $0.patch, $0.text) }
  }

  /// Saves the files of sub-patches that have unsaved edits. Returns their names.
  func saveDefinitions(
    of patch: Patch, for path: String?, despite accepted: Set<SaveObstacle.Reason>
  ) throws(FileError) -> [String] {
    let changed = library(for: path).changes(in: patch)
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
