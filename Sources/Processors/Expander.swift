import CVector
import Patch
import Realtime

/// Makes what is softer than a threshold softer still.
///
/// The mirror image of a compressor (Giannoulis, Massberg and Reiss, 2012): a static curve with a quadratic knee, and a
/// one-pole in decibels that takes the release's time to a greater reduction and the attack's to a smaller one. It goes by
/// peaks, held for a moment: between the peaks of a loud wave there are soft frames too.
public struct Expander: Kernel {
  public static let description = KindDescription(
    name: "expander", summary: "Makes what is softer than a threshold softer still.", category: .effect,
    inputs: [PortDescription("in", .flexible), Key.port], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .level("threshold", "Level below which it acts, of peaks.", default: -40, range: -100...0),
      .number("ratio", "Decibels that come out for one that goes in below it.", default: 2, range: 1...50),
      .number(
        "attack", "Time of 63 % of the way to a smaller reduction.", default: 0.002, range: 0...1,
        unit: .seconds),
      .number(
        "release", "Time of 63 % of the way to a greater one; peaks are forgotten in 20 ms.", default: 0.15,
        range: 0.001...5, unit: .seconds),
      .level("knee", "Width of the bend around the threshold.", default: 6, range: 0...36),
      .gain("range", "Gain at the greatest reduction.", default: -60, upTo: 0),
      Dynamics.link,
    ], amplification: .never, cost: .init(260, perChannel: 30),
    readings: [ReadingDescription("reduction", "By how much it makes softer now.", unit: .decibels)])

  /// Positions in `description.parameters`.
  public static var threshold: Int { @_noLocks get { 0 } }
  public static var ratio: Int { @_noLocks get { 1 } }
  public static var attack: Int { @_noLocks get { 2 } }
  public static var release: Int { @_noLocks get { 3 } }
  public static var knee: Int { @_noLocks get { 4 } }
  public static var range: Int { @_noLocks get { 5 } }
  public static var link: Int { @_noLocks get { 6 } }

  private var key = Key()
  /// The reductions, in octaves.
  private var dynamics: Dynamics
  /// The peaks.
  private var peaks: Dynamics
  private var rest = ExpanderRest()
  /// Where the reduction of the last channel goes, in octaves. In silence all go there.
  private var goal: Float = 0

  /// Time in which a peak is forgotten, seconds.
  private static var memory: Float { @_noLocks get { 0.02 } }

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    2 * Dynamics.bytes(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    let isLinked = configuration.value(Self.link) > 0.5
    var arena = Arena(memory)
    dynamics = Dynamics(configuration.inputs[0], isLinked: isLinked, &arena)
    peaks = Dynamics(configuration.inputs[0], isLinked: isLinked, &arena)
    dynamics.reset(to: 0)
    peaks.reset(to: 0)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    dynamics.widen(widening, rest: 0, memory: memory)
    peaks.widen(widening, rest: 0, memory: memory + Dynamics.bytes(widening.inputs[0]))
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    key.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard key.isSettled else { return false }
    var channel = 0
    while channel < dynamics.gains {
      guard isInaudible(peaks.level(channel).pointee) else { return false }
      // The reduction of silence is reached slowly: what comes next would begin with another one.
      let left = dynamics.level(channel).pointee - goal
      guard left < 0.001, left > -0.001 else { return false }
      channel &+= 1
    }
    channel = 0
    while channel < dynamics.gains {
      dynamics.level(channel).pointee = goal
      channel &+= 1
    }
    peaks.reset(to: 0)
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
    // Silence is never passed over, since the reduction moves in it too: the engine lets the node sleep only where a cell ends.
    let curve = ExpanderCurve(block, &rest, memory: Self.memory)
    dynamics.settle(block)
    var group = 0
    while group < dynamics.groups {
      let first = group &* 8
      let count = dynamics.gains &- first < 8 ? dynamics.gains &- first : 8
      key.write(block, room, first, count, isLinked: dynamics.isLinked)
      let memory = DynamicsShares(up: 1, down: curve.forgotten, rest: true, holds: true)
      peaks.followRows(group, room, memory, block)
      var channel = 0
      while channel < count {
        let row = room.row(channel)
        var frame = 0
        while frame < block.frames {
          row.store(curve.reduction(row.vector(frame), frame), frame)
          frame &+= 16
        }
        goal = row[block.frames &- 1]
        channel &+= 1
      }
      if dynamics.staysAtZero(group, count, room, block) {
        if !input.isSilent { room.multiply(block, first, count, isLinked: dynamics.isLinked, by: 1) }
        group &+= 1
        continue
      }
      dynamics.learn(block.parameters[Self.release], block.parameters[Self.attack], block, room)
      dynamics.followRows(group, room, dynamics.shares, block)
      if !input.isSilent {
        channel = 0
        while channel < count {
          let row = room.row(channel)
          var frame = 0
          while frame < block.frames {
            row.store(sostenuto_powers_of_two(0 - row.vector(frame)), frame)
            frame &+= 16
          }
          channel &+= 1
        }
        room.multiply(block, first, count, isLinked: dynamics.isLinked)
      }
      group &+= 1
    }
    return input.isSilent ? .silent : .sounding
  }
}

/// Threshold, slope, knee and range at rest, as the static curve needs them, and how fast a peak is forgotten.
private struct ExpanderRest: BitwiseCopyable {
  private var known = SIMD4<Float>(repeating: .nan)
  fileprivate private(set) var values = SIMD4<Float>(repeating: 0)
  fileprivate private(set) var bend: Float = 0
  private var knownRate: Float = 0
  fileprivate private(set) var forgotten: Float = 0

  @_noLocks init() {}

  /// Calculates what has changed. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ now: SIMD4<Float>, _ rate: Float, _ memory: Float) {
    if known[0] != now[0] || known[1] != now[1] || known[2] != now[2] || known[3] != now[3] { learn(now) }
    if knownRate != rate { learn(rate, memory) }
  }

  @inline(never) @_noLocks private mutating func learn(_ now: SIMD4<Float>) {
    known = now
    values = SIMD4(
      ExpanderCurve.threshold(Frames(repeating: now[0]))[0],
      ExpanderCurve.slope(Frames(repeating: now[1]))[0],
      ExpanderCurve.knee(Frames(repeating: now[2]))[0], ExpanderCurve.most(Frames(repeating: now[3]))[0])
    bend = ExpanderCurve.bend(ExpanderCurve.knee(Frames(repeating: now[2])))[0]
  }

  @inline(never) @_noLocks private mutating func learn(_ rate: Float, _ memory: Float) {
    knownRate = rate
    forgotten = sostenuto_approaches(Frames(repeating: memory * rate))[0]
  }
}

/// The static curve: reductions in octaves of peaks.
private struct ExpanderCurve {
  private let threshold, ratio, knee, range: ParameterStream
  private let rest: SIMD4<Float>
  private let bend: Float
  private let isSteady: Bool
  /// How much of a peak is forgotten in a frame.
  let forgotten: Float

  @inline(__always) @_noLocks init(_ block: Block, _ rest: inout ExpanderRest, memory: Float) {
    threshold = block.parameters[Expander.threshold]
    ratio = block.parameters[Expander.ratio]
    knee = block.parameters[Expander.knee]
    range = block.parameters[Expander.range]
    // One that moves leaves the others known.
    rest.follow(
      SIMD4(
        threshold.isSteady ? threshold.value(0) : 1, ratio.isSteady ? ratio.value(0) : 1,
        knee.isSteady ? knee.value(0) : 1, range.isSteady ? range.value(0) : 1), block.rate, memory)
    self.rest = rest.values
    bend = rest.bend
    isSteady = threshold.isSteady && ratio.isSteady && knee.isSteady && range.isSteady
    forgotten = rest.forgotten
  }

  @inline(__always) @_noLocks static func threshold(_ factor: Frames) -> Frames {
    sostenuto_logarithms(atLeast(1e-6, factor))
  }

  @inline(__always) @_noLocks static func slope(_ ratio: Frames) -> Frames { atLeast(1, ratio) - 1 }

  /// Of a bend without width there would be nothing by nothing.
  @inline(__always) @_noLocks static func knee(_ factor: Frames) -> Frames {
    atLeast(1e-5, sostenuto_logarithms(atLeast(1, factor)))
  }

  /// Factor of the square within the bend.
  @inline(__always) @_noLocks static func bend(_ knee: Frames) -> Frames { 0.5 / knee }

  @inline(__always) @_noLocks static func most(_ range: Frames) -> Frames {
    0 - sostenuto_logarithms(limited(range, 1e-9, 1))
  }

  /// Reductions of sixteen frames. One question where all rest, rather than one for each.
  @inline(__always) @_noLocks func reduction(_ peaks: Frames, _ frame: Int) -> Frames {
    let level = sostenuto_logarithms(atLeast(1e-9, peaks))
    if isSteady {
      return Self.reduction(
        level, Frames(repeating: rest[0]), Frames(repeating: rest[1]), Frames(repeating: rest[2]),
        Frames(repeating: bend), Frames(repeating: rest[3]))
    }
    let t = threshold.isSteady ? Frames(repeating: rest[0]) : Self.threshold(threshold.vector(0, frame))
    let s = ratio.isSteady ? Frames(repeating: rest[1]) : Self.slope(ratio.vector(0, frame))
    let k = knee.isSteady ? Frames(repeating: rest[2]) : Self.knee(knee.vector(0, frame))
    let most = range.isSteady ? Frames(repeating: rest[3]) : Self.most(range.vector(0, frame))
    let bend = knee.isSteady ? Frames(repeating: bend) : Self.bend(k)
    return Self.reduction(level, t, s, k, bend, most)
  }

  @inline(__always) @_noLocks private static func reduction(
    _ level: Frames, _ threshold: Frames, _ slope: Frames, _ knee: Frames, _ bend: Frames, _ most: Frames
  ) -> Frames {
    let under = threshold - level + knee * 0.5
    let bent = sostenuto_lesser(atLeast(0, under), knee)
    return sostenuto_lesser(slope * (bent * bent * bend + atLeast(0, under - knee)), most)
  }
}
