import Realtime

/// The compiled schedule in plain memory: the renderer's steps for each block, in order. It holds order,
/// buffers and addresses of slots, never state; any plan can be replaced by another.
struct Plan: BitwiseCopyable {
  var serial: Int
  var steps: UnsafeMutablePointer<Step>
  var stepCount: Int
  /// Segments that may run on different threads; 1: all steps in order.
  var segments: UnsafeMutablePointer<Segment>
  var segmentCount: Int
  /// Scratch for the moving parameters of one node: `scratchSize` floats per thread.
  var parameterScratch: UnsafeMutablePointer<Float>
  var scratchSize: Int
}

/// Steps that run in order on one thread.
struct Segment: BitwiseCopyable {
  var steps: UnsafeMutablePointer<Step>
  var count: Int
  /// Segments that must be done before, as a bit mask.
  var predecessors: UInt64
}

/// One operation of each block. Its data lies behind the plan's steps in the same order, so that a plan is
/// read from one end of memory to the other.
struct Step: BitwiseCopyable {
  enum Operation: UInt8 {
    /// Sums cables into a buffer, or applies a gain, a map or a conversion.
    case mix
    /// Runs a node.
    case process
    /// Runs a node with audio ports only, one output, no modulated parameter, and nothing to report.
    case processPlain
    /// Writes an output into the ring of a delayed cable.
    case fillDelay
  }

  /// The kernel's view. It stands first, so that a step's address is its address. `mix` writes to outputs[0].
  var context: NodeContext
  var operation: Operation
  /// True if events reach it, by cable or directly.
  var takesEvents: Bool
  /// The input may be louder than any one node's output: it is a sum, or a parameter is modulated.
  var mayGrow: Bool
  var outputCount: UInt16
  /// Audio inputs.
  var inputCount: UInt16
  /// Audio inputs, plus one per modulated parameter behind them.
  var portCount: UInt16
  /// The node that it runs; for `fillDelay` the source node; for `mix` the destination node.
  var node: UnsafeMutablePointer<NodeSlot>
  /// The ports, which point to zeros while silent.
  var ports: UnsafeMutablePointer<InputPort>
  /// Buffers behind the ports.
  var bindings: UnsafeMutablePointer<InputBinding>
  /// Silence flag of each output in this block; other steps point here.
  var outputSilence: UnsafeMutablePointer<Bool>
  var eventSources: UnsafeMutablePointer<EventSource>
  /// Sources of `mix` and `fillDelay`.
  var sources: UnsafeMutablePointer<MixSource>
  var eventSourceCount: Int32
  var sourceCount: Int32
}

struct InputBinding: BitwiseCopyable {
  var channels: UnsafePointer<UnsafePointer<Float>>
  var silence: UnsafePointer<Bool>
  /// Parameter that a modulation is added to.
  var parameter: Int
}

struct EventSource: BitwiseCopyable {
  var queue: UnsafeMutablePointer<EventQueue>
  var cable: UnsafeMutablePointer<CableSlot>
}

struct MixSource: BitwiseCopyable {
  var cable: UnsafeMutablePointer<CableSlot>
  var silence: UnsafePointer<Bool>
  var taps: UnsafeMutablePointer<MixTap>
  var tapCount: Int
  var isDelayed: Bool
}

/// `destination` channel gets `source` times `coefficient` times the cable's gain.
struct MixTap: BitwiseCopyable {
  var destination: Int
  var source: UnsafePointer<Float>
  var coefficient: Float
}

/// A command to the audio thread.
enum Command {
  case swap(UnsafeMutablePointer<Plan>)
  case ramp(UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32)
  case kernel(UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32)
  /// `wait`: frames until it begins, rounded up to a multiple of 64 of engine time.
  case gain(UnsafeMutablePointer<CableSlot>, value: Float, frames: Int32, wait: Int32)
  /// An event cable passes note-offs only, and ends its held notes after this many frames; negative: it opens
  /// again.
  case close(UnsafeMutablePointer<CableSlot>, after: Int32)
  /// All notes of a node end after this many frames; negative: cancelled.
  case end(UnsafeMutablePointer<NodeSlot>, after: Int32)
  case event(UnsafeMutablePointer<NodeSlot>, Event)
  case use(UnsafeMutablePointer<NodeSlot>, UnsafeMutablePointer<ResourceHeader>?)
  case widen(UnsafeMutablePointer<NodeSlot>, memory: UnsafeMutableRawPointer, Widening)
  /// The source of a delayed cable has widened.
  case widenRing(UnsafeMutablePointer<CableSlot>, from: Int32, to: Int32)
}

/// A transaction: its commands are executed together, at the start of one block.
struct SealedTransaction {
  /// Engine time of execution; the next block if it has passed.
  var time: Int64
  var commands: UnsafeMutablePointer<Command>
  var count: Int
  /// Engine time of its execution. The audio thread writes it before the transaction counts as executed.
  var executedAt: UnsafeMutablePointer<Int64>
}

/// A trace record from the audio thread.
struct TraceRecord {
  var time: Int64
  var node: Int32
  var kind: Event.Kind
  var key: UInt8
  var value: Float
  /// No event: the blast shield muted the node for emitting `value`.
  var isBlast = false

  /// Record of a muted node.
  @_noLocks init(time: Int64, node: Int32, blast: Float) {
    self.time = time
    self.node = node
    kind = .stop
    key = 0
    value = blast
    isBlast = true
  }

  @_noLocks init(time: Int64, node: Int32, event: Event) {
    self.time = time
    self.node = node
    kind = event.kind
    key = event.key
    value = event.value
  }
}
