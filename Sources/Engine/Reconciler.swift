import Patch
import Realtime

/// Finds the way from what sounds to what a patch says: which nodes and cables are new, which leave,
/// which come back, which parameters move. One is made for each change. Worker.
final class Reconciler {
  struct RampKey: Hashable {
    var node: NodeID
    var path: ParameterPath
  }

  /// What has to be sent.
  struct Work {
    var commands: [Command] = []
    var garbage: [Transaction.Garbage] = []
    var needsPlan = false
    var compiler: PlanCompiler?
    var fading: [EngineCable] = []
    var started: [EngineNode] = []
    var left: [EngineNode] = []
  }

  private let engine: Engine
  private let patch: Patch
  private let fade: Int
  /// Nothing sounds yet: everything starts at its target.
  private let isFirst: Bool
  var ramps: [RampKey: Int] = [:]
  var mustCompile = false
  private var work = Work()
  private var arrived: Set<Int32> = []

  init(engine: Engine, patch: Patch, fade: Int, isFirst: Bool) {
    self.engine = engine
    self.patch = patch
    self.fade = fade
    self.isFirst = isFirst
  }

  func run() -> Work {
    work.needsPlan = mustCompile || isFirst
    reconcileNodes()
    if !work.needsPlan, patch.cables == engine.adopted { return work }
    engine.adopted = patch.cables
    reconcileCables(desiredCables())
    removeFinished()
    guard work.needsPlan else { return work }
    var compiler = PlanCompiler(
      nodes: Array(engine.nodes.values).sorted { $0.number < $1.number }, cables: sortedCables())
    for node in compiler.spreadChannels() {
      let (command, old) = node.widen(rate: engine.rate)
      work.commands.append(command)
      if let old { work.garbage.append(.memory(old)) }
    }
    for node in compiler.nodes where node.slot == nil {
      engine.prepare(node)
      if let resource = engine.resource(for: node.id), node.type != nil {
        node.resource = resource
        work.commands.append(.use(node.slot, resource.header))
      }
      work.started.append(node)
    }
    // Cables point at their nodes' slots only now.
    for cable in compiler.cables where cable.slot == nil { prepare(cable) }
    alignFades()
    work.compiler = compiler
    return work
  }

  private func sortedCables() -> [EngineCable] {
    engine.cables.values.sorted {
      ($0.destination.number, $0.source.number, $0.key.sourcePort, $0.key.destinationPort)
        < ($1.destination.number, $1.source.number, $1.key.sourcePort, $1.key.destinationPort)
    }
  }

  // MARK: Nodes

  private func reconcileNodes() {
    var staying: [NodeID: EngineNode] = [:]
    staying.reserveCapacity(patch.nodes.count)
    for node in patch.nodes.values {
      let type = KernelType.byName[node.kind]
      let values = type.map { EngineValues(of: node, description: $0.description).values } ?? []
      let engineNode = take(node, type, values)
      update(engineNode, node, values)
      staying[node.id] = engineNode
    }
    for tap in engine.taps { staying[tap.id] = take(tap) }
    for (id, node) in engine.current where staying[id] !== node { leave(node) }
    engine.current = staying
  }

  /// The node that sounds for it already, or a new one.
  private func take(_ node: Node, _ type: KernelType?, _ values: [[Float]]) -> EngineNode {
    var shape: [Float] = []
    if let description = type?.description {
      for (index, parameter) in description.parameters.enumerated() where parameter.smoothing == .structural {
        shape += values[index]
      }
    } else {
      shape = placeholderShape(node)
    }
    let key = EngineNode.Key(id: node.id, kind: node.kind, shape: shape)
    if let known = engine.nodes[key] {
      if known.isLeaving {
        known.isLeaving = false
        work.needsPlan = true
      }
      return known
    }
    let ports = type == nil ? placeholderPorts(node) : (type!.description.inputs, type!.description.outputs)
    let inputs = ports.0.filter { type != nil ? !$0.isEvents : true }
    let outputs = ports.1.filter { type != nil ? !$0.isEvents : true }
    var first: Int?
    if let type, type.tag == .input || type.tag == .output {
      if let old = engine.current[node.id] { leave(old) }
      for old in engine.current.values where old.name == node.name && old.id != node.id { leave(old) }
      let count =
        type.description.parameters.firstIndex { $0.name == "channels" }.map { Int(values[$0][0]) } ?? 2
      // More than 256 channels: the node stays silent beyond the last.
      first =
        engine.driverChannels(count, isInput: type.tag == .input, name: node.name) ?? DriverChannels.capacity
    }
    let made = EngineNode(
      key: key, number: engine.makeNumber(for: node.id, name: node.name), name: node.name, type: type,
      inputs: inputs, outputs: outputs, values: values, firstChannel: first)
    if type == nil { made.fault = "unknown kind “\(node.kind)”" }
    add(made)
    return made
  }

  private func take(_ tap: Tap) -> EngineNode {
    let key = EngineNode.Key(id: tap.id, kind: "output", shape: [Float(tap.channels)])
    if let known = engine.nodes[key] { return known }
    let type = KernelType.byName["output"]!
    var node = Node(id: tap.id, name: "tap of \(tap.node).\(tap.port)", kind: "output")
    node.settings[ParameterPath("channels")] = .number(Double(tap.channels), .none)
    let made = EngineNode(
      key: key, number: engine.makeNumber(for: tap.id, name: node.name), name: node.name, type: type,
      inputs: type.description.inputs, outputs: [],
      values: EngineValues(of: node, description: type.description).values,
      firstChannel: engine.driverChannels(tap.channels, isInput: false, name: node.name))
    add(made)
    return made
  }

  private func add(_ node: EngineNode) {
    engine.nodes[node.key] = node
    arrived.insert(node.number)
    work.needsPlan = true
    if !isFirst {
      engine.note(.fadingIn(seconds: Double(fade) / engine.rate), node)
    }
  }

  private func leave(_ node: EngineNode) {
    guard !node.isLeaving else { return }
    node.isLeaving = true
    work.needsPlan = true
    engine.note(.fadingOut(seconds: Double(fade) / engine.rate), node)
  }

  /// An unknown kind has the ports that its cables name.
  private func placeholderPorts(_ node: Node) -> ([PortDescription], [PortDescription]) {
    var inputs: Set<String> = []
    var outputs: Set<String> = []
    for cable in patch.cables.keys {
      if cable.destination.node == node.id { inputs.insert(cable.destination.port) }
      if cable.source.node == node.id { outputs.insert(cable.source.port) }
    }
    return (
      inputs.sorted().map { PortDescription($0, .flexible) },
      outputs.sorted().map { PortDescription($0, .flexible) }
    )
  }

  private func placeholderShape(_ node: Node) -> [Float] {
    let ports = placeholderPorts(node)
    var hasher = Hasher()
    hasher.combine(ports.0)
    hasher.combine(ports.1)
    return [Float(hasher.finalize() & 0xFFFFFF)]
  }

  // MARK: Parameters

  private func update(_ target: EngineNode, _ node: Node, _ values: [[Float]]) {
    if target.name != node.name {
      target.name = node.name
      engine.rename(target)
    }
    guard target.values != values, let description = target.type?.description else { return }
    for (index, parameter) in description.parameters.enumerated() where target.values[index] != values[index]
    {
      let old = target.values[index]
      for (element, value) in values[index].enumerated() where element >= old.count || old[element] != value {
        let frames = Int32(clamping: rampFrames(node.id, parameter, element, description, values))
        let (position, element, value) = (Int32(index), Int32(element), value)
        switch parameter.smoothing {
        case .ramp, .crossfade:
          work.commands.append(
            .ramp(target.slot, parameter: position, element: element, value: value, frames: frames))
        case .kernel:
          work.commands.append(
            .kernel(target.slot, parameter: position, element: element, value: value, frames: frames))
        case .structural, .none: break
        }
      }
    }
    target.values = values
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

  // MARK: Cables

  private struct Desire {
    var key: EngineCable.Key
    var source: EngineNode
    var output: Int?
    var destination: EngineNode
    var input: EngineCable.Destination
    var target: Float
  }

  private func desiredCables() -> [Desire] {
    var result: [Desire] = []
    result.reserveCapacity(patch.cables.count)
    for cable in patch.cables.values {
      guard let source = engine.current[cable.ends.source.node],
        let destination = engine.current[cable.ends.destination.node]
      else { continue }
      let gain = EngineValues.gain(decibels: cable.gain)
      if let desire = desire(
        source, cable.ends.source.port, destination, cable.ends.destination.port, cable.map,
        cable.mixing, gain)
      {
        result.append(desire)
      }
    }
    for tap in engine.taps {
      guard let id = patch[named: tap.node]?.id, let source = engine.current[id],
        let destination = engine.current[tap.id]
      else { continue }
      if let desire = desire(source, tap.port, destination, "in", nil, .discrete, 1) { result.append(desire) }
    }
    result.sort {
      ($0.destination.name, $0.key.destinationPort, $0.source.name, $0.key.sourcePort)
        < ($1.destination.name, $1.key.destinationPort, $1.source.name, $1.key.sourcePort)
    }
    return breakCycles(result)
  }

  private func desire(
    _ source: EngineNode, _ sourcePort: String, _ destination: EngineNode, _ destinationPort: String,
    _ map: ChannelMap?, _ mixing: ChannelMixing, _ gain: Float
  ) -> Desire? {
    let output = source.outputs.firstIndex { $0.name == sourcePort }
    let sendsEvents =
      source.type?.description.outputs.contains { $0.name == sourcePort && $0.isEvents } == true
    guard output != nil || sendsEvents else { return nil }
    let input: EngineCable.Destination
    if let index = destination.inputs.firstIndex(where: { $0.name == destinationPort }) {
      if sendsEvents { return nil }
      input = .audio(index)
    } else if let description = destination.type?.description {
      if description.inputs.contains(where: { $0.name == destinationPort && $0.isEvents }) {
        guard sendsEvents else { return nil }
        input = .events
      } else if let index = description.parameters.firstIndex(where: {
        $0.name == destinationPort && $0.smoothing == .ramp && $0.dimensions.isEmpty
      }), !sendsEvents {
        input = .parameter(index)
      } else {
        return nil
      }
    } else {
      return nil
    }
    let key = EngineCable.Key(
      source: source.number, sourcePort: sourcePort, destination: destination.number,
      destinationPort: destinationPort, map: map, mixing: mixing, isFeedback: false)
    return Desire(
      key: key, source: source, output: sendsEvents ? nil : output, destination: destination,
      input: input, target: gain)
  }

  /// Marks the desires that must go through the feedback delay, given all that still sounds.
  private func breakCycles(_ desires: [Desire]) -> [Desire] {
    var desires = desires
    var index: [Int32: Int] = [:]
    for (position, node) in engine.nodes.values.sorted(by: { $0.name < $1.name }).enumerated() {
      index[node.number] = position
    }
    let wanted = Set(desires.map(\.key))
    var edges: [CycleBreaker.Edge] = []
    for desire in desires {
      var delayed = desire.key
      delayed.isFeedback = true
      edges.append(
        CycleBreaker.Edge(
          source: index[desire.source.number]!, destination: index[desire.destination.number]!,
          isFixed: engine.cables[desire.key] != nil,
          isLast: engine.cables[delayed].map { !$0.isLeaving } ?? false))
    }
    for cable in engine.cables.values where !cable.key.isFeedback && !wanted.contains(cable.key) {
      edges.append(
        CycleBreaker.Edge(
          source: index[cable.source.number]!, destination: index[cable.destination.number]!,
          isFixed: true, isLast: false))
    }
    for edge in CycleBreaker(count: index.count, edges: edges).feedbackEdges() where edge < desires.count {
      if desires[edge].output != nil { desires[edge].key.isFeedback = true }
    }
    return desires
  }

  private func reconcileCables(_ desires: [Desire]) {
    var wanted: Set<EngineCable.Key> = []
    wanted.reserveCapacity(desires.count)
    for desire in desires {
      wanted.insert(desire.key)
      if let known = engine.cables[desire.key] {
        retarget(known, desire.target)
      } else {
        let cable = EngineCable(
          key: desire.key, source: desire.source, output: desire.output, destination: desire.destination,
          input: desire.input, target: desire.target)
        engine.cables[desire.key] = cable
        work.needsPlan = true
      }
    }
    for cable in engine.cables.values where !wanted.contains(cable.key) && !cable.isLeaving { leave(cable) }
  }

  /// Whether a change at this cable is heard where sound goes on: not in front of a node that is itself
  /// new or leaving, since that one's outputs fade.
  private func isHeard(_ cable: EngineCable) -> Bool {
    if isFirst { return false }
    if cable.destination.isSink { return true }
    return !cable.destination.isLeaving && !arrived.contains(cable.destination.number)
  }

  /// Its slot, with the fade in that it begins with.
  private func prepare(_ cable: EngineCable) {
    let fades = isHeard(cable) && !cable.carriesEvents
    cable.prepare(gain: fades ? 0 : cable.target, startsEmpty: !isFirst)
    if fades { move(cable) }
  }

  private func retarget(_ cable: EngineCable, _ target: Float) {
    guard cable.isLeaving || cable.target != target else { return }
    let wasLeaving = cable.isLeaving
    cable.isLeaving = false
    cable.target = target
    work.needsPlan = true
    if cable.carriesEvents {
      if wasLeaving {
        cable.settling = nil
        work.commands.append(.release(cable.slot, false))
      }
    } else {
      move(cable)
    }
  }

  private func leave(_ cable: EngineCable) {
    cable.isLeaving = true
    work.needsPlan = true
    if cable.carriesEvents {
      work.commands.append(.release(cable.slot, true))
      cable.settling = .unsent(frames: fade)
      work.fading.append(cable)
    } else if cable.destination.isSink || !cable.destination.isLeaving {
      cable.target = 0
      move(cable)
    }
  }

  /// One port of a node, where the gains of what is summed must go on adding up.
  private struct Junction: Hashable {
    var node: Int32
    var port: String
  }
  private var disturbed: Set<Junction> = []

  /// Restarts the fades that are under way where a new one begins. A ramp depends linearly on where it
  /// stands, how fast it moves and where it goes: gains that add up to one and start together go on
  /// adding up to one, however many edits arrive during a fade.
  private func alignFades() {
    guard !disturbed.isEmpty else { return }
    let moved = Set(work.fading.map { ObjectIdentifier($0) })
    for cable in engine.cables.values
    where cable.settling != nil && !cable.carriesEvents && !moved.contains(ObjectIdentifier(cable)) {
      let junction = Junction(node: cable.key.destination, port: cable.key.destinationPort)
      if disturbed.contains(junction) { move(cable) }
    }
  }

  private func move(_ cable: EngineCable) {
    disturbed.insert(Junction(node: cable.key.destination, port: cable.key.destinationPort))
    cable.mirrorMove(over: fade, at: engine.renderer.time)
    work.commands.append(.gain(cable.slot, value: cable.target, frames: Int32(fade)))
    // A feedback cable's fade begins when its delay is full: two cells at most.
    cable.settling = .unsent(frames: fade + (cable.key.isFeedback ? 128 : 0))
    work.fading.append(cable)
  }

  // MARK: Ends

  /// Takes out cables whose fade has ended, and nodes that nothing hears any more.
  private func removeFinished() {
    var isBusy: Set<Int32> = []
    let now = engine.renderer.time
    for cable in engine.cables.values where cable.isLeaving {
      // A fade that edits restart again and again is over when nobody can hear it: -120 dB.
      let isInaudible = !cable.carriesEvents && cable.target == 0 && abs(cable.gain(at: now)) < 1e-6
      guard cable.settling == nil || isInaudible else { continue }
      if !cable.destination.isLeaving || cable.destination.isSink || cable.carriesEvents { remove(cable) }
    }
    for cable in engine.cables.values {
      if cable.source.isLeaving, !cable.destination.isLeaving || cable.settling != nil {
        isBusy.insert(cable.source.number)
      }
      if cable.destination.isLeaving, cable.settling != nil { isBusy.insert(cable.destination.number) }
    }
    // A leaving node in front of a busy leaving one is still heard through it.
    var isChanging = true
    while isChanging {
      isChanging = false
      for cable in engine.cables.values
      where cable.source.isLeaving && isBusy.contains(cable.destination.number)
        && !isBusy.contains(cable.source.number)
      {
        isBusy.insert(cable.source.number)
        isChanging = true
      }
    }
    let gone = engine.nodes.values.filter { $0.isLeaving && !isBusy.contains($0.number) }
    guard !gone.isEmpty else { return }
    for node in gone {
      engine.nodes[node.key] = nil
      work.left.append(node)
      work.needsPlan = true
      if node.slot != nil { work.garbage.append(.node(node)) }
    }
    let numbers = Set(gone.map(\.number))
    for cable in engine.cables.values
    where numbers.contains(cable.source.number) || numbers.contains(cable.destination.number) {
      remove(cable)
    }
  }

  private func remove(_ cable: EngineCable) {
    engine.cables[cable.key] = nil
    work.needsPlan = true
    work.garbage.append(.cable(cable))
  }
}
