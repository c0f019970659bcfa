import Dispatch
import Glibc

/// Memory for samples, freed with its last reference. Worker.
final class SampleMemory: @unchecked Sendable {
  /// All zero at first.
  let base: UnsafeMutableRawPointer
  private let mapped: UnsafeMutableRawPointer
  private let size: Int
  private static let largePage = 1 << 21
  /// Small pages take some 20 ms a hundred megabytes to give back, for which no edit is to wait.
  private static let returns = DispatchQueue(label: "sostenuto.memory", qos: .utility)

  /// `isLarge`: in large pages where the system has them, since a bank's hundred megabytes are there as fast as they are
  /// copied then. nil: the system has not so much.
  init?(bytes: Int, isLarge: Bool) {
    let page = bytes >= Self.largePage ? Self.largePage : 4096
    // So much more that an aligned piece lies within.
    size = (bytes + page - 1) / page * page + (page == Self.largePage ? page : 0)
    guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED
    else { return nil }
    mapped = memory
    base = UnsafeMutableRawPointer(
      bitPattern: (UInt(bitPattern: memory) + UInt(page) - 1) & ~(UInt(page) - 1))!
    // Advice: the others do as well.
    if page == Self.largePage { _ = madvise(base, bytes, isLarge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) }
  }

  deinit {
    let place = (start: UInt(bitPattern: mapped), size: size)
    Self.returns.async { munmap(UnsafeMutableRawPointer(bitPattern: place.start), place.size) }
  }
}

/// Gives out pieces of memory, so that the samples of an instrument lie side by side. Worker.
final class SamplePool {
  let options: LoadOptions
  private var memory: SampleMemory?
  private var used = 0
  private var size = 0
  /// What was given out.
  private(set) var bytes = 0

  init(_ options: LoadOptions = LoadOptions()) { self.options = options }

  /// Whether a sample of so many bytes is to stream.
  func streams(_ count: Int) -> Bool {
    count > options.largestSample
      || (count > options.smallestStream && bytes + count > options.largestInstrument)
  }

  /// Zeroed memory on a cache line's boundary, and who holds it.
  func take(_ count: Int, for path: String) throws(LoadError) -> (SampleMemory, UnsafeMutableRawPointer) {
    guard options.progress?.isCancelled != true else { throw LoadError(path: path, "no longer wanted") }
    let count = (max(count, 1) + 63) & ~63
    if memory == nil || size - used < count {
      // Few pieces for a large instrument, little for a small one.
      size = max(count, min(32 << 20, 2 * bytes))
      used = 0
      memory = SampleMemory(bytes: size, isLarge: !options.isGentle)
    }
    guard let memory else {
      throw LoadError(path: path, "there is no memory for its \(count >> 20) MB of samples")
    }
    defer { used += count }
    bytes += count
    return (memory, memory.base + used)
  }
}
