import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Sums of many channels: each at its place by equal power, the same bits however blocks are split.
struct MixdownTests {
  private func bench(
    _ signals: [[Float]], outputs: Int, _ values: [Int: [Float]], rate: Double = 48_000
  ) -> KernelBench<Mixdown> {
    KernelBench(
      Mixdown.self, Mixdown.description, inputs: [signals], outputs: [outputs], values, rate: rate,
      extra: Float(signals.count))
  }

  @Test(arguments: [1, 2, 3, 16, 17, 64]) func everyChannelIsAtItsPlace(channels: Int) {
    var chance = Chance(UInt64(channels))
    for _ in 0..<4 {
      let spread = Float.random(in: -100...100, using: &chance)
      let pans = (0..<channels).map { _ in Float.random(in: -1...1, using: &chance) }
      let level = Float.random(in: 0...4, using: &chance)
      for channel in Set([0, channels / 2, channels - 1]) {
        var signals = [[Float]](repeating: [Float](repeating: 0, count: 200), count: channels)
        signals[channel] = chance.signal(200)
        let out = bench(
          signals, outputs: 2, [Mixdown.spread: [spread], Mixdown.pan: pans, Mixdown.level: [level]]
        ).run(200)[0]
        let part = channels > 1 ? 2 * Double(channel) / Double(channels - 1) - 1 : 0
        let place = min(max(Double(pans[channel]) + Double(spread) / 100 * part, -1), 1)
        let angle = (place + 1) * .pi / 4
        for frame in 0..<200 {
          let x = Double(signals[channel][frame]) * Double(level)
          #expect(abs(Double(out[0][frame]) - x * cos(angle)) < 1e-6 * max(1, abs(x)))
          #expect(abs(Double(out[1][frame]) - x * sin(angle)) < 1e-6 * max(1, abs(x)))
        }
      }
      let signals = (0..<channels).map { _ in chance.signal(200) }
      let sum = bench(signals, outputs: 1, [Mixdown.level: [level]]).run(200)[0][0]
      for frame in 0..<200 {
        let wanted = Double(level) * signals.reduce(0) { $0 + Double($1[frame]) }
        #expect(abs(Double(sum[frame]) - wanted) < 1e-5 * Double(channels))
      }
    }
  }
}
