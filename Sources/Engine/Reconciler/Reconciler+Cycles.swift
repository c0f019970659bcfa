import Patch

// Order of the nodes, and the cables that need a delay. Worker.

extension Reconciler {
  /// The order of the graph, and what follows from it.
  struct Arrangement {
    /// Nodes in topological order, by index.
    var order: [Int32]
    /// Intents that get or lose the feedback delay, or another latency compensation.
    var changed: [CableIntent]
    /// Frames until a new node's output is complete, by index; empty: at once.
    var readiness: [Int32] = []

    /// Frames until what the node sends is complete.
    func readiness(of node: EngineNode) -> Int32 {
      Int(node.index) < readiness.count ? readiness[Int(node.index)] : 0
    }
  }

  /// Sorts the union of wanted and fading cables, decides which intents need the feedback delay, and aligns
  /// parallel paths.
  func arrange(arriving: [EngineNode]) -> Arrangement {
    var sources = graph.intentSources
    var destinations = graph.intentDestinations
    // Before the first frame no cable has sounded, so that none has to stay as it is.
    var standings =
      isFirst ? graph.intentStandings.map { $0 == .events ? .events : .new } : graph.intentStandings
    var fading: [EngineCable] = []
    for cable in graph.unsettled where (cable.isLeaving || cable.isTail) && !cable.key.isFeedback {
      if cable.isGone || !cable.isTail && isFinished(cable) { continue }
      sources.append(cable.source.index)
      destinations.append(cable.destination.index)
      standings.append(.leaving)
      fading.append(cable)
    }
    let intentCount = graph.intents.count
    func name(_ edge: Int) -> (String, String, String, String) {
      if edge < intentCount, let intent = graph.intents[edge] {
        return (
          intent.route.destination.name, intent.ends.destination.port, intent.route.source.name,
          intent.ends.source.port
        )
      }
      let cable = fading[edge - intentCount]
      return (cable.destination.name, cable.key.destinationPort, cable.source.name, cable.key.sourcePort)
    }
    let breaker = CycleBreaker(
      count: graph.nodes.count, sources: sources, destinations: destinations, standings: standings,
      canonicalEdges: { edges in
        edges.map { (edge: $0, name: name($0)) }.sorted { $0.name < $1.name }.map(\.edge)
      },
      canonicalNodes: { nodes in
        nodes.map {
          (node: $0, name: self.graph.nodes[$0]?.name ?? "", number: self.graph.nodes[$0]?.number ?? 0)
        }
        .sorted { ($0.name, $0.number) < ($1.name, $1.number) }.map(\.node)
      },
      compensatesFeedback: { self.graph.nodes[$0]?.type?.aheadOutput != nil })
    var arrangement = Arrangement(
      order: breaker.order, changed: graph.setFeedback(breaker.feedback.filter { $0 < intentCount }))
    if graph.isLatent { alignPaths(&arrangement, feedback: breaker.feedback, arriving: arriving) }
    return arrangement
  }
}
