/// The transport by a MIDI clock that comes in: start, stop, continue, song position, and 24 ticks a quarter note. It
/// moves the transport at the frames of the messages; ticks move the tempo alone, which makes up for what the place is
/// beside theirs, so that no tick is heard as a jump. All methods: audio thread.
public struct MidiClock: BitwiseCopyable, Sendable {
  /// Relation to a clock.
  public enum State: UInt8, BitwiseCopyable, Sendable {
    /// None has come yet.
    case none
    /// Tempo comes from the clock; it has not said where it is.
    case tempo
    /// Tempo, place, start and stop come from the clock.
    case whole
    /// Ticks have stayed away.
    case lost
  }

  /// Relation to the clock at present.
  public private(set) var state = State.none
  private var loop = TickLoop()
  /// Input that the clock comes in at; negative: none.
  private var port = -1
  /// Sample rate that the loop's frames have, Hz.
  private var rate = 0.0
  /// The tick of the piece that comes next while it stands, or waits.
  private var place: Int64 = 0
  /// Ticks of the piece less the loop's number.
  private var shift: Int64 = 0
  /// The clock has said where it is.
  private var isAnchored = false
  private var isRolling = false
  /// It rolls from `place` with the next tick.
  private var isWaiting = false
  /// Change in this period: its offset, and the place in ticks or none.
  private var turn = Turn()

  private struct Turn: BitwiseCopyable {
    var offset: Int32 = -1
    var place: Int64 = -1
  }

  /// Without a clock yet.
  @_noLocks public init() {}

  /// Ticks of a quarter note, and of the sixteenth that song positions count.
  private static var ticks: Double { @_noLocks get { 24 } }
  private static var sixteenth: Int64 { @_noLocks get { 6 } }
  /// Ticks from which on there is a tempo.
  private static var fewest: Int { @_noLocks get { 4 } }
  /// Quarter notes beside the clock's place that are a jump rather than made up for by the tempo.
  private static var far: Double { @_noLocks get { 0.25 } }
  /// Share by which the tempo departs from the clock's, at most, to make up for the place, and at least to be changed.
  private static var most: Double { @_noLocks get { 0.1 } }
  private static var least: Double { @_noLocks get { 1e-4 } }

  /// The transport that the clock asks for in a period of `frames` frames that begins at engine frame `now` with
  /// `transport`; nil: nothing. `inputs` has `MidiInput.ports` entries, which stay as they are.
  @_noLocks public mutating func follow(
    _ inputs: UnsafePointer<MidiInput>, frames: Int, transport: Transport, at now: Int64
  ) -> TransportInput? {
    if rate != transport.rate {
      self = MidiClock()
      rate = transport.rate
    }
    turn = Turn()
    choosePort(inputs, at: Double(now))
    guard port >= 0 else { return release(transport, at: now) }
    var index = 0
    while index < inputs[port].count {
      let event = inputs[port].events[index]
      if event.kind == .system { take(event, transport, at: now) }
      index &+= 1
    }
    let isLost = isLost(at: Double(now) + Double(frames))
    state = loop.weight == 0 ? .none : isLost ? .lost : isAnchored ? .whole : .tempo
    if isLost, turn.offset < 0 { return release(transport, at: now) }
    return input(transport, frames: frames, at: now)
  }

  /// Stays with an input, as long as its clock ticks.
  @_noLocks private mutating func choosePort(_ inputs: UnsafePointer<MidiInput>, at now: Double) {
    if port >= 0, now - loop.latest < 3 * loop.length || Self.hasClock(inputs[port]) { return }
    var number = 0
    while number < MidiInput.ports {
      if Self.hasClock(inputs[number]) {
        port = number
        return
      }
      number &+= 1
    }
  }

  @_noLocks private static func hasClock(_ input: MidiInput) -> Bool {
    var index = 0
    while index < input.count {
      let event = input.events[index]
      if event.kind == .system, event.key == 0x8 || event.key >= 0xA && event.key <= 0xC || event.key == 0x2 {
        return true
      }
      index &+= 1
    }
    return false
  }

  /// No tick for half a second, or four ticks of a slow clock.
  @_noLocks private func isLost(at now: Double) -> Bool {
    let longest = 4 * loop.length > 0.5 * rate ? 4 * loop.length : 0.5 * rate
    return loop.weight == 0 || now - loop.latest > longest
  }

  @_noLocks private mutating func take(_ event: Event, _ transport: Transport, at now: Int64) {
    switch event.key {
    case 0x8: tick(event.offset, at: now)
    case 0xA: (place, isWaiting, isAnchored) = (0, true, true)
    case 0xB:
      if !isAnchored { findPlace(transport, at: now &+ Int64(event.offset)) }
      (isWaiting, isAnchored) = (true, true)
    case 0xC:
      if !isAnchored {
        findPlace(transport, at: now &+ Int64(event.offset))
      } else if isRolling {
        place = loop.number &+ shift &+ 1
      }
      (isRolling, isWaiting, isAnchored) = (false, false, true)
      turn = Turn(offset: event.offset, place: -1)
    case 0x2:
      (place, isAnchored) = (Int64(event.detail) &* Self.sixteenth, true)
      // While it moves, receivers are there with the next tick.
      if isRolling { isWaiting = true } else { turn = Turn(offset: event.offset, place: place) }
    default: return
    }
  }

  /// Goes on from where the transport is, as the clock has not said its place: the next tick, unless it is at the known one.
  @_noLocks private mutating func findPlace(_ transport: Transport, at frame: Int64) {
    let ticks = transport.quarters(at: frame) * Self.ticks
    if (ticks - Double(place)).magnitude <= 1 { return }
    place = ticks > 0 ? Int64(ticks) &+ 1 : 0
  }

  @_noLocks private mutating func tick(_ offset: Int32, at now: Int64) {
    let frame = Double(now &+ Int64(offset))
    // Ticks from before a pause count no more; their tempo stays until there is another.
    if isLost(at: frame) {
      if loop.weight > 0, !isWaiting { isAnchored = false }
      loop = TickLoop()
    }
    guard loop.add(frame), isWaiting else { return }
    (isWaiting, isRolling) = (false, true)
    shift = place &- loop.number
    turn = Turn(offset: offset, place: place)
  }

  /// Nobody leads any more; tempo and place go on as they are.
  @_noLocks private mutating func release(_ transport: Transport, at now: Int64) -> TransportInput? {
    guard transport.isLed else { return nil }
    var input = TransportInput(isRolling: transport.isRolling, frame: transport.position(at: now))
    input.source = .lostClock
    input.beat = transport.quarters(at: now)
    input.tolerance = 1
    input.pulse.tempo = transport.pulse.tempo * transport.pulse.quarters
    return input
  }

  @_noLocks private func input(_ transport: Transport, frames: Int, at now: Int64) -> TransportInput? {
    let hasTempo = loop.weight >= Self.fewest && loop.length > 0
    guard hasTempo || turn.offset >= 0 || transport.isLed else { return nil }
    let offset = turn.offset > 0 ? turn.offset : 0
    let frame = now &+ Int64(offset)
    let rolls = isAnchored ? isRolling : transport.isRolling
    var input = TransportInput(isRolling: rolls, frame: transport.position(at: frame))
    input.source = state == .tempo || state == .whole ? .clock : .lostClock
    input.offset = offset
    let present = transport.pulse.tempo * transport.pulse.quarters
    var tempo = hasTempo ? Self.limited(60 * rate / (Self.ticks * loop.length)) : present
    input.beat = transport.quarters(at: frame)
    input.tolerance = 1
    if turn.place >= 0 {
      (input.beat, input.tolerance) = (Double(turn.place) / Self.ticks, 0)
    } else if rolls, hasTempo {
      let distance = distance(from: input.beat, at: Double(frame))
      if isAnchored, distance.magnitude > Self.far {
        (input.beat, input.tolerance) = (input.beat + distance, 0)
        if input.beat < 0 { input.beat = 0 }
      } else {
        // Made up for within an eighth note, or two periods.
        let period = 2 * Double(frames) * tempo / (60 * rate)
        let change = distance / (period > 0.5 ? period : 0.5)
        tempo *= 1 + (change > Self.most ? Self.most : change < -Self.most ? -Self.most : change)
      }
    }
    let isSame = transport.isLed && (tempo - present).magnitude < Self.least * present
    input.pulse.tempo = isSame ? present : tempo
    return input
  }

  /// Quarter notes from a place to the clock's, or to its next tick as long as it has not said where it is.
  @_noLocks private func distance(from quarters: Double, at frame: Double) -> Double {
    let ticks = loop.position(at: frame) + Double(shift) - quarters * Self.ticks
    return (isAnchored ? ticks : ticks - Transport.floor(ticks + 0.5)) / Self.ticks
  }

  /// Quarter notes a minute that there may be.
  @_noLocks private static func limited(_ tempo: Double) -> Double {
    tempo > 1 ? (tempo < 9999 ? tempo : 9999) : 1
  }
}
