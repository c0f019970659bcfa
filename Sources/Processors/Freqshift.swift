import CVector
import Patch
import Realtime

/// Moves all frequencies by the same number of hertz.
///
/// Two rows of all-passes give the sound twice, a quarter of a cycle apart (`sostenuto_quadrature_eight`), and a sine and a
/// cosine turn both on: the upper side band alone is left, or the lower one (H. Bode and R. Moog, "A high-accuracy frequency
/// shifter for professional audio applications", 1972).
public struct Freqshift: Kernel {
  public static let description = KindDescription(
    name: "freqshift", summary: "Moves all frequencies by the same number of hertz.", category: .effect,
    inputs: [PortDescription("in", .flexible)],
    outputs: [
      PortDescription("out", .flexible),
      PortDescription("down", .flexible, "Moved the other way.", isOptional: true),
    ],
    parameters: [
      .number(
        "shift", "By how much it goes up, or below 0 down.", default: 100, range: -20_000...20_000,
        unit: .hertz),
      .percent("mix", "How much of it is moved.", default: 100),
    ], cost: .init(600, perChannel: 60))

  /// Positions in `description.parameters`.
  public static var shift: Int { @_noLocks get { 0 } }
  public static var mix: Int { @_noLocks get { 1 } }

  private var lanes: Lanes
  /// Coefficients of the all-passes, for eight channels of both rows.
  private var numbers: UnsafeMutablePointer<Float>
  private var moving: MovingPhases
  /// Phase of the sine; 2^32 is a whole cycle.
  private var phase: Int32 = 0
  /// The next frame is an odd one since the kernel began.
  private var odd: Int64 = 0

  /// Lowest frequency at which the rows are a quarter of a cycle apart, Hz.
  private static var lowest: Double { 20 }

  private struct Layout {
    let lanes: Lanes
    let numbers: UnsafeMutablePointer<Float>
    let moving: MovingPhases

    @_noLocks init(_ channels: Int, _ arena: inout Arena) {
      numbers = arena.take(Float.self, 128)
      moving = MovingPhases(&arena)
      lanes = Lanes(channels, states: 34, work: 8 &* blockCapacity, &arena)
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.inputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let layout = Layout(configuration.inputs[0], &arena)
    (lanes, numbers, moving) = (layout.lanes, layout.numbers, layout.moving)
    tune(configuration.rate)
  }

  private func tune(_ rate: Double) {
    for (index, value) in AllPassPair.coefficients(16, edge: 2 * Self.lowest / rate).enumerated() {
      for lane in 0..<8 { numbers[index * 8 + lane] = value }
    }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    tune(new)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let wide = arena.take(Float.self, 128)
    copyMemory(wide, numbers, 512)
    numbers = wide
    moving = MovingPhases(&arena)
    lanes.widen(widening, &arena)
  }

  @_noLocks public mutating func isFinished() -> Bool { lanes.finish() }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let isHeard = lanes.begin(block)
    let room = LaneRoom(block)
    let (sines, cosines) = (room.shared(0), room.shared(1))
    advance(block, sines, cosines, makes: isHeard)
    let parity = odd
    odd = (odd &+ Int64(truncatingIfNeeded: block.frames)) & 1
    guard isHeard else { return .silent }
    let (input, mix) = (block.inputs[0], block.parameters[Self.mix])
    var first = 0
    while first < lanes.channels {
      let count = lanes.count(first)
      // Few channels are done sooner one after the other: nothing has to be turned for them.
      if count <= Self.few {
        turnOn(block, first, count, room, parity)
      } else {
        turnAll(block, first, count, room, parity)
      }
      var channel = first
      while channel < first &+ count {
        let (from, row) = (input[channel], room.row(channel))
        let (up, down) = (block.outputs[0][channel], block.outputs[1][channel])
        var frame = 0
        while frame < block.frames {
          let m = limited(mix.vector(0, frame) * 0.01, 0, 1)
          let dry = from.vector(frame) * (1 - m)
          let (a, b) = (down.vector(frame) * cosines.vector(frame), row.vector(frame) * sines.vector(frame))
          up.store(dry + (a - b) * m + 0, frame)
          down.store(dry + (a + b) * m + 0, frame)
          frame &+= 16
        }
        channel &+= 1
      }
      first &+= 8
    }
    return .sounding
  }

  /// Most channels of a group that go one after the other.
  private static var few: Int { @inline(__always) @_noLocks get { 4 } }

  /// Gives the sound of a group twice, to the second output and to the room's rows; channel by channel.
  @inline(__always) @_noLocks private mutating func turnOn(
    _ block: Block, _ first: Int, _ count: Int, _ room: LaneRoom, _ parity: Int64
  ) {
    var channel = first
    while channel < first &+ count {
      sostenuto_quadrature_one(
        block.inputs[0][channel], block.outputs[1][channel], room.row(channel), numbers,
        lanes.states(first) + (channel &- first), parity, Int64(truncatingIfNeeded: block.frames))
      channel &+= 1
    }
    lanes.mend(first)
  }

  /// The same of all channels at once.
  @inline(never) @_noLocks private mutating func turnAll(
    _ block: Block, _ first: Int, _ count: Int, _ room: LaneRoom, _ parity: Int64
  ) {
    let (input, other) = (block.inputs[0], lanes.work)
    var channel = first
    while channel < first &+ count {
      copyMemory(room.row(channel), input[channel], 4 &* blockCapacity)
      channel &+= 1
    }
    room.turn(count)
    sostenuto_quadrature_eight(
      room.turned, other, numbers, lanes.states(first), parity, Int64(truncatingIfNeeded: block.frames))
    lanes.mend(first)
    room.turnBack()
    channel = first
    while channel < first &+ count {
      copyMemory(block.outputs[1][channel], room.row(channel), 4 &* blockCapacity)
      channel &+= 1
    }
    room.turnBack(from: other)
  }

  /// Advances the phase by the block, and writes sine and cosine if that is asked for.
  @inline(__always) @_noLocks private mutating func advance(
    _ block: Block, _ sines: UnsafeMutablePointer<Float>, _ cosines: UnsafeMutablePointer<Float>, makes: Bool
  ) {
    let shift = block.parameters[Self.shift]
    let scale = 4_294_967_296 / Double(block.rate)
    // Just below half a cycle.
    let limit = block.rate * 0.499_999
    let quarter = phase &+ 0x4000_0000
    if let frequencies = shift.frames(0) {
      let (end, _) = moving.fill(frequencies, scale, limit: limit, block.frames)
      if makes {
        Wave(moving, from: phase, largest: 1).make(0, WaveLevel(), sines, block.frames)
        Wave(moving, from: quarter, largest: 1).make(0, WaveLevel(), cosines, block.frames)
      }
      phase &+= end
    } else {
      let step = MovingPhases.step(shift.value(0), scale, limit: limit)
      if makes {
        Wave(from: phase, step: step, size: 1).make(0, WaveLevel(), sines, block.frames)
        Wave(from: quarter, step: step, size: 1).make(0, WaveLevel(), cosines, block.frames)
      }
      phase &+= step &* Int32(truncatingIfNeeded: block.frames)
    }
  }
}
