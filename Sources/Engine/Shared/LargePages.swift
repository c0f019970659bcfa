import Glibc

/// Memory in large pages where the system has them. Megabytes of rows and steps in small pages cost as much
/// time in page-table walks as in memory accesses. Worker.
enum LargePages {
  static let size = 1 << 21

  /// Cache-line aligned; in large pages from `size` bytes on. Deallocate it as usual.
  static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
    guard bytes >= size else { return .allocate(byteCount: bytes, alignment: 64) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: size)
    // Advice only: small pages work as well.
    _ = madvise(memory, bytes / size * size, MADV_HUGEPAGE)
    return memory
  }
}

extension UnsafeMutablePointer<Float> {
  /// Zeroed floats, cache-line aligned. Worker.
  static func zeroed(_ count: Int) -> UnsafeMutablePointer<Float> {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1) * 4, alignment: 64)
    return memory.initializeMemory(as: Float.self, repeating: 0, count: max(count, 1))
  }
}
