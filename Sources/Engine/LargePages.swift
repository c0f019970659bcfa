import Glibc

/// Memory in large pages where the system has them: who goes through megabytes of rows and steps waits as
/// long for the page tables as for the memory otherwise. Worker.
enum LargePages {
  static let size = 1 << 21

  /// On a cache line; from `size` bytes on in large pages. To be deallocated as any other.
  static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
    guard bytes >= size else { return .allocate(byteCount: bytes, alignment: 64) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: size)
    // Advice: small pages do as well.
    _ = madvise(memory, bytes / size * size, MADV_HUGEPAGE)
    return memory
  }
}
