/// Maximum frames of a block, and the stride between the channels of a buffer.
@inlinable public var blockCapacity: Int { @inline(__always) @_noLocks get { 64 } }

/// An audio input of a node in one block. Silent channels point at a buffer of zeros.
public struct InputPort: BitwiseCopyable {
  /// One pointer per channel, each to 64 floats of which the block's frames are valid. 64-byte aligned.
  /// Reading all 64 is safe; the values behind the block's frames are unspecified.
  public var channels: UnsafePointer<UnsafePointer<Float>>
  /// Number of channels.
  public var count: Int
  /// Every channel is zero in this block.
  public var isSilent: Bool
  /// A cable is connected.
  public var isConnected: Bool

  /// An input of `count` channels.
  public init(
    channels: UnsafePointer<UnsafePointer<Float>>, count: Int, isSilent: Bool, isConnected: Bool
  ) {
    self.channels = channels
    self.count = count
    self.isSilent = isSilent
    self.isConnected = isConnected
  }

  /// The frames of one channel.
  @inlinable public subscript(_ channel: Int) -> UnsafePointer<Float> { @_noLocks get { channels[channel] } }
}

/// An audio output of a node: `count` channels of 64 floats each, channel c at `base + 64 * c`. 64-byte
/// aligned; never the memory of an input, unless the kernel works in place. The kernel must write the block's frames of every channel of an
/// output that is read unless it returns `.silent`, and may write all 64.
public struct OutputPort: BitwiseCopyable {
  /// First float of channel 0.
  public var base: UnsafeMutablePointer<Float>
  /// Number of channels.
  public var count: Int
  /// True when a cable reads the output, and for the first output, which the meters read. Data written to
  /// other outputs is lost; a kernel's state must not depend on this flag.
  public var isRead: Bool

  /// An output of `count` channels at `base`.
  public init(base: UnsafeMutablePointer<Float>, count: Int, isRead: Bool = true) {
    self.base = base
    self.count = count
    self.isRead = isRead
  }

  /// The frames of one channel.
  @inlinable public subscript(_ channel: Int) -> UnsafeMutablePointer<Float> {
    @_noLocks get { base + channel &* blockCapacity }
  }
}

/// A continuous parameter in one block: smoothed, with the modulation at its port added.
public struct ParameterStream: BitwiseCopyable {
  /// The values at the block's first frame, one per element.
  public var values: UnsafePointer<Float>
  /// nil when every element is constant in this block; otherwise the frames of element e at `stream + 64 *
  /// e`.
  public var stream: UnsafePointer<Float>?
  /// 1 (for all channels) or one per channel.
  public var elements: Int

  /// A stream of `elements` values.
  public init(values: UnsafePointer<Float>, stream: UnsafePointer<Float>?, elements: Int) {
    self.values = values
    self.stream = stream
    self.elements = elements
  }

  /// True when every element is constant in this block.
  @inlinable public var isSteady: Bool { @_noLocks get { stream == nil } }

  /// The value for `channel` at the block's first frame.
  @inlinable @_noLocks public func value(_ channel: Int) -> Float {
    values[elements == 1 ? 0 : (channel < elements ? channel : elements &- 1)]
  }

  /// The value for `channel` at `frame`.
  @inlinable @_noLocks public func value(_ channel: Int, at frame: Int) -> Float {
    let element = elements == 1 ? 0 : (channel < elements ? channel : elements &- 1)
    guard let stream else { return values[element] }
    return stream[element &* blockCapacity &+ frame]
  }

  /// The frames for `channel`, or nil when it is steady.
  @inlinable @_noLocks public func frames(_ channel: Int) -> UnsafePointer<Float>? {
    guard let stream else { return nil }
    return stream + (elements == 1 ? 0 : (channel < elements ? channel : elements &- 1)) &* blockCapacity
  }
}

/// A parameter that changes by crossfade (a choice such as a waveform, or a delay time). While it changes,
/// compute with `old` and with `new`, and mix `old * (1 - blend) + new * blend`.
public struct CrossfadeStream: BitwiseCopyable {
  /// Value that fades out.
  public var old: Float
  /// Value that fades in.
  public var new: Float
  /// nil when at rest (then `old == new`); otherwise one gain per frame.
  public var blend: UnsafePointer<Float>?

  /// A change from `old` to `new`; `blend` is nil at rest.
  public init(old: Float, new: Float, blend: UnsafePointer<Float>?) {
    self.old = old
    self.new = new
    self.blend = blend
  }
}

/// The driver's channels for one period: a pointer to each, or nil where a channel does not exist (such
/// inputs read as silence, and such outputs are discarded).
public struct DriverChannels {
  /// Maximum number of driver channels in each direction.
  @inlinable public static var capacity: Int { @_noLocks get { 256 } }
  /// Input buffers of the period, by channel.
  public var inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  /// Output buffers of the period, by channel.
  public var outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// Frames of the period before this block.
  public var offset: Int
  /// The period's events on each of `MidiInput.ports` ports; nil where the driver has no MIDI.
  public var midi: UnsafePointer<MidiInput>?
  /// The `MidiOutput.ports` outputs; nil where the driver has no MIDI.
  public var midiOutputs: UnsafePointer<MidiOutput>?
  /// The period has no deadline, as that of a JACK server that freewheels: the audio thread waits for the threads that take
  /// its sound to disk.
  public var waitsForReaders: Bool

  /// Channels of a period; `inputs` and `outputs` have `capacity` entries.
  @_noLocks public init(
    inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, offset: Int,
    midi: UnsafePointer<MidiInput>? = nil, midiOutputs: UnsafePointer<MidiOutput>? = nil,
    waitsForReaders: Bool = false
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.offset = offset
    self.midi = midi
    self.midiOutputs = midiOutputs
    self.waitsForReaders = waitsForReaders
  }

  /// Queue of a MIDI output, with offsets from the period's start; nil where there is none of that number.
  @_noLocks public func midiOutput(_ number: Int) -> UnsafeMutablePointer<EventQueue>? {
    guard let midiOutputs, number >= 0, number < MidiOutput.ports else { return nil }
    return midiOutputs[number].events
  }
}

/// Data that is the same for every node in one block.
public struct BlockContext: BitwiseCopyable {
  /// Length in frames, 1...64.
  public var frames: Int
  /// Engine time of the first frame.
  public var time: Int64
  /// Sample rate, Hz.
  public var rate: Float
  /// Load of the driver, smoothed; 1 is a whole period, 0 without a deadline.
  public var load: Float = 0
  /// The driver's channels in this period.
  public var driver: UnsafePointer<DriverChannels>
  /// Musical time, which changes between blocks only; nil: there is none.
  public var transport: UnsafePointer<Transport>?
  /// Memory of the thread's own for a kernel's work within one block: `scratchSize` bytes, 64-byte aligned.
  public var scratch: UnsafeMutableRawPointer

  /// Bytes of `scratch`: few enough to stay in the first cache, which memory of each node's own would not.
  @inlinable public static var scratchSize: Int { @_noLocks get { 8192 } }

  /// Data of a block; `rate` in Hz.
  public init(
    frames: Int = 0, time: Int64 = 0, rate: Float, driver: UnsafePointer<DriverChannels>,
    transport: UnsafePointer<Transport>? = nil, scratch: UnsafeMutableRawPointer
  ) {
    self.frames = frames
    self.time = time
    self.rate = rate
    self.driver = driver
    self.transport = transport
    self.scratch = scratch
  }
}

/// Addresses of one node's ports, parameters and events: the same in every block of a plan.
public struct NodeContext: BitwiseCopyable {
  /// Audio inputs, in the order of the kind's description, events left out.
  public var inputs: UnsafePointer<InputPort>
  /// Audio outputs, likewise.
  public var outputs: UnsafePointer<OutputPort>
  /// Streams by the parameter's position in the kind's description; valid only for `smoothing: .ramp`.
  public var parameters: UnsafePointer<ParameterStream>
  /// Streams by the parameter's position; valid only for `smoothing: .crossfade`. See `Kernel.followsCount`.
  public var crossfades: UnsafePointer<CrossfadeStream>
  /// Events from the events input and direct ones (`note piano on C4`), in order.
  public var events: UnsafePointer<EventQueue>
  /// The events output, if the kind has one.
  public var eventOutput: UnsafeMutablePointer<EventQueue>?
  /// See `Block.modulations`.
  public var modulations: UnsafeMutablePointer<ModulatedElements>?

  /// Addresses of one node.
  public init(
    inputs: UnsafePointer<InputPort>, outputs: UnsafePointer<OutputPort>,
    parameters: UnsafePointer<ParameterStream>, crossfades: UnsafePointer<CrossfadeStream>,
    events: UnsafePointer<EventQueue>, eventOutput: UnsafeMutablePointer<EventQueue>?
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.parameters = parameters
    self.crossfades = crossfades
    self.events = events
    self.eventOutput = eventOutput
    modulations = nil
  }
}

/// A kernel's view of one block: a handle small enough for registers.
///
/// A block never crosses a multiple of 64 of engine time, so it has 1...64 frames, and a full period that
/// starts on such a multiple is cut into full blocks.
public struct Block: BitwiseCopyable {
  /// Length in frames, 1...64.
  public let frames: Int
  @usableFromInline let context: UnsafePointer<BlockContext>
  @usableFromInline let node: UnsafePointer<NodeContext>

  /// The block of `context` as `node` sees it.
  @inlinable @_noLocks public init(
    _ context: UnsafePointer<BlockContext>, _ node: UnsafePointer<NodeContext>
  ) {
    frames = context.pointee.frames
    self.context = context
    self.node = node
  }

  /// Engine time of the first frame.
  @inlinable public var time: Int64 { @_noLocks get { context.pointee.time } }
  /// Sample rate, Hz.
  @inlinable public var rate: Float { @_noLocks get { context.pointee.rate } }
  /// Load of the driver, smoothed; 1 is a whole period, 0 without a deadline.
  @inlinable public var load: Float { @_noLocks get { context.pointee.load } }
  /// The driver's channels in this period.
  @inlinable public var driver: UnsafePointer<DriverChannels> { @_noLocks get { context.pointee.driver } }
  /// Musical time in this block, by engine time; nil: there is none.
  @inlinable public var transport: UnsafePointer<Transport>? { @_noLocks get { context.pointee.transport } }
  /// Memory for work within this block (`BlockContext.scratch`); what it holds at first is unspecified.
  @inlinable public var scratch: UnsafeMutableRawPointer { @_noLocks get { context.pointee.scratch } }
  /// Audio inputs, in the order of the kind's description.
  @inlinable public var inputs: UnsafePointer<InputPort> { @_noLocks get { node.pointee.inputs } }
  /// Audio outputs, in the order of the kind's description.
  @inlinable public var outputs: UnsafePointer<OutputPort> { @_noLocks get { node.pointee.outputs } }
  /// Streams by the parameter's position; valid only for `smoothing: .ramp`.
  @inlinable public var parameters: UnsafePointer<ParameterStream> {
    @_noLocks get { node.pointee.parameters }
  }
  /// Streams by the parameter's position; valid only for `smoothing: .crossfade`.
  @inlinable public var crossfades: UnsafePointer<CrossfadeStream> {
    @_noLocks get { node.pointee.crossfades }
  }
  /// Events for the node in this block, in order.
  @inlinable public var events: UnsafePointer<EventQueue> { @_noLocks get { node.pointee.events } }
  /// The events output, if the kind has one.
  @inlinable public var eventOutput: UnsafeMutablePointer<EventQueue>? {
    @_noLocks get { node.pointee.eventOutput }
  }
  /// Elements that cables modulate, of parameters that the kernel smooths itself; nil: none is connected.
  @inlinable public var modulations: UnsafeMutablePointer<ModulatedElements>? {
    @_noLocks get { node.pointee.modulations }
  }
}

/// Everything a kernel is made from. Worker.
public struct KernelConfiguration: Sendable {
  /// Sample rate, Hz.
  public var rate: Double
  /// Channels of each audio input, and of each audio output, in the description's order.
  public var inputs: [Int]
  /// Channels of each audio output.
  public var outputs: [Int]
  /// Initial values by the parameter's position in the kind's description, one per element (row by row for
  /// two dimensions): gains linear, choices and toggles as numbers, files and texts as 0.
  public var values: [[Float]]
  /// Seed of the node's random numbers. The same node of the same file always has the same seed.
  public var seed: UInt64
  /// Sample interpolation for nodes that do not set it; nil: as the load allows (`SampleQuality.fitting`).
  public var quality: SampleQuality?
  /// Positions of the parameters that may go beyond their initial values without being announced: cables move them, or
  /// they are on their way.
  public var moving: Set<Int> = []

  /// A configuration; `rate` in Hz.
  public init(
    rate: Double, inputs: [Int], outputs: [Int], values: [[Float]], seed: UInt64 = 0,
    quality: SampleQuality? = .four
  ) {
    self.rate = rate
    self.inputs = inputs
    self.outputs = outputs
    self.values = values
    self.seed = seed
    self.quality = quality
  }

  /// Initial value of a parameter's element.
  public func value(_ parameter: Int, _ element: Int = 0) -> Float { values[parameter][element] }
}

/// Interpolation between the frames of a sample, by number of points.
public enum SampleQuality: String, CaseIterable, Sendable {
  /// Hermite interpolation of the third order.
  case four = "4-point"
  /// Windowed sinc of eight points.
  case eight = "8-point"
  /// Windowed sinc of thirty-two points.
  case sinc

  /// The quality of a voice that begins while the driver has this load: thirty-two points as long as half of
  /// the period is left, eight beyond. A voice keeps its quality, so that none of this is heard as a step.
  @_noLocks public static func fitting(load: Float) -> SampleQuality { load < 0.5 ? .sinc : .eight }
}

/// Result of a block.
public enum Activity: UInt8, Sendable {
  /// The outputs hold sound.
  case sounding
  /// The outputs are all zero; the kernel need not have written them.
  case silent
}

/// The DSP of one node kind: plain state in memory that the engine owns, and the code that renders a block.
///
/// A kernel is trivial (no references, nothing to release): its struct is moved into fixed memory and stays
/// at that address. `memory` is zeroed, 64-byte aligned and page-touched, and lives as long as the kernel.
///
/// Every kernel gives the same bits however its frames are split into blocks. Vectors are computed whole, and
/// control-rate code counts frames of its own.
public protocol Kernel: BitwiseCopyable, KernelMetatype {
  /// Type of `description`: `KindDescription`, which belongs to the document. This module does not import it.
  associatedtype Description
  /// Description of the kind, beside its kernel.
  static var description: Description { get }
  /// Bytes of `memory` that such a kernel needs. Worker.
  static func memorySize(_ configuration: KernelConfiguration) -> Int
  /// True when `memorySize` follows values that may change: before a change that asks for more memory, the kernel moves
  /// into it (`widen`, with the same channels). Memory never becomes smaller.
  static var memoryFollowsValues: Bool { get }
  /// Latency in frames, constant over the kernel's life; parallel paths are delayed by as much. Worker.
  static func latency(_ configuration: KernelConfiguration) -> Int
  /// Creates a kernel that uses `memory`, of `memorySize` bytes. Worker.
  init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer)
  /// Renders one block. Audio thread.
  @_noLocks mutating func process(_ block: Block) -> Activity
  /// True when the input is silent and no tail is left: `process` would return silence until input arrives.
  /// Called at the end of a 64-frame cell of engine time. The renderer then skips the node until its input
  /// sounds, an event comes or a parameter moves. Never true for a source that sounds. The kernel may zero
  /// inaudible state (below -200 dB) when it returns true. Audio thread.
  @_noLocks mutating func isFinished() -> Bool
  /// Widens the kernel to more channels, or lets it grow: moves its state into `memory`, sized for them. `widening` has
  /// the channels of every port. Each channel continues the one that `Widening.source` gives. The worker frees the old
  /// memory afterwards, also that of a kernel whose memory is the same for any channels. Audio thread.
  @_noLocks mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer)
  /// True when the algorithm depends on the document's channel count of the first input, which may be smaller
  /// than the actual one. `crossfades` then has that count behind the last parameter, and it changes by
  /// crossfade.
  static var followsCount: Bool { get }
  /// True when the first output may be the memory of the first input, if both have as many channels: the kernel reads a
  /// frame of every channel before it writes that frame of any, or is done with a channel before it writes it.
  static var worksInPlace: Bool { get }
  /// True when the kernel has nothing to do where its output is the memory of its input.
  static var passesOn: Bool { get }
  /// True when, at rest, each output channel may be the input channel of the same number, or the only one, times a factor,
  /// plus an addend; of a source the addend alone. Such nodes in a row are run without their kernels: `affine` says with
  /// which numbers.
  static var isAffine: Bool { get }
  /// True when that holds for a node with one input channel. A `mixdown` of several adds them up.
  static var isAffineOfOneChannel: Bool { get }
  /// Position of the parameter that is the factor of every channel, while it has one value for all; nil: there is none.
  static var factorParameter: Int? { get }
  /// Position of the parameter that is the addend of every channel, likewise.
  static var addendParameter: Int? { get }
  /// Position of the audio input that the factor is multiplied with, while something is connected to it; nil: there is none.
  static var factorInput: Int? { get }
  /// Position of the audio input that is added, times the addend, while something is connected to it; nil: there is none.
  static var addendInput: Int? { get }
  /// Writes the factor and the addend of each output channel, exactly as `process` would use them in this block, in which
  /// every parameter is at rest. What a cable modulates is calculated by the caller. While something is connected to
  /// `factorInput`, a channel is multiplied with the input's times the factor plus the addend. False: it does something else.
  /// Audio thread.
  @_noLocks mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool
  /// True when a hidden last output gives the first one 64 frames ahead of time, for cables of a cycle, which
  /// are delayed by as many.
  static var hasAheadOutput: Bool { get }
  /// True when, with these values, the hidden output has all of the first one. `rate`: Hz. Worker.
  static func compensatesFeedback(_ values: [[Float]], rate: Double) -> Bool
  /// Moves a parameter with `smoothing: .kernel` to `value` over `frames`. Audio thread.
  @_noLocks mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int)
  /// Hands over an instrument or file (or nil) to play from now on. The kernel counts its uses in the
  /// resource, and keeps the old one for sounding voices. Audio thread.
  @_noLocks mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?)
  /// Adapts to a new sample rate, keeping pitch and time; no audio thread runs. `memory`: zeroed, of the size
  /// that `memorySize` gives for the new rate, if that differs. The old memory is freed afterwards. Worker.
  mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?)
  /// Called before the kernel is freed, when no audio thread uses it. Resources still in use are counted in
  /// `ResourceHeader.returned`. Worker.
  mutating func release()
  /// Number of sounding voices, for the views. Audio thread.
  var voices: Int { @_noLocks get }
  /// The figure at this position of the description's readings, for the views: a gain reduction, a position.
  /// Asked after blocks: each while levels are metered or the input is silent, else one in 512 frames. Audio thread.
  @_noLocks func reading(_ position: Int) -> Float
}

/// A channel times a factor, plus an addend. An addend of zero turns -0 into 0, so that silence has one bit pattern; no
/// addend is -0.
public struct Affine: BitwiseCopyable {
  /// Factor of the samples.
  public var factor: Float
  /// Added to the product.
  public var addend: Float

  /// Times `factor`, plus `addend`.
  @inlinable @_noLocks public init(factor: Float, addend: Float) {
    self.factor = factor
    self.addend = addend + 0
  }
}

/// Header of every resource that a worker loads and an audio thread plays (an instrument, a file). The data
/// follows in the same allocation or behind pointers; the resource's owner knows its layout.
public struct ResourceHeader {
  /// Number of kernels and voices that use it. The audio threads update it with `count`.
  public internal(set) var uses: Int32 = 0
  /// Uses by kernels that were freed while they sounded; updated by the worker.
  public var returned: Int32 = 0
  /// Number of reads that came too late and were replaced by silence. The audio threads update it with
  /// `countUnderrun`.
  public internal(set) var underruns: Int32 = 0
  /// Type of the data behind the header, as its owner defines it (1 instrument, 2 audio file).
  public var type: Int32

  /// A header without uses.
  public init(type: Int32) { self.type = type }

  /// The worker frees a replaced resource once this is false. Worker.
  public var isUsed: Bool { uses &- returned > 0 }
}

/// Kernel types cross threads in the engine's table of kinds; Swift 6.2 and later require this to be
/// declared.
#if compiler(>=6.2)
  /// Metatype that may cross threads.
  public typealias KernelMetatype = SendableMetatype
#else
  /// No requirement before Swift 6.2.
  public typealias KernelMetatype = Any
#endif
