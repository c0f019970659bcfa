import CVector
import Patch
import Realtime

/// The level of a sound as a signal: its peaks, or the root of its mean square.
public struct Follower: Kernel {
  public static let description = KindDescription(
    name: "follower", summary: "The level of a sound as a signal, an envelope that follows it.",
    category: .modulation, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible, "Not below 0; 1 is full scale. One for each channel.")],
    parameters: [
      .number(
        "attack", "Time of 63 % of a way up.", default: 0.005, range: 0.0001...10, unit: .seconds),
      .number(
        "release", "Time of 63 % of a way down.", default: 0.1, range: 0.0001...10, unit: .seconds),
      .choice(
        "detector", "Peak: follows magnitudes. Rms: follows squares; the root of their mean.",
        ["peak", "rms"]),
      .gain("gain", "Makes the level larger or smaller.", isPerChannel: true),
    ], face: .level, cost: .init(60, perChannel: 40))

  /// Positions in `description.parameters`.
  public static var attack: Int { @_noLocks get { 0 } }
  public static var release: Int { @_noLocks get { 1 } }
  public static var detector: Int { @_noLocks get { 2 } }
  public static var gain: Int { @_noLocks get { 3 } }

  private var peaks: Dynamics
  private var squares: Dynamics
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    2 * Dynamics.bytes(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    peaks = Dynamics(configuration.inputs[0], isLinked: false, &arena)
    squares = Dynamics(configuration.inputs[0], isLinked: false, &arena)
    peaks.reset(to: 0)
    squares.reset(to: 0)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    peaks.widen(widening, rest: 0, memory: memory)
    squares.widen(widening, rest: 0, memory: memory + widening.bytes / 2)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    if isAsleep, block.inputs[0].isSilent { return .silent }
    isAsleep = false
    let (detector, room) = (block.crossfades[Self.detector], DynamicsRoom(block))
    peaks.learn(block.parameters[Self.attack], block.parameters[Self.release], block, room)
    var group = 0
    while group < peaks.groups {
      if detector.blend == nil {
        follow(block, group, room, isPeak: detector.new == 0)
        give(block, group, room, isPeak: detector.new == 0, nil)
      } else {
        blend(block, group, room, detector)
      }
      group &+= 1
    }
    return .sounding
  }

  /// Both detectors, in the midst of a change.
  @inline(never) @_noLocks private mutating func blend(
    _ block: Block, _ group: Int, _ room: DynamicsRoom, _ detector: CrossfadeStream
  ) {
    follow(block, group, room, isPeak: true)
    give(block, group, room, isPeak: true, detector)
    follow(block, group, room, isPeak: false)
    give(block, group, room, isPeak: false, detector)
  }

  /// Brings the levels of eight channels into the room's rows. The other detector's state goes along, for a change.
  @inline(__always) @_noLocks private mutating func follow(
    _ block: Block, _ group: Int, _ room: DynamicsRoom, isPeak: Bool
  ) {
    let (input, first) = (block.inputs[0], group &* 8)
    let count = count(group)
    var channel = 0
    while channel < count {
      let (from, row) = (input[first &+ channel], room.row(channel))
      var frame = 0
      while frame < block.frames {
        let size = atMost(1e9, magnitude(from.vector(frame)))
        row.store(isPeak ? size : size * size, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    if isPeak {
      peaks.followRows(group, room, peaks.shares, block)
    } else {
      squares.followRows(group, room, peaks.shares, block)
    }
  }

  @inline(__always) @_noLocks private func count(_ group: Int) -> Int {
    peaks.channels &- group &* 8 < 8 ? peaks.channels &- group &* 8 : 8
  }

  /// Writes what is in the rows; in a change, peaks come first.
  @inline(__always) @_noLocks private mutating func give(
    _ block: Block, _ group: Int, _ room: DynamicsRoom, isPeak: Bool, _ detector: CrossfadeStream?
  ) {
    let (gain, first) = (block.parameters[Self.gain], group &* 8)
    let count = count(group)
    var channel = 0
    while channel < count {
      let (row, number) = (room.row(channel), first &+ channel)
      let to = block.outputs[0][number]
      var frame = 0
      while frame < block.frames {
        var level = row.vector(frame)
        if !isPeak { level = squareRoots(atLeast(0, level)) }
        level *= gain.vector(number, frame)
        if let detector {
          let blend = detector.blend!.vector(frame)
          level *= (detector.new == 0) == isPeak ? blend : 1 - blend
          if !isPeak { level += to.vector(frame) }
        }
        to.store(level + 0, frame)
        frame &+= 16
      }
      if detector == nil {
        let (peak, square) = (peaks.level(number), squares.level(number))
        if isPeak {
          square.pointee = peak.pointee * peak.pointee
        } else {
          peak.pointee = squareRoot(square.pointee)
        }
      }
      channel &+= 1
    }
  }

  @_noLocks public mutating func isFinished() -> Bool {
    var channel = 0
    while channel < peaks.channels {
      guard peaks.level(channel).pointee < 1e-10, squares.level(channel).pointee < 1e-20 else { return false }
      channel &+= 1
    }
    peaks.reset(to: 0)
    squares.reset(to: 0)
    isAsleep = true
    return true
  }
}
