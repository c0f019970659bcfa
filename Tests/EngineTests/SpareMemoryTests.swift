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
