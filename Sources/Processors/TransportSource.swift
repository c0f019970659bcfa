import Patch
import Realtime

/// The transport as signals and as MIDI: whether it moves, how far the beat and the bar are, and the clock.
public struct TransportSource: Kernel {
  public static let description = KindDescription(
    name: "transport",
    summary: "The transport as signals, and as a MIDI clock for other programs and devices.",
    category: .source,
    outputs: [
      PortDescription(
        "run", .channels(1), "1 while the transport moves, 0 while it stands.", swing: .unipolar),
      PortDescription("beat", .channels(1), "From 0 to 1 in each beat.", swing: .unipolar),
      PortDescription("bar", .channels(1), "From 0 to 1 in each bar.", swing: .unipolar),
      PortDescription(
        "events", .events,
        "Start, continue, stop and song position, and 24 clocks a quarter note while the transport moves."),
    ],
    parameters: [], amplification: .never, cost: .init(90), goesByTransport: true)

  /// Clocks of a quarter note.
  private static var clocks: Double { @_noLocks get { 24 } }
  /// Clocks of a sixteenth note, in which song positions count.
  private static var clocksOfPosition: Int64 { @_noLocks get { 6 } }

  private var hasBegun = false
  private var wasRolling = false
  private var jumps: Int32 = 0
  /// Number of the next clock, counted from bar 1.
  private var clock: Int64 = 0
  /// Receivers wait for `continue`, which comes with the next clock.
  private var isWaiting = false

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    guard let transport = block.transport?.pointee else { return .silent }
    if let events = block.eventOutput {
      if !hasBegun || wasRolling != transport.isRolling || jumps != transport.jumps {
        turn(transport, at: block.time, events)
      }
      if transport.isRolling { tick(transport, block, events) }
    }
    return write(transport, block)
  }

  /// Tells receivers that the transport begins, stands, or has moved.
  @_noLocks private mutating func turn(
    _ transport: Transport, at time: Int64, _ events: UnsafeMutablePointer<EventQueue>
  ) {
    let hasJumped = hasBegun && jumps != transport.jumps
    if wasRolling { events.pointee.append(Self.message(0xC)) }
    // The first sixteenth from here on, since receivers know no others.
    let place = transport.quarters(at: time) * Self.clocks
    let whole = Self.clocksOfPosition
    var sixteenth = Int64(Transport.floor(place + 1e-7)) / whole
    if Double(sixteenth &* whole) < place - 1e-7 { sixteenth &+= 1 }
    clock = sixteenth &* whole
    isWaiting = transport.isRolling
    if clock != 0 || !transport.isRolling, transport.isRolling || hasJumped {
      // Fourteen bits are all that there is.
      let position = sixteenth < 0x3FFF ? Int32(truncatingIfNeeded: sixteenth) : 0x3FFF
      events.pointee.append(Self.message(0x2, detail: position))
    }
    (hasBegun, wasRolling, jumps) = (true, transport.isRolling, transport.jumps)
  }

  /// Sends the clocks of a block.
  @_noLocks private mutating func tick(
    _ transport: Transport, _ block: Block, _ events: UnsafeMutablePointer<EventQueue>
  ) {
    let end = block.time &+ Int64(block.frames)
    while true {
      let due = transport.frame(ofQuarters: Double(clock) / Self.clocks, from: block.time)
      guard let due, due < end else { return }
      let offset = Int32(truncatingIfNeeded: due &- block.time)
      if isWaiting { events.pointee.append(Self.message(clock == 0 ? 0xA : 0xB, offset: offset)) }
      isWaiting = false
      events.pointee.append(Self.message(0x8, offset: offset))
      clock &+= 1
    }
  }

  @_noLocks private static func message(_ number: UInt8, offset: Int32 = 0, detail: Int32 = 0) -> Event {
    Event(.system, key: number, offset: offset, detail: detail)
  }

  @_noLocks private func write(_ transport: Transport, _ block: Block) -> Activity {
    let (run, beat, bar) = (block.outputs[0], block.outputs[1], block.outputs[2])
    let first = transport.beats(at: block.time)
    if !transport.isRolling, Self.part(first) == 0, Self.part(first / Double(transport.pulse.beats)) == 0 {
      return .silent
    }
    let isRolling: Float = transport.isRolling ? 1 : 0
    let bars = 1 / Double(transport.pulse.beats)
    let end = block.frames
    var frame = 0
    while frame < end {
      // From the transport's own frame, so that the same frame has the same bits in any block.
      let beats = transport.beats(at: block.time &+ Int64(frame))
      beat[0][frame] = Float(Self.part(beats))
      bar[0][frame] = Float(Self.part(beats * bars))
      run[0][frame] = isRolling
      frame &+= 1
    }
    return .sounding
  }

  /// The part behind the point; 0 where rounding alone is missing to a whole number. Without branches, and without
  /// whole numbers, so that several frames are computed at once.
  @inline(__always) @_noLocks private static func part(_ x: Double) -> Double {
    // Above this number doubles are whole.
    let near = x + 4_503_599_627_370_496 - 4_503_599_627_370_496
    let whole = near > x + 1e-9 ? near - 1 : near
    let rest = x - whole
    return rest > 0 ? rest : 0
  }
}
