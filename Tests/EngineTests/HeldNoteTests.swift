import Engine
import Foundation
import Instruments
import Patch
import Realtime
import Testing

/// Held notes through edits of the graph around them.
@Suite struct HeldNoteTests {
  // keys -> piano -> dist -> main -> out
  private static let chain = [
    node("keys", "keyboard"), node("piano", "sampler"), node("dist", "distortion"),
    node("main", "matrix", "inputs=2", "outputs=2"), node("out", "output"), cable("keys", "piano"),
    cable("piano", "dist"), cable("dist", "main"), cable("main", "out"),
  ]

  private static func instrument(_ name: String) throws -> Resource {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try InstrumentLoader.load(path: folder.path + "/Instruments/\(name)/\(name).sfz").resource
  }

  private static func start(_ instrument: Resource, _ edits: [Edit] = chain) throws -> Bench {
    let bench = Bench()
    try bench.begin(edits)
    _ = try #require(bench.engine.addTap(node: "piano", port: nil))
    bench.engine.use(instrument, for: try bench.id("piano"))
    return bench
  }

  @Test func disconnectingTheKeyboardEndsTheNotesThatItHolds() throws {
    let bench = try Self.start(try Self.instrument("organ"))
    let piano = try bench.id("piano")
    bench.engine.perform(Event(.noteOn, key: 60, value: 100), on: try bench.id("keys"))
    bench.engine.perform(Event(.noteOn, key: 72, value: 100), on: piano)
    bench.render(9600)
    #expect(bench.engine.report().nodes.first { $0.id == piano }?.voices == 2)
    bench.edit(.disconnect(CableName("keys", "piano")))
    bench.render(48000 * 4)
    let after = try #require(bench.engine.report().nodes.first { $0.id == piano })
    #expect(after.voices == 1, "the note that was played directly goes on")
    #expect(after.heldNotes == 1)
  }

  @Test func removingTheKeyboardWithItsPedalDownReleasesEverything() throws {
    let bench = try Self.start(try Self.instrument("organ"))
    let keys = try bench.id("keys")
    bench.engine.perform(Event(.control, key: 64, value: 127), on: keys)
    bench.engine.perform(Event(.noteOn, key: 60, value: 100), on: keys)
    bench.engine.perform(Event(.noteOff, key: 60), on: keys)
    bench.render(9600)
    #expect(bench.engine.report().nodes.first { $0.name == "piano" }?.voices == 1)
    bench.edit(.remove("keys", bridge: false))
    bench.render(48000 * 4)
    #expect(bench.engine.report().nodes.first { $0.name == "piano" }?.voices == 0)
  }

  @Test func anInstrumentArrivesWhileTheOldOneSounds() throws {
    let organ = try Self.instrument("organ")
    let still = try Self.start(organ)
    let changed = try Self.start(organ)
    for bench in [still, changed] {
      bench.engine.perform(Event(.noteOn, key: 60, value: 100), on: try bench.id("keys"))
      bench.render(4800)
    }
    changed.engine.use(try Self.instrument("upright"), for: try changed.id("piano"))
    still.render(9600)
    changed.render(9600)
    let tap = try changed.tapChannel()
    let difference = firstDifference(still.heard[tap], changed.heard[tap])
    #expect(difference == nil, "the held note ends on the instrument that it began on")
  }

  @Test func aHeldNoteStaysInTuneWhenTheRateChanges() throws {
    let bench = try Self.start(try Self.instrument("organ"))
    bench.engine.perform(Event(.noteOn, key: 69, value: 100), on: try bench.id("keys"))
    bench.render(24000)
    let tap = try bench.tapChannel()
    let before = frequency(Array(bench.heard[tap].suffix(12000)), rate: 48000)
    bench.engine.retune(rate: 96000, period: 64)
    bench.render(48000)
    let after = frequency(Array(bench.heard[tap].suffix(24000)), rate: 96000)
    let cents = 1200 * log2(after / before)
    #expect(abs(cents) < 1, "\(before) Hz became \(after) Hz")
    #expect(abs(1200 * log2(before / 440)) < 10, "\(before) Hz")
  }

  /// Fundamental frequency: best lag of the autocorrelation, refined by a parabola.
  private func frequency(_ samples: [Float], rate: Double) -> Double {
    let range = Int(rate / 500)...Int(rate / 380)
    func correlation(_ lag: Int) -> Double {
      var sum = 0.0
      for index in 0..<(samples.count - range.upperBound - 2) {
        sum += Double(samples[index]) * Double(samples[index + lag])
      }
      return sum
    }
    let values = range.map(correlation)
    let best = values.indices.max { values[$0] < values[$1] } ?? 0
    guard best > 0, best < values.count - 1 else { return 0 }
    let (a, b, c) = (values[best - 1], values[best], values[best + 1])
    return rate / (Double(range.lowerBound + best) + 0.5 * (a - c) / (a - 2 * b + c))
  }
}

extension Bench {
  /// First driver channel of the only tap.
  func tapChannel() throws -> Int {
    let tap = engine.endpoints.first { $0.isTap }
    return try #require(tap).firstChannel
  }

  func id(_ name: String) throws -> NodeID { try #require(patch[named: name]).id }
}
