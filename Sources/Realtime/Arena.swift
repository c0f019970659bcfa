/// Bump allocator for a kernel's memory: arrays on 64-byte boundaries. It can also merely count the bytes
/// needed, so that one function both measures and lays out.
public struct Arena {
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline var taken = 0

  /// Bytes handed out so far, up to the next boundary.
  @inlinable public var bytes: Int { @_noLocks get { taken } }

  /// Hands out the memory from a 64-byte boundary on. Audio thread.
  @inlinable @_noLocks public init(_ memory: UnsafeMutableRawPointer) { base = memory }

  /// Only counts bytes: the memory that it hands out must not be touched. Audio thread.
  @inlinable @_noLocks public init(measuring: Void) { base = UnsafeMutableRawPointer(bitPattern: 4096)! }

  /// Bytes that a layout takes; it must not touch its memory. Worker.
  @inlinable public static func bytes<T>(of layout: (inout Arena) -> T) -> Int {
    var arena = Arena(measuring: ())
    _ = layout(&arena)
    return arena.bytes
  }

  /// Memory for some floats. Audio thread.
  @inlinable @_noLocks
  public mutating func take(_ type: Float.Type, _ count: Int) -> UnsafeMutablePointer<Float> {
    reserve(count &* 4).assumingMemoryBound(to: Float.self)
  }

  /// Memory for some whole numbers. Audio thread.
  @inlinable @_noLocks
  public mutating func take(_ type: Int32.Type, _ count: Int) -> UnsafeMutablePointer<Int32> {
    reserve(count &* 4).assumingMemoryBound(to: Int32.self)
  }

  /// Memory for some floats that follow `history` others. Audio thread.
  @inlinable @_noLocks
  public mutating func take(
    _ type: Float.Type, _ count: Int, after history: Int
  ) -> UnsafeMutablePointer<Float> {
    take(type, history &+ count) + history
  }

  /// Memory for some values. Worker.
  @inlinable
  public mutating func take<T: BitwiseCopyable>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
    reserve(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
  }

  /// `size` bytes from the next 64-byte boundary. Audio thread.
  @inlinable @_noLocks public mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
    let start = base + taken
    taken &+= (size &+ 63) & ~63
    return start
  }
}
