import Foundation
import Testing

/// A session in a process of its own, which can be killed; `StormWorker` documents its commands.
final class Worker {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []

  private static var path: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = (own as NSString).deletingLastPathComponent
    // Swift Testing's runner is elsewhere; its command line names the test bundle.
    if !FileManager.default.isExecutableFile(atPath: folder + "/StormWorker") {
      let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ""
      folder = (bundle as NSString).deletingLastPathComponent
    }
    return folder + "/StormWorker"
  }

  init(stateFolder: String) throws {
    process.executableURL = URL(fileURLWithPath: Self.path)
    process.environment = ["XDG_STATE_HOME": stateFolder, "HOME": stateFolder]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    kill()
  }

  /// Its process number.
  var number: Int32 { process.processIdentifier }

  func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// True if `next` returns at once.
  var hasAnswer: Bool {
    if unread.contains(10) { return true }
    var request = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) > 0
  }

  /// Next line of its output; nil when it has ended.
  func next() -> String? {
    while true {
      if let end = unread.firstIndex(of: 10) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// Sends a line and waits for the answer.
  @discardableResult func ask(_ line: String) throws -> String {
    try send(line)
    return next() ?? "ended"
  }

  /// The same for answers of several lines.
  func text(_ line: String) throws -> String {
    try JSONDecoder().decode(String.self, from: Data(try ask(line).utf8))
  }

  /// As `kill -9`, whatever it is doing.
  func kill() {
    guard process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
