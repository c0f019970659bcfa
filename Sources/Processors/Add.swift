import Patch
import Realtime

/// Every channel plus a value.
public struct Add: Kernel {
  public static let description = KindDescription(
    name: "add", summary: "Adds a value, or a signal at `value`, to all channels.", category: .modulation,
    inputs: [PortDescription("in", .flexible, "Any number of cables.")],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number(
        "value", "What is added; a list gives one a channel.", default: 0, range: -20_000...20_000,
        isPerChannel: true)
    ], face: .level, cost: .init(4, perChannel: 2))

  /// Position in `description.parameters`.
  public static var value: Int { @_noLocks get { 0 } }

  private var isZero = true

  public static var worksInPlace: Bool { true }
  public static var isAffine: Bool { true }
  public static var addendParameter: Int? { value }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    guard block.inputs[0].count >= block.outputs[0].count else { return false }
    isZero = block.parameters[Self.value].isZero(block)
    channels.fill(block.outputs[0].count, factor: 1, addends: block.parameters[Self.value])
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let value = block.parameters[Self.value]
    isZero = value.isZero(block)
    if input.isSilent, isZero { return .silent }
    let channels = output.count < input.count ? output.count : input.count
    var channel = 0
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      let a = from.vector(0) + value.vector(channel, 0)
      let b = from.vector(16) + value.vector(channel, 16)
      let c = from.vector(32) + value.vector(channel, 32)
      let d = from.vector(48) + value.vector(channel, 48)
      to.store(a + 0, 0)
      to.store(b + 0, 16)
      to.store(c + 0, 32)
      to.store(d + 0, 48)
      channel &+= 1
    }
    return .sounding
  }

  /// Without sound it is silent only while it adds nothing.
  @_noLocks public mutating func isFinished() -> Bool { isZero }
}
