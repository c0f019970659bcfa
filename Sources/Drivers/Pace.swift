/// Detects a device that accepts everything at once, such as `null` or a file, and paces it by the system's
/// clock. A sound card keeps its own clock, which always differs from the system's: if a fast card had to
/// wait, it would underrun.
struct Pace {
  private let rate: Double
  /// Capacity of the device's buffer, in frames.
  private let buffer: Int
  private var start: Int64
  private var written = 0
  private(set) var isSwallowed = false

  /// `buffer`: frames that a device accepts at once.
  init(rate: Double, buffer: Int, now: Int64) {
    self.rate = rate
    self.buffer = buffer
    start = now
  }

  /// Time at which to continue after `frames` more were accepted; nil: at once, since the device blocks when
  /// it is full.
  mutating func due(after frames: Int, now: Int64) -> Int64? {
    written += frames
    // At least this much must have been played by now.
    let played = Double(written - buffer - frames)
    let elapsed = Double(now - start) * 1e-9 * rate
    if !isSwallowed {
      // No card runs 50 % too fast; within a second it has shown its pace.
      isSwallowed = played > 1.5 * elapsed + Double(frames)
      if !isSwallowed, elapsed > rate, elapsed > Double(4 * buffer) { restart(now: now) }
    }
    guard isSwallowed else { return nil }
    let due = start + Int64(played / rate * 1e9)
    // Missed time is not made up for.
    let slack = Int64(Double(buffer + frames) / rate * 1e9)
    if now > due + slack { start += now - due }
    return due > now ? due : nil
  }

  /// Restarts the measurement: the device is empty, or its fill level is unknown.
  mutating func restart(now: Int64) {
    start = now
    written = 0
    isSwallowed = false
  }
}
