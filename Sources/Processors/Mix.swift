import Patch
import Realtime

/// The sum of its cables: the engine adds them, the kernel passes the sum on.
public struct Mix: Kernel {
  public static let description = KindDescription(
    name: "mix", summary: "The sum of all that is connected to it.", category: .mixing,
    inputs: [PortDescription("in", .flexible, "Any number of cables.")],
    outputs: [PortDescription("out", .flexible)], amplification: .never,
    cost: .init(4, perChannel: 2))

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  public static var worksInPlace: Bool { true }
  public static var passesOn: Bool { true }

  @_noLocks public mutating func process(_ block: Block) -> Activity { passOn(block) }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

/// Copies the first input to the first output, for kernels that leave sound as it is. Audio thread.
@_noLocks func passOn(_ block: Block) -> Activity {
  let input = block.inputs[0]
  guard !input.isSilent else { return .silent }
  let output = block.outputs[0]
  let channels = output.count < input.count ? output.count : input.count
  var channel = 0
  // Where the engine has put the sum in the output's own memory, there is nothing to do.
  while channel < channels, UnsafePointer(output[channel]) != input[channel] {
    copyMemory(output[channel], input[channel], block.frames &* 4)
    channel &+= 1
  }
  return .sounding
}
