/// Memory of a kernel beside its slot: delay lines, tables, filter states. Worker.
struct KernelMemory {
  let base: UnsafeMutableRawPointer
  let size: Int
  fileprivate let pool: KernelMemoryPool

  /// Call this after the audio thread has released it.
  func deallocate() { pool.give(self) }

  /// Further memory from the same pool.
  func another(_ size: Int) -> KernelMemory { pool.take(size) }
}

/// Memory pool for kernels. Large pieces are kept for reuse at the same size: mapping new pages costs a page
/// fault per 4 KiB, and unmapping interrupts the threads on every processor. Worker.
final class KernelMemoryPool {
  private static let largeSize = 1 << 17
  /// Limit of bytes in kept large pieces.
  private static let most = 1 << 26
  private let small = RowPool()
  private var spare: [Int: [UnsafeMutableRawPointer]] = [:]
  private var kept = 0

  deinit {
    for pieces in spare.values { for piece in pieces { piece.deallocate() } }
  }

  /// Zeroed memory, cache-line aligned, every page touched.
  func take(_ bytes: Int) -> KernelMemory {
    let size = max(bytes, 64)
    if size < Self.largeSize { return KernelMemory(base: small.take(size), size: size, pool: self) }
    let base: UnsafeMutableRawPointer
    if let piece = spare[size]?.popLast() {
      kept -= size
      base = piece
    } else {
      base = .allocate(byteCount: size, alignment: 64)
    }
    base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    return KernelMemory(base: base, size: size, pool: self)
  }

  fileprivate func give(_ memory: KernelMemory) {
    if memory.size < Self.largeSize {
      small.give(memory.base, memory.size)
      return
    }
    guard kept + memory.size <= Self.most else {
      memory.base.deallocate()
      return
    }
    kept += memory.size
    spare[memory.size, default: []].append(memory.base)
  }
}
