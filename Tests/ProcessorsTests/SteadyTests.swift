import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// What is calculated in another way where nothing moves.
struct SteadyTests {
  /// A steady wave has polynomials only around its corners, a moving one in every frame.
  @Test(arguments: [Float(0), 1, 2, 3]) func aSteadyWaveHasTheBitsOfAMovingOneThatStays(shape: Float) {
    for freq in [Float(0), 1e-5, 0.004, 0.02, 7.3, 19.7, 440, 1700.5, 1999, 3989, 4201, 9000, 23_000] {
      func wave(_ steady: Float, _ more: [Float]?, _ lengths: [Int]) -> [[[Float]]] {
        let bench = KernelBench(
          Oscillator.self, Oscillator.description, outputs: [1],
          [Oscillator.shape: [shape], Oscillator.freq: [steady], Oscillator.level: [0.7]])
        if let more { bench.modulation[Oscillator.freq] = [more] }
        return bench.run(4800, .init(lengths: lengths))
      }
      let expected = wave(0, [Float](repeating: freq, count: 4800), [64])
      for lengths in [[64], [1], [17], [5, 64, 30]] {
        #expect(firstDifference(expected, wave(freq, nil, lengths)) == nil, "\(freq) Hz, \(lengths)")
      }
    }
  }

  /// A filter at rest, against its equations in double precision: within -100 dB of the loudest frame.
  @Test func aFilterAtRestIsItsEquations() {
    var chance = Chance(5)
    let signal = chance.signal(9600)
    for (freq, q) in [(Float(20), Float(0.7)), (30, 20), (1000, 2), (9000, 0.5), (20_000, 5)] {
      let bench = KernelBench(
        Filter.self, Filter.description, inputs: [[signal]], outputs: [1],
        [Filter.freq: [freq], Filter.q: [q]])
      let found = bench.run(9600)[0][0]
      let all = Frames(repeating: 1)
      let c = SectionCoefficients(.low, all * freq, SectionShape(all * q, all, hasGain: false), 48_000)
      let (g, k) = (Double(c.g[0]), Double(c.k[0]))
      let (m0, m1, m2) = (Double(c.m0[0]), Double(c.m1[0]), Double(c.m2[0]))
      let a1 = 1 / (1 + g * (g + k))
      var (s1, s2, loudest, error) = (0.0, 0.0, 0.0, 0.0)
      for (x, y) in zip(signal, found) {
        let v3 = Double(x) - s2
        let v1 = a1 * (s1 + g * v3)
        let v2 = s2 + g * v1
        (s1, s2) = (2 * v1 - s1, 2 * v2 - s2)
        let expected = m0 * Double(x) + m1 * v1 + m2 * v2
        loudest = max(loudest, abs(expected))
        error = max(error, abs(Double(y) - expected))
      }
      #expect(decibels(error / loudest) < -100, "\(freq) Hz, Q \(q): \(decibels(error / loudest)) dB")
    }
  }
}
