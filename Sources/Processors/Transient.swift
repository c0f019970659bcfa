import CVector
import Patch
import Realtime

/// Raises or lowers the beginnings of sounds and what follows them, at any level.
///
/// Envelopes that differ only in how fast they rise lie apart as long as sound begins; those that differ only in how fast they
/// fall, as long as it ends. Their ratios, and not the level, say by how much the gain changes: three octaves (18 dB) apart
/// they have all that is set, and none within a quarter of an octave, as far as the envelope of a low tone goes up and down.
/// The one that rises slowly follows the fast one: by the sound itself it would lie below the peaks of what lasts.
public struct Transient: Kernel {
  public static let description = KindDescription(
    name: "transient", summary: "Raises or lowers the beginnings of sounds and what follows them.",
    category: .effect, inputs: [PortDescription("in", .flexible), Key.port],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .level("attack", "Gain of a sound's beginning.", default: 6, range: -24...24),
      .level("sustain", "Gain of what follows it.", default: 0, range: -24...24),
      .number(
        "length", "How long a beginning takes.", default: 0.02, range: 0.001...0.2, unit: .seconds),
      .number("tail", "How long what follows takes.", default: 0.4, range: 0.1...5, unit: .seconds),
      .percent("mix", "How much of it is shaped.", default: 100),
      Dynamics.link,
    ], cost: .init(350, perChannel: 40),
    readings: [ReadingDescription("gain", "Its gain now.", unit: .decibels)])

  /// Positions in `description.parameters`.
  public static var attack: Int { @_noLocks get { 0 } }
  public static var sustain: Int { @_noLocks get { 1 } }
  public static var length: Int { @_noLocks get { 2 } }
  public static var tail: Int { @_noLocks get { 3 } }
  public static var mix: Int { @_noLocks get { 4 } }
  public static var link: Int { @_noLocks get { 5 } }

  private var key = Key()
  /// Envelopes: one that rises and falls fast, one that rises slowly, one that falls slowly.
  private var fast, slow, long: Dynamics
  private var gain: Float = 1
  private var isAsleep = true

  /// Times of a fast rise and of a fast fall, seconds.
  private static var rise: Float { @_noLocks get { 0.0005 } }
  private static var fall: Float { @_noLocks get { 0.06 } }
  /// Octaves between two envelopes for all of a gain, and up to which there is none.
  private static var apart: Float { @_noLocks get { 3 } }
  private static var alike: Float { @_noLocks get { 0.25 } }
  /// Amplitude below which sound counts as silence.
  private static var least: Float { @_noLocks get { 1e-6 } }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    3 * Dynamics.bytes(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    let isLinked = configuration.value(Self.link) > 0.5
    let channels = configuration.inputs[0]
    var arena = Arena(memory)
    fast = Dynamics(channels, isLinked: isLinked, &arena)
    slow = Dynamics(channels, isLinked: isLinked, &arena)
    long = Dynamics(channels, isLinked: isLinked, &arena)
    reset()
  }

  @_noLocks private mutating func reset() {
    fast.reset(to: 0)
    slow.reset(to: 0)
    long.reset(to: 0)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let bytes = Dynamics.bytes(widening.inputs[0])
    fast.widen(widening, rest: 0, memory: memory)
    slow.widen(widening, rest: 0, memory: memory + bytes)
    long.widen(widening, rest: 0, memory: memory + 2 &* bytes)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    key.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard key.isSettled else { return false }
    var channel = 0
    while channel < fast.gains {
      guard isInaudible(long.level(channel).pointee), isInaudible(slow.level(channel).pointee) else {
        return false
      }
      channel &+= 1
    }
    reset()
    isAsleep = true
    return true
  }

  /// Gain of the first channel, in decibels.
  @_noLocks public func reading(_ position: Int) -> Float {
    6.020_6 * logarithm2(gain > 1e-6 ? gain : 1e-6)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let room = DynamicsRoom(block)
    key.follow(block, room.shares)
    let input = block.inputs[0]
    if key.isSilent(block), isAsleep, input.isSilent { return .silent }
    isAsleep = false
    let (length, tail) = (block.parameters[Self.length], block.parameters[Self.tail])
    var group = 0
    while group < fast.groups {
      let first = group &* 8
      let count = fast.gains &- first < 8 ? fast.gains &- first : 8
      // The fast envelope's logarithms stand in the outputs, until they are written.
      key.write(block, room, first, count, isLinked: fast.isLinked)
      Self.follow(&fast, block, room, first, up: nil, Self.rise, down: nil, Self.fall)
      keep(block, room, first, count)
      Self.follow(&slow, block, room, first, up: length, Self.rise, down: nil, Self.rise)
      add(block, room, first, count, ofSustain: false)
      key.write(block, room, first, count, isLinked: fast.isLinked)
      Self.follow(&long, block, room, first, up: nil, Self.rise, down: tail, Self.fall)
      add(block, room, first, count, ofSustain: true)
      if !input.isSilent {
        turnIntoGains(block, room, count)
        if group == 0 { gain = room.rows[block.frames &- 1] }
        room.multiply(block, first, count, isLinked: fast.isLinked)
      }
      group &+= 1
    }
    return input.isSilent ? .silent : .sounding
  }

  /// Turns a group's rows into an envelope of what is in them. Times in seconds; a stream takes the place of one.
  @inline(__always) @_noLocks private static func follow(
    _ envelope: inout Dynamics, _ block: Block, _ room: DynamicsRoom, _ first: Int,
    up: ParameterStream?, _ rise: Float, down: ParameterStream?, _ fall: Float
  ) {
    var shares = DynamicsShares(up: 0, down: 0, rest: false)
    if up?.isSteady ?? true, down?.isSteady ?? true {
      envelope.learn(up?.value(0) ?? rise, down?.value(0) ?? fall, block.rate)
      shares = envelope.shares
    } else {
      write(up, rise, block, to: room.up)
      write(down, fall, block, to: room.down)
    }
    envelope.followRows(first &>> 3, room, shares, block)
  }

  @inline(never) @_noLocks private static func write(
    _ times: ParameterStream?, _ time: Float, _ block: Block, to row: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < block.frames {
      let times = times?.vector(0, frame) ?? Frames(repeating: time)
      row.store(sostenuto_approaches(times * block.rate), frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func level(_ envelope: Frames) -> Frames {
    sostenuto_logarithms(atLeast(Self.least, envelope))
  }

  @inline(__always) @_noLocks private func octaves(_ gain: Frames) -> Frames {
    sostenuto_logarithms(limited(gain, 1e-3, 1e3))
  }

  @inline(__always) @_noLocks private func keep(
    _ block: Block, _ room: DynamicsRoom, _ first: Int, _ count: Int
  ) {
    var channel = 0
    while channel < count {
      let (row, to) = (room.row(channel), block.outputs[0][first &+ channel])
      var frame = 0
      while frame < block.frames {
        to.store(level(row.vector(frame)), frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// Gains in octaves, by how far the rows' envelope is from the fast one.
  @inline(__always) @_noLocks private func add(
    _ block: Block, _ room: DynamicsRoom, _ first: Int, _ count: Int, ofSustain isSustain: Bool
  ) {
    let most = block.parameters[isSustain ? Self.sustain : Self.attack]
    var octaves = self.octaves(Frames(repeating: most.value(0)))
    var frame = 0
    while frame < block.frames {
      if !most.isSteady { octaves = self.octaves(most.vector(0, frame)) }
      var channel = 0
      while channel < count {
        let other = level(room.row(channel).vector(frame)) - block.outputs[0][first &+ channel].vector(frame)
        let beyond = (isSustain ? other : 0 - other) - Self.alike
        let far = limited(beyond * (1 / (Self.apart - Self.alike)), 0, 1)
        let sum = room.spare(channel)
        sum.store(isSustain ? sum.vector(frame) + octaves * far : octaves * far, frame)
        channel &+= 1
      }
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func turnIntoGains(_ block: Block, _ room: DynamicsRoom, _ count: Int) {
    let mix = block.parameters[Self.mix]
    var channel = 0
    while channel < count {
      let (sum, row) = (room.spare(channel), room.row(channel))
      var frame = 0
      while frame < block.frames {
        let wet = limited(mix.vector(0, frame) * 0.01, 0, 1)
        row.store(1 - wet + wet * sostenuto_powers_of_two(sum.vector(frame)), frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }
}
