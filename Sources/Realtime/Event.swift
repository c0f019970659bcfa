/// One musical or transport event on an event port.
public struct Event: Sendable, Equatable, BitwiseCopyable {
  /// Type of an event.
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
    /// Ends every held note and releases the pedals.
    case allNotesOff
    /// Panic: silences everything with a short fade.
    case allSoundOff
    /// Transport of a player: `time` is a position in seconds where it matters.
    case play, stop, cue
    /// Resets a General MIDI instrument: programs, controllers, tuning, drum channels.
    case reset
    /// Makes the channel a drum channel (`value` 1) or a melodic one (0).
    case rhythm
    /// Master tuning of the instrument: `value` in cents, the fine part (`key` 0) or the coarse one (`key` 1).
    case masterTuning
    /// Master volume of the instrument: `value` 0...1, the position of the controller.
    case masterVolume
    /// Single-note tuning change: `key`; `value` in semitones above key 0; `detail` the tuning program
    /// 0...127. `channel` 1: sounding notes follow.
    case keyTuning
    /// Octave tuning: `key` 0...11 within each octave; `value` in cents; `detail` a bit mask of channels.
    /// `channel` 1: sounding notes follow.
    case octaveTuning
    /// MIDI system message other than an exclusive one, such as the clock: `key` is the lower half of
    /// its status byte, `detail` its data, the lower 7 bits first.
    case system
    /// Whole system exclusive message: `detail` bytes that an `ExclusiveStore` has under the number in `time`'s bits.
    case exclusive
  }

  /// Type of the event.
  public var kind: Kind
  /// MIDI channel, 0...15.
  public var channel: UInt8
  /// MIDI key 0...127 (60 is C4), or a controller number.
  public var key: UInt8
  /// Value, in the unit that `kind` states.
  public var value: Float
  /// Frames from the block's start, 0..<64.
  public var offset: Int32
  /// Further data, as `kind` states.
  public var detail: Int32
  /// Seconds, for `play` and `cue`; NaN when not given.
  public var time: Double

  /// An event; unused fields keep their defaults.
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

  /// True when the event concerns all channels, or has a channel mask of its own.
  @inlinable public var isForAllChannels: Bool {
    @_noLocks get {
      switch kind {
      case .reset, .masterTuning, .masterVolume, .keyTuning, .octaveTuning, .system, .exclusive: true
      default: false
      }
    }
  }
}

extension Event {
  /// True for events that end something: a note, a pedal's hold, all notes, a player's file. Without such an
  /// event the sound would last for ever.
  public var isEnding: Bool { @_noLocks get { LateEndings.place(of: self) >= 0 } }
}

/// The events of one port in one block, in order of `offset`. The capacity is fixed; events that do not fit
/// are counted in `dropped`.
///
/// Endings (`Event.isEnding`) always fit. In a full queue they come last, after all other events, and once
/// each: no note can begin behind them.
public struct EventQueue: BitwiseCopyable {
  /// Events in order of their offsets; endings beyond them have storage of their own.
  @inlinable public static var capacity: Int { @_noLocks get { 512 } }
  @usableFromInline let storage: UnsafeMutablePointer<Event>
  private let late: LateEndings
  /// Number of events.
  public private(set) var count = 0
  /// Number of events that did not fit since the last `takeDropped`.
  public private(set) var dropped = 0
  /// Offset of the endings behind a full queue.
  private var lateOffset: Int32 = 0

  /// Allocates an empty queue. Worker.
  public init() {
    storage = .allocate(capacity: Self.capacity)
    late = LateEndings()
  }

  /// Frees the memory. Worker.
  public func deallocate() {
    storage.deallocate()
    late.deallocate()
  }

  /// Event by its order; `index` < `count`.
  @inlinable public subscript(_ index: Int) -> Event {
    @_noLocks get { index < Self.capacity ? storage[index] : lateEvent(index &- Self.capacity) }
  }

  @usableFromInline @_noLocks func lateEvent(_ number: Int) -> Event {
    var event = late.event(number)
    event.offset = lateOffset
    return event
  }

  /// Inserts after all events of the same or an earlier offset. Audio thread.
  @_noLocks public mutating func append(_ event: Event) {
    guard count < Self.capacity else { return appendLate(event) }
    var index = count
    while index > 0, storage[index &- 1].offset > event.offset {
      storage[index] = storage[index &- 1]
      index &-= 1
    }
    storage[index] = event
    count &+= 1
  }

  @_noLocks private mutating func appendLate(_ event: Event) {
    let place = LateEndings.place(of: event)
    guard place >= 0 else {
      dropped &+= 1
      return
    }
    if count == Self.capacity {
      late.clear()
      lateOffset = storage[count &- 1].offset
    }
    if event.offset > lateOffset { lateOffset = event.offset }
    if late.insert(place) { count &+= 1 }
  }

  /// Empties the queue. Audio thread.
  @_noLocks public mutating func removeAll() { count = 0 }

  /// Returns the number of dropped events and resets it. Audio thread.
  @_noLocks public mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }
}

/// Every possible ending as a bit set, so that all always fit. A handle.
struct LateEndings: BitwiseCopyable {
  /// Notes by channel and key. Then, by channel, pedal releases (sustain, sostenuto, soft) and controllers
  /// that end notes (120, 121, 123 and above). Then the events that end everything.
  private let words: UnsafeMutablePointer<UInt64>
  private static var count: Int { @_noLocks get { 35 } }
  private static var pedals: Int { @_noLocks get { 2048 } }
  private static var controllers: Int { @_noLocks get { 2112 } }
  private static var rest: Int { @_noLocks get { 2176 } }

  init() {
    words = .allocate(capacity: Self.count)
    words.initialize(repeating: 0, count: Self.count)
  }

  func deallocate() { words.deallocate() }

  /// Bit index of an ending; -1 for other events.
  @_noLocks static func place(of event: Event) -> Int {
    let channel = Int(event.channel & 15)
    switch event.kind {
    case .noteOff: return channel &* 128 &+ Int(event.key & 127)
    case .control:
      switch event.key {
      case 64: return event.value < 64 ? pedals &+ channel : -1
      case 66: return event.value < 64 ? pedals &+ 16 &+ channel : -1
      case 67: return event.value < 64 ? pedals &+ 32 &+ channel : -1
      case 120: return controllers &+ channel
      case 121: return controllers &+ 16 &+ channel
      case 123...127: return controllers &+ 32 &+ channel
      default: return -1
      }
    case .allNotesOff: return rest
    case .allSoundOff: return rest &+ 1
    case .stop: return rest &+ 2
    default: return -1
    }
  }

  @_noLocks private static func event(at place: Int) -> Event {
    let channel = UInt8(truncatingIfNeeded: place & 15)
    if place < pedals {
      return Event(
        .noteOff, channel: UInt8(truncatingIfNeeded: place >> 7), key: UInt8(truncatingIfNeeded: place & 127),
        value: 64)
    }
    if place < controllers {
      let pedal = (place &- pedals) >> 4
      return Event(.control, channel: channel, key: pedal == 0 ? 64 : pedal == 1 ? 66 : 67)
    }
    if place < rest {
      let controller = (place &- controllers) >> 4
      return Event(.control, channel: channel, key: controller == 0 ? 120 : controller == 1 ? 121 : 123)
    }
    return Event(place == rest ? .allNotesOff : place == rest &+ 1 ? .allSoundOff : .stop)
  }

  @_noLocks func clear() { setMemory(words, 0, Self.count &* 8) }

  /// Returns false if it is there already.
  @_noLocks func insert(_ place: Int) -> Bool {
    let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: place & 63)
    guard words[place >> 6] & bit == 0 else { return false }
    words[place >> 6] |= bit
    return true
  }

  /// The ending with this number among those present.
  @_noLocks func event(_ number: Int) -> Event {
    var left = number
    var word = 0
    while word < Self.count, left >= words[word].nonzeroBitCount {
      left &-= words[word].nonzeroBitCount
      word &+= 1
    }
    guard word < Self.count else { return Event(.allNotesOff) }
    var bits = words[word]
    while left > 0 {
      bits &= bits &- 1
      left &-= 1
    }
    return Self.event(at: word &* 64 &+ bits.trailingZeroBitCount)
  }
}
