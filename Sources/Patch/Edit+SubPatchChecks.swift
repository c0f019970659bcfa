// Names and files that an edit must not give. They are checked where an edit is one of a sub-patch as a whole.

extension Draft {
  /// Throws for a new name in another sub-patch than the node or the cable is in.
  func checkPlace(of edit: Edit) throws(EditError) {
    switch edit {
    case .rename(let name, let newName):
      // The lines of a difference rename nodes into a sub-patch before they move the cables.
      guard patch[named: name] != nil, !acceptsUnknownKinds else { return }
      try check(newName, isIn: NodePath.container(of: name))
    case .copy(_, let name):
      guard let container = NodePath.container(of: name), !acceptsUnknownKinds else { return }
      if patch.id(named: container) == nil { throw .noSubPatch(container) }
    case .insert(let node, let cable):
      guard let ends = try? patch.existing(cable, catalogue: catalogue).ends else { return }
      try check(node.name, isIn: patch.scope(of: ends, catalogue: catalogue))
    default: return
    }
  }

  /// Throws for a new name inside a node that is known to be no sub-patch. In a file a sub-patch may come after what is
  /// inside, and one of an unknown kind may be one.
  func checkContainer(of edit: Edit) throws(EditError) {
    let name: String
    switch edit {
    case .add(let node, _), .insert(let node, _): name = node.name
    case .copy(_, let newName): name = newName
    case .rename(let old, let newName):
      if NodePath.container(of: old) == NodePath.container(of: newName) { return }
      name = newName
    default: return
    }
    guard let container = NodePath.container(of: name), let node = patch[named: container],
      let kind = catalogue[node.kind], !kind.isContainer
    else { return }
    throw .noSubPatch(container)
  }

  /// Throws for a node that a finished edit has put into one that is no sub-patch, if it is still there.
  func checkArrival(of edit: Edit) throws(EditError) {
    switch edit {
    case .all(let edits): for edit in edits { try checkArrival(of: edit) }
    case .add(let node, _) where patch.id(named: node.name) == nil: return
    case .copy(_, let name) where patch.id(named: name) == nil: return
    case .rename(_, let name) where patch.id(named: name) == nil: return
    default: try checkContainer(of: edit)
    }
  }

  /// Throws for a file that would have itself inside.
  func checkCircle(of edit: Edit) throws(EditError) {
    switch edit {
    case .add(let node, _), .insert(let node, _): try checkCircle(at: node.name, of: node)
    case .copy(let name, let newName):
      guard let node = patch[named: name] else { return }
      try checkCircle(at: newName, of: node, patch.allNodes(inside: name))
    case .replace(let name, let node): try checkCircle(at: name, of: node)
    case .set(let name, let path, let value, _):
      guard var node = patch[named: name], catalogue[node.kind]?.isContainer == true else { return }
      node.settings[path] = value
      try checkCircle(at: name, of: node)
    default: return
    }
  }

  private func check(_ name: String, isIn container: String?) throws(EditError) {
    guard NodePath.container(of: name) != container else { return }
    throw .otherSubPatch(name, here: (container.map { $0 + "/" } ?? "") + NodePath.last(of: name))
  }

  /// `inner`: the nodes that it is to have inside; nil: those of its file.
  private func checkCircle(at name: String, of node: Node, _ inner: [Node]? = nil) throws(EditError) {
    let outer = NodePath.containers(of: name).compactMap { patch[named: $0] }
      .compactMap(catalogue.definitionFile)
    if outer.isEmpty { return }
    let own = catalogue.definitionFile(of: node).map { [$0] } ?? []
    var ways = own.map { [$0] }
    if let inner {
      ways += inner.compactMap(catalogue.definitionFile).map { own + [$0] }
    } else if case .found(let inner)? = inside(for: node) {
      ways += inner.nodes.values.compactMap(catalogue.definitionFile).map { own + [$0] }
    }
    let places = outer.map(catalogue.place)
    for way in ways {
      guard let first = places.firstIndex(of: catalogue.place(of: way[way.count - 1])) else { continue }
      throw .isInsideItself(outer[...first].reversed() + way)
    }
  }
}

/// A node or a cable that an edit has put where nobody who types it may put it.
package struct Misfit {
  /// The refusal of one who types it.
  package var error: EditError
  /// The node or cable that is out of place.
  private let part: Part

  private enum Part {
    case node(NodeID)
    case cable(Cable.Ends)
  }

  private init(_ node: Node, _ error: EditError) { (part, self.error) = (.node(node.id), error) }

  private init(_ cable: Cable.Ends, _ error: EditError) { (part, self.error) = (.cable(cable), error) }

  /// Those of an edit in the patch behind it. A file may have them, and the lines of a difference rename nodes
  /// into a sub-patch before they make it, and before they move the cables.
  package static func made(by edit: Edit, in patch: Patch, catalogue: KindCatalogue) -> [Misfit] {
    func node(_ name: String, _ error: (Node) -> EditError?) -> [Misfit] {
      guard let node = patch[named: name], let error = error(node) else { return [] }
      return [Misfit(node, error)]
    }
    switch edit {
    case .all(let edits): return edits.flatMap { made(by: $0, in: patch, catalogue: catalogue) }
    case .add(let new, _): return node(new.name) { patch.missingContainer(of: $0) }
    case .copy(_, let name): return node(name) { patch.missingContainer(of: $0) }
    case .rename(let old, let new):
      let container = NodePath.container(of: old)
      if NodePath.container(of: new) == container { return [] }
      let here = (container.map { $0 + "/" } ?? "") + NodePath.last(of: new)
      return node(new) { _ in .otherSubPatch(new, here: here) }
    case .connect(let name, _):
      guard let ends = try? patch.existing(name, catalogue: catalogue).ends else { return [] }
      do throws(EditError) {
        try Draft(patch: patch, catalogue: catalogue).checkCable(ends)
        return []
      } catch {
        return [Misfit(ends, error)]
      }
    default: return []
    }
  }

  /// True while the patch has it out of place: a cable, or a node that has one past an edge or whose sub-patch is
  /// not there.
  package func isLeft(in patch: Patch, catalogue: KindCatalogue) -> Bool {
    switch part {
    case .cable(let ends):
      if patch.cables[ends] == nil { return false }
      return (try? Draft(patch: patch, catalogue: catalogue).checkCable(ends)) == nil
    case .node(let id):
      guard let node = patch[id] else { return false }
      if patch.missingContainer(of: node) != nil { return true }
      let cables =
        patch.cables(at: id)
        + (patch.isFilled(node, catalogue) ? patch.outerCables(of: node.name, catalogue).map(\.ends) : [])
      return cables.contains { (try? patch.checkScope(of: $0, catalogue: catalogue)) == nil }
    }
  }
}

extension Patch {
  /// The refusal of a node in a sub-patch that is not there; nil: it is there.
  fileprivate func missingContainer(of node: Node) -> EditError? {
    NodePath.container(of: node.name).flatMap { id(named: $0) == nil ? .noSubPatch($0) : nil }
  }
}
