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
  public static var multiplies: Bool { true }
  public static var factorParameter: Int? { gain }

  @_noLocks public mutating func factors(_ block: Block, _ factors: UnsafeMutablePointer<Float>) -> Bool {
    let gain = block.parameters[Self.gain]
    let channels = block.outputs[0].count
    guard gain.isSteady, block.inputs[0].count >= channels else { return false }
    var channel = 0
    while channel < channels {
      factors[channel] = gain.value(channel)
      channel &+= 1
    }
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let output = block.outputs[0]
    let gain = block.parameters[Self.gain]
    let channels = output.count < input.count ? output.count : input.count
    guard channels == 1, block.frames == blockCapacity else {
      multiply(input, gain, output, channels, block.frames)
      return .sounding
    }
    if let moving = gain.stream {
      multiplyWhole(input[0], moving, to: output[0])
    } else {
      multiplyWhole(input[0], gain.values.pointee, to: output[0])
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }

  /// Several channels, or a partial block.
  @inline(never) @_noLocks private func multiply(
    _ input: InputPort, _ gain: ParameterStream, _ output: OutputPort, _ channels: Int, _ frames: Int
  ) {
    var channel = 0
    while channel < channels {
      let steady = gain.value(channel)
      let moving = gain.frames(channel)
      let from = input[channel]
      let to = output[channel]
      var frame = frames == blockCapacity ? blockCapacity : 0
      if let moving {
        if frame > 0 { multiplyWhole(from, moving, to: to) }
        while frame < frames {
          to.store(from.vector(frame) * moving.vector(frame) + 0, frame)
          frame &+= 16
        }
      } else {
        if frame > 0 { multiplyWhole(from, steady, to: to) }
        while frame < frames {
          to.store(from.vector(frame) * steady + 0, frame)
          frame &+= 16
        }
      }
      channel &+= 1
    }
  }
}
