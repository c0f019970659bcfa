import Dispatch
import Glibc

/// Memory for samples, freed with its last reference. Worker.
final class SampleMemory: @unchecked Sendable {
  /// Zeroed at first.
  let base: UnsafeMutableRawPointer
  private let mapped: UnsafeMutableRawPointer
  private let size: Int
  private static let largePage = 1 << 21
  /// Unmapping small pages takes some 20 ms per hundred megabytes, which must not delay an edit.
  private static let returns = DispatchQueue(label: "sostenuto.memory", qos: .utility)

  /// `isLarge`: in large pages where the system has them, which makes a bank of hundreds of megabytes as fast
  /// as copying it. nil: not enough memory.
  init?(bytes: Int, isLarge: Bool) {
    let page = bytes >= Self.largePage ? Self.largePage : 4096
    // Excess for alignment.
    size = (bytes + page - 1) / page * page + (page == Self.largePage ? page : 0)
    guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED
    else { return nil }
    mapped = memory
    base = UnsafeMutableRawPointer(
      bitPattern: (UInt(bitPattern: memory) + UInt(page) - 1) & ~(UInt(page) - 1))!
    // Advice only: small pages work as well.
    if page == Self.largePage { _ = madvise(base, bytes, isLarge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) }
  }

  deinit {
    let place = (start: UInt(bitPattern: mapped), size: size)
    Self.returns.async { munmap(UnsafeMutableRawPointer(bitPattern: place.start), place.size) }
  }
}

/// Allocator for samples, so that those of an instrument lie side by side. Worker.
final class SamplePool {
  let options: LoadOptions
  private var memory: SampleMemory?
  private var used = 0
  private var size = 0
  /// Bytes allocated.
  private(set) var bytes = 0

  init(_ options: LoadOptions = LoadOptions()) { self.options = options }

  /// True when a sample of this size should stream.
  func streams(_ count: Int) -> Bool {
    count > options.largestSample
      || (count > options.smallestStream && bytes + count > options.largestInstrument)
  }

  /// Zeroed memory, cache-line aligned, and its owner.
  func take(_ count: Int, for path: String) throws(LoadError) -> (SampleMemory, UnsafeMutableRawPointer) {
    guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
    let count = (max(count, 1) + 63) & ~63
    if memory == nil || size - used < count {
      // Few pieces for a large instrument, little memory for a small one.
      size = max(count, min(32 << 20, 2 * bytes))
      used = 0
      memory = SampleMemory(bytes: size, isLarge: !options.isGentle)
    }
    guard let memory else {
      throw LoadError(path: path, .noMemory(bytes: count))
    }
    defer { used += count }
    bytes += count
    return (memory, memory.base + used)
  }
}
