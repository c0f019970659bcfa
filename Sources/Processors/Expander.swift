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
        "release", "Time of 63 % of the way to a greater one.", default: 0.15, range: 0.001...5,
        unit: .seconds),
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
  private var isAsleep = true

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
      // The reduction of silence is reached slowly; as long as the peaks fade it still moves.
      guard isInaudible(peaks.level(channel).pointee) else { return false }
      channel &+= 1
    }
    peaks.reset(to: 0)
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
    if key.isSilent(block), isAsleep, input.isSilent { return .silent }
    isAsleep = false
    let forgotten = sostenuto_approaches(Frames(repeating: Self.memory * block.rate))
    var group = 0
    while group < dynamics.groups {
      let first = group &* 8
      let count = dynamics.gains &- first < 8 ? dynamics.gains &- first : 8
      key.write(block, room, first, count, isLinked: dynamics.isLinked)
      room.fill(room.up, Frames(repeating: 1))
      room.fill(room.down, forgotten)
      peaks.followRows(group, room, block.frames)
      reduce(block, room, count)
      dynamics.write(block.parameters[Self.release], block.parameters[Self.attack], block, to: room)
      dynamics.followRows(group, room, block.frames)
      if !input.isSilent {
        var channel = 0
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

  /// Turns peaks into the reductions of the static curve.
  @inline(__always) @_noLocks private func reduce(_ block: Block, _ room: DynamicsRoom, _ count: Int) {
    let parameters = block.parameters
    let (threshold, ratio) = (parameters[Self.threshold], parameters[Self.ratio])
    let (knee, range) = (parameters[Self.knee], parameters[Self.range])
    var frame = 0
    while frame < block.frames {
      let t = sostenuto_logarithms(atLeast(1e-6, threshold.vector(0, frame)))
      let slope = atLeast(1, ratio.vector(0, frame)) - 1
      // Of a bend without width there would be nothing by nothing.
      let k = atLeast(1e-5, sostenuto_logarithms(atLeast(1, knee.vector(0, frame))))
      let most = 0 - sostenuto_logarithms(limited(range.vector(0, frame), 1e-9, 1))
      var channel = 0
      while channel < count {
        let row = room.row(channel)
        let under = t - sostenuto_logarithms(atLeast(1e-9, row.vector(frame))) + k * 0.5
        let bent = sostenuto_lesser(atLeast(0, under), k)
        let reduction = slope * (bent * bent / (k * 2) + atLeast(0, under - k))
        row.store(sostenuto_lesser(reduction, most), frame)
        channel &+= 1
      }
      frame &+= 16
    }
  }
}
