import CVector
import Patch
import Realtime

/// Hits that are spread over a number of steps as evenly as can be.
///
/// Step i is a hit where i * pulses mod steps is below the number of pulses. That gives the rhythms of E. Bjorklund's algorithm
/// (G. Toussaint, "The Euclidean algorithm generates traditional musical rhythms", 2005), from one of their hits on, which
/// need not be that from which he writes them: `rotation` leads to it.
public struct Euclid: Kernel {
  public static let description = KindDescription(
    name: "euclid", summary: "A rhythm of hits that are spread over steps as evenly as can be.",
    category: .modulation,
    inputs: [
      PortDescription(
        "clock", .channels(1), "Each opening above 0 is a step; nothing connected: the kind's own beat."),
      PortDescription("reset", .channels(1), "Opening it goes to the first step.", role: .sidechain),
    ],
    outputs: [
      PortDescription("out", .channels(1), "1 while the gate of a hit is open, else 0.", swing: .unipolar),
      PortDescription(
        "rest", .channels(1), "The same for the steps between the hits.", isOptional: true, swing: .unipolar),
    ],
    parameters: [
      .number("steps", "Steps of the rhythm.", default: 16, range: 1...64),
      .number("pulses", "How many of them are hits.", default: 4, range: 0...64),
      .number("rotation", "By how many steps it begins later in the rhythm.", default: 0, range: -64...64),
      Beat.note, Beat.rate, Beat.swing, Beat.width,
    ], face: .level, amplification: .possible, cost: .init(60), goesByTransport: true)

  /// Positions in `description.parameters`.
  public static var steps: Int { @_noLocks get { 0 } }
  public static var pulses: Int { @_noLocks get { 1 } }
  public static var rotation: Int { @_noLocks get { 2 } }
  public static var note: Int { @_noLocks get { 3 } }
  public static var rate: Int { @_noLocks get { 4 } }
  public static var swing: Int { @_noLocks get { 5 } }
  public static var width: Int { @_noLocks get { 6 } }

  private var steps: StepClock
  /// The present step is a hit, or a rest.
  private var isHit = false

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    steps = StepClock(configuration.value(Self.note))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.note { steps.note = value }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let pulse = steps.run(
      block, clock: block.inputs[0], reset: block.inputs[1],
      Beat.Settings(
        rate: block.parameters[Self.rate], swing: block.parameters[Self.swing],
        width: block.parameters[Self.width]))
    var (hits, rests, ticks) = (isHit ? pulse.open : 0, isHit ? 0 : pulse.open, pulse.ticks)
    while ticks != 0 {
      let frame = ticks.trailingZeroBitCount
      ticks &= ticks &- 1
      isHit = isHit(steps.take(pulse, frame), block, frame)
      let after = UInt64.max &<< UInt64(truncatingIfNeeded: frame)
      hits = hits & ~after | (isHit ? pulse.open & after : 0)
      rests = rests & ~after | (isHit ? 0 : pulse.open & after)
    }
    if pulse.open == 0 { return .silent }
    Gates.write(hits, block.outputs[0][0])
    Gates.write(rests, block.outputs[1][0])
    return .sounding
  }

  @inline(__always) @_noLocks private func isHit(_ step: Int64, _ block: Block, _ frame: Int) -> Bool {
    func whole(_ parameter: Int, _ low: Float, _ high: Float) -> Int64 {
      let value = limited(block.parameters[parameter].value(0, at: frame), low, high)
      return Int64(value < 0 ? value - 0.5 : value + 0.5)
    }
    let steps = whole(Self.steps, 1, 64)
    let place = (step &+ whole(Self.rotation, -64, 64)) % steps
    let pulses = whole(Self.pulses, 0, 64)
    return (place < 0 ? place &+ steps : place) &* pulses % steps < pulses
  }
}
