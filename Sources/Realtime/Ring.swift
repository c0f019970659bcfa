import Synchronization

/// A bounded, wait-free queue from one thread to one other; elements are copied as bytes.
///
/// It is not generic, since the compiler checks only specialised code. The owner of the ring knows the
/// element type. It is a handle: copying it counts no references.
public struct Ring: @unchecked Sendable {
  private struct Positions: ~Copyable {
    /// Total numbers of elements written and read; each is stored by one side only.
    let written = Atomic<Int>(0)
    let read = Atomic<Int>(0)
  }

  private let positions: UnsafeMutablePointer<Positions>
  private let storage: UnsafeMutableRawPointer
  private let stride: Int
  /// Bytes copied per element, without the padding up to its stride.
  private let size: Int
  private let mask: Int

  /// `capacity` is rounded up to a power of two. Worker.
  public init<Element: BitwiseCopyable>(capacity: Int, of element: Element.Type) {
    self.init(capacity: capacity, size: MemoryLayout<Element>.size, stride: MemoryLayout<Element>.stride)
  }

  /// For elements of `size` bytes, whose layout the owner decides at run time. Worker.
  package init(capacity: Int, size: Int, stride: Int) {
    var count = 1
    while count < capacity { count *= 2 }
    mask = count - 1
    self.stride = stride
    self.size = size
    storage = .allocate(byteCount: count * stride, alignment: 64)
    storage.initializeMemory(as: UInt8.self, repeating: 0, count: count * stride)
    positions = .allocate(capacity: 1)
    positions.initialize(to: Positions())
  }

  /// Call this when both threads are done with it. Worker.
  public func deallocate() {
    storage.deallocate()
    positions.deinitialize(count: 1)
    positions.deallocate()
  }

  /// Copies one element in; false when the ring is full. Writing thread.
  @_noLocks public func push(_ element: UnsafeRawPointer) -> Bool {
    let position = positions.pointee.written.load(ordering: .relaxed)
    guard position &- positions.pointee.read.load(ordering: .acquiring) <= mask else { return false }
    copyMemory(storage + (position & mask) &* stride, element, size)
    positions.pointee.written.store(position &+ 1, ordering: .releasing)
    return true
  }

  /// The place of the next element, to be written before `commit`; nil when the ring is full. Writing thread.
  @_noLocks func reserve() -> UnsafeMutableRawPointer? {
    let position = positions.pointee.written.load(ordering: .relaxed)
    guard position &- positions.pointee.read.load(ordering: .acquiring) <= mask else { return nil }
    return storage + (position & mask) &* stride
  }

  /// Places of the next elements that lie side by side, and how many they are: at most `count`. They are to be written
  /// before `commit`. Writing thread.
  @_noLocks public func reserve(upTo count: Int) -> (first: UnsafeMutableRawPointer, count: Int) {
    let position = positions.pointee.written.load(ordering: .relaxed)
    let room = mask &+ 1 &- (position &- positions.pointee.read.load(ordering: .acquiring))
    return run(from: position, least(count, room))
  }

  /// Hands over elements at reserved places. Writing thread.
  @_noLocks public func commit(_ count: Int = 1) {
    let position = positions.pointee.written.load(ordering: .relaxed)
    positions.pointee.written.store(position &+ count, ordering: .releasing)
  }

  /// Number of elements that wait. Either thread; the other changes it meanwhile, in one direction.
  public var count: Int {
    @_noLocks get {
      positions.pointee.written.load(ordering: .acquiring)
        &- positions.pointee.read.load(ordering: .acquiring)
    }
  }

  /// Number of elements that there is room for, as `count`.
  public var room: Int { @_noLocks get { mask &+ 1 &- count } }

  @_noLocks private func run(
    from position: Int, _ count: Int
  ) -> (first: UnsafeMutableRawPointer, count: Int) {
    let place = position & mask
    return (storage + place &* stride, least(count, mask &+ 1 &- place))
  }

  @_noLocks private func least(_ one: Int, _ other: Int) -> Int { one < other ? one : other }

  /// The oldest element, in place until `pop`; nil when the ring is empty. Reading thread.
  @_noLocks public func peek() -> UnsafeMutableRawPointer? { peek(behind: 0) }

  /// The element with so many older ones; nil when there is none. Reading thread.
  @_noLocks public func peek(behind older: Int) -> UnsafeMutableRawPointer? {
    let position = positions.pointee.read.load(ordering: .relaxed) &+ older
    guard positions.pointee.written.load(ordering: .acquiring) &- position > 0 else { return nil }
    return storage + (position & mask) &* stride
  }

  /// The oldest elements that lie side by side, in place until `pop`, and how many they are: at most `count`. Reading
  /// thread.
  @_noLocks public func peek(upTo count: Int) -> (first: UnsafeMutableRawPointer, count: Int) {
    let position = positions.pointee.read.load(ordering: .relaxed)
    return run(
      from: position, least(count, positions.pointee.written.load(ordering: .acquiring) &- position))
  }

  /// Removes the oldest elements. Reading thread.
  @_noLocks public func pop(_ count: Int = 1) {
    let position = positions.pointee.read.load(ordering: .relaxed)
    positions.pointee.read.store(position &+ count, ordering: .releasing)
  }
}
