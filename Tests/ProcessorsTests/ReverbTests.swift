import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// A reverb's decay in its bands, its loudness, its density, and its sides.
struct ReverbTests {
  private func impulseResponse(
    _ values: [Int: Float], seconds: Double, rate: Double = 48_000, outputs: Int = 2
  ) -> [[Float]] {
    var all = values.mapValues { [$0] }
    all[Reverb.mix] = [100]
    all[Reverb.channels] = [Float(outputs)]
    let frames = Int(seconds * rate)
    return KernelBench(
      Reverb.self, Reverb.description, inputs: [[impulse(frames)]], outputs: [outputs], all, rate: rate
    ).run(frames)[0]
  }

  /// Time in which a band falls by 60 dB: from the fall between -5 and -35 dB of what is left (M. R. Schroeder, "New method
  /// of measuring reverberation time", 1965), of all outputs together. `q`: how narrow the band is.
  private func decay(_ outputs: [[Float]], _ frequency: Double, _ rate: Double, q: Double) -> Double {
    let w = 2 * .pi * frequency / rate
    let (alpha, turn) = (sin(w) / (2 * q), 2 * cos(w))
    var left = [Double](repeating: 0, count: outputs[0].count)
    for output in outputs {
      var band = output.map(Double.init)
      for _ in 0..<2 {
        var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
        for frame in band.indices {
          let x = band[frame]
          let sum: Double = alpha * (x - x2) + turn * y1 - (1 - alpha) * y2
          let y = sum / (1 + alpha)
          (x2, x1, y2, y1, band[frame]) = (x1, x, y1, y, y)
        }
      }
      var sum = 0.0
      for frame in band.indices.reversed() {
        sum += band[frame] * band[frame]
        left[frame] += sum
      }
    }
    let levels = left.map { 10 * log10(max($0 / left[0], 1e-30)) }
    let from = levels.firstIndex { $0 < -5 } ?? 0
    let to = levels.firstIndex { $0 < -35 } ?? 0
    return Double(to - from) / rate * 60 / (levels[from] - levels[to])
  }

  private static func power(_ signal: ArraySlice<Float>) -> Double {
    var sum = 0.0
    for x in signal { sum += Double(x) * Double(x) }
    return sum / Double(signal.count)
  }

  /// With little bass and strong damping, the shelves alone would take more at 1 kHz than the round may.
  @Test(arguments: [8000.0, 22_050, 44_100, 48_000, 96_000, 192_000])
  func oneKilohertzDecaysInTheTimeThatIsSet(rate: Double) {
    var chance = Chance(UInt64(rate))
    var settings: [(seconds: Float, size: Float, bass: Float, damp: Float)] = [
      (0.5, 20, 25, 100), (0.5, 100, 25, 100), (2, 50, 25, 100), (0.5, 20, 200, 100), (1, 40, 100, 0),
      (5, 100, 100, 30),
    ]
    for _ in 0..<4 {
      let seconds = Float.random(in: 0.5...2, using: &chance)
      settings.append(
        (
          seconds, Float.random(in: 10...100, using: &chance),
          Float.random(in: 25...200, using: &chance), Float.random(in: 0...100, using: &chance)
        ))
    }
    for (seconds, size, bass, damp) in settings {
      let out = impulseResponse(
        [Reverb.decay: seconds, Reverb.size: size, Reverb.bass: bass, Reverb.damp: damp],
        seconds: Double(seconds) * 0.9, rate: rate, outputs: seconds < 5 ? 8 : 2)
      let found = decay(out, 1000, rate, q: 6) / Double(seconds)
      #expect(abs(found - 1) < 0.05, "\(seconds) s, size \(size), bass \(bass), damp \(damp): \(found)")
    }
  }

  @Test func lowAndHighBandsDecayInTheirs() {
    for (bass, damp) in [
      (Float(100), Float(0)), (100, 50), (50, 50), (200, 80), (25, 80), (25, 0), (200, 0),
    ] {
      let out = impulseResponse(
        [Reverb.decay: 2, Reverb.size: 50, Reverb.bass: bass, Reverb.damp: damp], seconds: 4, outputs: 8)
      let low = decay(out, 30, 48_000, q: 2) / (2 * Double(bass) / 100)
      let high = decay(out, 18_000, 48_000, q: 2) / (2 * (1 - 0.9 * Double(damp) / 100))
      #expect(abs(low - 1) < 0.05, "bass \(bass) %: \(low)")
      #expect(abs(high - 1) < 0.1, "damp \(damp) %: \(high)")
    }
  }

  /// Outputs are alike in loudness too: no way through the lines adds up with the same way backwards in some of them only.
  @Test func aSteadyNoiseIsAsLoudAsItWentIn() {
    var chance = Chance(3)
    let noise = (0..<2).map { _ in chance.signal(48_000 * 6) }
    for (seconds, size, inputs) in [
      (Float(0.3), Float(30), 1), (2, 50, 1), (2, 50, 2), (4, 100, 1), (10, 10, 1),
    ] {
      let out = KernelBench(
        Reverb.self, Reverb.description, inputs: [Array(noise[..<inputs])], outputs: [16],
        [
          Reverb.decay: [seconds], Reverb.size: [size], Reverb.damp: [0], Reverb.mix: [100],
          Reverb.channels: [16],
        ]
      ).run(noise[0].count)[0]
      let levels = out.map { 10 * log10(3 * Self.power($0[(noise[0].count / 3)...])) }
      let mean = levels.reduce(0, +) / 16
      #expect(abs(mean) < 2, "\(seconds) s: \(mean) dB")
      #expect(levels.allSatisfy { abs($0 - mean) < 0.6 }, "\(seconds) s: \(levels) dB")
    }
  }

  /// A tenth of a second after an impulse, or two in the largest rooms, the sound is noise: as many frames lie within the
  /// standard deviation as in noise (J. S. Abel and P. Huang, "A simple, robust measure of reverberation echo density",
  /// 2006). Echoes come on all frames, at high rates too.
  @Test(arguments: [8000.0, 22_050, 44_100, 48_000, 88_200, 96_000, 144_000, 176_400, 192_000])
  func echoesSoonBecomeNoise(rate: Double) {
    for (size, soon) in [(Float(10), 0.1), (30, 0.1), (50, 0.1), (75, 0.2), (100, 0.2)] {
      let out = impulseResponse(
        [Reverb.decay: 2, Reverb.size: size, Reverb.damp: 0], seconds: 0.3, rate: rate, outputs: 8)
      for start in [soon, soon + 0.05] {
        var outside = 0.0
        let (from, count) = (Int(start * rate), Int(0.02 * rate))
        for channel in out {
          let window = channel[from..<from + count]
          let deviation = (Self.power(window)).squareRoot()
          outside += Double(window.count { abs(Double($0)) > deviation }) / Double(8 * count)
        }
        #expect(outside / 0.3173 > 0.85, "size \(size), from \(start) s: \(outside / 0.3173)")
      }
    }
  }

  @Test func outputsHaveNothingInCommonAndChannelsTheirSides() {
    let out = impulseResponse([Reverb.decay: 2], seconds: 1, outputs: 4)
    for (a, b) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
      let together = Self.correlation(out[a][2400...], out[b][2400...])
      #expect(abs(together) < 0.15, "\(a) and \(b): \(together)")
    }
    var chance = Chance(7)
    let sides = [chance.signal(500), chance.signal(500)]
    let dry = KernelBench(
      Reverb.self, Reverb.description, inputs: [sides], outputs: [2], [Reverb.mix: [0], Reverb.channels: [2]]
    ).run(500)[0]
    #expect(dry == sides)
  }

  @Test func thePredelayIsExactAndTheReverbFallsAsleep() {
    let near = impulseResponse([Reverb.decay: 0.3, Reverb.size: 10], seconds: 0.5)[0]
    let far = impulseResponse([Reverb.decay: 0.3, Reverb.size: 10, Reverb.predelay: 0.1], seconds: 0.5)[0]
    #expect(far[..<4800].allSatisfy { $0 == 0 })
    #expect(Array(far[4800..<20_000]) == Array(near[..<15_200]))
    let bench = KernelBench(
      Reverb.self, Reverb.description, inputs: [[impulse(200_000)]], outputs: [2],
      [Reverb.decay: [0.2], Reverb.channels: [2]])
    _ = bench.run(200_000)
    #expect(bench.sleptBlocks > 500)
  }

  /// What comes from one side is no more alike in both outputs than what comes from both.
  @Test func whatComesFromOneSideIsNotAlikeInBothOutputs() {
    var chance = Chance(17)
    let noise = chance.signal(96_000)
    let silence = [Float](repeating: 0, count: noise.count)
    for (seconds, size) in [(Float(0.1), Float(100)), (0.3, 30), (2, 50)] {
      for sides in [[noise, silence], [silence, noise]] {
        let out = KernelBench(
          Reverb.self, Reverb.description, inputs: [sides], outputs: [2],
          [Reverb.decay: [seconds], Reverb.size: [size], Reverb.mix: [100], Reverb.channels: [2]]
        ).run(noise.count)[0]
        let together = Self.correlation(out[0][48_000...], out[1][48_000...])
        #expect(abs(together) < 0.15, "\(seconds) s: \(together)")
      }
    }
  }

  private static func correlation(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Double {
    let product = zip(a, b).reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
    return product / (power(a) * power(b)).squareRoot() / Double(a.count)
  }

  /// Rings of all lengths come to their ends within blocks of all lengths.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6]) func anyPredelayIsExactInBlocksOfAnyLength(seed: UInt64) {
    var chance = Chance(seed)
    let rate: Double = [8000, 11_025, 16_000, 44_100, 48_000, 96_000][Int(seed) - 1]
    let noise = chance.signal(3000)
    func response(_ delay: Int, _ lengths: [Int]) -> [[Float]] {
      let bench = KernelBench(
        Reverb.self, Reverb.description, inputs: [[noise]], outputs: [3],
        [
          Reverb.decay: [0.4], Reverb.size: [10], Reverb.mix: [100], Reverb.channels: [3],
          Reverb.predelay: [Float(Double(delay) / rate)],
        ], rate: rate)
      let out = bench.run(delay + 9000, .init(lengths: lengths))[0]
      #expect(bench.isMemoryIntact)
      return out
    }
    let near = response(0, [64])
    for most in [64, 1000, Int(rate / 2)] {
      let (delay, lengths) = (Int.random(in: 16...most, using: &chance), chance.lengths())
      let far = response(delay, lengths)
      for channel in near.indices {
        #expect(far[channel][..<delay].allSatisfy { $0 == 0 })
        #expect(Array(far[channel][delay...]) == near[channel], "\(delay) frames in blocks of \(lengths)")
      }
    }
  }

  /// A node that is made within a cell of 64 frames sounds like any other.
  @Test func theFirstBlockMayBeginAnywhere() {
    var chance = Chance(11)
    let noise = chance.signal(20_000)
    func response(_ start: Int64) -> [[Float]] {
      let bench = KernelBench(
        Reverb.self, Reverb.description, inputs: [[noise]], outputs: [2],
        [Reverb.size: [20], Reverb.mix: [100], Reverb.channels: [2]])
      bench.time = start
      return bench.run(noise.count)[0]
    }
    let whole = response(640)
    for _ in 0..<4 {
      let start = Int64.random(in: 641...703, using: &chance)
      #expect(response(start) == whole, "from \(start)")
    }
  }

  @Test func changesOfEverythingDoNotClick() {
    let tone = (0..<48_000).map { (frame: Int) -> Float in
      Float(0.5 * sin(2 * Double.pi * 300 * Double(frame) / 48_000))
    }
    for (parameter, value) in [
      (Reverb.decay, Float(0.2)), (Reverb.decay, 20), (Reverb.size, 20), (Reverb.size, 100),
      (Reverb.damp, 100), (Reverb.damp, 0), (Reverb.bass, 200),
      (Reverb.bass, 25), (Reverb.predelay, 0.2), (Reverb.mix, 100),
    ] {
      let bench = KernelBench(
        Reverb.self, Reverb.description, inputs: [[tone]], outputs: [2], [Reverb.channels: [2]])
      bench.moves = [.init(frame: 30_010, parameter: parameter, value: value, over: 480)]
      let out = bench.run(40_000)[0]
      for channel in out {
        #expect(largestStep(Array(channel[29_900...])) < 0.06, "\(parameter) to \(value)")
      }
    }
  }

  /// A rate that changes in mid-decay: the rest of the sound has its level and its time.
  @Test func aRateThatChangesKeepsTheSound() {
    let bench = KernelBench(
      Reverb.self, Reverb.description, inputs: [[impulse(24_000)]], outputs: [2],
      [Reverb.decay: [2], Reverb.damp: [0], Reverb.mix: [100], Reverb.channels: [2]])
    let before = bench.run(24_000)[0][0]
    bench.retune(to: 96_000)
    let after = bench.run(48_000)[0][0]
    // A tenth of a second is 3 dB.
    let fall = 10 * log10(Self.power(before[19_200..<24_000]) / Self.power(after[0..<9600]))
    #expect(abs(fall - 3) < 2, "\(fall) dB")
    #expect(bench.isMemoryIntact)
  }
}
