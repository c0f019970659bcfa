import Engine
import Foundation
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// Every kind, edited at random while it sounds. `make rtsan` runs this under RealtimeSanitizer, which ends
/// the program at the first allocation, lock or wait on the audio thread. SOSTENUTO_EDITS sets the number of
/// edits, SOSTENUTO_EDIT_SEED which they are.
@Suite(.serialized) struct RealtimeExerciseTests {
  private static let edits =
    ProcessInfo.processInfo.environment["SOSTENUTO_EDITS"].flatMap { Int($0) } ?? 400

  private static func seed(_ usual: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment["SOSTENUTO_EDIT_SEED"].flatMap { UInt64($0) } ?? usual
  }

  @Test func editsNotesAndParametersAtRandomOffline() throws {
    let seed = Self.seed(7)
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
    _ = try audit.watchRenders { try renderer.render(frames: Int64(Self.edits * 100 + 4800), cues: cues) }
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

  @Test func theSameWhileAnotherThreadRendersAtTheClocksPace() throws {
    let seed = Self.seed(11)
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

  @Test(arguments: [1, 2])
  func eachKindEveryParameterSetMovedAndModulatedPutToSleepAndWoken(threads: Int) throws {
    let instrument = try Author.makeInstrument()
    defer { try? FileManager.default.removeItem(atPath: instrument) }
    var author = Author(random: SeededGenerator(seed: 3))
    for kind in KindRegistry.builtIn.catalogue.kinds {
      let graph = try LiveGraph(Self.patch(around: kind), threads: threads)
      if kind.parameters.contains(where: { $0.fileType != nil }) { try graph.load(instrument, into: "it") }
      let node = try #require(graph.patch[named: "it"])
      // Sizes last: a smaller size would leave no element for a setting with an index.
      let parameters =
        kind.parameters.filter { $0.form != .integer } + kind.parameters.filter { $0.form == .integer }
      let settings = parameters.compactMap { author.setting($0, of: "it") }
      let later = parameters.compactMap { author.setting($0, of: "it") }
      let quiet = Int64(settings.count + 1) * 1000
      var taken = 0
      var cues = [
        Cue(frame: 100) { graph.engine.perform(Event(.noteOn, key: 60, value: 90), on: node.id) },
        Cue(frame: 200) { graph.engine.perform(Event(.play, time: 0), on: node.id) },
      ]
      for (index, setting) in settings.enumerated() {
        for (frame, line) in [(0, "set \(setting)"), (500, "set \(later[index]) over 5ms")] {
          // `over` is refused for parameters that cannot ramp.
          cues.append(
            Cue(frame: Int64(index * 1000 + frame)) { if (try? graph.perform(line)) != nil { taken += 1 } })
        }
      }
      if kind.inputs.contains(where: { !$0.isEvents }) {
        cues.append(Cue(frame: quiet) { try graph.perform("connect wind -> it gain=-inf") })
        cues.append(Cue(frame: quiet + 48_000) { try graph.perform("connect wind -> it gain=0dB") })
      }
      let audit = Audit(period: 96)
      let renderer = OfflineRenderer(engine: graph.engine, rate: 48000, period: 96, tracks: [])
      _ = try audit.watchRenders { try renderer.render(frames: quiet + 50_000, cues: cues) }
      #expect(audit.found.breaches == 0, "\(kind.name): \(audit.words)")
      #expect(taken >= settings.count, "\(kind.name): \(taken) of \(2 * settings.count)")
      let report = try #require(graph.engine.report().nodes.first { $0.name == "it" }, "\(kind.name)")
      if case .placeholder(let reason) = report.state {
        Issue.record("\(kind.name) was not at work: \(reason)")
      }
    }
  }

  /// A patch with one node of the kind: every input connected, every audio output audible.
  private static func patch(around kind: KindDescription) -> String {
    var lines = [
      "node keys keyboard", "node wind noise", "node slow oscillator freq=3Hz level=-20dB",
      "node it \(kind.name)", "node out output",
    ]
    for port in kind.inputs { lines.append("connect \(!port.isEvents ? "wind" : "keys") -> it.\(port.name)") }
    for parameter in kind.parameters where KindDescription.isPort(parameter) {
      let first = ParameterPath(parameter.name, parameter.dimensions.map { _ in 0 })
      lines.append("connect slow -> it\(first.suffix)")
    }
    for port in kind.outputs where !port.isEvents {
      lines.append("connect it.\(port.name) -> out gain=-20dB")
    }
    return lines.joined(separator: "\n")
  }
}
