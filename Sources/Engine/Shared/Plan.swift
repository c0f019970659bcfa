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
    /// Runs a node without events, with one output and nothing to report.
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
  /// Of a mix that is settled: no cable has taps, a delay or a gain of zero.
  var isSimple = false
  var outputCount: UInt16
  /// Audio inputs.
  var inputCount: UInt16
  /// Audio inputs, plus one per modulated parameter behind them. Of a mix: 1 if its sum modulates a parameter and has
  /// one channel.
  var portCount: UInt16
  /// Of a mix: the number of gain moves (`RenderJob.gainMoves`) with which all of its gains were at rest; 0: none.
  var settledAt: UInt32
  /// The node that it runs; for `fillDelay` the source node; for `mix` the destination node.
  var node: UnsafeMutablePointer<NodeSlot>
  /// The ports, which point to zeros while silent.
  var ports: UnsafeMutablePointer<InputPort>
  /// Buffers behind the ports. Of a mix with a port: the destination's binding.
  var bindings: UnsafeMutablePointer<InputBinding>
  /// Silence flag of each output in this block; other steps point here.
  var outputSilence: UnsafeMutablePointer<Bool>
  var eventSources: UnsafeMutablePointer<EventSource>
  /// Sources of `mix` and `fillDelay`.
  var sources: UnsafeMutablePointer<MixSource>
  var eventSourceCount: Int32
  var sourceCount: Int32
  /// A bit for each modulated parameter, as in `NodeSlot.modulated`.
  var modulated: UInt64
}

struct InputBinding: BitwiseCopyable {
  var channels: UnsafePointer<UnsafePointer<Float>>
  var silence: UnsafePointer<Bool>
  /// Parameter that a modulation is added to.
  var parameter: Int32
  /// The parameter's own value, if it is a single one at rest and is modulated by a single channel.
  var base: Float = 0
  var isSingle = false
  /// A modulation by one cable: not written to `channels`, but these frames times `gain`.
  var direct: UnsafePointer<Float>?
  var gain: Float = 0
}

struct EventSource: BitwiseCopyable {
  var queue: UnsafeMutablePointer<EventQueue>
  var cable: UnsafeMutablePointer<CableSlot>
}

/// A cable into a mix: each destination channel gets a channel of the source times `coefficient` times the cable's gain.
/// Destination d's is at `base + stride * d`, unless there are taps.
struct MixSource: BitwiseCopyable {
  /// In the source's buffer, or in the cable's delay ring.
  var base: UnsafePointer<Float>
  var silence: UnsafePointer<Bool>
  var cable: UnsafeMutablePointer<CableSlot>
  var taps: UnsafeMutablePointer<MixTap>?
  /// Floats; 0: every destination gets the same channel.
  var stride: Int32
  var coefficient: Float
  /// The cable's gain times `coefficient`, as long as the step is settled: most blocks need not look at the cable.
  var gain: Float = 0
  /// Taps or else destinations, which count from 0.
  var count: UInt16
  var isDelayed: Bool
  /// As the worker has been told.
  var wasSilent = false
}

/// `destination` channel gets `source` times `coefficient` times the cable's gain.
struct MixTap: BitwiseCopyable {
  var destination: Int
  var source: UnsafePointer<Float>
  var coefficient: Float
}
