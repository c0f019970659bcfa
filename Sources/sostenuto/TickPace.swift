import Interface

/// Times of the session's ticks, in nanoseconds of the event loop: 25 a second while something moves, fewer at rest, and fewer
/// still when nothing has moved for long. What begins to sound wakes it.
@MainActor struct TickPace {
  private static let interval: Int64 = 40_000_000
  /// The same while nothing has moved for a while: a screen at rest should cost next to nothing.
  private static let restInterval: Int64 = 120_000_000
  /// The same while nothing has moved for long: what others write into files is seen so late.
  private static let sleepInterval: Int64 = 600_000_000

  private var wakesAt: Int64 = 0

  /// True when the tick that is due may be left out.
  mutating func sleeps(_ app: App, now: Int64) -> Bool {
    if now < wakesAt, app.isAsleep { return true }
    wakesAt = now + Self.sleepInterval
    return false
  }

  /// When the next tick is due.
  func next(_ app: App, now: Int64) -> Int64 { now + (app.isResting ? Self.restInterval : Self.interval) }

  /// When a tick is due after an event.
  static func soon(now: Int64) -> Int64 { now + interval }
}
