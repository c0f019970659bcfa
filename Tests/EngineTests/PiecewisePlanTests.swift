import Patch
import Realtime
import TestSupport
import Testing

@testable import Engine

/// Plans that are compiled piece by piece, as edits touch them, are those that would be compiled as a whole.
@Suite struct PiecewisePlanTests {
  /// An engine whose stretches have few nodes, and one that compiles everything with every edit.
  private static func benches(_ text: String, length: Int, period: Int, threads: Int = 1) throws -> [Bench] {
    try [false, true].map { forgets in
      let bench = Bench(period: period, threads: threads)
      bench.engine.graph.order.forgets = forgets
      if !forgets { bench.engine.graph.order.length = length }
      try bench.begin(text)
      return bench
    }
  }

  /// A fault of the order, or nil.
  private static func fault(of graph: EngineGraph) -> String? {
    let rows = graph.order.rows
    if rows.count != graph.nodeCount { return "\(rows.count) of \(graph.nodeCount) nodes have a place" }
    for cable in graph.cables.values where !cable.key.isFeedback {
      if !cable.source.row.isBefore(cable.destination.row) {
        return "\(cable.source.name) comes after \(cable.destination.name)"
      }
    }
    for stretch in graph.order.all {
      for (place, row) in stretch.rows.enumerated()
      where row.pointee.stretch != stretch.head || Int(row.pointee.place) != place {
        return "a node does not know its place"
      }
    }
    return nil
  }

  /// Latency compensation of each cable, in frames.
  private static func compensations(_ graph: EngineGraph) -> [Cable.Ends: Int32] {
    Dictionary(uniqueKeysWithValues: graph.intents.compactMap { $0.map { ($0.ends, $0.compensation) } })
  }

  private static func difference(_ text: String, _ steps: [TestSupport.Step], length: Int, threads: Int = 1)
    -> String?
  {
    guard let benches = try? benches(text, length: length, period: 96, threads: threads) else {
      return "it does not start"
    }
    for step in steps {
      for bench in benches {
        bench.render(step.frames)
        // An extra undo at the start of the history, or a line that a shrunk script lacks, leaves later ones without their nodes.
        bench.attempt(step.line)
      }
      if let fault = fault(of: benches[0].engine.graph) { return "\(step.line): \(fault)" }
      let loops = benches.map { Set($0.engine.graph.feedback.map(\.ends)) }
      if loops[0] != loops[1] { return "\(step.line): \(loops[0]) are delayed instead of \(loops[1])" }
      let late = benches.map { compensations($0.engine.graph) }
      if let (ends, frames) = late[0].first(where: { late[1][$0.key] != $0.value }) {
        return "\(step.line): \(ends) is delayed by \(frames) frames instead of \(late[1][ends] ?? 0)"
      }
      let counts = benches.map { $0.engine.report().steps }
      if threads == 1, counts[0] != counts[1] {
        return "\(step.line): \(counts[0]) steps instead of \(counts[1])"
      }
    }
    for bench in benches { bench.render(4800) }
    for channel in 0..<4 {
      if let difference = firstDifference(benches[0].heard[channel], benches[1].heard[channel]) {
        return "channel \(channel): \(difference)"
      }
    }
    return benches[0].heard[0].contains { abs($0) > 0.001 } ? nil : "silence"
  }

  @Test(arguments: lawSeeds, [1, 4]) func anEditCompilesWhatACompilationOfTheWholeWould(
    seed: UInt64, length: Int
  ) throws {
    print("seed \(seed)")
    let text = ThreadTests.randomPatch(seed: seed)
    let lines = RandomLines(seed: seed, of: try Draft(text).patch, keeping: ["voice", "out", "side"])
    expectLaw("pieces", seed: seed, RandomLines.steps(lawLength(120), mostFrames: 300, from: lines)) {
      steps in
      Self.difference(text, steps, length: length)
    }
  }

  private static let cycle = """
    node voice oscillator shape=saw freq=220Hz
    node wide noise channels=2
    node a distortion
    node b delay time=3ms
    node c matrix inputs=3 outputs=2
    node out output channels=2
    connect voice -> a gain=-12dB
    connect a -> b
    connect b -> c map=[0,1,0]
    connect c -> out
    connect wide -> a gain=-20dB
    """

  /// A small patch, where most edits make or break cycles, and which is undone as often as not.
  @Test(arguments: lawSeeds, [1, 3]) func cyclesAndUndoesAreCompiledAsAWholeWouldBe(seed: UInt64, length: Int)
    throws
  {
    print("seed \(seed)")
    let text = Self.cycle
    var random = SeededGenerator(seed: seed)
    let lines = RandomLines(seed: seed, of: try Draft(text).patch, kinds: RandomLines.sounding)
    let steps = RandomLines.steps(lawLength(300), mostFrames: 400, from: lines).flatMap {
      step -> [TestSupport.Step] in
      guard Int.random(in: 0..<3, using: &random) == 0 else { return [step] }
      let frames = Int.random(in: 0...700, using: &random)
      return [step, .init(frames: frames, line: "undo"), .init(frames: frames / 2, line: "redo")]
    }
    expectLaw("pieces of cycles", seed: seed, steps) { Self.difference(text, $0, length: length) }
  }

  /// Loops in a chain, some of which share a node or lie within others: an edit looks only at those that it touches.
  @Test(arguments: lawSeeds, [2, 7]) func loopsElsewhereStayAsTheyAre(seed: UInt64, length: Int) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let count = 24
    // Names in another order than the cables.
    let names = (0..<count).shuffled(using: &random).map { "n\($0)" }
    var text = "node voice oscillator shape=saw freq=220Hz level=-20dB\nnode out output\n"
    for name in names {
      text += "node \(name) \(["gain", "mix", "delay time=3ms"].randomElement(using: &random)!)\n"
    }
    for i in 0..<count {
      text += "connect \(i == 0 ? "voice" : names[i - 1]) -> \(names[i])\n"
      if i % 4 == 3 { text += "connect \(names[i]) -> \(names[i - 3]) gain=-40dB\n" }
    }
    for (from, to) in [(11, 9), (14, 10)] {
      text += "connect \(names[from]) -> \(names[to]) gain=-50dB\n"
    }
    text += "connect \(names[count - 1]) -> out\nconnect voice -> out\n"
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch, kinds: ["gain", "mix", "delay"], standing: ["out", "voice"])
    let steps = RandomLines.steps(lawLength(150), mostFrames: 700, from: lines)
    expectLaw("pieces of loops", seed: seed, steps) { Self.difference(text, $0, length: length) }
  }

  /// Nodes with latencies among others without, cables of any length between them, and loops: an edit aligns the paths behind it
  /// only.
  @Test(arguments: lawSeeds, [3, 50]) func pathsElsewhereStayAligned(seed: UInt64, length: Int) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let count = 30
    let names = (0..<count).shuffled(using: &random).map { "n\($0)" }
    let kinds = [
      "gain", "mix", "gain", "limiter", "distortion oversample=2", "distortion oversample=4", "matrix",
    ]
    var text = "node voice oscillator shape=saw freq=220Hz level=-40dB\nnode out output\n"
    for (place, name) in names.enumerated() {
      text += "node \(name) \(kinds.randomElement(using: &random)!)\n"
      text += "connect \(place == 0 ? "voice" : names[place - 1]) -> \(name)\n"
      guard place > 1 else { continue }
      let other = Int.random(in: 0..<place - 1, using: &random)
      let isBackwards = Int.random(in: 0..<8, using: &random) == 0
      let ends = isBackwards ? (name, names[other]) : (names[other], name)
      text += "connect \(ends.0) -> \(ends.1) gain=-20dB\n"
    }
    text += "connect \(names[count - 1]) -> out\nconnect voice -> out\n"
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch, kinds: ["gain", "mix", "distortion", "limiter", "filter"],
      standing: ["out", "voice"])
    let steps = RandomLines.steps(lawLength(150), mostFrames: 700, from: lines).flatMap {
      step -> [TestSupport.Step] in
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return [step, .init(frames: 300, line: "undo"), .init(frames: 20, line: "redo")]
      case 1:
        let times = [1, 2, 4].randomElement(using: &random)!
        let name = names.randomElement(using: &random)!
        return [step, .init(frames: 90, line: "set \(name).oversample \(times)")]
      default: return [step]
      }
    }
    expectLaw("pieces of late paths", seed: seed, steps) { Self.difference(text, $0, length: length) }
  }

  /// A cycle is opened, and its nodes leave the place of the cable that had closed it by cables that lie elsewhere: that cable
  /// needs no delay any more. Before the first frame the cable that opened the cycle goes at once, later with a fade.
  @Test(arguments: [0, 100, 9600]) func aCycleThatWasOpenedLosesItsDelayWhereverItsNodesGo(frames: Int) {
    let text = """
      node voice oscillator shape=saw freq=220Hz level=-20dB
      node w gain
      node y gain
      node a gain
      node b gain
      node x gain
      node z gain
      node out output
      connect w -> y
      connect y -> a
      connect a -> b
      connect b -> x
      connect x -> y
      connect x -> z
      connect voice -> out
      """
    let moved = TestSupport.Step(
      frames: frames, line: "disconnect a -> b ; connect z -> a ; connect b -> w")
    #expect(Self.difference(text, [moved], length: 20) == nil)
    let apart = [
      TestSupport.Step(frames: frames, line: "disconnect a -> b"),
      .init(frames: frames, line: "connect z -> a ; connect b -> w"),
    ]
    #expect(Self.difference(text, apart, length: 20) == nil)
  }

  /// A sum of so many cables that its sources are kept from plan to plan (`WideSum`), of one channel and of two, near and in
  /// other pieces.
  @Test(arguments: lawSeeds, [5, 40]) func aWideSumKeepsWhatAnEditDoesNotTouch(seed: UInt64, length: Int)
    throws
  {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    // Many lines take nodes away.
    let count = 2 * WideSum.leastCables
    var text = """
      node voice oscillator shape=saw freq=220Hz level=-20dB
      node wide noise channels=2 level=-30dB
      node sum mix
      node out output
      connect sum -> out gain=-20dB
      connect voice -> out

      """
    for i in (0..<count).shuffled(using: &random) {
      let source = i % 30 == 7 ? "wide" : "voice"
      text += "node n\(i) \(i % 9 == 4 ? "filter" : "gain")\nconnect \(source) -> n\(i)\n"
      text += "connect n\(i) -> sum\n"
    }
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch, kinds: ["gain", "mix", "filter"],
      standing: ["sum", "out", "voice"])
    let steps = RandomLines.steps(lawLength(120), mostFrames: 500, from: lines)
    expectLaw("pieces of sums", seed: seed, steps) { Self.difference(text, $0, length: length) }
  }

  /// A delay fell asleep after the cable that went round from it had been taken away: when that comes back, nothing is left of
  /// what it had sent round.
  @Test func whatWentRoundBeforeIsNotHeardAgain() {
    let steps = [
      TestSupport.Step(frames: 181, line: "connect c -> voice.freq gain=-13dB"),
      .init(frames: 2683, line: "remove a tail"), .init(frames: 4795, line: "undo"),
    ]
    #expect(Self.difference(Self.cycle, steps, length: 1) == nil)
  }

  @Test(arguments: searchSeeds(7, 8)) func severalThreadsHaveTheSameOrderOfEdits(seed: UInt64) throws {
    let text = ThreadTests.randomPatch(seed: seed)
    let lines = RandomLines(seed: seed, of: try Draft(text).patch, keeping: ["voice", "out", "side"])
    expectLaw("pieces on threads", seed: seed, RandomLines.steps(80, mostFrames: 300, from: lines)) { steps in
      Self.difference(text, steps, length: 4, threads: 2)
    }
  }
}
