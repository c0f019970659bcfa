import Patch
import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// The passes, in order: sort topologically, spread channel counts, give buffers by liveness, write
/// the steps (`StepWriter.swift`). Nothing here knows of patches or of what sounded before.
struct PlanCompiler {
  let nodes: [EngineNode]

  /// `nodes`: in the order of execution, each after those that it hears.
  init(nodes: [EngineNode]) {
    self.nodes = nodes
    for (index, node) in nodes.enumerated() { node.mark = index }
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
    let hasFeedback = nodes.contains { $0.incoming.contains { $0.key.isFeedback } }
    var isChanging = true
    while isChanging {
      isChanging = false
      for node in nodes where node.hasFlexiblePorts {
        var hasGrown = false
        for cable in node.incoming {
          guard case .audio(let input) = cable.input, node.inputs[input].format == .flexible else { continue }
          let width = min(Self.width(cable), 64)
          if node.inputChannels[input] < width {
            node.inputChannels[input] = width
            hasGrown = true
          }
        }
        if node.follow() { hasGrown = true }
        if hasGrown {
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
    var cables: ArraySlice<EngineCable>
    var channels: Int
    /// The parameter that it is added to; negative: an audio input.
    var parameter: Int
    /// First channel of the mix buffer; nil when the one source's buffer is read directly.
    var buffer: Int?
  }

  /// Lists of one row a node, in one piece.
  struct Rows<Element> {
    private var elements: [Element] = []
    private var ends = [0]

    mutating func append(_ element: Element) { elements.append(element) }
    mutating func endRow() { ends.append(elements.count) }
    mutating func reserve(rows: Int) {
      ends.reserveCapacity(rows + 1)
      elements.reserveCapacity(rows)
    }
    subscript(row: Int) -> ArraySlice<Element> { elements[ends[row]..<ends[row + 1]] }
    subscript(row: Int, column: Int) -> Element {
      get { elements[ends[row] + column] }
      set { elements[ends[row] + column] = newValue }
    }
    func count(_ row: Int) -> Int { ends[row + 1] - ends[row] }
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

  private static func appendInlets(of node: EngineNode, to rows: inout Rows<Inlet>) {
    defer { rows.endRow() }
    // Most nodes have one input.
    if node.inputs.count == 1, node.incoming.allSatisfy({ $0.input == .audio(0) }) {
      rows.append(
        Inlet(cables: node.incoming[...], channels: max(node.inputChannels[0], 1), parameter: -1))
      return
    }
    for port in node.inputs.indices {
      rows.append(
        Inlet(
          cables: node.incoming.filter { $0.input == .audio(port) }[...],
          channels: max(node.inputChannels[port], 1), parameter: -1))
    }
    var parameters: [Int] = []
    for cable in node.incoming {
      guard case .parameter(let parameter) = cable.input, !parameters.contains(parameter) else { continue }
      parameters.append(parameter)
      let cables = node.incoming.filter { $0.input == .parameter(parameter) }
      let channels = cables.reduce(1) { max($0, min(width($1), 64)) }
      rows.append(Inlet(cables: cables[...], channels: channels, parameter: parameter))
    }
  }

  private static func needsMix(_ inlet: Inlet) -> Bool {
    guard !inlet.cables.isEmpty else { return false }
    guard let cable = inlet.cables.first, inlet.cables.count == 1, isDirect(cable) else { return true }
    if cable.key.map == nil, let output = cable.output,
      cable.source.outputChannels[output] == inlet.channels
    {
      return false
    }
    return !isSelection(conversion(cable, to: inlet.channels).gains)
  }

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now; `zeros` are 64 silent
  /// channels.
  func makePlan(
    serial: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    var inlets = Rows<Inlet>()
    var outputs = Rows<Int>()
    var readers = Rows<Int>()
    inlets.reserve(rows: nodes.count)
    outputs.reserve(rows: nodes.count)
    readers.reserve(rows: nodes.count)
    for node in nodes {
      for _ in node.outputs.indices { readers.append(0) }
      readers.endRow()
    }
    for node in nodes {
      for cable in node.incoming where !cable.key.isFeedback {
        if let output = cable.output { readers[cable.source.mark, output] += 1 }
      }
    }
    var allocator = BufferAllocator()
    func release(_ cable: EngineCable) {
      guard !cable.key.isFeedback, let output = cable.output else { return }
      let source = cable.source.mark
      readers[source, output] -= 1
      if readers[source, output] == 0 {
        allocator.give(outputs[source, output], cable.source.outputChannels[output])
      }
    }
    for (index, node) in nodes.enumerated() {
      Self.appendInlets(of: node, to: &inlets)
      for position in 0..<inlets.count(index) {
        let inlet = inlets[index, position]
        let isMixed = Self.needsMix(inlet)
        for cable in inlet.cables { cable.isMixed = isMixed }
        if isMixed { inlets[index, position].buffer = allocator.take(inlet.channels) }
      }
      for port in node.outputs.indices { outputs.append(allocator.take(node.outputChannels[port])) }
      outputs.endRow()
      for inlet in inlets[index] {
        inlet.cables.forEach(release)
        if let buffer = inlet.buffer { allocator.give(buffer, inlet.channels) }
      }
      for port in node.outputs.indices where readers[index, port] == 0 {
        allocator.give(outputs[index, port], node.outputChannels[port])
      }
    }
    if allocator.size > arena.capacity { arena = BufferArena(capacity: allocator.size * 2) }
    return writeSteps(serial, inlets, outputs, arena, zeros)
  }
}
