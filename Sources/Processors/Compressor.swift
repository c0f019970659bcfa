import CVector
import Patch
import Realtime

/// Makes what is louder than a threshold softer.
///
/// Feed-forward, with a smoothed gain in decibels (D. Giannoulis, M. Massberg and J. D. Reiss, "Digital dynamic range
/// compressor design: a tutorial and analysis", 2012): the magnitude of the loudest channel, the static curve with a
/// quadratic knee (their equation 4), and a one-pole in decibels that takes the attack's time upwards and the release's
/// downwards ("smooth, branching"). Levels are in octaves here: 6.02 dB each.
public struct Compressor: Kernel {
  public static let description = KindDescription(
    name: "compressor", summary: "Makes what is louder than a threshold softer.", category: .effect,
    inputs: [PortDescription("in", .flexible), Key.port], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .level("threshold", "Level from which on it acts, of peaks.", default: -18, range: -80...0),
      .number("ratio", "Decibels that go in for one that comes out above it.", default: 4, range: 1...100),
      .number(
        "attack", "Time of 63 % of the way to a greater reduction.", default: 0.01, range: 0...1,
        unit: .seconds),
      .number(
        "release", "Time of 63 % of the way to a smaller one.", default: 0.15, range: 0.001...5,
        unit: .seconds),
      .level("knee", "Width of the bend around the threshold.", default: 6, range: 0...36),
      .gain("makeup", "Gain of what is compressed."),
      .percent("mix", "How much of it is compressed.", default: 100),
      Dynamics.link,
    ], amplification: .by("makeup"), cost: .init(160, perChannel: 20),
    readings: [
      ReadingDescription("reduction", "By how much it makes softer now.", unit: .decibels)
    ])

  /// Positions in `description.parameters`.
  public static var threshold: Int { @_noLocks get { 0 } }
  public static var ratio: Int { @_noLocks get { 1 } }
  public static var attack: Int { @_noLocks get { 2 } }
  public static var release: Int { @_noLocks get { 3 } }
  public static var knee: Int { @_noLocks get { 4 } }
  public static var makeup: Int { @_noLocks get { 5 } }
  public static var mix: Int { @_noLocks get { 6 } }
  public static var link: Int { @_noLocks get { 7 } }

  /// A reduction that nobody hears, in octaves: what is less is dropped in silence.
  private static var least: Float { @_noLocks get { 1e-4 } }

  private var key = Key()
  /// The reductions, in octaves.
  private var dynamics: Dynamics
  private var rest = CompressorRest()
  private var isAsleep = true

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Dynamics.bytes(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    dynamics = Dynamics(
      configuration.inputs[0], isLinked: configuration.value(Self.link) > 0.5, &arena)
    dynamics.reset(to: 0)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    dynamics.widen(widening, rest: 0, memory: memory)
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    key.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard key.isSettled else { return false }
    var channel = 0
    while channel < dynamics.gains {
      guard dynamics.level(channel).pointee < Self.least else { return false }
      channel &+= 1
    }
    dynamics.reset(to: 0)
    isAsleep = true
    return true
  }

  /// The reduction of the most reduced channel, in decibels.
  @_noLocks public func reading(_ position: Int) -> Float {
    var most: Float = 0
    var channel = 0
    while channel < dynamics.gains {
      let level = dynamics.level(channel).pointee
      if level > most { most = level }
      channel &+= 1
    }
    return most * 6.020_6
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let room = DynamicsRoom(block)
    key.follow(block, room.shares)
    let input = block.inputs[0]
    if key.isSilent(block), isAsleep { return input.isSilent ? .silent : pass(block, room) }
    isAsleep = false
    dynamics.settle(block)
    dynamics.learn(block.parameters[Self.attack], block.parameters[Self.release], block, room)
    let (makeup, mix) = (block.parameters[Self.makeup], block.parameters[Self.mix])
    if dynamics.goesWhole(block), makeup.isSteady, mix.isSteady {
      processRows(block, room, makeup.value(0), mix.value(0))
    } else {
      processGroups(block, room)
    }
    return input.isSilent ? .silent : .sounding
  }

  /// Gains that are calculated each by itself, with constant times, makeup and mix.
  @inline(__always) @_noLocks private mutating func processRows(
    _ block: Block, _ room: DynamicsRoom, _ makeup: Float, _ mix: Float
  ) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let curve = CompressorCurve(block, &rest)
    var gain = 0
    while gain < dynamics.gains {
      reduce(block, room, curve, gain)
      gain &+= 1
    }
    if dynamics.staysAtZero(0, dynamics.gains, room, block) {
      if !input.isSilent { pass(block, room, 0, dynamics.gains) }
      return
    }
    let (shares, wet) = (dynamics.shares, limited(mix * 0.01, 0, 1))
    gain = 0
    while gain < dynamics.gains {
      let level = dynamics.level(gain)
      level.pointee = sostenuto_gains_of_sixteens(
        room.row(gain), level.pointee, shares.up, shares.down, shares.ways, makeup, wet, input[gain],
        input.isSilent ? nil : output[gain], Int64(truncatingIfNeeded: block.frames))
      gain &+= 1
    }
    guard !input.isSilent, dynamics.gains == 1 else { return }
    var channel = 1
    while channel < output.count {
      multiplyWhole(input[channel], room.rows, to: output[channel])
      channel &+= 1
    }
  }

  /// Writes the target reductions of a gain, which is the only one or a channel's own.
  @inline(__always) @_noLocks private mutating func reduce(
    _ block: Block, _ room: DynamicsRoom, _ curve: CompressorCurve, _ gain: Int
  ) {
    if let only = dynamics.gains == 1 ? key.only(block) : key.only(block, gain) {
      curve.write(only, to: room.row(gain), block.frames)
    } else {
      reduceSum(block, room, gain)
    }
  }

  /// The same where several channels are heard, or a key. Mutating: otherwise Swift copies the kernel for the call.
  @inline(never) @_noLocks private mutating func reduceSum(
    _ block: Block, _ room: DynamicsRoom, _ gain: Int
  ) {
    let row = room.row(gain)
    var frame = 0
    while frame < block.frames {
      row.store(
        dynamics.gains == 1
          ? key.loudest(block, frame, room.shares) : key.heard(block, gain, frame, room.shares), frame)
      frame &+= 16
    }
    CompressorCurve(block, &rest).write(row, to: row, block.frames)
  }

  @inline(never) @_noLocks private mutating func processGroups(_ block: Block, _ room: DynamicsRoom) {
    let input = block.inputs[0]
    let curve = CompressorCurve(block, &rest)
    var group = 0
    while group < dynamics.groups {
      let first = group &* 8
      let count = dynamics.gains &- first < 8 ? dynamics.gains &- first : 8
      var gain = first
      while gain < first &+ count {
        reduce(block, room, curve, gain)
        gain &+= 1
      }
      if dynamics.staysAtZero(group, count, room, block) {
        if !input.isSilent { pass(block, room, first, count) }
        group &+= 1
        continue
      }
      dynamics.followRows(group, room, dynamics.shares, block)
      if !input.isSilent { multiply(block, room, first, count) }
      group &+= 1
    }
  }

  /// Passes the sound while nothing is reduced.
  @inline(never) @_noLocks private mutating func pass(_ block: Block, _ room: DynamicsRoom) -> Activity {
    var group = 0
    while group < dynamics.groups {
      let first = group &* 8
      let count = dynamics.gains &- first < 8 ? dynamics.gains &- first : 8
      var channel = 0
      while channel < count {
        room.fill(room.row(channel), Frames(repeating: 0))
        channel &+= 1
      }
      pass(block, room, first, count)
      group &+= 1
    }
    return .sounding
  }

  /// Passes a group's channels, of which the reductions in `room.rows` are all zero: one factor where makeup and mix rest.
  @inline(__always) @_noLocks private mutating func pass(
    _ block: Block, _ room: DynamicsRoom, _ first: Int, _ count: Int
  ) {
    let (makeup, mix) = (block.parameters[Self.makeup], block.parameters[Self.mix])
    guard makeup.isSteady, mix.isSteady else { return multiply(block, room, first, count) }
    let wet = limited(mix.value(0) * 0.01, 0, 1)
    room.multiply(block, first, count, isLinked: dynamics.isLinked, by: 1 - wet + wet * makeup.value(0))
  }

  /// Multiplies a group's channels with the gains of the reductions in `room.rows`.
  @inline(__always) @_noLocks private mutating func multiply(
    _ block: Block, _ room: DynamicsRoom, _ first: Int, _ count: Int
  ) {
    let makeup = block.parameters[Self.makeup]
    let mix = block.parameters[Self.mix]
    var channel = 0
    if makeup.isSteady, mix.isSteady {
      let wet = limited(Frames(repeating: mix.value(0)) * 0.01, 0, 1)
      let factor = Frames(repeating: makeup.value(0))
      while channel < count {
        let row = room.row(channel)
        var frame = 0
        while frame < block.frames {
          row.store(1 - wet + wet * (sostenuto_powers_of_two(0 - row.vector(frame)) * factor), frame)
          frame &+= 16
        }
        channel &+= 1
      }
      return room.multiply(block, first, count, isLinked: dynamics.isLinked)
    }
    while channel < count {
      let row = room.row(channel)
      var frame = 0
      while frame < block.frames {
        let wet = limited(mix.vector(0, frame) * 0.01, 0, 1)
        let gain = sostenuto_powers_of_two(0 - row.vector(frame)) * makeup.vector(0, frame)
        row.store(1 - wet + wet * gain, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    room.multiply(block, first, count, isLinked: dynamics.isLinked)
  }
}

/// Threshold, slope and knee at rest, as the static curve needs them.
private struct CompressorRest: BitwiseCopyable {
  private var known = SIMD4<Float>(repeating: .nan)
  fileprivate private(set) var values = SIMD4<Float>(repeating: 0)

  @_noLocks init() {}

  /// Calculates what has changed. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ threshold: Float, _ ratio: Float, _ knee: Float) {
    if known[0] != threshold || known[1] != ratio || known[2] != knee { learn(threshold, ratio, knee) }
  }

  @inline(never) @_noLocks private mutating func learn(_ threshold: Float, _ ratio: Float, _ knee: Float) {
    known = SIMD4(threshold, ratio, knee, 0)
    let (slope, octaves) = (
      CompressorCurve.slope(Frames(repeating: ratio)), CompressorCurve.knee(Frames(repeating: knee))
    )
    let scale = sostenuto_threshold_scales(
      Frames(repeating: threshold), CompressorCurve.lift(octaves)[0])
    values = SIMD4(scale[0], slope[0], octaves[0], CompressorCurve.bend(slope, octaves)[0])
  }
}

/// The static curve: reductions in octaves of magnitudes.
private struct CompressorCurve {
  private let threshold, ratio, knee: ParameterStream
  private let rest: SIMD4<Float>
  private let isSteady: Bool

  @inline(__always) @_noLocks init(_ block: Block, _ rest: inout CompressorRest) {
    threshold = block.parameters[Compressor.threshold]
    ratio = block.parameters[Compressor.ratio]
    knee = block.parameters[Compressor.knee]
    // A fixed number stands for one that moves, so that the others need not be calculated again.
    rest.follow(
      threshold.isSteady ? threshold.value(0) : 1, ratio.isSteady ? ratio.value(0) : 1,
      knee.isSteady ? knee.value(0) : 1)
    self.rest = rest.values
    isSteady = threshold.isSteady && ratio.isSteady && knee.isSteady
  }

  /// How much lower than the threshold the curve begins to bend. Magnitudes are multiples of that level: one logarithm
  /// is enough then, even while the threshold moves.
  @inline(__always) @_noLocks static func lift(_ knee: Frames) -> Frames {
    sostenuto_powers_of_two(0.5 * knee)
  }

  @inline(__always) @_noLocks static func slope(_ ratio: Frames) -> Frames { 1 - 1 / atLeast(1, ratio) }

  /// Width of the bend in octaves. It is never zero, since the curve divides by it.
  @inline(__always) @_noLocks static func knee(_ factor: Frames) -> Frames {
    atLeast(1e-5, sostenuto_logarithms(atLeast(1, factor)))
  }

  /// Factor of the square within the bend.
  @inline(__always) @_noLocks static func bend(_ slope: Frames, _ knee: Frames) -> Frames {
    0.5 * slope / knee
  }

  /// Writes the reductions for samples; `row` may be `heard`. A moving threshold is no reason for the longer way.
  @inline(__always) @_noLocks func write(
    _ heard: UnsafePointer<Float>, to row: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    guard ratio.isSteady, knee.isSteady else { return writeMoving(heard, to: row, frames) }
    let count = Int64(truncatingIfNeeded: frames)
    // Two calls, so that the compiler makes a loop for each case.
    if let thresholds = threshold.frames(0) {
      sostenuto_write_reductions(heard, row, thresholds, rest[0], rest[1], rest[2], rest[3], count)
    } else {
      sostenuto_write_reductions(heard, row, nil, rest[0], rest[1], rest[2], rest[3], count)
    }
  }

  @inline(never) @_noLocks private func writeMoving(
    _ heard: UnsafePointer<Float>, to row: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      var scale =
        threshold.isSteady
        ? Frames(repeating: rest[0]) : sostenuto_threshold_scales(threshold.vector(0, frame), rest[0])
      let s = ratio.isSteady ? Frames(repeating: rest[1]) : Self.slope(ratio.vector(0, frame))
      let k = knee.isSteady ? Frames(repeating: rest[2]) : Self.knee(knee.vector(0, frame))
      if !knee.isSteady { scale *= Self.lift(k - rest[2]) }
      row.store(
        sostenuto_reductions(magnitude(heard.vector(frame)), scale, s, k, Self.bend(s, k)), frame)
      frame &+= 16
    }
  }
}
