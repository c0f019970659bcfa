/// Resolution of names to ports.
extension Patch {
  /// The ports that a cable of this name joins: named ports as given, otherwise the first pair of the same
  /// type (both audio or both events). Parameters are ports only by name.
  public func fitting(_ name: CableName, catalogue: KindCatalogue) throws(EditError) -> Cable.Ends {
    let source = try end(name.source.node, catalogue)
    let destination = try end(name.destination.node, catalogue)

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
      throw EditError(
        "no cable from `\(name.source)` to `\(name.destination)`", token: name.destination.description)
    }
    if let ends = try? fitting(name, catalogue: catalogue), let cable = cables[ends] { return cable }
    throw EditError(
      "\(candidates.count) cables go from `\(name.source)` to `\(name.destination)`",
      hint: "name their ports", token: name.source.description)
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
    EditError(
      "no node `\(name)`", hint: Nearest.hint(for: name, among: nodes.values.lazy.map(\.name)), token: name)
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
        throw EditError("`\(node.name)` has no outputs (a node of kind `\(kind.name)`)", token: node.name)
      }
      return kind.outputs.map { Candidate(name: $0.name, isEvents: $0.isEvents) }
    }
    if let isEvents = kind.outputIsEvents(port) { return [Candidate(name: port, isEvents: isEvents)] }
    throw EditError(
      "`\(node.name)` has no output `\(port)`",
      hint: Nearest.hint(for: port, among: kind.outputNames) ?? Self.listing("outputs", kind.outputNames),
      token: "\(node.name).\(port)")
  }

  private static func inputs(of node: End, kind: KindDescription?, named port: String?) throws(EditError)
    -> [Candidate]
  {
    guard let kind else { return [Candidate(name: port ?? "in")] }
    guard let port else {
      if kind.inputs.isEmpty {
        let names = kind.inputNames
        throw EditError(
          "`\(node.name)` has no inputs (a node of kind `\(kind.name)`)",
          hint: names.isEmpty ? nil : "its parameters are ports by name: \(names.joined(separator: ", "))",
          token: node.name)
      }
      return kind.inputs.map { Candidate(name: $0.name, isEvents: $0.isEvents) }
    }
    if let isEvents = kind.inputIsEvents(port) { return [Candidate(name: port, isEvents: isEvents)] }
    throw EditError(
      "`\(node.name)` has no input `\(port)`",
      hint: Nearest.hint(for: port, among: kind.inputNames) ?? Self.listing("inputs", kind.inputNames),
      token: "\(node.name).\(port)")
  }

  private static func listing(_ what: String, _ names: [String]) -> String {
    names.isEmpty ? "it has no \(what)" : "its \(what): \(names.joined(separator: ", "))"
  }

  private static func mismatch(
    _ name: CableName, source: End, outputs: [Candidate], destination: End, inputs: [Candidate]
  ) -> EditError {
    func words(_ candidates: [Candidate]) -> String {
      let hasEvents = candidates.contains { $0.isEvents == true }
      let hasAudio = candidates.contains { $0.isEvents == false }
      return hasEvents && hasAudio ? "audio and events" : hasEvents ? "events" : "audio"
    }
    func port(_ node: End, _ candidates: [Candidate]) -> String {
      candidates.count == 1 ? "\(node.name).\(candidates[0].name)" : node.name
    }
    return EditError(
      "`\(port(source, outputs))` sends \(words(outputs)), `\(port(destination, inputs))` takes \(words(inputs))",
      hint: words(outputs) == "events" ? "events go to nodes that play notes" : nil,
      token: name.destination.description)
  }
}
