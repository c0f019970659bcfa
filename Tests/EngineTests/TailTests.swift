import Engine
import Patch
import Testing

/// A node removed with its tail rings out; without, it fades.
@Suite struct TailTests {
  /// in -> echo -> out: an impulse, and echoes every 50 ms at 0.7 of the one before.
  private func start(period: Int = 64) throws -> Bench {
    let bench = Bench(period: period)
    try bench.begin([
      node("in", "input", "channels=1"), node("echo", "delay", "time=0.05", "feedback=70", "mix=100"),
      node("out", "output", "channels=1"), cable("in", "echo"), cable("echo", "out"),
    ])
    bench.feed(0)
    bench.render(640)
    bench.feed(1)
    bench.render(period)
    bench.feed(0)
    bench.render(6400)
    return bench
  }

  private let isGone = Edit.remove("echo", bridge: false, tail: true)

  @Test func echoesGoOnAsIfNothingHadHappened() throws {
    let (still, edited) = (try start(), try start())
    edited.edit(isGone)
    #expect(edited.patch[named: "echo"] == nil)
    still.render(48000)
    edited.render(48000)
    #expect(firstDifference(still.heard[0], edited.heard[0]) == nil)
    #expect(still.heard[0].suffix(40000).contains { $0 > 0.1 })
    let state = edited.engine.report().nodes.first { $0.name == "echo" }?.state
    guard case .ringing(let left) = state else {
      Issue.record("it is \(String(describing: state))")
      return
    }
    #expect(left > 50 && left < 60)
  }

  @Test func redoRingsOutAsTheEditDid() throws {
    let (still, edited) = (try start(), try start())
    for line in ["remove echo tail", "undo", "redo"] {
      #expect(edited.perform(line))
      for bench in [still, edited] { bench.render(2400) }
    }
    for bench in [still, edited] { bench.render(48000) }
    #expect(edited.draft.patch[named: "echo"] == nil)
    #expect(zip(still.heard[0], edited.heard[0]).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(still.heard[0].suffix(40000).contains { $0 > 0.01 })
  }

  @Test func withoutItsTailItFadesInTenMilliseconds() throws {
    let bench = try start()
    bench.edit(.remove("echo", bridge: false))
    bench.render(480)
    let before = bench.heard[0].count
    bench.render(24000)
    #expect(bench.heard[0][before...].allSatisfy { $0 == 0 })
  }

  @Test func whatComesInAfterwardsIsNotHeard() throws {
    let (still, edited) = (try start(), try start())
    edited.edit(isGone)
    for bench in [still, edited] { bench.render(4800) }
    edited.feed(1)
    for bench in [still, edited] { bench.render(24000) }
    #expect(firstDifference(still.heard[0], edited.heard[0]) == nil)
  }

  @Test func itLeavesOnceItIsSilent() throws {
    let bench = try start()
    bench.edit(isGone)
    bench.settle()
    let frames = bench.heard[0].count
    #expect(frames < 20 * 48000, "it rang for \(frames) frames")
    #expect(bench.engine.report().nodes.map(\.name).sorted() == ["in", "out"])
    #expect(bench.engine.plansReturned == bench.engine.plansSent - 1)
    let steps = bench.engine.trace(since: 0).filter { $0.name == "echo" }.map(\.happening)
    #expect(steps.contains(.ringingOut) && steps.last == .freed)
  }

  @Test func aTailWithoutEndIsCutAfterAMinuteWithoutAClick() throws {
    func render(_ period: Int) throws -> Bench {
      let bench = Bench(rate: 8000, period: period)
      bench.engine.isWatching = true
      try bench.begin([
        node("in", "input", "channels=1"), node("loop", "mix"), node("out", "output", "channels=1"),
        cable("in", "loop"), cable("loop", "loop"), cable("loop", "out"),
      ])
      bench.feed(0.01)
      bench.render(6400)
      bench.edit(.remove("loop", bridge: false, tail: true))
      bench.render(62 * 8000)
      return bench
    }
    let bench = try render(64)
    let heard = bench.heard[0]
    #expect(heard[6400 + 59 * 8000] > 0.3)
    #expect(heard.suffix(8000).allSatisfy { $0 == 0 })
    let steepest = zip(heard.dropFirst(), heard).reduce(0) { max($0, abs($1.0 - $1.1)) }
    #expect(steepest < 0.06, "a step of \(steepest)")
    #expect(bench.engine.isSettled)
    let other = try render(777)
    #expect(firstDifference(heard, other.heard[0]) == nil)
  }

  @Test func undoInMidTailBringsTheVeryNodeBack() throws {
    let (still, edited) = (try start(), try start())
    let startedAt = edited.engine.report().nodes.first { $0.name == "echo" }?.startedAt
    edited.edit(isGone)
    for bench in [still, edited] { bench.render(4800) }
    edited.undo()
    for bench in [still, edited] { bench.render(4800) }
    for bench in [still, edited] { bench.feed(0.5) }
    for bench in [still, edited] { bench.render(48000) }
    #expect(firstDifference(still.heard[0], edited.heard[0]) == nil)
    #expect(edited.engine.isSettled)
    let back = edited.engine.report().nodes.first { $0.name == "echo" }
    #expect(back?.startedAt == startedAt && back?.state == .active)
    let prepared = edited.engine.trace(since: 0).count { $0.name == "echo" && $0.happening == .prepared }
    #expect(prepared == 1)
  }

  @Test func aTailEndsWithWhatItRingsInto() throws {
    let bench = try start()
    bench.edit(isGone)
    bench.render(480)
    bench.edit(.remove("out", bridge: false))
    bench.settle()
    #expect(bench.engine.report().nodes.map(\.name) == ["in"])
    #expect(bench.heard[0].count < 12000)
  }

  @Test func whatRingsOnlyIntoItselfIsNotKept() throws {
    let bench = Bench()
    try bench.begin([
      node("tone", "oscillator"), node("loop", "matrix"), node("out", "output"), cable("tone", "loop"),
      cable("tone", "out"), cable("loop", "loop", gain: -13),
    ])
    bench.render(4800)
    bench.edit(.remove("loop", bridge: false, tail: true))
    bench.render(4800)
    #expect(bench.engine.isSettled)
    #expect(bench.engine.report().nodes.map(\.name).sorted() == ["out", "tone"])
  }

  @Test func whatHasNoEndOfItsOwnFades() throws {
    let bench = Bench()
    try bench.begin([node("tone", "oscillator"), node("out", "output"), cable("tone", "out")])
    bench.render(4800)
    bench.edit(.remove("tone", bridge: false, tail: true))
    bench.render(960)
    #expect(bench.heard[0].suffix(480).allSatisfy { $0 == 0 })
  }
}
