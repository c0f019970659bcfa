/// What came in on one of the driver's MIDI ports in one period.
public struct MidiInput: BitwiseCopyable {
  /// Ports that there may be.
  @inlinable public static var ports: Int { @_noLocks get { 16 } }

  /// Offsets count from the period's start.
  public private(set) var events = EventQueue()
  public var count: Int { @_noLocks get { events.count } }
  /// Of this period.
  public var dropped: Int { @_noLocks get { events.dropped } }
  /// Another number, from 1 on, each time that what was connected is gone: what it held ends, before these
  /// events.
  public var era: Int

  /// Worker.
  public init(era: Int) { self.era = era }

  /// Worker.
  public func deallocate() { events.deallocate() }

  /// Inserts behind all events of the same or an earlier offset. Audio thread.
  @_noLocks public mutating func append(_ event: Event) { events.append(event) }

  /// Audio thread.
  @_noLocks public mutating func removeAll() {
    events.removeAll()
    _ = events.takeDropped()
  }
}
