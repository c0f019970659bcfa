import CVector
import Patch
import Realtime

/// Steps with pitches, played at each tick of a clock: as signals, and as notes.
///
/// By its own beat a step's number is the transport's, so that it is in its place wherever the transport goes.
public struct Sequencer: Kernel {
  public static let description = KindDescription(
    name: "sequencer", summary: "Plays steps of notes, as signals and as events.", category: .control,
    inputs: [
      PortDescription(
        "clock", .channels(1),
        "Each opening above 0 is a step, and lasts as long as it is open; nothing connected: the kind's own beat."
      ),
      PortDescription("reset", .channels(1), "Opening it goes to the first step.", role: .sidechain),
    ],
    outputs: [
      PortDescription("pitch", .channels(1), "Octaves above A4; `by 1oct` leads them to a frequency."),
      PortDescription("gate", .channels(1), "1 while a step sounds, else 0.", swing: .unipolar),
      PortDescription(
        "velocity", .channels(1), "From 0 to 1, of the last step that sounded.", swing: .unipolar),
      PortDescription("events", .events, "The steps as notes of the nearest keys, on MIDI channel 1."),
    ],
    parameters: [
      Pattern.steps,
      ParameterDescription(
        "order",
        "Forward, backward, pendulum (there and back), or random. By its own beat the first two are in place with the transport.",
        form: .choice(["forward", "backward", "pendulum", "random"]), range: 0...3, default: .text("forward"),
        smoothing: .kernel),
      .number(
        "transpose", "Added to the pitches of the steps that follow.", default: 0, range: -120...120,
        unit: .semitones),
      .percent("chance", "How often a step sounds that would.", default: 100),
      Beat.note, Beat.rate, Beat.swing, Beat.width,
    ], face: .level, amplification: .possible, cost: .init(120), goesByTransport: true)

  /// Positions in `description.parameters`.
  public static var steps: Int { @_noLocks get { 0 } }
  public static var order: Int { @_noLocks get { 1 } }
  public static var transpose: Int { @_noLocks get { 2 } }
  public static var chance: Int { @_noLocks get { 3 } }
  public static var note: Int { @_noLocks get { 4 } }
  public static var rate: Int { @_noLocks get { 5 } }
  public static var swing: Int { @_noLocks get { 6 } }
  public static var width: Int { @_noLocks get { 7 } }

  private var clock: StepClock
  private var numbers: UnsafeMutablePointer<Float>
  private var order: Float
  private let seed: UInt64
  /// Steps since the start, for its random numbers.
  private var played: UInt64 = 0

  private var pitch: Float = 0
  private var velocity: Float = 0
  /// A step sounds until its gate shuts, or holds on to the next one.
  private var sounds = false
  private var holds = false
  /// Key of the note that is on; -1: none.
  private var key: Int32 = -1

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { Pattern.count * 4 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    clock = StepClock(configuration.value(Self.note))
    order = configuration.value(Self.order)
    seed = configuration.seed
    numbers = memory.bindMemory(to: Float.self, capacity: Pattern.count)
    let steps = configuration.values[Self.steps]
    for index in 0..<Pattern.count { numbers[index] = index < steps.count ? steps[index] : 0 }
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    switch parameter {
    case Self.steps:
      if element >= 0, element <= Pattern.most &* Pattern.fields { numbers[element] = value }
    case Self.order: order = value
    default: clock.note = value
    }
  }

  /// Number of steps.
  private var count: Int64 {
    @inline(__always) @_noLocks get { numbers[0] >= 1 && numbers[0] <= 64 ? Int64(numbers[0]) : 0 }
  }

  @inline(__always) @_noLocks private func field(_ step: Int64, _ field: Int) -> Float {
    numbers[1 &+ Int(step) &* Pattern.fields &+ field]
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    let pulse = clock.run(
      block, clock: block.inputs[0], reset: block.inputs[1],
      Beat.Settings(
        rate: block.parameters[Self.rate], swing: block.parameters[Self.swing],
        width: block.parameters[Self.width]))
    let rows = Rows(block)
    rows[0].fill(pitch)
    rows[1].fill(velocity)
    var (ticks, frame, gate) = (pulse.ticks, 0, UInt64(0))
    if pulse.isStopped { holds = false }
    while true {
      let next = ticks == 0 ? block.frames : ticks.trailingZeroBitCount
      gate |= sound(pulse.open, frame, next, block)
      if ticks == 0 { break }
      ticks &= ticks &- 1
      begin(clock.take(pulse, next), next, block, rows)
      frame = next
    }
    Gates.write(gate, block.outputs[1][0])
    rows.copy(0, to: block.outputs[0][0])
    rows.copy(1, to: block.outputs[2][0])
    return .sounding
  }

  /// The open frames of the present step up to `end`; ends its note where it shuts.
  @inline(__always) @_noLocks private mutating func sound(
    _ open: UInt64, _ frame: Int, _ end: Int, _ block: Block
  ) -> UInt64 {
    guard sounds, end > frame else { return 0 }
    let span = Gates.span(frame, end)
    if holds { return span }
    let shut = ~open & span
    if shut == 0 { return span }
    let last = shut.trailingZeroBitCount
    sounds = false
    endNote(last, block)
    return Gates.span(frame, last)
  }

  @inline(__always) @_noLocks private mutating func endNote(_ frame: Int, _ block: Block) {
    guard key >= 0 else { return }
    block.eventOutput?.pointee.append(
      Event(
        .noteOff, key: UInt8(truncatingIfNeeded: key), value: 64, offset: Int32(truncatingIfNeeded: frame)))
    key = -1
  }

  /// Begins a step.
  @inline(__always) @_noLocks private mutating func begin(
    _ number: Int64, _ frame: Int, _ block: Block, _ rows: Rows
  ) {
    let count = count
    guard count > 0 else { return }
    let chance = Float(truncating: draw())
    let step = place(number, count)
    // Random steps hold nothing: what comes next is not known.
    let isNextTie = order < 2.5 && field(place(number &+ 1, count), 1) == Pattern.tie
    let velocity = field(step, 1)
    if velocity == Pattern.tie {
      holds = sounds && isNextTie
      return
    }
    if sounds { endNote(frame, block) }
    sounds = false
    holds = false
    let limit = limited(block.parameters[Self.chance].value(0, at: frame) * 0.01, 0, 1) * field(step, 2)
    guard velocity > 0, chance < limit else { return }
    if field(step, 0) != Pattern.same {
      pitch = field(step, 0) + limited(block.parameters[Self.transpose].value(0, at: frame), -120, 120) / 12
    } else if isUnpitched {
      pitch = limited(block.parameters[Self.transpose].value(0, at: frame), -120, 120) / 12
    }
    isUnpitched = isUnpitched && field(step, 0) == Pattern.same
    self.velocity = velocity
    (sounds, holds) = (true, isNextTie)
    rows[0].fill(from: frame, pitch)
    rows[1].fill(from: frame, velocity)
    let nearest = limited(69.5 + pitch * 12, 0, 127)
    key = Int32(nearest)
    block.eventOutput?.pointee.append(
      Event(
        .noteOn, key: UInt8(truncatingIfNeeded: key), value: limited(velocity * 127, 1, 127),
        offset: Int32(truncatingIfNeeded: frame)))
  }

  /// No step has had a pitch of its own: `transpose` alone gives it.
  private var isUnpitched = true

  /// The step at a place of the sequence.
  @inline(__always) @_noLocks private func place(_ number: Int64, _ count: Int64) -> Int64 {
    func within(_ period: Int64) -> Int64 {
      let rest = number % period
      return rest < 0 ? rest &+ period : rest
    }
    switch Int(order) {
    case 0: return within(count)
    case 1: return count &- 1 &- within(count)
    case 2:
      if count < 2 { return 0 }
      let there = within(2 &* count &- 2)
      return there < count ? there : 2 &* count &- 2 &- there
    default:
      let bits = Random.mixed(seed &+ UInt64(bitPattern: number) &* 0x9e37_79b9_7f4a_7c15)
      return Int64(bits &>> 33) % count
    }
  }

  /// A random number for each step.
  @inline(__always) @_noLocks private mutating func draw() -> UInt64 {
    played &+= 1
    return Random.mixed(seed ^ played &* 0xd1b5_4a32_d192_ed03)
  }
}

extension Float {
  /// 0..<1 of the upper bits.
  @inline(__always) @_noLocks init(truncating bits: UInt64) { self = Float(bits &>> 40) * (1 / 16_777_216) }
}
