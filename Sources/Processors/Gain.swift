import Patch
import Realtime

/// Every channel times a smoothed gain.
public struct Gain: Kernel {
  public static let description = KindDescription(
    name: "gain", summary: "Makes louder or softer.", category: .mixing,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [.gain("gain", "Its gain; a list gives one a channel.", isPerChannel: true)],
    amplification: .by("gain"), cost: .init(4, perChannel: 2))

  /// Position in `description.parameters`.
  public static var gain: Int { @_noLocks get { 0 } }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var worksInPlace: Bool { true }
  public static var isAffine: Bool { true }
  public static var factorParameter: Int? { gain }

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    guard block.inputs[0].count >= block.outputs[0].count else { return false }
    channels.fill(block.outputs[0].count, factors: block.parameters[Self.gain])
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let output = block.outputs[0]
    let gain = block.parameters[Self.gain]
    let channels = output.count < input.count ? output.count : input.count
    // Frames behind a part of a block are multiplied as well, and never read.
    var channel = 0
    while channel < channels {
      if let moving = gain.frames(channel) {
        multiplyWhole(input[channel], moving, to: output[channel])
      } else {
        multiplyWhole(input[channel], gain.value(channel), to: output[channel])
      }
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}
