/// The most frames a block has, and the distance between the channels of a buffer.
@inlinable public var blockCapacity: Int { @_noLocks get { 64 } }

/// An audio input of a node in one block. Silent channels point at a buffer of zeros.
public struct InputPort: BitwiseCopyable {
  /// One pointer a channel, each to 64 floats of which the block's frames are valid. 64-byte aligned.
  /// Reading all 64 is safe; what lies behind the block's frames is unspecified.
  public var channels: UnsafePointer<UnsafePointer<Float>>
  public var count: Int
  /// Every channel is zero in this block.
  public var isSilent: Bool
  /// Something is connected.
  public var isConnected: Bool

  public init(
    channels: UnsafePointer<UnsafePointer<Float>>, count: Int, isSilent: Bool, isConnected: Bool
  ) {
    self.channels = channels
    self.count = count
    self.isSilent = isSilent
    self.isConnected = isConnected
  }

  @inlinable public subscript(_ channel: Int) -> UnsafePointer<Float> { @_noLocks get { channels[channel] } }
}

/// An audio output of a node: `count` channels of 64 floats each, channel c at `base + 64 * c`.
/// 64-byte aligned; never the memory of an input. The kernel must write the block's frames of every
/// channel of an output that is read unless it returns `.silent`, and may write all 64.
public struct OutputPort: BitwiseCopyable {
  public var base: UnsafeMutablePointer<Float>
  public var count: Int
  /// Some cable takes it, or it is the first, at which meters look. What is written into another is lost; a
  /// kernel's state does not depend on it.
  public var isRead: Bool

  public init(base: UnsafeMutablePointer<Float>, count: Int, isRead: Bool = true) {
    self.base = base
    self.count = count
    self.isRead = isRead
  }

  @inlinable public subscript(_ channel: Int) -> UnsafeMutablePointer<Float> {
    @_noLocks get { base + channel &* blockCapacity }
  }
}

/// A continuous parameter in one block: smoothed, and with what is connected to its port added.
public struct ParameterStream: BitwiseCopyable {
  /// The value at the block's first frame, one an element.
  public var values: UnsafePointer<Float>
  /// nil when every element rests for the whole block; else element e's frames at `stream + 64 * e`.
  public var stream: UnsafePointer<Float>?
  /// 1 (for all channels) or one a channel.
  public var elements: Int

  public init(values: UnsafePointer<Float>, stream: UnsafePointer<Float>?, elements: Int) {
    self.values = values
    self.stream = stream
    self.elements = elements
  }

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

/// A parameter that changes by crossfade (a choice such as a waveform, or a time): while it changes,
/// compute with `old` and with `new`, and mix `old * (1 - blend) + new * blend`.
public struct CrossfadeStream: BitwiseCopyable {
  public var old: Float
  public var new: Float
  /// nil when at rest (then `old == new`); else one gain a frame.
  public var blend: UnsafePointer<Float>?

  public init(old: Float, new: Float, blend: UnsafePointer<Float>?) {
    self.old = old
    self.new = new
    self.blend = blend
  }
}

/// What the driver lends the engine for one period: pointers to each of its channels, or nil where
/// a channel does not exist (then inputs read as silence, and outputs go nowhere).
public struct DriverChannels {
  @inlinable public static var capacity: Int { @_noLocks get { 256 } }
  public var inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  public var outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// Frames of the period before this block.
  public var offset: Int
  /// `MidiInput.ports` of them, with what came in in the period; nil where the driver has none.
  public var midi: UnsafePointer<MidiInput>?

  @_noLocks public init(
    inputs: UnsafeMutablePointer<UnsafePointer<Float>?>,
    outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, offset: Int,
    midi: UnsafePointer<MidiInput>? = nil
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.offset = offset
    self.midi = midi
  }
}

/// What is the same for every node in one block.
public struct BlockContext: BitwiseCopyable {
  /// 1...64.
  public var frames: Int
  /// Engine time of the first frame.
  public var time: Int64
  /// Frames a second.
  public var rate: Float
  public var driver: UnsafePointer<DriverChannels>

  public init(frames: Int = 0, time: Int64 = 0, rate: Float, driver: UnsafePointer<DriverChannels>) {
    self.frames = frames
    self.time = time
    self.rate = rate
    self.driver = driver
  }
}

/// Where one node finds its ports, parameters and events: the same in every block of a plan.
public struct NodeContext: BitwiseCopyable {
  /// Audio inputs, in the order of the kind's description, events left out.
  public var inputs: UnsafePointer<InputPort>
  public var outputs: UnsafePointer<OutputPort>
  /// By the parameter's position in the kind's description; only those with `smoothing: .ramp` count.
  public var parameters: UnsafePointer<ParameterStream>
  /// By the parameter's position; only those with `smoothing: .crossfade` count. See `Kernel.followsCount`.
  public var crossfades: UnsafePointer<CrossfadeStream>
  /// What came in on the events input and directly (`note piano on C4`), in order.
  public var events: UnsafePointer<EventQueue>
  /// The events output, if the kind has one.
  public var eventOutput: UnsafeMutablePointer<EventQueue>?

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
  }
}

/// Everything that a kernel sees of one block: a handle, small enough to be handed over in registers.
///
/// A block never crosses a multiple of 64 of engine time, so it has 1...64 frames, and a full period
/// that starts on such a multiple is cut into full blocks.
public struct Block: BitwiseCopyable {
  public let frames: Int
  @usableFromInline let context: UnsafePointer<BlockContext>
  @usableFromInline let node: UnsafePointer<NodeContext>

  @inlinable @_noLocks public init(
    _ context: UnsafePointer<BlockContext>, _ node: UnsafePointer<NodeContext>
  ) {
    frames = context.pointee.frames
    self.context = context
    self.node = node
  }

  @inlinable public var time: Int64 { @_noLocks get { context.pointee.time } }
  @inlinable public var rate: Float { @_noLocks get { context.pointee.rate } }
  @inlinable public var driver: UnsafePointer<DriverChannels> { @_noLocks get { context.pointee.driver } }
  @inlinable public var inputs: UnsafePointer<InputPort> { @_noLocks get { node.pointee.inputs } }
  @inlinable public var outputs: UnsafePointer<OutputPort> { @_noLocks get { node.pointee.outputs } }
  @inlinable public var parameters: UnsafePointer<ParameterStream> {
    @_noLocks get { node.pointee.parameters }
  }
  @inlinable public var crossfades: UnsafePointer<CrossfadeStream> {
    @_noLocks get { node.pointee.crossfades }
  }
  @inlinable public var events: UnsafePointer<EventQueue> { @_noLocks get { node.pointee.events } }
  @inlinable public var eventOutput: UnsafeMutablePointer<EventQueue>? {
    @_noLocks get { node.pointee.eventOutput }
  }
}

/// What a kernel is made from. Worker.
public struct KernelConfiguration: Sendable {
  public var rate: Double
  /// Channels of each audio input, and of each audio output, in the description's order.
  public var inputs: [Int]
  public var outputs: [Int]
  /// Initial values by the parameter's position in the kind's description, one an element (row by row
  /// for two dimensions): gains linear, choices and toggles as numbers, files and texts as 0.
  public var values: [[Float]]
  /// What makes a node's random numbers its own. The same node of the same file gets the same one.
  public var seed: UInt64
  /// How samples are read where the node leaves it open.
  public var quality: SampleQuality

  public init(
    rate: Double, inputs: [Int], outputs: [Int], values: [[Float]], seed: UInt64 = 0,
    quality: SampleQuality = .four
  ) {
    self.rate = rate
    self.inputs = inputs
    self.outputs = outputs
    self.values = values
    self.seed = seed
    self.quality = quality
  }

  public func value(_ parameter: Int, _ element: Int = 0) -> Float { values[parameter][element] }
}

/// Points of interpolation between the frames of a sample.
public enum SampleQuality: String, CaseIterable, Sendable {
  case four = "4-point"
  case eight = "8-point"
  case sinc
}

/// What a kernel says after a block.
public enum Activity: UInt8, Sendable {
  /// The outputs hold sound.
  case sounding
  /// The outputs are all zero; the kernel need not have written them.
  case silent
}

/// The sound of one node kind: plain state in memory that the engine owns, and how it makes a block.
///
/// A kernel is trivial (no references, nothing to release): its struct is moved into fixed memory and
/// stays at that address. `memory` is zeroed, 64-byte aligned, page-touched and lives as long as it.
///
/// Every kernel gives the same bits however its frames are split into blocks: vectors are computed
/// whole, and what runs at a control rate counts frames of its own.
public protocol Kernel: BitwiseCopyable, KernelMetatype {
  /// Bytes of `memory` that such a kernel needs. Worker.
  static func memorySize(_ configuration: KernelConfiguration) -> Int
  /// Frames that its sound is late, for as long as it lives; parallel paths are delayed as much. Worker.
  static func latency(_ configuration: KernelConfiguration) -> Int
  /// Worker.
  init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer)
  /// Makes one block. Audio thread.
  @_noLocks mutating func process(_ block: Block) -> Activity
  /// Input is silent and no tail is left: `process` would return silence until something comes in.
  /// Asked when a 64-frame cell of engine time ends; the renderer then leaves the node out until its
  /// input sounds, an event comes or a parameter moves. Never true for a source that sounds. The
  /// kernel may zero inaudible rests of state (below -200 dB) when it says so. Audio thread.
  @_noLocks mutating func isFinished() -> Bool
  /// More channels: moves its state into `memory`, sized for them. Each channel goes on from the one that
  /// `Widening.source` names. The old memory is freed by the worker afterwards. Audio thread.
  @_noLocks mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer)
  /// Whether what it does depends on how many channels the document gives its first input, which may be fewer
  /// than it has: then `crossfades`, behind the last parameter, has that count, and changes with it by
  /// crossfade.
  static var followsCount: Bool { get }
  /// A parameter with `smoothing: .kernel` is to go to `value` over `frames`. Audio thread.
  @_noLocks mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int)
  /// An instrument or a file (or nil) to play from now on. The kernel counts its uses in the
  /// resource, and goes on using the old one for what sounds. Audio thread.
  @_noLocks mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?)
  /// The rate changed while no audio thread ran: keep pitch and time. `memory`: zeroed, as much as
  /// `memorySize` wants at the new rate, where that is another size; what it had is freed afterwards.
  /// Worker.
  mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?)
  /// It is about to be freed and no audio thread sees it any more: what it still uses is counted in
  /// `ResourceHeader.returned`. Worker.
  mutating func release()
  /// How many voices sound, for the views. Audio thread.
  var voices: Int { @_noLocks get }
}

extension Kernel {
  public static func memorySize(_ configuration: KernelConfiguration) -> Int { 0 }
  public static func latency(_ configuration: KernelConfiguration) -> Int { 0 }
  @inlinable @_noLocks public mutating func isFinished() -> Bool { false }
  @inlinable @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {}
  public static var followsCount: Bool { false }
  @inlinable @_noLocks public mutating func set(
    _ parameter: Int, element: Int, to value: Float, over frames: Int
  ) {}
  @inlinable @_noLocks public mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {}
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {}
  public mutating func release() {}
  @inlinable public var voices: Int { @_noLocks get { 0 } }
}

/// The head of everything that a worker loads and an audio thread plays (an instrument, a file).
/// The real data follows in the same allocation or behind pointers; the resource's owner knows.
public struct ResourceHeader {
  /// How many kernels and voices use it, counted by the audio threads with `count`.
  public internal(set) var uses: Int32 = 0
  /// Uses of kernels that were freed while they sounded, counted by the worker.
  public var returned: Int32 = 0
  /// How often something was not read from disk in time and played as silence, counted by the audio threads
  /// with `countUnderrun`.
  public internal(set) var underruns: Int32 = 0
  /// What follows this header, as the owner numbers it (1 instrument, 2 audio file).
  public var type: Int32

  public init(type: Int32) { self.type = type }

  /// When a resource has been replaced and this is false, the worker frees it. Worker.
  public var isUsed: Bool { uses &- returned > 0 }
}

/// The types of kernels cross threads, in the engine's table of kinds; from 6.2 on, Swift wants to
/// be told.
#if compiler(>=6.2)
  public typealias KernelMetatype = SendableMetatype
#else
  public typealias KernelMetatype = Any
#endif
