import Realtime
import Synchronization

/// Runs steps, with what an audio thread needs for that in memory of its own. Audio thread, all but
/// making and freeing it.
struct StepRunner: ~Copyable {
  /// Its place among the threads.
  private let index: Int
  /// What kernels see of the block.
  let context: UnsafeMutablePointer<BlockContext>
  /// Room for one cable's moving gain.
  let gains: UnsafeMutablePointer<Float>
  /// Trace records, to the worker; what does not fit is counted.
  let trace = Ring(capacity: 8192, of: TraceRecord.self)
  let traceDropped = Atomic<Int>(0)
  /// Events for which the queue of a node had no room.
  let eventsDropped = Atomic<Int>(0)

  // Of this block.
  private(set) var frames = 0
  private(set) var now: Int64 = 0
  /// It ends where a 64-frame cell of engine time does.
  private(set) var endsCell = false
  /// Peaks are measured.
  private(set) var isMetering = false
  /// Room for one node's moving parameters, which the plan brings.
  private(set) var scratch: UnsafeMutablePointer<Float>
  /// What silent ports show.
  let zeros: UnsafePointer<UnsafePointer<Float>>

  /// Worker.
  init(
    index: Int, driver: UnsafePointer<DriverChannels>, zeros: UnsafePointer<UnsafePointer<Float>>
  ) {
    self.index = index
    context = .allocate(capacity: 1)
    context.initialize(to: BlockContext(rate: 0, driver: driver))
    gains = Renderer.aligned(blockCapacity)
    scratch = gains
    self.zeros = zeros
  }

  /// Worker.
  func deallocate() {
    context.deallocate()
    gains.deallocate()
    trace.deallocate()
  }

  /// Sets out on a block.
  @_noLocks mutating func begin(_ job: RenderJob) {
    turn(to: job.time, frames: job.frames)
    isMetering = job.isMetering
    scratch = job.plan.pointee.parameterScratch + index &* job.plan.pointee.scratchSize
    context.pointee.rate = job.rate
  }

  /// Points the block elsewhere.
  @_noLocks mutating func turn(to time: Int64, frames: Int) {
    self.frames = frames
    now = time
    endsCell = Int(time & 63) &+ frames == blockCapacity
    context.pointee.frames = frames
    context.pointee.time = time
  }

  @_noLocks mutating func run(_ segment: Segment) { run(segment.steps, segment.count) }

  @_noLocks mutating func run(_ steps: UnsafeMutablePointer<Step>, _ count: Int) {
    var step = steps
    let end = steps + count
    while step != end {
      switch step.pointee.operation {
      case .processPlain: runPlainNode(step)
      case .process: runNode(step)
      case .mix: mix(step)
      case .remember: remember(step)
      }
      step += 1
    }
  }
}
