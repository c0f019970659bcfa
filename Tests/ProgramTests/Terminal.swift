import Foundation
import Testing

import enum Drivers.JackDatabase

/// A real terminal for the program: tmux with a server of its own, queried for its screen.
final class Terminal {
  private let server = "sostenuto-\(UUID().uuidString.prefix(8))"
  private let folder: Folder
  /// Pipe with the program's output to the terminal: the screen is read when there is news.
  private let news: Int32

  static let isInstalled = ["/usr/bin/tmux", "/usr/bin/jackd"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// `command` is a line for the shell; the terminal stays open when it ends.
  init(_ command: String, columns: Int = 130, rows: Int = 70) throws {
    folder = try Folder()
    let pipe = folder.path + "/news"
    guard mkfifo(pipe, 0o600) == 0 else { throw CancellationError() }
    // Opened for writing too, so that it has no end while there is no writer yet.
    news = open(pipe, O_RDWR | O_NONBLOCK)
    // CAN ends a control sequence that a killed program left unfinished. The line break keeps "left 137" from
    // being wrapped at the right edge after the shell's own message.
    let report = "printf '\\030\\r\\nleft %d\\n' $?"
    try tmux(
      "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
      "\(command); \(report); cat")
    try tmux("pipe-pane", "exec cat > '\(pipe)'")
  }

  deinit {
    _ = try? tmux("kill-server")
    close(news)
  }

  /// By `posix_spawn`: Foundation's `Process` would also wait for the tmux server that the first call starts.
  @discardableResult private func tmux(_ arguments: String...) throws -> String {
    let output = try folder.file("output", "")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = (["tmux", "-L", server] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    // Test threads block signals; a server with an inherited mask could not be ended.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    guard posix_spawn(&process, "/usr/bin/tmux", &actions, &attributes, words, environ) == 0 else {
      throw CancellationError()
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return try String(contentsOfFile: output, encoding: .utf8)
  }

  var screen: String { (try? tmux("capture-pane", "-p")) ?? "" }

  /// Presses keys by tmux's names: "F6", "Space", "z".
  func press(_ keys: String...) throws { for key in keys { try tmux("send-keys", key) } }

  /// Types a line at the prompt.
  func type(_ line: String) throws {
    try tmux("send-keys", ":")
    try tmux("send-keys", "-l", line)
    try tmux("send-keys", "Enter")
  }

  /// Types a text, and presses keys after it.
  func type(text: String, _ keys: String...) throws {
    try tmux("send-keys", "-l", text)
    for key in keys { try tmux("send-keys", key) }
  }

  /// Waits until the screen contains all `words`, and returns it; fails after two minutes. `always` must be
  /// on every screen in between.
  @discardableResult func wait(
    for words: String..., always: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let deadline = Date().addingTimeInterval(120)
    var last = ""
    while Date() < deadline {
      skipNews()
      last = screen
      if let always, !last.isEmpty {
        #expect(last.contains(always), "\(last)", sourceLocation: sourceLocation)
      }
      if words.allSatisfy(last.contains) { return last }
      waitForNews(until: deadline)
    }
    Issue.record("\(words) did not appear:\n\(last)", sourceLocation: sourceLocation)
    throw CancellationError()
  }
}

extension Terminal {
  private func skipNews() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while read(news, &bytes, bytes.count) > 0 {}
  }

  private func waitForNews(until deadline: Date) {
    var request = pollfd(fd: news, events: Int16(POLLIN), revents: 0)
    poll(&request, 1, Int32(max(deadline.timeIntervalSinceNow, 0) * 1000))
  }
}

/// A JACK server of its own, without a sound card, that serves.
final class JackServer {
  /// One of a few: JACK has eight places for servers on a machine. JACK takes the name for used if a killed one's process
  /// number is another's now.
  private(set) var name = ""
  private var process = Process()
  private let folder: Folder
  /// Readable when the server has ended.
  private var ended = Pipe()

  init() throws {
    folder = try Folder()
    for number in 1...4 {
      name = "sostenuto-front-end-test-\(number)"
      // Another run's server, which this one could not end.
      if isListening { continue }
      try start()
      if isServing() { return }
      kill()
    }
    throw JackServerFailure(report: report)
  }

  private func start() throws {
    // The handler keeps both ends: it may run after this object is gone, and a write without a reader is SIGPIPE.
    let ended = Pipe()
    self.ended = ended
    process = Process()
    process.terminationHandler = { _ in ended.fileHandleForWriting.write(Data([0])) }
    let log = try FileHandle(forUpdating: URL(fileURLWithPath: try folder.file("jackd.log", "")))
    process.executableURL = URL(fileURLWithPath: "/usr/bin/jackd")
    process.arguments = ["-n", name, "--no-realtime", "-d", "dummy", "-r", "48000", "-p", "1024"]
    process.standardOutput = log
    process.standardError = log
    try process.run()
  }

  /// Waits until a client could connect to it. False if it has ended, or does not serve within half a minute.
  private func isServing() -> Bool {
    let deadline = Date().addingTimeInterval(30)
    var request = pollfd(fd: ended.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while !isListening {
      // Nothing tells that a socket listens: the files of a killed server of this name are there before, and the
      // socket's own is there a moment too early.
      if poll(&request, 1, 10) > 0 {
        var byte: UInt8 = 0
        read(request.fd, &byte, 1)
        return false
      }
      if Date() > deadline { return false }
    }
    return true
  }

  private var isListening: Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = "/dev/shm/jack_\(name)_\(getuid())_0"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// Its state and its messages, for the report of a test that fails.
  var report: String {
    let messages = (try? String(contentsOfFile: folder.path + "/jackd.log", encoding: .utf8)) ?? ""
    return "\(name) \(process.isRunning ? "runs" : "ended with \(process.terminationStatus)"):\n\(messages)"
  }

  /// From now on it hangs, as under a load or a debugger, until `proceed`.
  func stall() { Glibc.kill(process.processIdentifier, SIGSTOP) }

  func proceed() { Glibc.kill(process.processIdentifier, SIGCONT) }

  /// As `kill -9`.
  func kill() {
    guard process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit {
    // A killed one's place is free again when another of its name has ended by itself.
    if !process.isRunning {
      do { try start() } catch { return }
      _ = isServing()
    }
    guard process.isRunning else { return }
    let process = process
    let proceed = proceed
    // Other tests of this process open clients.
    JackDatabase.exclusively {
      process.terminate()
      proceed()
      process.waitUntilExit()
    }
  }
}

struct JackServerFailure: Error, CustomStringConvertible {
  let report: String
  var description: String { "no JACK server could be started: \(report)" }
}
