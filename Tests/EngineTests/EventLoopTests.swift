import Engine
import Instruments
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

/// Cables of events that lead back to where the events come from: the graph has no order for them.
@Suite struct EventLoopTests {
  private static let chain = """
    node a keyboard
    node b keyboard
    node c chord
    node piano sampler
    node out output
    connect a -> b
    connect b -> c
    connect c -> piano
    connect piano -> out

    """

  private static func heard(_ text: String, _ organ: Resource, period: Int, _ steps: [Step] = []) throws
    -> [[Float]]
  {
    let bench = Bench(period: period)
    // The reader warns of the loop.
    bench.begin(
      PatchReader.read("sostenuto 1\n" + text, file: "", catalogue: KindRegistry.builtIn.catalogue).patch)
    bench.engine.use(organ, for: try bench.id("piano"))
    bench.perform("note a on 60 100")
    bench.play(steps)
    bench.render(9600)
    return bench.heard
  }

  /// Kinds that take a signal beside events, and give events: an arpeggiator has a clock.
  @Test(arguments: ["arpeggiator", "chord", "scale", "velocity"])
  func aNodeInAChainOfEventsComesAndGoesWhileItPlays(kind: String) throws {
    let organ = try LawTests.organ()
    let steps = [
      Step(frames: 3000, line: "node n \(kind) ; connect b -> n ; connect n -> piano"),
      Step(frames: 2000, line: "note a on 67 90"), Step(frames: 700, line: "connect n -> c"),
      Step(frames: 100, line: "undo"), Step(frames: 50, line: "disconnect n -> piano"),
      Step(frames: 10, line: "connect n -> piano"), Step(frames: 900, line: "remove n"),
    ]
    let heard = try Self.heard(Self.chain, organ, period: 64, steps)
    for period in [17, 1024] {
      #expect(try Self.heard(Self.chain, organ, period: period, steps) == heard, "\(kind), period \(period)")
    }
  }

  @Test(arguments: [
    "connect c -> b", "connect c -> c", "connect c -> a", "connect b -> b\nconnect c -> a",
  ])
  func theCableThatLeadsBackIsLeftOut(line: String) throws {
    let organ = try LawTests.organ()
    let plain = try Self.heard(Self.chain, organ, period: 64)
    #expect(plain[0].contains { abs($0) > 0.001 })
    for period in [64, 17, 1024] {
      #expect(
        try Self.heard(Self.chain + line + "\n", organ, period: period) == plain, "\(line), period \(period)")
    }
  }

  @Test(arguments: lawSeeds) func cablesTurnedRoundWhileOthersFadeEndAsTheLastPatchSounds(seed: UInt64) throws
  {
    print("seed \(seed)")
    let organ = try LawTests.organ()
    var random = SeededGenerator(seed: seed)
    let bench = Bench(period: [64, 17, 256].randomElement(using: &random)!)
    try bench.begin(
      Self.chain
        + "node d velocity\nnode e scale\nnode f keyboard\nconnect c -> d\nconnect d -> e\nconnect e -> f\n")
    bench.engine.use(organ, for: try bench.id("piano"))
    let names = ["a", "b", "c", "d", "e", "f"]
    for _ in 0..<120 {
      let (from, to) = (names.randomElement(using: &random)!, names.randomElement(using: &random)!)
      // A file or a merge may have what the prompt refuses.
      let ends = CableName(PortName(from), PortName(to))
      let edit = Bool.random(using: &random) ? Edit.connect(ends, CableSettings()) : .disconnect(ends)
      if let change = try? bench.patch.applying(
        edit, catalogue: KindRegistry.builtIn.catalogue, acceptsUnknownKinds: true)
      {
        bench.begin(change.patch)
      }
      bench.perform("note a \(Bool.random(using: &random) ? "on 60 100" : "off 60")")
      bench.render(Int.random(in: 0...700, using: &random))
    }
    // All fades are over, and what is held is let go.
    bench.perform("note a off 60")
    bench.render(48_000)
    let loaded = Bench()
    loaded.begin(bench.patch)
    loaded.engine.use(organ, for: try loaded.id("piano"))
    for bench in [bench, loaded] {
      bench.perform("note a on 64 100")
      bench.render(9600)
    }
    let (edited, fresh) = (bench.heard[0].suffix(9600), loaded.heard[0].suffix(9600))
    #expect(edited.contains { abs($0) > 0.001 } == fresh.contains { abs($0) > 0.001 }, "seed \(seed)")
  }
}
