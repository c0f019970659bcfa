import Glibc

/// Memory of a kernel beside its slot (delay lines, tables, filter states), or of a delayed cable. Worker.
struct KernelMemory {
  let base: UnsafeMutableRawPointer
  let size: Int
  fileprivate let pool: KernelMemoryPool

  /// Call this after the audio thread has released it.
  func deallocate() { pool.recycle(self) }

  /// Further memory from the same pool.
  func another(_ size: Int) -> KernelMemory { pool.allocate(size) }
}

/// Memory pool for kernels or cables. Large pieces are mapped apart from the heap, where they would leave holes between
/// small objects: edits pile up by the hundred while a server stands still. They are kept for reuse at the same size:
/// mapping new pages costs a page fault per 4 KiB, and unmapping interrupts the threads on every processor. Pieces that
/// stay unused are freed after a while: a long session would otherwise collect one of every size that it ever needed.
/// Worker.
final class KernelMemoryPool {
  /// Bytes from which on a piece is large.
  private let largeSize: Int
  /// Limit of bytes in kept large pieces.
  private static let most = 1 << 26
  private let small = RowPool()
  /// Kept large pieces by size, with the engine frame of their return; the latest is last.
  private var spare: [Int: [(base: UnsafeMutableRawPointer, since: Int64)]] = [:]
  /// Bytes in kept large pieces.
  private(set) var kept = 0
  /// Engine frame of the latest `trim`.
  private var now: Int64 = 0
  /// Bytes that the system can give at present; tests have figures of their own.
  var available: () -> Int = SystemMemory.available

  init(largeSize: Int) { self.largeSize = largeSize }

  deinit {
    for (size, pieces) in spare { for piece in pieces { munmap(piece.base, size) } }
  }

  /// Zeroed memory, cache-line aligned, every page touched.
  func allocate(_ bytes: Int) -> KernelMemory {
    guard let memory = take(bytes) else { preconditionFailure("no memory for \(bytes) bytes") }
    return memory
  }

  /// The same; nil if the system has less. It would grant some of that nevertheless, and kill a process when its pages
  /// are touched.
  func allocateIfThere(_ bytes: Int) -> KernelMemory? {
    bytes > Self.most && bytes > available() ? nil : take(bytes)
  }

  /// nil if the system refuses.
  private func take(_ bytes: Int) -> KernelMemory? {
    let size = max(bytes, 64)
    if size < largeSize { return KernelMemory(base: small.allocate(size), size: size, pool: self) }
    let base: UnsafeMutableRawPointer
    if let piece = spare[size]?.popLast() {
      kept -= size
      base = piece.base
    } else {
      guard let new = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        new != MAP_FAILED
      else { return nil }
      base = new
    }
    base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    return KernelMemory(base: base, size: size, pool: self)
  }

  fileprivate func recycle(_ memory: KernelMemory) {
    if memory.size < largeSize {
      small.recycle(memory.base, memory.size)
      return
    }
    guard kept + memory.size <= Self.most else {
      munmap(memory.base, memory.size)
      return
    }
    kept += memory.size
    spare[memory.size, default: []].append((memory.base, now))
  }

  /// Frees the large pieces that were returned before the engine frame `first`.
  func trim(now: Int64, before first: Int64) {
    self.now = now
    for (size, pieces) in spare {
      let old = pieces.prefix { $0.since < first }
      guard !old.isEmpty else { continue }
      for piece in old { munmap(piece.base, size) }
      kept -= size * old.count
      spare[size] = old.count == pieces.count ? nil : Array(pieces.dropFirst(old.count))
    }
  }
}
