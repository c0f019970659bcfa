import CVector
import Patch
import Realtime

/// A gate made of two gates.
public struct Logic: Kernel {
  public static let description = KindDescription(
    name: "logic", summary: "A gate made of two gates: open where both are, any is, or one alone.",
    category: .modulation,
    inputs: [
      PortDescription("in", .flexible, "Above 0 it is open."),
      PortDescription(
        "with", .flexible, "The other gate; its channels repeat where `in` has more.", role: .sidechain),
    ],
    outputs: [PortDescription("out", .flexible, "1 while it is open, else 0.", swing: .unipolar)],
    parameters: [
      .choice(
        "operation",
        "And: both are open. Or: any. Xor: one alone. Not: `in` is shut. Nand, nor, xnor: the opposite of the first three.",
        ["and", "or", "xor", "not", "nand", "nor", "xnor"])
    ], face: .level, amplification: .never, cost: .init(10, perChannel: 15))

  /// Position in `description.parameters`.
  public static var operation: Int { @_noLocks get { 0 } }

  /// Gates that are shut make one that is open.
  private var opensAlone = false

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, with, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    let operation = block.crossfades[Self.operation]
    opensAlone = operation.new > 2.5 || operation.blend != nil
    let count = output.count < input.count ? output.count : input.count
    // The first three of whole blocks: nothing lies behind the frames.
    if block.frames == blockCapacity, !opensAlone, !input.isSilent, !with.isSilent, with.count > 0 {
      return combine(operation.new, input, with, output, count)
    }
    var (channel, any) = (0, UInt64(0))
    while channel < count {
      let a = Gates.open(input, channel, block.frames)
      let b = Gates.open(with, channel, block.frames)
      let open = result(operation.new, a, b, block.frames)
      let to = output[channel]
      Gates.write(open, to)
      any |= open
      if let blend = operation.blend {
        let row = Rows(block)[0]
        let old = result(operation.old, a, b, block.frames)
        Gates.write(old, row)
        any |= old
        var frame = 0
        while frame < block.frames {
          let share = blend.vector(frame)
          to.store(row.vector(frame) * (1 - share) + to.vector(frame) * share, frame)
          frame &+= 16
        }
      }
      channel &+= 1
    }
    return any == 0 ? .silent : .sounding
  }

  /// Frames stay in vectors.
  @inline(__always) @_noLocks private func combine(
    _ operation: Float, _ input: InputPort, _ with: InputPort, _ output: OutputPort, _ count: Int
  ) -> Activity {
    var (channel, isAny) = (0, false)
    while channel < count {
      let other = channel < with.count ? channel : channel % with.count
      let (a, b, to) = (input[channel], with[other], output[channel])
      let isOpen =
        operation == 0
        ? sostenuto_combine_gates(a, b, to, 0)
        : operation == 1 ? sostenuto_combine_gates(a, b, to, 1) : sostenuto_combine_gates(a, b, to, 2)
      if isOpen { isAny = true }
      channel &+= 1
    }
    return isAny ? .sounding : .silent
  }

  @inline(__always) @_noLocks private func result(_ operation: Float, _ a: UInt64, _ b: UInt64, _ frames: Int)
    -> UInt64
  {
    let open =
      switch Int(operation) {
      case 0: a & b
      case 1: a | b
      case 2: a ^ b
      case 3: ~a
      case 4: ~(a & b)
      case 5: ~(a | b)
      default: ~(a ^ b)
      }
    return open & Gates.all(frames)
  }

  @_noLocks public mutating func isFinished() -> Bool { !opensAlone }
}
