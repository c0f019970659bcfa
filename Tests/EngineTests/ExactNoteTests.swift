import Realtime
import TestSupport
import Testing

@testable import Engine

/// Notes that are queued ahead for frames of their own: a chord in the middle of a block.
@Suite struct ExactNoteTests {
  private static let start = """
    node keys keyboard
    node piano sampler
    node dist distortion drive=6dB
    node out output
    connect keys -> piano
    connect piano -> dist
    connect dist -> out
    """

  private static func begin(_ organ: Resource, period: Int = 64, threads: Int = 1) throws -> Bench {
    let bench = Bench(period: period, threads: threads)
    try bench.begin(start)
    bench.engine.use(organ, for: try bench.id("piano"))
    bench.render(640)
    return bench
  }

  /// Chords, their ends, pedals, and now and then an edit, which is at some note's frame or beside it.
  private static func steps(_ random: inout SeededGenerator) -> [TestSupport.Step] {
    (0..<lawLength(120)).map { _ in
      let frames = Bool.random(using: &random) ? 0 : Int.random(in: 1...150, using: &random)
      let key = Int.random(in: 50...70, using: &random)
      let line =
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: "note keys on \(key) \(Int.random(in: 1...127, using: &random))"
        case 9..<15: "note keys off \(key)"
        case 15: "pedal keys sustain \(Bool.random(using: &random) ? "on" : "off")"
        case 16: "set dist.drive \(Int.random(in: 0...12, using: &random))dB"
        case 17: "replace dist \(["filter", "gain", "distortion"].randomElement(using: &random)!)"
        case 18: "disconnect keys -> piano"
        default: "connect keys -> piano"
        }
      return TestSupport.Step(frames: frames, line: line)
    }
  }

  @Test(arguments: lawSeeds) func notesWithinABlockSoundAsThoseBetweenBlocks(seed: UInt64) throws {
    let organ = try LawTests.organ()
    var random = SeededGenerator(seed: seed)
    let steps = Self.steps(&random)
    let period = [64, 64, 100, 256, 17][Int(seed % 5)]
    expectLaw("exact notes", seed: seed, steps) { steps in
      guard let whole = try? Self.begin(organ),
        let split = try? Self.begin(organ, period: period, threads: 1 + Int(seed / 5 % 2))
      else { return "no start" }
      whole.play(steps)
      ExactTimeTests.play(steps, split, lead: 300)
      for bench in [whole, split] { bench.render(4800) }
      guard whole.engine.pending.isEmpty, split.engine.pending.isEmpty else { return "transactions are left" }
      return firstDifference(whole.heard[0], split.heard[0])
    }
  }

  @Test func aChordEndsNoBlock() throws {
    let bench = try Self.begin(try LawTests.organ())
    let (now, blocks) = (bench.engine.renderer.time, bench.engine.renderer.blocks)
    let keys = [48, 55, 60, 64, 67]
    for key in keys { bench.perform("note keys on \(key) 100", at: now + 64 * 2 + 31) }
    for (index, key) in keys.enumerated() {
      bench.perform("note keys off \(key)", at: now + 64 * 4 + 11 * Int64(index))
    }
    bench.render(64 * 4)
    #expect(bench.engine.report().nodes.first { $0.name == "piano" }?.heldNotes == 5)
    bench.render(64 * 2)
    #expect(bench.engine.renderer.blocks - blocks == 6 && bench.engine.pending.isEmpty)
    #expect(bench.engine.report().nodes.first { $0.name == "piano" }?.heldNotes == 0)
    let heard = bench.heard[0]
    let first = 640 + 64 * 2 + 31
    #expect(heard[..<first].allSatisfy { $0 == 0 } && heard[first...(first + 64)].contains { $0 != 0 })
  }
}
