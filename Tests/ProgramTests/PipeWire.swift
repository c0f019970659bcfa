import Foundation
import Testing

/// A PipeWire of a test's own: bus, server, session manager and sinks that swallow what they get.
final class PipeWire {
  static let tools = [
    "dbus-daemon", "pipewire", "wireplumber", "pw-jack", "pw-cli", "pw-metadata", "pw-link", "pw-record",
  ]
  static var isInstalled: Bool {
    tools.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
  }
  /// ALSA's way to it.
  static var hasDevice: Bool {
    isInstalled
      && Glob.exists("/usr/lib/*/alsa-lib/libasound_module_pcm_pipewire.so")
      && Glob.exists("/etc/alsa/conf.d/50-pipewire.conf")
  }

  let folder: Folder
  private var bus: Process?
  private var server: Process?
  private var manager: Process?
  private var others: [Process] = []
  /// Readable when an object or a setting of the server has changed.
  private let news = Pipe()
  /// Readable when a file in the folder has changed.
  private let files = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))

  init() throws {
    folder = try Folder()
    inotify_add_watch(files, folder.path, UInt32(IN_CREATE | IN_MODIFY | IN_DELETE))
    let flags = fcntl(news.fileHandleForReading.fileDescriptor, F_GETFL)
    _ = fcntl(news.fileHandleForReading.fileDescriptor, F_SETFL, flags | O_NONBLOCK)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    bus = try begin(
      "dbus-daemon", ["--session", "--nofork", "--nopidfile", "--address=unix:path=\(folder.path)/bus"])
    try start()
  }

  deinit {
    for process in others + [manager, server, bus].compactMap(\.self) { Self.end(process) }
    close(files)
  }

  private static func end(_ process: Process) {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  var environment: [String: String] {
    var own = ProcessInfo.processInfo.environment
    for name in ["DISPLAY", "WAYLAND_DISPLAY"] { own[name] = nil }
    own["XDG_RUNTIME_DIR"] = folder.path
    own["PIPEWIRE_RUNTIME_DIR"] = folder.path
    own["XDG_STATE_HOME"] = folder.path
    own["XDG_CONFIG_HOME"] = folder.path
    own["HOME"] = folder.path
    own["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(folder.path)/bus"
    return own
  }

  private func process(_ tool: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool.hasPrefix("/") ? tool : "/usr/bin/" + tool)
    process.arguments = arguments
    process.environment = environment
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// Begins a program that runs until the test ends. `output`: a file for what it says.
  func begin(_ tool: String, _ arguments: [String] = [], output: String? = nil) throws -> Process {
    let process = process(tool, arguments)
    if let output {
      try Data().write(to: URL(fileURLWithPath: output))
      let file = FileHandle(forWritingAtPath: output)
      (process.standardOutput, process.standardError) = (file, file)
    }
    try process.run()
    others.append(process)
    return process
  }

  /// Output of a program.
  func run(_ tool: String, _ arguments: String...) throws -> String {
    let process = process(tool, arguments)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }

  /// Starts server and session manager.
  func start() throws {
    server = try begin("pipewire")
    try #require(wait { FileManager.default.fileExists(atPath: folder.path + "/pipewire-0") })
    for (tool, arguments) in [("pw-mon", []), ("pw-metadata", ["-m"])] {
      let process = process(tool, arguments)
      // As a pipe it would be closed here.
      process.standardOutput = news.fileHandleForWriting
      try process.run()
      others.append(process)
    }
    manager = try begin("wireplumber")
    try #require(wait { try run("pw-metadata").contains("Found \"default\"") })
  }

  /// Ends both as a crash would.
  func crash() {
    if let server { Self.end(server) }
    if let manager { Self.end(manager) }
    try? FileManager.default.removeItem(atPath: folder.path + "/pipewire-0")
  }

  func addSink(_ name: String) throws {
    _ = try run(
      "pw-cli", "create-node", "adapter",
      """
      { factory.name=support.null-audio-sink node.name=\(name) media.class=Audio/Sink object.linger=true \
      audio.position=[FL FR] }
      """)
    try #require(wait { try run("pw-link", "-i").contains("\(name):playback_FR") })
  }

  func removeSink(_ name: String) throws { _ = try run("pw-cli", "destroy", name) }

  func set(_ key: String, _ value: Int) throws {
    _ = try run("pw-metadata", "-n", "settings", "0", key, "\(value)")
  }

  /// Where the output ports of `client` lead.
  func links(of client: String) throws -> [String] {
    var found: [String] = []
    var isOurs = false
    for line in try run("pw-link", "-l").split(separator: "\n") {
      if let arrow = line.range(of: "|-> ") {
        if isOurs { found.append(String(line[arrow.upperBound...])) }
      } else if !line.hasPrefix(" ") {
        isOurs = line.hasPrefix(client + ":")
      }
    }
    return found
  }

  /// Waits until a client is linked to both sides of a sink.
  func isLinked(_ client: String, to sink: String) throws -> Bool {
    try wait { try links(of: client) == ["\(sink):playback_FL", "\(sink):playback_FR"] }
  }

  /// The loudest sample that a sink gets in a second, in full scales.
  func peak(of sink: String) throws -> Double {
    let path = folder.path + "/peak.wav"
    let recorder = try begin("pw-record", ["--target", sink, "-P", "{ stream.capture.sink=true }", path])
    func samples() -> [Int16] {
      let data = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
      return data.dropFirst(64).withUnsafeBytes { raw in
        (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self) }
      }
    }
    defer { Self.end(recorder) }
    _ = wait { samples().count > 96_000 }
    return samples().map { abs(Double($0)) }.max().map { $0 / 32768 } ?? 0
  }

  /// Looks again whenever there is news.
  func wait(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date().addingTimeInterval(30)
    while true {
      skipNews()
      if try condition() { return true }
      if Date() >= deadline { return false }
      var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&requests, 2, Int32(max(deadline.timeIntervalSinceNow, 0) * 1000))
    }
  }

  private var descriptors: [Int32] { [news.fileHandleForReading.fileDescriptor, files] }

  private func skipNews() {
    var bytes = [UInt8](repeating: 0, count: 16384)
    for descriptor in descriptors { while read(descriptor, &bytes, bytes.count) > 0 {} }
  }
}

private enum Glob {
  static func exists(_ pattern: String) -> Bool {
    var found = glob_t()
    defer { globfree(&found) }
    return glob(pattern, 0, nil, &found) == 0
  }
}
