import CThread
import Glibc

/// A thread of a driver that paces itself. Asks for real-time scheduling and goes on without.
final class AudioThread {
  private var thread = pthread_t()
  private var isJoined = false

  /// Runs `body` on a new thread with SCHED_FIFO at `priority`, where permitted.
  ///
  /// `body` must come from a nonisolated context: a closure formed on the main actor would be checked
  /// for its actor on this thread, and trap.
  init(name: String, priority: Int32, body: @escaping @Sendable () -> Void) throws(DriverError) {
    let work = Unmanaged.passRetained(Work(name: name, priority: priority, body: body))
    let error = pthread_create(&thread, nil, Self.runWork, work.toOpaque())
    if error != 0 {
      work.release()
      throw DriverError("no thread for the \(name) driver: \(String(cString: strerror(error)))")
    }
  }

  /// Waits for the thread to end; the caller has told it to.
  func join() {
    guard !isJoined else { return }
    isJoined = true
    pthread_join(thread, nil)
  }

  private final class Work {
    let name: String
    let priority: Int32
    let body: @Sendable () -> Void

    init(name: String, priority: Int32, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.priority = priority
      self.body = body
    }
  }

  private static let runWork: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    let work = Unmanaged<Work>.fromOpaque($0!).takeRetainedValue()
    sostenuto_name_thread(work.name)
    sostenuto_touch_stack()
    _ = sostenuto_make_realtime(work.priority)
    work.body()
    return nil
  }
}

/// Audio threads use memory that the worker has touched; this keeps it from being paged out again.
public enum ProcessMemory {
  /// Before a patch of so many bytes of text is read: a large one becomes a hundred thousand small objects, which are
  /// made faster in large pages. Worker.
  public static func prepare(forText bytes: Int) {
    // About 65 bytes come of each.
    if bytes >= 1 << 18 { sostenuto_grow_heap(min(bytes * 72, 1 << 28)) }
  }

  /// Locked at the first look, for good; false where the system does not permit it.
  static let isLocked = sostenuto_lock_memory()
}
