import Realtime

/// Makes a plan of nodes and cables. Worker.
///
/// First channel counts spread along the cables that came; then, in one pass over the rows in the order of
/// execution, buffers are given by liveness and steps written. Nothing here knows of patches or of what
/// sounded before; nothing is hashed, no names are compared, and objects are touched only where something
/// is out of the ordinary.
struct PlanCompiler {
  /// In the order of execution.
  private(set) var rows: [NodeRow.Pointer]
  /// What the plan will lie in.
  let memory: PlanMemory
  let cableCount: Int
  /// Cables that go through a delay.
  let delayed: [CableRow.Pointer]
  private(set) var outputCount = 0

  /// `rows`: each after those that it hears.
  init(rows: [NodeRow.Pointer], graph: EngineGraph, memory: PlanMemory) {
    self.rows = rows
    self.memory = memory
    cableCount = graph.cables.count
    delayed = graph.delayed.map(\.row)
    number()
  }

  private mutating func number() {
    outputCount = 0
    for (index, row) in rows.enumerated() {
      row.pointee.mark = Int32(index)
      row.pointee.firstOutput = Int32(outputCount)
      outputCount += Int(row.pointee.outputCount)
    }
  }

  // MARK: Channels

  /// Widens flexible ports to what is connected, and returns the nodes that had been prepared for
  /// fewer. Around a cycle it takes a few rounds; channels only grow, so it ends.
  func spreadChannels() -> [EngineNode] {
    var pending = rows.filter { $0.pointee.isPending }
    var grown: Set<Int32> = []
    while !pending.isEmpty {
      var next: [NodeRow.Pointer] = []
      for row in pending {
        row.pointee.isPending = false
        guard row.pointee.hasFlexiblePorts, Self.widen(row) else { continue }
        grown.insert(row.pointee.mark)
        for cable in row.pointee.node.takeUnretainedValue().outgoing {
          let row = cable.destination.row
          if !row.pointee.isPending { next.append(row) }
          row.pointee.isPending = true
        }
      }
      pending = next
    }
    let nodes = grown.sorted().map { rows[Int($0)].pointee.node.takeUnretainedValue() }
    for node in nodes { node.takeChannels() }
    return nodes.filter { $0.slot != nil }
  }

  /// Widens the inputs to what comes in, and the outputs to the first input; says whether any grew.
  private static func widen(_ row: NodeRow.Pointer) -> Bool {
    let node = row.pointee
    var hasGrown = false
    var next = node.incoming
    while let cable = next {
      next = cable.pointee.next
      let input = Int(cable.pointee.input)
      guard input >= 0 else { continue }
      let width = Int32(min(cable.pointee.width, 64))
      if node.channels[input] < width, node.node.takeUnretainedValue().inputs[input].format == .flexible {
        node.channels[input] = width
        hasGrown = true
      }
    }
    guard node.inputCount > 0 else { return hasGrown }
    for output in 0..<Int(node.outputCount) where node.outputChannels[output] < node.channels[0] {
      guard node.node.takeUnretainedValue().outputs[output].format == .flexible else { continue }
      node.outputChannels[output] = node.channels[0]
      hasGrown = true
    }
    return hasGrown
  }

  // MARK: Inlets

  /// An input of a node: the cables into it and its buffer where they must be mixed.
  struct Inlet: BitwiseCopyable {
    /// Where its cables stand in `Inlets.cables`.
    var first: Int
    var count = 0
    var channels: Int
    /// The parameter that it is added to; negative: an audio input.
    var parameter = -1
    /// First channel of the mix buffer; negative when the one source's buffer is read directly.
    var buffer = -1
  }

  /// The inlets of one node, in storage that serves one node after the other.
  struct Inlets {
    var list: [Inlet] = []
    var cables: [CableRow.Pointer] = []

    /// Audio inputs first, then the parameters that something is connected to.
    mutating func find(_ row: NodeRow.Pointer) {
      list.removeAll(keepingCapacity: true)
      cables.removeAll(keepingCapacity: true)
      for input in 0..<Int(row.pointee.inputCount) {
        var inlet = Inlet(first: cables.count, channels: max(Int(row.pointee.channels[input]), 1))
        add(Int32(input), of: row, to: &inlet)
        list.append(inlet)
      }
      var next = row.pointee.incoming
      while let cable = next {
        next = cable.pointee.next
        let code = cable.pointee.input
        guard code < CableRow.events else { continue }
        let parameter = -2 - Int(code)
        if list.contains(where: { $0.parameter == parameter }) { continue }
        var inlet = Inlet(first: cables.count, channels: 1, parameter: parameter)
        add(code, of: row, to: &inlet)
        for cable in cables[inlet.first...] {
          inlet.channels = max(inlet.channels, min(cable.pointee.width, 64))
        }
        list.append(inlet)
      }
    }

    private mutating func add(_ code: Int32, of row: NodeRow.Pointer, to inlet: inout Inlet) {
      var next = row.pointee.incoming
      while let cable = next {
        if cable.pointee.input == code { cables.append(cable) }
        next = cable.pointee.next
      }
      inlet.count = cables.count - inlet.first
    }

    func needsMix(_ inlet: Inlet) -> Bool {
      guard inlet.count == 1 else { return inlet.count > 1 }
      let cable = cables[inlet.first].pointee
      guard cable.isDirect else { return true }
      return !cable.isPlain(to: inlet.channels) && !cable.conversion(to: inlet.channels).isSelection
    }
  }

  // MARK: Buffers

  /// Gives buffers by liveness and writes the steps. `nodes` are prepared by now; `zeros` are 64 silent
  /// channels.
  mutating func makePlan(
    serial: Int, threads: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    let cut =
      threads > 1
      ? SegmentPlanner(rows.map { $0.pointee.node.takeUnretainedValue() }, threads: threads).run() : nil
    if let cut {
      // Segment by segment is an order of execution, too.
      rows = cut.order.map { rows[$0] }
      number()
    }
    while true {
      memory.clear()
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
    let readers: UnsafeMutablePointer<Int32> = memory.reserve(outputCount)
    let buffers: UnsafeMutablePointer<Int32> = memory.reserve(outputCount)
    var allocator = BufferAllocator()
    var inlets = Inlets()
    for (index, row) in rows.enumerated() {
      let segment = segments?[index] ?? 0
      writer.begin(segment)
      inlets.find(row)
      for position in inlets.list.indices {
        let inlet = inlets.list[position]
        let isMixed = inlets.needsMix(inlet)
        if isMixed { inlets.list[position].buffer = allocator.take(inlet.channels, in: segment) }
        for cable in inlet.first..<inlet.first + inlet.count {
          inlets.cables[cable].pointee.isMixed = isMixed
        }
      }
      let first = Int(row.pointee.firstOutput)
      for output in 0..<Int(row.pointee.outputCount) {
        readers[first + output] = row.pointee.readers[output]
        buffers[first + output] = Int32(
          allocator.take(Int(row.pointee.outputChannels[output]), in: segment))
      }
      if allocator.size <= writer.arena.capacity { writer.write(row, inlets, buffers) }
      for cable in inlets.cables where !cable.pointee.isDelayed {
        let source = cable.pointee.source
        if let segments, segments[Int(source.pointee.mark)] != segment { continue }
        let output = Int(source.pointee.firstOutput + cable.pointee.output)
        readers[output] -= 1
        guard readers[output] == 0 else { continue }
        let channels = Int(source.pointee.outputChannels[Int(cable.pointee.output)])
        allocator.give(Int(buffers[output]), channels, in: segment)
      }
      for inlet in inlets.list where inlet.buffer >= 0 {
        allocator.give(inlet.buffer, inlet.channels, in: segment)
      }
      for output in 0..<Int(row.pointee.outputCount) where readers[first + output] == 0 {
        allocator.give(Int(buffers[first + output]), Int(row.pointee.outputChannels[output]), in: segment)
      }
    }
    return allocator.size
  }
}

extension ChannelConversion {
  /// True when the channels go over unchanged, so that pointers can do a map's work.
  fileprivate var isSelection: Bool {
    var seen: UInt64 = 0
    for gain in gains {
      guard gain.gain == 1, seen & (1 << UInt64(gain.destination)) == 0 else { return false }
      seen |= 1 << UInt64(gain.destination)
    }
    return true
  }
}

extension EngineCable {
  /// What becomes of its channels where so many come in.
  func conversion(to channels: Int) -> ChannelConversion {
    ChannelConversion(
      from: output.map { source.outputChannels[$0] } ?? 0, to: channels, map: key.map, mixing: key.mixing)
  }
}
