import Patch
import TestSupport
import Testing

@testable import Engine

/// Figures that kernels report, whichever way the renderer takes.
@Suite struct ReadingTests {
  private func reduction(_ bench: Bench) throws -> Double {
    let report = try #require(bench.engine.report().nodes.first { $0.name == "c" })
    return try #require(report.readings.first).value
  }

  /// A constant of 0 dB, 20 dB above the threshold: with a moving parameter (node by node), at rest (the plain way), after
  /// a change, and in blocks that are no whole ones.
  @Test(arguments: [64, 17, 100]) func aReductionIsReportedAtRestAsInMotion(period: Int) throws {
    let bench = Bench(period: period, channels: 1)
    bench.feed(1)
    try bench.begin(
      """
      node one input channels=1
      node c compressor threshold=-20dB ratio=100 knee=0dB attack=1ms release=1ms
      node out output channels=1
      connect one -> c
      connect c -> out
      """)
    bench.render(9600)
    #expect(abs(try reduction(bench) - 19.8) < 0.02)
    bench.perform("set c.threshold -10dB")
    bench.render(9600)
    #expect(abs(try reduction(bench) - 9.9) < 0.02)
    bench.perform("set c.threshold 0dB")
    bench.render(9600)
    #expect(abs(try reduction(bench)) < 0.02)
  }
}
