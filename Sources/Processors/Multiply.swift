import Patch
import Realtime

/// Multiplies a signal with another one, and with a factor.
///
/// Where nothing is connected to `with`, one takes its place. While the engine fades such a cable in, the one fades out, so
/// that a tremolo is put in without a gap. It comes back when a cable that fades out has gone.
public struct Multiply: Kernel {
  public static let description = KindDescription(
    name: "multiply", summary: "Multiplies a signal with another one, and with a factor.",
    category: .modulation,
    inputs: [
      PortDescription("in", .flexible),
      PortDescription(
        "with", .flexible, "What it is multiplied with; its channels repeat where `in` has more.",
        role: .sidechain),
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number(
        "factor", "A further factor; a list gives one a channel, below 0 it turns over.", default: 1,
        range: -1000...1000, isPerChannel: true)
    ], face: .level, cost: .init(6, perChannel: 3))

  /// Position in `description.parameters`.
  public static var factor: Int { @_noLocks get { 0 } }

  /// The one in place of what is not connected.
  private var one = Normalled()

  public static var worksInPlace: Bool { true }
  public static var isAffine: Bool { true }
  public static var factorParameter: Int? { factor }
  public static var factorInput: Int? { 1 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    guard block.inputs[0].count >= block.outputs[0].count,
      one.hasCome(block.inputs[1].isConnected, block.rate)
    else { return false }
    channels.fill(block.outputs[0].count, factors: block.parameters[Self.factor])
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, with, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    one.follow(with.isConnected, block.rate)
    if one.isMoving { return fade(block) }
    guard !input.isSilent, one.isHeard || !with.isSilent else { return .silent }
    let factor = block.parameters[Self.factor]
    let channels = output.count < input.count ? output.count : input.count
    var (channel, other) = (0, 0)
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      if one.isHeard {
        if let moving = factor.frames(channel) {
          multiplyWhole(from, moving, to: to)
        } else {
          multiplyWhole(from, factor.value(channel), to: to)
        }
      } else {
        var frame = 0
        while frame < blockCapacity {
          let by = with[other].vector(frame) * factor.vector(channel, frame)
          to.store(from.vector(frame) * by + 0, frame)
          frame &+= 16
        }
        other = other &+ 1 < with.count ? other &+ 1 : 0
      }
      channel &+= 1
    }
    return .sounding
  }

  /// The same while a cable at `with` fades.
  @inline(never) @_noLocks private mutating func fade(_ block: Block) -> Activity {
    let (input, with, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    let shares = block.scratch.assumingMemoryBound(to: Float.self)
    one.fill(shares, frames: block.frames)
    guard !input.isSilent else { return .silent }
    let factor = block.parameters[Self.factor]
    let channels = output.count < input.count ? output.count : input.count
    var (channel, other) = (0, 0)
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      var frame = 0
      while frame < block.frames {
        var by = shares.vector(frame)
        if !with.isSilent { by += with[other].vector(frame) }
        to.store(from.vector(frame) * (by * factor.vector(channel, frame)) + 0, frame)
        frame &+= 16
      }
      other = other &+ 1 < with.count ? other &+ 1 : 0
      channel &+= 1
    }
    return .sounding
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    one.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool { !one.isMoving }
}
