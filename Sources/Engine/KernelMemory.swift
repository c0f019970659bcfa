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
/// costs a page fault for each 4 KiB, and to give them back interrupts the threads on every processor. So
/// pieces go back when no kernel has taken them for a while: an effect that is swapped for another over and
/// over finds its memory, and a session of many hours does not collect every size it ever used. Worker.
final class KernelMemoryPool {
  private static let largeSize = 1 << 17
  /// Bytes of large pieces that are kept at most.
  private static let most = 1 << 26
  private let small = RowPool()
  /// Pieces by size, with the engine frame at which they came back; the latest is last.
  private var spare: [Int: [(base: UnsafeMutableRawPointer, since: Int64)]] = [:]
  /// Bytes of the large pieces that are kept.
  private(set) var kept = 0
  /// Engine frame of the latest `trim`.
  private var now: Int64 = 0

  deinit {
    for pieces in spare.values { for piece in pieces { piece.base.deallocate() } }
  }

  /// Zeroed, on a cache line, every page touched.
  func take(_ bytes: Int) -> KernelMemory {
    let size = max(bytes, 64)
    if size < Self.largeSize { return KernelMemory(base: small.take(size), size: size, pool: self) }
    let base: UnsafeMutableRawPointer
    if let piece = spare[size]?.popLast() {
      kept -= size
      base = piece.base
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
    spare[memory.size, default: []].append((memory.base, now))
  }

  /// Frees the large pieces that came back before the engine frame `first`.
  func trim(now: Int64, before first: Int64) {
    self.now = now
    for (size, pieces) in spare {
      let old = pieces.prefix { $0.since < first }
      guard !old.isEmpty else { continue }
      for piece in old { piece.base.deallocate() }
      kept -= size * old.count
      spare[size] = old.count == pieces.count ? nil : Array(pieces.dropFirst(old.count))
    }
  }
}
