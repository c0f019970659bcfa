import Engine
import Patch
import TestSupport
import Testing

/// Latency compensation: parallel paths are aligned, without an audible change.
@Suite struct LatencyTests {
  private static let late = [1: 0, 2: 32, 4: 39]

  /// A distortion at mix=0 (latency only), in parallel to a dry path.
  @Test(arguments: [1, 2, 4]) func aDryPathIsAsLateAsTheOneBesideIt(oversample: Int) throws {
    let bench = Bench()
    try bench.begin([
      node("hiss", "noise"), node("dist", "distortion", "mix=0", "oversample=\(oversample)"),
      node("dry", "gain"), node("out", "output", "channels=1"), node("reference", "output", "channels=1"),
      cable("hiss", "dist"), cable("hiss", "dry"), cable("dist", "out"), cable("dry", "out"),
      cable("hiss", "reference"),
    ])
    bench.render(9600)
    let late = try #require(Self.late[oversample])
    let (sum, alone) = (bench.heard[0], bench.heard[1])
    let wrong = (late..<9600).first { sum[$0] != 2 * alone[$0 - late] }
    #expect(wrong == nil, "frame \(wrong ?? 0)")
    #expect(alone.contains { abs($0) > 0.01 })
    let report = bench.engine.report()
    #expect(report.latency == late)
    let delays = report.nodes.flatMap(\.inputs).flatMap(\.cables).filter { $0.compensation > 0 }
    #expect(delays.map(\.from) == (late > 0 ? ["dry"] : []))
    #expect(delays.allSatisfy { $0.compensation == late && $0.latency == late })
  }

  /// Two filters of different latency in series, in parallel to a short path and a dry one.
  @Test func latenciesAddUpAlongAPath() throws {
    let bench = Bench()
    try bench.begin([
      node("hiss", "noise"), node("a", "distortion", "mix=0", "oversample=2"),
      node("b", "distortion", "mix=0", "oversample=4"), node("c", "distortion", "mix=0", "oversample=2"),
      node("m", "mix"), node("out", "output", "channels=1"), node("reference", "output", "channels=1"),
      cable("hiss", "a"), cable("a", "b"), cable("b", "m"), cable("hiss", "c"), cable("c", "m"),
      cable("hiss", "m"), cable("m", "out"), cable("hiss", "out"), cable("hiss", "reference"),
    ])
    bench.render(4800)
    let (sum, alone) = (bench.heard[0], bench.heard[1])
    let wrong = (71..<4800).first { abs(sum[$0] - 4 * alone[$0 - 71]) > 1e-6 }
    #expect(wrong == nil, "frame \(wrong ?? 0)")
    #expect(bench.engine.report().latency == 71)
  }

  /// A full-scale constant through two paths, with effects inserted into and removed from one of them.
  @Test func effectsThatAreLateComeAndGoUnheard() throws {
    let bench = Bench()
    bench.engine.isWatching = true
    bench.feed(1)
    try bench.begin([
      node("in", "input", "channels=1"), node("a", "gain"), node("b", "gain"), node("main", "mix"),
      node("out", "output", "channels=1"), cable("in", "a"), cable("in", "b"), cable("a", "main", gain: -6),
      cable("b", "main", gain: -6), cable("main", "out"),
    ])
    bench.render(9600)
    let effect = makeNode("dist", "distortion", ["oversample=4", "drive=0"])
    let edits: [Edit] = [
      .insert(effect, into: CableName("a", "main")),
      .replace("dist", with: makeNode("dist", "distortion", ["oversample=2", "drive=0"])),
      .set("dist", ParameterPath("oversample"), .number(1, .none), over: nil),
      .set("dist", ParameterPath("oversample"), .number(4, .none), over: nil),
      cable("in", "main", gain: -20), .disconnect(CableName("in", "main")),
      .remove("dist", bridge: true),
    ]
    for edit in edits {
      let isAccepted = bench.edit(edit)
      #expect(isAccepted, "\(edit)")
      bench.render(4800)
    }
    // During fades, and while delay lines fill.
    for frames in [40, 300, 10, 100, 500, 64, 1] {
      bench.edit(.insert(effect, into: CableName("b", "main")))
      bench.render(frames)
      bench.undo()
      bench.render(frames)
    }
    bench.settle()
    bench.render(24000)
    for entry in bench.engine.editLog() where entry.residue > 3.162e-5 {
      Issue.record("\(entry.line) at \(entry.time): residue \(entry.residueLevel) dBFS")
    }
    #expect(bench.engine.editLog().count == 21)
    #expect(bench.engine.report().latency == 0)
    #expect(
      bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).allSatisfy { $0.compensation == 0 })
    // A delayed path that replaces the other has the same level at every moment.
    let level = bench.heard[0][9000]
    let dry = Bench()
    dry.feed(1)
    try dry.begin([
      node("in", "input", "channels=1"), node("late", "distortion", "mix=0", "oversample=2"),
      node("main", "mix"), node("out", "output", "channels=1"), cable("in", "main"), cable("main", "out"),
    ])
    dry.render(9600)
    dry.edit(cable("in", "late"))
    dry.render(960)
    dry.edit(cable("late", "main", gain: -.infinity))
    dry.render(4800)
    let deepest = dry.heard[0][8000...].min() ?? 0
    #expect(deepest > 0.99999, "the level falls to \(deepest)")
    #expect(level > 0.9)
  }

  @Test func aCycleIsNotMadeLaterThanItIs() throws {
    let bench = Bench()
    try bench.begin([
      node("hiss", "noise"), node("sum", "mix"), node("dist", "distortion", "mix=0", "oversample=2"),
      node("out", "output", "channels=1"), cable("hiss", "sum"), cable("sum", "dist"),
      cable("dist", "sum", gain: -20), cable("dist", "out"), cable("hiss", "out"),
    ])
    bench.render(4800)
    let cables = bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables)
    #expect(cables.filter(\.isFeedback).map(\.from) == ["dist"])
    #expect(cables.filter { $0.compensation > 0 }.map { "\($0.from) -> \($0.to)" } == ["hiss -> out"])
    #expect(bench.engine.report().latency == 32)
  }

  @Test func periodsOfEverySizeGiveTheSameBits() throws {
    func render(_ period: Int) throws -> [Float] {
      let bench = Bench(period: period)
      try bench.begin([
        node("hiss", "noise"), node("a", "gain"), node("b", "gain"), node("m", "mix"),
        node("out", "output", "channels=1"), cable("hiss", "a"), cable("hiss", "b"), cable("a", "m"),
        cable("b", "m"), cable("m", "out"), cable("m", "a", gain: -20),
      ])
      bench.render(1000)
      bench.edit(.insert(makeNode("d", "distortion", ["oversample=2"]), into: CableName("a", "m")))
      bench.render(333)
      bench.edit(.insert(makeNode("e", "distortion", ["oversample=4"]), into: CableName("b", "m")))
      bench.render(50)
      bench.edit(.remove("d", bridge: true))
      bench.render(5000)
      return bench.heard[0]
    }
    let reference = try render(64)
    for period in [1, 17, 100, 1024] {
      let other = try render(period)
      if let difference = firstDifference(reference, other) {
        Issue.record("period \(period): \(difference)")
      }
    }
  }
}
