import CVector
import Patch
import Realtime

/// Keeps the value that a signal has at a trigger, or had when a gate shut.
public struct Samplehold: Kernel {
  public static let description = KindDescription(
    name: "samplehold", summary: "Keeps the value that a signal has at each trigger.", category: .modulation,
    inputs: [
      PortDescription("in", .flexible),
      PortDescription(
        "trigger", .flexible, "Above 0 it is open; its channels repeat where `in` has more.", role: .sidechain
      ),
    ],
    outputs: [PortDescription("out", .flexible, "The value that is kept; 0 before the first trigger.")],
    parameters: [
      .choice(
        "mode", "Sample: takes a value when the gate opens. Track: passes the signal while it is open.",
        ["sample", "track"])
    ], face: .level, amplification: .never, cost: .init(10, perChannel: 25))

  /// Position in `description.parameters`.
  public static var mode: Int { @_noLocks get { 0 } }

  /// Values that are kept by each mode, and whether the gate was open.
  struct Held: BitwiseCopyable {
    var sampled: Float = 0
    var tracked: Float = 0
    var isOpen = false

    @_noLocks init() {}
    var isZero: Bool { @inline(__always) @_noLocks get { sampled == 0 && tracked == 0 && !isOpen } }
  }

  private var held: PerChannel<Held>
  private var isZero = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    PerChannel<Held>.size(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    held = PerChannel(configuration.inputs[0], Held(), memory)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    held = held.widened(widening, Held(), memory)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, trigger, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    if isZero, trigger.isSilent { return .silent }
    let (mode, rows) = (block.crossfades[Self.mode], Rows(block))
    let count = output.count < input.count ? output.count : input.count
    var (channel, rests) = (0, true)
    while channel < count {
      let open = Gates.open(trigger, channel, block.frames)
      let state = held[channel]
      let before = state.pointee
      let (from, to) = (input[channel], output[channel])
      if mode.blend == nil {
        if mode.new == 0 {
          sample(from, open, block.frames, before, rows[0])
        } else {
          track(from, open, before, rows[0])
        }
        rows.copy(0, to: to)
      } else {
        sample(from, open, block.frames, before, rows[0])
        track(from, open, before, rows[1])
        let (old, new) = (rows[mode.old == 0 ? 0 : 1], rows[mode.new == 0 ? 0 : 1])
        var frame = 0
        while frame < block.frames {
          let share = mode.blend!.vector(frame)
          to.store(old.vector(frame) * (1 - share) + new.vector(frame) * share, frame)
          frame &+= 16
        }
      }
      let rises = Gates.rises(open, before.isOpen)
      if rises != 0 { state.pointee.sampled = from[63 &- rises.leadingZeroBitCount] }
      if open != 0 { state.pointee.tracked = from[63 &- open.leadingZeroBitCount] }
      state.pointee.isOpen = Gates.last(open, block.frames)
      if !state.pointee.isZero { rests = false }
      channel &+= 1
    }
    isZero = rests
    return .sounding
  }

  /// From each trigger on its value; in steps to the next one.
  @inline(__always) @_noLocks private func sample(
    _ from: UnsafePointer<Float>, _ open: UInt64, _ frames: Int, _ before: Held,
    _ row: UnsafeMutablePointer<Float>
  ) {
    var rises = Gates.rises(open, before.isOpen)
    row.fill(before.sampled)
    while rises != 0 {
      let first = rises.trailingZeroBitCount
      rises &= rises &- 1
      let value = Frames(repeating: from[first])
      var frame = first
      let end = rises == 0 ? frames : rises.trailingZeroBitCount
      while frame < end {
        row.store(value, frame)
        frame &+= 16
      }
    }
  }

  /// The signal in open frames, the last open one's value in others.
  @inline(__always) @_noLocks private func track(
    _ from: UnsafePointer<Float>, _ open: UInt64, _ before: Held, _ row: UnsafeMutablePointer<Float>
  ) {
    var (frame, value) = (0, before.tracked)
    while frame < 64 {
      let bits = open &>> UInt64(truncatingIfNeeded: frame)
      if bits & 1 != 0 {
        let length = (~bits).trailingZeroBitCount
        var next = frame
        let end = frame &+ length < 64 ? frame &+ length : 64
        while next < end {
          value = from[next]
          row[next] = value
          next &+= 1
        }
        frame = end
      } else {
        let end = bits == 0 ? 64 : frame &+ bits.trailingZeroBitCount
        while frame < end {
          row.store(Frames(repeating: value), frame)
          frame &+= 16
        }
        frame = end
      }
    }
  }

  @_noLocks public mutating func isFinished() -> Bool { isZero }
}
