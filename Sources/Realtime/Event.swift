/// One musical or transport event, as event ports carry it.
public struct Event: Sendable, Equatable, BitwiseCopyable {
  public enum Kind: UInt8, Sendable, BitwiseCopyable {
    /// `key`, `value` = velocity 1...127.
    case noteOn
    /// `key`, `value` = release velocity 0...127.
    case noteOff
    /// `key` = controller number (64 is the sustain pedal), `value` 0...127.
    case control
    /// `value` -1...1 of the bend range.
    case bend
    /// Channel pressure, `value` 0...127.
    case pressure
    /// Polyphonic pressure, `key`, `value` 0...127.
    case keyPressure
    /// `value` = program number.
    case program
    /// Every held note gets its note off; the pedals go up.
    case allNotesOff
    /// Everything falls silent with a short fade: panic.
    case allSoundOff
    /// Transport of a player: `time` is a position in seconds where it matters.
    case play, stop, cue
    /// An instrument of General MIDI is as at first: programs, controllers, tuning, which channel has drums.
    case reset
    /// The channel has drums (`value` 1) or a melodic program (0).
    case rhythm
    /// The whole instrument's pitch: `value` cents, fine (`key` 0) or by semitones (`key` 1).
    case masterTuning
    /// A key in one of the tunings that a channel can choose: `key`, `value` semitones above key 0, `detail` the
    /// tuning 0...127. `channel` 1: notes that sound follow.
    case keyTuning
    /// One of the twelve notes of each octave: `key` 0...11, `value` cents, `detail` a bit for each channel.
    /// `channel` 1: notes that sound follow.
    case octaveTuning
  }

  public var kind: Kind
  public var channel: UInt8
  /// MIDI key 0...127 (60 is C4), or a controller number.
  public var key: UInt8
  public var value: Float
  /// Frames from the block's start, 0..<64.
  public var offset: Int32
  /// What `kind` says.
  public var detail: Int32
  /// Seconds, for `play` and `cue`; NaN when not given.
  public var time: Double

  @inlinable @_noLocks public init(
    _ kind: Kind, channel: UInt8 = 0, key: UInt8 = 0, value: Float = 0, offset: Int32 = 0,
    detail: Int32 = 0, time: Double = .nan
  ) {
    self.kind = kind
    self.channel = channel
    self.key = key
    self.value = value
    self.offset = offset
    self.detail = detail
    self.time = time
  }

  /// It is for all channels, or says itself for which.
  @inlinable public var isForAllChannels: Bool {
    @_noLocks get {
      switch kind {
      case .reset, .masterTuning, .keyTuning, .octaveTuning: true
      default: false
      }
    }
  }
}

/// The events of one port in one block, in order of `offset`. Fixed room; what does not fit is
/// counted in `dropped`, never silently lost.
public struct EventQueue {
  @inlinable public static var capacity: Int { @_noLocks get { 512 } }
  public let storage: UnsafeMutablePointer<Event>
  public private(set) var count = 0
  public private(set) var dropped = 0

  /// Worker.
  public init() { storage = .allocate(capacity: Self.capacity) }
  /// Worker.
  public func deallocate() { storage.deallocate() }

  @inlinable public subscript(_ index: Int) -> Event { @_noLocks get { storage[index] } }

  /// Inserts after all events of the same or an earlier offset. Audio thread.
  @_noLocks public mutating func append(_ event: Event) {
    guard count < Self.capacity else {
      dropped &+= 1
      return
    }
    var index = count
    while index > 0, storage[index &- 1].offset > event.offset {
      storage[index] = storage[index &- 1]
      index &-= 1
    }
    storage[index] = event
    count &+= 1
  }

  @_noLocks public mutating func removeAll() { count = 0 }
}
