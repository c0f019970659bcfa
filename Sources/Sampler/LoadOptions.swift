import Synchronization

/// How instruments and files are loaded.
public struct LoadOptions: Sendable {
  /// A sample of more bytes in memory than this streams from disk: 32 MB are a minute and a half of stereo at
  /// 48 kHz, which no instrument's sample is; a bank or a kit stays whole, a recording does not.
  public var largestSample = 32 << 20
  /// When the samples of one instrument have filled so much, those of more than `smallestStream` bytes stream
  /// as well: some instruments are larger than memory.
  public var largestInstrument = 1 << 30
  public var smallestStream = 1 << 20
  /// Rendering offline: what is not in memory yet is waited for. Otherwise it is silent, and counted.
  public var waits = false
  /// Something sounds meanwhile: memory comes in small pages. Large ones are there in half the time, but the system makes
  /// each in one go, and that can hold up an audio thread beside it for milliseconds.
  public var isGentle = false
  public var progress: LoadProgress?

  public init() {}
}

/// Bytes of a file that are asked for at a time. Some systems give the processor to no other thread, however urgent, until
/// a call of theirs has ended: one for half a megabyte has held up an audio thread for two milliseconds.
let longestRead = 1 << 14

/// How far a load is, and whether it is still wanted. Any thread.
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

  /// The load fails as soon as it notices.
  public func cancel() { isOff.store(true, ordering: .relaxed) }

  public var isCancelled: Bool { isOff.load(ordering: .relaxed) }

  func expect(_ amount: Int) { total.store(amount, ordering: .relaxed) }

  func advance(_ amount: Int) { done.add(amount, ordering: .relaxed) }
}
