import Glibc

/// Writes into a file on a thread of its own, so that nobody waits for a disk that does not answer. What is written goes to
/// the kernel; `Flusher` brings it to disk. Any thread.
final class FileWriter: @unchecked Sendable {
  private struct Piece {
    var bytes: [UInt8]
    var offset: Int
  }

  /// As `pwrite`.
  typealias Write = @Sendable (Int32, UnsafeRawPointer, Int, off_t) -> Int

  private let file: Int32
  private let isFlushed: Bool
  private let write: Write
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  // The following is guarded by `lock`.
  private var waiting: [Piece] = []
  private var added = 0
  private var done = 0
  private var fault: Int32?
  private var hasThread = false
  private var isOver = false

  /// `isFlushed`: each piece is brought to disk soon.
  init(_ file: Int32, isFlushed: Bool, write: @escaping Write = { pwrite($0, $1, $2, $3) }) {
    (self.file, self.isFlushed, self.write) = (file, isFlushed, write)
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(change, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(lock)
    pthread_cond_destroy(change)
    lock.deallocate()
    change.deallocate()
  }

  /// Writes bytes at an offset, after all that came before. Returns the number of the piece. After an error nothing is written
  /// until that is taken.
  @discardableResult func write(_ bytes: [UInt8], at offset: Int) -> Int {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    waiting.append(Piece(bytes: bytes, offset: offset))
    added += 1
    if !hasThread { begin() }
    if !hasThread { perform() }
    pthread_cond_broadcast(change)
    return added
  }

  /// Waits until a piece has been written, or could not be; false: it takes longer than these seconds.
  func wait(for piece: Int, seconds: Double) -> Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let nanoseconds = end.tv_nsec + Int(seconds * 1e9)
    (end.tv_sec, end.tv_nsec) = (end.tv_sec + nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    while done < piece {
      if pthread_cond_timedwait(change, lock, &end) == ETIMEDOUT { return done >= piece }
    }
    return true
  }

  /// Waits until everything has been written, or could not be.
  func finish() {
    pthread_mutex_lock(lock)
    while done < added { pthread_cond_wait(change, lock) }
    pthread_mutex_unlock(lock)
  }

  /// Error of a failed write, returned once.
  func takeFault() -> Int32? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    defer { fault = nil }
    return fault
  }

  /// A write has failed, and nobody has taken the error yet.
  var hasFailed: Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return fault != nil
  }

  /// Ends the thread, once everything has been written. Call it before the file is closed.
  func end() {
    finish()
    pthread_mutex_lock(lock)
    isOver = true
    pthread_cond_broadcast(change)
    pthread_mutex_unlock(lock)
  }

  private func begin() {
    // Signals go to the threads that wait for them.
    var (all, old) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &old)
    var thread = pthread_t()
    let place = Unmanaged.passRetained(self)
    hasThread = pthread_create(&thread, nil, runFileWriter, place.toOpaque()) == 0
    if hasThread { pthread_detach(thread) } else { place.release() }
    pthread_sigmask(SIG_SETMASK, &old, nil)
  }

  fileprivate func run() {
    pthread_mutex_lock(lock)
    while true {
      while waiting.isEmpty, !isOver { pthread_cond_wait(change, lock) }
      if waiting.isEmpty { break }
      perform()
      pthread_cond_broadcast(change)
    }
    pthread_mutex_unlock(lock)
  }

  /// Writes what waits. Called with the lock, which is free meanwhile.
  private func perform() {
    while !waiting.isEmpty {
      let pieces = waiting
      waiting = []
      var found = fault
      pthread_mutex_unlock(lock)
      for piece in pieces where found == nil { found = write(piece) }
      if found == nil, isFlushed { Flusher.shared.flush(file) }
      pthread_mutex_lock(lock)
      fault = found
      done += pieces.count
    }
  }

  private func write(_ piece: Piece) -> Int32? {
    var done = 0
    while done < piece.bytes.count {
      let count = piece.bytes.withUnsafeBytes {
        write(file, $0.baseAddress! + done, $0.count - done, off_t(piece.offset + done))
      }
      if count < 0, errno != EINTR {
        let code = errno
        // Half a line (the disk is full) must not join with the next one.
        ftruncate(file, off_t(piece.offset))
        return code
      }
      done += max(count, 0)
    }
    return nil
  }
}

private func runFileWriter(_ place: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let place { Unmanaged<FileWriter>.fromOpaque(place).takeRetainedValue().run() }
  return nil
}
