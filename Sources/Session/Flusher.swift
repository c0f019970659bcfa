import Glibc

/// Flushes journals to disk on a thread of its own: `fdatasync` begins within 2 ms, for everything appended
/// until then. Any thread.
final class Flusher: @unchecked Sendable {
  static let shared = Flusher()

  /// Milliseconds in which records are collected.
  private static let gathering = 2

  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  // The following is guarded by `lock`.
  private var waiting: Set<Int32> = []
  private var busy: Int32?
  private var faults: [Int32: Int32] = [:]
  private var hasThread = false

  private init() {
    pthread_mutex_init(lock, nil)
    pthread_cond_init(change, nil)
    // Signals go to the threads that wait for them.
    var all = sigset_t()
    var old = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &old)
    var thread = pthread_t()
    let place = Unmanaged.passRetained(self).toOpaque()
    hasThread = pthread_create(&thread, nil, runFlusher, place) == 0
    if hasThread { pthread_detach(thread) }
    pthread_sigmask(SIG_SETMASK, &old, nil)
  }

  /// Requests a flush of the file.
  func flush(_ file: Int32) {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    guard hasThread else {
      if fdatasync(file) != 0 { faults[file] = errno }
      return
    }
    waiting.insert(file)
    pthread_cond_broadcast(change)
  }

  /// Forgets a descriptor, which may be reused for another file. Waits for a flush under way.
  func forget(_ file: Int32) {
    pthread_mutex_lock(lock)
    waiting.remove(file)
    while busy == file { pthread_cond_wait(change, lock) }
    faults[file] = nil
    pthread_mutex_unlock(lock)
  }

  /// Waits until everything appended so far is on disk, or could not be written.
  func finish(_ file: Int32) {
    pthread_mutex_lock(lock)
    while busy == file || waiting.contains(file) { pthread_cond_wait(change, lock) }
    pthread_mutex_unlock(lock)
  }

  /// Error of a failed flush, returned once.
  func takeFault(_ file: Int32) -> Int32? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return faults.removeValue(forKey: file)
  }

  fileprivate func run() -> Never {
    pthread_mutex_lock(lock)
    while true {
      while waiting.isEmpty { pthread_cond_wait(change, lock) }
      pthread_mutex_unlock(lock)
      var pause = timespec(tv_sec: 0, tv_nsec: Self.gathering * 1_000_000)
      nanosleep(&pause, nil)
      pthread_mutex_lock(lock)
      while let file = waiting.popFirst() {
        busy = file
        pthread_mutex_unlock(lock)
        let fault: Int32? = fdatasync(file) == 0 ? nil : errno
        pthread_mutex_lock(lock)
        faults[file] = fault ?? faults[file]
        busy = nil
        pthread_cond_broadcast(change)
      }
    }
  }
}

private func runFlusher(_ place: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let place { Unmanaged<Flusher>.fromOpaque(place).takeUnretainedValue().run() }
  return nil
}
