import CVector
import Patch
import Realtime

/// A state-variable filter: low-pass, band-pass, high-pass and notch at once, each at an output.
///
/// The two integrators follow the trapezoidal rule, without delay in the loop. What two outputs have together is exact: the
/// notch is the input less the band-pass, the high-pass the notch less the low-pass. With `saturate` sound is bent before the
/// filter, and its band-pass is damped more where it is loud, at twice the rate (`sostenuto_drive_eight`).
public struct Svf: Kernel {
  public static let description = KindDescription(
    name: "svf", summary: "A state-variable filter with all of its outputs at once.", category: .effect,
    inputs: [PortDescription("in", .flexible)],
    outputs: [
      PortDescription("low", .flexible, "The low-pass."),
      PortDescription("band", .flexible, "The band-pass, as loud as the input at its centre."),
      PortDescription("high", .flexible, "The high-pass."),
      PortDescription("notch", .flexible, "The notch."),
    ],
    parameters: [
      .frequency(
        "freq", "Corner and centre; a list gives one a channel.", default: 1000, isPerChannel: true),
      .number(
        "q", "Resonance; 0.707 is flattest. A list gives one a channel.", default: 0.707, range: 0.1...100,
        isPerChannel: true),
      .gain("drive", "Gain before the filter.", default: 0, upTo: 48),
      ParameterDescription(
        "saturate", "Bends what is loud before the filter, and damps its resonance.", form: .toggle,
        default: .text("off"), smoothing: .structural),
    ], cost: .init(700, perChannel: 60))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var q: Int { @_noLocks get { 1 } }
  public static var drive: Int { @_noLocks get { 2 } }
  public static var saturate: Int { @_noLocks get { 3 } }

  private let saturates: Bool
  private var lanes: Lanes
  private var bands: UnsafeMutablePointer<Float>
  private var entry = Entry.ofFilter

  private struct Layout {
    let lanes: Lanes
    let bands: UnsafeMutablePointer<Float>

    @_noLocks init(_ channels: Int, _ saturates: Bool, _ arena: inout Arena) {
      bands = arena.take(Float.self, 16)
      lanes = Lanes(
        channels, states: saturates ? 26 : 2, work: 2 &* LaneCoefficients.size &+ 16 &* blockCapacity, &arena)
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.inputs[0], configuration.value(saturate) > 0.5, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    saturates = configuration.value(Self.saturate) > 0.5
    var arena = Arena(memory)
    let layout = Layout(configuration.inputs[0], saturates, &arena)
    (lanes, bands) = (layout.lanes, layout.bands)
    for (index, value) in AllPassPair.halfBand().enumerated() { bands[index] = value }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let wide = arena.take(Float.self, 16)
    copyMemory(wide, bands, 64)
    bands = wide
    lanes.widen(widening, &arena)
  }

  @_noLocks public mutating func isFinished() -> Bool { lanes.finish() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let room = LaneRoom(block)
    let entry = entry.follow(block, room.shared(0))
    guard lanes.begin(block) else { return .silent }
    let frames = Int64(truncatingIfNeeded: block.frames)
    let other = lanes.work + 2 &* LaneCoefficients.size
    let high = other + 8 &* blockCapacity
    let (input, drive) = (block.inputs[0], block.parameters[Self.drive])
    var first = 0
    while first < lanes.channels {
      let count = lanes.count(first)
      let (g, k) = aim(block, room, first, count)
      var channel = first
      while channel < first &+ count {
        let (from, row) = (input[channel], room.row(channel))
        var frame = 0
        while frame < block.frames {
          row.store(from.vector(frame) * drive.vector(0, frame), frame)
          frame &+= 16
        }
        channel &+= 1
      }
      if let entry { room.multiply(count, by: entry) }
      room.turn(count)
      if saturates {
        sostenuto_drive_eight(
          room.turned, other, high, g.numbers, k.numbers, g.step, bands, lanes.states(first), frames)
        give(block, room, first, count, other, high)
      } else {
        sostenuto_vary_eight(
          room.turned, other, g.numbers, k.numbers, g.step, lanes.states(first), frames)
        give(block, room, first, count, other)
      }
      lanes.mend(first)
      first &+= 8
    }
    return .sounding
  }

  /// Outputs of a group from its low-pass and its band-pass; the rows have the input.
  @inline(__always) @_noLocks private func give(
    _ block: Block, _ room: LaneRoom, _ first: Int, _ count: Int, _ band: UnsafeMutablePointer<Float>
  ) {
    let outputs = block.outputs
    var channel = first
    while channel < first &+ count {
      copyMemory(outputs[3][channel], room.row(channel), 4 &* blockCapacity)
      channel &+= 1
    }
    room.turnBack(from: band)
    channel = first
    while channel < first &+ count {
      let (row, to, notch) = (room.row(channel), outputs[1][channel], outputs[3][channel])
      var frame = 0
      while frame < block.frames {
        let y = row.vector(frame)
        to.store(y + 0, frame)
        notch.store(notch.vector(frame) - y + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    room.turnBack()
    channel = first
    while channel < first &+ count {
      let (row, to, high) = (room.row(channel), outputs[0][channel], outputs[2][channel])
      let notch = outputs[3][channel]
      var frame = 0
      while frame < block.frames {
        let y = row.vector(frame)
        to.store(y + 0, frame)
        high.store(notch.vector(frame) - y + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// The same where the high-pass is there too.
  @inline(__always) @_noLocks private func give(
    _ block: Block, _ room: LaneRoom, _ first: Int, _ count: Int, _ band: UnsafeMutablePointer<Float>,
    _ high: UnsafeMutablePointer<Float>
  ) {
    let outputs = block.outputs
    room.turnBack()
    give(room, first, count, outputs[0])
    room.turnBack(from: band)
    give(room, first, count, outputs[1])
    room.turnBack(from: high)
    var channel = first
    while channel < first &+ count {
      let (row, low) = (room.row(channel), outputs[0][channel])
      let (to, notch) = (outputs[2][channel], outputs[3][channel])
      var frame = 0
      while frame < block.frames {
        let y = row.vector(frame)
        to.store(y + 0, frame)
        notch.store(low.vector(frame) + y + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  @inline(__always) @_noLocks private func give(
    _ room: LaneRoom, _ first: Int, _ count: Int, _ output: OutputPort
  ) {
    var channel = first
    while channel < first &+ count {
      multiplyWhole(room.row(channel), 1, to: output[channel])
      channel &+= 1
    }
  }

  /// Tangent of half the angle of the frequency, and the damping.
  @inline(__always) @_noLocks private func aim(_ block: Block, _ room: LaneRoom, _ first: Int, _ count: Int)
    -> (LaneCoefficients, LaneCoefficients)
  {
    let (freq, q) = (block.parameters[Self.freq], block.parameters[Self.q])
    var g = LaneCoefficients(lanes.work)
    var k = LaneCoefficients(lanes.work + LaneCoefficients.size)
    let length = (saturates ? 0.5 : 1) / block.rate
    // Below half the rate, in front of the half-band filters too.
    let top: Float = saturates ? 0.245 : 0.49
    let isSteady = freq.isSteady && q.isSteady
    _ = k.rests(isSteady)
    if g.rests(isSteady) {
      var channel = 0
      while channel < 8 {
        let last = first &+ (channel < count ? channel : count &- 1)
        let (sine, cosine) = halfAngle(Frames(repeating: limited(freq.value(last) * length, 0, top)))
        g.set(channel, (sine / cosine)[0])
        k.set(channel, 1 / limited(q.value(last), 0.1, 1000))
        channel &+= 1
      }
      return (g, k)
    }
    var channel = 0
    while channel < 8 {
      let last = first &+ (channel < count ? channel : count &- 1)
      var frame = 0
      while frame < block.frames {
        let (sine, cosine) = halfAngle(limited(freq.vector(last, frame) * length, 0, top))
        room.row(channel).store(sine / cosine, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    g.take(room)
    channel = 0
    while channel < 8 {
      let last = first &+ (channel < count ? channel : count &- 1)
      var frame = 0
      while frame < block.frames {
        room.row(channel).store(1 / limited(q.vector(last, frame), 0.1, 1000), frame)
        frame &+= 16
      }
      channel &+= 1
    }
    k.take(room)
    return (g, k)
  }
}
