/// Musical time: how fast beats follow each other, in which bars, and where in the piece. It holds from an engine frame
/// on (`origin`), and every later position is computed from that frame, so nothing adds up. A beat is the lower number
/// of the meter; the tempo counts beats.
public struct Transport: BitwiseCopyable, Sendable, Equatable {
  /// Tempo and meter.
  public struct Pulse: BitwiseCopyable, Sendable, Equatable {
    /// Beats a minute.
    public var tempo = 120.0
    /// Beats of a bar.
    public var beats: Int32 = 4
    /// Note value of a beat: 4 is a quarter, 8 an eighth.
    public var unit: Int32 = 4

    /// 120 beats a minute, four quarters a bar.
    @_noLocks public init() {}

    /// Quarter notes of a beat.
    public var quarters: Double { @_noLocks get { 4 / Double(unit) } }

    /// Seconds of a whole note.
    public var wholeNote: Double { @_noLocks get { 60 / tempo * Double(unit) } }
  }

  /// Sample rate, Hz.
  public private(set) var rate: Double
  /// Engine frame from which on the rest holds.
  public private(set) var origin: Int64 = 0
  /// Frames from the start of the piece at `origin`.
  private var start: Int64 = 0
  /// Bar, from 1, from which `beat` counts.
  private var bar: Int64 = 1
  /// Beats since the beginning of `bar` at `origin`.
  private var beat = 0.0
  /// Quarter notes from the start of the piece to the beginning of `bar`.
  private var quarters = 0.0
  /// Tempo and meter in force.
  public private(set) var pulse = Pulse()
  /// The patch's, which is not in force while somebody else leads.
  private var own = Pulse()
  /// Number of times that the position has jumped.
  public private(set) var jumps: Int32 = 0
  /// The position moves.
  public private(set) var isRolling = true
  /// Another program gives tempo and meter.
  public private(set) var isLed = false

  /// At bar 1 from engine frame 0 on; `rate` in Hz.
  public init(rate: Double) { self.rate = rate }

  /// Positions closer than this, in beats, are the same: far less than a frame, far more than rounding.
  @usableFromInline static var tolerance: Double { @_noLocks get { 1e-9 } }

  // MARK: Positions

  /// Beats a frame; 0 while it stands.
  public var step: Double { @_noLocks get { isRolling ? pulse.tempo / (60 * rate) : 0 } }

  /// Frames from the start of the piece.
  @_noLocks public func position(at frame: Int64) -> Int64 { isRolling ? start &+ (frame &- origin) : start }

  /// Beats since a bar that is the same until tempo, meter or position change.
  @_noLocks public func beats(at frame: Int64) -> Double { beat + Double(frame &- origin) * step }

  /// Quarter notes since bar 1.
  @_noLocks public func quarters(at frame: Int64) -> Double {
    quarters + beats(at: frame) * pulse.quarters
  }

  /// Bar, from 1, and beats since its beginning.
  @_noLocks public func place(at frame: Int64) -> (bar: Int64, beat: Double) {
    let beats = beats(at: frame)
    let whole = Self.floor((beats + Self.tolerance) / Double(pulse.beats))
    let rest = beats - whole * Double(pulse.beats)
    return (bar &+ Int64(whole), rest > 0 ? rest : 0)
  }

  /// The first frame, from `frame` on, with a number of quarter notes since bar 1; nil: it is not reached.
  @_noLocks public func frame(ofQuarters target: Double, from frame: Int64) -> Int64? {
    first((target - quarters) / pulse.quarters, from: frame)
  }

  /// The first frame, from `frame` on, at which a place or one behind it is reached; nil: the transport stands before it.
  @_noLocks public func frame(ofBar number: Int64, beat: Double, from frame: Int64) -> Int64? {
    first(Double(number &- bar) * Double(pulse.beats) + beat, from: frame)
  }

  /// The first frame with that many beats since `bar`. An estimate is corrected, so that the result follows from
  /// `beats` alone, whatever block asks.
  @_noLocks private func first(_ target: Double, from frame: Int64) -> Int64? {
    let goal = target - Self.tolerance
    if beats(at: frame) >= goal { return frame }
    // Beyond that lie thousands of years.
    guard isRolling, goal - beat < 1e15 * step else { return nil }
    var found = origin &+ Int64((goal - beat) / step)
    if found <= frame { found = frame &+ 1 }
    while found > frame &+ 1, beats(at: found &- 1) >= goal { found &-= 1 }
    while beats(at: found) < goal { found &+= 1 }
    return found
  }

  /// `x` rounded down.
  @inlinable @_noLocks public static func floor(_ x: Double) -> Double {
    let whole = Double(Int64(x))
    return whole > x ? whole - 1 : whole
  }

  // MARK: Changes

  /// Counts from this frame on.
  @_noLocks private mutating func settle(at frame: Int64) {
    let (number, rest) = place(at: frame)
    quarters += Double(number &- bar) * Double(pulse.beats) * pulse.quarters
    start = position(at: frame)
    (bar, beat, origin) = (number, rest, frame)
  }

  /// Performs a change at an engine frame.
  @_noLocks public mutating func apply(_ change: TransportChange, at frame: Int64) {
    settle(at: frame)
    switch change {
    case .tempo(let tempo):
      own.tempo = tempo
      if !isLed { take(own) }
    case .meter(let beats, let unit):
      (own.beats, own.unit) = (beats, unit)
      if !isLed { take(own) }
    case .roll: isRolling = true
    case .halt: isRolling = false
    case .locate(let bar, let beat):
      move(toBar: Int64(bar), beat: beat)
      jumps &+= 1
    case .seek(let seconds):
      move(to: Int64(seconds * rate + 0.5))
      jumps &+= 1
    case .free:
      isLed = false
      take(own)
    }
  }

  /// Goes on with another tempo and meter, just after `settle`: as many quarter notes from the start, and from the beginning
  /// of the bar. So beats of another length begin where the notes do.
  @_noLocks private mutating func take(_ new: Pulse) {
    beat *= pulse.quarters / new.quarters
    pulse = new
  }

  /// Frames from the start of the piece to a place, if all of it has the present tempo and meter.
  @_noLocks public func position(ofBar bar: Int64, beat: Double) -> Int64 {
    let frames =
      (Double(bar &- 1) * Double(pulse.beats) + beat - Self.tolerance) * 60 * rate / pulse.tempo
    return frames > 0 ? Int64(Self.floor(frames)) &+ 1 : 0
  }

  @_noLocks private mutating func move(toBar number: Int64, beat place: Double) {
    start = position(ofBar: number, beat: place)
    (bar, beat) = (number, place)
    quarters = Double(number &- 1) * Double(pulse.beats) * pulse.quarters
  }

  /// Moves to a frame of the piece, as if all of it had the present tempo and meter.
  @_noLocks private mutating func move(to frame: Int64) {
    (start, bar, quarters) = (frame, 1, 0)
    beat = Double(frame) * pulse.tempo / (60 * rate)
  }

  /// Goes on at a frame of the piece up to a second ahead: a server that is late leaves periods out. The tempo may have been
  /// another before, so the place follows from the present one. False: a jump.
  @_noLocks private mutating func skip(to frame: Int64) -> Bool {
    guard isRolling, frame > start, frame &- start <= Int64(rate) else { return false }
    beat += Double(frame &- start) * step
    start = frame
    return true
  }

  /// This transport with another frame of the piece at `frame`: for those who ask where that is. `isJump`: somebody has moved it
  /// there; otherwise a late server may have left out what lies between.
  @_noLocks public func moved(to position: Int64, at frame: Int64, isJump: Bool) -> Transport {
    var other = self
    other.settle(at: frame)
    if isJump || !other.skip(to: position) { other.move(to: position) }
    return other
  }

  /// Follows the transport of a server or a MIDI clock, as it is at a frame. True: something has changed, other than that
  /// time has passed.
  @_noLocks public mutating func follow(_ input: TransportInput, at frame: Int64) -> Bool {
    if input.source != .server { return follow(clock: input, at: frame) }
    let isOn = position(at: frame) == input.frame
    let isLead = input.pulse.tempo > 0
    let pulse = isLead ? input.pulse : own
    let isSame = isOn && isRolling == input.isRolling && self.pulse == pulse && isLed == isLead
    if isSame, !isLead || isNear(input, at: frame) { return false }
    settle(at: frame)
    let before = quarters(at: frame)
    // Before a jump a server stands for a cycle.
    let isJump = !isRolling || !input.isRolling
    isRolling = input.isRolling
    isLed = isLead
    take(pulse)
    if !isOn, isJump || !skip(to: input.frame) { move(to: input.frame) }
    if isLead, !isOn || !isNear(input, at: frame) {
      (bar, beat) = (input.bar, input.beat)
      quarters = Double(bar &- 1) * Double(pulse.beats) * pulse.quarters
    }
    // A period that came too late is no jump.
    if (quarters(at: frame) - before).magnitude > 0.25 { jumps &+= 1 }
    return true
  }

  /// It is where the leader says, by the present meter.
  @_noLocks private func isNear(_ input: TransportInput, at frame: Int64) -> Bool {
    let (number, rest) = place(at: frame)
    let distance = Double(input.bar &- number) * Double(pulse.beats) + input.beat - rest
    return distance.magnitude <= input.tolerance
  }

  /// A clock has no meter, and its place is in quarter notes.
  @_noLocks private mutating func follow(clock input: TransportInput, at frame: Int64) -> Bool {
    var pulse = own
    pulse.tempo = input.pulse.tempo / own.quarters
    let isLead = input.source == .clock
    let isNear = (input.beat - quarters(at: frame)).magnitude <= input.tolerance
    if isNear, isRolling == input.isRolling, self.pulse == pulse, isLed == isLead { return false }
    settle(at: frame)
    isRolling = input.isRolling
    isLed = isLead
    take(pulse)
    guard !isNear else { return true }
    let beats = input.beat / pulse.quarters
    let bars = Self.floor((beats + Self.tolerance) / Double(pulse.beats))
    let rest = beats - bars * Double(pulse.beats)
    move(toBar: Int64(bars) &+ 1, beat: rest > 0 ? rest : 0)
    jumps &+= 1
    return true
  }

  /// Goes on at another sample rate (Hz) from an engine frame: the place stays. Worker.
  public mutating func retune(to rate: Double, at frame: Int64) {
    settle(at: frame)
    start = Int64((Double(start) * rate / self.rate).rounded())
    self.rate = rate
  }
}

/// A change of the transport.
public enum TransportChange: BitwiseCopyable, Sendable, Equatable {
  /// Beats a minute.
  case tempo(Double)
  /// Beats of a bar, and note value of a beat.
  case meter(beats: Int32, unit: Int32)
  /// It begins to move, or stands.
  case roll, halt
  /// To a bar, from 1, and beats since its beginning.
  case locate(bar: Int32, beat: Double)
  /// To a position in seconds.
  case seek(seconds: Double)
  /// Nobody else gives tempo and meter any more.
  case free
}

/// The transport of a server, or a MIDI clock's, at a frame.
public struct TransportInput: BitwiseCopyable, Sendable, Equatable {
  /// Origin of a transport.
  public enum Source: UInt8, BitwiseCopyable, Sendable {
    /// A server.
    case server
    /// A MIDI clock. Its tempo is in quarter notes a minute, its place is `beat`, in quarter notes from the start of the
    /// piece, and the meter is the patch's.
    case clock
    /// A clock that has gone: its tempo stays, but nobody leads.
    case lostClock
  }

  /// It moves.
  public var isRolling: Bool
  /// Frames from the start of the piece.
  public var frame: Int64
  /// Tempo and meter of the program that leads; a tempo of 0: there is none, or it is this one.
  public var pulse: Transport.Pulse
  /// Bar, from 1, where another program leads.
  public var bar: Int64 = 1
  /// Beats since its beginning.
  public var beat = 0.0
  /// Beats by which these may be wrong.
  public var tolerance = 0.0
  /// Its origin.
  public var source = Source.server
  /// Frame of the period at which it holds.
  public var offset: Int32 = 0

  /// A transport that nobody leads.
  @_noLocks public init(isRolling: Bool, frame: Int64) {
    self.isRolling = isRolling
    self.frame = frame
    pulse = Transport.Pulse()
    pulse.tempo = 0
  }
}
