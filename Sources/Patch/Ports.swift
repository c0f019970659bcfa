/// Resolution of names to ports.
extension Patch {
  /// The ports that a cable of this name joins: named ports as given, otherwise the first pair of the same
  /// type (both audio or both events). Parameters are ports only by name.
  public func fitting(_ name: CableName, catalogue: KindCatalogue) throws(EditError) -> Cable.Ends {
    let name = resolved(name, catalogue: catalogue)
    let source = try end(name.source.node, catalogue)
    let destination = try end(name.destination.node, catalogue)
    if source.kind?.isClient == true || destination.kind?.isClient == true {
      return try outside(
        name, from: OutsideEnd(id: source.id, name: source.name, kind: source.kind, isSource: true),
        to: OutsideEnd(id: destination.id, name: destination.name, kind: destination.kind, isSource: false))
    }

    let outputs = try Self.outputs(of: source, kind: source.kind, named: name.source.port)
    let inputs = try Self.inputs(of: destination, kind: destination.kind, named: name.destination.port)
    for output in outputs {
      for input in inputs
      where output.isEvents == nil || input.isEvents == nil || output.isEvents == input.isEvents {
        return Cable.Ends(
          PortReference(source.id, output.name), PortReference(destination.id, input.name))
      }
    }
    throw Self.mismatch(name, source: source, outputs: outputs, destination: destination, inputs: inputs)
  }

  /// The existing cable of this name.
  public func existing(_ name: CableName, catalogue: KindCatalogue) throws(EditError) -> Cable {
    let name = resolved(name, catalogue: catalogue)
    let source = try node(named: name.source.node)
    let destination = try node(named: name.destination.node)
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
    /// nil: a placeholder's port, which takes any type.
    var isEvents: Bool?
  }

  private static func outputs(of node: End, kind: KindDescription?, named port: String?) throws(EditError)
    -> [Candidate]
  {
    guard let kind else { return [Candidate(name: port ?? "out")] }
    guard let port else {
      if kind.outputs.isEmpty {
        throw .noPorts(node.name, kind: kind.name, .output, parameters: [])
      }
      return kind.outputs.map { Candidate(name: $0.name, isEvents: $0.isEvents) }
    }
    if let isEvents = kind.outputIsEvents(port) { return [Candidate(name: port, isEvents: isEvents)] }
    throw .noPort(PortName(node.name, port), .output, known: kind.outputNames)
  }

  private static func inputs(of node: End, kind: KindDescription?, named port: String?) throws(EditError)
    -> [Candidate]
  {
    guard let kind else { return [Candidate(name: port ?? PortReference.unknownInput)] }
    guard let port else {
      if kind.inputs.isEmpty {
        throw .noPorts(node.name, kind: kind.name, .input, parameters: kind.inputNames)
      }
      return kind.inputs.map { Candidate(name: $0.name, isEvents: $0.isEvents) }
    }
    if let isEvents = kind.inputIsEvents(port) { return [Candidate(name: port, isEvents: isEvents)] }
    throw .noPort(PortName(node.name, port), .input, known: kind.inputNames)
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
