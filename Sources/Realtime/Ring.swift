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
  init(capacity: Int, size: Int, stride: Int) {
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

  /// Hands over the element at the reserved place. Writing thread.
  @_noLocks func commit() {
    let position = positions.pointee.written.load(ordering: .relaxed)
    positions.pointee.written.store(position &+ 1, ordering: .releasing)
  }

  /// The oldest element, in place until `pop`; nil when the ring is empty. Reading thread.
  @_noLocks public func peek() -> UnsafeMutableRawPointer? {
    let position = positions.pointee.read.load(ordering: .relaxed)
    guard position != positions.pointee.written.load(ordering: .acquiring) else { return nil }
    return storage + (position & mask) &* stride
  }

  /// Removes the oldest element. Reading thread.
  @_noLocks public func pop() {
    let position = positions.pointee.read.load(ordering: .relaxed)
    positions.pointee.read.store(position &+ 1, ordering: .releasing)
  }
}
