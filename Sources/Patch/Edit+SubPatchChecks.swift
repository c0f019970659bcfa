// Names and files that an edit must not give. They are checked where an edit is one of a sub-patch as a whole.

extension Draft {
  /// Throws for a new name in another sub-patch than the node or the cable is in.
  func checkPlace(of edit: Edit) throws(EditError) {
    switch edit {
    case .rename(let name, let newName):
      // The lines of a difference rename nodes into a sub-patch before they move the cables.
      guard patch[named: name] != nil, !acceptsUnknownKinds else { return }
      try check(newName, isIn: NodePath.container(of: name))
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
