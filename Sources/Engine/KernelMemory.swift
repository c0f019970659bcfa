/// What a kernel has besides its slot: lines, tables, filters. Worker.
struct KernelMemory {
  let base: UnsafeMutableRawPointer
  let size: Int
  fileprivate let pool: KernelMemoryPool

  /// Once the audio thread has let go of it.
  func deallocate() { pool.give(self) }

  /// Another one from where this came from.
  func another(_ size: Int) -> KernelMemory { pool.take(size) }
}

/// Gives kernels their memory. Large pieces are kept for the next of their size: to ask for their pages anew
/// costs a page fault for each 4 KiB, and to give them back interrupts the threads on every processor.
/// Worker.
final class KernelMemoryPool {
  private static let largeSize = 1 << 17
  /// Bytes of large pieces that are kept at most.
  private static let most = 1 << 26
  private let small = RowPool()
  private var spare: [Int: [UnsafeMutableRawPointer]] = [:]
  private var kept = 0

  deinit {
    for pieces in spare.values { for piece in pieces { piece.deallocate() } }
  }

  /// Zeroed, on a cache line, every page touched.
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
