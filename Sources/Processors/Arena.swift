/// Bump allocator for a kernel's memory: arrays on 64-byte boundaries. It can also merely count the bytes
/// needed.
struct Arena {
  private let base: UnsafeMutableRawPointer
  private(set) var bytes = 0

  /// Audio thread.
  @_noLocks init(_ memory: UnsafeMutableRawPointer) { base = memory }

  /// Only counts bytes: the memory that it hands out must not be touched. Worker.
  init(measuring: Void) { base = UnsafeMutableRawPointer(bitPattern: 4096)! }

  @_noLocks mutating func take(_ type: Float.Type, _ count: Int) -> UnsafeMutablePointer<Float> {
    reserve(count &* 4).assumingMemoryBound(to: Float.self)
  }

  /// Worker.
  mutating func take<T: BitwiseCopyable>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
    reserve(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
  }

  /// `size` bytes from the next 64-byte boundary. Audio thread.
  @_noLocks mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
    let start = base + bytes
    bytes &+= (size &+ 63) & ~63
    return start
  }
}
