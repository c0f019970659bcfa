/// Resolution of names to ports.
extension Patch {
  /// The ports that a cable of this name joins: named ports as given, otherwise a pitch and a frequency, or a gate and a
  /// gate, or else the first pair of the same type (both audio or both events). Other parameters are ports only by name.
  public func fitting(_ name: CableName, catalogue: KindCatalogue) throws(EditError) -> Cable.Ends {
    let name = resolved(name, catalogue: catalogue)
    let source = try end(name.source.node, catalogue)
    let destination = try end(name.destination.node, catalogue)
    if source.kind?.isClient == true || destination.kind?.isClient == true {
      return try outside(
        name, from: OutsideEnd(id: source.id, name: source.name, kind: source.kind, isSource: true),
        to: OutsideEnd(id: destination.id, name: destination.name, kind: destination.kind, isSource: false))
    }

    let outputs = try outputs(of: source, named: name.source.port, catalogue)
    if let pair = Self.pair(outputs, destination, named: name.destination.port) { return pair }
    let inputs = try inputs(of: destination, named: name.destination.port, catalogue)
    for output in outputs {
      for input in inputs
      where output.isEvents == nil || input.isEvents == nil || output.isEvents == input.isEvents {
        return Cable.Ends(output.port, input.port)
      }
    }
    throw Self.mismatch(name, source: source, outputs: outputs, destination: destination, inputs: inputs)
  }

  /// The existing cable of this name.
  public func existing(_ name: CableName, catalogue: KindCatalogue) throws(EditError) -> Cable {
    let name = resolved(name, catalogue: catalogue)
    let source = try node(named: name.source.node)
    let destination = try node(named: name.destination.node)
    if isFilled(source, catalogue) || isFilled(destination, catalogue) {
      return try existing(name, between: source, and: destination, catalogue)
    }
    let few = (outgoing[source.id]?.count ?? 0) <= (incoming[destination.id]?.count ?? 0)
    let candidates = ((few ? outgoing[source.id] : incoming[destination.id]) ?? []).filter {
      $0.source.node == source.id && $0.destination.node == destination.id
        && (name.source.port == nil || name.source.port == $0.source.port)
        && (name.destination.port == nil || name.destination.port == $0.destination.port)
    }
    if candidates.count == 1, let cable = cables[candidates[0]] { return cable }
    if candidates.isEmpty {
      throw .noCable(name)
    }
    if let ends = try? fitting(name, catalogue: catalogue), let cable = cables[ends] { return cable }
    throw .severalCables(name, count: candidates.count)
  }

  /// The same where an end is a sub-patch, whose ports are those of nodes inside.
  private func existing(
    _ name: CableName, between source: Node, and destination: Node, _ catalogue: KindCatalogue
  ) throws(EditError) -> Cable {
    let outputs =
      isFilled(source, catalogue)
      ? try outputs(of: try end(source.name, catalogue), named: name.source.port, catalogue) : []
    let inputs =
      isFilled(destination, catalogue)
      ? try inputs(of: try end(destination.name, catalogue), named: name.destination.port, catalogue) : []
    let near = outputs.flatMap { output in
      outgoing[output.port.node]?.filter { $0.source == output.port } ?? []
    }
    let found = (outputs.isEmpty ? inputs.flatMap { incoming[$0.port.node] ?? [] } : near).filter { ends in
      (outputs.isEmpty
        ? ends.source.node == source.id && (name.source.port == nil || name.source.port == ends.source.port)
        : true)
        && (inputs.isEmpty
          ? ends.destination.node == destination.id
            && (name.destination.port == nil || name.destination.port == ends.destination.port)
          : inputs.contains { $0.port == ends.destination })
    }
    if found.count == 1, let cable = cables[found[0]] { return cable }
    if found.isEmpty { throw .noCable(name) }
    if let ends = try? fitting(name, catalogue: catalogue), let cable = cables[ends] { return cable }
    throw .severalCables(name, count: found.count)
  }

  /// The part of a node needed for resolution; cheaper than a copy of the node.
  private struct End {
    var id: NodeID
    var name: String
    var kind: KindDescription?
  }

  private func end(_ name: String, _ catalogue: KindCatalogue) throws(EditError) -> End {
    guard let id = idsByName[name], let kind = nodes.kind(of: id) else { throw missing(name) }
    return End(id: id, name: name, kind: catalogue[kind])
  }

  /// The node; throws an error with a hint if there is none.
  public func node(named name: String) throws(EditError) -> Node {
    if let node = self[named: name] { return node }
    throw missing(name)
  }

  private func missing(_ name: String) -> EditError {
    .noNode(name, near: Nearest.match(for: name, among: nodes.values.lazy.map(\.name)))
  }

  private struct Candidate {
    var name: String
    var role = PortDescription.Role.main
    /// nil: a placeholder's port, which takes any type.
    var isEvents: Bool?
    var port: PortReference

    init(_ node: NodeID, _ name: String, role: PortDescription.Role = .main, isEvents: Bool? = nil) {
      self.name = name
      self.role = role
      self.isEvents = isEvents
      port = PortReference(node, name)
    }

    init(_ port: SubPatchPort) {
      name = port.name
      isEvents = port.isEvents
      self.port = port.port
    }
  }

  /// Ports of a sub-patch on one side; nil: it is none, or nothing is inside.
  private func ports(_ side: EditError.Side, of node: End, named port: String?, _ catalogue: KindCatalogue)
    throws(EditError) -> [Candidate]?
  {
    guard node.kind?.isContainer == true else { return nil }
    if !hasInside(node.name) {
      return [Candidate(node.id, port ?? (side == .output ? "out" : PortReference.unknownInput))]
    }
    let known = side == .output ? outlets(of: node.name, catalogue) : inlets(of: node.name, catalogue)
    guard let port else {
      if !known.isEmpty { return known.map(Candidate.init) }
      throw .noPorts(
        node.name, kind: node.kind?.name ?? "", side,
        parameters: side == .output ? [] : published(by: node.name).map(\.name))
    }
    if let named = known.first(where: { $0.name == port }) { return [Candidate(named)] }
    if side == .input, let inner = published(node.name, ParameterPath(port)),
      let target = self[named: inner.node],
      catalogue[target.kind]?.hasInput(inner.path.line, of: target) ?? true
    {
      return [Candidate(target.id, inner.path.line, isEvents: false)]
    }
    // A cable waits for a port that is not there yet, or no more.
    return [Candidate(node.id, port)]
  }

  /// Throws for a cable that waits for a port of a sub-patch that has others.
  package func checkPorts(of ends: Cable.Ends, catalogue: KindCatalogue) throws(EditError) {
    for (port, side) in [(ends.source, EditError.Side.output), (ends.destination, .input)] {
      guard let node = nodes[port.node], isFilled(node, catalogue) else { continue }
      let known = side == .output ? outlets(of: node.name, catalogue) : inlets(of: node.name, catalogue)
      throw .noPort(PortName(node.name, port.port), side, known: known.map(\.name))
    }
  }

  private func outputs(of node: End, named port: String?, _ catalogue: KindCatalogue) throws(EditError)
    -> [Candidate]
  {
    guard let kind = node.kind else { return [Candidate(node.id, port ?? "out")] }
    if let ports = try ports(.output, of: node, named: port, catalogue) { return ports }
    guard let port else {
      if kind.outputs.isEmpty {
        throw .noPorts(node.name, kind: kind.name, .output, parameters: [])
      }
      return kind.outputs.map { Candidate(node.id, $0.name, role: $0.role, isEvents: $0.isEvents) }
    }
    if let output = kind.outputs.first(where: { $0.name == port }) {
      return [Candidate(node.id, port, role: output.role, isEvents: output.isEvents)]
    }
    throw .noPort(PortName(node.name, port), .output, known: kind.outputNames)
  }

  private func inputs(of node: End, named port: String?, _ catalogue: KindCatalogue) throws(EditError)
    -> [Candidate]
  {
    guard let kind = node.kind else { return [Candidate(node.id, port ?? PortReference.unknownInput)] }
    if let ports = try ports(.input, of: node, named: port, catalogue) { return ports }
    guard let port else {
      if kind.inputs.isEmpty {
        throw .noPorts(node.name, kind: kind.name, .input, parameters: kind.inputNames)
      }
      return kind.inputs.map { Candidate(node.id, $0.name, isEvents: $0.isEvents) }
    }
    try checkElement(port, of: node.name, kind)
    if let isEvents = kind.inputIsEvents(port) { return [Candidate(node.id, port, isEvents: isEvents)] }
    throw .noPort(PortName(node.name, port), .input, known: kind.inputNames)
  }

  /// Throws for the port of an element that the node does not have, and for a parameter that has ports for its elements only.
  private func checkElement(_ port: String, of name: String, _ kind: KindDescription) throws(EditError) {
    guard let path = ParameterPath(line: port), !kind.inputs.contains(where: { $0.name == port }),
      !path.indices.isEmpty || kind[parameter: port]?.isModulatedByKernel == true,
      let node = self[named: name]
    else { return }
    _ = try kind.parameter(at: path, of: node)
  }

  /// The first output that has a counterpart of its role among the inputs.
  private static func pair(_ outputs: [Candidate], _ destination: End, named port: String?)
    -> Cable.Ends?
  {
    guard port == nil, let kind = destination.kind else { return nil }
    for output in outputs where output.role == .pitch || output.role == .gate {
      if let input = kind.inputs.first(where: { $0.role == output.role }) {
        return Cable.Ends(output.port, PortReference(destination.id, input.name))
      }
      if output.role == .pitch, let frequency = kind.parameters.first(where: \.takesPitch) {
        return Cable.Ends(output.port, PortReference(destination.id, frequency.name))
      }
    }
    return nil
  }

  private static func mismatch(
    _ name: CableName, source: End, outputs: [Candidate], destination: End, inputs: [Candidate]
  ) -> EditError {
    func signals(_ candidates: [Candidate]) -> Set<EditError.Signal> {
      Set(candidates.compactMap { $0.isEvents.map { $0 ? .events : .audio } })
    }
    func port(_ node: End, _ candidates: [Candidate]) -> PortName {
      PortName(node.name, candidates.count == 1 ? candidates[0].name : nil)
    }
    return .mismatch(
      name, from: port(source, outputs), sends: signals(outputs), to: port(destination, inputs),
      takes: signals(inputs))
  }
}
