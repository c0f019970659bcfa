import Patch
import TestSupport
import Testing

@testable import Engine

/// Sources of modulation and arithmetic of signals in the running engine.
@Suite struct ControlKindTests {
  /// A cable to `with` fades in while the one in its place fades out, so a product with one stays what it is. The way back
  /// takes two fades, one after the other, without a step.
  @Test(arguments: [64, 17, 100]) func aFactorOfOneIsPutInUnheardAndTakenOutWithoutAStep(period: Int) throws {
    let bench = Bench(period: period, channels: 1)
    bench.feed(0.5)
    try bench.begin(
      """
      node in input channels=1
      node one constant level=1
      node m multiply
      node out output channels=1
      connect in -> m
      connect m -> out
      """)
    bench.render(3000)
    bench.perform("connect one -> m.with")
    bench.render(3000)
    #expect(bench.heard[0].suffix(4000).allSatisfy { abs($0 - 0.5) < 1e-6 })
    bench.perform("disconnect one -> m.with")
    bench.render(3000)
    let heard = Array(bench.heard[0].suffix(3500))
    #expect(zip(heard, heard.dropFirst()).allSatisfy { abs($0 - $1) < 0.003 })
    #expect(heard.suffix(1500).allSatisfy { abs($0 - 0.5) < 1e-6 })
  }
}
