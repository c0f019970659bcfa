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
  /// True when `isFinished` is always false, and changes nothing: without inputs it need not be asked.
  static var isEndless: Bool { get }
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

/// Kernel types cross threads in the engine's table of kinds; Swift 6.2 and later require this to be
/// declared.
#if compiler(>=6.2)
  /// Metatype that may cross threads.
  public typealias KernelMetatype = SendableMetatype
#else
  /// No requirement before Swift 6.2.
  public typealias KernelMetatype = Any
#endif
