import Patch
import Realtime

/// Every channel times a smoothed gain.
public struct Gain: Kernel {
  public static let description = KindDescription(
    name: "gain", summary: "Makes louder or softer.", category: .mixing,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [.gain("gain", "Its gain; a list gives one a channel.", isPerChannel: true)])

  /// Position in `description.parameters`.
  public static var gain: Int { @_noLocks get { 0 } }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let output = block.outputs[0]
    let gain = block.parameters[Self.gain]
    let channels = output.count < input.count ? output.count : input.count
    var channel = 0
    while channel < channels {
      let from = input[channel]
      let to = output[channel]
      var frame = 0
      // Adding zero turns -0 into 0, so that silence has one bit pattern.
      if let moving = gain.frames(channel) {
        while frame < block.frames {
          to.store(from.vector(frame) * moving.vector(frame) + 0, frame)
          frame &+= 16
        }
      } else {
        let steady = gain.value(channel)
        while frame < block.frames {
          to.store(from.vector(frame) * steady + 0, frame)
          frame &+= 16
        }
      }
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}
