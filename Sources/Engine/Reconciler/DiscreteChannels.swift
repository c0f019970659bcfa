// Nodes whose channels are notes. Worker.

/// Finds the nodes whose channels come from a port with discrete channels (`voices`), by cables of signals into inputs or
/// parameters, through nodes that have as many channels as come in.
struct DiscreteChannels {
  private var known: [ObjectIdentifier: Bool] = [:]

  /// Marks these nodes, by a search upstream from each. What a search has found serves the next ones.
  static func mark(_ nodes: [EngineNode]) {
    var search = DiscreteChannels()
    for node in nodes { node.hasDiscreteChannels = search.find(node) }
  }

  private mutating func find(_ node: EngineNode) -> Bool {
    if node.outputs.contains(where: \.isDiscrete) { return true }
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(node)]
    var next = [node]
    var isFound = false
    search: while let node = next.popLast() {
      for cable in node.incoming where cable.row.pointee.isWanted {
        let source = cable.source
        guard let output = cable.output else { continue }
        let port = source.outputs[output]
        if port.isDiscrete { isFound = true }
        // A fixed number of channels is that of a mixdown, or of speakers.
        if case .channels = port.format { continue }
        if known[ObjectIdentifier(source)] == true { isFound = true }
        if isFound { break search }
        if known[ObjectIdentifier(source)] == nil, seen.insert(ObjectIdentifier(source)).inserted {
          next.append(source)
        }
      }
    }
    if isFound {
      known[ObjectIdentifier(node)] = true
    } else {
      for visited in seen { known[visited] = false }
    }
    return isFound
  }
}
