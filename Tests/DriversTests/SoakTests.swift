import Foundation
import Patch
import Testing

@testable import Drivers
@testable import Engine

private let minutes = ProcessInfo.processInfo.environment["SOSTENUTO_SOAK_MINUTES"].flatMap(Double.init) ?? 0

/// `make soak`: hours of random edits on a real JACK server, with nothing lost and nothing piling up.
@Suite(.serialized, .enabled(if: minutes > 0)) @MainActor struct SoakTests {
  @Test("random edits for a long time: no leak, every plan back, hardly more xruns than without edits")
  func longRun() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let instrument = try Author.makeInstrument()
    defer { try? FileManager.default.removeItem(atPath: instrument) }
    let graph = try LiveGraph(Author.patch)
    try graph.load(instrument, into: "piano")
    var options = DriverOptions()
    options.preference = .jack
    options.jack.server = server.name
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    // What the server is late by itself, in the first quarter of the time: libjack knows one server a
    // program, so a second one cannot be the control.
    let began = monotonicTime()
    while Double(monotonicTime() - began) / 1e9 < minutes * 15 {
      let time = graph.engine.renderer.time
      try #require(wait { graph.engine.renderer.time >= time + 240 }, "the sound stands still")
      graph.engine.collect()
      supervisor.poll()
    }
    let idle = supervisor.status.xruns

    let seed = UInt64.random(in: 0..<1_000_000)
    var author = Author(random: SeededGenerator(seed: seed))
    print("seed \(seed)")
    let start = monotonicTime()
    let first = graph.engine.renderer.time
    var (taken, longest, early): (Int, Int64, Int) = (0, 0, 0)
    var elapsed = 0.0
    while elapsed < minutes * 45 {
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
    let rendered = Double(graph.engine.renderer.time - first) / 48000
    let grown = residentBytes() - early
    let status = supervisor.status
    print(
      """
      \(taken) edits in \(Int(elapsed)) s, the longest \(longest / 1000) µs; \(Int(rendered)) s of sound
      xruns \(status.xruns - idle), in a third of the time without edits \(idle); load \(Int(status.load * 100)) %, \
      at most \(Int(status.peakLoad * 100)) %; memory grew by \(grown / 1024) KiB
      plans sent \(graph.engine.plansSent), back \(graph.engine.plansReturned)
      """)
    #expect(
      wait {
        graph.engine.collect()
        return graph.engine.isSettled
      })
    #expect(graph.engine.plansSent - graph.engine.plansReturned <= 1)
    // The server is late by chance: as much again and one a minute is no sign of anything.
    #expect(status.xruns - idle <= 6 * idle + 1 + Int(minutes))
    #expect(grown < 64 << 20)
    #expect(supervisor.driver?.name == "jack")
  }

  private func residentBytes() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (fields.flatMap { Int($0[1]) } ?? 0) * 4096
  }
}
