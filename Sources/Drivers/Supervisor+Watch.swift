extension Supervisor {
  /// The driver has had no period since this was asked last: a standstill is found by `poll`, which may have been left out
  /// while nothing happens. Never one that paces itself: it counts no periods. Worker.
  public var isStill: Bool {
    guard let driver, driver.patience < .infinity else { return false }
    let before = askedBeats
    askedBeats = driver.beats
    return askedBeats == before
  }

  /// Detects a driver that is no longer asked for sound. Time during which nobody watched does not count: the
  /// whole process may have been stopped, or this thread busy.
  struct Watch {
    private var beats = -1
    private var still: Int64 = 0
    private var last: Int64?
    private static let longestGap: Int64 = 250_000_000

    mutating func hasStalled(_ driver: any Driver, now: Int64) -> Bool {
      let beats = driver.beats
      still = beats == self.beats ? still + min(now - (last ?? now), Self.longestGap) : 0
      (self.beats, last) = (beats, now)
      return Double(still) * 1e-9 > driver.patience
    }
  }
}
