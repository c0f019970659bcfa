/// Neighbours of a node, without a search through all cables.
extension Patch {
  /// The cables into a node, ordered by the kind's ports, then by the source's name and port.
  public func cables(into id: NodeID, catalogue: KindCatalogue) -> [Cable] {
    guard let ends = incoming[id], let node = nodes[id] else { return [] }
    if ends.count == 1 { return ends.compactMap { cables[$0] } }
    let kind = catalogue[node.kind]
    return sorted(
      Array(ends), rank: { kind?.inputRank($0.destination.port) ?? .max }, near: \.destination, far: \.source)
  }

  /// The cables out of a node, ordered by port, then by the destination's name and port.
  public func cables(from id: NodeID, catalogue: KindCatalogue) -> [Cable] {
    guard let ends = outgoing[id], let node = nodes[id] else { return [] }
    if ends.count == 1 { return ends.compactMap { cables[$0] } }
    let kind = catalogue[node.kind]
    return sorted(
      Array(ends), rank: { kind?.outputRank($0.source.port) ?? .max }, near: \.source, far: \.destination)
  }

  /// All cables, by destination in file order, then as in `cables(into:)`.
  public func orderedCables(catalogue: KindCatalogue) -> [Cable] {
    nodes.keys.flatMap { cables(into: $0, catalogue: catalogue) }
  }

  /// All cables at a node, in no particular order.
  func cablesTouching(_ id: NodeID) -> [Cable.Ends] {
    Array(incoming[id] ?? []) + (outgoing[id] ?? []).filter { $0.destination.node != id }
  }

  /// The cable's name with both ports written out.
  public func name(of ends: Cable.Ends) -> CableName {
    CableName(
      PortName(nodes[ends.source.node]?.name ?? "", ends.source.port),
      PortName(nodes[ends.destination.node]?.name ?? "", ends.destination.port))
  }

  /// The cable's name with both ports; those of a sub-patch where it leads out of one or into one.
  func portName(of ends: Cable.Ends, catalogue: KindCatalogue) -> CableName {
    var full = name(of: ends)
    if let port = subPatchPort(of: ends.source, isSource: true, ends, catalogue) { full.source = port }
    if let port = subPatchPort(of: ends.destination, isSource: false, ends, catalogue) {
      full.destination = port
    }
    // A published value that is none of the node's kind any more does not lead to it.
    if full != name(of: ends), (try? fitting(full, catalogue: catalogue)) != ends { full = name(of: ends) }
    return full
  }

  /// The cable's shortest name: default ports are left out.
  public func shortName(of ends: Cable.Ends, catalogue: KindCatalogue) -> CableName {
    let full = portName(of: ends, catalogue: catalogue)
    for (hidesSource, hidesDestination) in [(true, true), (true, false), (false, true)] {
      var short = full
      if hidesSource { short.source.port = nil }
      if hidesDestination { short.destination.port = nil }
      if let found = try? fitting(short, catalogue: catalogue), found == ends { return short }
    }
    return full
  }

  /// The port of a sub-patch that a cable outside of it leads to or comes from.
  private func subPatchPort(
    of port: PortReference, isSource: Bool, _ ends: Cable.Ends, _ catalogue: KindCatalogue
  ) -> PortName? {
    guard let name = nodes[port.node]?.name, let container = NodePath.container(of: name),
      self[named: container] != nil
    else { return nil }
    let kind = nodes.kind(of: port.node).flatMap { catalogue[$0] }
    if isSource {
      return kind?.outlet?.name == port.port ? PortName(container, String(NodePath.last(of: name))) : nil
    }
    let here = scope(of: ends, catalogue: catalogue)
    if here == container { return nil }
    if kind?.inlet?.name == port.port, NodePath.container(of: container) == here {
      return PortName(container, String(NodePath.last(of: name)))
    }
    for publisher in publishers(ofPort: port.port, at: name)
    where NodePath.container(of: publisher) == here {
      let found = published(by: publisher).first {
        let inner = published($0.node, $0.path) ?? ($0.node, $0.path)
        return inner.node == name && inner.path.line == port.port
      }
      if let found { return PortName(publisher, found.name) }
    }
    return nil
  }

  private func sorted(
    _ ends: [Cable.Ends], rank: (Cable.Ends) -> Int, near: (Cable.Ends) -> PortReference,
    far: (Cable.Ends) -> PortReference
  ) -> [Cable] {
    let keyed = ends.map { (ends: $0, rank: rank($0), name: nodes[far($0).node]?.name ?? "") }
    let ordered = keyed.sorted { a, b in
      if a.rank != b.rank { return a.rank < b.rank }
      let (portA, portB) = (near(a.ends).port, near(b.ends).port)
      if portA != portB { return portA < portB }
      if a.name != b.name { return a.name < b.name }
      return far(a.ends).port < far(b.ends).port
    }
    return ordered.compactMap { cables[$0.ends] }
  }
}

extension KindDescription {
  /// True when a parameter is also an audio input port of its name, or each of its elements one of its own.
  public static func isPort(_ parameter: ParameterDescription) -> Bool {
    parameter.form == .continuous
      && (parameter.isModulatedByKernel || parameter.smoothing == .ramp && parameter.dimensions.isEmpty)
  }

  /// The parameter of a port, with the element that the port's name says, whatever the sizes are; nil: no parameter has it.
  package func parameter(ofPort port: String) -> (index: Int, path: ParameterPath)? {
    guard let path = ParameterPath(line: port) else { return nil }
    let index = parameters.firstIndex {
      $0.name == path.name && Self.isPort($0) && $0.dimensions.count == path.indices.count
    }
    return index.map { ($0, path) }
  }

  /// True when the sizes of `node` leave out the element of which a port is the modulation.
  func lacks(_ port: String, of node: Node) -> Bool {
    guard let (index, path) = parameter(ofPort: port) else { return false }
    return zip(path.indices, parameters[index].dimensions).contains { $0 >= count($1, of: node) }
  }

  /// The parameter of that name.
  public subscript(parameter name: String) -> ParameterDescription? { parameters.first { $0.name == name } }

  /// Order of an input: declared ports, then parameters.
  public func inputRank(_ port: String) -> Int? {
    if let index = inputs.firstIndex(where: { $0.name == port }) { return index }
    guard let (index, path) = parameter(ofPort: port) else { return nil }
    let element = path.indices.reduce(0) { $0 << 12 + min($1, 4095) }
    return inputs.count + index << 24 + element
  }

  /// Order of an output.
  public func outputRank(_ port: String) -> Int? { outputs.firstIndex { $0.name == port } }

  /// Names of every input: declared ports, then continuous parameters, of those with elements the first one.
  public var inputNames: [String] {
    inputs.map(\.name)
      + parameters.filter(Self.isPort).map { ParameterPath($0.name, $0.dimensions.map { _ in 0 }).line }
  }
  /// Names by which cables may lead to inputs, those of other ports among them, and those of elements not.
  package var inputWords: [String] {
    inputs.map(\.name)
      + parameters.filter { Self.isPort($0) && $0.dimensions.isEmpty || $0.glide != nil }.map(\.name)
  }
  /// Names of every output.
  public var outputNames: [String] { outputs.map(\.name) }

  /// True for an events input, false for audio; nil if there is no such input.
  func inputIsEvents(_ port: String) -> Bool? {
    if let declared = inputs.first(where: { $0.name == port }) { return declared.isEvents }
    return parameter(ofPort: port) == nil ? nil : false
  }

  /// True for an input that a node of the kind has.
  func hasInput(_ port: String, of node: Node) -> Bool {
    inputIsEvents(port) != nil && !lacks(port, of: node)
  }

  func outputIsEvents(_ port: String) -> Bool? { outputs.first { $0.name == port }?.isEvents }
}
