import ArgumentParser
import Drivers
import Glibc
import Patch
import PatchLanguage
import Realtime
import Session

/// Standard output for results, standard error for everything else. What a file, a name or a comment could make a
/// terminal do is written out (`\u{1b}`) in whatever is for people.
enum Console {
  /// What programs may read: exact where it goes to a file or a pipe, for people where it goes to a terminal.
  static func result(_ text: String) {
    write(isatty(STDOUT_FILENO) == 1 ? Visible.text(text, keepingLines: true) : text, to: STDOUT_FILENO)
  }
  /// What people read, wherever it goes: one of several lines.
  static func show(_ text: String) { write(Visible.text(text, keepingLines: true), to: STDOUT_FILENO) }
  static func error(_ text: String) {
    write(Visible.text(text.hasSuffix("\n") ? text : text + "\n", keepingLines: true), to: STDERR_FILENO)
  }
  /// A message in the program's own name.
  static func complain(_ text: String) { error("sostenuto: \(Visible.text(text))") }
  static func warn(_ text: String) { error("warning: \(Visible.text(text))") }

  private static func write(_ text: String, to file: Int32) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBufferPointer {
        Glibc.write(file, $0.baseAddress! + done, bytes.count - done)
      }
      if count < 0, errno == EINTR { continue }
      // A reader that has seen enough (`| head`) is no fault.
      guard count > 0 else { return }
      done += count
    }
  }
}

/// SIGINT and SIGTERM, taken between two pieces of work rather than in the middle of one.
enum Interruption {
  /// To be called before any thread is started, as they inherit the mask.
  static func hold() { withSet { _ = pthread_sigmask(SIG_BLOCK, $0, nil) } }

  /// Waits so long for a signal; true when one came.
  static func wait(seconds: Double) -> Bool {
    let whole = seconds.rounded(.down)
    var limit = timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
    return withSet { sigtimedwait($0, nil, &limit) > 0 }
  }

  private static func withSet<Result>(_ body: (UnsafePointer<sigset_t>) -> Result) -> Result {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    return body(&set)
  }
}

/// Sessions that only read a patch stay until the process ends: the system takes the memory of thousands of
/// nodes back at once, which taking them apart would not.
@MainActor private var opened: [Session] = []

/// How commands that only read a patch open it.
@MainActor func openPatch(
  _ path: String, rate: Double = 48000, period: Int = 256, threads: Int = 1,
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
  try session.open(path)
  for diagnostic in session.diagnostics { Console.error(diagnostic.description) }
  if session.diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
  let notices = session.takeNotices()
  for notice in notices { Console.warn(notice) }
  return (session, session.diagnostics.map(\.description) + notices)
}

/// The lines of a script that can be performed on the session's patch; complains and exits otherwise.
@MainActor func readScript(_ path: String, for session: Session) throws -> [ScriptLine] {
  let (lines, faults) = Script.read(try readText(path), file: path)
  let diagnostics = faults + Script.check(lines, on: session.patch, file: path)
  for diagnostic in diagnostics { Console.error(diagnostic.description) }
  if diagnostics.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
  return lines
}

/// A whole file as text; what is not UTF-8 is read as U+FFFD.
func readText(_ path: String) throws -> String { String(decoding: try readBytes(path), as: UTF8.self) }

func readBytes(_ path: String) throws -> [UInt8] {
  guard let file = fopen(path, "r") else { throw FileError("\(path): \(String(cString: strerror(errno)))") }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    errno = 0
    let count = fread(&chunk, 1, chunk.count, file)
    // At once: whatever comes in between may change it.
    let fault = errno
    bytes += chunk[..<count]
    if count > 0 { continue }
    guard ferror(file) == 0 else { throw FileError("\(path): \(String(cString: strerror(fault)))") }
    return bytes
  }
}
