import Realtime

/// Compiles nodes and cables into a plan. Worker.
///
/// One pass over the rows in execution order assigns buffers by liveness and writes the steps. The compiler
/// knows nothing of patches or of earlier plans. It hashes nothing and compares no names, and it touches
/// objects in rare cases only.
struct PlanCompiler {
  /// Rows in execution order.
  private(set) var rows: [NodeRow.Pointer]
  /// Memory of the plan.
  let memory: PlanMemory
  let cableCount: Int
  /// Cables that go through a delay.
  let delayed: [CableRow.Pointer]
  private(set) var outputCount = 0

  /// `rows`: in topological order.
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
      row.pointee.planIndex = Int32(index)
      row.pointee.firstOutput = Int32(outputCount)
      outputCount += Int(row.pointee.outputCount)
    }
  }

  // MARK: Buffers

  /// Assigns buffers by liveness and writes the steps. All nodes must be prepared. `zeros`: 64 silent
  /// channels.
  mutating func makePlan(
    serial: Int, threads: Int, arena: inout BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    let cut =
      threads > 1
      ? SegmentPlanner(rows.map { $0.pointee.node.takeUnretainedValue() }, threads: threads).run() : nil
    if let cut {
      // Segment by segment is an execution order too.
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

  /// Returns the number of buffers needed; the steps are valid if the arena has as many. `segments`: segment
  /// of each node; nil: one for all.
  private func placeBuffers(_ writer: inout StepWriter, _ segments: [Int]?) -> Int {
    // Readers of each output that run after its node; a delayed cable keeps its own copy. A reader in another
    // segment never counts as done.
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
        if isMixed { inlets.list[position].buffer = allocator.allocate(inlet.channels, in: segment) }
        for wire in inlets.wires[inlet.wires] where wire.row.isMixed != isMixed {
          wire.cable.pointee.isMixed = isMixed
        }
      }
      let first = Int(row.pointee.firstOutput)
      let isInPlace =
        row.pointee.worksInPlace && inlets.list[0].buffer >= 0
        && inlets.list[0].channels == Int(row.outputChannels[0])
      for output in 0..<Int(row.pointee.outputCount) {
        readers[first + output] = row.readers[output]
        buffers[first + output] = Int32(
          isInPlace && output == 0
            ? inlets.list[0].buffer : allocator.allocate(Int(row.outputChannels[output]), in: segment))
      }
      if allocator.size <= writer.arena.capacity {
        writer.write(row, entry, batch.wires[entry.wires], inlets, buffers)
      }
      for wire in inlets.wires where !wire.row.isDelayed {
        if let segments, segments[Int(wire.row.source.pointee.planIndex)] != segment { continue }
        readers[wire.output] -= 1
        guard readers[wire.output] == 0 else { continue }
        allocator.recycle(
          Int(buffers[wire.output]), Int(wire.row.source.outputChannels[Int(wire.row.output)]), in: segment)
      }
      for inlet in inlets.list[(isInPlace ? 1 : 0)...] where inlet.buffer >= 0 {
        allocator.recycle(inlet.buffer, inlet.channels, in: segment)
      }
      for output in 0..<Int(row.pointee.outputCount) where readers[first + output] == 0 {
        allocator.recycle(Int(buffers[first + output]), Int(row.outputChannels[output]), in: segment)
      }
    }
    return allocator.size
  }
}
