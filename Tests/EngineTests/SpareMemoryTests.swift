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

  /// The ring of a delayed cable that was removed serves the next one, and is freed when none comes.
  @Test func theRingOfADelayedCableThatWasRemovedServesTheNextOne() throws {
    let bench = Bench()
    try bench.begin(
      """
      node in input channels=1
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
