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

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let output = block.outputs[0]
    let gain = block.parameters[Self.gain]
    let channels = output.count < input.count ? output.count : input.count
    guard gain.isSteady, block.frames == blockCapacity else {
      multiply(input, gain, output, channels, block.frames)
      return .sounding
    }
    var channel = 0
    while channel < channels {
      let steady = gain.value(channel)
      let from = input[channel]
      let to = output[channel]
      // All loads come before the stores: the compiler cannot know that the buffers do not overlap.
      let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      // Adding zero turns -0 into 0, so that silence has one bit pattern.
      to.store(a * steady + 0, 0)
      to.store(b * steady + 0, 16)
      to.store(c * steady + 0, 32)
      to.store(d * steady + 0, 48)
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }

  /// A moving gain, or a partial block.
  @inline(never) @_noLocks private func multiply(
    _ input: InputPort, _ gain: ParameterStream, _ output: OutputPort, _ channels: Int, _ frames: Int
  ) {
    var channel = 0
    while channel < channels {
      let steady = gain.value(channel)
      let moving = gain.frames(channel)
      let from = input[channel]
      let to = output[channel]
      var frame = 0
      if let moving {
        while frame < frames {
          to.store(from.vector(frame) * moving.vector(frame) + 0, frame)
          frame &+= 16
        }
      } else {
        while frame < frames {
          to.store(from.vector(frame) * steady + 0, frame)
          frame &+= 16
        }
      }
      channel &+= 1
    }
  }
}
