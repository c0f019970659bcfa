import Realtime

/// The compiled schedule, in plain memory: what the renderer does in each block, in order. It holds
/// order, buffers and addresses of slots, never state; any plan can be dropped for another.
struct Plan: BitwiseCopyable {
  var serial: Int
  var steps: UnsafeMutablePointer<Step>
  var stepCount: Int
  /// The steps cut into what may run on different threads; 1: all in their order.
  var segments: UnsafeMutablePointer<Segment>
  var segmentCount: Int
  /// Room for the moving parameters of any one node, so many floats for each thread.
  var parameterScratch: UnsafeMutablePointer<Float>
  var scratchSize: Int
}

/// Steps that run in their order on one thread.
struct Segment: BitwiseCopyable {
  var steps: UnsafeMutablePointer<Step>
  var count: Int
  /// The segments that must be done before, as bits.
  var predecessors: UInt64
}

/// One thing to do in each block. What it points to lies behind the plan's steps in their order, so
/// that a run through the plan reads memory from one end to the other.
struct Step: BitwiseCopyable {
  enum Operation: UInt8 {
    /// Sums cables into a buffer, or applies a gain, a map, a conversion.
    case mix
    /// Runs a node.
    case process
    /// Runs a node that has audio ports alone, with one output and nothing at its parameters.
    case processPlain
    /// Keeps an output for a delayed cable.
    case remember
  }

  /// What the kernel sees; stands first, so that a step's address is its address. `mix` writes into
  /// outputs[0].
  var context: NodeContext
  var operation: Operation
  /// By cable or directly.
  var takesEvents: Bool
  /// What comes in may be louder than what any one node gave: it is summed or modulates.
  var mayGrow: Bool
  var outputCount: UInt16
  /// Audio inputs.
  var inputCount: UInt16
  /// Audio inputs, and one for each modulated parameter behind them.
  var portCount: UInt16
  /// The node that it runs; that of which it keeps an output, or makes an input.
  var node: UnsafeMutablePointer<NodeSlot>
  /// The ports, which show zeros while they are silent.
  var ports: UnsafeMutablePointer<InputPort>
  /// What lies behind each port.
  var bindings: UnsafeMutablePointer<InputBinding>
  /// Whether each output is silent in this block; other steps point here.
  var outputSilence: UnsafeMutablePointer<Bool>
  var eventSources: UnsafeMutablePointer<EventSource>
  /// For mix and remember.
  var sources: UnsafeMutablePointer<MixSource>
  var eventSourceCount: Int32
  var sourceCount: Int32
}

struct InputBinding: BitwiseCopyable {
  var channels: UnsafePointer<UnsafePointer<Float>>
  var silence: UnsafePointer<Bool>
  /// For a modulation: which parameter it is added to.
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

/// What the queue carries to the audio thread.
enum Command {
  case swap(UnsafeMutablePointer<Plan>)
  case ramp(UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32)
  case kernel(UnsafeMutablePointer<NodeSlot>, parameter: Int32, element: Int32, value: Float, frames: Int32)
  /// `wait`: frames until it begins, rounded up to a multiple of 64 of engine time.
  case gain(UnsafeMutablePointer<CableSlot>, value: Float, frames: Int32, wait: Int32)
  /// A cable of events passes endings alone, and ends what it holds after so many frames; negative: it is
  /// open again.
  case close(UnsafeMutablePointer<CableSlot>, after: Int32)
  /// All notes of a node end after so many frames; negative: they do not.
  case end(UnsafeMutablePointer<NodeSlot>, after: Int32)
  case event(UnsafeMutablePointer<NodeSlot>, Event)
  case use(UnsafeMutablePointer<NodeSlot>, UnsafeMutablePointer<ResourceHeader>?)
  case widen(UnsafeMutablePointer<NodeSlot>, memory: UnsafeMutableRawPointer, Widening)
  /// The source of a delayed cable has widened.
  case widenRing(UnsafeMutablePointer<CableSlot>, from: Int32, to: Int32)
}

/// A transaction: its commands are executed together, at one block's start.
struct Envelope {
  /// Engine time at which it is due; at once when it has passed.
  var time: Int64
  var commands: UnsafeMutablePointer<Command>
  var count: Int
  /// When it was executed; written by the audio thread before the transaction counts as executed.
  var executedAt: UnsafeMutablePointer<Int64>
}

/// What the audio thread tells the trace.
struct TraceRecord {
  var time: Int64
  var node: Int32
  var kind: Event.Kind
  var key: UInt8
  var value: Float
  /// The blast shield muted the node, which gave `value`: no event.
  var isBlast = false

  /// A node that was muted.
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
