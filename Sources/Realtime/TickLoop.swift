/// A delay-locked loop: when each tick of a clock is due, and how long a tick is, from the frames at which ticks happen
/// to come. F. Adriaensen, "Using a DLL to filter time", Linux Audio Conference 2005. The first ticks weigh as in a
/// straight line by least squares, so that the loop has a tempo with the second, and need not swing in.
public struct TickLoop: BitwiseCopyable, Sendable {
  /// Frames of a tick; 0 before the second.
  public private(set) var length = 0.0
  /// Number of the latest tick; only differences count.
  public private(set) var number: Int64 = 0
  /// Frame at which it was due.
  public private(set) var time = 0.0
  /// Frame at which it came.
  public private(set) var latest = 0.0
  /// Number of ticks that the tempo rests on.
  public private(set) var weight = 0
  /// Ticks that were taken for lost, and whether a gap stood before the latest tick.
  private var missing: Int64 = 0
  private var gapStart = -1.0
  /// Ticks in a row that were all late (or early) by far, with their sign.
  private var streak = 0

  /// Without a tick yet.
  @_noLocks public init() {}

  /// Radians a tick when it has settled: faster tempo changes are followed in two beats, and with ticks that come 1 ms
  /// beside their time the tempo is 0.05 % beside its own.
  private static var omega: Double { @_noLocks get { 0.065 } }
  /// Lateness, as a share of a tick, from which on ticks must be missing.
  private static var gap: Double { @_noLocks get { 0.6 } }
  /// Lateness that many ticks in a row have only if the tempo has changed, and how many.
  private static var drift: (share: Double, ticks: Int) { @_noLocks get { (0.2, 6) } }
  /// Ticks from which on the tempo is good enough to judge a tick by.
  private static var judging: Int { @_noLocks get { 8 } }

  /// The number of ticks, with its fraction, at a frame.
  @_noLocks public func position(at frame: Double) -> Double {
    Double(number) + (length > 0 ? (frame - time) / length : 0)
  }

  /// Takes a tick that came at a frame. False if it is one that was taken for lost. Audio thread.
  @_noLocks public mutating func add(_ frame: Double) -> Bool {
    let before = latest
    latest = frame
    guard weight > 0 else {
      (time, weight) = (frame, 1)
      return true
    }
    var error = frame - time - length
    if weight >= Self.judging {
      if missing > 0, error < -0.5 * length {
        missing &-= 1
        return false
      }
      let interval = frame - before
      if gapStart >= 0, interval > (1 + 0.5 * Self.gap) * length {
        // Another gap: none was lost, the tempo has changed.
        number &-= missing
        begin(at: frame, length: 0.5 * (frame - gapStart))
        return true
      }
      // Later than the loop says, and after a pause: lateness alone adds up when the tempo slows down.
      if error > Self.gap * length, interval > (1 + Self.gap) * length {
        gapStart = before
        missing = Int64(error / length + 0.5)
        number &+= missing
        error -= Double(missing) * length
        time += Double(missing) * length
      } else {
        (gapStart, missing) = (-1, 0)
        note(error)
      }
    }
    number &+= 1
    if weight < 1000 { weight &+= 1 }
    let n = Double(weight)
    let line = (place: 2 * (2 * n - 1) / (n * (n + 1)), length: 6 / (n * (n + 1)))
    let settled = (place: 1.414_213_56 * Self.omega, length: Self.omega * Self.omega)
    time += length + (line.place > settled.place ? line.place : settled.place) * error
    length += (line.length > settled.length ? line.length : settled.length) * error
    return true
  }

  /// Goes by a few ticks again after a change of tempo.
  @_noLocks private mutating func note(_ error: Double) {
    let (share, ticks) = Self.drift
    guard error.magnitude > share * length else {
      streak = 0
      return
    }
    let sign = error > 0 ? 1 : -1
    streak = streak &* sign > 0 ? streak &+ sign : sign
    guard streak &* sign >= ticks else { return }
    streak = 0
    if weight > ticks { weight = ticks }
  }

  @_noLocks private mutating func begin(at frame: Double, length: Double) {
    number &+= 1
    (time, self.length, weight) = (frame, length, 3)
    (gapStart, missing, streak) = (-1, 0, 0)
  }
}
