extension Supervisor {
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
