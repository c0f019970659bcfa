import Patch

/// The running graph, leaving nodes and cables included, and the cables that the patch intends.
///
/// All tables are updated incrementally. Worker.
final class EngineGraph {
  /// A node keeps its index in `nodes`, and an intent its index in `intents`, as long as it lives; nil: free.
  private(set) var nodes: [EngineNode?] = []
  /// Rows of the nodes, by the same indices.
  private(set) var rows: [NodeRow.Pointer?] = []
  private(set) var intents: [CableIntent?] = []
  /// Columns of the intents by index, for passes over all of them; -1: free.
  private(set) var intentSources: [Int32] = []
  private(set) var intentDestinations: [Int32] = []
  private(set) var intentStandings: [CycleBreaker.Standing] = []
  /// Audio input that an intent goes to; -1: another kind of input.
  private(set) var intentPorts: [Int32] = []
  /// The next intent into the same node, and the one before it; -1: none.
  private var intentsBehind: [Int32] = []
  private var intentsBefore: [Int32] = []
  /// An intent into each node, by the node's index; -1: none.
  private var firstIntents: [Int32] = []
  /// Latency compensation of each intent, in frames.
  private(set) var intentCompensations: [Int32] = []
  private var compensatedCount = 0
  /// Latency of each node, by index.
  private(set) var latencies: [Int32] = []
  private var latentCount = 0
  /// Latency at the outputs of each node, by index, as the paths were last aligned: that of the longest path to it and its own.
  private(set) var outputLatencies: [Int32] = []
  /// Nodes at whose outputs sound is late.
  private var lateCount = 0
  /// True when latency compensation has anything to do.
  var isLatent: Bool { latentCount > 0 || lateCount > 0 || compensatedCount > 0 }
  private var freeNodes: [Int32] = []
  private var freeIntents: [Int32] = []
  private(set) var nodeCount = 0
  let order = ExecutionOrder()

  /// The current node of each identity.
  private(set) var current: [NodeID: EngineNode] = [:]
  private(set) var nodesByKey = ObjectTable<EngineNode>()
  private(set) var cables = ObjectTable<EngineCable>()
  private var intentsByEnds = ObjectTable<CableIntent>()
  /// Number of renewals of the cables between two ports, as long as one of them exists or is intended.
  private(set) var generations: [Cable.Ends: Int32] = [:]
  /// Number of revivals of an identity after the blast shield muted its node, as long as it has a node.
  private(set) var revivals: [NodeID: Int] = [:]
  /// A part with renewals or revivals was removed.
  private var hasForgettable = false
  /// Intents that go through the feedback delay.
  private(set) var feedback: [CableIntent] = []
  /// Ends, as node indices, of cables that came or were renamed, and of cables that went, since cycles were last decided.
  private(set) var arrived: [(source: Int32, destination: Int32)] = []
  private(set) var gone: [(source: Int32, destination: Int32)] = []
  /// Nodes, by index, whose latency has changed since then.
  private var shifted: [Int32] = []

  /// Nodes that are still audible but no longer in the patch.
  private(set) var leaving: [EngineNode] = []
  /// Cables that fade or leave.
  private(set) var unsettled: [EngineCable] = []
  /// Nodes with driver channels.
  private(set) var endpoints: [EngineNode] = []
  /// Nodes that listen to a MIDI port of the driver.
  private(set) var receivers: [EngineNode] = []
  /// Nodes of kinds that are only known at run time.
  private(set) var foreign: [EngineNode] = []
  /// Nodes that were removed, and that an undo may bring back with what they recorded.
  var shelf = Shelf()

  /// Breaks the reference cycles and frees all memory.
  func removeAll() {
    for cable in cables.values { cable.free() }
    for node in nodesByKey.values {
      node.incoming = []
      node.outgoing = []
      node.free()
    }
    for intent in intents { intent?.cable = nil }
    shelf.removeAll()
    cables.removeAll()
    nodesByKey.removeAll()
  }

  /// Reserves capacity, so that the tables of a large patch do not move while they grow.
  func reserve(nodes nodeCount: Int, cables cableCount: Int) {
    nodes.reserveCapacity(nodeCount)
    rows.reserveCapacity(nodeCount)
    latencies.reserveCapacity(nodeCount)
    outputLatencies.reserveCapacity(nodeCount)
    firstIntents.reserveCapacity(nodeCount)
    current.reserveCapacity(nodeCount)
    nodesByKey.reserveCapacity(nodeCount)
    cables.reserveCapacity(cableCount)
    intents.reserveCapacity(cableCount)
    intentsByEnds.reserveCapacity(cableCount)
    intentSources.reserveCapacity(cableCount)
    intentDestinations.reserveCapacity(cableCount)
    intentStandings.reserveCapacity(cableCount)
    intentPorts.reserveCapacity(cableCount)
    intentCompensations.reserveCapacity(cableCount)
    intentsBehind.reserveCapacity(cableCount)
    intentsBefore.reserveCapacity(cableCount)
  }

  // MARK: Nodes

  func insert(_ node: EngineNode) {
    nodesByKey.insert(node)
    if let index = freeNodes.popLast() {
      node.index = index
      nodes[Int(index)] = node
      rows[Int(index)] = node.row
      latencies[Int(index)] = node.latency
      _ = setOutputLatency(0, at: Int(index))
    } else {
      node.index = Int32(nodes.count)
      nodes.append(node)
      rows.append(node.row)
      latencies.append(node.latency)
      outputLatencies.append(0)
      firstIntents.append(-1)
    }
    node.row.markPending()
    if node.latency > 0 { latentCount += 1 }
    nodeCount += 1
    if node.firstChannel != nil { endpoints.append(node) }
    if node.midiPort != nil { receivers.append(node) }
    if node.type?.program != nil { foreign.append(node) }
  }

  /// Notes that a node's latency has changed, in frames.
  func setLatency(_ frames: Int32, of node: EngineNode) {
    latentCount += (frames > 0 ? 1 : 0) - (node.latency > 0 ? 1 : 0)
    node.latency = frames
    latencies[Int(node.index)] = frames
    shifted.append(node.index)
  }

  /// Sets the latency at a node's outputs, in frames. Returns true if that is a change.
  func setOutputLatency(_ frames: Int32, at place: Int) -> Bool {
    let old = outputLatencies[place]
    guard frames != old else { return false }
    lateCount += (frames > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
    outputLatencies[place] = frames
    return true
  }

  /// Gives a node another saved state, which is the one that it has reached.
  func setState(_ state: String, of node: EngineNode) {
    nodesByKey.remove(node.key)
    node.key.state = state
    nodesByKey.insert(node)
  }

  /// Removes a node and its cables; calls `dropped` for each cable.
  func remove(_ node: EngineNode, dropped: (EngineCable) -> Void) {
    let (incoming, outgoing) = (node.incoming, node.outgoing)
    node.incoming = []
    node.outgoing = []
    for cable in incoming + outgoing where cables[cable.key] === cable {
      remove(cable)
      dropped(cable)
    }
    nodesByKey.remove(node.key)
    node.isGone = true
    order.remove(node.row)
    if node.latency > 0 { latentCount -= 1 }
    latencies[Int(node.index)] = 0
    _ = setOutputLatency(0, at: Int(node.index))
    nodes[Int(node.index)] = nil
    rows[Int(node.index)] = nil
    freeNodes.append(node.index)
    nodeCount -= 1
    leaving.removeAll { $0 === node }
    if node.firstChannel != nil { endpoints.removeAll { $0 === node } }
    if node.midiPort != nil { receivers.removeAll { $0 === node } }
    if node.type?.program != nil {
      node.preparation?.cancel()
      foreign.removeAll { $0 === node }
    }
    if revivals[node.id] != nil { hasForgettable = true }
  }

  /// Counts a revival: the next node of this identity is a new one. Returns their number.
  func revive(_ id: NodeID) -> Int {
    revivals[id, default: 0] += 1
    return revivals[id, default: 0]
  }

  /// Makes `node` the current one of its identity; returns the one before.
  func setCurrent(_ node: EngineNode) -> EngineNode? { current.updateValue(node, forKey: node.id) }

  func removeCurrent(_ id: NodeID) -> EngineNode? { current.removeValue(forKey: id) }

  func setLeaving(_ node: EngineNode, _ isLeaving: Bool) {
    node.isLeaving = isLeaving
    if isLeaving {
      leaving.append(node)
    } else {
      leaving.removeAll { $0 === node }
      node.row.markPending()
      node.row.pointee.mayNarrow = true
    }
  }

  /// Call this when a node was renamed: inputs are summed in the order of their sources' names.
  func reorderCables(from node: EngineNode) {
    arrived.append((node.index, node.index))
    for cable in node.outgoing {
      unlink(cable)
      link(cable)
      arrived.append((node.index, cable.destination.index))
    }
  }

  // MARK: Cables

  /// Insertion index of a cable among its destination's inputs. The order is by name, so that it does not
  /// depend on the order in which the patch was made.
  static func place(of cable: EngineCable) -> Int {
    let list = cable.destination.incoming
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if comesBefore(list[middle], cable) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func comesBefore(_ a: EngineCable, _ b: EngineCable) -> Bool {
    if a.source === b.source {
      return (a.key.sourcePort, a.key.destinationPort, a.number)
        < (b.key.sourcePort, b.key.destinationPort, b.number)
    }
    if a.source.name != b.source.name { return a.source.name < b.source.name }
    return a.source.number < b.source.number
  }

  func insert(_ cable: EngineCable) {
    cables.insert(cable)
    cable.source.outgoing.append(cable)
    link(cable)
    cable.destination.row.markPending()
    countReader(1, of: cable)
  }

  /// Inserts the cable at its place among the destination's inputs.
  private func link(_ cable: EngineCable) {
    let place = Self.place(of: cable)
    let list = cable.destination.incoming
    cable.row.pointee.next = place < list.count ? list[place].row : nil
    if place > 0 {
      list[place - 1].row.pointee.next = cable.row
    } else {
      cable.destination.row.pointee.incoming = cable.row
    }
    cable.destination.incoming.insert(cable, at: place)
    if cable.row.pointee.input == 0 {
      cable.destination.wideSum?.insert(cable.row, at: place)
    } else {
      cable.destination.wideSum = nil
    }
    cable.destination.row.markStale()
  }

  private func unlink(_ cable: EngineCable) {
    let list = cable.destination.incoming
    guard let place = list.lastIndex(where: { $0 === cable }) else { return }
    let next = cable.row.pointee.next
    if place > 0 {
      list[place - 1].row.pointee.next = next
    } else {
      cable.destination.row.pointee.incoming = next
    }
    cable.destination.incoming.remove(at: place)
    cable.destination.wideSum?.remove(at: place)
    cable.destination.row.markStale()
  }

  private func countReader(_ change: Int32, of cable: EngineCable) {
    guard let output = cable.output else { return }
    let row = cable.source.row
    if cable.row.pointee.isDelayed {
      row.pointee.delayedReaders += change
      row.markStale()
    } else {
      row.readers[output] += change
      // A kernel need not write outputs but the first that nobody reads.
      if output > 0, row.readers[output] <= 1 { row.markStale() }
    }
    let outgoing = cable.source.outgoing
    let reader =
      row.isReadOnce ? outgoing.first { $0.output != nil && (change > 0 || $0 !== cable) }?.row : nil
    row.addTo(reader?.pointee.ownSum)
  }

  func remove(_ cable: EngineCable) {
    cables.remove(cable.key)
    if !cable.key.isFeedback { gone.append((cable.source.index, cable.destination.index)) }
    countReader(-1, of: cable)
    if let index = cable.source.outgoing.lastIndex(where: { $0 === cable }) {
      cable.source.outgoing.remove(at: index)
    }
    unlink(cable)
    cable.isGone = true
    if !generations.isEmpty, generations[cable.patchEnds] != nil { hasForgettable = true }
  }

  /// Adds a cable that begins to fade or to leave.
  func unsettle(_ cable: EngineCable) {
    guard !cable.isUnsettled else { return }
    cable.isUnsettled = true
    unsettled.append(cable)
  }

  /// Removes cables that have come to rest. A tail that is over is still to be ended.
  func forgetSettled() {
    unsettled.removeAll { cable in
      let isSettled = cable.isGone || cable.settling == nil && !cable.isLeaving && !cable.isTail
      if isSettled { cable.isUnsettled = false }
      return isSettled
    }
  }

  /// Forgets the renewals and revivals of what has gone altogether. Call this after removals.
  func forgetGone() {
    guard hasForgettable else { return }
    hasForgettable = false
    func nodes(of id: NodeID) -> [EngineNode] {
      leaving.filter { $0.id == id } + (current[id].map { [$0] } ?? [])
    }
    generations = generations.filter { ends, _ in
      intentsByEnds[ends] != nil
        || nodes(of: ends.source.node).contains { $0.outgoing.contains { $0.patchEnds == ends } }
    }
    revivals = revivals.filter { !nodes(of: $0.key).isEmpty }
  }

  // MARK: Intents

  subscript(_ ends: Cable.Ends) -> CableIntent? { intentsByEnds[ends] }

  /// Makes the next cable of the intent a new one, with another key.
  func renew(_ intent: CableIntent) {
    intent.generation = generations[intent.ends, default: 0] + 1
    generations[intent.ends] = intent.generation
  }

  func insert(_ intent: CableIntent) {
    intentsByEnds.insert(intent)
    intent.generation = generations[intent.ends] ?? 0
    let standing: CycleBreaker.Standing = intent.route.output == nil ? .events : .new
    var port: Int32 = -1
    if case .audio(let input) = intent.route.input { port = Int32(input) }
    if let index = freeIntents.popLast() {
      intent.index = index
      intents[Int(index)] = intent
      intentSources[Int(index)] = intent.route.source.index
      intentDestinations[Int(index)] = intent.route.destination.index
      intentStandings[Int(index)] = standing
      intentPorts[Int(index)] = port
    } else {
      intent.index = Int32(intents.count)
      intents.append(intent)
      intentSources.append(intent.route.source.index)
      intentDestinations.append(intent.route.destination.index)
      intentStandings.append(standing)
      intentPorts.append(port)
      intentCompensations.append(0)
      intentsBehind.append(-1)
      intentsBefore.append(-1)
    }
    let (place, destination) = (Int(intent.index), Int(intent.route.destination.index))
    let next = firstIntents[destination]
    intentsBehind[place] = next
    if next >= 0 { intentsBefore[Int(next)] = intent.index }
    firstIntents[destination] = intent.index
    arrived.append((intentSources[place], intentDestinations[place]))
  }

  func remove(_ intent: CableIntent) {
    if intent.isFeedback { feedback.removeAll { $0 === intent } }
    intentsByEnds.remove(intent.ends)
    _ = setCompensation(0, at: Int(intent.index))
    let place = Int(intent.index)
    gone.append((intentSources[place], intentDestinations[place]))
    let (before, behind) = (intentsBefore[place], intentsBehind[place])
    if before >= 0 {
      intentsBehind[Int(before)] = behind
    } else {
      firstIntents[Int(intentDestinations[place])] = behind
    }
    if behind >= 0 { intentsBefore[Int(behind)] = before }
    intentsBefore[place] = -1
    intents[place] = nil
    intentSources[place] = -1
    intentDestinations[place] = -1
    freeIntents.append(intent.index)
  }

  /// Adds the indices of the intents into a node.
  func addIntents(into node: NodeRow.Pointer, to list: inout [Int]) {
    var place = firstIntents[Int(node.pointee.index)]
    while place >= 0 {
      list.append(Int(place))
      place = intentsBehind[Int(place)]
    }
  }

  /// Nodes, by index, whose cables or latencies have changed; some of them may be gone.
  var touchedInputs: [Int32] { arrived.map(\.destination) + gone.map(\.destination) + shifted }

  /// Forgets what has come, gone and changed, once cycles and latencies are known.
  func forgetChanges() { (arrived, gone, shifted) = ([], [], []) }

  /// Makes `cable` the one that realises the intent.
  func setCable(_ cable: EngineCable, of intent: CableIntent) {
    intent.cable = cable
    intentStandings[Int(intent.index)] =
      cable.carriesEvents ? .playing : cable.key.isFeedback ? .delayed : .direct
  }

  /// Leaves an intent of events without a cable.
  func removeCable(of intent: CableIntent) {
    intent.cable = nil
    intentStandings[Int(intent.index)] = .events
  }

  /// Sets the latency compensation of an intent, in frames. Returns the intent if that is a change.
  func setCompensation(_ frames: Int32, at place: Int) -> CableIntent? {
    let old = intentCompensations[place]
    guard frames != old, let intent = intents[place] else { return nil }
    compensatedCount += (frames > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
    intentCompensations[place] = frames
    intent.compensation = frames
    return intent
  }

  /// Sends exactly the intents at these indices through the feedback delay. Returns the intents that changed.
  func setFeedback(_ places: [Int]) -> [CableIntent] {
    if places.isEmpty, feedback.isEmpty { return [] }
    let old = feedback
    feedback = places.compactMap { intents[$0] }
    let wanted = Set(places)
    var changed = old.filter { !wanted.contains(Int($0.index)) }
    for intent in changed { intent.isFeedback = false }
    for intent in feedback where !intent.isFeedback {
      intent.isFeedback = true
      changed.append(intent)
    }
    return changed
  }
}
