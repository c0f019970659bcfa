import Engine
import Patch
import TestSupport
import Testing

/// Orders to a looper: they hold for the moment in which they are given, whatever the patch says already.
@Suite struct RepeatedOrderTests {
  private func start() throws -> Bench {
    let bench = Bench()
    try bench.begin(
      """
      tempo 120
      node src oscillator freq=480Hz level=-12dB
      node l looper through=-inf beats=1 longest=1
      node g gain
      node out output channels=1
      connect src -> l
      connect l -> g
      connect g -> out
      """)
    bench.render(24_000)
    return bench
  }

  /// The peak of the last quarter of a second.
  private func peak(_ bench: Bench) -> Float { bench.heard[0].suffix(12_000).map(abs).max() ?? 0 }

  /// A second `record` records a second time, though the patch says `record` all the while.
  @Test func theSameOrderIsCarriedOutAgain() throws {
    let bench = try start()
    bench.perform("set l.mode record")
    bench.render(72_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    bench.perform("set src.level -30dB")
    bench.render(48_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    bench.perform("set l.mode record")
    bench.render(96_000)
    #expect(abs(peak(bench) - 0.0316) < 0.002)
    // One of a node that the same line makes is its first.
    bench.perform("node m looper mode=record ; set m.mode record")
    bench.render(4800)
  }

  /// A loop plays on where the scene and the patch have the same order: it is not given again.
  @Test func aRecalledSceneLeavesALoopAlone() throws {
    for order in ["record", "stop"] {
      let bench = try start()
      if order == "record" { bench.perform("set l.mode record") }
      bench.perform("scene 1")
      if order == "stop" { bench.perform("set l.mode record") }
      bench.render(48_000)
      for line in ["set g.gain -6dB", "set l.mode play", "set src.level -inf"] { bench.perform(line) }
      bench.render(48_000)
      bench.perform("recall 1")
      bench.perform("set src.level -inf")
      bench.render(96_000)
      #expect(abs(peak(bench) - 0.25) < 0.01, "\(order)")
    }
  }
}
