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
  /// It begins and ends where sixteens of engine time do: work on sixteens has nothing to carry over.
  @inlinable public var isOfSixteens: Bool { @_noLocks get { (time | Int64(frames)) & 15 == 0 } }
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
