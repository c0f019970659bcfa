import OrderedCollections
import Patch
import Processors
import Realtime

/// Finds the difference between the running graph and a patch: new, leaving and returning nodes and cables,
/// and parameter changes. One instance per change; it looks only at the parts that the change touched.
/// Worker.
final class Reconciler {
  struct RampKey: Hashable {
    var node: NodeID
    var path: ParameterPath
  }

  /// Result: everything to be sent.
  struct Work {
    var commands: [Command] = []
    /// Frames of the longest of parameters' crossfades. What a parameter's state is, the audio thread's to change, is
    /// not looked at from here.
    var crossfade = 0
    var garbage: [Transaction.Garbage] = []
    var needsPlan = false
    var compiler: PlanCompiler?
    var fading: [EngineCable] = []
    var opening: [EngineCable] = []
    var started: [EngineNode] = []
    var left: [EngineNode] = []
  }

  let engine: Engine
  let graph: EngineGraph
  let patch: Patch
  let fade: Int
  /// Nothing sounds yet, so everything starts at its target.
  let isFirst: Bool
  /// Engine frame of execution, as far as known.
  let time: Int64
  /// The frame was requested exactly. Otherwise execution is at the start of a later block.
  let isExact: Bool
  var ramps: [RampKey: Int] = [:]
  /// Nodes that ring out when they leave.
  var tails: Set<NodeID> = []
  /// Nodes that were leaving and are back in the patch.
  var returned: [EngineNode] = []
  var work = Work()
  var arrived: Set<Int32> = []
  var newCables: [EngineCable] = []
  /// Cables to examine.
  var touchedCables: OrderedSet<Cable.Ends> = []
  /// Wishes whose cable may need a change.
  var changed: [CableWish] = []
  /// A cable was added, removed or moved to another port.
  var isRewired = false
  /// The graph was empty before, so every cable is touched.
  private var isFromNothing = false
  /// Called because fades have ended, not for an edit.
  var isTidying = false
  var newNodes: [EngineNode] = []
  /// Topological order of the running graph, by index; nil: not known yet.
  var order: [Int32]?
  /// Frames until a new node's output is complete, by index; empty: at once.
  var readiness: [Int32] = []
  /// Cables whose gain starts to move.
  var moving: [EngineCable] = []
  /// Places where fades begin.
  var disturbed: Set<Junction> = []

  /// An input of a node, where the gains of crossfading cables must keep adding up to one.
  struct Junction: Hashable {
    var node: Int32
    var port: String
  }

  init(engine: Engine, patch: Patch, fade: Int, isFirst: Bool, time: Int64?) {
    self.engine = engine
    graph = engine.graph
    self.patch = patch
    self.fade = fade
    self.isFirst = isFirst
    self.time = max(time ?? 0, engine.renderer.time)
    isExact = time != nil
  }

  /// `mustCompile`: fades have ended, so the plan can be reduced.
  func run(_ touched: Touched, mustCompile: Bool = false) -> Work {
    isTidying = mustCompile
    work.needsPlan = mustCompile || isFirst
    isRewired = work.needsPlan
    touchedCables = touched.cables
    isFromNothing = graph.nodeCount == 0
    graph.reserve(nodes: touched.nodes.count, cables: touched.cables.count)
    followSwitches()
    reconcileNodes(touched.nodes)
    reconcileWishes()
    if isTidying { endTails() }
    if isRewired || work.needsPlan { arrange() }
    carryOut()
    for node in returned { endTails(of: node) }
    endCables(into: returned)
    removeFinished()
    hearFreePorts()
    guard work.needsPlan else {
      alignFades()
      return work
    }
    if order == nil {
      arrange()
      carryOut()
    }
    var rows: [NodeRow.Pointer] = []
    var sinks: [EngineNode] = []
    rows.reserveCapacity(graph.nodeCount)
    for place in order ?? [] {
      guard let row = graph.rows[Int(place)] else { continue }
      if row.pointee.isSink { sinks.append(row.pointee.node.takeUnretainedValue()) } else { rows.append(row) }
    }
    // Endpoints that share driver channels are summed there, so they run in an order of their own. The order
    // of the other nodes depends on which fades are under way.
    sinks.sort { $0.number < $1.number }
    rows += sinks.map(\.row)
    let counts = ChannelCounts(rows: rows)
    // Successor cables bring as many channels as their predecessors, so the counts are settled once more.
    if followCounts(counts.follow()) { _ = counts.follow() }
    let compiler = PlanCompiler(rows: rows, graph: graph, memory: engine.takePlanMemory())
    for node in newNodes {
      engine.prepare(node)
      if let resource = engine.resource(for: node.id), node.type != nil {
        node.resource = resource
        work.commands.append(.use(node.slot, resource.header))
      }
      if let instance = node.instance { work.commands += engine.handOver(instance, to: node) }
      work.started.append(node)
    }
    // Last, since cables point at their nodes' slots.
    for cable in newCables { prepare(cable) }
    alignFades()
    work.compiler = compiler
    return work
  }

  // MARK: Nodes

  private func reconcileNodes(_ touched: OrderedSet<NodeID>) {
    var touched = touched
    // A placeholder has the ports that its cables name. A muted node may have been muted because of a cable.
    for ends in touchedCables {
      for id in [ends.source.node, ends.destination.node] where !touched.contains(id) {
        guard let node = patch[id] else { continue }
        if engine.kinds[node.kind] == nil || graph.current[id]?.isMuted == true { touched.append(id) }
      }
    }
    for id in touched where patch[id] == nil {
      if let old = graph.dismiss(id) { leave(old) }
    }
    for id in touched {
      guard let node = patch[id] else { continue }
      let type = engine.kinds[node.kind]
      let values = type.map { EngineValues(of: node, description: $0.description).values } ?? []
      let engineNode = take(node, type, values)
      update(engineNode, node, values)
      appoint(engineNode)
    }
    for tap in engine.taps where graph.current[tap.id] == nil { appoint(make(tap)) }
  }

  /// Makes it the current node of its identity, with all cables of that identity.
  private func appoint(_ node: EngineNode) {
    let old = graph.appoint(node)
    guard old !== node else { return }
    if let old { leave(old) }
    if !isFromNothing { touchedCables.append(contentsOf: patch.cables(at: node.id)) }
  }

  /// The running node with the same key, or a new one.
  private func take(_ node: Node, _ type: NodeKind?, _ values: [[Float]]) -> EngineNode {
    let ports = type == nil ? placeholderPorts(node) : ([], [])
    var shape: [Float] = []
    if let description = type?.description {
      for (index, parameter) in description.parameters.enumerated() where parameter.smoothing == .structural {
        shape += values[index]
      }
    } else {
      var hasher = Hasher()
      hasher.combine(ports.0)
      hasher.combine(ports.1)
      shape = [Float(hasher.finalize() & 0xFFFFFF)]
    }
    var key = EngineNode.Key(
      id: node.id, kind: node.kind, shape: shape, life: engine.lives[node.id] ?? 0,
      isPlaceholder: type == nil)
    if let name = type?.description.stateParameter,
      case .text(let state)? = node.settings[ParameterPath(name)]
    {
      key.state = state
    }
    let isRevived = graph.nodesByKey[key]?.isMuted == true
    if isRevived {
      // A muted node's state may be corrupt: a new node takes over by crossfade.
      key.life += 1
      engine.lives[node.id] = key.life
    }
    if let known = graph.nodesByKey[key] {
      if known.isLeaving {
        graph.setLeaving(known, false)
        returned.append(known)
        if known.isRinging, known.takesEvents { work.commands.append(.end(known.slot, after: -1)) }
        known.isRinging = false
        known.hasRungOut = false
        work.needsPlan = true
      }
      return known
    }
    var first: Int?
    if let type, type.description.endpoint == .input || type.description.endpoint == .output {
      if let old = graph.current[node.id] { leave(old) }
      let count =
        type.description.parameters.firstIndex { $0.name == "channels" }.map { Int(values[$0][0]) } ?? 2
      // All 256 channels are taken: the node is silent.
      first =
        engine.driverChannels(count, isInput: type.description.endpoint == .input, name: node.name)
        ?? DriverChannels.capacity
    }
    let made = EngineNode(
      key: key, number: engine.makeNumber(for: node.id, name: node.name), name: node.name, type: type,
      inputs: type?.audioInputs ?? ports.0, outputs: type?.audioOutputs ?? ports.1, values: values,
      firstChannel: first, rows: engine.rows)
    if type?.description.endpoint == .midi {
      made.portName = Self.sender(of: node)
      hear(engine.midiPort(for: made.portName), made)
    }
    if let type { made.latency = Int32(type.latency(made.configuration(rate: engine.rate))) }
    engine.beginPreparation(made)
    add(made)
    if isRevived { engine.note(.revived, made) }
    return made
  }

  /// Taps are outputs that no patch has, whatever kinds the engine is given.
  private static let tapKind = KindRegistry.builtIn[Output.description.name]!

  private func make(_ tap: Tap) -> EngineNode {
    let type = Self.tapKind
    let kind = type.description.name
    var node = Node(id: tap.id, name: "tap of \(tap.node).\(tap.port)", kind: kind)
    node.settings[ParameterPath("channels")] = .number(Double(tap.channels), .none)
    let made = EngineNode(
      key: EngineNode.Key(id: tap.id, kind: kind, shape: [Float(tap.channels)]),
      number: engine.makeNumber(for: tap.id, name: node.name), name: node.name, type: type,
      inputs: type.description.inputs, outputs: [],
      values: EngineValues(of: node, description: type.description).values,
      firstChannel: engine.driverChannels(tap.channels, isInput: false, name: node.name), rows: engine.rows)
    add(made)
    return made
  }

  private func add(_ node: EngineNode) {
    graph.insert(node)
    newNodes.append(node)
    arrived.insert(node.number)
    work.needsPlan = true
    if !isFirst {
      engine.note(.fadingIn(seconds: Double(fade) / engine.rate), node)
    }
  }

  private func leave(_ node: EngineNode) {
    guard !node.isLeaving else { return }
    graph.setLeaving(node, true)
    work.needsPlan = true
    if tails.contains(node.id), mayRing(node) {
      ring(node)
    } else {
      for cable in node.incoming where cable.isTail { endTail(cable) }
      engine.note(.fadingOut(seconds: Double(fade) / engine.rate), node)
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

  // MARK: Parameters

  private func update(_ target: EngineNode, _ node: Node, _ values: [[Float]]) {
    if target.name != node.name {
      target.name = node.name
      engine.rename(target)
      // Inputs are summed in name order. The change takes effect at this frame, not with some later plan.
      work.needsPlan = true
      graph.reorderCables(from: target)
    }
    if target.firstChannel != nil { update(portsOf: target, node) }
    if target.midiPort != nil { update(midiPortOf: target, node) }
    guard target.values != values, let description = target.type?.description else { return }
    let old = target.values
    target.values = values
    for (index, parameter) in description.parameters.enumerated() where old[index] != values[index] {
      send(index, of: target) { rampFrames(node.id, parameter, $0, description, values) }
    }
  }

  /// Name of its ports at the driver.
  private func update(portsOf target: EngineNode, _ node: Node) {
    var name: String?
    if case .text(let text)? = node.settings[ParameterPath("port")], !text.isEmpty { name = text }
    guard target.portName != name else { return }
    target.portName = name
    engine.rename(target)
  }

  /// Gains controlled by a switch take the switch's ramp time.
  private func followSwitches() {
    for (key, frames) in ramps {
      guard let kind = patch[key.node].flatMap({ engine.kinds[$0.kind]?.description }) else { continue }
      ramps[RampKey(node: key.node, path: kind.gains(movedBy: key.path))] = frames
    }
  }

  private func rampFrames(
    _ id: NodeID, _ parameter: ParameterDescription, _ element: Int, _ description: KindDescription,
    _ values: [[Float]]
  ) -> Int {
    guard !ramps.isEmpty else { return fade }
    if let frames = ramps[RampKey(node: id, path: ParameterPath(parameter.name))] { return frames }
    var indices: [Int] = []
    var rest = element
    for dimension in parameter.dimensions.reversed() {
      let size = description.parameters.firstIndex { $0.name == dimension }.map { Int(values[$0][0]) } ?? 1
      indices.insert(rest % max(size, 1), at: 0)
      rest /= max(size, 1)
    }
    if indices.isEmpty { indices = [element] }
    return ramps[RampKey(node: id, path: ParameterPath(parameter.name, indices))] ?? fade
  }
}
