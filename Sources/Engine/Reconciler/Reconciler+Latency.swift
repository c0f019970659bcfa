import HeapModule
import Patch

// Latency compensation of parallel paths. Worker.

extension Reconciler {
  /// At each audio input, delays the cables that arrive earlier than the latest.
  ///
  /// A path's latency is the sum of its nodes' latencies, from its source. Cables into parameters and
  /// feedback cables are neither compensated nor counted. Sound on a cycle is late by the 64 frames and by
  /// the latency of the cycle's nodes.
  ///
  /// From the nodes that the edit touches, in execution order, as far as latencies change. `isBulk`: all nodes are looked at.
  func alignPaths(_ arrangement: inout Arrangement, arriving: [EngineNode], isBulk: Bool) {
    var alignment = PathAlignment(graph, arriving: isFirst ? [] : arriving)
    let redirected = arrangement.changed.map(\.route.destination.index)
    func isFollowed() -> Bool {
      alignment.follow(
        graph.touchedInputs + redirected + arriving.map(\.index), most: graph.nodeCount / 4)
    }
    if isBulk || !isFollowed() { alignment.alignAll() }
    arrangement.changed += alignment.changed
    arrangement.readiness = alignment.readiness
  }
}

/// One pass over paths whose latencies may have changed. Worker.
private struct PathAlignment {
  /// Intents with another compensation.
  private(set) var changed: [CableIntent] = []
  /// Frames until the output of a new node is complete, by its index.
  private(set) var readiness: [Int32: Int32] = [:]

  private let graph: EngineGraph
  private let arriving: Set<Int32>
  private let feedback: Set<Int32>
  /// Intents into a node, and the latency at each of its inputs; room that stays from node to node.
  private var intents: [Int] = []
  private var latest: [Int32] = []

  /// A node at its place in the execution order.
  private struct Stop: Comparable {
    let order: Int
    let row: NodeRow.Pointer

    static func < (a: Stop, b: Stop) -> Bool { a.order < b.order }
  }

  init(_ graph: EngineGraph, arriving: [EngineNode]) {
    self.graph = graph
    self.arriving = Set(arriving.map(\.index))
    feedback = Set(graph.feedback.map(\.index))
  }

  /// Looks at all nodes.
  mutating func alignAll() { for row in graph.order.rows { _ = align(row) } }

  /// Looks at these nodes, by index, and at those behind them as far as latencies change. False: those are more than
  /// `most`, and not all were looked at.
  mutating func follow(_ nodes: [Int32], most: Int) -> Bool {
    var stops = Heap<Stop>()
    func add(_ row: NodeRow.Pointer) {
      if let order = row.order { stops.insert(Stop(order: order, row: row)) }
    }
    for node in nodes { if let row = graph.rows[Int(node)] { add(row) } }
    var (count, last) = (0, -1)
    while let stop = stops.popMin() {
      // Several paths lead to it.
      if stop.order == last { continue }
      last = stop.order
      count += 1
      if count > most { return false }
      guard align(stop.row) else { continue }
      for cable in stop.row.pointee.node.takeUnretainedValue().outgoing where !cable.key.isFeedback {
        add(cable.destination.row)
      }
    }
    return true
  }

  /// Delays the cables into a node. Returns true if the latency at its outputs has changed.
  private mutating func align(_ row: NodeRow.Pointer) -> Bool {
    let node = row.pointee.index
    intents.removeAll(keepingCapacity: true)
    graph.addIntents(into: row, to: &intents)
    for place in latest.indices { latest[place] = 0 }
    var (all, ready) = (Int32(0), Int32(0))
    for intent in intents where counts(intent) {
      let port = Int(graph.intentPorts[intent])
      if port >= latest.count { latest += repeatElement(0, count: port + 1 - latest.count) }
      let source = graph.intentSources[intent]
      let arrival = graph.outputLatencies[Int(source)]
      latest[port] = max(latest[port], arrival)
      all = max(all, arrival)
      if !readiness.isEmpty { ready = max(ready, readiness[source] ?? 0) }
    }
    for intent in intents {
      let arrival = graph.outputLatencies[Int(graph.intentSources[intent])]
      let delay = counts(intent) ? latest[Int(graph.intentPorts[intent])] - arrival : 0
      if let intent = graph.setCompensation(delay, at: intent) { changed.append(intent) }
    }
    let own = graph.latencies[Int(node)]
    // The node's own filters take as long again to fill. Its inputs may be delayed by everything upstream.
    if arriving.contains(node) { readiness[node] = ready + all + 2 * own }
    return graph.setOutputLatency(all + own, at: Int(node))
  }

  /// True for a cable into an audio input that closes no cycle.
  private func counts(_ intent: Int) -> Bool {
    graph.intentPorts[intent] >= 0 && (feedback.isEmpty || !feedback.contains(Int32(intent)))
  }
}
