import CJack
import Glibc
import Synchronization

/// Messages of libjack. By default they go to standard error, where the front end's screen is.
enum JackMessages {
  /// Silences libjack, but keeps its last error. Call it before any other function of libjack. Any thread.
  static func capture() {
    // libjack writes to the server's socket on whatever thread calls it, and the server may have died: that is an error,
    // not the end of this program.
    signal(SIGPIPE, SIG_IGN)
    jack_set_error_function(keepJackError)
    jack_set_info_function(ignoreJackInfo)
  }

  /// The last error that libjack reported, or nil. Any thread.
  static var last: String? { lastJackError.withLock { $0 } }

  /// True once libjack has said that it could not open its database of properties. Any thread.
  static let lacksDatabase = Atomic<Bool>(false)

  /// Reason of a failure to open.
  static func refusal(_ status: jack_status_t) -> DriverError.JackRefusal {
    func has(_ flag: JackStatus) -> Bool { status.rawValue & flag.rawValue != 0 }
    if has(JackVersionError) { return .version }
    if has(JackShmFailure) { return .sharedMemory }
    if has(JackNameNotUnique) { return .nameTaken }
    if has(JackServerError) { return .communication }
    return has(JackServerFailed) ? .notRunning : .other(last)
  }
}

private let lastJackError = Mutex<String?>(nil)

// May be called on any of JACK's threads, the audio thread included. If the lock is taken, the message is
// dropped. An error on the audio thread means that the server is gone, and the sound with it.
private func keepJackError(_ text: UnsafePointer<CChar>?) {
  guard let text else { return }
  if strstr(text, "metadata DB") != nil || strstr(text, "DB environment") != nil {
    JackMessages.lacksDatabase.store(true, ordering: .releasing)
  }
  lastJackError.withLockIfAvailable { $0 = String(cString: text) }
}

private func ignoreJackInfo(_ text: UnsafePointer<CChar>?) {}
