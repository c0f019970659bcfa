import CVector
import Patch
import Realtime

/// Silences what is softer than a threshold.
///
/// A peak above the threshold opens it for `hold`, and once it is open every peak above the threshold less the hysteresis
/// does. The gain goes to 1 and back to `range` as a one-pole, in the times of attack and release.
public struct Gate: Kernel {
  public static let description = KindDescription(
    name: "gate", summary: "Silences what is softer than a threshold.", category: .effect,
    inputs: [PortDescription("in", .flexible), Key.port], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .level("threshold", "Peaks above it open the gate.", default: -40, range: -100...0),
      .number(
        "attack", "Time of 63 % of the way to open.", default: 0.001, range: 0.0001...1, unit: .seconds),
      .number(
        "hold", "How long it stays open after the last peak.", default: 0.05, range: 0...2, unit: .seconds),
      .number(
        "release", "Time of 63 % of the way to shut.", default: 0.1, range: 0.001...5, unit: .seconds),
      .gain("range", "Gain while it is shut.", default: -80, upTo: 0),
      .level(
        "hysteresis", "By how much softer peaks may be that keep it open.", default: 4, range: 0...24),
      Dynamics.link,
    ], amplification: .never, cost: .init(150, perChannel: 12),
    readings: [ReadingDescription("reduction", "By how much it makes softer now.", unit: .decibels)])

  /// Positions in `description.parameters`.
  public static var threshold: Int { @_noLocks get { 0 } }
  public static var attack: Int { @_noLocks get { 1 } }
  public static var hold: Int { @_noLocks get { 2 } }
  public static var release: Int { @_noLocks get { 3 } }
  public static var range: Int { @_noLocks get { 4 } }
  public static var hysteresis: Int { @_noLocks get { 5 } }
  public static var link: Int { @_noLocks get { 6 } }

  private var key = Key()
  /// The gains.
  private var dynamics: Dynamics
  /// The gain while it is shut, as of the last block.
  private var shut: Float
  private var isAsleep = true

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Dynamics.bytes(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    shut = min(configuration.value(Self.range), 1)
    dynamics = Dynamics(
      configuration.inputs[0], isLinked: configuration.value(Self.link) > 0.5, &arena)
    dynamics.reset(to: shut)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    dynamics.widen(widening, rest: shut, memory: memory)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    key.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard key.isSettled else { return false }
    var channel = 0
    while channel < dynamics.gains {
      // Less than a hundredth of a decibel above.
      guard dynamics.count(channel).pointee == 0, dynamics.level(channel).pointee <= shut * 1.001 + 1e-6
      else { return false }
      channel &+= 1
    }
    dynamics.reset(to: shut)
    isAsleep = true
    return true
  }

  /// The reduction of the most reduced channel in decibels, 120 at most.
  @_noLocks public func reading(_ position: Int) -> Float {
    var least: Float = 1
    var channel = 0
    while channel < dynamics.gains {
      let level = dynamics.level(channel).pointee
      if level < least { least = level }
      channel &+= 1
    }
    return least < 1e-6 ? 120 : -6.020_6 * logarithm2(least)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let room = DynamicsRoom(block)
    key.follow(block, room.shares)
    let input = block.inputs[0]
    let range = block.parameters[Self.range]
    // A sleeper's gain goes along with the range, not only from the block on in which it wakes.
    let rests = range.isSteady && limited(range.value(0), 0, 1) == shut
    if rests, isAsleep, key.isSilent(block), input.isSilent { return .silent }
    isAsleep = false
    dynamics.write(block.parameters[Self.attack], block.parameters[Self.release], block, to: room)
    let limits = GateLimits(block, room)
    var group = 0
    while group < dynamics.groups {
      let first = group &* 8
      let count = dynamics.gains &- first < 8 ? dynamics.gains &- first : 8
      if dynamics.gains == 1 {
        var frame = 0
        while frame < block.frames {
          room.rows.store(key.loudest(block, frame, room.shares), frame)
          frame &+= 16
        }
      } else {
        var channel = first
        while channel < first &+ count {
          var frame = 0
          while frame < block.frames {
            room.row(channel).store(key.heard(block, channel, frame, room.shares), frame)
            frame &+= 16
          }
          channel &+= 1
        }
        if !dynamics.goesByRows { room.turn(count) }
      }
      limits.follow(dynamics, group, room, block.frames)
      if !dynamics.goesByRows { room.turnBack() }
      if !input.isSilent { room.multiply(block, first, count, isLinked: dynamics.isLinked) }
      group &+= 1
    }
    shut = limits.shut[block.frames &- 1]
    return input.isSilent ? .silent : .sounding
  }
}

/// The levels between which a gate opens and shuts, and for how long, in each frame of a block.
private struct GateLimits {
  private let over, under, hold: UnsafeMutablePointer<Float>
  /// The gain while it is shut.
  let shut: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ block: Block, _ room: DynamicsRoom) {
    over = room.more
    under = over + blockCapacity
    hold = under + blockCapacity
    shut = hold + blockCapacity
    let parameters = block.parameters
    let (threshold, hysteresis) = (parameters[Gate.threshold], parameters[Gate.hysteresis])
    let (time, range) = (parameters[Gate.hold], parameters[Gate.range])
    var frame = 0
    while frame < block.frames {
      let level = atLeast(0, threshold.vector(0, frame))
      over.store(level, frame)
      under.store(level / atLeast(1, hysteresis.vector(0, frame)), frame)
      hold.store(limited(time.vector(0, frame) * block.rate, 1, 1e7), frame)
      shut.store(limited(range.vector(0, frame), 0, 1), frame)
      frame &+= 16
    }
  }

  /// Turns what the channels of a group go by into their gains.
  @inline(__always) @_noLocks func follow(
    _ dynamics: Dynamics, _ group: Int, _ room: DynamicsRoom, _ frames: Int
  ) {
    let frames = Int64(truncatingIfNeeded: frames)
    if dynamics.goesByRows {
      var gain = 0
      while gain < dynamics.gains {
        sostenuto_gate(
          room.row(gain), dynamics.level(gain), dynamics.count(gain), over, under, hold, shut, room.up,
          room.down, room.work, frames)
        gain &+= 1
      }
    } else {
      sostenuto_gate_eight(
        room.turned, dynamics.level(8 &* group), dynamics.count(8 &* group), over, under, hold, shut, room.up,
        room.down, frames)
    }
  }
}
