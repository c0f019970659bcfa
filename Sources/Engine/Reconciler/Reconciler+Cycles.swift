import Patch

// Order of the nodes, and the cables that need a delay. Worker.

extension Reconciler {
  /// Consequences of the order of the graph.
  struct Arrangement {
    /// Intents that get or lose the feedback delay, or another latency compensation.
    var changed: [CableIntent] = []
    /// Frames until the output of a new node is complete, by its index.
    var readiness: [Int32: Int32] = [:]

    /// Frames until what the node sends is complete.
    func readiness(of node: EngineNode) -> Int32 { readiness[node.index] ?? 0 }
  }

  /// Sorts the union of wanted and fading cables, decides which intents need the feedback delay, and aligns
  /// parallel paths. `changed`: intents that are new, or differ.
  func arrange(arriving: [EngineNode], changed: [CableIntent]) -> Arrangement {
    var arrangement = Arrangement()
    // A large part of the patch is sorted as a whole.
    let isBulk = graph.order.forgets || arriving.count > 16 && arriving.count > graph.nodeCount / 16
    if isBulk { sortAll(&arrangement) } else { sort(arriving, changed, &arrangement) }
    if graph.isLatent { alignPaths(&arrangement, arriving: arriving, isBulk: isBulk) }
    graph.forgetChanges()
    return arrangement
  }

  /// Sorts all nodes anew.
  private func sortAll(_ arrangement: inout Arrangement) {
    let (breaker, feedback) = breakCycles()
    arrangement.changed += graph.setFeedback(feedback)
    graph.order.rebuild(breaker.order(canonicalNodes).compactMap { graph.rows[Int($0)] })
  }

  /// Changes the order where new cables ask for it, and looks at the cycles that the edit concerns.
  private func sort(
    _ arriving: [EngineNode], _ changed: [CableIntent], _ arrangement: inout Arrangement
  ) {
    let shaken = shakenLoops()
    place(arriving, changed)
    // Without a cycle nothing but a new cable can close one.
    if order(changed.filter { !$0.isFeedback }), graph.feedback.isEmpty { return }
    arrangement.changed = reviewCycles(changed, shaken)
    if !order((changed + arrangement.changed).filter { !$0.isFeedback }) { sortAll(&arrangement) }
  }

  private func ends(_ intent: CableIntent) -> CycleSpans.Ends {
    (intent.route.source.row, intent.route.destination.row)
  }

  /// The cables at these indices of both ends, of nodes that are there.
  private func ends(_ cables: [(source: Int32, destination: Int32)]) -> [CycleSpans.Ends] {
    cables.compactMap { cable in
      guard let source = graph.rows[Int(cable.source)], let destination = graph.rows[Int(cable.destination)]
      else { return nil }
      return (source, destination)
    }
  }

  /// Cables that fade or pass a tail on, and count for the order as long as they do.
  private var fading: [EngineCable] {
    graph.unsettled.filter { ($0.isLeaving || $0.isTail) && !$0.key.isFeedback }
  }

  /// The cables that close cycles where a cable has gone, or is about to go: what is left of those cycles may be opened
  /// elsewhere, also where the cable did not lead. Call this before the order changes.
  private func shakenLoops() -> [CycleSpans.Ends] {
    let gone = ends(graph.gone) + fading.map { ($0.source.row, $0.destination.row) }
    if gone.isEmpty || graph.feedback.isEmpty { return [] }
    let loops = graph.feedback.map(ends)
    var spans = CycleSpans(loops: loops, gone)
    for cable in gone { spans.touch(cable) }
    return loops.filter { spans.isTouched($0.destination) }
  }

  /// Decides again which cables are delayed, in the cycles near what has come, gone or changed. Returns the intents that
  /// get or lose the delay.
  private func reviewCycles(_ changed: [CableIntent], _ shaken: [CycleSpans.Ends]) -> [CableIntent] {
    let new = changed.map(ends)
    var spans = CycleSpans(loops: graph.feedback.map(ends), new)
    for cable in new + shaken + ends(graph.arrived) + ends(graph.gone) { spans.touch(cable) }
    for cable in fading { spans.touch((cable.source.row, cable.destination.row)) }
    let rows = spans.touched.flatMap(graph.order.rows)
    if rows.isEmpty { return [] }
    let kept = graph.feedback.filter { !spans.isTouched($0.route.destination.row) }.map { Int($0.index) }
    return graph.setFeedback((kept + breakCycles(among: rows).feedback).sorted())
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

  /// The cables among these nodes that need the delay, as indices of intents; nil: among all nodes, which have their indices.
  private func breakCycles(among rows: [NodeRow.Pointer]? = nil) -> (CycleBreaker, feedback: [Int]) {
    let nodes = rows ?? graph.rows
    var count = nodes.count
    var intents: [Int] = []
    var (sources, destinations, standings) = (
      graph.intentSources, graph.intentDestinations, graph.intentStandings
    )
    if let rows {
      for (number, row) in rows.enumerated() {
        row.pointee.planIndex = Int32(number)
        graph.addIntents(into: row, to: &intents)
      }
      intents.sort()
      // A cable from outside comes from a node of its own.
      sources = intents.map { intent in
        if let number = number(of: graph.rows[Int(sources[intent])]!, in: rows) { return number }
        count += 1
        return Int32(count - 1)
      }
      destinations = intents.map { graph.rows[Int(destinations[$0])]!.pointee.planIndex }
      standings = intents.map { standings[$0] }
    } else {
      intents = Array(graph.intents.indices)
    }
    // Before the first frame no cable has sounded, so that none has to stay as it is.
    if isFirst { standings = standings.map { $0.isOfEvents ? .events : .new } }
    var leaving: [EngineCable] = []
    for cable in fading where !isOver(cable) {
      let (source, destination) = (cable.source, cable.destination)
      if let rows {
        guard let from = number(of: source.row, in: rows), let to = number(of: destination.row, in: rows)
        else { continue }
        sources.append(from)
        destinations.append(to)
      } else {
        sources.append(source.index)
        destinations.append(destination.index)
      }
      standings.append(.leaving)
      leaving.append(cable)
    }
    func name(_ edge: Int) -> (String, String, String, String) {
      if edge < intents.count, let intent = graph.intents[intents[edge]] {
        return (
          intent.route.destination.name, intent.ends.destination.port, intent.route.source.name,
          intent.ends.source.port
        )
      }
      let cable = leaving[edge - intents.count]
      return (cable.destination.name, cable.key.destinationPort, cable.source.name, cable.key.sourcePort)
    }
    func node(_ number: Int) -> EngineNode? {
      number < nodes.count ? nodes[number]?.pointee.node.takeUnretainedValue() : nil
    }
    func nodeName(_ number: Int) -> String {
      nodes[number]?.pointee.node._withUnsafeGuaranteedRef { $0.name } ?? ""
    }
    let breaker = CycleBreaker(
      count: count, sources: sources, destinations: destinations, standings: standings,
      isEdgeBefore: { one, two in
        // Most edges differ in their destinations, whose names come first.
        if destinations[one] != destinations[two] {
          let (a, b) = (nodeName(Int(destinations[one])), nodeName(Int(destinations[two])))
          if a != b { return a < b }
        }
        let (a, b) = (name(one), name(two))
        return a == b ? one < two : a < b
      },
      isNodeBefore: {
        guard let a = node($0), let b = node($1) else { return $0 < $1 }
        return (a.name, a.number) < (b.name, b.number)
      },
      compensatesFeedback: { $0 < nodes.count && nodes[$0]?.pointee.hasAhead == true })
    return (breaker, breaker.feedback.filter { $0 < intents.count }.map { intents[$0] })
  }

  /// A node's number in a list in which each has its own; nil: it is not there.
  private func number(of row: NodeRow.Pointer, in rows: [NodeRow.Pointer]) -> Int32? {
    let number = Int(row.pointee.planIndex)
    return rows.indices.contains(number) && rows[number] == row ? row.pointee.planIndex : nil
  }

  /// Nodes in the order of their names.
  private func canonicalNodes(_ nodes: [Int]) -> [Int] {
    nodes.map { (node: $0, name: graph.nodes[$0]?.name ?? "", number: graph.nodes[$0]?.number ?? 0) }
      .sorted { ($0.name, $0.number) < ($1.name, $1.number) }.map(\.node)
  }
}
