import Patch
import TestSupport
import Testing

@testable import Engine

/// A looper comes back with its recording.
@Suite struct ShelfTests {
  /// A loop of -12 dB of 480 Hz, and a silent source.
  private func start(_ settings: String = "longest=1", rate: Double = 48_000) throws -> Bench {
    let bench = Bench(rate: rate)
    try bench.begin(
      """
      tempo 120
      node src oscillator freq=480Hz level=-12dB
      node l looper through=-inf \(settings)
      node out output channels=1
      connect src -> l
      connect l -> out
      """)
    bench.render(9600)
    bench.perform("set l.mode record")
    bench.render(24_000)
    bench.perform("set l.mode play")
    bench.perform("set src.level -inf")
    bench.render(48_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    return bench
  }

  /// The peak of the last 100 ms.
  private func peak(_ bench: Bench) -> Float { bench.heard[0].suffix(4800).map(abs).max() ?? 0 }

  /// After `remove`, another kind, and another length, whether it was freed meanwhile or still fades.
  @Test(
    arguments: ["remove l bridge", "replace l gain", "set l.longest 2", "set l.channels 1"],
    [0, 64, 500, 4800, 96_000])
  func anUndoBringsTheLoopBack(line: String, pause: Int) throws {
    let bench = try start()
    bench.perform(line)
    bench.render(pause)
    if pause > 9600 { #expect(peak(bench) < 1e-4) }
    bench.perform("undo")
    bench.render(24_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    bench.perform("redo")
    bench.render(24_000)
    #expect(peak(bench) < 1e-4)
    bench.perform("undo")
    bench.render(24_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    // The loop is the musician's still: an order is obeyed, and what is set holds.
    bench.perform("set l.mode stop")
    bench.render(24_000)
    #expect(peak(bench) < 1e-4)
  }

  /// A loop that was removed follows the driver to another rate, also where it comes back at that moment.
  @Test(arguments: [true, false]) func aRemovedLoopFollowsTheRate(isBackBefore: Bool) throws {
    let bench = try start()
    bench.perform("remove l bridge")
    bench.render(48_000)
    if isBackBefore { bench.perform("undo") }
    bench.engine.retune(rate: 96_000, period: 64)
    if !isBackBefore { bench.perform("undo") }
    bench.render(96_000)
    #expect(abs(peak(bench) - 0.25) < 0.01)
    let last = bench.heard[0].suffix(9600)
    let rises = zip(last, last.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(rises - 48) <= 1)
  }

  @Test func theLatestEightAreKept() throws {
    let bench = try start()
    for index in 0..<9 {
      bench.perform("node m\(index) looper longest=1")
      bench.render(4800)
    }
    for index in 0..<8 { bench.perform("remove m\(index)") }
    bench.settle()
    bench.render(4800)
    #expect(bench.engine.graph.shelf.nodes.map(\.name) == (0..<8).map { "m\($0)" })
    bench.perform("remove m8")
    bench.settle()
    bench.render(4800)
    #expect(bench.engine.graph.shelf.nodes.map(\.name) == (1..<9).map { "m\($0)" })
    for _ in 0..<3 { bench.perform("undo") }
    #expect(bench.engine.graph.shelf.nodes.map(\.name) == (1..<6).map { "m\($0)" })
    #expect(abs(peak(bench) - 0.25) < 0.01)
  }

  /// A gigabyte of loops at most waits for an undo.
  @Test func largeLoopsMakeRoom() throws {
    let bench = try start()
    for index in 0..<3 {
      bench.perform("node m\(index) looper longest=500s")
      bench.render(4800)
      bench.perform("remove m\(index)")
      bench.settle()
      bench.render(4800)
      let kept = bench.engine.graph.shelf.nodes
      #expect(kept.reduce(0) { $0 + $1.bytes } <= 1 << 30 && kept.last?.name == "m\(index)")
    }
  }
}
