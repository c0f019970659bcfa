import Engine
import Patch
import TestSupport
import Testing

/// A node whose output is NaN, infinite or too loud is muted at that very frame; other nodes are unaffected.
@Suite struct BlastShieldTests {
  /// in -> warm -> out, and in parallel voice -> soft -> side; driver channels 0 and 1.
  private func start(period: Int = 64) throws -> Bench {
    let bench = Bench(period: period)
    bench.feed(0.5)
    try bench.begin([
      node("in", "input", "channels=1"), node("warm", "filter", "freq=800"),
      node("out", "output", "channels=1"), cable("in", "warm"), cable("warm", "out"),
      node("voice", "oscillator", "shape=saw", "freq=220"), node("soft", "gain", "gain=-6"),
      node("side", "output", "channels=1"), cable("voice", "soft"), cable("soft", "side"),
    ])
    bench.render(4096)
    return bench
  }

  private func state(_ bench: Bench, _ name: String) -> NodeReport.State? {
    bench.engine.report().nodes.first { $0.name == name }?.state
  }

  private func blasts(_ bench: Bench) -> [String] {
    bench.engine.trace(since: 0).compactMap { entry in
      if case .muted(let reason) = entry.happening { "\(entry.name) \(entry.time): \(reason)" } else { nil }
    }
  }

  @Test(arguments: [(Float.nan, "not a number"), (.infinity, "infinity"), (-1e30, "+600 dBFS")])
  func aNodeThatGivesWhatIsNoSoundIsMutedAndTheOtherPathIsTheSameBitForBit(value: Float, reason: String)
    throws
  {
    let well = try start()
    let ill = try start()
    ill.feed(value)
    well.render(9600)
    ill.render(9600)
    #expect(firstDifference(well.heard[1], ill.heard[1]) == nil)
    #expect(ill.heard[0].allSatisfy { $0.isFinite && $0.magnitude < 1 })
    #expect(ill.heard[0].suffix(1024).allSatisfy { $0.magnitude < 1e-6 })
    #expect(state(ill, "in") == .muted(reason))
    #expect(state(ill, "warm") == .silent, "what follows is not spoilt")
    #expect(blasts(ill) == ["in 4096: \(reason)"])
  }

  /// Kinds that the shield trusts stay within bounds, whatever moves their parameters and however far.
  @Test(arguments: KindRegistry.builtIn.catalogue.kinds.filter(\.isTrusted))
  func aNodeThatTheShieldTrustsIsBounded(kind: KindDescription) throws {
    guard case .byModulation(let amplifiers) = kind.amplification else { return }
    var random = SeededGenerator(seed: 41)
    var tried = 0
    for parameter in kind.parameters where !amplifiers.contains(parameter.name) {
      for factor in [0.001, 0.01, 0.1, 1, 10, 100, 1000] {
        let gain = Int.random(in: -40...40, using: &random)
        let bench = Bench()
        try bench.begin(
          """
          node move oscillator level=0dB freq=\(Int.random(in: 1...3000, using: &random))Hz
          node loud multiply factor=\(factor)
          node one \(kind.name)
          node out output
          connect move -> loud
          connect one -> out
          """)
        if !kind.inputs.isEmpty { bench.attempt("connect move -> one") }
        guard bench.attempt("connect loud -> one.\(parameter.name) gain=\(gain)dB") else { continue }
        tried += 1
        bench.render(9600)
        let peak = bench.heard[0].reduce(0) { $1.isFinite ? max($0, abs($1)) : .infinity }
        #expect(peak <= 4, "\(kind.name).\(parameter.name) moved by \(factor), \(gain) dB")
      }
    }
    #expect(tried > 0 || kind.name == "noise")
  }

  /// A level that is moved too far still mutes such a node.
  @Test(
    arguments: KindRegistry.builtIn.catalogue.kinds.filter { $0.isTrusted && $0[parameter: "level"] != nil })
  func aMovedLevelOfATrustedNodeIsLookedAt(kind: KindDescription) throws {
    let bench = Bench()
    try bench.begin(
      """
      node move oscillator level=0dB freq=100Hz
      node loud multiply factor=1000
      node louder multiply factor=90
      node one \(kind.name)
      node out output
      connect move -> loud
      connect loud -> louder
      connect louder -> one.level gain=40dB
      connect one -> out
      """)
    bench.render(9600)
    guard case .muted = state(bench, "one") else {
      Issue.record("\(kind.name) sounds at any level")
      return
    }
  }

  @Test func anEditOfTheNodeRevivesIt() throws {
    let bench = try start()
    bench.feed(.nan)
    bench.render(960)
    bench.edit(.set("soft", ParameterPath("gain"), .number(-6.5, .decibels), over: nil))
    bench.render(960)
    #expect(state(bench, "in") == .muted("not a number"), "an edit elsewhere is none of it")
    // Still faulty: revived, and muted again.
    bench.edit(.set("in", ParameterPath("port"), .text("left"), over: nil))
    bench.render(960)
    #expect(state(bench, "in") == .muted("not a number"))
    #expect(blasts(bench).count == 2)
    #expect(bench.heard[0].allSatisfy { $0.isFinite })
    bench.feed(0.5)
    bench.undo()
    bench.render(9600)
    #expect(state(bench, "in") == .active)
    #expect(bench.heard[0].suffix(100).allSatisfy { abs($0 - 0.5) < 1e-4 })
    #expect(bench.heard[0].allSatisfy { $0.isFinite && $0.magnitude < 0.6 })
    let revivals = bench.engine.trace(since: 0).count { $0.happening == .revived && $0.name == "in" }
    #expect(revivals == 2)
    bench.settle()
    #expect(bench.engine.plansReturned == bench.engine.plansSent - 1)
  }

  /// voice -> loop -> back -> loop, 6 dB louder each time round.
  private func runAway(period: Int) throws -> Bench {
    let bench = try start(period: period)
    let line: Edit = .all([
      node("loop", "gain", "gain=6"), node("back", "mix"), node("far", "output", "channels=1"),
      cable("voice", "loop"), cable("loop", "back"), cable("back", "loop"), cable("back", "far"),
    ])
    let isAccepted = bench.edit(line)
    #expect(isAccepted)
    bench.render(9600)
    return bench
  }

  @Test func aLoopThatRunsAwayIsMutedAndRevivedByTurningItDown() throws {
    let bench = try runAway(period: 64)
    let still = try start()
    still.render(9600)
    #expect(firstDifference(still.heard[1], bench.heard[1]) == nil)
    guard case .muted(let reason) = state(bench, "loop") else {
      Issue.record("the loop is \(String(describing: state(bench, "loop")))")
      return
    }
    #expect(reason == "+100 dBFS" && blasts(bench).count == 1)
    #expect(bench.heard[2].suffix(1024).allSatisfy { $0 == 0 })
    bench.edit(cable("back", "loop", gain: -20))
    bench.render(9600)
    #expect(state(bench, "loop") == .active)
    let last = bench.heard[2].suffix(4800)
    #expect(last.contains { $0.magnitude > 0.2 } && last.allSatisfy { $0.magnitude < 2 })
    #expect(blasts(bench).count == 1)
  }

  @Test func whereItIsMutedDoesNotDependOnThePeriod() throws {
    let bench = try runAway(period: 64)
    for period in [17, 100] {
      let other = try runAway(period: period)
      for channel in 0..<3 {
        let difference = firstDifference(bench.heard[channel], other.heard[channel])
        #expect(difference == nil, "period \(period), channel \(channel)")
      }
      let (ours, theirs) = (blasts(bench), blasts(other))
      #expect(ours == theirs)
    }
  }

  /// Six times 20 dB, by a parameter that stands at 0 dB and is modulated; nothing else could amplify.
  @Test(arguments: ["compressor", "gain"]) func aModulatedGainIsWatched(kind: String) throws {
    let parameter = kind == "gain" ? "gain" : "makeup"
    let settings = kind == "gain" ? [] : ["threshold=0", "ratio=1"]
    let bench = try start()
    let names = (0..<6).map { "stage\($0)" }
    var line = [node("hot", "constant", "level=1"), node("far", "output", "channels=1")]
    line += names.map { .add(makeNode($0, kind, settings), before: nil) }
    line += names.map { cable("hot", "\($0).\(parameter)", gain: 19.0849) }
    line += zip(["in"] + names, names + ["far"]).map { cable($0, $1) }
    let isAccepted = bench.edit(.all(line))
    #expect(isAccepted)
    bench.render(9600)
    #expect(state(bench, names[4]) == .active, "+94 dBFS is a sound")
    guard case .muted = state(bench, names[5]) else {
      Issue.record("+114 dBFS: \(String(describing: state(bench, names[5])))")
      return
    }
    #expect(bench.heard[2].suffix(1024).allSatisfy { $0 == 0 })
  }

  @Test func metersAndTheShieldAgree() throws {
    let bench = try start()
    bench.engine.isMetering = true
    _ = bench.engine.report()
    bench.render(640)
    let report = bench.engine.report()
    let peak = try #require(report.nodes.first { $0.name == "in" }?.outputs.first?.peaks.first)
    #expect(peak == 0.5)
    #expect(state(bench, "in") == .active)
  }
}

extension KindDescription {
  fileprivate var isTrusted: Bool { if case .byModulation = amplification { true } else { false } }
}
