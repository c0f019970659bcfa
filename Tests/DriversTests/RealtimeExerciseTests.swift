import Engine
import Foundation
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// Every kind, edited at random while it sounds. `make rtsan` runs this under RealtimeSanitizer,
/// which ends the program at the first call on the audio thread that allocates, locks or waits;
/// SOSTENUTO_EDITS asks for a longer run.
@Suite(.serialized) struct RealtimeExerciseTests {
  private static let edits =
    ProcessInfo.processInfo.environment["SOSTENUTO_EDITS"].flatMap { Int($0) } ?? 400

  @Test("edits, notes and parameters at random, offline")
  func offline() throws {
    let seed: UInt64 = 7
    print("seed \(seed), \(Self.edits) edits")
    let instrument = try Author.makeInstrument()
    defer { try? FileManager.default.removeItem(atPath: instrument) }
    let graph = try LiveGraph(Author.patch)
    try graph.load(instrument, into: "piano")
    var author = Author(random: SeededGenerator(seed: seed))
    var taken = 0
    let renderer = OfflineRenderer(engine: graph.engine, rate: 48000, period: 64, tracks: [])
    let cues = (1...Self.edits).map { index in
      Cue(frame: Int64(index * 100)) {
        if (try? graph.perform(author.line(graph.patch))) != nil { taken += 1 }
      }
    }
    let audit = Audit(period: 64)
    try audit.watchRenders { try renderer.render(frames: Int64(Self.edits * 100 + 4800), cues: cues) }
    print("\(taken) taken, \(graph.patch.nodes.count) nodes at the end; \(audit.words)")
    #expect(taken > Self.edits / 3)
    #expect(graph.patch.nodes.count > 6)
    let found = audit.found
    #expect(!Audit.isBuiltIn || found.callbacks >= Self.edits)
    #expect(found.breaches == 0)
    #expect(graph.engine.renderer.time == Int64(Self.edits * 100 + 4800))
    #expect(graph.engine.isSettled)
    #expect(graph.engine.plansSent - graph.engine.plansReturned <= 1)
  }

  @Test("the same while another thread renders at the clock's pace")
  func live() throws {
    let seed: UInt64 = 11
    print("seed \(seed), \(Self.edits) edits")
    let instrument = try Author.makeInstrument()
    defer { try? FileManager.default.removeItem(atPath: instrument) }
    let graph = try LiveGraph(Author.patch)
    try graph.load(instrument, into: "piano")
    let clock = ClockDriver(renderer: graph.engine.renderer, rate: 48000, period: 64)
    try clock.start()
    var author = Author(random: SeededGenerator(seed: seed))
    var taken = 0
    for _ in 0..<Self.edits {
      if (try? graph.perform(author.line(graph.patch))) != nil { taken += 1 }
      let time = graph.engine.renderer.time
      #expect(wait { graph.engine.renderer.time > time })
      graph.engine.collect()
    }
    #expect(
      wait {
        graph.engine.collect()
        return graph.engine.isSettled
      })
    clock.stop()
    print("\(taken) taken, \(graph.patch.nodes.count) nodes at the end")
    #expect(taken > Self.edits / 3)
    #expect(graph.patch.nodes.count > 6)
    #expect(clock.status.failure == nil)
  }
}
