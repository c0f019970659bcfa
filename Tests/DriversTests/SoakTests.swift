import Foundation
import Patch
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

private let environment = ProcessInfo.processInfo.environment
private let minutes = environment["SOSTENUTO_SOAK_MINUTES"].flatMap(Double.init) ?? 0
private let hasFaults = !(environment["SOSTENUTO_SOAK_FAULTS"] ?? "").isEmpty

/// `make soak`: hours of random edits on a real JACK server. Every render is audited, no plan is lost, and
/// memory does not grow.
@Suite(.serialized, .enabled(if: minutes > 0 && !hasFaults)) @MainActor struct SoakTests {
  /// Random edits for a long time: no leak, every plan back, nothing that an audio thread must not do.
  @Test func randomEditsForALongTimeNoLeakEveryPlanBack() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let instrument = try Author.makeInstrument()
    defer { try? FileManager.default.removeItem(atPath: instrument) }
    let graph = try LiveGraph(Author.patch)
    try graph.load(instrument, into: "piano")
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    let seed = environment["SOSTENUTO_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    var author = Author(random: SeededGenerator(seed: seed))
    print("seed \(seed)")
    // An idle client on the same server at the same time: its late callbacks are due to the machine.
    let idle = try #require(IdleClient(server: server.name, period: 64))
    let audit = Audit(period: 64)
    let late = supervisor.status.xruns

    let start = monotonicTime()
    let first = graph.engine.renderer.time
    var (taken, longest, early): (Int, Int64, Int) = (0, 0, 0)
    var elapsed = 0.0
    try audit.watchRenders {
      while elapsed < minutes * 60 {
        let line = author.line(graph.patch)
        let before = monotonicTime()
        if (try? graph.perform(line)) != nil { taken += 1 }
        longest = max(longest, monotonicTime() - before)
        let time = graph.engine.renderer.time
        try #require(wait { graph.engine.renderer.time >= time + 240 }, "the sound stands still")
        graph.engine.collect()
        supervisor.poll()
        elapsed = Double(monotonicTime() - start) / 1e9
        // After a tenth of the time everything has been used once.
        if early == 0, elapsed > minutes * 6 { early = residentBytes() }
      }
    }
    let rendered = Double(graph.engine.renderer.time - first) / 48000
    let grown = residentBytes() - early
    let status = supervisor.status
    let isLocked = ProcessMemory.isLocked
    print(
      """
      \(taken) edits in \(Int(elapsed)) s, the longest \(longest / 1000) µs; \(Int(rendered)) s of sound
      audio thread: \(audit.words)
      idle client:  \(idle.audit.words)
      xruns of the server \(status.xruns - late); load \(Int(status.load * 100)) %, at most \
      \(Int(status.peakLoad * 100)) %; memory grew by \(grown / 1024) KiB, \(isLocked ? "locked" : "not locked")
      plans sent \(graph.engine.plansSent), back \(graph.engine.plansReturned)
      """)
    #expect(
      wait {
        graph.engine.collect()
        return graph.engine.isSettled
      })
    #expect(graph.engine.plansSent - graph.engine.plansReturned <= 1)
    let found = audit.found
    #expect(!Audit.isBuiltIn || found.callbacks > 0)
    #expect(found.breaches == 0)
    #expect(found.waits == 0)
    #expect(!isLocked || found.page_faults == 0)
    // Lateness is random: up to twice the idle client's, and a few more, means nothing.
    #expect(found.late <= 2 * idle.audit.found.late + 10 + Int64(minutes))
    #expect(grown < 64 << 20)
    #expect(supervisor.driver?.name == "jack")
  }

  private func residentBytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (fields.flatMap { Int($0[1]) } ?? 0) * 4096
  }
}
