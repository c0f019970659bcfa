import Testing

@testable import Engine

/// Memory that nodes have given back.
@Suite struct SpareMemoryTests {
  @Test func theMemoryOfADelayThatWasRemovedServesTheNextOneAndIsFreedWhenNoneComes() throws {
    let bench = Bench()
    try bench.begin("node in input channels=1\nnode out output channels=1\nconnect in -> out")
    let pool = bench.engine.pools.kernels
    let before = pool.kept
    for round in 0..<3 {
      #expect(bench.perform("insert echo delay into in -> out"))
      #expect(bench.perform("set echo.time 4s"))
      bench.render(4800)
      #expect(pool.kept == before, "round \(round): the delay has what was kept")
      #expect(bench.perform("remove echo bridge"))
      bench.settle()
      bench.render(4800)
      #expect(pool.kept > before + 100_000, "round \(round): nothing is kept")
    }
    bench.render(11 * 48000)
    #expect(pool.kept == 0)
  }

  /// A short delay has little memory, and more before a longer time is heard; it keeps that through an undo.
  @Test func theMemoryOfADelayGrowsWithItsTime() throws {
    let bench = Bench()
    bench.feed(1)
    try bench.begin(
      """
      node in input channels=1
      node d delay time=20ms mix=100% feedback=0%
      node lfo oscillator freq=1Hz level=-60dB
      node out output channels=1
      connect in -> d
      connect d -> out
      """)
    func bytes() -> Int { bench.engine.graph.nodesByKey.values.first { $0.name == "d" }?.bytes ?? 0 }
    bench.render(9600)
    #expect(bytes() < 20_000)
    #expect(bench.heard[0].last == 1)
    #expect(bench.perform("set d.time 1s"))
    bench.render(4800)
    let grown = bytes()
    #expect(grown > 48_000 * 4 && grown < 600_000)
    // What it had goes on until its old end, and the input of the change comes a second later.
    bench.render(96_000)
    #expect(bench.heard[0].last == 1)
    #expect(bench.perform("undo"))
    bench.render(9600)
    #expect(bytes() == grown)
    #expect(bench.perform("connect lfo -> d.shift"))
    bench.render(4800)
    #expect(bytes() > 1_000_000)
    #expect(abs((bench.heard[0].last ?? 0) - 1) < 0.001)
    bench.engine.retune(rate: 96_000, period: 64)
    bench.render(9600)
    #expect(abs((bench.heard[0].last ?? 0) - 1) < 0.001)
  }

  /// A node whose memory the system has not got is silent and says so; the rest goes on. With memory an edit makes it sound.
  @Test func aNodeWithoutMemoryIsAPlaceholderUntilAnEditFindsSome() throws {
    let bench = Bench()
    bench.feed(0.5)
    bench.engine.pools.kernels.available = { 0 }
    try bench.begin(
      """
      node in input channels=1
      node loop looper channels=1 longest=400s
      node out output channels=1
      node beside output channels=1
      connect in -> loop
      connect loop -> out
      connect in -> beside
      """)
    func state() -> NodeReport.State? { bench.engine.report().nodes.first { $0.name == "loop" }?.state }
    func isLacking() -> Bool {
      guard case .placeholder(let reason)? = state() else { return false }
      return reason.hasPrefix("there is no memory for its ")
    }
    bench.render(9600)
    #expect(isLacking())
    #expect(bench.heard[0].allSatisfy { $0 == 0 } && bench.heard[1].last == 0.5)
    let lacks = bench.engine.trace(since: 0).count { if case .lacking = $0.happening { true } else { false } }
    #expect(lacks == 1)
    #expect(bench.perform("set loop.level -6dB"), "an edit that finds no more")
    bench.engine.retune(rate: 96_000, period: 64)
    bench.render(9600)
    #expect(isLacking())
    #expect(bench.perform("set loop.longest 10s"))
    bench.render(9600)
    #expect(state() == .active && bench.heard[0].last == 0.5)
    #expect(bench.perform("undo"))
    bench.render(9600)
    #expect(isLacking() && bench.heard[0].last == 0)
    bench.engine.pools.kernels.available = { .max }
    #expect(bench.perform("set loop.level 0dB"))
    bench.render(9600)
    #expect(state() == .active && bench.heard[0].last == 0.5)
    #expect(bench.heard[1].suffix(9600).allSatisfy { $0 == 0.5 }, "what is beside it goes on")
  }

  /// The ring of a delayed cable of many channels that was removed serves the next one, and is freed when none comes.
  @Test func theRingOfADelayedCableThatWasRemovedServesTheNextOne() throws {
    let bench = Bench()
    try bench.begin(
      """
      node in noise channels=64 level=-40dB
      node dist distortion
      node out output channels=1
      connect in -> dist
      connect dist -> out
      """)
    let pool = bench.engine.pools.rings
    for round in 0..<3 {
      #expect(bench.perform("connect in -> out"))
      bench.render(4800)
      #expect(pool.kept == 0, "round \(round): the cable has what was kept")
      #expect(bench.perform("disconnect in -> out"))
      bench.settle()
      bench.render(4800)
      #expect(pool.kept > 50_000, "round \(round): nothing is kept")
    }
    bench.render(11 * 48000)
    #expect(pool.kept == 0)
  }
}
