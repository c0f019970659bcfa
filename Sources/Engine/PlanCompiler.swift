import Patch
import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// The passes, in order: sort topologically, spread channel counts, give buffers by liveness, write
/// the steps (`StepWriter.swift`). Nothing here knows of patches or of what sounded before.
struct PlanCompiler {
  /// In the order of execution, once sorted.
  private(set) var nodes: [EngineNode]
  let cables: [EngineCable]
  /// Cables into each node, by the node's position, in the order in which they are summed.
  private(set) var incoming: [[EngineCable]]
  private(set) var outgoing: [[EngineCable]]

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

  // MARK: Buffers

  /// An input of a node: the cables into it and its buffer where they must be mixed.
  struct Inlet {
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

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now; `zeros` are 64 silent
  /// channels.
  func makePlan(
    serial: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
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
}
