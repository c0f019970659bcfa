/// Events for one of the driver's MIDI output ports in one period. Each event is one MIDI message.
public struct MidiOutput: BitwiseCopyable {
  /// Maximum number of ports.
  @inlinable public static var ports: Int { @_noLocks get { 16 } }

  /// Events of the period, to which kernels append; offsets count from its start.
  public let events: UnsafeMutablePointer<EventQueue>
  /// Endings that the driver had no room for: they come first in the next period, or a note would hang.
  private let late: UnsafeMutablePointer<EventQueue>
  /// Notes and pedals that the receivers hold.
  private let held: HeldNotes
  /// Place of the next event to send: among the late ones, then in the period.
  private var place = 0
  private var isSendingLate = true
  /// The driver has refused a late ending; nothing overtakes it.
  private var isBlocked = false
  /// A system exclusive message of which a part was sent, or nothing yet; the rest follows in the next periods.
  public private(set) var begun: Event?
  /// Bytes of it that were sent.
  public private(set) var begunBytes = 0
  private var brokenOff = 0

  /// Allocates an empty output. Worker.
  public init() {
    events = .allocate(capacity: 1)
    events.initialize(to: EventQueue())
    late = .allocate(capacity: 1)
    late.initialize(to: EventQueue())
    let memory = UnsafeMutableRawPointer.allocate(byteCount: HeldNotes.size, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: HeldNotes.size)
    held = HeldNotes(memory: memory)
  }

  /// Frees the memory. Worker.
  public func deallocate() {
    events.pointee.deallocate()
    events.deallocate()
    late.pointee.deallocate()
    late.deallocate()
    held.deallocate()
  }

  /// Ends all that the receivers hold, in the next `flush`. Audio thread.
  @_noLocks public mutating func endAll() {
    events.pointee.removeAll()
    held.end(into: late)
    if begun != nil { breakOff() }
  }

  /// The event to send next, of the late ones and then of the period; nil when none is left. Audio thread.
  @_noLocks public mutating func next() -> Event? {
    if isSendingLate {
      if !isBlocked, place < late.pointee.count { return late.pointee[place] }
      // A queue cannot drop its first events alone; an ending that is sent twice does no harm.
      if !isBlocked { late.pointee.removeAll() }
      (isSendingLate, place) = (false, 0)
    }
    return place < events.pointee.count ? events.pointee[place] : nil
  }

  /// True if the last event of `next` may be sent now: nothing but messages of real time comes into the middle of another.
  /// Audio thread.
  @_noLocks public func admits(_ event: Event) -> Bool {
    event.kind == .system && event.key >= 8 || !isBlocked && begun == nil
  }

  /// Takes note that a system exclusive message was sent up to a byte. Audio thread.
  @_noLocks public mutating func proceed(with message: Event, to byte: Int) {
    begun = byte < Int(message.detail) ? message : nil
    begunBytes = byte
  }

  /// Gives up the message that was begun: its bytes are gone. Audio thread.
  @_noLocks public mutating func breakOff() {
    begun = nil
    brokenOff &+= 1
  }

  /// Takes note that the last event of `next` was sent, or that there was no room. Returns true if it is lost: an ending
  /// is sent later. Audio thread.
  @_noLocks public mutating func settle(isSent: Bool) -> Bool {
    defer { place &+= 1 }
    if !isSent { isBlocked = true }
    guard !isSendingLate else { return false }
    var event = events.pointee[place]
    if isSent || event.isEnding { held.track(event) }
    if isSent || !event.isEnding { return !isSent }
    event.offset = 0
    late.pointee.append(event)
    return false
  }

  /// Forgets the period's events. Returns the number of those that had no room here, and of messages that were broken off.
  /// Audio thread.
  @_noLocks public mutating func removeAll() -> Int {
    (place, isSendingLate, isBlocked) = (0, true, false)
    events.pointee.removeAll()
    defer { brokenOff = 0 }
    return events.pointee.takeDropped() &+ brokenOff
  }
}
