import Patch
import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// The passes, in order: sort topologically, spread channel counts, give buffers by liveness, write
/// the steps. Nothing here knows of patches or of what sounded before.
struct PlanCompiler {
  /// In the order of execution, once sorted.
  private(set) var nodes: [EngineNode]
  let cables: [EngineCable]
  /// Cables into each node, by the node's position, in the order in which they are summed.
  private var incoming: [[EngineCable]]
  private var outgoing: [[EngineCable]]

  init(nodes: [EngineNode], cables: [EngineCable]) {
    self.nodes = nodes
    self.cables = cables
    incoming = []
    outgoing = []
    sortTopologically()
  }

  // MARK: Order

  /// Kahn's algorithm with a stack, so that a chain's nodes follow each other and its buffers stay in
  /// the cache. Feedback cables do not count.
  private mutating func sortTopologically() {
    for (index, node) in nodes.enumerated() { node.mark = index }
    var waiting = Array(repeating: 0, count: nodes.count)
    var next = Array(repeating: [Int](), count: nodes.count)
    for cable in cables where !cable.key.isFeedback {
      next[cable.source.mark].append(cable.destination.mark)
      waiting[cable.destination.mark] += 1
    }
    var ready = nodes.indices.reversed().filter { waiting[$0] == 0 }
    var sorted: [EngineNode] = []
    sorted.reserveCapacity(nodes.count)
    while let index = ready.popLast() {
      sorted.append(nodes[index])
      for destination in next[index] {
        waiting[destination] -= 1
        if waiting[destination] == 0 { ready.append(destination) }
      }
    }
    assert(sorted.count == nodes.count, "a cycle without a feedback cable")
    nodes = sorted
    for (index, node) in nodes.enumerated() { node.mark = index }
    incoming = Array(repeating: [], count: nodes.count)
    outgoing = Array(repeating: [], count: nodes.count)
    for cable in cables {
      incoming[cable.destination.mark].append(cable)
      outgoing[cable.source.mark].append(cable)
    }
    for index in incoming.indices where incoming[index].count > 1 {
      incoming[index].sort { a, b in
        (a.source.name, a.key.sourcePort, a.source.number) < (
          b.source.name, b.key.sourcePort, b.source.number
        )
      }
    }
  }

  // MARK: Channels

  /// The channels that a cable brings.
  private static func width(_ cable: EngineCable) -> Int {
    guard let output = cable.output else { return 0 }
    return cable.key.map?.sources.count ?? max(cable.source.outputChannels[output], 1)
  }

  /// Widens flexible ports to what is connected, and returns the nodes that had been prepared for
  /// fewer. Around a cycle it takes a few rounds; channels only grow, so it ends.
  mutating func spreadChannels() -> [EngineNode] {
    var widened: [EngineNode] = []
    let hasFeedback = cables.contains { $0.key.isFeedback }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (index, node) in nodes.enumerated() {
        let before = (node.inputChannels, node.outputChannels)
        for cable in incoming[index] {
          guard case .audio(let input) = cable.input, node.inputs[input].format == .flexible else { continue }
          node.inputChannels[input] = min(max(node.inputChannels[input], Self.width(cable)), 64)
        }
        node.follow()
        if before != (node.inputChannels, node.outputChannels) {
          isChanging = hasFeedback
          if node.slot != nil, !widened.contains(where: { $0 === node }) { widened.append(node) }
        }
      }
    }
    return widened
  }

  // MARK: Steps

  /// An input of a node: the cables into it and its buffer where they must be mixed.
  private struct Inlet {
    var cables: [EngineCable]
    var channels: Int
    var parameter: Int
    /// First channel of the mix buffer; nil when the one source's buffer is read directly.
    var buffer: Int?
  }

  /// A cable that costs nothing: its source's buffer is the input.
  private static func isDirect(_ cable: EngineCable) -> Bool {
    cable.target == 1 && cable.settling == nil && !cable.isLeaving && !cable.key.isFeedback
  }

  /// True when the channels go over unchanged, so that pointers can do a map's work.
  private static func isSelection(_ gains: [ChannelGain]) -> Bool {
    var seen: UInt64 = 0
    for gain in gains {
      guard gain.gain == 1, seen & (1 << UInt64(gain.destination)) == 0 else { return false }
      seen |= 1 << UInt64(gain.destination)
    }
    return true
  }

  static func conversion(_ cable: EngineCable, to channels: Int) -> ChannelConversion {
    ChannelConversion(
      from: cable.output.map { cable.source.outputChannels[$0] } ?? 0, to: channels, map: cable.key.map,
      mixing: cable.key.mixing)
  }

  private func inlets(_ index: Int) -> [Inlet] {
    let node = nodes[index]
    var result = node.inputs.indices.compactMap { port -> Inlet? in
      node.inputs[port].isEvents
        ? nil : Inlet(cables: [], channels: max(node.inputChannels[port], 1), parameter: -1)
    }
    var parameters: [Int: Int] = [:]
    for cable in incoming[index] {
      switch cable.input {
      case .events: break
      case .audio(let port): result[port].cables.append(cable)
      case .parameter(let parameter):
        let position = parameters[parameter] ?? result.count
        if position == result.count {
          parameters[parameter] = position
          result.append(Inlet(cables: [], channels: 1, parameter: parameter))
        }
        result[position].cables.append(cable)
        result[position].channels = min(max(result[position].channels, Self.width(cable)), 64)
      }
    }
    return result
  }

  private static func needsMix(_ inlet: Inlet) -> Bool {
    guard !inlet.cables.isEmpty else { return false }
    guard inlet.cables.count == 1, isDirect(inlet.cables[0]) else { return true }
    return !isSelection(conversion(inlet.cables[0], to: inlet.channels).gains)
  }

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now.
  func makePlan(serial: Int, arena: inout BufferArena, zeros: UnsafeMutablePointer<Float>) -> CompiledPlan {
    var allInlets = nodes.indices.map(inlets)
    var outputs: [[Int]] = []
    outputs.reserveCapacity(nodes.count)
    var allocator = BufferAllocator()
    var readers: [[Int]] = nodes.map { $0.outputs.map { _ in 0 } }
    for cable in cables where !cable.key.isFeedback {
      if let output = cable.output { readers[cable.source.mark][output] += 1 }
    }
    func release(_ cable: EngineCable) {
      guard !cable.key.isFeedback, let output = cable.output else { return }
      let source = cable.source.mark
      readers[source][output] -= 1
      if readers[source][output] == 0 {
        allocator.give(outputs[source][output], cable.source.outputChannels[output])
      }
    }
    for index in nodes.indices {
      for position in allInlets[index].indices where Self.needsMix(allInlets[index][position]) {
        allInlets[index][position].buffer = allocator.take(allInlets[index][position].channels)
      }
      let node = nodes[index]
      outputs.append(node.outputs.indices.map { allocator.take(node.outputChannels[$0]) })
      for inlet in allInlets[index] {
        inlet.cables.forEach(release)
        if let buffer = inlet.buffer { allocator.give(buffer, inlet.channels) }
      }
      for port in node.outputs.indices where readers[index][port] == 0 {
        allocator.give(outputs[index][port], node.outputChannels[port])
      }
    }
    if allocator.size > arena.capacity { arena = BufferArena(capacity: allocator.size * 2) }
    return writeSteps(serial, allInlets, outputs, arena, zeros)
  }

  private func writeSteps(
    _ serial: Int, _ allInlets: [[Inlet]], _ outputs: [[Int]], _ arena: BufferArena,
    _ zeros: UnsafeMutablePointer<Float>
  ) -> CompiledPlan {
    let memory = PlanMemory()
    let always: UnsafeMutablePointer<Bool> = memory.allocate([true])
    let silences = nodes.indices.map { index in
      memory.allocate(Array(repeating: true, count: nodes[index].outputs.count))
    }
    func channel(_ number: Int) -> UnsafeMutablePointer<Float> { arena.base + number * blockCapacity }
    func taps(_ cable: EngineCable, to channels: Int) -> [MixTap] {
      Self.conversion(cable, to: channels).gains.map { gain in
        let source =
          cable.key.isFeedback
          ? UnsafePointer(cable.slot.pointee.ring! + gain.source * CableSlot.ringStride)
          : UnsafePointer(channel(outputs[cable.source.mark][cable.output!] + gain.source))
        return MixTap(destination: gain.destination, source: source, coefficient: gain.gain)
      }
    }
    func silence(_ cable: EngineCable) -> UnsafePointer<Bool> {
      UnsafePointer(silences[cable.source.mark] + cable.output!)
    }

    var steps: [Step] = []
    var scratch = 64
    for (index, node) in nodes.enumerated() {
      var ports: [InputPort] = []
      var bindings: [InputBinding] = []
      for inlet in allInlets[index] {
        var channels: [UnsafePointer<Float>]
        var flag = UnsafePointer(always)
        if let buffer = inlet.buffer {
          channels = (0..<inlet.channels).map { UnsafePointer(channel(buffer + $0)) }
          var mix = Step(.mix, memory)
          let output = [OutputPort(base: channel(buffer), count: inlet.channels)]
          mix.outputs = memory.allocate(output)
          mix.outputCount = 1
          mix.outputSilence = memory.allocate([true])
          flag = UnsafePointer(mix.outputSilence)
          mix.sources = memory.allocate(
            inlet.cables.map { cable in
              let taps = taps(cable, to: inlet.channels)
              return MixSource(
                cable: cable.slot, silence: cable.key.isFeedback ? UnsafePointer(always) : silence(cable),
                taps: memory.allocate(taps), tapCount: taps.count, isFeedback: cable.key.isFeedback)
            })
          mix.sourceCount = inlet.cables.count
          steps.append(mix)
        } else {
          channels = Array(repeating: UnsafePointer(zeros), count: inlet.channels)
          if let cable = inlet.cables.first {
            for tap in taps(cable, to: inlet.channels) { channels[tap.destination] = tap.source }
            flag = silence(cable)
          }
        }
        let pointers = UnsafePointer(memory.allocate(channels))
        ports.append(
          InputPort(
            channels: pointers, count: inlet.channels, isSilent: true,
            isConnected: !inlet.cables.isEmpty))
        bindings.append(InputBinding(channels: pointers, silence: flag, parameter: inlet.parameter))
      }
      var step = Step(.process, memory)
      step.node = node.slot
      step.inputs = memory.allocate(ports)
      step.bindings = memory.allocate(bindings)
      step.inputCount = allInlets[index].count { $0.parameter < 0 }
      step.modulationCount = ports.count - step.inputCount
      step.outputs = memory.allocate(
        node.outputs.indices.map {
          OutputPort(base: channel(outputs[index][$0]), count: node.outputChannels[$0])
        })
      step.outputCount = node.outputs.count
      step.outputSilence = silences[index]
      let events = incoming[index].filter { $0.carriesEvents && $0.source.slot.pointee.eventOutput != nil }
      step.eventSources = memory.allocate(
        events.map { EventSource(queue: $0.source.slot.pointee.eventOutput!, cable: $0.slot) })
      step.eventSourceCount = events.count
      steps.append(step)
      for cable in outgoing[index] where cable.key.isFeedback {
        var remember = Step(.remember, memory)
        let count = node.outputChannels[cable.output!]
        let taps = (0..<count).map {
          MixTap(
            destination: $0, source: UnsafePointer(channel(outputs[index][cable.output!] + $0)),
            coefficient: 1)
        }
        remember.sources = memory.allocate([
          MixSource(
            cable: cable.slot, silence: silence(cable), taps: memory.allocate(taps), tapCount: count,
            isFeedback: true)
        ])
        remember.sourceCount = 1
        steps.append(remember)
      }
      scratch = max(scratch, parameterScratch(node, allInlets[index]))
    }
    let plan: UnsafeMutablePointer<Plan> = memory.allocate([
      Plan(
        serial: serial, steps: memory.allocate(steps), stepCount: steps.count,
        parameterScratch: memory.allocateFloats(scratch))
    ])
    return CompiledPlan(
      serial: serial, plan: plan, memory: memory, arena: arena, nodes: nodes, cables: cables,
      stepCount: steps.count)
  }

  private func parameterScratch(_ node: EngineNode, _ inlets: [Inlet]) -> Int {
    var elements = inlets.count { $0.parameter >= 0 } * 64
    for index in 0..<node.slot.pointee.parameterCount {
      elements += node.slot.pointee.parameters[index].capacity
    }
    return elements * blockCapacity
  }
}

extension Step {
  fileprivate init(_ operation: Operation, _ memory: PlanMemory) {
    self.init(
      operation: operation, node: nil, inputs: memory.allocate([]), bindings: memory.allocate([]),
      inputCount: 0, modulationCount: 0, outputs: memory.allocate([]), outputCount: 0,
      outputSilence: memory.allocate([]), eventSources: memory.allocate([]), eventSourceCount: 0,
      sources: memory.allocate([]), sourceCount: 0)
  }
}
