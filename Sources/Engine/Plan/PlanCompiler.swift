import Realtime

/// Compiles nodes and cables into a plan. Worker.
///
/// The execution order is cut into stretches. A stretch that an edit touched is compiled into a new piece: one pass over
/// its rows assigns buffers by liveness and writes the steps. The others keep their pieces, so that an edit costs what
/// it touches, and a list of the pieces. What nodes of several pieces read has buffers of its own (`Crossing`). The
/// compiler knows nothing of patches. It hashes nothing and compares no names, and it touches objects in rare cases
/// only.
struct PlanCompiler {
  let order: ExecutionOrder
  let memory: PlanMemory

  /// Parts of the pieces of plans. Worker.
  final class PlanMemory {
    let pieces = RowPool()
    let crossings = CrossingPool()
    /// Buffers that all pieces share, or those of each segment.
    fileprivate var arenas: [BufferArena] = []
    fileprivate var scratch = ParameterScratch(size: 0, threads: 1)
    /// Work lists of a pass, kept between plans. For a sum of many cables they take megabytes, and the system clears fresh
    /// pages for each edit otherwise.
    fileprivate var lists = (batch: PlanBatch(), inlets: Inlets())
    fileprivate var lastNumber: Int32 = 0
    /// The latest plan has several segments.
    fileprivate var isCut = false

    fileprivate func nextNumber() -> Int32 {
      lastNumber &+= 1
      return lastNumber
    }
  }

  /// A piece to be compiled.
  private struct Job {
    var number: Int32
    var rows: [NodeRow.Pointer]
    /// Index among the arenas.
    var arena = 0
    var stretch: Stretch?
  }

  /// All nodes must be prepared. `zeros`: 64 silent channels.
  func makePlan(serial: Int, threads: Int, zeros: UnsafePointer<UnsafePointer<Float>>) -> CompiledPlan {
    order.tidy()
    let cut = threads > 1 ? SegmentPlanner(numberedNodes(), threads: threads).run() : nil
    if memory.isCut || cut != nil { for stretch in order.all { stretch.head.pointee.isStale = true } }
    memory.isCut = cut != nil
    var pieces: [PlanPiece] = []
    if let cut {
      let rows = order.rows
      var jobs = cut.predecessors.indices.map { Job(number: memory.nextNumber(), rows: [], arena: $0) }
      for (place, segment) in zip(cut.order, cut.segments) { jobs[segment].rows.append(rows[place]) }
      settle(&jobs)
      pieces = jobs.map { write($0, zeros) }
      for stretch in order.all { stretch.piece = nil }
    } else {
      var jobs: [Job] = []
      for stretch in order.all where stretch.head.pointee.isStale { jobs.append(job(stretch)) }
      settle(&jobs)
      for job in jobs { job.stretch?.piece = write(job, zeros) }
      pieces = order.all.compactMap(\.piece)
    }
    let scratch = pieces.reduce(64) { max($0, $1.scratch) }
    if scratch > memory.scratch.size {
      memory.scratch = ParameterScratch(size: scratch, threads: threads)
    }
    return CompiledPlan(serial: serial, pieces, predecessors: cut?.predecessors ?? [0], memory.scratch)
  }

  /// Buffers that are free once the plan runs.
  func takeRetired() -> [Crossing] {
    defer { order.retired = [] }
    return order.retired
  }

  /// The nodes in execution order, each marked with its index.
  private func numberedNodes() -> [EngineNode] {
    order.rows.enumerated().map { index, row in
      row.pointee.planIndex = Int32(index)
      return row.pointee.node.takeUnretainedValue()
    }
  }

  private func job(_ stretch: Stretch) -> Job {
    stretch.head.pointee.isStale = false
    let job = Job(number: memory.nextNumber(), rows: stretch.rows, stretch: stretch)
    number(job)
    return job
  }

  private func number(_ job: Job) {
    var outputs: Int32 = 0
    for row in job.rows {
      row.pointee.piece = job.number
      row.pointee.firstOutput = outputs
      outputs += Int32(row.pointee.outputCount)
    }
  }

  // MARK: Outputs that other pieces read

  /// Gives outputs that other pieces read buffers of their own. Adds the pieces that have to be compiled because of that.
  private func settle(_ jobs: inout [Job]) {
    if memory.isCut { for job in jobs { number(job) } }
    var known = Set(jobs.compactMap { $0.stretch?.head })
    var others: [Stretch] = []
    func add(_ row: NodeRow.Pointer) {
      guard !memory.isCut, let head = row.pointee.stretch, known.insert(head).inserted else { return }
      others.append(head.pointee.stretch.takeUnretainedValue())
    }
    var local: [Int32] = []
    var next = 0
    while next < jobs.count {
      let job = jobs[next]
      next += 1
      local.removeAll(keepingCapacity: true)
      for row in job.rows { for _ in 0..<row.pointee.outputCount { local.append(0) } }
      func read(_ cable: CableRow.Pointer) {
        guard cable.pointee.output >= 0, !cable.pointee.isDelayed else { return }
        let source = cable.pointee.source
        if source.pointee.piece == job.number {
          local[Int(source.pointee.firstOutput + cable.pointee.output)] += 1
        } else if source.pointee.crossing == nil {
          add(source)
        }
      }
      for row in job.rows {
        if !memory.isCut, row.pointee.ownSum != nil,
          let sum = row.pointee.node.takeUnretainedValue().wideSum
        {
          // The sources of the other cables have had buffers of their own since an earlier plan.
          for cable in sum.stale { read(cable) }
          continue
        }
        var wire = row.pointee.incoming
        while let cable = wire {
          read(cable)
          wire = cable.pointee.next
        }
      }
      for row in job.rows where cross(row, local) {
        for cable in row.pointee.node.takeUnretainedValue().outgoing
        where cable.output != nil && !cable.row.pointee.isDelayed { add(cable.destination.row) }
      }
      for row in job.rows where row.pointee.inputCount > 0 { gather(row, job.number, add) }
      jobs += others.map(self.job)
      others = []
    }
  }

  /// Gives a node's outputs buffers of their own, or takes them back. True if other pieces have to read other buffers than
  /// before. `local`: readers in its own piece, of all outputs.
  private func cross(_ row: NodeRow.Pointer, _ local: [Int32]) -> Bool {
    let first = Int(row.pointee.firstOutput)
    var (isCrossing, channels) = (false, 0)
    for output in 0..<Int(row.pointee.outputCount) {
      if local[first + output] < row.readers[output] { isCrossing = true }
      channels += max(Int(row.outputChannels[output]), 1)
    }
    let old = row.pointee.crossing
    if isCrossing, let old, old.channels == channels { return false }
    if !isCrossing, old == nil { return false }
    for cable in row.pointee.node.takeUnretainedValue().outgoing { cable.touchSum() }
    if let old { order.retired.append(old) }
    row.pointee.crossing = isCrossing ? memory.crossings.allocate(channels: channels) : nil
    return isCrossing
  }

  /// Gives the sum of many cables room to be added up while their sources run, or takes it back, and tells the sources, whose
  /// pieces are compiled again. `job`: number of the piece. Cables that come and go meanwhile tell their sources themselves.
  private func gather(_ row: NodeRow.Pointer, _ job: Int32, _ add: (NodeRow.Pointer) -> Void) {
    var count = 0
    var wire = row.pointee.incoming
    while let cable = wire, count < RunningSum.leastCables {
      if cable.pointee.input == 0 { count += 1 }
      wire = cable.pointee.next
    }
    let isWide = count == RunningSum.leastCables
    let channels = max(Int(row.channels[0]), 1)
    if let own = row.pointee.ownSum, !isWide || own.channels != channels {
      order.retired.append(own.room)
      (row.pointee.ownSum, row.pointee.isGathered) = (nil, false)
    } else if !isWide {
      return
    }
    if isWide, row.pointee.ownSum == nil {
      row.pointee.ownSum = SumRoom(channels: channels, from: memory.crossings)
    }
    if row.pointee.isGathered, !memory.isCut { return }
    row.pointee.isGathered = !memory.isCut
    wire = row.pointee.incoming
    while let cable = wire {
      wire = cable.pointee.next
      guard cable.pointee.input == 0, !cable.pointee.isDelayed else { continue }
      let source = cable.pointee.source
      // Segments may run at the same time.
      let isNear = !memory.isCut || source.pointee.piece == job
      let sum = source.isReadOnce && isNear ? row.pointee.ownSum?.record : nil
      guard source.pointee.runningSum != sum else { continue }
      source.pointee.runningSum = sum
      add(source)
    }
  }

  // MARK: Steps

  /// Assigns buffers by liveness and writes the steps.
  private func write(_ job: Job, _ zeros: UnsafePointer<UnsafePointer<Float>>) -> PlanPiece {
    while memory.arenas.count <= job.arena { memory.arenas.append(BufferArena(capacity: 64)) }
    while true {
      var writer = StepWriter(
        outputCount: job.rows.reduce(0) { $0 + Int($1.pointee.outputCount) },
        memory: PieceMemory(pool: memory.pieces), arena: memory.arenas[job.arena], zeros: zeros)
      let size = placeBuffers(job, &writer)
      if size <= writer.arena.capacity { return writer.finish(job.rows) }
      memory.arenas[job.arena] = BufferArena(capacity: size * 2)
    }
  }

  /// Returns the number of buffers needed; the steps are valid if the arena has as many.
  private func placeBuffers(_ job: Job, _ writer: inout StepWriter) -> Int {
    // Readers of each output that run after its node; a delayed cable keeps its own copy.
    var readers: [Int32] = []
    /// First channel of each output; negative: buffers of its own.
    var buffers: [Int32] = []
    var allocator = BufferAllocator()
    var (batch, inlets) = memory.lists
    memory.lists = (PlanBatch(), Inlets())
    defer { memory.lists = (batch, inlets) }
    for (index, row) in job.rows.enumerated() {
      if index % PlanBatch.size == 0 {
        batch.read(
          job.rows[index..<min(index + PlanBatch.size, job.rows.count)], piece: job.number,
          isWhole: memory.isCut)
      }
      let entry = batch.entries[index % PlanBatch.size]
      inlets.find(row, batch.wires[entry.wires], entry.sum)
      for position in inlets.list.indices {
        let inlet = inlets.list[position]
        let isMixed = inlets.needsMix(inlet)
        if isMixed {
          inlets.list[position].isUniform = inlets.isUniform(inlet)
          inlets.list[position].buffer = allocator.allocate(inlets.list[position].width)
        }
        for wire in inlets.wires[inlet.wires] where wire.row.isMixed != isMixed {
          wire.cable.pointee.isMixed = isMixed
        }
      }
      let first = buffers.count
      let isCrossing = row.pointee.crossing != nil
      var isInPlace =
        row.pointee.worksInPlace && inlets.list[0].buffer >= 0 && !inlets.list[0].isUniform
        && inlets.list[0].channels == Int(row.outputChannels[0])
      if isCrossing, isInPlace {
        inlets.list[0].place = row.crossingBase(of: 0)
        isInPlace = false
      }
      for output in 0..<Int(row.pointee.outputCount) {
        readers.append(row.readers[output])
        if isCrossing {
          buffers.append(-1)
        } else if isInPlace, output == 0 {
          buffers.append(Int32(inlets.list[0].buffer))
        } else {
          buffers.append(Int32(allocator.allocate(Int(row.outputChannels[output]))))
        }
      }
      if allocator.size <= writer.arena.capacity {
        writer.write(row, entry, batch.wires[entry.wires], inlets, buffers[first...])
      }
      for wire in inlets.wires where !wire.row.isDelayed && wire.output >= 0 {
        readers[wire.output] -= 1
        guard readers[wire.output] == 0, buffers[wire.output] >= 0 else { continue }
        allocator.recycle(
          Int(buffers[wire.output]), Int(wire.row.source.outputChannels[Int(wire.row.output)]))
      }
      for inlet in inlets.list[(isInPlace ? 1 : 0)...] where inlet.buffer >= 0 {
        allocator.recycle(inlet.buffer, inlet.width)
      }
      for output in first..<buffers.count where readers[output] == 0 && buffers[output] >= 0 {
        allocator.recycle(Int(buffers[output]), Int(row.outputChannels[output - first]))
      }
    }
    return allocator.size
  }
}
