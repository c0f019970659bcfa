import Synchronization

/// Bytes of system exclusive messages that are on their way through a driver, so that events stay small. The oldest are
/// overwritten: a message lives until 256 KB more have arrived. One thread adds, any thread reads. A handle.
public struct ExclusiveStore: Sendable {
  /// Length of the longest message, in bytes.
  @inlinable public static var longest: Int { @_noLocks get { 1 << 16 } }
  private static var capacity: Int { @_noLocks get { 1 << 18 } }

  nonisolated(unsafe) private let bytes: UnsafeMutablePointer<UInt8>
  /// Number of all bytes ever added, that of a message under way included.
  nonisolated(unsafe) private let added: UnsafeMutablePointer<Atomic<Int>>
  private let first: Int

  /// An empty store. Messages of another store are none of its own. Worker.
  public init() {
    bytes = .allocate(capacity: Self.capacity)
    bytes.initialize(repeating: 0, count: Self.capacity)
    // Numbers of different stores lie far apart; 0 is none.
    first = Self.stores.wrappingAdd(1, ordering: .relaxed).newValue << 44
    added = .allocate(capacity: 1)
    added.initialize(to: Atomic(first))
  }

  private static let stores = Atomic<Int>(0)

  /// Frees the memory. Worker.
  public func deallocate() {
    bytes.deallocate()
    added.deallocate()
  }

  /// Keeps a message, first and last byte included; nil when it is too long. Audio thread.
  @_noLocks public func add(_ message: UnsafePointer<UInt8>, count: Int, offset: Int32 = 0) -> Event? {
    guard count > 0, count <= Self.longest else { return nil }
    let place = added.pointee.load(ordering: .relaxed)
    // Before the bytes, so that a reader of what they overwrite notices.
    added.pointee.store(place &+ count, ordering: .sequentiallyConsistent)
    var index = 0
    while index < count {
      bytes[(place &+ index) & (Self.capacity &- 1)] = message[index]
      index &+= 1
    }
    return Event(
      .exclusive, offset: offset, detail: Int32(count),
      time: Double(bitPattern: UInt64(bitPattern: Int64(place))))
  }

  /// Copies a message of `event.detail` bytes, or as many of them as `count`, from `first` on. Returns false if it is not there
  /// any more. Audio thread.
  @_noLocks public func copy(
    _ event: Event, from first: Int = 0, count: Int? = nil, to target: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    let place = Int(Int64(bitPattern: event.time.bitPattern)) &+ first
    let count = count ?? Int(event.detail)
    guard holds(event) else { return false }
    var index = 0
    while index < count {
      target[index] = bytes[(place &+ index) & (Self.capacity &- 1)]
      index &+= 1
    }
    return holds(event)
  }

  /// True while the message's bytes are there. Audio thread.
  @_noLocks public func holds(_ event: Event) -> Bool {
    isThere(Int(Int64(bitPattern: event.time.bitPattern)), Int(event.detail))
  }

  @_noLocks private func isThere(_ place: Int, _ count: Int) -> Bool {
    let end = added.pointee.load(ordering: .sequentiallyConsistent)
    return place >= first && count > 0 && place &+ count <= end && end &- place <= Self.capacity
  }
}
