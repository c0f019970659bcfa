import Patch
import Realtime

/// Changes how hard notes are: their range, their course, and by chance.
public struct Velocity: Kernel {
  public static let description = KindDescription(
    name: "velocity", summary: "Changes the velocities of notes: range, curve, and by chance.",
    category: .control, inputs: [PortDescription("in", .events)],
    outputs: [PortDescription("out", .events, "The notes; all else passes as it is.")],
    parameters: [
      .number("low", "Velocity of the softest note, 1.", default: 1, range: 1...127),
      .number(
        "high", "Velocity of the hardest note, 127; the same as `low` makes all alike.", default: 127,
        range: 1...127),
      .number(
        "curve", "0 % is straight; above it soft notes become harder, below softer.", default: 0,
        range: -100...100, unit: .percent),
      .percent("random", "By how much of 127 each is harder or softer by chance.", default: 0),
    ], cost: .init(12))

  /// Positions in `description.parameters`.
  public static var low: Int { @_noLocks get { 0 } }
  public static var high: Int { @_noLocks get { 1 } }
  public static var curve: Int { @_noLocks get { 2 } }
  public static var random: Int { @_noLocks get { 3 } }

  private let seed: UInt64
  private var number: UInt64 = 0

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    seed = configuration.seed
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let events = block.events
    var index = 0
    while index < events.pointee.count {
      var event = events.pointee[index]
      index &+= 1
      if event.kind == .noteOn { event.value = changed(event.value, block.parameters, Int(event.offset)) }
      output.pointee.append(event)
    }
    return .silent
  }

  @_noLocks private mutating func changed(
    _ value: Float, _ parameters: UnsafePointer<ParameterStream>, _ frame: Int
  ) -> Float {
    func at(_ parameter: Int) -> Float { parameters[parameter].value(0, at: frame) }
    let share = limited((value - 1) / 126, 0, 1)
    let bent = Bend(Frames(repeating: at(Self.curve)))(Frames(repeating: share))[0]
    let (low, high) = (at(Self.low), at(Self.high))
    number &+= 1
    let chance = Float(truncating: Random.mixed(seed ^ number &* 0xd1b5_4a32_d192_ed03)) * 2 - 1
    return limited(low + (high - low) * bent + chance * at(Self.random) * 1.27, 1, 127)
  }
}
