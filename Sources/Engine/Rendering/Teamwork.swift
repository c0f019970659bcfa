import Realtime

/// Decides whether a plan's segments are shared with helpers, by how long periods have taken: other programs may want the
/// same processors, or the work may be too small to be handed over. Whoever renders, the sound is the same.
///
/// Most periods are rendered in one way; now and then some are tried in the other. The time alone is a median, which a
/// pause of the whole thread does not change. The time together is a mean, which has the waits for helpers that were
/// paused in the middle of a segment. Where a driver waits, nobody goes on alone whose time may not suffice. Audio thread.
struct Teamwork: ~Copyable {
  /// Periods of a trial. In the first ones helpers wake up, and caches fill.
  private static var trial: Int { @_noLocks get { 16 } }
  private static var warming: Int { @_noLocks get { 4 } }
  /// Periods until a trial. They double whenever it confirms the present way.
  private static var shortest: Int { @_noLocks get { 128 } }
  private static var longestTogether: Int { @_noLocks get { 2048 } }
  private static var longestAlone: Int { @_noLocks get { 16384 } }
  /// Share of the time alone that the time together may take. Two processors then do at most half as much again as one.
  private static var worthwhile: Float { @_noLocks get { 0.75 } }
  /// Largest load of a driver with which the time alone is tried, if all threads were busy.
  private static var safe: Float { @_noLocks get { 0.8 } }

  /// Helpers are called to this period.
  private(set) var isShared = true
  private var isTrial = false
  /// A period has begun that will be judged.
  private(set) var isTiming = false
  /// Periods until the trial begins or ends.
  private var left = Teamwork.trial
  private let threads: Float
  /// Next number of periods together, and alone.
  private var stay = Teamwork.shortest
  private var wait = Teamwork.shortest
  private var plan: UnsafeMutablePointer<Plan>?
  private var start: Int64 = 0
  /// The latest times in nanoseconds a frame, in a ring.
  private let times: UnsafeMutablePointer<Float>
  private var next = 0
  /// Of the present way, since it began.
  private var sum: Float = 0
  private var count: Float = 0
  /// Results, in nanoseconds a frame.
  private var alone: Float = 0
  private var together: Float = 0

  /// Worker.
  init(threads: Int) {
    self.threads = Float(threads)
    times = .zeroed(Self.trial)
  }

  /// Worker.
  func deallocate() { times.deallocate() }

  /// Begins a period. Returns true when helpers are to be called.
  @_noLocks mutating func begin(_ next: UnsafeMutablePointer<Plan>, at time: Int64) -> Bool {
    if next != plan {
      // Another plan may be more worthwhile.
      plan = next
      wait = Self.shortest
      if !isShared, left > wait { left = wait }
    }
    start = time
    isTiming = true
    return isShared
  }

  /// Ends a period of `frames`. `load`: the driver's.
  @_noLocks mutating func end(frames: Int, at time: Int64, load: Float) {
    isTiming = false
    let taken = Float(time &- start) / Float(frames)
    times[next] = taken
    next = next &+ 1 == Self.trial ? 0 : next &+ 1
    if !isTrial || left <= Self.trial &- Self.warming {
      sum += taken
      count += 1
    }
    left &-= 1
    // Help may be needed.
    if !isShared, load > 0.5, left > Self.longestTogether { left = Self.longestTogether }
    guard left == 0 || isLost(taken) else { return }
    if isShared, !isTrial, load * threads > Self.safe {
      left = Self.longestTogether
    } else {
      decide()
    }
  }

  /// True when a trial together needs no more periods: they are too long already, or one of them was very long.
  @_noLocks private func isLost(_ taken: Float) -> Bool {
    guard isTrial, isShared else { return false }
    return sum > Self.worthwhile * alone * Float(Self.trial &- Self.warming) || taken > 16 * alone
  }

  @_noLocks private mutating func decide() {
    if isShared { together = sum / count } else { alone = median() }
    if isTrial {
      let isWorthwhile = together < Self.worthwhile * alone
      if !isWorthwhile {
        wait = min(2 &* wait, Self.longestAlone)
      } else if isShared {
        stay = Self.shortest
      } else {
        // Longer than a trial, it has been so.
        stay = min(2 &* stay, Self.longestTogether)
        wait = Self.shortest
      }
      isShared = isWorthwhile
      left = isShared ? stay : wait
    } else {
      isShared.toggle()
      left = Self.trial
    }
    isTrial.toggle()
    sum = 0
    count = 0
  }

  /// Median of the latest times, which it sorts.
  @_noLocks private func median() -> Float {
    let size = Self.trial
    var index = 1
    while index < size {
      let time = times[index]
      var place = index
      while place > 0, times[place &- 1] > time {
        times[place] = times[place &- 1]
        place &-= 1
      }
      times[place] = time
      index &+= 1
    }
    return times[size / 2]
  }
}
