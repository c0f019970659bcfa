// Sub-patches: a node of a kind that is a container, and nodes whose names are paths through it. `verb/tank` is inside
// `verb`. All of them stand in the patch side by side, so that edits, history and sound know nothing special about
// them; what belongs to a sub-patch as a whole follows from the names.

/// Names of nodes as paths.
package enum NodePath {
  /// Most parts of a path.
  package static let deepest = 8

  /// Path of the sub-patch that a node is in; nil: it is in the patch itself.
  package static func container(of name: String) -> String? {
    guard name.utf8.contains(UInt8(ascii: "/")), let slash = name.lastIndex(of: "/") else { return nil }
    return String(name[..<slash])
  }

  /// The name within its sub-patch.
  package static func last(of name: String) -> Substring {
    name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
  }

  /// True for what is inside a sub-patch, at any depth.
  package static func isInside(_ name: String, _ container: String) -> Bool {
    name.utf8.count > container.utf8.count && name.hasPrefix(container)
      && name.utf8[name.utf8.index(name.startIndex, offsetBy: container.utf8.count)] == UInt8(ascii: "/")
  }

  /// The sub-patches on the way to a node, the innermost first.
  package static func containers(of name: String) -> [String] {
    var result: [String] = []
    var rest = name
    while let container = container(of: rest) {
      result.append(container)
      rest = container
    }
    return result
  }

  /// The first `depth` + 1 parts of a path: for `a/b/c` and 1 that is `a/b`.
  static func top(of name: String, at depth: Int) -> String {
    name.split(separator: "/", omittingEmptySubsequences: false).prefix(depth + 1).joined(separator: "/")
  }
}

extension Node {
  /// Number of sub-patches that it is in.
  var depth: Int { name.utf8.lazy.filter { $0 == UInt8(ascii: "/") }.count }
}

/// A port of a sub-patch: that of a node at its edge.
package struct SubPatchPort {
  /// Name of the port at the sub-patch, which is the node's.
  package var name: String
  package var isEvents: Bool
  /// The port outside of the edge.
  package var port: PortReference
}

/// A published parameter of a sub-patch.
package struct PublishedParameter {
  /// Name at the sub-patch.
  package var name: String
  /// The node that has it.
  package var node: String
  package var path: ParameterPath
}

extension KindDescription {
  /// The input of a node of this kind that a cable from outside of its sub-patch leads to.
  var inlet: PortDescription? {
    if boundary?.side == .inlet { return inputs.first }
    // A keyboard passes on what comes in, so it takes events for its sub-patch too.
    return isKeyboard ? inputs.first : nil
  }

  /// The output that a cable leaves its sub-patch from.
  var outlet: PortDescription? { boundary?.side == .outlet ? outputs.first : nil }
}

extension Patch {
  /// True if there are nodes inside the sub-patch.
  package func hasInside(_ path: String) -> Bool { inside[path] != nil }

  /// Nodes directly inside a sub-patch, in file order.
  package func nodes(inside path: String) -> [Node] {
    inOrder(Set(inside[path] ?? []))
  }

  /// These nodes, in file order.
  func inOrder(_ ids: Set<NodeID>) -> [Node] {
    if ids.count < 2 { return ids.compactMap { nodes[$0] } }
    // A search for each of many would look at the whole patch as often.
    if ids.count > 8 { return nodes.values.filter { ids.contains($0.id) } }
    return ids.compactMap { id in nodes.index(forKey: id).map { (index: $0, id: id) } }
      .sorted { $0.index < $1.index }.compactMap { nodes[$0.id] }
  }

  /// All nodes inside a sub-patch, at any depth, in file order.
  package func allNodes(inside path: String) -> [Node] {
    var found: Set<NodeID> = []
    func collect(_ path: String) {
      for id in inside[path] ?? [] {
        found.insert(id)
        if let name = nodes[id]?.name { collect(name) }
      }
    }
    collect(path)
    return inOrder(found)
  }

  /// The same patch with its nodes as a reading of its file finds them: what another file has inside stands right behind its
  /// sub-patch. `shared`: those sub-patches.
  package func inFileOrder(_ shared: Set<String>) -> Patch {
    var result = self
    for name in shared where !NodePath.containers(of: name).contains(where: shared.contains) {
      let inside = allNodes(inside: name)
      guard let place = id(named: name).flatMap({ nodes.index(forKey: $0) }) else { continue }
      let behind = nodes.values[(place + 1)...]
      if behind.prefix(inside.count).map(\.id) == inside.map(\.id) { continue }
      let next = behind.first { !NodePath.isInside($0.name, name) }?.id
      for node in inside { result.move(node.id, before: next) }
      result.revision = Revision()
    }
    return result
  }

  /// True for a sub-patch with nodes inside.
  func isFilled(_ node: Node, _ catalogue: KindCatalogue) -> Bool {
    hasInside(node.name) && catalogue[node.kind]?.isContainer == true
  }

  /// True for a sub-patch of a file with nothing inside: the file is not there, or nobody has read it.
  func isEmptyOfFile(_ node: Node, _ catalogue: KindCatalogue) -> Bool {
    !hasInside(node.name) && catalogue.definitionFile(of: node) != nil
  }

  /// The inputs of a sub-patch.
  package func inlets(of path: String, _ catalogue: KindCatalogue) -> [SubPatchPort] {
    ports(of: path, catalogue, \.inlet)
  }

  /// The outputs of a sub-patch.
  package func outlets(of path: String, _ catalogue: KindCatalogue) -> [SubPatchPort] {
    ports(of: path, catalogue, \.outlet)
  }

  private func ports(
    of path: String, _ catalogue: KindCatalogue, _ edge: (KindDescription) -> PortDescription?
  ) -> [SubPatchPort] {
    nodes(inside: path).compactMap { node in
      guard let port = catalogue[node.kind].flatMap(edge) else { return nil }
      return SubPatchPort(
        name: String(NodePath.last(of: node.name)), isEvents: port.isEvents,
        port: PortReference(node.id, port.name))
    }
  }

  /// The parameters that a sub-patch publishes, by name.
  package func published(by path: String) -> [PublishedParameter] {
    settings.publications.compactMap { name, target in
      guard NodePath.container(of: name) == path, case .setting(let node, let inner) = target else {
        return nil
      }
      return PublishedParameter(name: String(NodePath.last(of: name)), node: node, path: inner)
    }
    .sorted { $0.name < $1.name }
  }

  /// The node and parameter that a setting of a sub-patch stands for; nil: it is no published one.
  package func published(_ name: String, _ path: ParameterPath) -> (node: String, path: ParameterPath)? {
    published(name, path, depth: NodePath.deepest)
  }

  /// A sub-patch and its kind with the parameters that it publishes, as if they were its own; the same ones for other nodes.
  package func withPublished(
    _ node: Node, catalogue: KindCatalogue
  ) -> (node: Node, kind: KindDescription?) {
    guard let kind = catalogue[node.kind], kind.isContainer, hasInside(node.name) else {
      return (node, catalogue[node.kind])
    }
    var node = node
    var parameters: [ParameterDescription] = []
    for published in published(by: node.name) {
      let inner = self.published(published.node, published.path) ?? (published.node, published.path)
      guard let target = self[named: inner.node],
        var parameter = catalogue[target.kind]?[parameter: inner.path.name],
        kind[parameter: published.name] == nil
      else { continue }
      parameter.defaultValue = parameter.defaultValue(at: inner.path)
      parameter.diagonalValue = nil
      (parameter.name, parameter.dimensions, parameter.requirement) = (published.name, [], nil)
      parameters.append(parameter)
      node.settings[ParameterPath(published.name)] = target.settings[inner.path]
    }
    return (node, kind.adding(parameters))
  }

  /// `depth`: most steps, since two may publish each other.
  private func published(
    _ name: String, _ path: ParameterPath, depth: Int
  ) -> (node: String, path: ParameterPath)? {
    guard depth > 0, !settings.publications.isEmpty, path.indices.isEmpty,
      case .setting(let node, let inner)? = settings.publications[name + "/" + path.name]
    else { return nil }
    // One sub-patch may publish what another one inside it publishes.
    return published(node, inner, depth: depth - 1) ?? (node, inner)
  }

  /// Sub-patches that publish a setting of a node inside, the innermost first.
  func publishers(of node: String, _ path: ParameterPath) -> [String] {
    if settings.publications.isEmpty { return [] }
    return NodePath.containers(of: node).filter { container in
      published(by: container).contains {
        let inner = published($0.node, $0.path) ?? ($0.node, $0.path)
        return inner.node == node && inner.path == path
      }
    }
  }

  /// Sub-patches that publish the parameter of which a port is the modulation, the innermost first.
  func publishers(ofPort port: String, at node: String) -> [String] {
    ParameterPath(line: port).map { publishers(of: node, $0) } ?? []
  }

  /// The sub-patch whose part a cable is; nil: the patch itself. A cable at an outlet's output is outside.
  package func scope(of ends: Cable.Ends, catalogue: KindCatalogue) -> String? {
    guard let name = nodes[ends.source.node]?.name, let container = NodePath.container(of: name) else {
      return nil
    }
    let kind = nodes.kind(of: ends.source.node).flatMap { catalogue[$0] }
    return kind?.outlet?.name == ends.source.port ? NodePath.container(of: container) : container
  }

  /// Throws for a cable that leads past the edge of a sub-patch.
  package func checkScope(of ends: Cable.Ends, catalogue: KindCatalogue) throws(EditError) {
    guard let source = nodes[ends.source.node]?.name, let destination = nodes[ends.destination.node]?.name,
      source.utf8.contains(UInt8(ascii: "/")) || destination.utf8.contains(UInt8(ascii: "/"))
    else { return }
    let here = scope(of: ends, catalogue: catalogue)
    let container = NodePath.container(of: destination)
    let kind = nodes.kind(of: ends.destination.node).flatMap { catalogue[$0] }
    if kind?.inlet?.name == ends.destination.port {
      if container.map({ NodePath.container(of: $0) }) == here { return }
      // A keyboard inside takes events from its own sub-patch too.
      if kind?.boundary != nil, container != nil { throw crossing(ends, container ?? "") }
    }
    if container == here { return }
    let isPublished = publishers(ofPort: ends.destination.port, at: destination).contains {
      NodePath.container(of: $0) == here
    }
    if !isPublished { throw crossing(ends, container ?? here ?? "") }
  }

  private func crossing(_ ends: Cable.Ends, _ path: String) -> EditError {
    .crossesBoundary(name(of: ends), of: path)
  }
}
