import Patch
import Realtime

/// A value that stays, for parameters: each channel has its own.
public struct Constant: Kernel {
  public static let description = KindDescription(
    name: "constant", summary: "A value that stays, to move parameters of other nodes by.",
    category: .modulation, outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .number(
        "level", "The value; a list gives one a channel.", default: 1, range: -20_000...20_000,
        isPerChannel: true),
      .count(
        "channels", "How many values, one a channel; at least one for each channel of cables into `level`.",
        default: 1, smoothing: .kernel),
    ], face: .level, amplification: .never, cost: .init(4, perChannel: 2))

  /// Positions in `description.parameters`.
  public static var level: Int { @_noLocks get { 0 } }
  public static var channels: Int { @_noLocks get { 1 } }

  private var isZero = false

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var isAffine: Bool { true }
  public static var addendParameter: Int? { level }

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    isZero = block.parameters[Self.level].isZero(block)
    channels.fill(block.outputs[0].count, factor: 0, addends: block.parameters[Self.level])
    return !isZero
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (level, output) = (block.parameters[Self.level], block.outputs[0])
    isZero = level.isZero(block)
    guard !isZero else { return .silent }
    var channel = 0
    while channel < output.count {
      let to = output[channel]
      let (a, b) = (level.vector(channel, 0), level.vector(channel, 16))
      let (c, d) = (level.vector(channel, 32), level.vector(channel, 48))
      to.store(a + 0, 0)
      to.store(b + 0, 16)
      to.store(c + 0, 32)
      to.store(d + 0, 48)
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { isZero }
}

extension ParameterStream {
  /// True where it is zero in all frames of the block, for all channels. A modulation that holds still is at rest in a whole
  /// cell and moves in a part of one, so that its frames count in both.
  @inline(__always) @_noLocks func isZero(_ block: Block) -> Bool {
    guard let stream else { return isZeroAtRest }
    return stream[0] == 0 && isZero(stream, block.frames)
  }

  private var isZeroAtRest: Bool {
    @inline(__always) @_noLocks get {
      var element = 0
      while element < elements {
        if values[element] != 0 { return false }
        element &+= 1
      }
      return true
    }
  }

  @inline(never) @_noLocks private func isZero(_ stream: UnsafePointer<Float>, _ frames: Int) -> Bool {
    var element = 0
    while element < elements {
      var frame = 0
      while frame < frames {
        if stream[element &* blockCapacity &+ frame] != 0 { return false }
        frame &+= 1
      }
      element &+= 1
    }
    return true
  }
}
