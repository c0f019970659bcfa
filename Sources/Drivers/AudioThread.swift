import CThread
import Glibc

/// A thread for a driver that paces itself. It asks for real-time scheduling, and runs without if refused.
final class AudioThread {
  private var thread = pthread_t()
  private var isJoined = false

  /// Runs `body` on a new thread with SCHED_FIFO at `priority`, where permitted.
  ///
  /// `body` must come from a nonisolated context: a closure formed on the main actor would be checked for its
  /// actor on this thread, and trap.
  init(name: String, priority: Int32, body: @escaping @Sendable () -> Void) throws(DriverError) {
    let work = Unmanaged.passRetained(Work(name: name, priority: priority, body: body))
    let error = pthread_create(&thread, nil, Self.runWork, work.toOpaque())
    if error != 0 {
      work.release()
      throw DriverError.noThread(driver: name, code: error)
    }
  }

  /// Waits for the thread to end; the caller must have told it to stop.
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

/// Keeps the process's memory resident, so that the audio thread's memory is not paged out.
public enum ProcessMemory {
  /// Grows the heap before a patch of this many bytes of text is read. A large patch becomes a hundred
  /// thousand small objects, which are allocated faster in large pages. Worker.
  public static func prepare(forText bytes: Int) {
    // Memory use is about 65 bytes per byte of text.
    if bytes >= 1 << 15 { sostenuto_grow_heap(min(bytes * 72, 1 << 28)) }
  }

  /// Locks the memory at the first access, for good; false where the system does not permit it.
  static let isLocked = sostenuto_lock_memory()
}
