import Realtime

/// The compiled schedule in plain memory: the renderer's steps for each block, in order. It holds order,
/// buffers and addresses of slots, never state; any plan can be replaced by another.
struct Plan: BitwiseCopyable {
  var serial: Int
  /// Segments that may run on different threads; 1: all steps in order.
  var segments: UnsafeMutablePointer<Segment>
  var segmentCount: Int
  /// Scratch for the moving parameters of one node: `scratchSize` floats per thread.
  var parameterScratch: UnsafeMutablePointer<Float>
  var scratchSize: Int
}

/// Steps in a row. Successive plans share the runs that no edit has touched.
struct StepRun: BitwiseCopyable {
  var steps: UnsafeMutablePointer<Step>
  var count: Int
}

/// Runs of steps that follow each other on one thread.
struct Segment: BitwiseCopyable {
  /// Maximum number in a plan: the bits that `SegmentBoard` has for them.
  static var most: Int { @_noLocks get { 48 } }

  var runs: UnsafeMutablePointer<StepRun>
  var count: Int
  /// Segments that must be done before, as a bit mask.
  var predecessors: UInt64
}

/// One operation of each block. Its data lies together with that of its run, in the same order, so that a
/// run is read from one end of memory to the other.
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
