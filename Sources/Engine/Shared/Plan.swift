import Patch
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
/// run is read from one end of memory to the other. It fills two cache lines: what its kernel sees, and the rest. A step of a
/// chain reads the second one only.
struct Step: BitwiseCopyable {
  enum Operation: UInt8 {
    /// Sums the cables into a node, and runs it.
    case process
    /// The same of a node without events and with one output.
    case processPlain
    /// The same of a node whose output is the sum of its cables.
    case passOn
    /// The same as `processPlain`, and the first of a chain.
    case chain
    /// Writes an output into the ring of a delayed cable.
    case fillDelay
    /// The same as `processPlain`, of a node that nothing modulates, and that reads no sum and one buffer at most.
    case processDirect
  }

  /// The kernel's view. It stands first, so that a step's address is its address.
  var context: NodeContext
  var eventSources: UnsafeMutablePointer<EventSource>
  // The second line.
  var operation: Operation
  /// True if events reach it, by cable or directly.
  var takesEvents: Bool
  /// The output may be louder than any one node's: the input is a sum, or what is modulated may amplify.
  var mayGrow: Bool
  /// The sum of its cables is its output, and its kernel need not run.
  var isPassage = false
  var outputCount: UInt16
  /// Audio inputs; none of an endless kernel without cables (`Kernel.isEndless`).
  var inputCount: UInt16
  /// Audio inputs, plus one per modulated parameter behind them.
  var portCount: UInt16
  /// Bytes that are worth fetching before it runs, from the second line of its slot on.
  var fetchedBytes: UInt16
  var eventSourceCount: Int32
  /// The node that it runs; for `fillDelay` the source node.
  var node: UnsafeMutablePointer<NodeSlot>
  /// The ports, which point to zeros while silent.
  var ports: UnsafeMutablePointer<InputPort>
  /// Buffers behind the ports, and the sums in them.
  var bindings: UnsafeMutablePointer<InputBinding>
  /// Silence flag of each output in this block; other steps point here.
  var outputSilence: UnsafeMutablePointer<Bool>
  /// The source of `fillDelay`, the sum of `passOn`, or the chain that begins here.
  var record: UnsafeMutableRawPointer
  /// A bit for each modulated parameter, as in `NodeSlot.modulated`.
  var modulated: UInt64
}

extension Step {
  /// Source of `fillDelay`.
  var source: UnsafeMutablePointer<MixSource> {
    @_noLocks get { record.assumingMemoryBound(to: MixSource.self) }
  }
  /// Sum of `passOn`.
  var sum: UnsafeMutablePointer<InletSum> {
    @_noLocks get { record.assumingMemoryBound(to: InletSum.self) }
  }
  /// The chain that begins here.
  var chain: UnsafeMutablePointer<Chain> { @_noLocks get { record.assumingMemoryBound(to: Chain.self) } }

  /// Its outputs are silent in this block.
  var isSilent: Bool { @_noLocks get { outputCount == 0 || outputSilence.pointee } }

  /// Channels of its inputs and modulations.
  var heardChannels: Int {
    @_noLocks get {
      var sum = 0
      var port = 0
      while port < Int(portCount) {
        sum &+= ports[port].count
        port &+= 1
      }
      return sum
    }
  }

  /// Channels of its outputs.
  var writtenChannels: Int {
    @_noLocks get {
      var sum = 0
      var port = 0
      while port < Int(outputCount) {
        sum &+= context.outputs[port].count
        port &+= 1
      }
      return sum
    }
  }

  /// Floats of scratch that the second of two parts of a block needs: each channel of an input or an output, with the addresses of
  /// input channels and outputs.
  var partFloats: Int {
    @_noLocks get {
      let (heard, written) = (heardChannels, writtenChannels)
      return (heard &+ written) &* blockCapacity
        &+ (2 &* (heard &+ Int(outputCount)) &+ blockCapacity &- 1) & ~(blockCapacity &- 1)
    }
  }
}

struct InputBinding: BitwiseCopyable {
  var channels: UnsafePointer<UnsafePointer<Float>>
  var silence: UnsafePointer<Bool>
  /// The sum of its cables; nil: it reads its only source's buffer.
  var sum: UnsafeMutablePointer<InletSum>?
  /// A modulation by one cable: not written to `channels`, but these frames times `gain`.
  var direct: UnsafePointer<Float>?
  var gain: Float = 0
  /// The parameter's own value, if it is a single one at rest and is modulated by a single channel.
  var base: Float = 0
  /// Parameter that is modulated.
  var parameter: Int32
  /// Its element, if the kernel modulates that itself; negative: the parameter's stream is modulated.
  var element: Int32 = -1
  /// Two to the power of the sum multiplies the parameter; otherwise the sum is added to it.
  var isRatio = false
  /// The binding before it modulates the same parameter, or the same element of it.
  var isFurther = false
  /// The modulation is the only one, is added, and has one channel, as has the parameter, which is at rest.
  var isSingle = false
  /// The parameter may rest at a modulated value, although it has no stream.
  var isHeld = true
}

/// The sum of the cables into an input.
struct InletSum: BitwiseCopyable {
  var output: OutputPort
  /// The sum is silent in this block.
  var silence: UnsafeMutablePointer<Bool>
  var sources: UnsafeMutablePointer<MixSource>
  var sourceCount: Int32
  /// The number of moves (`RenderJob.moves`) with which all of its gains were at rest; 0: none.
  var settledAt: UInt32 = 0
  /// While it is settled: no cable has taps, a delay or a gain of zero; and all have a gain of one.
  var isSimple = false
  var isUnity = false
  /// The same, and `few` has all of them, of which there are two at least.
  var isFew = false
  /// All cables brought sound in the latest block, and have told so.
  var wereAllHeard = false
  /// It modulates a parameter, and has one channel.
  var mayBeDirect: Bool
  /// The running sum of the input; nil: too few cables.
  var running: UnsafeMutablePointer<RunningSum>?
  // A new cache line.
  let few: FewSources
}

/// The first four sources of a sum in one cache line. The records of the sources take a line each.
struct FewSources: BitwiseCopyable {
  typealias Channel = UnsafePointer<Float>
  typealias Flag = UnsafePointer<Bool>

  /// First channels. Where there are fewer sources the first one stands for the others.
  let channels: (Channel, Channel, Channel, Channel)
  /// The flags of silence.
  let silences: (Flag, Flag, Flag, Flag)

  /// Worker.
  init(_ sources: UnsafeMutablePointer<MixSource>, count: Int) {
    func source(_ index: Int) -> MixSource { sources[index < count ? index : 0] }
    channels = (source(0).base, source(1).base, source(2).base, source(3).base)
    silences = (source(0).silence, source(1).silence, source(2).silence, source(3).silence)
  }

  /// True if all of them sound in this block. Audio thread.
  var areSounding: Bool {
    @inline(__always) @_noLocks get {
      let (a, b) = (Self.byte(silences.0) | Self.byte(silences.1), Self.byte(silences.2))
      return a | b | Self.byte(silences.3) == 0
    }
  }

  @inline(__always) @_noLocks private static func byte(_ flag: Flag) -> UInt8 {
    UnsafeRawPointer(flag).load(as: UInt8.self)
  }
}

/// An input's sum that grows while its sources run. A chain that has no other reader adds its output here, in the order of the
/// input's cables, instead of writing it to a buffer that the sum reads later. The order of the additions, and so every bit, is
/// the same as without it. Its address stays the same while its node has many cables, also when the plan changes.
struct RunningSum: BitwiseCopyable {
  /// Fewest cables of an input with a running sum. The buffers of fewer sources stay in the cache anyway.
  static var leastCables: Int { 16 }

  /// The sum so far, channel by channel.
  let frames: UnsafeMutablePointer<Float>
  /// The input's cables, in the order in which they are added.
  var first: UnsafeMutablePointer<MixSource>
  var end: UnsafeMutablePointer<MixSource>
  /// The cable whose turn it is.
  var next: UnsafeMutablePointer<MixSource>
  /// The block in which something was added last.
  var block = -1
  /// Chains may add to it in this plan, as long as `RenderJob.moves` has this value; 0: they may not. Then all of its cables are
  /// at rest, and brought sound in the block before.
  var serial = 0
  var moves: UInt32 = 0
  var channels: Int32 = 0
}

/// One step or several in a row each of which reads only the one before it, which nothing else reads, and has a kernel
/// that multiplies and adds (`Kernel.isAffine`). As long as their nodes are at rest, apart from what cables modulate, they
/// are run at once, with the samples of a channel in registers. What a single step reads in each block fills the first cache
/// line.
struct Chain: BitwiseCopyable {
  /// First channel of what the first step reads, and of what the last one writes.
  var input: UnsafePointer<Float>
  var output: UnsafeMutablePointer<Float>
  /// Silence flags of both.
  var inputSilence: UnsafePointer<Bool>
  var outputSilence: UnsafeMutablePointer<Bool>
  /// The sum of cables that the first step reads; nil: a buffer.
  var sum: UnsafeMutablePointer<InletSum>?
  /// The number of moves (`RenderJob.moves`) with which all nodes were at rest, with these numbers; 0: none.
  var settledAt: UInt32 = 0
  /// Channels of each output.
  var channels: UInt8
  /// It has one step.
  var isSingle: Bool
  /// The blast shield looks at a step.
  var isAnyExamined = false
  /// A step is modulated.
  var isModulated = false
  /// The running sum to which it adds its output; nil: it writes its output.
  var running: UnsafeMutablePointer<RunningSum>?
  /// While it is settled: the numbers of the first step's first channel.
  var first = Affine(factor: 1, addend: 0)
  // A new cache line.
  var count: Int32
  /// Floats between the input's channels; 0: all outputs of the first step get the same one.
  var inputStride: Int16
  /// Of each step in turn the numbers of its channels.
  var affines: UnsafeMutablePointer<Affine>
  /// A record for each step.
  var links: UnsafeMutablePointer<ChainLink>
}

/// Data of a chain's step besides its numbers.
struct ChainLink: BitwiseCopyable {
  /// Modulation of its factor or its addend; nil: nothing.
  var binding: UnsafeMutablePointer<InputBinding>?
  /// While the chain is settled: the frames of that, their silence flag and their gain.
  var frames: UnsafePointer<Float>?
  var silence: UnsafePointer<Bool>?
  var gain: Float = 1
  /// Floats between the channels; 0: all get the same one.
  var stride: Int16 = 0
  /// It is the addend that is modulated.
  var isAddend = false
  /// The blast shield looks at the step.
  var isExamined = false

  /// False: a signal modulates the step, and is silent.
  var isHeard: Bool {
    @inline(__always) @_noLocks get {
      if let silence { !silence.pointee } else { true }
    }
  }
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
  /// A modulation that does more than multiply: its signal goes through a curve, and an offset is added to each destination.
  var isShaped = false
  var curve = Modulation.Curve.linear
  var offset: Float = 0
}

/// `destination` channel gets `source` times `coefficient` times the cable's gain.
struct MixTap: BitwiseCopyable {
  var destination: Int
  var source: UnsafePointer<Float>
  var coefficient: Float
}
