import Foundation

extension Program {
  /// Runs it in another folder, with extra environment variables and standard input.
  static func run(
    _ arguments: [String], in folder: String, environment: [String: String] = [:], input: String = ""
  ) throws -> Outcome {
    try run(path, arguments, in: folder, environment: environment, input: input)
  }

  /// Runs another program.
  static func run(
    _ program: String, _ arguments: [String], in folder: String, environment: [String: String] = [:],
    input: String = ""
  ) throws -> Outcome {
    let scratch = try Folder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, errors) = (try scratch.file("output", ""), try scratch.file("errors", ""))
    process.standardInput = FileHandle(forReadingAtPath: try scratch.file("input", input))
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      output: String(decoding: try scratch.bytes("output"), as: UTF8.self),
      errors: String(decoding: try scratch.bytes("errors"), as: UTF8.self), status: process.terminationStatus)
  }

  /// Output to a terminal on standard output.
  static func shown(_ arguments: [String]) throws -> String {
    // Swift does not see glibc's own functions for this, because of feature macros.
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard terminal >= 0, ioctl(terminal, 0x4004_5431, &locked) == 0,  // TIOCSPTLCK
      ioctl(terminal, 0x8004_5430, &number) == 0  // TIOCGPTN
    else { throw CancellationError() }
    defer { close(terminal) }
    let inside = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = FileHandle(fileDescriptor: inside, closeOnDealloc: true)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    // All of it fits into the terminal's buffer.
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    _ = fcntl(terminal, F_SETFL, O_NONBLOCK)
    let count = read(terminal, &bytes, bytes.count)
    return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
  }
}

/// A git repository of its own, without the user's settings.
struct Repository {
  let folder: Folder
  let home: Folder
  var path: String { folder.path }
  private var environment: [String: String] {
    [
      "HOME": home.path, "XDG_CONFIG_HOME": home.path + "/.config", "GIT_CONFIG_NOSYSTEM": "1",
      "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
      "GIT_COMMITTER_EMAIL": "a@example.org",
    ]
  }

  init() throws {
    folder = try Folder()
    home = try Folder()
    try git("init", "-q", "-b", "main")
  }

  @discardableResult func git(_ arguments: String...) throws -> Program.Outcome {
    try Program.run("/usr/bin/env", ["git"] + arguments, in: path, environment: environment)
  }

  func sostenuto(_ arguments: String...) throws -> Program.Outcome {
    try Program.run(arguments, in: path, environment: environment)
  }

  func write(_ name: String, _ text: String) throws { _ = try folder.file(name, text) }
  func read(_ name: String) throws -> String { String(decoding: try folder.bytes(name), as: UTF8.self) }

  /// Commits everything on the current branch.
  func commit(_ message: String) throws {
    try git("add", "-A")
    try git("commit", "-q", "-m", message)
  }
}
