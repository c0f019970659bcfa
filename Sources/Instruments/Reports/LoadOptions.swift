import Synchronization

/// Options for loading instruments and files.
public struct LoadOptions: Sendable {
  /// Samples with more bytes in memory stream from disk. 32 MB are a minute and a half of stereo at 48 kHz,
  /// longer than any instrument's sample: a bank or a kit stays whole, a recording does not.
  public var largestSample = 32 << 20
  /// Bytes of samples in one instrument beyond which samples of more than `smallestStream` bytes stream as
  /// well: some instruments are larger than memory.
  public var largestInstrument = 1 << 30
  public var smallestStream = 1 << 20
  /// Offline rendering: waits for data that is not in memory. Otherwise it is replaced by silence, and
  /// counted.
  public var waits = false
  /// Something sounds meanwhile, so memory comes in small pages. Large pages are twice as fast, but the
  /// system creates each in one go, which can hold up an audio thread for milliseconds.
  public var isGentle = false
  public var progress: LoadProgress?

  public init() {}
}

/// Bytes per read call. Some systems do not preempt a call, whatever the priority of other threads: a call
/// for half a megabyte has held up an audio thread for two milliseconds.
let longestRead = 1 << 14

/// Progress and cancellation of a load. Any thread.
public final class LoadProgress: Sendable {
  private let done = Atomic<Int>(0)
  private let total = Atomic<Int>(0)
  private let isOff = Atomic<Bool>(false)

  public init() {}

  /// 0...1.
  public var fraction: Double {
    let all = total.load(ordering: .relaxed)
    return all > 0 ? min(1, Double(done.load(ordering: .relaxed)) / Double(all)) : 0
  }

  /// Makes the load fail as soon as it notices.
  public func cancel() { isOff.store(true, ordering: .relaxed) }

  public var isCancelled: Bool { isOff.load(ordering: .relaxed) }

  func expect(_ amount: Int) { total.store(amount, ordering: .relaxed) }

  func advance(_ amount: Int) { done.add(amount, ordering: .relaxed) }
}
