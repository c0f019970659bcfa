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
      if let moving = gain.frames(channel) {
        multiply(input[channel], moving, output[channel], block.frames)
      } else {
        multiply(input[channel], gain.value(channel), output[channel], block.frames)
      }
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { true }

  // Adding zero turns -0 into 0, so that silence has one bit pattern.

  @inline(__always) @_noLocks private func multiply(
    _ from: UnsafePointer<Float>, _ gain: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if frames == blockStride {
      // Loaded whole before anything is stored: the compiler cannot know that they do not overlap.
      let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      to.store(a * gain + 0, 0)
      to.store(b * gain + 0, 16)
      to.store(c * gain + 0, 32)
      to.store(d * gain + 0, 48)
    } else {
      var frame = 0
      while frame < frames {
        to.store(from.vector(frame) * gain + 0, frame)
        frame &+= 16
      }
    }
  }

  @_noLocks private func multiply(
    _ from: UnsafePointer<Float>, _ gain: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      to.store(from.vector(frame) * gain.vector(frame) + 0, frame)
      frame &+= 16
    }
  }
}
