import CVector
import Patch
import Realtime

/// A gate that is open while a signal is above a threshold.
///
/// The hysteresis is a latch of 64 frames at once: a frame above sets it, one below resets it, between them it stays, which is
/// how a carry runs through an addition.
public struct Comparator: Kernel {
  public static let description = KindDescription(
    name: "comparator", summary: "A gate that is open while a signal is above a threshold.",
    category: .modulation, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible, "1 while it is open, else 0.", swing: .unipolar)],
    parameters: [
      .number(
        "threshold", "It opens above it, and a cable here compares two signals.", default: 0,
        range: -20_000...20_000, isPerChannel: true),
      .number(
        "hysteresis", "How far below the threshold the signal goes before it shuts.", default: 0,
        range: 0...20_000, isPerChannel: true),
    ], face: .level, amplification: .byModulation(of: []), cost: .init(10, perChannel: 10))

  /// Positions in `description.parameters`.
  public static var threshold: Int { @_noLocks get { 0 } }
  public static var hysteresis: Int { @_noLocks get { 1 } }

  /// The channels whose gates are open at the last frame. In the kernel itself: memory of its own would be another cache line
  /// of each of a thousand comparators.
  private var open: UInt64 = 0
  /// Every gate is shut, and stays so without a signal.
  private var isAsleep = true

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (before, old, new) = (open, widening.oldInputs[0], widening.inputs[0])
    open = 0
    var channel = 0
    while channel < new {
      let from = widening.source(of: channel, from: old, to: new)
      if from >= 0, from < old, before &>> from & 1 > 0 { open |= 1 &<< channel }
      channel &+= 1
    }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (threshold, hysteresis) = (block.parameters[Self.threshold], block.parameters[Self.hysteresis])
    guard threshold.isSteady, hysteresis.isSteady, hysteresis.elements == 1, hysteresis.values[0] <= 0,
      block.frames == blockCapacity
    else { return latch(block) }
    let (input, output) = (block.inputs[0], block.outputs[0])
    guard input.count == 1, output.count == 1 else { return compare(block) }
    // A shut gate leaves its output's memory out of the nearest cache.
    let gate = sostenuto_write_above(input[0], output[0], threshold.values[0], true)
    guard gate != 0 else {
      (isAsleep, open) = (true, 0)
      return .silent
    }
    (isAsleep, open) = (false, UInt64(gate &>> 1))
    return .sounding
  }

  // Functions of their own, called last: the registers that they save would slow down one channel.

  /// Whole blocks with nothing to latch: frames stay in vectors.
  @inline(never) @_noLocks private mutating func compare(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let threshold = block.parameters[Self.threshold]
    let count = output.count < input.count ? output.count : input.count
    (isAsleep, open) = (true, 0)
    var channel = 0
    while channel < count {
      let gate = sostenuto_write_above(input[channel], output[channel], threshold.value(channel), false)
      if gate != 0 { isAsleep = false }
      open |= UInt64(gate &>> 1) &<< UInt64(truncatingIfNeeded: channel)
      channel &+= 1
    }
    return isAsleep ? .silent : .sounding
  }

  @inline(never) @_noLocks private mutating func latch(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let (threshold, hysteresis) = (block.parameters[Self.threshold], block.parameters[Self.hysteresis])
    let isSteady = threshold.isSteady && hysteresis.isSteady
    let rows = Rows(block)
    let all = Gates.all(block.frames)
    let count = output.count < input.count ? output.count : input.count
    let before = open
    open = 0
    var (channel, any) = (0, UInt64(0))
    while channel < count {
      let from = input[channel]
      let above: UInt64
      let stays: UInt64
      if isSteady {
        let level = threshold.value(channel)
        let low = level - max(hysteresis.value(channel), 0)
        above = sostenuto_bits_above(from, level) & all
        stays = low < level ? sostenuto_bits_above(from, low) & all | above : above
      } else {
        var frame = 0
        while frame < 64 {
          // A parameter's rows have 64 frames as well.
          let level = threshold.vector(channel, frame)
          rows[0].store(level, frame)
          rows[1].store(level - atLeast(0, hysteresis.vector(channel, frame)), frame)
          frame &+= 16
        }
        above = sostenuto_greater_bits(from, rows[0]) & all
        stays = sostenuto_greater_bits(from, rows[1]) & all | above
      }
      let frames = latched(above, stays, before &>> channel & 1 > 0) & all
      if Gates.last(frames, block.frames) { open |= 1 &<< channel }
      Gates.write(frames, output[channel])
      any |= frames
      channel &+= 1
    }
    isAsleep = any == 0 && isSteady
    return any == 0 ? .silent : .sounding
  }

  /// Bits that `set` sets and `stays` lets stay.
  @inline(__always) @_noLocks private func latched(_ set: UInt64, _ stays: UInt64, _ wasSet: Bool) -> UInt64 {
    let (half, over) = set.addingReportingOverflow(stays)
    let (sum, more) = half.addingReportingOverflow(wasSet ? 1 : 0)
    // The carries into each bit are the states before it.
    let carries = sum ^ set ^ stays
    return carries &>> 1 | (over || more ? 1 &<< 63 : 0)
  }

  @_noLocks public mutating func isFinished() -> Bool { isAsleep }
}
