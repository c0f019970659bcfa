/// A delay-locked loop: when each frame of a stream is due, from the times at which the thread that handles it happens
/// to wake. F. Adriaensen, "Using a DLL to filter time", Linux Audio Conference 2005.
struct TimeLoop {
  /// Seconds for a frame.
  private(set) var pace: Double
  /// Seconds since the first stamp.
  private(set) var age = 0.0
  /// The latest stamp: filtered time in seconds, and frames.
  private(set) var time = 0.0
  private(set) var position = 0.0
  private var hasBegun = false
  private var outliers = 0
  private let nominal: Double

  /// Share by which a clock may depart from its nominal rate. What goes faster is none: a server that freewheels.
  private static let tolerance = 0.02
  /// Bandwidth when it has settled, Hz: slow enough that wakeups that differ by 0.2 ms are not heard as vibrato.
  private static let bandwidth = 0.02
  /// Stamps in a row that contradict the loop until it believes them.
  private static let mostOutliers = 8

  /// `rate`: the nominal one, Hz.
  init(rate: Double) { (pace, nominal) = (1 / rate, 1 / rate) }

  /// Frames a second.
  var rate: Double { 1 / pace }

  /// Begins anew, and keeps the pace that it has learned.
  mutating func restart() { (hasBegun, age, outliers) = (false, 0, 0) }

  /// Takes a stamp: the frame `position` was due at `seconds`, or some time before. False if the stream does not go on
  /// from where it was, as after an xrun: the loop begins anew.
  mutating func add(_ seconds: Double, position now: Double) -> Bool {
    guard hasBegun, now > position else {
      (time, position, hasBegun) = (seconds, now, true)
      return true
    }
    let step = (now - position) * pace
    let error = seconds - time - step
    if abs(error) > 0.005 + 2 * step {
      outliers += 1
      // Its own clock goes on meanwhile.
      if outliers < Self.mostOutliers, error < 0.25 { return true }
      restart()
      (time, position, hasBegun) = (seconds, now, true)
      return false
    }
    outliers = 0
    age += step
    // Fast first, slower as it knows more; at most what is stable for long periods.
    let bandwidth = min(max(Self.bandwidth, 0.5 / max(age, step)), 0.05 / step)
    let omega = 2 * Double.pi * bandwidth * step
    time += step + 2.0.squareRoot() * omega * error
    let learned = pace + omega * omega * error / (now - position)
    pace = min(max(learned, nominal * (1 - Self.tolerance)), nominal * (1 + Self.tolerance))
    position = now
    return true
  }

  /// The frame that is due at a time in seconds, with its fraction.
  func position(at seconds: Double) -> Double { position + (seconds - time) / pace }
}
