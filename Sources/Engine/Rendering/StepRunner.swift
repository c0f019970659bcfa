import CVector
import Realtime
import Synchronization

/// Runs steps on one audio thread, with scratch memory of its own. Audio thread, except creation and freeing.
struct StepRunner: ~Copyable {
  /// Index of its thread.
  private let index: Int
  /// Block data for kernels.
  let context: UnsafeMutablePointer<BlockContext>
  /// Scratch for one cable's moving gain.
  let gains: UnsafeMutablePointer<Float>
  /// Scratch for the cables of one sum.
  let summands: UnsafeMutablePointer<MixSum.Summand>
  /// Trace records, to the worker; records that do not fit are counted.
  let trace = Ring(capacity: 8192, of: TraceRecord.self)
  let traceDropped = Atomic<Int>(0)
  /// Events dropped because a node's queue was full.
  let eventsDropped = Atomic<Int>(0)

  // Of this block.
  private(set) var frames = 0
  private(set) var now: Int64 = 0
  /// The block ends where a 64-frame cell of engine time ends.
  private(set) var endsCell = false
  private(set) var moves: UInt32 = 0
  private(set) var block = 0
  private(set) var serial = 0
  /// A transaction within it.
  private(set) var split: UnsafeMutablePointer<BlockSplit>?
  /// Level meters are enabled.
  private(set) var isMetering = false
  /// Scratch for one node's moving parameters, from the plan.
  var scratch: UnsafeMutablePointer<Float>
  /// Zeros that silent ports point to.
  let zeros: UnsafePointer<UnsafePointer<Float>>

  /// Worker.
  init(
    index: Int, driver: UnsafePointer<DriverChannels>, transport: UnsafePointer<Transport>,
    zeros: UnsafePointer<UnsafePointer<Float>>
  ) {
    self.index = index
    context = .allocate(capacity: 1)
    let room = UnsafeMutableRawPointer.allocate(byteCount: BlockContext.scratchSize, alignment: 64)
    // Touched, so that the audio thread finds it in memory.
    room.initializeMemory(as: UInt8.self, repeating: 0, count: BlockContext.scratchSize)
    context.initialize(to: BlockContext(rate: 0, driver: driver, transport: transport, scratch: room))
    gains = .zeroed(blockCapacity + 16)
    summands = .allocate(capacity: MixSum.most)
    summands.initialize(
      repeating: MixSum.Summand(base: UnsafePointer(gains), stride: 0, gain: 0), count: MixSum.most)
    scratch = gains
    self.zeros = zeros
  }

  /// Worker.
  func deallocate() {
    context.pointee.scratch.deallocate()
    context.deallocate()
    gains.deallocate()
    summands.deallocate()
    trace.deallocate()
  }

  /// Begins a block.
  @_noLocks mutating func begin(_ job: RenderJob) {
    setTime(to: job.time, frames: job.frames)
    isMetering = job.isMetering
    moves = job.moves
    block = job.block
    serial = job.plan.pointee.serial
    split = job.split
    scratch = job.plan.pointee.parameterScratch + index &* job.plan.pointee.scratchSize
    context.pointee.rate = job.rate
    context.pointee.load = job.load
  }

  /// Sets the block's time and length.
  @_noLocks mutating func setTime(to time: Int64, frames: Int) {
    self.frames = frames
    now = time
    endsCell = Int(time & 63) &+ frames == blockCapacity
    context.pointee.frames = frames
    context.pointee.time = time
  }

  @_noLocks mutating func run(_ segment: Segment) {
    var run = segment.runs
    let end = run + segment.count
    while run != end {
      self.run(run.pointee.steps, run.pointee.count)
      run += 1
    }
  }

  /// Asks for what a step to come reads first, since each of it is only found by what is read before.
  @inline(__always) @_noLocks func fetch(
    _ step: UnsafeMutablePointer<Step>, before end: UnsafeMutablePointer<Step>
  ) {
    guard step < end else { return }
    switch step.pointee.operation {
    case .chain: sostenuto_fetch(step.pointee.chain, step.pointee.portCount > 1 ? 128 : 64)
    case .passOn:
      sostenuto_fetch(step.pointee.sum, 128)
      sostenuto_fetch(UnsafeRawPointer(step.pointee.node) + 64, 64)
    // The part of a slot for every block, and what lies behind it: streams and the kernel.
    default:
      sostenuto_fetch(UnsafeRawPointer(step.pointee.node) + 64, Int64(step.pointee.fetchedBytes))
    }
  }

  /// Runs a step of another operation than the plain ones, or several of a chain. Returns the step behind; nil: nothing has
  /// happened, and it has to be run as a plain one.
  @inline(__always) @_noLocks private mutating func runOther(
    _ step: UnsafeMutablePointer<Step>, before end: UnsafeMutablePointer<Step>
  ) -> UnsafeMutablePointer<Step>? {
    if step.pointee.operation == .chain, let sum = step.pointee.chain.pointee.running,
      sum.pointee.moves == moves, let next = runInTurn(step, before: end)
    {
      return next
    }
    switch step.pointee.operation {
    case .chain where runChain(step): return step + Int(step.pointee.chain.pointee.count)
    case .passOn where passOn(step): break
    case .chain, .passOn, .processPlain, .processDirect: return nil
    case .process:
      sumInputs(step)
      runNode(step)
    case .fillDelay: fillDelay(step)
    }
    return step + 1
  }

  @_noLocks private mutating func run(_ steps: UnsafeMutablePointer<Step>, _ count: Int) {
    if isMetering || split != nil { return runWatched(steps, count) }
    var step = steps
    let end = steps + count
    while step != end {
      fetch(step + 2, before: end)
      // Most steps are plain, and are told apart first.
      let operation = step.pointee.operation
      if operation == .processDirect {
        if !runDirectNode(step) { runPlainNode(step) }
        step += 1
        continue
      }
      if operation != .processPlain, let next = runOther(step, before: end) {
        step = next
        continue
      }
      runPlainNode(step)
      step += 1
    }
  }

  /// The same while meters run, or in a block with a transaction within it.
  @inline(never) @_noLocks private mutating func runWatched(_ steps: UnsafeMutablePointer<Step>, _ count: Int)
  {
    var step = steps
    let end = steps + count
    while step != end {
      fetch(step + 2, before: end)
      if let split, step.pointee.node.pointee.isReached {
        runSplit(step, split)
        step += 1
        continue
      }
      let operation = step.pointee.operation
      if operation != .processPlain, operation != .processDirect, let next = runOther(step, before: end) {
        step = next
        continue
      }
      runPlainNode(step)
      step += 1
    }
  }
}
