import Drivers
import Glibc
import Loop
import Patch
import PatchLanguage
import Realtime
import Recording
import Session
import Synchronization

/// Standard output for results, standard error for everything else. Text for people is escaped (`\u{1b}`), so
/// that no file, name or comment can control the terminal.
enum Console {
  /// Gives descriptors that the program was started without to /dev/null, before a file or a pipe takes the number and gets
  /// messages. Writing to these still fails, as reading does.
  static func fillStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Output for programs: exact in a file or a pipe, escaped on a terminal.
  static func result(_ text: String) {
    write(isatty(STDOUT_FILENO) == 1 ? Visible.text(text, keepingLines: true) : text, to: STDOUT_FILENO)
  }
  /// The same for what may be no text.
  static func result(bytes: [UInt8]) {
    if isatty(STDOUT_FILENO) == 1 { return result(String(decoding: bytes, as: UTF8.self)) }
    write(bytes, to: STDOUT_FILENO)
  }
  /// Output for people, always escaped; may have several lines.
  static func show(_ text: String) { write(Visible.text(text, keepingLines: true), to: STDOUT_FILENO) }
  static func error(_ text: String) {
    write(Visible.text(text.hasSuffix("\n") ? text : text + "\n", keepingLines: true), to: STDERR_FILENO)
  }
  /// A message with the program's name.
  static func complain(_ text: String) { error("sostenuto: \(Visible.text(text))") }
  static func warn(_ text: String) { error("warning: \(Visible.text(text))") }
  /// Messages of a session, those that are warnings as such.
  static func tell(_ notices: [Notice]) {
    for notice in notices { notice.isWarning ? warn(notice.text) : error(notice.text) }
  }

  private static func write(_ text: String, to file: Int32) { write(Array(text.utf8), to: file) }

  /// Ends the program with status 1 if standard output fails: a result that is not whole is none.
  private static func write(_ bytes: [UInt8], to file: Int32) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBufferPointer {
        Glibc.write(file, $0.baseAddress! + done, bytes.count - done)
      }
      if count > 0 {
        done += count
      } else if count < 0, errno == EAGAIN {
        // A pipe that another program has set to wait for nothing.
        var request = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
      } else if count == 0 || errno != EINTR {
        if count < 0 { failed(file, errno) }
        return
      }
    }
  }

  private static func failed(_ file: Int32, _ code: Int32) {
    // A closed pipe (`| head`) is no error, nor is an output that was closed from the start.
    guard file == STDOUT_FILENO, code != EPIPE, code != EBADF else { return }
    complain("standard output: \(String(cString: strerror(code)))")
    exit(1)
  }
}

/// SIGINT, SIGTERM and SIGHUP, handled between two steps of the work. If a step does not end within 0.7 s
/// (waiting for a pipe, for example), or on a second signal, the process is ended.
enum Interruption {
  private static let arrived = Atomic<Bool>(false)
  /// Work is done before SIGTSTP stops the process.
  private static let handlesStop = Atomic<Bool>(false)
  /// Readable when SIGTSTP has come.
  private static let stops: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    _ = Glibc.pipe(&ends)
    return (ends[0], ends[1])
  }()
  /// Readable when one has come.
  private static let pipe: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    _ = Glibc.pipe(&ends)
    return (ends[0], ends[1])
  }()

  /// Unblocks the signals, which a parent process may have left blocked.
  static func admit() { withSet { _ = pthread_sigmask(SIG_UNBLOCK, $0, nil) } }

  /// Call this before any thread is started, since threads inherit the mask.
  static func hold(withStop: Bool = false) {
    handlesStop.store(withStop, ordering: .relaxed)
    _ = stops
    withSet { _ = pthread_sigmask(SIG_BLOCK, $0, nil) }
    _ = pipe
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in Interruption.watch() }, nil)
  }

  /// True when one has come.
  static var hasCome: Bool { arrived.load(ordering: .acquiring) }

  /// Ends the loop when one comes.
  static func end(_ loop: EventLoop) { loop.watch(pipe.read) { [unowned loop] in loop.end() } }

  /// At SIGTSTP (ctrl-z), calls `before`, stops the process, and calls `after` when it goes on.
  static func stop(_ loop: EventLoop, before: @escaping () -> Void, after: @escaping () -> Void) {
    loop.watch(stops.read) {
      var byte: UInt8 = 0
      _ = read(stops.read, &byte, 1)
      before()
      kill(getpid(), SIGSTOP)
      after()
    }
  }

  private static func watch() -> Never {
    withSet { signals in
      var signal: Int32 = 0
      while sigwait(signals, &signal) != 0 || signal == SIGTSTP {
        if signal == SIGTSTP { write(stops.write, [0], 1) }
        signal = 0
      }
      arrived.store(true, ordering: .releasing)
      write(pipe.write, [0], 1)
      var limit = timespec(tv_sec: 0, tv_nsec: 700_000_000)
      var ends = signals.pointee
      sigdelset(&ends, SIGTSTP)
      let second = sigtimedwait(&ends, nil, &limit)
      if second > 0 { signal = second }
      UnfinishedFiles.remove()
      Glibc.signal(signal, SIG_DFL)
      pthread_sigmask(SIG_UNBLOCK, signals, nil)
      kill(getpid(), signal)
      _exit(128 + signal)
    }
  }

  /// Signals ignored from outside (nohup) stay ignored.
  private static func withSet<Result>(_ body: (UnsafePointer<sigset_t>) -> Result) -> Result {
    var set = sigset_t()
    sigemptyset(&set)
    let isStopHandled = handlesStop.load(ordering: .relaxed)
    for signal in [SIGINT, SIGTERM, SIGHUP] + (isStopHandled ? [SIGTSTP] : []) {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let ignored = unsafeBitCast(SIG_IGN, to: UInt.self)
      guard unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self) != ignored else { continue }
      sigaddset(&set, signal)
    }
    return body(&set)
  }
}

/// Sessions of commands that only read a patch live until the process ends: the system frees the memory of
/// thousands of nodes at once, faster than deallocation.
@MainActor private var opened: [Session] = []

/// Opens a patch for commands that only read it.
@MainActor func openPatch(
  _ path: String?, rate: Double = 48000, period: Int = 256, threads: Int = 1,
  quality: SampleQuality = .four
) throws -> (session: Session, warnings: [String]) {
  var options = SessionOptions()
  options.isOffline = true
  options.keepsJournal = false
  options.driver.rate = rate
  options.driver.period = period
  options.threads = threads
  options.quality = quality
  let session = Session(options: options)
  opened.append(session)
  guard let path else {
    session.openEmpty()
    return (session, [])
  }
  try session.open(path)
  for diagnostic in session.diagnostics { Console.error(diagnostic.description) }
  if session.diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
  session.tellOfMissingDefinitions()
  let notices = session.takeNotices()
  Console.tell(notices)
  return (session, session.diagnostics.map(\.description) + notices.filter(\.isWarning).words)
}

/// The valid lines of a script for the session's patch; prints errors and exits otherwise.
@MainActor func readScript(_ path: String, for session: Session) throws -> [ScriptLine] {
  let (lines, faults) = Script.read(try readText(path), file: path)
  let diagnostics = faults + Script.check(lines, on: session.patch, file: path, catalogue: session.catalogue)
  for diagnostic in diagnostics { Console.error(diagnostic.description) }
  if diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
  return lines
}

/// A whole file as text, named on the command line; invalid UTF-8 is read as U+FFFD.
func readText(_ path: String) throws -> String {
  String(decoding: try PatchFile.readArgument(path), as: UTF8.self)
}
