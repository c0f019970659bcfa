import Patch
import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// The passes, in order: spread channel counts, give buffers by liveness, write the steps. Nothing here
/// knows of patches or of what sounded before; nodes and cables are looked at once and copied into flat
/// tables, nothing is hashed, and no names are compared.
struct PlanCompiler {
  /// In the order of execution.
  let nodes: [EngineNode]
  /// Cables into each node, one node after the other, in the order in which they are summed.
  let cables: [EngineCable]
  private(set) var rows: [CableRow] = []
  /// Where the cables, inputs and outputs of each node begin, and where those of the last end.
  let firstCable: [Int]
  let firstInput: [Int]
  let firstOutput: [Int]
  /// Channels of each audio input and output.
  private(set) var inputChannels: [Int] = []
  private(set) var outputChannels: [Int] = []

  /// What the passes need to know of a cable.
  struct CableRow: BitwiseCopyable {
    /// Position of its output among all outputs; -1: events.
    var output: Int
    /// The audio input of its destination; `events`; or `-2 - parameter`.
    var input: Int
    /// Entries of its map; 0: no map.
    var mapCount: Int
    /// Goes through its delay.
    var isDelayed: Bool
    /// Costs nothing: its source's buffer is the input.
    var isDirect = false

    static var events: Int { -1 }

    init(_ cable: EngineCable, firstOutput: Int) {
      output = cable.output.map { firstOutput + $0 } ?? -1
      input =
        switch cable.input {
        case .audio(let port): port
        case .events: Self.events
        case .parameter(let parameter): -2 - parameter
        }
      mapCount = cable.key.map?.sources.count ?? 0
      isDelayed = cable.key.isFeedback
    }
  }

  /// `nodes`: each after those that it hears.
  init(nodes: [EngineNode]) {
    self.nodes = nodes
    var firstInput = [0]
    var firstOutput = [0]
    firstInput.reserveCapacity(nodes.count + 1)
    firstOutput.reserveCapacity(nodes.count + 1)
    inputChannels.reserveCapacity(nodes.count)
    outputChannels.reserveCapacity(nodes.count)
    for (index, node) in nodes.enumerated() {
      node.mark = index
      inputChannels.append(contentsOf: node.inputChannels)
      outputChannels.append(contentsOf: node.outputChannels)
      firstInput.append(inputChannels.count)
      firstOutput.append(outputChannels.count)
    }
    var cables: [EngineCable] = []
    var firstCable = [0]
    cables.reserveCapacity(nodes.count * 2)
    rows.reserveCapacity(nodes.count * 2)
    firstCable.reserveCapacity(nodes.count + 1)
    for node in nodes {
      for cable in node.incoming {
        rows.append(CableRow(cable, firstOutput: firstOutput[cable.source.mark]))
        cables.append(cable)
      }
      firstCable.append(cables.count)
    }
    self.cables = cables
    self.firstCable = firstCable
    self.firstInput = firstInput
    self.firstOutput = firstOutput
  }

  // MARK: Channels

  /// The channels that a cable brings.
  private func width(_ row: CableRow) -> Int {
    if row.output < 0 { return 0 }
    return row.mapCount > 0 ? row.mapCount : max(outputChannels[row.output], 1)
  }

  /// Widens flexible ports to what is connected, and returns the nodes that had been prepared for
  /// fewer. Around a cycle it takes a few rounds; channels only grow, so it ends.
  mutating func spreadChannels() -> [EngineNode] {
    var grown: Set<Int> = []
    let hasCycles = cables.contains { $0.key.isFeedback }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (index, node) in nodes.enumerated() where node.hasFlexiblePorts {
        let first = firstInput[index]
        var hasGrown = false
        for cable in firstCable[index]..<firstCable[index + 1] {
          let row = rows[cable]
          guard row.input >= 0 else { continue }
          let width = min(width(row), 64)
          guard inputChannels[first + row.input] < width, node.inputs[row.input].format == .flexible else {
            continue
          }
          inputChannels[first + row.input] = width
          hasGrown = true
        }
        if first < firstInput[index + 1] {
          for output in firstOutput[index]..<firstOutput[index + 1]
          where outputChannels[output] < inputChannels[first] {
            guard node.outputs[output - firstOutput[index]].format == .flexible else { continue }
            outputChannels[output] = inputChannels[first]
            hasGrown = true
          }
        }
        if hasGrown {
          grown.insert(index)
          isChanging = hasCycles
        }
      }
    }
    for index in grown {
      nodes[index].inputChannels = Array(inputChannels[firstInput[index]..<firstInput[index + 1]])
      nodes[index].outputChannels = Array(outputChannels[firstOutput[index]..<firstOutput[index + 1]])
    }
    return grown.sorted().map { nodes[$0] }.filter { $0.slot != nil }
  }

  // MARK: Inlets

  /// An input of a node: the cables into it and its buffer where they must be mixed.
  struct Inlet: BitwiseCopyable {
    /// Where its cables stand in `Inlets.cables`.
    var first: Int
    var count: Int
    var channels: Int
    /// The parameter that it is added to; negative: an audio input.
    var parameter: Int
    /// First channel of the mix buffer; negative when the one source's buffer is read directly.
    var buffer = -1
  }

  /// The inlets of one node, in storage that serves one node after the other.
  struct Inlets {
    var list: [Inlet] = []
    /// Positions of cables.
    var cables: [Int] = []
  }

  /// Audio inputs first, then the parameters that something is connected to.
  private func findInlets(_ index: Int, _ inlets: inout Inlets) {
    inlets.list.removeAll(keepingCapacity: true)
    inlets.cables.removeAll(keepingCapacity: true)
    let range = firstCable[index]..<firstCable[index + 1]
    for input in firstInput[index]..<firstInput[index + 1] {
      let port = input - firstInput[index]
      let first = inlets.cables.count
      for cable in range where rows[cable].input == port { inlets.cables.append(cable) }
      inlets.list.append(
        Inlet(
          first: first, count: inlets.cables.count - first, channels: max(inputChannels[input], 1),
          parameter: -1))
    }
    for cable in range where rows[cable].input < CableRow.events {
      let code = rows[cable].input
      let parameter = -2 - code
      if inlets.list.contains(where: { $0.parameter == parameter }) { continue }
      let first = inlets.cables.count
      var channels = 1
      for other in range where rows[other].input == code {
        inlets.cables.append(other)
        channels = max(channels, min(width(rows[other]), 64))
      }
      inlets.list.append(
        Inlet(first: first, count: inlets.cables.count - first, channels: channels, parameter: parameter))
    }
  }

  private static func isDirect(_ cable: EngineCable) -> Bool {
    guard cable.target == 1, !cable.isLeaving, !cable.key.isFeedback else { return false }
    if case nil = cable.settling { return true }
    return false
  }

  /// Whether a cable brings each channel to the one of the same number.
  func isPlain(_ row: CableRow, to channels: Int) -> Bool {
    row.mapCount == 0 && outputChannels[row.output] == channels
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

  private func needsMix(_ inlet: Inlet, _ inlets: Inlets) -> Bool {
    guard inlet.count == 1 else { return inlet.count > 1 }
    let cable = inlets.cables[inlet.first]
    guard rows[cable].isDirect else { return true }
    if isPlain(rows[cable], to: inlet.channels) { return false }
    return !Self.isSelection(Self.conversion(cables[cable], to: inlet.channels).gains)
  }

  // MARK: Buffers

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now; `zeros` are 64 silent
  /// channels.
  mutating func makePlan(
    serial: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    for index in cables.indices { rows[index].isDirect = Self.isDirect(cables[index]) }
    while true {
      var writer = StepWriter(self, arena: arena, zeros: zeros)
      let size = placeBuffers(&writer)
      if size <= arena.capacity { return writer.finish(serial: serial) }
      arena = BufferArena(capacity: size * 2)
    }
  }

  /// Gives how many buffers are needed; the steps are right if there are as many.
  private func placeBuffers(_ writer: inout StepWriter) -> Int {
    // Readers of each output that come after its node: a delay keeps what it needs itself.
    var readers = [Int32](repeating: 0, count: outputChannels.count)
    for row in rows where row.output >= 0 && !row.isDelayed { readers[row.output] += 1 }
    var allocator = BufferAllocator()
    var buffers = [Int](repeating: 0, count: outputChannels.count)
    var inlets = Inlets()
    for index in nodes.indices {
      findInlets(index, &inlets)
      for position in inlets.list.indices {
        let inlet = inlets.list[position]
        let isMixed = needsMix(inlet, inlets)
        if isMixed { inlets.list[position].buffer = allocator.take(inlet.channels) }
        for cable in inlet.first..<inlet.first + inlet.count {
          cables[inlets.cables[cable]].isMixed = isMixed
        }
      }
      let outputs = firstOutput[index]..<firstOutput[index + 1]
      for output in outputs { buffers[output] = allocator.take(outputChannels[output]) }
      if allocator.size <= writer.arena.capacity { writer.write(index, inlets, buffers) }
      for cable in inlets.cables where !rows[cable].isDelayed {
        let output = rows[cable].output
        readers[output] -= 1
        if readers[output] == 0 { allocator.give(buffers[output], outputChannels[output]) }
      }
      for inlet in inlets.list where inlet.buffer >= 0 { allocator.give(inlet.buffer, inlet.channels) }
      for output in outputs where readers[output] == 0 {
        allocator.give(buffers[output], outputChannels[output])
      }
    }
    return allocator.size
  }
}
