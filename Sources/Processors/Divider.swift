import CVector
import Patch
import Realtime

/// Passes one gate of several.
public struct Divider: Kernel {
  public static let description = KindDescription(
    name: "divider", summary: "Passes one gate of several: divides a clock.", category: .modulation,
    inputs: [
      PortDescription("in", .flexible, "Above 0 it is open."),
      PortDescription(
        "reset", .flexible, "Opening it begins to count anew; its channels repeat.", role: .sidechain),
    ],
    outputs: [
      PortDescription("out", .flexible, "1 while a gate that passes is open, else 0.", swing: .unipolar)
    ],
    parameters: [
      .number("by", "One of so many gates passes.", default: 2, range: 1...256),
      .number("offset", "How many gates come before the first one that passes.", default: 0, range: 0...255),
    ], face: .level, amplification: .possible, cost: .init(10, perChannel: 20))

  /// Positions in `description.parameters`.
  public static var by: Int { @_noLocks get { 0 } }
  public static var offset: Int { @_noLocks get { 1 } }

  /// The gates of one channel.
  struct Count: BitwiseCopyable {
    /// Gates since the last reset.
    var number: Int64 = 0
    var isOpen = false
    var wasReset = false
    /// The present gate passes.
    var passes = false

    @_noLocks init() {}
  }

  private var counts: PerChannel<Count>

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    PerChannel<Count>.size(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    counts = PerChannel(configuration.inputs[0], Count(), memory)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    counts = counts.widened(widening, Count(), memory)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, reset, output) = (block.inputs[0], block.inputs[1], block.outputs[0])
    let count = output.count < input.count ? output.count : input.count
    var (channel, any) = (0, UInt64(0))
    while channel < count {
      let state = counts[channel]
      let open = Gates.open(input, channel, block.frames)
      let resets = Gates.open(reset, channel, block.frames)
      var passed: UInt64 = 0
      if open | resets != 0 || state.pointee.isOpen || state.pointee.wasReset {
        passed = pass(open, resets, state, block)
      }
      Gates.write(passed, output[channel])
      any |= passed
      channel &+= 1
    }
    return any == 0 ? .silent : .sounding
  }

  /// The frames of gates that pass.
  @inline(__always) @_noLocks private func pass(
    _ open: UInt64, _ reset: UInt64, _ state: UnsafeMutablePointer<Count>, _ block: Block
  ) -> UInt64 {
    let resets = Gates.rises(reset, state.pointee.wasReset)
    let rises = Gates.rises(open, state.pointee.isOpen)
    var (edges, passed) = (resets | rises, UInt64(0))
    if state.pointee.passes { passed = open & ~(rises == 0 ? 0 : UInt64.max &<< shift(rises)) }
    while edges != 0 {
      let frame = edges.trailingZeroBitCount
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: frame)
      edges &= edges &- 1
      if resets & bit != 0 { state.pointee.number = 0 }
      guard rises & bit != 0 else { continue }
      let by = Int64(limited(block.parameters[Self.by].value(0, at: frame), 1, 256) + 0.5)
      let offset = Int64(limited(block.parameters[Self.offset].value(0, at: frame), 0, 255) + 0.5)
      state.pointee.passes = state.pointee.number >= offset && (state.pointee.number &- offset) % by == 0
      state.pointee.number &+= 1
      if state.pointee.passes {
        let later = rises & (edges | 0)
        passed |=
          open & (UInt64.max &<< UInt64(truncatingIfNeeded: frame))
          & ~(later == 0 ? 0 : UInt64.max &<< shift(later))
      }
    }
    state.pointee.isOpen = Gates.last(open, block.frames)
    state.pointee.wasReset = Gates.last(reset, block.frames)
    return passed
  }

  /// Place of the first bit.
  @inline(__always) @_noLocks private func shift(_ bits: UInt64) -> UInt64 {
    UInt64(truncatingIfNeeded: bits.trailingZeroBitCount)
  }

  /// A count waits for the next gate.
  @_noLocks public mutating func isFinished() -> Bool {
    var channel = 0
    while channel < counts.count {
      if counts[channel].pointee.isOpen || counts[channel].pointee.wasReset { return false }
      channel &+= 1
    }
    return true
  }
}
