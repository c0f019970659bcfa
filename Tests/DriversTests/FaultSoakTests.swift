import CAudit
import CJack
import Foundation
import Patch
import Session
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

private let environment = ProcessInfo.processInfo.environment
private let minutes = environment["SOSTENUTO_SOAK_MINUTES"].flatMap(Double.init) ?? 0
private let hasFaults = !(environment["SOSTENUTO_SOAK_FAULTS"] ?? "").isEmpty

/// `make soak FAULTS=1`: random edits in a session while faults hit its resources: the JACK server, the disk,
/// the files it plays. Memory, descriptors and threads must not grow.
@Suite(.serialized, .enabled(if: minutes > 0 && hasFaults)) @MainActor struct FaultSoakTests {
  /// Servers die, stop and come back, disks fill, files change, clients come and go: nothing grows.
  @Test func serversDieStopAndComeBackDisksFillFilesChangeClientsComeAndGo() throws {
    let seed = environment["SOSTENUTO_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    print("seed \(seed)")
    let soak = try FaultSoak(seed: seed)
    defer { soak.end() }
    let audit = Audit(period: 64)
    try audit.watchRenders { try soak.run(seconds: minutes * 60) }
    print(soak.words)
    print("audio threads: \(audit.words)")
    #expect(!Audit.isBuiltIn || audit.found.callbacks > 0)
    #expect(audit.found.breaches == 0)
    for figure in soak.figures {
      #expect(
        figure.growth <= figure.allowed, "\(figure.name): \(figure.early) at first, \(figure.late) at last")
    }
    #expect(soak.isWhole())
  }
}

/// A session under faults, and its resource use over time.
@MainActor private final class FaultSoak {
  private enum Fault: CaseIterable {
    case killed, killedWhileStill, still, restarted, diskFull, fileReplaced, clients, reopened
  }

  private let server: JackTestServer
  private let session: Session
  private let folder: String
  private let patchPath: String
  private let instruments: [String]
  private var sounds: [Data] = []
  private let hasDisk: Bool
  private var random: SeededGenerator
  private var author: Author
  /// Ends the current fault, at its time.
  private var repair: (at: Int64, body: () throws -> Void)?
  private var counts: [Fault: Int] = [:]
  private var taken = 0
  private var notices = 0
  private var nextTick: Int64 = 0
  /// Resident KiB, descriptors, threads and KiB of the heap in use, sampled between faults.
  private var samples: [[Int]] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    author = Author(random: SeededGenerator(seed: seed + 1))
    server = try JackTestServer()
    folder = FileManager.default.temporaryDirectory.appending(path: "sostenuto-soak-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // A file system of its own, where permitted, so that filling it harms nobody else.
    hasDisk = mount("tmpfs", folder, "tmpfs", 0, "size=48m") == 0
    signal(SIGXFSZ, SIG_IGN)
    patchPath = folder + "/soak.patch"
    instruments = ["a", "b"].map { [folder] in "\(folder)/\($0).wav" }
    for seconds in [1, 8] { sounds.append(try Self.sound(seconds: seconds)) }
    for (path, sound) in zip(instruments, sounds) { try sound.write(to: URL(filePath: path)) }
    let text = Author.patch.replacing(
      "node piano sampler", with: "node piano sampler instrument=\(instruments[0])")
    try ("sostenuto 1\n" + text + "\n").write(toFile: patchPath, atomically: true, encoding: .utf8)
    var options = SessionOptions()
    options.driver.preference = .jack
    options.driver.jack.server = server.name
    session = Session(options: options)
    try session.open(patchPath)
    try #require(session.diagnostics.isEmpty, "\(session.diagnostics)")
    session.start()
  }

  func end() {
    server.goOn()
    session.stop()
    server.stop()
    if hasDisk { umount2(folder, Int32(MNT_DETACH)) }
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func sound(seconds: Int) throws -> Data {
    let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-soak-\(UUID()).wav").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let graph = try LiveGraph(
      "node tone oscillator freq=261.6Hz shape=triangle\nnode out output channels=1\nconnect tone -> out")
    try OfflineRenderer(engine: graph.engine, rate: 48000, tracks: [.outputs(to: path)])
      .render(frames: Int64(seconds) * 48000)
    return try Data(contentsOf: URL(filePath: path))
  }

  // MARK: Run

  func run(seconds: Double) throws {
    let start = monotonicTime()
    let end = start + Int64(seconds * 1e9)
    var nextFault = start + 3_000_000_000
    while monotonicTime() < end || repair != nil {
      if (try? session.perform(author.line(session.patch))) != nil { taken += 1 }
      let time = session.engine.renderer.time
      try #require(isTrue { session.engine.renderer.time >= time + 1200 }, "the sound stands still")
      let now = monotonicTime()
      if let due = repair, now >= due.at {
        try due.body()
        repair = nil
        nextFault = now + .random(in: 2_000_000_000...6_000_000_000, using: &random)
      } else if repair == nil, now >= nextFault {
        // Recovered from the fault before.
        if session.supervisor.driver?.name == "jack", session.isLoaded {
          measure()
          if now < end { try harm(now) }
        } else if now > nextFault + 20_000_000_000 {
          Issue.record("not playing again: \(session.supervisor.message)")
          nextFault = now
        }
      }
    }
  }

  private func isTrue(_ condition: () -> Bool) -> Bool {
    wait {
      look()
      return condition()
    }
  }

  private func look() {
    let now = monotonicTime()
    if now >= nextTick {
      nextTick = now + 16_000_000
      session.tick()
      notices += session.takeNotices().count
    }
  }

  private func harm(_ now: Int64) throws {
    let fault = Fault.allCases.randomElement(using: &random)!
    counts[fault, default: 0] += 1
    let seconds = Double.random(in: 0.5...4, using: &random)
    switch fault {
    case .killed:
      server.crash()
      after(seconds, now) { [self] in try server.restart(while: look) }
    case .killedWhileStill:
      server.freeze()
      after(seconds, now) { [self] in
        server.crash()
        try server.restart(while: look)
      }
    case .still:
      server.freeze()
      after(2 * seconds, now) { [server] in server.goOn() }
    case .restarted:
      server.stop()
      after(seconds, now) { [self] in try server.restart(while: look) }
    case .diskFull:
      let undo = fillDisk()
      // A write during the fault is refused; earlier files stay intact.
      _ = try? session.save()
      after(seconds, now, undo)
    case .fileReplaced: replaceFile(seconds, now)
    case .clients:
      let clients = (0..<Int.random(in: 1...6, using: &random)).compactMap {
        TestClient(server: server.name, name: "guest\($0)")
      }
      for client in clients {
        jack_port_register(client.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
        jack_activate(client.client)
        let name = String(cString: jack_get_client_name(client.client))
        jack_connect(client.client, "sostenuto:out_1", "\(name):in")
      }
      after(seconds, now) { withExtendedLifetime(clients) {} }
    case .reopened:
      if (try? session.save()) != nil { try session.open(patchPath) }
    }
  }

  private func after(_ seconds: Double, _ now: Int64, _ body: @escaping () throws -> Void) {
    repair = (now + Int64(seconds * 1e9), body)
  }

  /// Fills the disk. Returns a closure that frees the space again.
  private func fillDisk() -> () -> Void {
    guard hasDisk else {
      // Without a file system of its own: limit the size of files that this process may write.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let before = limit
      limit.rlim_cur = 1
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      return {
        var limit = before
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      }
    }
    let path = folder + "/filler"
    let file = open(path, O_CREAT | O_WRONLY, 0o600)
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    while write(file, zeros, zeros.count) > 0 {}
    while write(file, zeros, 1) > 0 {}
    close(file)
    return { unlink(path) }
  }

  /// Makes the sampler load the other file, and changes that file while it is read.
  private func replaceFile(_ seconds: Double, _ now: Int64) {
    let index = Int.random(in: 0..<instruments.count, using: &random)
    let (path, sound) = (instruments[index], sounds[index])
    _ = try? session.perform("set piano.instrument \(path)")
    let url = URL(filePath: path)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: try? sounds[1 - index].write(to: url, options: .atomic)
    case 1: truncate(path, sound.count / 3)
    case 2: try? Data((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: url)
    case 3: unlink(path)
    default: try? sound.prefix(sound.count / 2).write(to: url, options: .atomic)
    }
    after(seconds, now) { try sound.write(to: url, options: .atomic) }
  }

  // MARK: Resource use

  struct Figure {
    var name: String
    var early: Int
    var late: Int
    var allowed: Int
    var growth: Int { late - early }
  }

  private func measure() {
    samples.append([
      Self.residentKilobytes(), Self.entries("/proc/self/fd"), Self.entries("/proc/self/task"),
      Int(sostenuto_heap_bytes() >> 10),
    ])
  }

  /// Medians of the first quarter after a warm-up tenth (everything has been used once), and of the last
  /// quarter.
  var figures: [Figure] {
    let names = [("memory in KiB", 48 << 10), ("descriptors", 3), ("threads", 4), ("heap in KiB", 24 << 10)]
    let rest = Array(samples.dropFirst(samples.count / 10))
    guard rest.count >= 4 else { return [] }
    func median(_ part: ArraySlice<[Int]>, _ index: Int) -> Int {
      part.map { $0[index] }.sorted()[part.count / 2]
    }
    return names.enumerated().map { index, name in
      Figure(
        name: name.0, early: median(rest.prefix(rest.count / 4), index),
        late: median(rest.suffix(rest.count / 4), index), allowed: name.1)
    }
  }

  /// State at the end: a readable patch, no child process left, no plan in flight.
  func isWhole() -> Bool {
    guard isTrue({ session.supervisor.driver?.name == "jack" && session.engine.isSettled }) else {
      return false
    }
    return session.engine.plansSent - session.engine.plansReturned <= 1 && (try? session.save()) != nil
  }

  var words: String {
    let faults = Fault.allCases.map { "\($0) \(counts[$0] ?? 0)" }.joined(separator: ", ")
    let figures = figures.map { "\($0.name) \($0.early) → \($0.late)" }.joined(separator: ", ")
    let columns = (0..<4).map { index in samples.map { "\($0[index])" }.joined(separator: " ") }
    return """
      \(taken) edits, \(notices) notices; \(faults)\(hasDisk ? "" : " (no disk of its own)")
      \(figures)
      memory \(columns[0])
      descriptors \(columns[1])
      threads \(columns[2])
      heap \(columns[3])
      """
  }

  private static func residentKilobytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (fields.flatMap { Int($0[1]) } ?? 0) * 4
  }

  private static func entries(_ path: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
  }
}
