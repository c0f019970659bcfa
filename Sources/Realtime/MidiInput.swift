/// What came in on one of the driver's MIDI ports in one period.
public struct MidiInput: BitwiseCopyable {
  /// Ports that there may be, and events of one port in one period, as many as the queue of a node holds; what
  /// is beyond is counted.
  @inlinable public static var ports: Int { @_noLocks get { 16 } }
  @inlinable public static var capacity: Int { @_noLocks get { EventQueue.capacity } }

  /// In order of their offsets, which count from the period's start.
  public let events: UnsafeMutablePointer<Event>
  public private(set) var count = 0
  /// Of this period.
  public private(set) var dropped = 0
  /// Another number, from 1 on, each time that what was connected is gone: what it held ends, before these
  /// events.
  public var era: Int

  /// Worker.
  public init(era: Int) {
    events = .allocate(capacity: Self.capacity)
    self.era = era
  }

  /// Worker.
  public func deallocate() { events.deallocate() }

  /// Inserts behind all events of the same or an earlier offset. Audio thread.
  @_noLocks public mutating func append(_ event: Event) {
    guard count < Self.capacity else {
      dropped &+= 1
      return
    }
    var index = count
    while index > 0, events[index &- 1].offset > event.offset {
      events[index] = events[index &- 1]
      index &-= 1
    }
    events[index] = event
    count &+= 1
  }

  /// Audio thread.
  @_noLocks public mutating func removeAll() {
    count = 0
    dropped = 0
  }
}
