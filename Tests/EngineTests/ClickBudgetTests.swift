import Engine
import Patch
import TestSupport
import Testing

/// Clicks of edits on a full-scale constant, measured by the engine's edit log: at most -90 dBFS above 5 kHz
/// for any edit, during any other edits.
@Suite struct ClickBudgetTests {
  private static let budget: Float = 3.162e-5

  /// constant -> a -> main (a matrix) -> out, and b in parallel to a.
  private func start(watched: Bool = true) throws -> Bench {
    let bench = Bench()
    bench.engine.isWatching = watched
    bench.feed(1)
    try bench.begin([
      node("in", "input", "channels=1"), node("a", "gain"), node("b", "gain"),
      node("main", "matrix", "inputs=2", "outputs=2"), node("out", "output"), cable("in", "a"),
      cable("a", "main"), cable("in", "b"), cable("main", "out"),
    ])
    bench.render(9600)
    return bench
  }

  /// Every edit has a log entry within the budget. `level`: the largest sample, 1 being full scale.
  private func expectInBudget(_ bench: Bench, edits: Int, _ what: String) {
    bench.settle()
    bench.render(24000)
    let log = bench.engine.editLog()
    #expect(log.count == edits, "\(what): \(log.count) entries")
    #expect(bench.engine.unseenCells == 0)
    let level = max(1, bench.heard.joined().reduce(0) { max($0, abs($1)) })
    for entry in log where entry.residue > Self.budget * level {
      Issue.record("\(what): \(entry.line) at \(entry.time): residue \(entry.residueLevel) dBFS")
    }
    let measured = log.count { $0.isMeasured }
    #expect(measured == edits)
  }

  @Test func everyKindOfEditKeepsTheBudget() throws {
    let kinds: [(String, [Edit])] = [
      ("connect and disconnect", [.disconnect(CableName("a", "main")), cable("a", "main")]),
      ("a second path", [cable("b", "main"), .disconnect(CableName("b", "main"))]),
      ("a path of its own", [cable("in", "out"), .disconnect(CableName("in", "out"))]),
      ("replace", [.replace("a", with: makeNode("a", "gain"))]),
      ("replace by another gain", [.replace("a", with: makeNode("a", "gain", ["gain=-20"]))]),
      ("replace by mix", [.replace("a", with: makeNode("a", "mix"))]),
      (
        "replace the matrix", [.replace("main", with: makeNode("main", "matrix", ["inputs=2", "outputs=2"]))]
      ),
      (
        "insert and bridge",
        [
          .insert(makeNode("c", "gain"), into: CableName("a", "main")), .remove("c", bridge: true),
        ]
      ),
      ("remove", [.remove("a", bridge: false)]),
      ("remove the output", [.remove("out", bridge: false)]),
      ("gain", [set("a", "gain", -60), set("a", "gain", 0)]),
      ("gain of a cable", [cable("a", "main", gain: -30), cable("a", "main")]),
      ("crosspoint", [set("main", "", -40, [0, 0]), set("main", "", 0, [1, 0])]),
      ("master", [set("main", "master", -40), set("main", "in", -10, [0]), set("main", "out", -10, [1])]),
      (
        "map",
        [
          cable("main", "out", map: [1, 0]), cable("main", "out", map: [0, -1]), cable("main", "out"),
        ]
      ),
      ("channels of the matrix", [set("main", "outputs", 1, unit: .none)]),
      (
        "mute",
        [flip("mute.in", [0]), flip("mute.in", [0], "off"), flip("mute", [0, 0]), flip("mute.out", [0])]
      ),
      ("solo", [flip("solo.in", [1]), flip("solo.in", [0]), flip("solo", [1, 1]), flip("solo.out", [1])]),
      ("polarity", [flip("invert.in", [0]), flip("invert", [0, 0]), flip("invert.out", [0])]),
      (
        "presets",
        [
          .matrix("main", .fold, over: nil), .matrix("main", .swap(.out, 0, 1), over: nil),
          .matrix("main", .clear, over: nil), .matrix("main", .identity, over: nil),
        ]
      ),
      (
        "more and fewer channels",
        [
          set("main", "inputs", 6, unit: .none), set("main", "outputs", 4, unit: .none),
          set("main", "inputs", 2, unit: .none), set("main", "outputs", 2, unit: .none),
        ]
      ),
    ]
    for (name, edits) in kinds {
      let bench = try start()
      for edit in edits {
        let isAccepted = bench.edit(edit)
        #expect(isAccepted, "\(name): \(edit)")
        bench.render(4800)
      }
      expectInBudget(bench, edits: edits.count, name)
      let delayed = bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isFeedback)
      #expect(delayed.isEmpty && bench.engine.report().latency == 0, "\(name) adds latency")
    }
  }

  private func flip(_ name: String, _ indices: [Int], _ word: String = "on") -> Edit {
    .set("main", ParameterPath(name, indices), .text(word), over: nil)
  }

  private func set(
    _ node: String, _ parameter: String, _ value: Double, _ indices: [Int] = [], unit: Unit = .decibels
  ) -> Edit {
    .set(node, ParameterPath(parameter, indices), .number(value, unit), over: nil)
  }

  /// A random edit with kinds that pass a constant as a constant: gain, mix, pan, matrix.
  private func randomEdit(
    _ patch: Patch, _ random: inout SeededGenerator, _ counter: inout Int
  ) -> Edit {
    let names = patch.nodes.values.map(\.name).filter { $0 != "in" && $0 != "out" }
    func some(_ list: [String]) -> String { list.randomElement(using: &random) ?? "nobody" }
    func fresh() -> Node {
      counter += 1
      return makeNode("n\(counter)", some(["gain", "mix", "pan", "matrix"]))
    }
    let cables = patch.cables.keys.sorted { "\($0)" < "\($1)" }.compactMap { ends -> CableName? in
      guard let from = patch[ends.source.node], let to = patch[ends.destination.node] else { return nil }
      return CableName(PortName(from.name, ends.source.port), PortName(to.name, ends.destination.port))
    }
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return .add(fresh(), before: nil)
    case 1: return .remove(some(names), bridge: Bool.random(using: &random))
    case 2:
      let name = some(names)
      return .replace(name, with: makeNode(name, patch[named: name]?.kind ?? "gain"))
    case 3:
      return cables.randomElement(using: &random).map { .insert(fresh(), into: $0) }
        ?? .add(fresh(), before: nil)
    case 4: return cables.randomElement(using: &random).map { .disconnect($0) } ?? .add(fresh(), before: nil)
    case 5: return set(some(names), "gain", .random(in: -30...0, using: &random))
    case 6:
      return set(
        some(names), "", .random(in: -30...0, using: &random), [0, Int.random(in: 0..<2, using: &random)])
    case 7:
      return cable(
        "main", "out", map: [.random(in: -1...1, using: &random), .random(in: -1...1, using: &random)])
    default:
      return cable(
        some(names + ["in"]), some(names + ["out"]), gain: .random(in: -40 ... -12, using: &random))
    }
  }

  @Test(arguments: searchSeeds(1, 2, 3)) func editsDuringFadesAndUndosInMidFadeKeepTheBudget(seed: UInt64)
    throws
  {
    print("seed \(seed)")
    let bench = try start()
    var random = SeededGenerator(seed: seed)
    var (counter, done, rounds) = (0, 0, 0)
    while done < 300, rounds < 5000 {
      rounds += 1
      if Int.random(in: 0..<5, using: &random) == 0 {
        if bench.undo() { done += 1 }
      } else if bench.edit(randomEdit(bench.patch, &random, &counter)) {
        done += 1
      }
      bench.render(Int.random(in: 1...200, using: &random))
    }
    expectInBudget(bench, edits: done, "seed \(seed)")
  }

  @Test(arguments: searchSeeds(4, 5)) func aHundredEditsAtOnceKeepTheBudget(seed: UInt64) throws {
    print("seed \(seed)")
    let bench = try start()
    var random = SeededGenerator(seed: seed)
    var counter = 0
    for _ in 0..<4 {
      var done = 0
      while done < 100 {
        if bench.edit(randomEdit(bench.patch, &random, &counter)) { done += 1 }
      }
      bench.render(130)
      for _ in 0..<50 { bench.undo() }
      bench.render(100)
    }
    expectInBudget(bench, edits: 600, "seed \(seed)")
  }

  /// Steady sounds at full scale: a constant, sines, silence; mono and multichannel.
  private static let sounds = """
    node one input channels=1
    node two input channels=2
    node six input channels=6
    node tone oscillator freq=150Hz level=0dB
    node pair oscillator freq=[100Hz,230Hz] level=0dB channels=2
    node quiet oscillator level=-inf channels=4
    node way gain
    node out output
    connect one -> way
    connect way -> out

    """

  /// Random edits of every kind during these sounds.
  @Test(arguments: manyLawSeeds)
  func randomEditsKeepTheBudget(seed: UInt64) throws {
    print("seed \(seed)")
    let makesCycles = seed / 2 % 2 == 0
    let lines = RandomLines(
      seed: seed, of: try Draft(Self.sounds).patch,
      kinds: ["gain", "mix", "pan", "matrix", "delay", "filter"],
      keeping: ["one", "two", "six", "tone", "pair", "quiet"],
      makesCycles: makesCycles, shortestMove: 10, turnsKnobs: false)
    let steps = RandomLines.steps(60, mostFrames: seed % 2 == 0 ? 300 : 3000, from: lines)
    expectLaw("click budget", seed: seed, steps) { steps in
      let bench = Bench(channels: 4)
      bench.engine.isWatching = true
      for channel in 0..<6 { bench.feed(channel % 2 == 0 ? 1 : -1, channel: channel) }
      guard (try? bench.begin(Self.sounds)) != nil else { return "it does not start" }
      // The constants' first step has died away.
      bench.render(9600)
      for step in steps {
        bench.render(step.frames)
        guard case .edited(let change) = bench.changing(step.line) else { continue }
        bench.engine.adopt(
          change.patch, ramps: change.ramps, tails: change.tails, at: bench.engine.renderer.time,
          describing: step.line)
      }
      bench.render(9600)
      bench.engine.closeEditLog()
      let level = max(1, bench.heard.joined().reduce(0) { max($0, abs($1)) })
      // A loop that grows by itself gets louder with or without edits, until the shield mutes it.
      if makesCycles, level > 100 { return nil }
      let worst = bench.engine.editLog().max { $0.residue < $1.residue }
      guard let worst, worst.residue > Self.budget * level else { return nil }
      return "\(worst.line) at \(worst.time): \(worst.residueLevel) dBFS, the loudest sample is \(level)"
    }
  }

  @Test func aJumpMadeByHandIsReported() throws {
    let bench = try start()
    bench.edit(set("a", "gain", -20))
    bench.render(24000)
    bench.edit(.disconnect(CableName("a", "main")), fade: 0)
    bench.render(24000)
    bench.edit(cable("a", "main"))
    bench.render(24000)
    let log = bench.engine.editLog()
    try #require(log.count == 3)
    #expect(log.map(\.line) == ["set a.gain -20dB", "disconnect a -> main", "connect a -> main"])
    // From 0.1 to silence in one frame.
    #expect(abs(log[1].stepLevel + 20) < 0.01)
    #expect(log[1].residueLevel > -32 && log[1].residueLevel < -20)
    #expect(log[0].residue < Self.budget && log[2].residue < Self.budget)
    #expect(log.map(\.fade) == [0.01, 0, 0.01])
    let traced = bench.engine.trace(since: 0).compactMap { entry in
      if case .edited(let edit) = entry.happening { edit } else { nil }
    }
    #expect(traced == log)
  }

  @Test func aBrighterSoundIsNoFaultOfTheEditThatBringsIt() throws {
    let bench = Bench()
    bench.engine.isWatching = true
    try bench.begin([
      node("high", "oscillator", "freq=9000", "level=-6"), node("low", "oscillator", "freq=100", "level=-6"),
      node("out", "output", "channels=1"), cable("low", "out"),
    ])
    bench.render(9600)
    bench.edit(cable("high", "out"))
    bench.render(24000)
    bench.edit(.disconnect(CableName("high", "out")))
    bench.render(24000)
    let log = bench.engine.editLog()
    #expect(log.count == 2)
    for entry in log {
      #expect(entry.residueLevel < -40, "\(entry.line): \(entry.residueLevel) dBFS")
      #expect(entry.stepLevel < -30, "\(entry.line): \(entry.stepLevel) dB")
    }
  }

  @Test func watchingChangesNoBit() throws {
    let (watched, unwatched) = (try start(), try start(watched: false))
    var random = SeededGenerator(seed: 6)
    var counter = 0
    for round in 0..<200 {
      let edit = randomEdit(watched.patch, &random, &counter)
      let isAccepted = watched.edit(edit)
      let isAcceptedToo = unwatched.edit(edit)
      #expect(isAccepted == isAcceptedToo)
      if round % 5 == 0 { watched.engine.isWatching.toggle() }
      watched.render(100)
      unwatched.render(100)
    }
    for channel in 0..<2 {
      #expect(firstDifference(watched.heard[channel], unwatched.heard[channel]) == nil)
    }
    let measured = unwatched.engine.editLog().count { $0.isMeasured || $0.residue > 0 }
    #expect(measured == 0)
  }
}
