import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Sources against their formulas: `fm`, `supersaw`, `additive`, `dust`.
struct SourceTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  // MARK: fm

  /// Who moves whom in each algorithm (operators count from 0), and who is heard.
  private static let algorithms: [(moves: [(Int, Int)], heard: [Int])] = [
    ([(3, 2), (2, 1), (1, 0)], [0]), ([(3, 1), (2, 1), (1, 0)], [0]), ([(3, 0), (2, 1), (1, 0)], [0]),
    ([(3, 2), (2, 0), (1, 0)], [0]), ([(3, 2), (1, 0)], [0, 2]), ([(3, 0), (3, 1), (3, 2)], [0, 1, 2]),
    ([(3, 2)], [0, 1, 2]), ([], [0, 1, 2, 3]),
  ]

  @Test(arguments: 1...8, rates) func operatorsMoveEachOtherByTheirFormula(algorithm: Int, rate: Double) {
    var chance = Chance(UInt64(algorithm) &* 977 &+ UInt64(rate))
    let highest: Float = rate < 10_000 ? 200 : 900
    let freqs = (0..<3).map { _ in Float.random(in: 20...highest, using: &chance) }
    let ratios = (0..<4).map { _ in Float(Int.random(in: 1...4, using: &chance)) * 0.5 }
    let levels = (0..<4).map { _ in Float.random(in: 10...80, using: &chance) }
    let feedback = Float.random(in: -30...30, using: &chance)
    var values: [Int: [Float]] = [
      Fm.freq: freqs, Fm.level: [0.5], Fm.algorithm: [Float(algorithm)], Fm.feedback: [feedback],
    ]
    for number in 0..<4 {
      values[Fm.ratio(number)] = [ratios[number]]
      values[Fm.level(number)] = [levels[number]]
    }
    let out = KernelBench(Fm.self, Fm.description, outputs: [3], values, rate: rate).run(4000)[0]
    let (moves, heard) = Self.algorithms[algorithm - 1]
    for channel in 0..<3 {
      var (newest, older, most) = (0.0, 0.0, 0.0)
      for frame in 0..<4000 {
        var sines = [0.0, 0, 0, 0]
        for number in (0..<4).reversed() {
          let frequency: Double = Double(freqs[channel] * ratios[number])
          var turns: Double = Double(frame) * frequency / rate
          let fed: Double = Double(feedback) / 100 * 0.25
          if number == 3 { turns += fed * (newest + older) }
          for (from, to) in moves where to == number {
            let depth: Double = Double(levels[from]) / 100
            turns += sines[from] * depth
          }
          let angle: Double = 2 * Double.pi * turns
          sines[number] = sin(angle)
          if number == 3 { (newest, older) = (sines[3], newest) }
        }
        var sum = 0.0
        for number in heard { sum += sines[number] * Double(levels[number]) / 100 }
        most = max(most, abs(Double(out[channel][frame]) - 0.5 * sum))
      }
      #expect(decibels(most) < -60, "channel \(channel): \(decibels(most)) dB")
    }
  }

  /// By what it has given out itself, so that a feedback beyond all order is tested too.
  @Test(arguments: [Float(-100), -37, 12, 60, 100, 260, 900]) func aFedOperatorGoesByItsLastTwoValues(
    feedback: Float
  ) {
    var chance = Chance(UInt64(feedback + 1000))
    for channels in [1, 2, 3, 9] {
      let freqs = (0..<channels).map { _ in Float.random(in: 20...3000, using: &chance) }
      let values: [Int: [Float]] = [
        Fm.freq: freqs, Fm.level: [1], Fm.algorithm: [8], Fm.feedback: [feedback], Fm.level(0): [0],
        Fm.level(1): [0], Fm.level(2): [0], Fm.level(3): [100],
      ]
      let out = KernelBench(Fm.self, Fm.description, outputs: [channels], values).run(1000)[0]
      for channel in 0..<channels {
        var most = 0.0
        for frame in 2..<1000 {
          let sum: Double = Double(out[channel][frame - 1]) + Double(out[channel][frame - 2])
          let fed: Double = Double(feedback) * 0.0025 * sum
          let turns: Double = Double(frame) * Double(freqs[channel]) / 48000 + fed
          most = max(most, abs(Double(out[channel][frame]) - sin(2 * Double.pi * turns)))
        }
        let limit: Double = 1e-5 * (1 + abs(Double(feedback)) / 100)
        #expect(most < limit, "channel \(channel) of \(channels), \(freqs[channel]) Hz: \(most)")
      }
    }
  }

  @Test func changesOfEverythingInFmDoNotClick() {
    let moves: [(Int, Float)] = [
      (Fm.algorithm, 5), (Fm.feedback, 50), (Fm.level(1), 100), (Fm.level(0), 20), (Fm.level, 0.1),
    ]
    for (parameter, value) in moves {
      let settings: [Int: [Float]] = [
        Fm.freq: [110], Fm.level(2): [20], Fm.level(3): [10], Fm.level: [0.25],
      ]
      let bench = KernelBench(Fm.self, Fm.description, outputs: [1], settings)
      bench.moves = [.init(frame: 4810, parameter: parameter, value: value, over: 480)]
      let moved = largestStep(bench.run(9600)[0][0])
      let before = KernelBench(Fm.self, Fm.description, outputs: [1], settings).run(9600)[0][0]
      let after = KernelBench(
        Fm.self, Fm.description, outputs: [1], settings.merging([parameter: [value]]) { $1 }
      ).run(9600)[0][0]
      // Neither louder than what was and what comes, but for the way of the fade.
      let steady = max(largestStep(before), largestStep(after))
      #expect(
        moved < 1.1 * steady + 0.002, "\(Fm.description.parameters[parameter].name): \(moved), \(steady)")
    }
  }

  // MARK: supersaw

  /// One saw alone is the oscillator's.
  @Test(arguments: rates) func aSupersawOfOneIsASaw(rate: Double) {
    for freq in [Float(28), 440, 3000] {
      let one = KernelBench(
        Supersaw.self, Supersaw.description, outputs: [1],
        [Supersaw.freq: [freq], Supersaw.voices: [1], Supersaw.level: [1]], rate: rate
      ).run(Int(rate))[0][0]
      let saw = KernelBench(
        Oscillator.self, Oscillator.description, outputs: [1],
        [Oscillator.shape: [1], Oscillator.freq: [freq], Oscillator.level: [1]], rate: rate
      ).run(Int(rate))[0][0]
      for harmonic in 1...3 where Double(freq) * Double(harmonic) < 0.3 * rate {
        let frequency = Double(freq) * Double(harmonic)
        let (a, b) = (amplitude(one[...], frequency, rate: rate), amplitude(saw[...], frequency, rate: rate))
        #expect(abs(decibels(a) - decibels(b)) < 0.01, "\(frequency) Hz: \(a), \(b)")
      }
    }
  }

  /// The outermost saws are as far away as is set, and each has its share.
  @Test func sawsAreWhereDetuneSays() {
    for (detune, freq) in [(Float(50), Float(1000)), (100, 400), (700, 200)] {
      let out = KernelBench(
        Supersaw.self, Supersaw.description, outputs: [1],
        [Supersaw.freq: [freq], Supersaw.voices: [3], Supersaw.detune: [detune], Supersaw.level: [1]]
      ).run(480_000)[0][0]
      for cents in [-Double(detune), 0, Double(detune)] {
        let place = Double(freq) * pow(2, cents / 1200)
        let there = amplitude(out[...], place)
        // Beside it, by a cent or what ten seconds tell apart.
        let beside = max(place * 0.000_578, 0.1)
        #expect(abs(there - 2 / Double.pi * 0.8653 / 3.0.squareRoot()) < 0.01, "\(place) Hz: \(there)")
        #expect(amplitude(out[...], place + beside) < 0.9 * there)
      }
    }
  }

  @Test func channelsHavePhasesOfTheirOwnAndMoreSawsAreNotLouder() {
    let out = KernelBench(
      Supersaw.self, Supersaw.description, outputs: [2],
      [Supersaw.freq: [100], Supersaw.voices: [16], Supersaw.detune: [30], Supersaw.level: [1]]
    ).run(480_000)[0]
    func mean(_ a: [Float], _ b: [Float]) -> Double {
      zip(a, b).map { (x: Float, y: Float) -> Double in Double(x) * Double(y) }.reduce(0, +) / 480_000
    }
    let power = out.map { mean($0, $0) }
    let product = mean(out[0], out[1])
    // Saws of both channels are in phase by chance only.
    #expect(abs(product) < 0.5 * power[0])
    for each in power { #expect(abs(10 * log10(each / (0.8653 * 0.8653 / 3))) < 1) }
  }

  /// Steady and moving, in a saw that would alias: nothing but harmonics below 16 kHz.
  @Test func supersawsDoNotAlias() {
    let out = KernelBench(
      Supersaw.self, Supersaw.description, outputs: [1],
      [Supersaw.freq: [4100], Supersaw.voices: [1], Supersaw.level: [1]]
    ).run(48_000)[0][0]
    for frequency in stride(from: 100.0, to: 15_900, by: 100) where Int(frequency) % 4100 != 0 {
      #expect(decibels(amplitude(out[...], frequency)) < -74)
    }
  }

  // MARK: additive

  @Test(arguments: rates) func partialsHaveTheirFrequenciesAndAmplitudes(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 5)
    for _ in 0..<5 {
      let count = Int.random(in: 1...64, using: &chance)
      let freq = Float.random(in: 20...400, using: &chance)
      let slope = Float.random(in: -24...6, using: &chance)
      let even = Float.random(in: 0...100, using: &chance)
      let stretch = [0, Float.random(in: -300...300, using: &chance)].randomElement(using: &chance)!
      let out = KernelBench(
        Additive.self, Additive.description, outputs: [1],
        [
          Additive.freq: [freq], Additive.level: [1], Additive.partials: [Float(count)],
          Additive.slope: [slope],
          Additive.even: [even], Additive.stretch: [stretch],
        ], rate: rate
      ).run(3000)[0][0]
      let numbers = (1...count).map(Double.init)
      let amplitudes = numbers.map { (number: Double) -> Double in
        let own: Double = pow(10, Double(slope) / 20 * log2(number))
        return Int(number) % 2 == 0 ? own * Double(even) / 100 : own
      }
      let power = amplitudes.map { $0 * $0 }.reduce(0, +)
      var most = 0.0
      for frame in stride(from: 0, to: 3000, by: 7) {
        var sum = 0.0
        for (number, amplitude) in zip(numbers, amplitudes) {
          let frequency = Double(freq) * pow(number, 1 + Double(stretch) / 1200)
          let place = (0.5 - frequency / rate) * 32
          let p: Double = min(max(place, 0), 1)
          let fade: Double = p * p * p * (10 - p * (15 - 6 * p))
          let angle: Double = 2 * Double.pi * frequency * Double(frame) / rate
          sum += amplitude * fade * sin(angle)
        }
        most = max(most, abs(Double(out[frame]) - sum / power.squareRoot()))
      }
      #expect(most < 2e-3, "\(count) partials of \(freq) Hz at \(rate) Hz: \(most)")
    }
  }

  /// Harmonics of a moving frequency stay in phase with the first, for minutes.
  @Test func harmonicsStayInPhase() {
    let bench = KernelBench(
      Additive.self, Additive.description, outputs: [1],
      [Additive.freq: [100], Additive.level: [1], Additive.partials: [8], Additive.slope: [0]])
    bench.modulation[Additive.freq] = [(0..<480_000).map { 30 * Float(sin(Double($0) * 1e-3)) }]
    _ = bench.run(480_000)
    for _ in 0..<60 { _ = bench.run(48_000) }
    // All of them begin a cycle at once: sines add up to the sharpest peak, the same as at the start.
    let out = bench.run(960)[0][0]
    let first = KernelBench(
      Additive.self, Additive.description, outputs: [1],
      [Additive.freq: [100], Additive.level: [1], Additive.partials: [8], Additive.slope: [0]]
    ).run(960)[0][0]
    #expect(abs(peak(out) - peak(first)) < 0.05)
  }

  /// A cable may lead to any slope, and to any amplitude of the even partials.
  @Test func itIsAsLoudAtAnySlope() {
    for (slope, even) in [(30, 0), (60, 0), (100, 0), (1e6, 0), (1e6, 1e6), (-1e6, 1e6)] as [(Float, Float)] {
      // A constant, and one that moves.
      for step in [Float(0), 1e-3] {
        let bench = KernelBench(
          Additive.self, Additive.description, outputs: [1],
          [
            Additive.freq: [100], Additive.level: [1], Additive.partials: [64], Additive.slope: [0],
            Additive.even: [100],
          ])
        bench.modulation[Additive.slope] = [(0..<9600).map { slope + Float($0) * step }]
        bench.modulation[Additive.even] = [(0..<9600).map { even + Float($0) * step }]
        let out = bench.run(9600)[0][0].suffix(4800)
        let loudness = (out.map { Double($0) * Double($0) }.reduce(0, +) / 4800).squareRoot()
        #expect(abs(loudness - 0.5.squareRoot()) < 0.01, "\(slope) dB an octave, \(even) %: \(loudness)")
      }
    }
  }

  // MARK: dust

  @Test(arguments: rates) func dustIsAsDenseAsItIsSet(rate: Double) {
    for density in [Float(10), 200, 2000] {
      let seconds = density < 50 ? 60.0 : 10
      let frames = Int(rate * seconds)
      let out = KernelBench(
        Dust.self, Dust.description, outputs: [2], [Dust.density: [density], Dust.level: [1]], rate: rate
      ).run(frames)[0]
      #expect(out[0] != out[1])
      for channel in out {
        let hits = Double(channel.filter { $0 != 0 }.count)
        let expected = Double(density) * seconds
        // Four deviations of a Poisson process.
        #expect(abs(hits - expected) < 4 * expected.squareRoot() + 1, "\(hits) of \(expected)")
        #expect(channel.allSatisfy { $0 >= 0 && $0 <= 1 })
        let mean = channel.map(Double.init).reduce(0, +) / hits
        #expect(abs(mean - 0.5) < 4 * 0.29 / hits.squareRoot())
      }
    }
  }

  @Test func stepsAreHeldBetweenTheImpulses() {
    let settings: [Int: [Float]] = [Dust.density: [500], Dust.level: [1]]
    let impulses = KernelBench(
      Dust.self, Dust.description, outputs: [1], settings.merging([Dust.shape: [1]]) { $1 }
    ).run(48_000)[0][0]
    let steps = KernelBench(
      Dust.self, Dust.description, outputs: [1], settings.merging([Dust.shape: [2]]) { $1 }
    ).run(48_000)[0][0]
    var held: Float = 0
    for frame in impulses.indices {
      if impulses[frame] != 0 { held = impulses[frame] }
      #expect(steps[frame] == held)
    }
    #expect(steps.contains { $0 < 0 } && steps.contains { $0 > 0 })
  }

  @Test func muteSourcesSleep() {
    func sleeps<K: Kernel>(_ type: K.Type, _ description: KindDescription, _ level: Int) {
      let bench = KernelBench(type, description, outputs: [2], [level: [0]])
      #expect(bench.run(6400)[0][0].allSatisfy { $0 == 0 })
      #expect(bench.sleptBlocks > 90, "\(description.name)")
    }
    sleeps(Fm.self, Fm.description, Fm.level)
    sleeps(Supersaw.self, Supersaw.description, Supersaw.level)
    sleeps(Additive.self, Additive.description, Additive.level)
    sleeps(Dust.self, Dust.description, Dust.level)
  }
}

extension SplitTests {
  @Test(arguments: [1, 3, 9], [Float(0), 60, 230]) func fm(channels: Int, feedback: Float) {
    expectSameBits(
      Fm.self, Fm.description, outputs: [channels],
      [Fm.freq: (0..<channels).map { 100 + 37 * Float($0) }, Fm.feedback: [feedback], Fm.level(3): [30]],
      modulation: [Fm.freq: [wobble(300)], Fm.ratio(1): [wobble(1)], Fm.feedback: [wobble(50)]],
      moves: [
        .init(frame: 100, parameter: Fm.algorithm, value: 6, over: 200),
        .init(frame: 201, parameter: Fm.level(1), value: 0, over: 99),
        .init(frame: 700, parameter: Fm.feedback, value: 0, over: 33),
        .init(frame: 905, parameter: Fm.level(1), value: 90, over: 99),
        .init(frame: 950, parameter: Fm.level, value: 0, over: 300),
      ], startingAt: 37)
  }

  @Test(arguments: [1, 3]) func supersaw(channels: Int) {
    expectSameBits(
      Supersaw.self, Supersaw.description, outputs: [channels],
      [Supersaw.freq: (0..<channels).map { 200 * Float(1 + 20 * $0) }],
      modulation: [Supersaw.freq: [wobble(900)]],
      moves: [
        .init(frame: 100, parameter: Supersaw.voices, value: 3, over: 200),
        .init(frame: 201, parameter: Supersaw.detune, value: 300, over: 99),
        .init(frame: 800, parameter: Supersaw.mix, value: 20, over: 99),
        .init(frame: 950, parameter: Supersaw.level, value: 0, over: 300),
      ], startingAt: 37)
  }

  @Test(arguments: [1, 3]) func additive(channels: Int) {
    expectSameBits(
      Additive.self, Additive.description, outputs: [channels],
      [Additive.freq: (0..<channels).map { 200 * Float(1 + 5 * $0) }],
      modulation: [Additive.freq: [wobble(900)], Additive.slope: [wobble(3)]],
      moves: [
        .init(frame: 100, parameter: Additive.partials, value: 40, over: 200),
        .init(frame: 201, parameter: Additive.stretch, value: 300, over: 99),
        .init(frame: 600, parameter: Additive.stretch, value: 0, over: 99),
        .init(frame: 800, parameter: Additive.even, value: 20, over: 99),
        .init(frame: 950, parameter: Additive.level, value: 0, over: 300),
      ], startingAt: 37)
  }

  @Test(arguments: [Float(0), 1, 2]) func dust(shape: Float) {
    expectSameBits(
      Dust.self, Dust.description, outputs: [3], [Dust.shape: [shape], Dust.density: [3000]],
      modulation: [Dust.density: [wobble(20_000)]],
      moves: [
        .init(frame: 100, parameter: Dust.shape, value: 2 - shape, over: 200),
        .init(frame: 905, parameter: Dust.level, value: 0.3, over: 99),
      ], startingAt: 37)
  }
}
