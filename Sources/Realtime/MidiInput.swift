/// Events received on one of the driver's MIDI ports in one period.
public struct MidiInput: BitwiseCopyable {
  /// Maximum number of ports.
  @inlinable public static var ports: Int { @_noLocks get { 16 } }

  /// Offsets count from the period's start.
  public private(set) var events = EventQueue()
  /// Number of events.
  public var count: Int { @_noLocks get { events.count } }
  /// Events dropped in this period.
  public var dropped: Int { @_noLocks get { events.dropped } }
  /// Connection generation, from 1. It changes each time a connection is lost; notes held until then end
  /// before these events.
  public var generation: Int

  /// Allocates an empty input. Worker.
  public init(generation: Int) { self.generation = generation }

  /// Frees the memory. Worker.
  public func deallocate() { events.deallocate() }

  /// Inserts after all events of the same or an earlier offset. Audio thread.
  @_noLocks public mutating func append(_ event: Event) { events.append(event) }

  /// Empties the queue. Audio thread.
  @_noLocks public mutating func removeAll() {
    events.removeAll()
    _ = events.takeDropped()
  }
}
