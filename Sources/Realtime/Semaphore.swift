import Glibc

/// A semaphore whose waits end by the monotonic clock: a step of the wall clock, as when the machine gets its time from the
/// network, neither prolongs nor ends one. (`DispatchSemaphore` on Linux waits by the wall clock.) Any thread.
public final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  /// `value`: signals that have been given already.
  public init(value: UInt32 = 0) {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, value)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// Its place for `postSemaphore`, by which the audio thread signals. Valid as long as the semaphore is.
  public var bell: UnsafeMutableRawPointer { UnsafeMutableRawPointer(semaphore) }

  /// Lets one wait end.
  public func signal() { sem_post(semaphore) }

  /// Waits for a signal, however long.
  public func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

  /// Waits for a signal, so many seconds at most; false: there was none.
  public func wait(seconds: Double) -> Bool {
    waitForSemaphore(bell, Int64(max(0, min(seconds, 1e9)) * 1e9)) == 0
  }
}
