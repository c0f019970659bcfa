import Patch

// Order of the nodes, and the cables that need a delay. Worker.

extension Reconciler {
  /// Consequences of the order of the graph.
  struct Arrangement {
    /// Intents that get or lose the feedback delay, or another latency compensation.
    var changed: [CableIntent] = []
    /// Frames until a new node's output is complete, by index; empty: at once.
    var readiness: [Int32] = []

    /// Frames until what the node sends is complete.
    func readiness(of node: EngineNode) -> Int32 {
      Int(node.index) < readiness.count ? readiness[Int(node.index)] : 0
    }
  }

  /// Sorts the union of wanted and fading cables, decides which intents need the feedback delay, and aligns
  /// parallel paths. `changed`: intents that are new, or differ.
  func arrange(arriving: [EngineNode], changed: [CableIntent]) -> Arrangement {
    var arrangement = Arrangement()
    // A large part of the patch is sorted as a whole.
    let isBulk = graph.order.forgets || arriving.count > 16 && arriving.count > graph.nodeCount / 16
    if !isBulk { place(arriving, changed) }
    // Without a cycle nothing but a new cable can close one.
    if isBulk || !graph.feedback.isEmpty || !order(changed) {
      let breaker = breakCycles()
      arrangement.changed = graph.setFeedback(breaker.feedback.filter { $0 < graph.intents.count })
      if isBulk || !order((changed + arrangement.changed).filter { !$0.isFeedback }) {
        graph.order.rebuild(breaker.order(canonicalNodes).compactMap { graph.rows[Int($0)] })
      }
    }
    if graph.isLatent { alignPaths(&arrangement, arriving: arriving) }
    return arrangement
  }

  /// Gives new nodes places in the execution order, beside those that they will be connected to.
  private func place(_ nodes: [EngineNode], _ changed: [CableIntent]) {
    var future = FutureCables()
    if !nodes.isEmpty {
      for intent in changed { future.insert(intent.route.source.row, intent.route.destination.row) }
    }
    for row in nodes.map(\.row) {
      graph.order.place(row, after: future.sources[row] ?? [], before: future.destinations[row] ?? [])
    }
  }

  /// Changes the execution order for cables without delay. Returns false if they would close a cycle.
  private func order(_ intents: [CableIntent]) -> Bool {
    var future = FutureCables()
    for intent in intents {
      let (source, destination) = (intent.route.source.row, intent.route.destination.row)
      guard graph.order.run(source, before: destination, with: future, except: { isOver($0) }) else {
        return false
      }
      future.insert(source, destination)
    }
    return true
  }

  /// True for a leaving cable that counts no longer, as it is about to be removed.
  private func isOver(_ cable: EngineCable) -> Bool {
    cable.isGone || cable.isLeaving && !cable.isTail && isFinished(cable)
  }

  private func breakCycles() -> CycleBreaker {
    var sources = graph.intentSources
    var destinations = graph.intentDestinations
    // Before the first frame no cable has sounded, so that none has to stay as it is.
    var standings =
      isFirst ? graph.intentStandings.map { $0.isOfEvents ? .events : .new } : graph.intentStandings
    var fading: [EngineCable] = []
    for cable in graph.unsettled where (cable.isLeaving || cable.isTail) && !cable.key.isFeedback {
      if isOver(cable) { continue }
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
    return CycleBreaker(
      count: graph.nodes.count, sources: sources, destinations: destinations, standings: standings,
      canonicalEdges: { edges in
        edges.map { (edge: $0, name: name($0)) }.sorted { $0.name < $1.name }.map(\.edge)
      },
      canonicalNodes: canonicalNodes,
      compensatesFeedback: { self.graph.nodes[$0]?.type?.aheadOutput != nil })
  }

  /// Nodes in the order of their names.
  private func canonicalNodes(_ nodes: [Int]) -> [Int] {
    nodes.map { (node: $0, name: graph.nodes[$0]?.name ?? "", number: graph.nodes[$0]?.number ?? 0) }
      .sorted { ($0.name, $0.number) < ($1.name, $1.number) }.map(\.node)
  }
}
