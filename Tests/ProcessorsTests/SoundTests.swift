import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Sound of each kind against its formula.
struct SoundTests {
  /// One second and a little more of one oscillator.
  func wave(_ shape: Float, _ freq: Float, level: Float = 1, rate: Double = 48000) -> [Float] {
    let bench = KernelBench(
      Oscillator.self, Oscillator.description, outputs: [1],
      [Oscillator.shape: [shape], Oscillator.freq: [freq], Oscillator.level: [level]], rate: rate)
    return bench.run(48000)[0][0]
  }

  @Test func gainMultipliesEachChannelByItsOwn() {
    var chance = Chance(1)
    let signals = [chance.signal(200), chance.signal(200)]
    let bench = KernelBench(
      Gain.self, Gain.description, inputs: [signals], outputs: [2], [Gain.gain: [0.5, 0.25]])
    let out = bench.run(200)[0]
    #expect(out[0] == signals[0].map { $0 * 0.5 })
    #expect(out[1] == signals[1].map { $0 * 0.25 })
  }

  @Test func aGainFollowsItsRampToTheBit() {
    let bench = KernelBench(
      Gain.self, Gain.description, inputs: [[[Float](repeating: 1, count: 600)]], outputs: [1],
      [Gain.gain: [1]])
    bench.moves = [.init(frame: 33, parameter: Gain.gain, value: 0.25, over: 480)]
    var ramp = Ramp(1)
    var expected = [Float](repeating: 1, count: 33)
    ramp.move(to: 0.25, over: 480)
    for _ in 33..<600 {
      expected.append(ramp.value)
      ramp.skip(1)
    }
    let out = bench.run(600)[0][0]
    for frame in 0..<600 { #expect((out[frame] - expected[frame]).magnitude < 1e-6) }
  }

  @Test(arguments: [-1.0, -0.5, 0, 0.3, 1]) func monoPansWithEqualPower(pan: Double) {
    let bench = KernelBench(
      Pan.self, Pan.description, inputs: [[[Float](repeating: 1, count: 64)]], outputs: [2],
      [Pan.pan: [Float(pan)]])
    let out = bench.run(64)[0]
    let angle = (pan + 1) * .pi / 4
    #expect(abs(Double(out[0][5]) - cos(angle)) < 1e-6)
    #expect(abs(Double(out[1][5]) - sin(angle)) < 1e-6)
  }

  @Test func stereoIsBalancedAndUntouchedInTheMiddle() {
    var chance = Chance(2)
    let signals = [chance.signal(64), chance.signal(64)]
    for (pan, left, right) in [(Float(0), 1.0, 1.0), (1, 0, 1), (-0.5, 1, cos(.pi / 4))] {
      let bench = KernelBench(
        Pan.self, Pan.description, inputs: [signals], outputs: [2], [Pan.pan: [pan]])
      let out = bench.run(64)[0]
      for frame in 0..<64 {
        #expect(abs(Double(out[0][frame]) - left * Double(signals[0][frame])) < 1e-6)
        #expect(abs(Double(out[1][frame]) - right * Double(signals[1][frame])) < 1e-6)
      }
    }
  }

  // MARK: Oscillator

  @Test func aSineIsPureAndInTune() {
    let out = wave(0, 1000)
    #expect(abs(decibels(amplitude(out[...], 1000))) < 0.001)
    for harmonic in 2...20 {
      #expect(decibels(amplitude(out[...], 1000 * Double(harmonic))) < -125)
    }
    // In phase after a whole second: the frequency is exact to half a unit of 2^-32 cycles per frame.
    for frame in 0..<100 {
      #expect(abs(Double(out[47_900 + frame]) - sin(2 * .pi * Double(47_900 + frame) / 48)) < 5e-5)
    }
  }

  /// Amplitude of harmonic `k` of the ideal wave.
  func textbook(_ shape: Float, _ k: Int) -> Double {
    let k = Double(k)
    // The overshoot of band-limited steps is within the peak.
    if shape == 1 { return 2 / (.pi * k) / 1.1557 }
    if k.truncatingRemainder(dividingBy: 2) == 0 { return 0 }
    return shape == 2 ? 4 / (.pi * k) / 1.1557 : 8 / (.pi * .pi * k * k)
  }

  @Test(arguments: [Float(1), 2, 3]) func harmonicsHaveTheirTextbookLevels(shape: Float) {
    let out = wave(shape, 441)
    for k in 1...18 {
      let measured = amplitude(out[...], 441 * Double(k))
      let expected = textbook(shape, k)
      if expected == 0 {
        #expect(decibels(measured) < -90, "harmonic \(k)")
      } else {
        // Within 0.3 dB up to 8 kHz.
        #expect(abs(decibels(measured / expected)) < 0.3, "harmonic \(k)")
      }
    }
  }

  /// Strongest inharmonic component up to `highest`, relative to the fundamental.
  func aliasing(_ signal: [Float], _ freq: Int, upTo highest: Int) -> Double {
    let fundamental = amplitude(signal[...], Double(freq))
    var worst = 0.0
    // An integer frequency has its aliases at integer frequencies. Checks those of the first 60 harmonics
    // above the Nyquist frequency.
    for k in 24_000 / freq + 1..<24_000 / freq + 61 {
      let folded = k * freq % 48_000
      let alias = folded > 24_000 ? 48_000 - folded : folded
      if alias == 0 || alias > highest || alias % freq == 0 { continue }
      worst = max(worst, amplitude(signal[...], Double(alias)))
    }
    return decibels(worst / fundamental)
  }

  @Test func aliasesOfASawLieFarBelowTheNaiveOnes() {
    for freq in [1247, 2503, 4999] {
      let naive = (0..<48_000).map { Float(2 * (Double($0 * freq % 48_000) / 48_000) - 1) }
      let ours = wave(1, Float(freq))
      let bad = aliasing(naive, freq, upTo: 8_000)
      let good = aliasing(ours, freq, upTo: 8_000)
      #expect(good < -75)
      #expect(good < bad - 50)
    }
  }

  @Test(arguments: [Float(1), 2, 3])
  func aliasesBelowSixteenKilohertzAreInaudibleAndTheTopIsBright(shape: Float) {
    for freq in [997, 1247, 2503, 3989, 4201, 4999, 7001] {
      let out = wave(shape, Float(freq))
      let found = aliasing(out, freq, upTo: 16_000)
      #expect(found < (freq < 2000 ? -92 : -94), "\(freq) Hz: \(found) dB")
      // The highest odd harmonic up to 18 kHz.
      let top = (18_000 / freq - 1) / 2 * 2 + 1
      let droop = decibels(amplitude(out[...], Double(freq * top)) / textbook(shape, top))
      #expect(abs(droop) < 0.5, "harmonic \(top) of \(freq) Hz: \(droop) dB")
    }
  }

  @Test(arguments: [Float(1), 2, 3]) func thePeakOfAWaveIsItsLevel(shape: Float) {
    for freq in [Float(55), 110, 441] {
      let found = peak(wave(shape, freq))
      #expect(abs(decibels(Double(found))) < 0.4, "\(freq) Hz: \(found)")
    }
  }

  /// Rounded corners become a sum of harmonics where corners come closer than twelve frames.
  @Test(arguments: [(Float(1), Float(4000)), (2, 2000), (3, 2000)])
  func roundedCornersAndSumsOfHarmonicsAreTheSameWave(shape: Float, border: Float) {
    let (below, above) = (wave(shape, border - 0.001), wave(shape, border + 0.001))
    let step = (0..<48).map { abs(below[$0] - above[$0]) }.max() ?? 1
    #expect(decibels(Double(step)) < -75)
  }

  @Test func aliasesOfSquareAndTriangleAreLow() {
    for freq in [1247, 2503] {
      #expect(aliasing(wave(2, Float(freq)), freq, upTo: 8_000) < -70)
      #expect(aliasing(wave(3, Float(freq)), freq, upTo: 8_000) < -80)
    }
  }

  @Test(arguments: [Float(0), 1, 2, 3])
  func anOscillatorAboveHalfTheRateIsSilent(shape: Float) {
    for (freq, rate) in [(24_000, 48_000), (23_000, 44_100), (22_050, 44_100), (5_000, 8_000)] {
      #expect(peak(wave(shape, Float(freq), rate: Double(rate))) == 0, "\(freq) Hz at \(rate)")
    }
    #expect(peak(wave(shape, 20_000, rate: 44_100)) > 0.2)
    // Any distance beyond, and negative frequencies.
    for freq in [Float(30_000), 47_900, 48_100, 1e6, 1e20, -24_000, -48_100, -1e6] {
      let bench = KernelBench(
        Oscillator.self, Oscillator.description, outputs: [1],
        [Oscillator.shape: [shape], Oscillator.freq: [0], Oscillator.level: [1]])
      bench.modulation[Oscillator.freq] = [[Float](repeating: freq, count: 4800)]
      #expect(peak(bench.run(4800)[0][0]) == 0, "\(freq) Hz")
    }
  }

  /// The signal below 12 kHz, by a windowed-sinc low-pass.
  private func low(_ signal: [Float]) -> [Float] {
    let taps = (-100...100).map { n in
      let x = Double(n) * 0.5
      let sinc = n == 0 ? 0.5 : sin(.pi * x) / (.pi * Double(n))
      let t = Double(n + 100) / 200
      return Float(sinc * (0.42 - 0.5 * cos(2 * .pi * t) + 0.08 * cos(4 * .pi * t)))
    }
    return (200..<signal.count).map { frame in
      taps.indices.reduce(0) { $0 + taps[$1] * signal[frame - $1] }
    }
  }

  @Test(arguments: [Float(0), 1, 2, 3])
  func aFrequencyThatGoesThroughHalfTheRateAndBackLeavesAndComesWithoutAClick(shape: Float) {
    for over in [480, 4800] {
      let bench = KernelBench(
        Oscillator.self, Oscillator.description, outputs: [1],
        [Oscillator.shape: [shape], Oscillator.freq: [21_000], Oscillator.level: [1]])
      bench.moves = [
        .init(frame: 1000, parameter: Oscillator.freq, value: 27_000, over: over),
        .init(frame: 10_000, parameter: Oscillator.freq, value: 21_000, over: over),
      ]
      let out = bench.run(20_000)[0][0]
      #expect(peak(Array(out[6000..<9000])) == 0)
      #expect(peak(Array(out[16_000...])) > 0.3)
      // Corners leave aliases of their own up here, even at a steady frequency.
      guard shape == 0 || shape == 3 else { continue }
      let residue = decibels(Double(peak(Array(low(out).dropFirst(200)))))
      #expect(residue < -60, "over \(over): \(residue) dB")
    }
  }

  /// A tenth of a second of a wave at a frequency that comes by a cable: it may be below zero or above half the rate.
  private func modulatedWave(_ shape: Float, _ freq: Float) -> [Float] {
    let bench = KernelBench(
      Oscillator.self, Oscillator.description, outputs: [1],
      [Oscillator.shape: [shape], Oscillator.freq: [0], Oscillator.level: [1]])
    bench.modulation[Oscillator.freq] = [[Float](repeating: freq, count: 4800)]
    return bench.run(4800)[0][0]
  }

  /// Corners leave aliases this high up at any steady frequency: a sweep leaves no more than these.
  @Test(arguments: [Float(1), 2])
  func cornersThatGoThroughHalfTheRateAndBackAddNothing(shape: Float) {
    func residue(_ signal: [Float]) -> Double {
      decibels(Double(peak(Array(low(signal).dropFirst(200).dropLast(200)))))
    }
    let loudest =
      stride(from: Float(21_000), to: 24_000, by: 100).map { residue(modulatedWave(shape, $0)) }.max() ?? 0
    for over in [240, 480, 4800, 24_000] {
      let bench = KernelBench(
        Oscillator.self, Oscillator.description, outputs: [1],
        [Oscillator.shape: [shape], Oscillator.freq: [21_000], Oscillator.level: [1]])
      let back = 2000 + over + 1000
      bench.moves = [
        .init(frame: 2000, parameter: Oscillator.freq, value: 27_000, over: over),
        .init(frame: back, parameter: Oscillator.freq, value: 21_000, over: over),
      ]
      let out = bench.run(back + over + 2000)[0][0]
      let found = residue(out)
      #expect(found < max(loudest + 0.5, -60), "over \(over): \(found) dB, steady \(loudest) dB")
      // It leaves and comes through next to nothing.
      let silent = out.indices.filter {
        // A single frame of a sounding wave may be zero too.
        $0 > 2000 && $0 < out.count - 500 && out[$0] == 0 && out[$0 - 1] == 0
      }
      guard let first = silent.first, let last = silent.last else {
        Issue.record("over \(over): never silent")
        continue
      }
      #expect(last - first >= 999 && out[first...last].allSatisfy { $0 == 0 })
      #expect(peak(Array(out[first - 3..<first] + out[last + 1...last + 3])) < 0.004, "over \(over)")
    }
  }

  @Test(arguments: [Float(0), 1, 2, 3])
  func aFrequencyBelowZeroRunsTheWaveBackwards(shape: Float) {
    let (up, down) = (modulatedWave(shape, 1000), modulatedWave(shape, -1000))
    // One cycle is 48 frames: the wave at -n equals the one at 48 - n.
    for frame in 48..<4752 {
      let other = up[frame / 48 * 48 + (48 - frame % 48) % 48]
      #expect(abs(down[frame] - other) < 1e-4, "frame \(frame)")
    }
  }

  @Test func veryHighWavesStayWithinBounds() {
    for shape in [Float(1), 2, 3] {
      for freq in [Float(9_000), 13_000, 23_999] { #expect(peak(wave(shape, freq)) < 2) }
    }
  }

  @Test func thePhaseGoesOnWhileTheLevelIsZero() {
    let steady = KernelBench(
      Oscillator.self, Oscillator.description, outputs: [1], [Oscillator.level: [1]])
    let muted = KernelBench(
      Oscillator.self, Oscillator.description, outputs: [1], [Oscillator.level: [1]])
    muted.moves = [
      .init(frame: 64, parameter: Oscillator.level, value: 0, over: 0),
      .init(frame: 6400, parameter: Oscillator.level, value: 1, over: 0),
    ]
    let expected = steady.run(8000)[0][0]
    let out = muted.run(8000)[0][0]
    #expect(muted.sleptBlocks > 50)
    #expect(out[100..<6400].allSatisfy { $0 == 0 })
    #expect(out[6400...] == expected[6400...])
  }

  @Test func anotherFrequencyAndAnotherRateGoOnInPhase() {
    let bench = KernelBench(
      Oscillator.self, Oscillator.description, outputs: [1], [Oscillator.freq: [440], Oscillator.level: [1]])
    bench.moves = [.init(frame: 640, parameter: Oscillator.freq, value: 880, over: 0)]
    let before = bench.run(1024)[0][0]
    // The steepest step of a sine of 880 Hz.
    let steepest = Float(2 * Double.pi * 880 / 48_000)
    #expect(largestStep(before) < 1.01 * steepest)
    bench.retune(to: 96_000)
    let after = bench.run(1024)[0][0]
    #expect(abs(after[0] - before[1023]) < 1.01 * steepest)
  }

  @Test func aRateKeepsThePitch() {
    for rate in [44_100.0, 96_000, 192_000] {
      let out = wave(0, 1000, rate: rate)
      let whole = Int(rate / 1000) * 40
      #expect(abs(decibels(amplitude(out[0..<whole * 10 / 10], 1000, rate: rate))) < 0.2)
    }
  }

  // MARK: Noise

  @Test func whiteNoiseIsFlatAndPinkFallsByThreeDecibelsAnOctave() {
    func bands(_ color: Float) -> [Double] {
      let bench = KernelBench(
        Noise.self, Noise.description, outputs: [1], [Noise.color: [color], Noise.level: [1]])
      let out = bench.run(48_000)[0][0]
      return [125, 250, 500, 1000, 2000, 4000, 8000].map { low in
        // Mean power density of the octave, from 40 frequencies.
        var power = 0.0
        for index in 0..<40 {
          let a = amplitude(out[...], low * (1 + Double(index) / 40))
          power += a * a
        }
        return 10 * log10(power)
      }
    }
    let white = bands(0)
    let pink = bands(1)
    // Over six octaves the slope stands out from the randomness.
    #expect(abs((pink[6] - pink[0]) + 18) < 2)
    #expect(abs(white[6] - white[0]) < 2)
  }

  @Test(arguments: [44_100.0, 48_000, 96_000, 192_000])
  func pinkNoiseFallsByThreeDecibelsAnOctaveFromTwentyHertzToTwentyKilohertz(rate: Double) {
    let count = 1 << 17
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 64)
    defer { memory.deallocate() }
    var arena = Arena(memory)
    let pink = PinkFilter(&arena)
    pink.prepare()
    var input = [Float](repeating: 0, count: count)
    var output = input
    input[0] = 1
    input.withUnsafeMutableBufferPointer { x in
      output.withUnsafeMutableBufferPointer { y in
        _ = pink.filter(x.baseAddress!, y.baseAddress!, count, .zero)
      }
    }
    let levels = [20.0, 50, 200, 1000, 5000, 10_000, 16_000, 20_000].map {
      decibels(response(output, $0, rate: rate)) + 10 * log10($0)
    }
    let spread = levels.max()! - levels.min()!
    #expect(spread < 0.15, "\(rate) Hz: \(spread) dB")
  }

  @Test func noiseOfEachChannelAndNodeIsItsOwn() {
    let a = KernelBench(Noise.self, Noise.description, outputs: [2], [Noise.level: [1]], seed: 1)
    let b = KernelBench(Noise.self, Noise.description, outputs: [2], [Noise.level: [1]], seed: 2)
    let x = a.run(20_000)[0]
    let y = b.run(20_000)[0]
    for (p, q) in [(x[0], x[1]), (x[0], y[0]), (x[1], y[0])] {
      let correlation = zip(p, q).map { Double($0) * Double($1) }.reduce(0, +) / 20_000
      #expect(abs(correlation) < 0.01)
    }
    let mean = x[0].map(Double.init).reduce(0, +) / 20_000
    #expect(abs(mean) < 0.02)
    #expect(peak(x[0]) <= 1)
    #expect(peak(x[0]) > 0.99)
  }
}
