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

  /// Two channels that move a value for all channels count as their mean, as stereo does at a mono input.
  @Test func aConstantMovesByItsDepth() throws {
    let bench = Bench(channels: 2)
    bench.feed(1)
    try bench.begin(
      """
      node in input channels=1
      node half constant level=[0.5,-0.25] channels=2
      node g gain gain=0dB
      node out output channels=2
      connect in -> g
      connect half -> g.gain by 12dB
      connect g -> out map=[0]
      node sum add value=0.125
      connect half -> sum
      connect sum -> out map=[-1,1]
      """)
    bench.render(4800)
    #expect(abs(bench.heard[0][4799] - 1.188_502) < 1e-4)
    #expect(bench.heard[1][4799] == -0.125)
  }
}
