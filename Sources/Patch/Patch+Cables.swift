/// Neighbours of a node, without a search through all cables.
extension Patch {
  /// The cables into a node, ordered by the kind's ports, then by the source's name and port.
  public func cables(into id: NodeID, catalogue: KindCatalogue) -> [Cable] {
    guard let ends = incoming[id], let node = nodes[id] else { return [] }
    if ends.count == 1 { return ends.compactMap { cables[$0] } }
    let kind = catalogue[node.kind]
    return sorted(
      ends, rank: { kind?.inputRank($0.destination.port) ?? .max }, near: \.destination, far: \.source)
  }

  /// The cables out of a node, ordered by port, then by the destination's name and port.
  public func cables(from id: NodeID, catalogue: KindCatalogue) -> [Cable] {
    guard let ends = outgoing[id], let node = nodes[id] else { return [] }
    if ends.count == 1 { return ends.compactMap { cables[$0] } }
    let kind = catalogue[node.kind]
    return sorted(
      ends, rank: { kind?.outputRank($0.source.port) ?? .max }, near: \.source, far: \.destination)
  }

  /// All cables, by destination in file order, then as in `cables(into:)`.
  public func orderedCables(catalogue: KindCatalogue) -> [Cable] {
    nodes.keys.flatMap { cables(into: $0, catalogue: catalogue) }
  }

  /// All cables at a node, in no particular order.
  func cablesTouching(_ id: NodeID) -> [Cable.Ends] {
    (incoming[id] ?? []) + (outgoing[id] ?? []).filter { $0.destination.node != id }
  }

  /// The cable's name with both ports written out.
  public func name(of ends: Cable.Ends) -> CableName {
    CableName(
      PortName(nodes[ends.source.node]?.name ?? "", ends.source.port),
      PortName(nodes[ends.destination.node]?.name ?? "", ends.destination.port))
  }

  /// The cable's shortest name: default ports are left out.
  public func shortName(of ends: Cable.Ends, catalogue: KindCatalogue) -> CableName {
    var full = name(of: ends)
    if let port = subPatchPort(of: ends.source, isSource: true, ends, catalogue) { full.source = port }
    if let port = subPatchPort(of: ends.destination, isSource: false, ends, catalogue) {
      full.destination = port
    }
    // A published value that is none of the node's kind any more does not lead to it.
    if full != name(of: ends), (try? fitting(full, catalogue: catalogue)) != ends { full = name(of: ends) }
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
    for publisher in publishers(of: name, ParameterPath(port.port))
    where NodePath.container(of: publisher) == here {
      let found = published(by: publisher).first {
        let inner = published($0.node, $0.path) ?? ($0.node, $0.path)
        return inner.node == name && inner.path.name == port.port
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
  /// True when a parameter is also an audio input port of its name.
  public static func isPort(_ parameter: ParameterDescription) -> Bool {
    parameter.form == .continuous && parameter.smoothing == .ramp && parameter.dimensions.isEmpty
  }

  /// The parameter of that name.
  public subscript(parameter name: String) -> ParameterDescription? { parameters.first { $0.name == name } }

  /// Order of an input: declared ports, then parameters.
  public func inputRank(_ port: String) -> Int? {
    if let index = inputs.firstIndex(where: { $0.name == port }) { return index }
    guard let index = parameters.firstIndex(where: { $0.name == port && Self.isPort($0) }) else { return nil }
    return inputs.count + index
  }

  /// Order of an output.
  public func outputRank(_ port: String) -> Int? { outputs.firstIndex { $0.name == port } }

  /// Names of every input: declared ports, then continuous parameters.
  public var inputNames: [String] { inputs.map(\.name) + parameters.filter(Self.isPort).map(\.name) }
  /// Names by which cables may lead to inputs, those of other ports among them.
  package var inputWords: [String] { inputNames + parameters.filter { $0.glide != nil }.map(\.name) }
  /// Names of every output.
  public var outputNames: [String] { outputs.map(\.name) }

  /// True for an events input, false for audio; nil if there is no such input.
  func inputIsEvents(_ port: String) -> Bool? {
    if let declared = inputs.first(where: { $0.name == port }) { return declared.isEvents }
    return parameters.contains { $0.name == port && Self.isPort($0) } ? false : nil
  }

  func outputIsEvents(_ port: String) -> Bool? { outputs.first { $0.name == port }?.isEvents }
}
