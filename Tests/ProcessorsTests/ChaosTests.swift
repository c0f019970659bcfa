import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `chaos` and `exciter` against theory.
struct ChaosTests {
  private func bench(_ values: [Int: [Float]], channels: Int = 1, seed: UInt64 = 7, rate: Double = 48_000)
    -> KernelBench<Chaos>
  {
    KernelBench(
      Chaos.self, Chaos.description, outputs: [channels],
      values.merging([Chaos.level: [1]]) { own, _ in own },
      rate: rate, seed: seed)
  }

  /// Each value follows from the one before it, as the map has it.
  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func mapsAreTheirFormulas(rate: Double) {
    for chaos in [Float(80), 95, 100] {
      let share = Double(chaos) / 100
      let logistic = bench([Chaos.rate: [Float(rate)], Chaos.chaos: [chaos]], channels: 3, rate: rate).run(
        4000)[0]
      for sound in logistic {
        for frame in 2000..<3999 {
          let x = (Double(sound[frame]) + 1) / 2
          #expect(abs((Double(sound[frame + 1]) + 1) / 2 - (2.8 + 1.2 * share) * x * (1 - x)) < 1e-6)
        }
      }
      let henon = bench(
        [Chaos.system: [1], Chaos.rate: [Float(rate)], Chaos.chaos: [chaos]], channels: 2, rate: rate
      ).run(4000)[0]
      for sound in henon {
        for frame in 2000..<3998 {
          let (x, y) = (1.3 * Double(sound[frame + 1]), 1.3 * 0.3 * Double(sound[frame]))
          #expect(abs(1.3 * Double(sound[frame + 2]) - (1 - (0.8 + 0.6 * share) * x * x + y)) < 2e-6)
        }
      }
    }
  }

  /// At full chaos the density of the logistic map is that of a sine's levels (S. Ulam and J. von Neumann, 1947), and its
  /// Lyapunov exponent is ln 2.
  @Test func theLogisticMapHasItsDensityAndExponent() {
    let sound = bench([Chaos.rate: [48_000]]).run(200_000)[0][0]
    for level in [-0.9, -0.5, 0, 0.3, 0.8] {
      let share = Double(sound.filter { Double($0) < level }.count) / 200_000
      #expect(abs(share - (0.5 + asin(level) / Double.pi)) < 0.01, "\(level): \(share)")
    }
    let exponent = sound.map { log(max(4 * abs(Double($0)), 1e-12)) }.reduce(0, +) / 200_000
    #expect(abs(exponent - log(2)) < 0.02, "\(exponent)")
  }

  /// The equations of the flow hold between frames; it turns as often as `rate` says, and chaos begins at rho = 24.74.
  @Test(arguments: [8000.0, 48_000, 192_000]) func theFlowIsLorenz(rate: Double) {
    let frames = Int(rate * 4)
    let sound = bench([Chaos.system: [2], Chaos.rate: [100]], rate: rate).run(frames)[0][0]
    #expect(peak(sound) < 1 && peak(sound) > 0.7, "\(peak(sound))")
    // Turns: maxima of the magnitude.
    let size = sound.map(\.magnitude)
    let turns = (1..<frames - 1).filter {
      size[$0] > size[$0 - 1] && size[$0] >= size[$0 + 1] && size[$0] > 0.2
    }.count
    #expect(abs(Double(turns) / 400 - 1) < 0.1, "\(turns) turns in 4 s")
    // Below the limit it comes to rest at the root of beta (rho - 1).
    let still = bench([Chaos.system: [2], Chaos.rate: [400], Chaos.chaos: [20]], rate: rate).run(frames)[0][0]
    let rho = 14 + 14 * 0.2
    #expect(abs(abs(Double(still.last!)) * 21 - (8.0 / 3 * (rho - 1)).squareRoot()) < 0.01)
  }

  @Test func stepsComeAtTheirRateAndLinesJoinThem() {
    for shape in [Float(0), 1] {
      let sound = bench([Chaos.rate: [1200], Chaos.shape: [shape]]).run(48_000)[0][0]
      let changes = (1..<48_000).filter { sound[$0] != sound[$0 - 1] }.count
      #expect(shape == 1 || abs(changes - 1200) <= 1)
      if shape == 1 { #expect(largestStep(sound) < 2.0 / 40 + 1e-4) }
    }
  }

  @Test func theSameSeedIsTheSameCourse() {
    for system in 0..<3 {
      let values: [Int: [Float]] = [Chaos.system: [Float(system)], Chaos.seed: [12], Chaos.rate: [3000]]
      let one = bench(values, channels: 2).run(9600)[0]
      #expect(one == bench(values, channels: 2, seed: 99).run(9600)[0])
      #expect(one[0] != one[1])
      #expect(one != bench(values.merging([Chaos.seed: [13]]) { $1 }, channels: 2).run(9600)[0])
    }
  }
}

struct ExciterTests {
  private func bench(_ inputs: [[Float]], _ values: [Int: [Float]] = [:], rate: Double = 48_000)
    -> KernelBench<Exciter>
  {
    KernelBench(
      Exciter.self, Exciter.description, inputs: [inputs], outputs: [inputs.count], values, rate: rate)
  }

  private func sine(_ frequency: Double, _ level: Double, _ rate: Double) -> [Float] {
    (0..<Int(rate / 2)).map { Float(level * sin(2 * Double.pi * frequency * Double($0) / rate)) }
  }

  /// Harmonics are those of tanh and of its square; what is no harmonic is an alias.
  @Test(arguments: [44_100.0, 48_000, 96_000, 192_000]) func harmonicsAreThoseOfTheCurves(rate: Double) {
    for (even, frequency) in [(0.0, 4000.0), (100, 4000), (50, 5000)] {
      let tone = sine(frequency, 0.25, rate)
      // Far above the corner, so that the filter leaves the tone alone: its loss is taken into account.
      let out = bench(
        [tone], [Exciter.freq: [400], Exciter.drive: [4], Exciter.even: [Float(even)], Exciter.amount: [1]],
        rate: rate
      ).run(tone.count)[0][0]
      let part = out[(out.count / 2)..<(out.count / 2 + Int(rate / 5))]
      func harmonic(_ number: Int) -> Double {
        // Of tanh(sin) and its square, by a sum over a cycle.
        var sum = (0.0, 0.0)
        for step in 0..<4096 {
          let angle = 2 * Double.pi * Double(step) / 4096
          let y = tanh(sin(angle))
          let curve = y * (1 - even / 100) + y * y * even / 100
          sum.0 += curve * cos(Double(number) * angle) / 2048
          sum.1 += curve * sin(Double(number) * angle) / 2048
        }
        return (sum.0 * sum.0 + sum.1 * sum.1).squareRoot()
      }
      for number in 2...4 where frequency * Double(number) < rate * 0.4 {
        let (there, expected) = (amplitude(part, frequency * Double(number), rate: rate), harmonic(number))
        #expect(
          abs(there - expected) < 0.1 * expected + 0.0005, "harmonic \(number): \(there), not \(expected)")
      }
    }
  }

  @Test func aliasesAreLow() {
    for frequency in [3700.0, 5000, 7300, 9100] {
      let tone = sine(frequency, 0.25, 48_000)
      let out = bench([tone]).run(tone.count)[0][0]
      let part = out[12_000..<(12_000 + 9600)]
      let harmonics = (1...5).map { frequency * Double($0) }
      let strongest = amplitude(part, frequency, rate: 48_000)
      for alias in stride(from: 500.0, to: 20_000, by: 100)
      where !harmonics.contains(where: { abs($0 - alias) < 50 }) {
        let level = decibels(amplitude(part, alias, rate: 48_000) / strongest)
        #expect(level < -60, "\(alias) Hz of \(frequency): \(level) dB")
      }
    }
  }

  /// What is far below the corner passes as it is, late by the latency.
  @Test func theRestStaysAsItIs() {
    let tone = sine(60, 0.5, 48_000)
    let out = bench([tone, tone]).run(tone.count)[0]
    let late = 32
    for frame in stride(from: 6000, to: 20_000, by: 7) {
      #expect(abs(out[1][frame] - tone[frame - late]) < 2e-3)
    }
    let bench = bench([impulse(40_000)])
    _ = bench.run(40_000)
    #expect(bench.sleptBlocks > 400)
  }
}

extension SplitTests {
  @Test(arguments: 0..<3) func chaos(system: Int) {
    expectSameBits(
      Chaos.self, Chaos.description, outputs: [3],
      [Chaos.system: [Float(system)], Chaos.rate: [900, 40_000, 3000], Chaos.chaos: [90]],
      modulation: [Chaos.rate: [wobble(2000)], Chaos.chaos: [wobble(8)]],
      moves: [
        .init(frame: 300, parameter: Chaos.shape, value: 1, over: 480),
        .init(frame: 905, parameter: Chaos.level, value: 0, over: 99),
        .init(frame: 1400, parameter: Chaos.level, value: 1, over: 9),
      ], startingAt: 37)
  }

  @Test(arguments: [1, 3]) func exciter(channels: Int) {
    expectSameBits(
      Exciter.self, Exciter.description, inputs: [signals(channels)], outputs: [channels],
      modulation: [Exciter.freq: [wobble(2000)], Exciter.even: [wobble(40)]],
      moves: [
        .init(frame: 300, parameter: Exciter.drive, value: 30, over: 480),
        .init(frame: 905, parameter: Exciter.amount, value: 0, over: 99),
      ], startingAt: 37)
  }
}
