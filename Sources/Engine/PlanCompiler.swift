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
    let node = row.pointee.node
    var hasGrown = false
    var next = row.pointee.incoming
    while let cable = next {
      next = cable.pointee.next
      let input = Int(cable.pointee.input)
      guard input >= 0 else { continue }
      let width = Int32(min(cable.pointee.width, 64))
      if row.channels[input] < width, node.takeUnretainedValue().inputs[input].format == .flexible {
        row.channels[input] = width
        hasGrown = true
      }
    }
    guard row.pointee.inputCount > 0 else { return hasGrown }
    for output in 0..<Int(row.pointee.outputCount) where row.outputChannels[output] < row.channels[0] {
      guard node.takeUnretainedValue().outputs[output].format == .flexible else { continue }
      row.outputChannels[output] = row.channels[0]
      hasGrown = true
    }
    return hasGrown
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
    var batch = PlanBatch()
    var inlets = Inlets()
    for (index, row) in rows.enumerated() {
      if index % PlanBatch.size == 0 { batch.read(rows[index..<min(index + PlanBatch.size, rows.count)]) }
      let entry = batch.entries[index % PlanBatch.size]
      let segment = segments?[index] ?? 0
      writer.begin(segment)
      inlets.find(row, batch.wires[entry.wires])
      for position in inlets.list.indices {
        let inlet = inlets.list[position]
        let isMixed = inlets.needsMix(inlet)
        if isMixed { inlets.list[position].buffer = allocator.take(inlet.channels, in: segment) }
        for wire in inlets.wires[inlet.wires] where wire.row.isMixed != isMixed {
          wire.cable.pointee.isMixed = isMixed
        }
      }
      let first = Int(row.pointee.firstOutput)
      for output in 0..<Int(row.pointee.outputCount) {
        readers[first + output] = row.readers[output]
        buffers[first + output] = Int32(allocator.take(Int(row.outputChannels[output]), in: segment))
      }
      if allocator.size <= writer.arena.capacity {
        writer.write(row, entry, batch.wires[entry.wires], inlets, buffers)
      }
      for wire in inlets.wires where !wire.row.isDelayed {
        if let segments, segments[Int(wire.row.source.pointee.mark)] != segment { continue }
        readers[wire.output] -= 1
        guard readers[wire.output] == 0 else { continue }
        allocator.give(
          Int(buffers[wire.output]), Int(wire.row.source.outputChannels[Int(wire.row.output)]), in: segment)
      }
      for inlet in inlets.list where inlet.buffer >= 0 {
        allocator.give(inlet.buffer, inlet.channels, in: segment)
      }
      for output in 0..<Int(row.pointee.outputCount) where readers[first + output] == 0 {
        allocator.give(Int(buffers[first + output]), Int(row.outputChannels[output]), in: segment)
      }
    }
    return allocator.size
  }
}
