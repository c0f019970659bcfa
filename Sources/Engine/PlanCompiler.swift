import Patch
import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// The passes, in order: spread channel counts, cut into segments if there are several threads, give
/// buffers by liveness, write the steps. Nothing here knows of patches or of what sounded before; nodes
/// and cables are looked at once and copied into flat tables, nothing is hashed, and no names are
/// compared.
struct PlanCompiler {
  /// In the order of execution.
  let nodes: [EngineNode]
  private(set) var rows: [UnsafeMutablePointer<NodeRow>] = []
  /// Cables into each node, one node after the other, in the order in which they are summed.
  private(set) var cables: [UnsafeMutablePointer<CableRow>] = []
  /// The output of each cable's source, among all outputs; -1: events.
  private(set) var outputs: [Int] = []
  /// Where the cables, inputs and outputs of each node begin, and where those of the last end.
  private(set) var firstCable: [Int] = [0]
  private(set) var firstInput: [Int] = [0]
  private(set) var firstOutput: [Int] = [0]
  /// Channels of each audio input and output.
  private(set) var inputChannels: [Int] = []
  private(set) var outputChannels: [Int] = []

  /// `nodes`: each after those that it hears.
  init(nodes: [EngineNode]) {
    self.nodes = nodes
    rows.reserveCapacity(nodes.count)
    firstInput.reserveCapacity(nodes.count + 1)
    firstOutput.reserveCapacity(nodes.count + 1)
    inputChannels.reserveCapacity(nodes.count)
    outputChannels.reserveCapacity(nodes.count)
    for (index, node) in nodes.enumerated() {
      let row = node.row
      row.pointee.mark = Int32(index)
      rows.append(row)
      let inputCount = Int(row.pointee.inputCount)
      for input in 0..<inputCount { inputChannels.append(Int(row.pointee.channels[input])) }
      for output in 0..<Int(row.pointee.outputCount) {
        outputChannels.append(Int(row.pointee.channels[inputCount + output]))
      }
      firstInput.append(inputChannels.count)
      firstOutput.append(outputChannels.count)
    }
    cables.reserveCapacity(nodes.count * 2)
    outputs.reserveCapacity(nodes.count * 2)
    firstCable.reserveCapacity(nodes.count + 1)
    for row in rows {
      var next = row.pointee.incoming
      while let cable = next {
        cables.append(cable)
        let output = Int(cable.pointee.output)
        outputs.append(output < 0 ? -1 : firstOutput[Int(cable.pointee.source.pointee.mark)] + output)
        next = cable.pointee.next
      }
      firstCable.append(cables.count)
    }
  }

  // MARK: Channels

  /// The channels that a cable brings.
  private func width(_ cable: Int) -> Int {
    if outputs[cable] < 0 { return 0 }
    let mapCount = Int(cables[cable].pointee.mapCount)
    return mapCount > 0 ? mapCount : max(outputChannels[outputs[cable]], 1)
  }

  /// Widens flexible ports to what is connected, and returns the nodes that had been prepared for
  /// fewer. Around a cycle it takes a few rounds; channels only grow, so it ends.
  mutating func spreadChannels() -> [EngineNode] {
    var grown: Set<Int> = []
    let hasCycles = cables.contains { $0.pointee.isDelayed }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (index, row) in rows.enumerated() where row.pointee.hasFlexiblePorts {
        let first = firstInput[index]
        var hasGrown = false
        for cable in firstCable[index]..<firstCable[index + 1] {
          let input = Int(cables[cable].pointee.input)
          guard input >= 0 else { continue }
          let width = min(width(cable), 64)
          guard inputChannels[first + input] < width, nodes[index].inputs[input].format == .flexible else {
            continue
          }
          inputChannels[first + input] = width
          hasGrown = true
        }
        if first < firstInput[index + 1] {
          for output in firstOutput[index]..<firstOutput[index + 1]
          where outputChannels[output] < inputChannels[first] {
            guard nodes[index].outputs[output - firstOutput[index]].format == .flexible else { continue }
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
      let channels = rows[index].pointee.channels
      let inputCount = firstInput[index + 1] - firstInput[index]
      for input in 0..<inputCount { channels[input] = Int32(inputChannels[firstInput[index] + input]) }
      for output in 0..<firstOutput[index + 1] - firstOutput[index] {
        channels[inputCount + output] = Int32(outputChannels[firstOutput[index] + output])
      }
      nodes[index].takeChannels()
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
      let port = Int32(input - firstInput[index])
      let first = inlets.cables.count
      for cable in range where cables[cable].pointee.input == port { inlets.cables.append(cable) }
      inlets.list.append(
        Inlet(
          first: first, count: inlets.cables.count - first, channels: max(inputChannels[input], 1),
          parameter: -1))
    }
    for cable in range where cables[cable].pointee.input < CableRow.events {
      let code = cables[cable].pointee.input
      let parameter = -2 - Int(code)
      if inlets.list.contains(where: { $0.parameter == parameter }) { continue }
      let first = inlets.cables.count
      var channels = 1
      for other in range where cables[other].pointee.input == code {
        inlets.cables.append(other)
        channels = max(channels, min(width(other), 64))
      }
      inlets.list.append(
        Inlet(first: first, count: inlets.cables.count - first, channels: channels, parameter: parameter))
    }
  }

  /// Whether a cable brings each channel to the one of the same number.
  func isPlain(_ cable: Int, to channels: Int) -> Bool {
    cables[cable].pointee.mapCount == 0 && outputChannels[outputs[cable]] == channels
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

  func conversion(_ cable: Int, to channels: Int) -> ChannelConversion {
    Self.conversion(cables[cable].pointee.cable.takeUnretainedValue(), to: channels)
  }

  static func conversion(_ cable: EngineCable, to channels: Int) -> ChannelConversion {
    ChannelConversion(
      from: cable.output.map { cable.source.outputChannels[$0] } ?? 0, to: channels, map: cable.key.map,
      mixing: cable.key.mixing)
  }

  private func needsMix(_ inlet: Inlet, _ inlets: Inlets) -> Bool {
    guard inlet.count == 1 else { return inlet.count > 1 }
    let cable = inlets.cables[inlet.first]
    guard cables[cable].pointee.isDirect else { return true }
    if isPlain(cable, to: inlet.channels) { return false }
    return !Self.isSelection(conversion(cable, to: inlet.channels).gains)
  }

  // MARK: Buffers

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now; `zeros` are 64 silent
  /// channels.
  mutating func makePlan(
    serial: Int, threads: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    let cut = threads > 1 ? SegmentPlanner(nodes, threads: threads).run() : nil
    // Segment by segment is an order of execution, too.
    if let cut { self = PlanCompiler(nodes: cut.order.map { nodes[$0] }) }
    while true {
      var writer = StepWriter(self, threads: threads, arena: arena, zeros: zeros)
      let size = placeBuffers(&writer, cut?.segments)
      if size <= arena.capacity { return writer.finish(serial: serial, cut?.predecessors ?? [0]) }
      arena = BufferArena(capacity: size * 2)
    }
  }

  /// Gives how many buffers are needed; the steps are right if there are as many. `segments`: of each
  /// node; nil: all are in one.
  private func placeBuffers(_ writer: inout StepWriter, _ segments: [Int]?) -> Int {
    // Readers of each output that come after its node: a delay keeps what it needs itself. One in
    // another segment never counts as done.
    var readers = [Int32](repeating: 0, count: outputChannels.count)
    for (cable, output) in outputs.enumerated() where output >= 0 && !cables[cable].pointee.isDelayed {
      readers[output] += 1
    }
    var allocator = BufferAllocator()
    var buffers = [Int](repeating: 0, count: outputChannels.count)
    var inlets = Inlets()
    for index in nodes.indices {
      let segment = segments?[index] ?? 0
      writer.begin(segment)
      findInlets(index, &inlets)
      for position in inlets.list.indices {
        let inlet = inlets.list[position]
        let isMixed = needsMix(inlet, inlets)
        if isMixed { inlets.list[position].buffer = allocator.take(inlet.channels, in: segment) }
        for cable in inlet.first..<inlet.first + inlet.count {
          cables[inlets.cables[cable]].pointee.isMixed = isMixed
        }
      }
      let own = firstOutput[index]..<firstOutput[index + 1]
      for output in own { buffers[output] = allocator.take(outputChannels[output], in: segment) }
      if allocator.size <= writer.arena.capacity { writer.write(index, inlets, buffers) }
      for cable in inlets.cables where !cables[cable].pointee.isDelayed {
        if let segments, segments[Int(cables[cable].pointee.source.pointee.mark)] != segment { continue }
        let output = outputs[cable]
        readers[output] -= 1
        if readers[output] == 0 { allocator.give(buffers[output], outputChannels[output], in: segment) }
      }
      for inlet in inlets.list where inlet.buffer >= 0 {
        allocator.give(inlet.buffer, inlet.channels, in: segment)
      }
      for output in own where readers[output] == 0 {
        allocator.give(buffers[output], outputChannels[output], in: segment)
      }
    }
    return allocator.size
  }
}
