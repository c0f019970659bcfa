import Patch
import Realtime

/// Plays held notes one after the other.
public struct Arpeggiator: Kernel {
  public static let description = KindDescription(
    name: "arpeggiator", summary: "Plays held notes one after the other.", category: .control,
    inputs: [
      PortDescription("in", .events, "Notes; the sustain pedal holds them, and all else passes as it is."),
      PortDescription(
        "clock", .channels(1),
        "Each opening above 0 is a note, and lasts as long as it is open; nothing connected: the kind's own beat.",
        role: .sidechain),
      PortDescription("reset", .channels(1), "Opening it goes to the first note.", role: .sidechain),
    ],
    outputs: [PortDescription("out", .events, "The notes, one at a time.")],
    parameters: [
      ParameterDescription(
        "order", "Up, down, up and down, as they were played, or random.",
        form: .choice(["up", "down", "updown", "played", "random"]), range: 0...4, default: .text("up"),
        smoothing: .kernel),
      .number("octaves", "Octaves through which they go.", default: 1, range: 1...5),
      ParameterDescription(
        "hold", "Notes stay when all keys are up, until another is played.", form: .toggle,
        default: .text("off"), smoothing: .kernel),
      Beat.note, Beat.rate, Beat.swing, Beat.width,
    ], cost: .init(60), goesByTransport: true)

  /// Positions in `description.parameters`.
  public static var order: Int { @_noLocks get { 0 } }
  public static var octaves: Int { @_noLocks get { 1 } }
  public static var hold: Int { @_noLocks get { 2 } }
  public static var note: Int { @_noLocks get { 3 } }
  public static var rate: Int { @_noLocks get { 4 } }
  public static var swing: Int { @_noLocks get { 5 } }
  public static var width: Int { @_noLocks get { 6 } }

  /// A note that is played or held on.
  private struct Held: BitwiseCopyable {
    var key: UInt8
    var channel: UInt8
    var isDown: Bool
    var velocity: Float
  }

  /// Most notes at once.
  private static var most: Int { @_noLocks get { 32 } }

  /// In the order in which they were played.
  private let notes: UnsafeMutablePointer<Held>
  private var count = 0
  private var clock: StepClock
  private var order: Float
  private var holds: Bool
  private var isPedalDown = false
  private let seed: UInt64
  /// Notes since the first key.
  private var number: Int64 = 0
  /// Sounding key; negative: none.
  private var key: Int32 = -1
  private var channel: UInt8 = 0

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    most * MemoryLayout<Held>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    notes = memory.bindMemory(to: Held.self, capacity: Self.most)
    clock = StepClock(configuration.value(Self.note))
    order = configuration.value(Self.order)
    holds = configuration.value(Self.hold) > 0.5
    seed = configuration.seed
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    switch parameter {
    case Self.order: order = value
    case Self.hold:
      holds = value > 0.5
      letGo()
    default: clock.note = value
    }
  }

  @inline(never) @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let output = block.eventOutput else { return .silent }
    let pulse = clock.run(
      block, clock: block.inputs[0], reset: block.inputs[1],
      Beat.Settings(
        rate: block.parameters[Self.rate], swing: block.parameters[Self.swing],
        width: block.parameters[Self.width]))
    var (ticks, frame, event) = (pulse.ticks, 0, 0)
    while true {
      let next = ticks == 0 ? block.frames : ticks.trailingZeroBitCount
      // Keys played at a tick sound in it.
      while event < block.events.pointee.count, block.events.pointee[event].offset <= next {
        take(block.events.pointee[event], output)
        event &+= 1
      }
      let shut = ~pulse.open & Gates.span(frame, next)
      if shut != 0 { end(shut.trailingZeroBitCount, output) }
      if ticks == 0 { break }
      ticks &= ticks &- 1
      let restarts = clock.restarts(next)
      _ = clock.take(pulse, next)
      if restarts { number = 0 }
      end(next, output)
      begin(next, Int(limited(block.parameters[Self.octaves].value(0, at: next), 1, 5) + 0.5), output)
      frame = next
    }
    return .silent
  }

  @_noLocks private mutating func end(_ frame: Int, _ output: UnsafeMutablePointer<EventQueue>) {
    guard key >= 0 else { return }
    output.pointee.append(
      Event(
        .noteOff, channel: channel, key: UInt8(truncatingIfNeeded: key), value: 64,
        offset: Int32(truncatingIfNeeded: frame)))
    key = -1
  }

  @_noLocks private mutating func begin(
    _ frame: Int, _ octaves: Int, _ output: UnsafeMutablePointer<EventQueue>
  ) {
    guard count > 0 else {
      number = 0
      return
    }
    let all = Int64(count &* octaves)
    var place: Int64
    switch Int(order) {
    case 1: place = all &- 1 &- number % all
    case 2:
      let period = all > 1 ? 2 &* all &- 2 : 1
      place = number % period
      if place >= all { place = period &- place }
    case 4:
      place = Int64(Random.mixed(seed &+ UInt64(bitPattern: number) &* 0x9e37_79b9_7f4a_7c15) &>> 33) % all
    default: place = number % all
    }
    number &+= 1
    let note = Int(order) == 3 ? Int(place) % count : ranked(Int(place) % count)
    let high = Int(notes[note].key) &+ 12 &* (Int(place) / count)
    guard high < 128 else { return }
    (key, channel) = (Int32(truncatingIfNeeded: high), notes[note].channel)
    output.pointee.append(
      Event(
        .noteOn, channel: channel, key: UInt8(truncatingIfNeeded: high), value: notes[note].velocity,
        offset: Int32(truncatingIfNeeded: frame)))
  }

  /// Place of the note that has as many below it.
  @_noLocks private func ranked(_ rank: Int) -> Int {
    var note = 0
    while note < count {
      var (below, other) = (0, 0)
      while other < count {
        if notes[other].key < notes[note].key || notes[other].key == notes[note].key && other < note {
          below &+= 1
        }
        other &+= 1
      }
      if below == rank { return note }
      note &+= 1
    }
    return 0
  }

  @_noLocks private mutating func take(_ event: Event, _ output: UnsafeMutablePointer<EventQueue>) {
    switch event.kind {
    case .noteOn:
      // The first key after all were up begins anew.
      if !anyIsDown, !isPedalDown { count = 0 }
      if count == 0 { number = 0 }
      remove { $0.key == event.key && $0.channel == event.channel }
      guard count < Self.most else { return }
      notes[count] = Held(key: event.key, channel: event.channel, isDown: true, velocity: event.value)
      count &+= 1
    case .noteOff:
      var note = 0
      while note < count {
        if notes[note].key == event.key, notes[note].channel == event.channel { notes[note].isDown = false }
        note &+= 1
      }
      letGo()
    case .keyPressure: return
    case .control where event.key == 64:
      isPedalDown = event.value >= 64
      letGo()
    case .control where event.key == 121:
      // All controllers to their rest: the pedal is up.
      isPedalDown = false
      letGo()
      output.pointee.append(event)
    case .allNotesOff, .allSoundOff, .reset: clear(event, output)
    case .control where event.key >= 123 && isPedalDown:
      // All keys of the channel go up, and the pedal holds the notes.
      for note in 0..<count where notes[note].channel == event.channel { notes[note].isDown = false }
    case .control where event.key == 120 || event.key >= 123: clear(event, output)
    default: output.pointee.append(event)
    }
  }

  /// Ends everything, and tells so.
  @_noLocks private mutating func clear(_ event: Event, _ output: UnsafeMutablePointer<EventQueue>) {
    count = 0
    isPedalDown = false
    end(Int(event.offset), output)
    output.pointee.append(event)
  }

  private var anyIsDown: Bool {
    @_noLocks get {
      var note = 0
      while note < count {
        if notes[note].isDown { return true }
        note &+= 1
      }
      return false
    }
  }

  /// Notes whose keys are up go, unless something holds them.
  @_noLocks private mutating func letGo() { if !holds, !isPedalDown { remove { !$0.isDown } } }

  @inline(__always) @_noLocks private mutating func remove(_ goes: (Held) -> Bool) {
    var (from, to) = (0, 0)
    while from < count {
      if !goes(notes[from]) {
        notes[to] = notes[from]
        to &+= 1
      }
      from &+= 1
    }
    count = to
  }
}
