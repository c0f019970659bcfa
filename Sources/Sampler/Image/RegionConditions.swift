import Realtime

/// Condition: a controller must lie within `low...high` for a region to sound.
package struct ControlRange: BitwiseCopyable {
  package var control: UInt16
  package var low: Float
  package var high: Float

  package init(control: UInt16, low: Float, high: Float) {
    (self.control, self.low, self.high) = (control, low, high)
  }

  /// True for a message of this controller and value. Audio thread.
  @_noLocks func takes(_ control: Int, _ value: Float) -> Bool {
    Int(self.control) == control && value >= low && value <= high
  }
}

/// Note priority of mutually exclusive notes.
package enum NotePriority: UInt8, BitwiseCopyable {
  case none, highest, last, lowest

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Loop mode of a region.
package enum LoopMode: UInt8, BitwiseCopyable {
  /// Plays to its end; a note off starts the release.
  case none
  /// Plays to its end regardless of the key.
  case oneShot
  /// Loops until the envelope has ended.
  case continuous
  /// Loops while the note is held, then plays on to the end.
  case sustain

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Direction of a loop.
package enum LoopType: UInt8, BitwiseCopyable {
  case forward, backward
  /// Forward and backward in turn.
  case alternate
}

/// Trigger of a region.
package enum Trigger: UInt8, BitwiseCopyable {
  case attack
  /// On the note off, delayed by the pedal.
  case release
  /// On the note off, regardless of the pedal.
  case releaseKey
  /// Like `attack`, when no other key is held.
  case first
  /// Like `attack`, when another key is held.
  case legato

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// Controllers used as a region's pedals (255: none), and the values from which they are down: any
/// value above 0, for half-pedalling.
package struct Pedals: Hashable, BitwiseCopyable {
  package var sustain: UInt8 = 64
  package var sustainLow: Float = 0.5
  package var sostenuto: UInt8 = 66
  package var sostenutoLow: Float = 0.5

  package init(sustainLow: Float = 0.5, sostenutoLow: Float = 0.5) {
    self.sustainLow = sustainLow
    self.sostenutoLow = sostenutoLow
  }

  /// MIDI's: switches, down from the middle on.
  package static let switches = Pedals(sustainLow: 64, sostenutoLow: 64)
}

/// Key switches, as conditions (-1: any): the last articulation key, a key that is down, a key that is up,
/// and the previous note.
package struct KeySwitches: Hashable, BitwiseCopyable {
  package var last: Int32 = -1
  /// Last of a range of articulation keys that select the region.
  package var lastHigh: Int32 = -1
  package var down: Int32 = -1
  package var up: Int32 = -1
  package var previous: Int32 = -1

  package init() {}

  package static let none = KeySwitches()

  /// True without any condition.
  package var isAny: Bool { @_noLocks get { last & down & up & previous == -1 } }
}

/// Crossfade ranges of a region by key and by velocity; `low == high` is no fade.
package struct CrossfadeRanges: BitwiseCopyable {
  package var keyInLow: Float = 0
  package var keyInHigh: Float = 0
  package var keyOutLow: Float = 127
  package var keyOutHigh: Float = 127
  package var velocityInLow: Float = 0
  package var velocityInHigh: Float = 0
  package var velocityOutLow: Float = 127
  package var velocityOutHigh: Float = 127
  /// Squares add up to one (equal power), otherwise the gains do.
  package var keyPower = true
  package var velocityPower = true

  package init() {}

  /// The gain for a note. Audio thread.
  @_noLocks func gain(key: Float, velocity: Float) -> Float {
    Self.rise(key, keyInLow, keyInHigh, keyPower) * Self.fall(key, keyOutLow, keyOutHigh, keyPower)
      * Self.rise(velocity, velocityInLow, velocityInHigh, velocityPower)
      * Self.fall(velocity, velocityOutLow, velocityOutHigh, velocityPower)
  }

  @_noLocks private static func rise(_ x: Float, _ low: Float, _ high: Float, _ power: Bool) -> Float {
    if x < low { return 0 }
    if x >= high || high <= low { return 1 }
    let t = (x - low) / (high - low)
    return power ? squareRoot(t) : t
  }

  @_noLocks private static func fall(_ x: Float, _ low: Float, _ high: Float, _ power: Bool) -> Float {
    if x > high { return 0 }
    if x <= low || high <= low { return 1 }
    let t = (high - x) / (high - low)
    return power ? squareRoot(t) : t
  }
}
