import Foundation
import Testing

/// Special files: pipes without a writer, endless devices, folders, and a sparse file of 100 GB.
@Suite(.timeLimit(.minutes(3))) struct WaitingTests {
  enum Kind: String, CaseIterable { case pipe, zero, folder, sparse }

  /// Command lines that name a file of `kind`, at `@`.
  static let uses: [(name: String, suffix: String, line: [String])] = [
    ("patch to check", ".patch", ["check", "@"]),
    ("patch to print", ".patch", ["print", "@"]),
    ("patch to format", ".patch", ["format", "@"]),
    ("patch to format in place", ".patch", ["format", "-i", "@"]),
    ("patch to render", ".patch", ["render", "@", "--seconds", "0.1", "-o", "o.wav"]),
    ("patch to play", ".patch", ["play", "@", "--headless", "--seconds", "0.1", "--driver", "clock"]),
    (
      "script to render", ".script",
      ["render", "p.patch", "--script", "@", "--seconds", "0.1", "-o", "o.wav"]
    ),
    (
      "script to play", ".script",
      ["play", "p.patch", "--headless", "--script", "@", "--seconds", "0.1", "--driver", "clock"]
    ),
    ("MIDI file", ".mid", ["render", "p.patch", "--midi", "@", "-o", "o.wav"]),
    ("instrument to check", ".sfz", ["check", "@"]),
    ("bank to check", ".sf2", ["check", "@"]),
    ("patch to edit", ".patch", ["edit", "@"]),
    ("theme", ".toml", ["edit", "p.patch", "--theme", "@"]),
    ("keys", ".toml", ["edit", "p.patch", "--keys", "@"]),
  ]

  @Test(arguments: uses.indices, Kind.allCases)
  func asAnArgumentAMessageThatNamesItAndStatus1(use: Int, kind: Kind) throws {
    let folder = try Folder()
    let (name, suffix, line) = Self.uses[use]
    let path = try file(kind, "strange" + suffix, in: folder)
    // The browser opens there.
    if name == "patch to edit", kind == .folder { return }
    _ = try folder.file("p.patch", "sostenuto 1\nnode o oscillator\nnode out output\nconnect o -> out\n")
    let outcome = try Program.run(line.map { $0 == "@" ? path : $0 }, in: folder.path)
    #expect(outcome.status == 1, "\(line) \(kind)")
    #expect((outcome.errors + outcome.output).contains("\(path):"), "\(outcome.errors)\(outcome.output)")
    #expect(!outcome.errors.contains("Success"))
  }

  /// Node settings and instrument lines that name a file.
  static let settings = [
    ("sampler instrument=@", ".sfz"), ("sampler instrument=@", ".sf2"), ("sampler instrument=@", ".wav"),
    ("sampler instrument=@", ".flac"), ("player file=@", ".wav"), ("player file=@", ".ogg"),
    ("sampler instrument=ok.sfz tuning=@", ".scl"), ("sampler instrument=ok.sfz keymap=@", ".kbm"),
  ]

  @Test(arguments: settings.indices, Kind.allCases)
  func inAPatchTheRestRenders(setting: Int, kind: Kind) throws {
    let folder = try Folder()
    let (node, suffix) = Self.settings[setting]
    let path = try file(kind, "strange" + suffix, in: folder)
    _ = try folder.file("ok.sfz", "<region> sample=*sine\n")
    let patch = try folder.file(
      "p.patch",
      "sostenuto 1\nnode a \(node.replacingOccurrences(of: "@", with: path))\nnode out output\nconnect a -> out\n"
    )
    let outcome = try Program.run(["render", patch, "--seconds", "0.01", "-o", folder.path + "/o.wav"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("warning: ") && outcome.errors.contains(path), "\(outcome.errors)")
    #expect(FileManager.default.fileExists(atPath: folder.path + "/o.wav"))
  }

  @Test(arguments: ["#include \"@.sfz\"", "<region> sample=@.wav"], Kind.allCases)
  func inAnInstrument(line: String, kind: Kind) throws {
    let folder = try Folder()
    for suffix in [".sfz", ".wav"] { _ = try file(kind, "strange" + suffix, in: folder) }
    let path = try folder.file(
      "a.sfz", line.replacingOccurrences(of: "@", with: "strange") + "\n<region> sample=*sine\n")
    let outcome = try Program.run(["check", path])
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("strange."), "\(outcome.output)")
  }

  @Test(arguments: Kind.allCases) func asTheFileOfASubPatch(kind: Kind) throws {
    let folder = try Folder()
    _ = try file(kind, "strange.patch", in: folder)
    _ = try folder.file("p.patch", "sostenuto 1\nnode v patch file=strange.patch\nnode out output\n")
    let checked = try Program.run(["check", "p.patch"], in: folder.path)
    #expect(checked.status == 1)
    #expect(checked.output.hasPrefix("p.patch:2:19: error: strange.patch: "), "\(checked.output)")
    let rendered = try Program.run(
      ["render", "p.patch", "--seconds", "0.01", "-o", "o.wav"], in: folder.path)
    #expect(rendered.status == 0, "\(rendered.errors)")
    #expect(rendered.errors.contains("warning: `v` is a placeholder: "), "\(rendered.errors)")
    // That would be 100 GB.
    if kind == .sparse { return }
    let bundled = try Program.run(["bundle", "p.patch"], in: folder.path)
    #expect(bundled.status == 1 && bundled.errors.contains("v.file: strange.patch: "), "\(bundled.errors)")
  }

  private func file(_ kind: Kind, _ name: String, in folder: Folder) throws -> String {
    let path = folder.path + "/" + name
    switch kind {
    case .pipe: #expect(mkfifo(path, 0o600) == 0)
    case .zero: #expect(symlink("/dev/zero", path) == 0)
    case .folder: #expect(mkdir(path, 0o700) == 0)
    case .sparse:
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      #expect(truncate(path, 100 << 30) == 0)
    }
    return path
  }
}

/// A name in a patch stands for no stream: what it would read nobody may be about to send.
@Suite(.timeLimit(.minutes(3))) struct StreamNameTests {
  static let names = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"]
  static let lines = [
    ["check", "p.patch"], ["print", "p.patch"], ["bundle", "p.patch"], ["format", "p.patch"],
    ["render", "p.patch", "--seconds", "0.01", "-o", "o.wav"],
    ["play", "p.patch", "--headless", "--driver", "clock", "--seconds", "0.01"],
  ]

  @Test(arguments: names, lines) func ofASubPatchNobodyIsWaitedFor(name: String, line: [String]) throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", "sostenuto 1\nnode v patch file=\(name)\nnode out output\n")
    // Its standard input is a pipe that stays open.
    let command = try Command(line, in: folder)
    try #require(command.hasEnded(within: .seconds(60)), "\(line) waits for \(name)")
    let status = command.process.terminationStatus
    switch line[0] {
    case "check": #expect(status == (name == "-" ? 0 : 1))
    case "bundle": #expect(status == 1)
    case "format": #expect(status == 0)
    default: #expect(status == 0 && command.says("`v` is a placeholder: "), "\(command.errors)")
    }
  }

  @Test func aPatchFromStandardInputIsPlayed() throws {
    let outcome = try Program.run(
      ["play", "-", "--headless", "--driver", "clock", "--seconds", "0.01"], in: Program.repository,
      input: "sostenuto 1\nnode o oscillator loudness=3\n")
    #expect(outcome.status == 1 && outcome.errors.contains("loudness"), "\(outcome.errors)")
  }
}

/// A signal ends every command, whatever it waits for.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SignalTests {
  static let signals = [SIGINT, SIGTERM, SIGHUP]
  private static let patch = "sostenuto 1\nnode o oscillator\nnode out output\nconnect o -> out\n"

  /// Commands that read standard input, `-`, which never ends.
  static let readers: [[String]] = [
    ["check", "-"], ["format", "-"], ["print", "-"], ["check", "/dev/stdin"],
    ["render", "-", "--seconds", "1", "-o", "o.wav"],
    ["render", "p.patch", "--script", "-", "--seconds", "1", "-o", "o.wav"],
    ["render", "p.patch", "--midi", "-", "-o", "o.wav"],
    ["play", "-", "--headless", "--driver", "clock"],
    ["play", "p.patch", "--script", "-", "--headless", "--driver", "clock"],
  ]

  @Test(arguments: readers, signals)
  func whileItReadsWhatDoesNotCome(line: [String], signal: Int32) throws {
    try end(line, with: signal) { $0.isIn(.read) }
  }

  /// Commands that write to a pipe, `@`, which has no reader.
  static let writers: [[String]] = [
    ["render", "p.patch", "--seconds", "1", "-o", "@"],
    ["render", "p.patch", "--seconds", "0.01", "-o", "o.wav", "--edits", "@"],
    ["render", "p.patch", "--seconds", "0.01", "--tap", "o=@"],
    ["play", "p.patch", "--seconds", "0.01", "--headless", "--driver", "clock", "--edits", "@"],
  ]

  @Test(arguments: writers, signals)
  func whileItOpensWhatNobodyReads(line: [String], signal: Int32) throws {
    let folder = try end(line, with: signal) { $0.isIn(.open) }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasSuffix(".part") })
  }

  @Test(
    arguments: [["format", "many.patch"], ["print", "many.patch"]],
    signals)
  func whileNobodyTakesWhatItPrints(line: [String], signal: Int32) throws {
    try end(line, with: signal) { $0.isIn(.write) }
  }

  @Test(arguments: signals)
  func whileItRendersOrPlays(signal: Int32) throws {
    let folder = try end(["render", "p.patch", "--seconds", "604800", "-o", "o.wav"], with: signal) {
      FileManager.default.fileExists(atPath: $0.folder.path + "/o.wav.part")
    }
    #expect(
      !FileManager.default.fileExists(atPath: folder.path + "/o.wav.part"), "an unfinished file is left")
    try end(["play", "p.patch", "--headless", "--driver", "clock"], with: signal) { $0.says("clock") }
  }

  /// Starts the command, waits for `isReady`, and sends the signal.
  @discardableResult private func end(
    _ line: [String], with signal: Int32, when isReady: (Command) -> Bool
  ) throws -> Folder {
    // A test run in the background may have inherited ignored signals.
    for one in Self.signals { Glibc.signal(one, SIG_DFL) }
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    _ = try folder.file(
      "many.patch", "sostenuto 1\n" + (0..<6000).map { "node n\($0) oscillator\n" }.joined())
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    let command = try Command(line.map { $0.replacingOccurrences(of: "@", with: "pipe") }, in: folder)
    // The state of a blocked process sends no event: it is read again until it is there or the process ends.
    while !isReady(command), !command.hasEnded(within: .milliseconds(2)) {}
    #expect(command.process.isRunning, "\(line) has ended by itself: \(command.errors)")
    kill(command.process.processIdentifier, signal)
    command.process.waitUntilExit()
    let status = command.process.terminationStatus
    switch command.process.terminationReason {
    case .uncaughtSignal: #expect(status == signal, "\(line)")
    // It finished the work that it had begun.
    default: #expect(status == 130 || (line[0] == "play" && status == 0), "\(line): \(status)")
    }
    return folder
  }
}

/// The program with its standard input and output held open, neither written nor read.
private final class Command {
  enum Call { case read, write, open }

  let process = Process()
  let folder: Folder
  private let input = Pipe()
  private let output = Pipe()
  private let errorsPath: String
  private let hasEnded = DispatchSemaphore(value: 0)

  init(_ line: [String], in folder: Folder) throws {
    self.folder = folder
    errorsPath = try folder.file("errors", "")
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = line
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: errorsPath)
    let hasEnded = hasEnded
    process.terminationHandler = { _ in hasEnded.signal() }
    try process.run()
  }

  /// Waits for the end of the process; false when it still runs after this time.
  func hasEnded(within time: DispatchTimeInterval) -> Bool {
    guard hasEnded.wait(timeout: .now() + time) == .success else { return false }
    hasEnded.signal()
    return true
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var errors: String { (try? String(contentsOfFile: errorsPath, encoding: .utf8)) ?? "" }
  func says(_ text: String) -> Bool { errors.contains(text) }

  /// The main thread waits in this system call, on a descriptor held by the test or on a pipe.
  func isIn(_ call: Call) -> Bool {
    let path = "/proc/\(process.processIdentifier)/"
    guard let line = try? String(contentsOfFile: path + "syscall", encoding: .utf8) else { return false }
    let words = line.split(separator: " ")
    // System call numbers of x86-64 and AArch64.
    switch call {
    case .read: return words.count > 1 && ["0", "63"].contains(words[0]) && words[1] == "0x0"
    case .write: return words.count > 1 && ["1", "64"].contains(words[0]) && words[1] == "0x1"
    case .open: return words.first.map { ["2", "56", "257"].contains($0) } == true && waits
    }
  }

  /// Waits for the other end of a pipe, by the kernel's name for it.
  private var waits: Bool {
    let path = "/proc/\(process.processIdentifier)/wchan"
    return (try? String(contentsOfFile: path, encoding: .utf8))?.contains("partner") == true
  }
}
