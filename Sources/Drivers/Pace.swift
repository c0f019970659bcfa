/// The time that a device takes for what it is given: notices one that swallows everything at once, such as
/// `null` or a file, and paces it by the system's clock. A card is left to its own clock, which never runs as
/// the system's does: one that is fast would run dry if it were made to wait.
struct Pace {
  private let rate: Double
  /// Frames that the device may hold.
  private let buffer: Int
  private var start: Int64
  private var written = 0
  private(set) var isSwallowed = false

  /// `buffer`: frames that a device takes at once although it plays them.
  init(rate: Double, buffer: Int, now: Int64) {
    self.rate = rate
    self.buffer = buffer
    start = now
  }

  /// When to go on after `frames` more have been taken; nil: at once, since the device says when it has room.
  mutating func due(after frames: Int, now: Int64) -> Int64? {
    written += frames
    // At the least this much must have been played by now.
    let played = Double(written - buffer - frames)
    let elapsed = Double(now - start) * 1e-9 * rate
    if !isSwallowed {
      // No card is half as fast again as it says; within a second it has shown what it is.
      isSwallowed = played > 1.5 * elapsed + Double(frames)
      if !isSwallowed, elapsed > rate, elapsed > Double(4 * buffer) { restart(now: now) }
    }
    guard isSwallowed else { return nil }
    let due = start + Int64(played / rate * 1e9)
    // The time that was missed is not made up for.
    let slack = Int64(Double(buffer + frames) / rate * 1e9)
    if now > due + slack { start += now - due }
    return due > now ? due : nil
  }

  /// The device holds nothing any more, or nobody knows how much.
  mutating func restart(now: Int64) {
    start = now
    written = 0
    isSwallowed = false
  }
}
