import OrderedCollections
import Patch
import Processors
import Realtime

// Nodes: which arrive, leave, return or change their values. Worker.

extension Reconciler {
  /// Changes of an edit to the nodes.
  struct NodeChanges {
    /// New nodes, not prepared yet.
    var arrived: [EngineNode] = []
    /// Nodes that were leaving and are back in the patch.
    var returned: [EngineNode] = []
    /// Cables to examine: those that the edit touched, and those of nodes that replace others.
    var cables: OrderedSet<Cable.Ends>
    /// The graph was empty before, so every cable is touched.
    let isFromNothing: Bool
  }

  func reconcileNodes() -> NodeChanges {
    let touched = request.touched
    var changes = NodeChanges(cables: touched.cables, isFromNothing: graph.nodeCount == 0)
    graph.reserve(nodes: touched.nodes.count, cables: touched.cables.count)
    let ids = touchedNodes()
    for id in ids where patch[id] == nil {
      if let old = graph.removeCurrent(id) { startLeaving(old) }
    }
    for id in ids {
      guard let node = patch[id] else { continue }
      let type = engine.kinds[node.kind]
      let values = type.map { valuesNow(of: node, $0.description) } ?? []
      let engineNode = findOrMake(node, type, values, &changes)
      update(engineNode, node, values)
      changes.cables.append(contentsOf: switchedCables(into: engineNode))
      makeCurrent(engineNode, &changes)
    }
    for tap in engine.endedTaps { if let old = graph.removeCurrent(tap.id) { startLeaving(old) } }
    for tap in engine.taps where graph.current[tap.id] == nil { makeCurrent(make(tap, &changes), &changes) }
    return changes
  }

  /// The nodes that the edit touched. A placeholder has the ports that its cables name, and a muted node
  /// may have been muted because of a cable, or lack memory for its channels: an edit of the cable revives it, a
  /// movement of its gain does not.
  private func touchedNodes() -> OrderedSet<NodeID> {
    var ids = request.touched.nodes
    for ends in request.touched.cables {
      for id in [ends.source.node, ends.destination.node] where !ids.contains(id) {
        guard let node = patch[id] else { continue }
        let isRevived = revives && graph.current[id]?.isRevivable == true
        if engine.kinds[node.kind] == nil || isRevived { ids.append(id) }
      }
    }
    return ids
  }

  /// An edit gives a muted node another chance. A controller that plays on does not.
  private var revives: Bool { !request.isMoved }

  /// Makes it the current node of its identity, with all cables of that identity.
  private func makeCurrent(_ node: EngineNode, _ changes: inout NodeChanges) {
    let old = graph.setCurrent(node)
    guard old !== node else { return }
    if let old { startLeaving(old) }
    if !node.noteLengths.isEmpty {
      engine.followNotes(of: node)
      work.changesNotes = true
    }
    if !changes.isFromNothing { changes.cables.append(contentsOf: patch.cables(at: node.id)) }
  }

  /// The running node with the same key, or a new one.
  private func findOrMake(
    _ node: Node, _ type: NodeKind?, _ values: [[Float]], _ changes: inout NodeChanges
  ) -> EngineNode {
    let ports = type == nil ? placeholderPorts(node) : ([], [])
    var key = EngineNode.Key(
      id: node.id, kind: node.kind, shape: shape(type, values, ports),
      revival: graph.revivals[node.id] ?? 0, state: savedState(of: node, type),
      device: device(of: node, type),
      isPlaceholder: type == nil)
    let isRevived = revives && graph.nodesByKey[key]?.isRevivable == true
    // A muted node's state may be corrupt, and one without memory has none: a new node takes over by crossfade.
    if isRevived { key.revival = graph.revive(node.id) }
    if let known = graph.nodesByKey[key] {
      if known.isLeaving {
        bringBack(known)
        changes.returned.append(known)
      }
      return known
    }
    let made = EngineNode(
      key: key, number: engine.makeNumber(for: node.id, name: node.name), name: node.name, type: type,
      inputs: type?.audioInputs ?? ports.0, outputs: type?.audioOutputs ?? ports.1, values: values,
      firstChannel: firstChannel(of: node, type, values), rows: engine.rows)
    beginMidi(of: made, node)
    if let type, !node.settings.isEmpty { follow(node.noteLengths(type.description), of: made) }
    if let type { made.latency = Int32(type.latency(made.configuration(rate: engine.rate))) }
    engine.beginPreparation(made)
    add(made, &changes)
    if isRevived { engine.record(.revived, made) }
    return made
  }

  private func valuesNow(of node: Node, _ description: KindDescription) -> [[Float]] {
    EngineValues(of: node, description: description, wholeNote: patch.settings.wholeNote).values
  }

  /// The part of a node's identity besides its kind: its structural settings, or a placeholder's ports.
  private func shape(
    _ type: NodeKind?, _ values: [[Float]], _ ports: ([PortDescription], [PortDescription])
  ) -> [Float] {
    guard let description = type?.description else {
      var hasher = Hasher()
      hasher.combine(ports.0)
      hasher.combine(ports.1)
      return [Float(hasher.finalize() & 0xFFFFFF)]
    }
    var shape: [Float] = []
    for (index, parameter) in description.parameters.enumerated() where parameter.smoothing == .structural {
      shape += values[index]
    }
    return shape
  }

  /// Saved state in the settings of a kind that has one.
  private func savedState(of node: Node, _ type: NodeKind?) -> String {
    guard let name = type?.description.stateParameter,
      case .text(let state)? = node.settings[ParameterPath(name)]
    else { return "" }
    return state
  }

  /// Sound card of an endpoint's own; empty: the driver.
  private func device(of node: Node, _ type: NodeKind?) -> String {
    guard type?.description.endpoint?.hasChannels == true,
      case .text(let device)? = node.settings[ParameterPath("device")]
    else { return "" }
    return device
  }

  /// First driver channel of an endpoint; nil for other nodes. The node that it replaces gives its
  /// channels up.
  private func firstChannel(of node: Node, _ type: NodeKind?, _ values: [[Float]]) -> Int? {
    guard let type, let endpoint = type.description.endpoint, endpoint.hasChannels else { return nil }
    if let old = graph.current[node.id] { startLeaving(old) }
    let count =
      type.description.parameters.firstIndex { $0.name == "channels" }.map { Int(values[$0][0]) } ?? 2
    // When all 256 channels are taken, the node is silent.
    return engine.driverChannels(
      count, isInput: endpoint == .input, name: node.name, device: device(of: node, type))
      ?? DriverChannels.capacity
  }

  /// Taps are outputs that no patch has, whatever kinds the engine is given; captures have no driver channels.
  private static let tapKind = KindRegistry.builtIn[Output.description.name]!
  private static let captureKind = KindRegistry.builtIn[Record.description.name]!

  private func make(_ tap: Tap, _ changes: inout NodeChanges) -> EngineNode {
    let type = tap.isCapture ? Self.captureKind : Self.tapKind
    let kind = type.description.name
    var node = Node(id: tap.id, name: tap.name, kind: kind)
    var inputs = type.description.inputs
    if tap.isCapture {
      inputs[0].format = .channels(tap.channels)
    } else {
      node.settings[ParameterPath("channels")] = .number(Double(tap.channels), .none)
    }
    let made = EngineNode(
      key: EngineNode.Key(id: tap.id, kind: kind, shape: [Float(tap.channels)]),
      number: engine.makeNumber(for: tap.id, name: node.name), name: node.name, type: type,
      inputs: inputs, outputs: type.description.outputs,
      values: EngineValues(of: node, description: type.description).values,
      firstChannel: tap.isCapture
        ? nil : engine.driverChannels(tap.channels, isInput: false, name: node.name, device: ""),
      rows: engine.rows)
    add(made, &changes)
    return made
  }

  private func add(_ node: EngineNode, _ changes: inout NodeChanges) {
    graph.insert(node)
    changes.arrived.append(node)
    work.needsPlan = true
    if !isFirst { engine.record(.fadingIn(seconds: Double(fade) / engine.rate), node) }
  }

  private func bringBack(_ node: EngineNode) {
    graph.setLeaving(node, false)
    if node.isRinging, node.takesEvents { work.commands.append(.end(node.slot, after: -1)) }
    node.isRinging = false
    node.hasRungOut = false
    work.needsPlan = true
  }

  private func startLeaving(_ node: EngineNode) {
    guard !node.isLeaving else { return }
    graph.setLeaving(node, true)
    work.needsPlan = true
    if request.tails.contains(node.id), mayRingOut(node) {
      startTail(of: node)
    } else {
      for cable in node.incoming where cable.isTail { endTail(cable) }
      engine.record(.fadingOut(seconds: Double(fade) / engine.rate), node)
    }
  }

  /// Ports of an unknown kind: those that its cables name.
  private func placeholderPorts(_ node: Node) -> ([PortDescription], [PortDescription]) {
    var inputs: Set<String> = []
    var outputs: Set<String> = []
    for cable in patch.cables(at: node.id) {
      if cable.destination.node == node.id { inputs.insert(cable.destination.port) }
      if cable.source.node == node.id { outputs.insert(cable.source.port) }
    }
    return (
      inputs.sorted().map { PortDescription($0, .flexible) },
      outputs.sorted().map { PortDescription($0, .flexible) }
    )
  }
}
