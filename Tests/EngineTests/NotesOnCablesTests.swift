import Engine
import Instruments
import Patch
import Realtime
import Testing
import TestSupport

/// Notes on event cables, while the nodes in between are removed and restored.
@Suite struct NotesOnCablesTests {
  // keys -> piano, and keys -> through -> second; both to the output.
  private static let start = """
    node keys keyboard
    node through keyboard
    node piano sampler
    node second sampler
    node dist gain
    node out output
    connect keys -> piano
    connect keys -> through
    connect through -> second
    connect piano -> dist gain=-12dB
    connect second -> dist gain=-12dB
    connect dist -> out
    """

  private static func begin(_ organ: Resource, period: Int = 64) throws -> Bench {
    let bench = Bench(period: period)
    try bench.begin(start)
    for name in ["piano", "second"] { bench.engine.use(organ, for: try bench.id(name)) }
    for line in [
      "pedal keys sustain on", "note keys on 60 100", "note keys off 60", "pedal keys sustain off",
    ] {
      bench.perform(line)
    }
    // One note has ended, three are held by keys, and one by a pedal.
    for key in [48, 64, 67] { bench.perform("note keys on \(key) 100") }
    bench.render(9600)
    bench.perform("pedal keys sustain on")
    bench.perform("note keys off 48")
    bench.render(2400)
    return bench
  }

  /// Voices and held notes, by node name.
  private static func notes(_ bench: Bench) -> [String] {
    bench.engine.report().nodes.filter { $0.kind == "sampler" }
      .map { "\($0.name) \($0.voices) \($0.heldNotes)" }.sorted()
  }

  private static let removals = [
    "remove piano", "remove piano tail", "remove keys", "remove keys tail", "remove through",
    "remove through tail", "remove second", "remove second tail", "disconnect keys -> piano",
    "disconnect through -> second", "disconnect keys -> through", "replace piano gain",
    "remove piano ; remove keys", "remove through ; remove second", "rename piano grand",
  ]

  @Test(arguments: removals) func anUndoInMidFadeFindsEveryNoteThatCameByCable(line: String) throws {
    let organ = try LawTests.organ()
    let still = try Self.begin(organ)
    still.render(12_000)
    for frames in [0, 1, 64, 240, 479] {
      let edited = try Self.begin(organ)
      let before = Self.notes(edited)
      #expect(before == ["piano 3 2", "second 3 2"])
      let isAccepted = edited.attempt(line)
      #expect(isAccepted)
      edited.render(frames)
      edited.perform("undo")
      edited.render(12_000 - frames)
      #expect(Self.notes(edited) == before, "\(line), undone after \(frames) frames")
      for channel in 0..<2 {
        let difference = firstDifference(
          Array(still.heard[channel].suffix(4800)), Array(edited.heard[channel].suffix(4800)))
        #expect(difference == nil, "\(line), undone after \(frames) frames: as if nothing had happened")
      }
      // The keys and the pedal still hold the notes: they can be released.
      for key in [64, 67] { edited.perform("note keys off \(key)") }
      edited.perform("pedal keys sustain off")
      edited.render(4 * 48_000)
      #expect(Self.notes(edited) == ["piano 0 0", "second 0 0"], "\(line): notes end as they did")
    }
  }

  @Test func whatIsNotUndoneEndsItsNotesWhenItsFadeIsOver() throws {
    let organ = try LawTests.organ()
    for line in ["remove keys", "disconnect keys -> piano", "remove keys tail"] {
      for period in [64, 17, 1000] {
        let bench = try Self.begin(organ, period: period)
        bench.perform(line)
        // No new note arrives, and released notes end.
        if !line.hasPrefix("remove") { bench.perform("note keys on 72 100") }
        bench.render(4800)
        let piano = try #require(bench.engine.report().nodes.first { $0.name == "piano" })
        #expect(piano.heldNotes == 0, "\(line)")
        let offs = bench.engine.trace(since: 0).filter { $0.name == "piano" }.compactMap { entry -> Int64? in
          if case .noteOff = entry.happening, entry.time > 11_000 { entry.time } else { nil }
        }
        #expect(offs == [12_480, 12_480], "\(line): its fade is over after 480 frames")
      }
    }
  }

  @Test func aCableThatClosesEndsItsOwnNotesAlone() throws {
    let organ = try LawTests.organ()
    let bench = try Self.begin(organ)
    bench.perform("connect through -> piano")
    bench.perform("note through on 76 100")
    bench.perform("note keys on 77 100")
    bench.render(4800)
    // 64 and 67 were pressed before; 77 is held on both paths, 76 through `through`.
    bench.perform("disconnect keys -> piano")
    bench.perform("note through off 76")
    bench.perform("note through on 76 100")
    bench.perform("note keys on 79 100")
    bench.perform("note keys off 79")
    bench.render(4800)
    let trace = bench.engine.trace(since: 0).filter { $0.name == "piano" && $0.time >= 16_800 }
    let offs = trace.compactMap { if case .noteOff(let key) = $0.happening { Int(key) } else { nil } }
    #expect(offs.sorted() == [64, 67, 76, 77, 79], "79 came and went through the other cable")
    bench.render(4 * 48_000)
    let piano = bench.engine.report().nodes.first { $0.name == "piano" }
    #expect(piano?.voices == 1, "76, which the other cable brought")
  }

  /// Random removals of nodes that notes pass, some during fades of others, each undone before its fade is
  /// over. Random edits in between, cycles included.
  @Test(arguments: lawSeeds) func heldNotesSurviveAStormOfRemovalsAndUndos(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let bench = try Self.begin(try LawTests.organ(), period: [64, 100].randomElement(using: &random)!)
    let before = Self.notes(bench)
    var lines = RandomLines(
      seed: seed, of: bench.draft.patch, kinds: ["gain", "mix", "delay", "filter", "matrix"],
      keeping: ["keys", "through", "piano", "second"], standing: ["out", "dist"])
    for round in 0..<60 {
      var left = 470
      var done: [String] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let line = Self.removals.randomElement(using: &random)!
        let pause = Int.random(in: 0...min(left, 200), using: &random)
        if bench.attempt(line) {
          done.append(line)
          bench.render(pause)
          left -= pause
        }
      }
      for _ in done { bench.perform("undo") }
      bench.render([0, 10, 300, 2400].randomElement(using: &random)!)
      // An undone edit could be redone: random lines continue from the current document.
      lines.draft = bench.draft
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let line = lines.next()
        if line == "undo" || line == "redo" {
          lines.draft = bench.draft
          continue
        }
        bench.perform(line)
        bench.render(Int.random(in: 0...300, using: &random))
      }
      lines.draft = bench.draft
      guard Self.notes(bench) == before else {
        Issue.record("round \(round), \(done): \(Self.notes(bench))")
        return
      }
    }
    bench.settle()
    #expect(Self.notes(bench) == before)
    let loaded = Bench()
    loaded.begin(bench.draft.patch)
    loaded.render(64)
    #expect(FeedbackTests.delayed(bench) == FeedbackTests.delayed(loaded))
  }

  // MARK: Full queues

  @Test(arguments: searchSeeds(1, 2, 3)) func aFloodOfEventsLeavesNoNoteHanging(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let bench = Bench(period: 256, threads: seed == 2 ? 2 : 1)
    try bench.begin(
      "node a keyboard\nnode b keyboard\nnode s sampler\nnode out output\nconnect a -> s\nconnect b -> s\n"
        + "connect s -> out\n")
    bench.engine.use(try LawTests.organ(), for: try bench.id("s"))
    let nodes = [try bench.id("a"), try bench.id("b")]
    var keys: Set<UInt8> = []
    for _ in 0..<30 {
      let key = UInt8.random(in: 40...90, using: &random)
      if keys.insert(key).inserted {
        bench.engine.perform(Event(.noteOn, key: key, value: 100), on: nodes.randomElement(using: &random)!)
      }
    }
    bench.render(4800)
    let held = bench.engine.report().nodes.first { $0.name == "s" }?.heldNotes
    #expect(held == keys.count)
    // Note-offs come after or among more events than a queue holds.
    let count = Int.random(in: 600...1500, using: &random)
    let owner = nodes.randomElement(using: &random)!
    for index in 0..<count {
      bench.engine.perform(Event(.control, key: 1, value: Float(index & 127)), on: owner)
    }
    for key in keys { for node in nodes { bench.engine.perform(Event(.noteOff, key: key), on: node) } }
    bench.render(4 * 48_000)
    let report = bench.engine.report()
    let sampler = report.nodes.first { $0.name == "s" }
    #expect(sampler?.voices == 0 && sampler?.heldNotes == 0, "\(count) controllers before the ends")
    // Note-offs from `a` come first, and take room from the events that `b` passes on.
    let rest = owner == nodes[0] ? 0 : keys.count
    #expect(report.lostEvents == count - EventQueue.capacity + rest, "and what was lost is told")
  }
}
