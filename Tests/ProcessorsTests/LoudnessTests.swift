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
      Loudness.self, Loudness.description, inputs: [sounds, []], outputs: [channels], rate: 48_000)
    _ = bench.run(24_000)
    var power = 0.0
    for (channel, level) in levels.enumerated() {
      power += (weights[channels]?[channel] ?? 1) * level * level / 2
    }
    let expected = 10 * log10(power)
    #expect(abs(Double(bench.kernel.reading(0)) - expected) < 0.1, "\(bench.kernel.reading(0)), \(expected)")
  }

  private func sine(_ parts: [(level: Double, seconds: Double)], _ rate: Double) -> [Float] {
    var place = 0
    return parts.flatMap { part in
      (0..<Int(part.seconds * rate)).map { _ in
        place += 1
        return Float(pow(10, part.level / 20) * sin(2 * Double.pi * 1000 * Double(place) / rate))
      }
    }
  }

  /// Sounds like those of EBU Tech 3341, cases 1 to 5, for the integrated loudness, with shorter parts and silence between.
  @Test(arguments: [32_000.0, 48_000]) func theIntegratedLoudnessIsGated(rate: Double) {
    let cases: [(parts: [(level: Double, seconds: Double)], loudness: Float)] = [
      ([(-23, 6)], -23), ([(-33, 6)], -33), ([(-36, 3), (-23, 18), (-36, 3)], -23),
      ([(-72, 3), (-36, 3), (-23, 18), (-36, 3), (-72, 3)], -23), ([(-26, 6), (-20, 6.03), (-26, 6)], -23),
      ([(-23, 9), (-200, 30), (-23, 9)], -23), ([(-75, 5)], -100),
    ]
    for (parts, loudness) in cases {
      let sound = sine(parts, rate)
      let bench = KernelBench(
        Loudness.self, Loudness.description, inputs: [[sound, sound], []], outputs: [2], rate: rate)
      _ = bench.run(sound.count)
      #expect(abs(bench.kernel.reading(2) - loudness) < 0.1, "\(parts): \(bench.kernel.reading(2))")
    }
  }

  /// A reset begins anew, hold keeps the figure, clear leaves none.
  @Test func theIntegratedLoudnessBeginsAnew() {
    let rate = 48_000.0
    let sound = sine([(-12, 4), (-30, 4), (-12, 4)], rate)
    let reset = gate(sound.count, 4 * 48_000 + 77..<4 * 48_000 + 99)
    let bench = KernelBench(
      Loudness.self, Loudness.description, inputs: [[sound, sound], [reset]], outputs: [2], rate: rate)
    _ = bench.run(4 * 48_000)
    #expect(abs(bench.kernel.reading(2) + 12) < 0.1)
    _ = bench.run(4 * 48_000)
    #expect(abs(bench.kernel.reading(2) + 30) < 0.1, "\(bench.kernel.reading(2))")
    bench.kernel.set(Loudness.integrate, element: 0, to: 1, over: 0)
    _ = bench.run(4 * 48_000)
    #expect(abs(bench.kernel.reading(2) + 30) < 0.1 && abs(bench.kernel.reading(0) + 12) < 0.1)
    bench.kernel.set(Loudness.integrate, element: 0, to: 2, over: 0)
    #expect(bench.kernel.reading(2) == -100)
  }

  /// A wider cable keeps what was measured.
  @Test func theIntegratedLoudnessStaysInAWiderMemory() {
    let sound = sine([(-20, 3)], 48_000)
    let bench = KernelBench(
      Loudness.self, Loudness.description, inputs: [[sound], []], outputs: [1], rate: 48_000)
    _ = bench.run(sound.count)
    let before = bench.kernel.reading(2)
    bench.widen([[[], []], []], outputs: [2])
    _ = bench.run(48_000)
    // The last blocks are partly silent.
    #expect(before > -23.1 && abs(bench.kernel.reading(2) - before) < 0.5)
  }
}
