import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

struct LoudnessTests {
  /// Of 4.0, 5.0 and 5.1 the last two channels count 1.41 times, and the one for effects does not; else all are alike. A sine
  /// of 997 Hz on one channel is as loud as it is strong (EBU Tech 3341).
  @Test(arguments: 1...8) func channelsAroundCountMore(channels: Int) {
    var chance = Chance(UInt64(channels))
    let weights: [Int: [Double]] = [
      4: [1, 1, 1.41, 1.41],
      5: [1, 1, 1, 1.41, 1.41],
      6: [1, 1, 1, 0, 1.41, 1.41],
    ]
    let levels = (0..<channels).map { _ in Double.random(in: 0.01...0.5, using: &chance) }
    let sounds = levels.map { level in
      (0..<24_000).map { Float(level * sin(2 * Double.pi * 997 * Double($0) / 48_000)) }
    }
    let bench = KernelBench(
      Loudness.self, Loudness.description, inputs: [sounds], outputs: [channels], rate: 48_000)
    _ = bench.run(24_000)
    var power = 0.0
    for (channel, level) in levels.enumerated() {
      power += (weights[channels]?[channel] ?? 1) * level * level / 2
    }
    let expected = 10 * log10(power)
    #expect(abs(Double(bench.kernel.reading(0)) - expected) < 0.1, "\(bench.kernel.reading(0)), \(expected)")
  }
}
