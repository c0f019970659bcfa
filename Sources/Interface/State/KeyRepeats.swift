/// Presses in a terminal that reports no releases: tells the presses of fingers from those that a key repeats while it is
/// held down. Only the key pressed last repeats, after a delay that is the terminal's own and is learned from the first
/// key held. Times are seconds of one clock.
struct KeyRepeats<Place: Hashable> {
  enum Press {
    /// By a finger.
    case new
    /// By a finger, or the first repeat of a held key, as the delay is not known yet: the next `interval` decides.
    case doubtful
    /// The repeat that shows that the doubtful press before it was one.
    case confirmed
    /// A further repeat.
    case repeated
  }

  /// Longest time between two repeats; terminals need 20 to 100 ms.
  static var interval: Double { 0.12 }
  /// Longest delay of the first repeat.
  private static var longestDelay: Double { 1.2 }
  /// Repeats that show that a key is held, evenly spaced: fingers may press a key twice in so short a time.
  private static var evidence: Int { 3 }
  /// How evenly.
  private static var unevenness: Double { 0.02 }
  /// A press that comes after the known delay is a repeat. Events may be handled late, and a finger that hits that very
  /// moment is not noticed: a held key must not end its note.
  private static var jitter: ClosedRange<Double> { -0.02...0.05 }

  /// The delay of the terminal's first repeat, as far as it is known.
  private(set) var delay: Double?
  private var last: (place: Place, time: Double)?
  private var isRepeating = false
  private var doubt: Double?
  /// The delay that further repeats would prove, the time between the first two of them, and their number.
  private var suspect: (delay: Double, interval: Double?, repeats: Int)?

  /// The meaning of a press.
  mutating func press(_ place: Place, at now: Double) -> Press {
    guard let last, last.place == place else {
      suspect = nil
      return begin(place, now)
    }
    if let doubt, now - doubt < Self.interval {
      suspect = (doubt - last.time, nil, 0)
      learn(from: now - doubt)
      (isRepeating, self.doubt, self.last) = (true, nil, (place, now))
      return .confirmed
    }
    let start = doubt ?? last.time
    let gap = now - start
    if gap < Self.interval {
      learn(from: gap)
      (isRepeating, self.last) = (true, (place, now))
      return .repeated
    }
    suspect = nil
    guard !isRepeating else { return begin(place, now) }
    if let delay {
      guard Self.jitter.contains(gap - delay) else {
        // The delay may have been learned from fingers, or the terminal may have another one now.
        if gap < Self.longestDelay { suspect = (gap, nil, 0) }
        return begin(place, now)
      }
      (isRepeating, self.last) = (true, (place, now))
      return .repeated
    }
    guard gap < Self.longestDelay else { return begin(place, now) }
    self.last = (place, start)
    doubt = now
    return .doubtful
  }

  /// Learns the delay as soon as even repeats have followed it.
  private mutating func learn(from gap: Double) {
    guard var suspect else { return }
    if let interval = suspect.interval, abs(gap - interval) > Self.unevenness {
      self.suspect = nil
      return
    }
    suspect.interval = suspect.interval ?? gap
    suspect.repeats += 1
    self.suspect = suspect
    if suspect.repeats >= Self.evidence { delay = suspect.delay }
  }

  private mutating func begin(_ place: Place, _ now: Double) -> Press {
    (last, isRepeating, doubt) = ((place, now), false, nil)
    return .new
  }

  /// The key whose doubtful press has turned out to be a finger's; nil: none, or not yet.
  mutating func settle(at now: Double) -> Place? {
    guard let place = last?.place, let time = doubt, now - time >= Self.interval else { return nil }
    (last, doubt) = ((place, time), nil)
    return place
  }

  /// True while that key is held and repeats.
  func isHeld(_ place: Place, at now: Double) -> Bool {
    guard let last, last.place == place, isRepeating else { return false }
    return now - last.time < 1.5 * Self.interval
  }

  /// True when that key has repeated, and no other has been pressed since.
  func hasRepeated(_ place: Place) -> Bool { isRepeating && last?.place == place }
}
