import Foundation
import Instruments
import Patch
import Realtime
import Testing
import TestSupport

@testable import Drivers
@testable import Engine

/// A bank of 140 MB (Debian's fluid-soundfont-gm).
private let bank = "/usr/share/sounds/sf2/FluidR3_GM.sf2"
private let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent().path
private let soakMinutes =
  ProcessInfo.processInfo.environment["SOSTENUTO_SOAK_MINUTES"].flatMap(Double.init) ?? 0

/// Loading must never disturb the audio.
@Suite(.serialized, .enabled(if: FileManager.default.fileExists(atPath: bank))) @MainActor
struct LoadingTests {
  static let patch = """
    node keys keyboard
    node piano sampler polyphony=64
    node other sampler level=-12dB
    node out output
    connect keys -> piano
    connect piano -> out
    connect other -> out
    """

  /// Loads on a thread of its own, as a session does.
  final class Load: @unchecked Sendable {
    private let lock = NSLock()
    private let end = DispatchSemaphore(value: 0)
    private var result: Resource?
    var resource: Resource? { lock.withLock { result } }

    init(_ path: String) {
      Thread.detachNewThread { [self] in
        var options = LoadOptions()
        options.isGentle = true
        let loaded = try? InstrumentLoader.load(path: path, options: options).resource
        lock.withLock { result = loaded }
        end.signal()
      }
    }

    /// Waits until loading has finished or failed.
    func join() {
      end.wait()
      end.signal()
    }
  }

  /// A held chord renders bit for bit the same whether or not a bank loads meanwhile, for the same node or
  /// for another. Sounding notes finish on the old instrument.
  @Test(arguments: ["other", "piano"]) func aChordThatSoundsWhileABankLoadsIsTheSame(_ name: String) throws {
    let folder = NSTemporaryDirectory() + "sostenuto-loading-\(UUID().uuidString)"
    defer { for suffix in ["0", "1"] { try? FileManager.default.removeItem(atPath: folder + suffix) } }
    // Renders for about as long as the load takes.
    let frames: Int64 = 48000 * 40
    var outputs: [Data] = []
    for loads in [false, true] {
      let graph = try LiveGraph(Self.patch, period: 256)
      try graph.load(repository + "/Instruments/organ/organ.sfz", into: "piano")
      let node = try #require(graph.patch[named: name])
      for key in [48, 55, 60, 64, 67] { try graph.perform("note piano on \(key) 100", at: 0) }
      var load: Load?
      var isUsed = false
      func useWhenWhole() {
        guard !isUsed, let resource = load?.resource else { return }
        graph.engine.use(resource, for: node.id)
        isUsed = true
      }
      var cues: [Cue] = []
      if loads {
        cues.append(Cue(frame: 24_000) { load = Load(bank) })
        for frame in stride(from: 24_000, to: frames - 24_000, by: 480) {
          cues.append(Cue(frame: frame) { useWhenWhole() })
        }
        cues.append(
          Cue(frame: frames - 24_000) {
            load?.join()
            useWhenWhole()
          })
      }
      let path = folder + (loads ? "1" : "0")
      let renderer = OfflineRenderer(
        engine: graph.engine, rate: 48000, period: 256, tracks: [.outputs(to: path)])
      try renderer.render(frames: frames, cues: cues)
      outputs.append(try #require(FileManager.default.contents(atPath: path)))
      if loads { #expect(graph.engine.report().nodes.first { $0.name == name }?.file == "FluidR3_GM.sf2") }
    }
    let sound = outputs.map { $0.suffix(Int(frames) * 8) }
    #expect(sound[0].count == Int(frames) * 8 && sound[0].suffix(8000).contains { $0 != 0 })
    #expect(sound[0] == sound[1])
  }

  /// While a bank loads, and when its samples play for the first time, the audio thread does not wait,
  /// allocate, or take a page fault.
  @Test func theAudioThreadIsNotDisturbed() throws {
    let found = try play(seconds: 2)
    print("audio thread: \(found.audit.words)\nidle client:  \(found.idle.words)")
    #expect(found.loads >= 1)
    #expect(!Audit.isBuiltIn || found.audit.found.callbacks > 0)
    #expect(found.audit.found.breaches == 0)
    #expect(found.audit.found.waits == 0)
    #expect(!ProcessMemory.isLocked || found.audit.found.page_faults == 0)
  }

  /// `make soak`: banks load one after the other. Callbacks must not be later than those of an idle client,
  /// or of the same chord without loads.
  @Test(.enabled(if: soakMinutes > 0)) func loadsOneAfterTheOther() throws {
    let seconds = min(soakMinutes, 10) * 30
    let alone = try play(seconds: seconds, isLoading: false)
    let found = try play(seconds: seconds)
    print(
      """
      without loads
      audio thread: \(alone.audit.words)
      idle client:  \(alone.idle.words)
      \(found.loads) loads of 140 MB
      audio thread: \(found.audit.words)
      idle client:  \(found.idle.words)
      """)
    #expect(found.audit.found.breaches == 0)
    #expect(found.audit.found.waits == 0)
    #expect(found.audit.found.late <= 2 * found.idle.found.late + 10)
  }

  /// Holds a chord on a JACK server, and loads the bank into two samplers in turn.
  private func play(
    seconds: Double, isLoading: Bool = true
  ) throws -> (audit: Audit, idle: Audit, loads: Int) {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(Self.patch)
    try graph.load(repository + "/Instruments/upright/upright.sfz", into: "piano")
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    var idle = IdleClient(server: server.name, period: 64)
    let audit = Audit(period: 64)
    let nodes = try ["other", "piano"].map { try #require(graph.patch[named: $0]) }
    for key in [48, 55, 60, 64, 67] { try graph.perform("note piano on \(key) 100") }
    var loads = 0
    try audit.watchRenders {
      let start = monotonicTime()
      repeat {
        let load = isLoading || loads < 2 ? Load(bank) : nil
        let time = graph.engine.renderer.time
        try #require(
          wait(upTo: 60) {
            graph.engine.collect()
            supervisor.poll()
            return load.map { $0.resource != nil } ?? true && graph.engine.renderer.time > time
          })
        let node = nodes[loads % 2]
        if let load { graph.engine.use(load.resource, for: node.id) }
        loads += 1
        for key in [40, 62, 79] {
          try graph.perform("note \(node.name) on \(key) 90")
        }
        let then = graph.engine.renderer.time
        try #require(wait { graph.engine.renderer.time > then + 9600 })
        for key in [40, 62, 79] { try graph.perform("note \(node.name) off \(key)") }
      } while Double(monotonicTime() - start) < seconds * 1e9
    }
    // Ended before its server.
    let idleAudit = try #require(idle?.audit)
    idle = nil
    return (audit, idleAudit, loads)
  }
}
