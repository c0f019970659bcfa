import Engine
import Foundation
import Instruments
import Patch
import Realtime
import Testing
import TestSupport

/// The laws of ARCHITECTURE.md as properties over random edits. A failing sequence is shrunk before it is
/// reported.
@Suite struct LawTests {
  // A chord, a chain to rewire behind it, and spare nodes.
  private static let start = """
    node keys keyboard
    node piano sampler
    node tone oscillator shape=saw freq=220Hz
    node dist distortion
    node main matrix inputs=4 outputs=2
    node out output
    connect keys -> piano
    connect piano -> dist
    connect dist -> main
    connect tone -> main gain=-12dB
    connect main -> out
    """

  static func organ() throws -> Resource {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try InstrumentLoader.load(path: folder.path + "/Instruments/organ/organ.sfz").resource
  }

  /// Starts the chord, with a tap on it.
  static func begin(_ organ: Resource, period: Int = 64) throws -> Bench {
    let bench = Bench(period: period)
    try bench.begin(start)
    _ = try #require(bench.engine.addTap(node: "piano", port: nil))
    bench.engine.use(organ, for: try bench.id("piano"))
    for key in [60, 64, 67] as [UInt8] {
      bench.engine.perform(Event(.noteOn, key: key, value: 100), on: try bench.id("keys"))
    }
    bench.render(2400)
    return bench
  }

  private static func steps(
    _ count: Int, seed: UInt64, kinds: [String] = RandomLines.sounding, makesCycles: Bool = true
  ) throws
    -> [Step]
  {
    print("seed \(seed)")
    return RandomLines.steps(
      lawLength(count), mostFrames: 150,
      from: RandomLines(
        seed: seed, of: try Draft(start).patch, kinds: kinds, keeping: ["piano", "keys"],
        makesCycles: makesCycles))
  }

  @Test(arguments: lawSeeds) func aHeldChordIsTheSameBitForBitWhateverIsEditedBehindIt(seed: UInt64) throws {
    let organ = try Self.organ()
    expectLaw("sustain", seed: seed, try Self.steps(600, seed: seed)) { steps in
      guard let still = try? Self.begin(organ), let edited = try? Self.begin(organ),
        let tap = try? edited.tapChannel()
      else { return "it does not start" }
      edited.play(steps)
      edited.render(960)
      still.render(steps.reduce(960) { $0 + $1.frames })
      guard still.heard[tap].suffix(960).contains(where: { abs($0) > 0.01 }) else { return "silence" }
      let voices = edited.engine.report().nodes.first { $0.name == "piano" }?.voices
      if voices != 3 { return "\(voices ?? 0) voices are left of 3" }
      for entry in edited.engine.trace(since: 0) where entry.name == "piano" {
        switch entry.happening {
        case .allocated, .prepared, .started, .loaded, .noteOn: continue
        default: return "the sampler's trace says \(entry.happening)"
        }
      }
      for channel in [tap, tap + 1] {
        if let difference = firstDifference(still.heard[channel], edited.heard[channel]) {
          return "the tap differs at \(difference)"
        }
      }
      return nil
    }
  }

  @Test(arguments: lawSeeds) func everythingThatWasSentComesBack(seed: UInt64) throws {
    let organ = try Self.organ()
    expectLaw("plans and nodes", seed: seed, try Self.steps(600, seed: seed)) { steps in
      guard let bench = try? Self.begin(organ) else { return "it does not start" }
      bench.play(steps)
      bench.settle()
      if !bench.engine.isSettled { return "fades do not end" }
      let (sent, returned) = (bench.engine.plansSent, bench.engine.plansReturned)
      if returned != sent - 1 { return "\(sent) plans were sent, \(returned) came back" }
      let names = bench.engine.report().nodes.map(\.name).filter { !$0.hasPrefix("tap of") }.sorted()
      if names != bench.draft.patch.names.sorted() { return "what sounds is \(names)" }
      return bench.heard.contains { $0.contains { !$0.isFinite } } ? "a sample is not finite" : nil
    }
  }

  @Test(arguments: lawSeeds) func undoingAllGivesTheFirstPatchAndRedoingAllTheLast(seed: UInt64) throws {
    expectLaw("undo and redo", seed: seed, try Self.steps(400, seed: seed)) { steps in
      guard let first = try? Draft(Self.start) else { return "it does not start" }
      var draft = first
      for step in steps { _ = draft.perform(step.line) }
      let last = draft.patch
      var undone = 0
      while case .edited = draft.perform("undo") { undone += 1 }
      if draft.patch != first.patch { return "the first patch is another" }
      for _ in 0..<undone { _ = draft.perform("redo") }
      return draft.patch == last ? nil : "the last patch is another"
    }
  }

  @Test(arguments: lawSeeds) func aScriptSoundsTheSameBitForBitInEveryPeriod(seed: UInt64) throws {
    let organ = try Self.organ()
    expectLaw("periods", seed: seed, try Self.steps(300, seed: seed)) { steps in
      let renders = [64, 17, 1024, 8192].map { period -> [[Float]] in
        guard let bench = try? Self.begin(organ, period: period) else { return [] }
        bench.play(steps)
        bench.render(4800)
        return bench.heard
      }
      for (period, heard) in zip([17, 1024, 8192], renders.dropFirst()) {
        for channel in 0..<2 {
          if let difference = firstDifference(renders[0][channel], heard[channel]) {
            return "period \(period), channel \(channel): \(difference)"
          }
        }
      }
      return nil
    }
  }

  @Test(arguments: manyLawSeeds) func editsBeforeTheFirstFrameSoundAsIfLoaded(seed: UInt64) throws {
    let source = """
      node tone oscillator freq=100Hz shape=saw
      node echo delay time=2ms feedback=30%
      node out output
      connect tone -> echo
      connect echo -> out

      """
    print("seed \(seed)")
    let lines = RandomLines(
      seed: seed, of: try Draft(source).patch, kinds: RandomLines.smooth, keeping: ["tone"], turnsKnobs: false
    )
    let steps = RandomLines.steps(40, mostFrames: 0, from: lines).filter { !$0.line.contains(" over ") }
    expectLaw("before the first frame", seed: seed, steps) { steps in
      var first: [[Float]]?
      for period in [64, 17, 469, 1024] {
        let bench = Bench(period: period)
        guard (try? bench.begin(source)) != nil else { return "it does not start" }
        bench.play(steps)
        bench.render(9600)
        for (channel, heard) in (first ?? bench.heard).enumerated() {
          if let difference = firstDifference(bench.heard[channel], heard) {
            return "period \(period), channel \(channel): \(difference)"
          }
        }
        if first != nil { continue }
        first = bench.heard
        let loaded = Bench()
        loaded.begin(bench.draft.patch)
        loaded.render(9600)
        // A kernel that was wide in between may round otherwise, and a loop at full gain adds that up.
        for channel in 0..<2 {
          let level = max(1, loaded.heard[channel].reduce(0) { max($0, abs($1)) })
          let far = distance(bench.heard[channel], loaded.heard[channel])
          if far > 1e-5 * level { return "channel \(channel): loaded it is \(far) apart, of \(level)" }
        }
      }
      return nil
    }
  }

  /// Nodes without memory must end where a fresh start begins, bit for bit; nodes with memory, within a
  /// tolerance.
  @Test(arguments: manyLawSeeds, [0, 2e-4] as [Float])
  func editingLeadsToTheSoundThatLoadingGives(seed: UInt64, tolerance: Float) throws {
    let kinds = ["gain", "mix", "matrix", "pan"] + (tolerance > 0 ? ["filter", "equalizer"] : [])
    let source = """
      node tone oscillator freq=100Hz shape=saw
      node pair oscillator channels=2 freq=[200Hz,300Hz]
      node wide oscillator channels=6 freq=[400Hz,500Hz,600Hz,700Hz,800Hz,900Hz] level=-20dB
      node out output
      connect tone -> out

      """
    print("seed \(seed)")
    let lines = RandomLines(
      seed: seed, of: try Draft(source).patch, kinds: kinds, keeping: ["tone", "pair", "wide"],
      makesCycles: false, turnsKnobs: tolerance == 0)
    let steps = RandomLines.steps(lawLength(200), mostFrames: 200, from: lines)
    expectLaw("the way does not matter", seed: seed, steps) { steps in
      let edited = Bench()
      let loaded = Bench()
      guard (try? edited.begin(source)) != nil else { return "it does not start" }
      edited.play(steps)
      edited.settle()
      edited.render(48000)
      loaded.begin(edited.draft.patch)
      // As many frames as the edited one, so that oscillators have the same phase.
      loaded.render(edited.heard[0].count)
      for channel in 0..<2 {
        let a = Array(edited.heard[channel].suffix(640))
        let b = Array(loaded.heard[channel].suffix(640))
        let far = distance(a, b)
        if tolerance == 0, let difference = firstDifference(a, b) {
          return "channel \(channel): \(difference)"
        }
        let level = max(1, b.reduce(0) { max($0, abs($1)) })
        if far > tolerance * level { return "channel \(channel): \(far) apart" }
      }
      return nil
    }
  }

  @Test(arguments: lawSeeds) func theOrderOfTheLinesIsNotHeard(seed: UInt64) throws {
    var lines = ThreadTests.randomPatch(seed: seed).split(separator: "\n")
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var first: [[Float]]?
    for _ in 1...3 {
      let bench = Bench(period: 64)
      try bench.begin(lines.joined(separator: "\n"))
      bench.render(4800)
      for (channel, heard) in (first ?? bench.heard).enumerated() {
        let difference = firstDifference(heard, bench.heard[channel])
        #expect(difference == nil, "channel \(channel)")
      }
      first = first ?? bench.heard
      // Nodes precede their cables, and output nodes keep their order, which decides their channels.
      let (nodes, cables) = (lines.filter { $0.hasPrefix("node") }, lines.filter { !$0.hasPrefix("node") })
      let outputs = nodes.filter { $0.hasSuffix("output") }
      lines = outputs + nodes.filter { !$0.hasSuffix("output") }.shuffled(using: &random)
      lines += cables.shuffled(using: &random)
    }
    #expect(first?.contains { $0.contains { abs($0) > 0.001 } } == true, "silence")
  }

  @Test func aBrokenLawIsShownAsTheStepsThatBreakIt() throws {
    let steps = (0..<200).map { Step(frames: 10, line: "line \($0)") }
    func breaks(_ steps: [Step]) -> String? {
      let lines = steps.map(\.line)
      guard let first = lines.firstIndex(of: "line 17"), let second = lines.firstIndex(of: "line 151"),
        first < second
      else { return nil }
      return "both"
    }
    let (smallest, reason) = shrink(steps, reason: "both", breaks: breaks)
    #expect(smallest.map(\.line) == ["line 17", "line 151"])
    #expect(smallest.map(\.frames) == [180, 1340], "what is left happens when it happened")
    #expect(reason == "both")
  }
}
