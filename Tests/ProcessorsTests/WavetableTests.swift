import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `wavetable` against the Fourier series of its waves.
struct WavetableTests {
  private func bench(_ values: [Int: [Float]], channels: Int = 1, rate: Double = 48_000)
    -> KernelBench<Wavetable>
  {
    KernelBench(
      Wavetable.self, Wavetable.description, outputs: [channels],
      values.merging([Wavetable.level: [1]]) { own, _ in own }, rate: rate)
  }

  /// Frames of which all cycles of `exact` frequencies are whole.
  private static let frames = 65_536

  /// A frequency near this one whose phase has no rounding: an odd number of cycles in those frames, or a few doublings of it.
  private func exact(_ freq: Double, _ rate: Double) -> Double {
    var (cycles, factor) = (freq * Double(Self.frames) / rate, 1.0)
    while cycles > 1023 { (cycles, factor) = (cycles / 2, factor * 2) }
    return (2 * (cycles / 2).rounded(.down) + 1) * factor * rate / Double(Self.frames)
  }

  /// Power that is in no harmonic, and the largest error of the harmonics below three eighths of the rate, in decibels.
  private func faults(_ bench: KernelBench<Wavetable>, _ freq: Double, _ amplitude: (Int) -> Double) -> (
    alias: Double, error: Double
  ) {
    let out = bench.run(Self.frames)[0][0]
    var power = out.map { Double($0) * Double($0) }.reduce(0, +) / Double(out.count)
    let whole = power
    var (number, most) = (1, 0.0)
    while Double(number) * freq < bench.rate / 2 {
      let found = strength(out, Double(number) * freq, bench.rate)
      power -= found * found / 2
      if Double(number) * freq < 0.374 * bench.rate, number <= 512, amplitude(number) > 1e-4 {
        most = max(most, abs(decibels(found / amplitude(number))))
      }
      number += 1
    }
    return (10 * log10(max(power, 1e-20) / whole), most)
  }

  private func strength(_ out: [Float], _ frequency: Double, _ rate: Double) -> Double {
    amplitude(out[...], frequency, rate: rate)
  }

  /// Saw and narrow pulse: harmonics up to 18 kHz of 48, and nothing that aliases.
  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func wavesHaveTheirHarmonicsAndDoNotAlias(rate: Double)
  {
    for wanted in [23.0, 97, 441, 1009, 1999, 3989, 4999] where wanted < rate / 4 {
      let freq = exact(wanted, rate)
      let saw = bench([Wavetable.freq: [Float(freq)], Wavetable.position: [50]], rate: rate)
      let ofSaw = faults(saw, freq) { 1.6 / (Double.pi * Double($0)) }
      #expect(ofSaw.alias < -90, "saw of \(freq) Hz at \(rate): \(ofSaw.alias) dB")
      #expect(ofSaw.error < 0.1, "saw of \(freq) Hz at \(rate): \(ofSaw.error) dB")
      let pulse = bench([Wavetable.freq: [Float(freq)], Wavetable.position: [100]], rate: rate)
      let ofPulse = faults(pulse, freq) { number in
        let n = Double(number)
        return abs(3.2 / (Double.pi * n) * sin(Double.pi * n * 0.1))
      }
      #expect(ofPulse.alias < -90, "pulse of \(freq) Hz at \(rate): \(ofPulse.alias) dB")
      #expect(ofPulse.error < 0.1, "pulse of \(freq) Hz at \(rate): \(ofPulse.error) dB")
    }
  }

  /// The hardest wave: 512 harmonics that are all alike.
  @Test func anyWaveOfAFileAliasesLittle() {
    var chance = Chance(11)
    let image = image([(0..<512).map { _ in Bool.random(using: &chance) ? 0.01 : -0.01 }])
    defer { image.pointee.free() }
    for wanted in [20.0, 47, 110, 523, 1471, 4999] {
      let freq = exact(wanted, 48_000)
      let bench = bench([Wavetable.freq: [Float(freq)]])
      bench.kernel.use(header(image))
      let found = faults(bench, freq) { _ in 0.01 }
      #expect(found.alias < -90, "\(freq) Hz: \(found.alias) dB")
      #expect(found.error < 0.1, "\(freq) Hz: \(found.error) dB")
    }
  }

  /// Angle of a frequency in some frames, under a bell.
  private func angle(_ out: [Float], _ start: Int, _ frames: Int, _ frequency: Double, _ rate: Double)
    -> Double
  {
    var (re, im) = (0.0, 0.0)
    for frame in 0..<frames {
      let bell = 1 - cos(2 * Double.pi * (Double(frame) + 0.5) / Double(frames))
      let turn = 2 * Double.pi * frequency * Double(start + frame) / rate
      re += Double(out[start + frame]) * bell * cos(turn)
      im -= Double(out[start + frame]) * bell * sin(turn)
    }
    return atan2(im, re)
  }

  @Test func aWavetableIsInTune() {
    var chance = Chance(12)
    for _ in 0..<12 {
      let rate = [8000.0, 44_100, 48_000, 96_000, 192_000].randomElement(using: &chance)!
      let freq = exp(Double.random(in: log(20)...log(rate / 3), using: &chance))
      let bench = bench(
        [Wavetable.freq: [Float(freq)], Wavetable.position: [Float.random(in: 0...100, using: &chance)]],
        rate: rate)
      let length = Int(rate / 4)
      let out = bench.run(4 * length)[0][0]
      let wanted = Double(Float(freq))
      let turned = remainder(
        angle(out, 2 * length, length, wanted, rate) - angle(out, 0, length, wanted, rate), 2 * Double.pi)
      let cents = 1200 * log2(1 + turned / (2 * Double.pi * 0.5) / freq)
      #expect(abs(cents) < 0.1, "\(freq) Hz at \(rate): \(cents) cents")
    }
  }

  /// The sine, moved by a tone of 700 Hz through zero, is that of the summed frequency.
  @Test func theFrequencyMovesAtAudioRate() {
    let bench = bench([Wavetable.freq: [440]])
    let wobble = tone(700, 4000, 900)
    bench.modulation = [Wavetable.freq: [wobble]]
    let out = bench.run(4000)[0][0]
    var (phase, most) = (0.0, 0.0)
    for frame in out.indices {
      most = max(most, abs(Double(out[frame]) - sin(2 * Double.pi * phase)))
      phase += Double(440 + wobble[frame]) / 48_000
    }
    #expect(most < 1e-4, "\(most)")
  }

  /// More channels join one that goes on to the bit.
  @Test func moreVoicesJoinWhatSounds() {
    func run(_ widened: Int?) -> [[Float]] {
      let bench = bench([Wavetable.freq: [Float](repeating: 321, count: 5), Wavetable.position: [60]])
      _ = bench.run(1000)
      if let widened { bench.widen(outputs: [widened]) }
      let out = bench.run(2000)[0]
      #expect(bench.isMemoryIntact)
      return out
    }
    let alone = run(nil)
    for widened in [3, 5] {
      let out = run(widened)
      #expect(out.count == widened && out[0] == alone[0])
      #expect(peak(out[widened - 1]) > 0.5)
    }
  }

  /// Between two waves is their mean, by the place.
  @Test func placesBetweenWavesAreTheirMeans() {
    func run(_ position: Float) -> [Float] {
      bench([Wavetable.freq: [333], Wavetable.position: [position]]).run(2000)[0][0]
    }
    for (first, share) in [(0, Float(0.25)), (1, 0.5), (2, 0.9), (3, 0)] {
      let (a, b) = (run(25 * Float(first)), run(25 * Float(first + 1)))
      let between = run(25 * (Float(first) + share))
      for frame in between.indices {
        let expected: Float = a[frame] + (b[frame] - a[frame]) * share
        #expect(abs(between[frame] - expected) < 2e-6)
      }
    }
  }

  private func image(_ sines: [[Double]]) -> UnsafeMutablePointer<WavetableImage> {
    let image = UnsafeMutablePointer<WavetableImage>.allocate(capacity: 1)
    image.initialize(to: WavetableImage(sines.map { (cosines: [], sines: $0) }))
    return image
  }

  private func header(_ image: UnsafeMutablePointer<WavetableImage>) -> UnsafeMutablePointer<ResourceHeader> {
    UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self)
  }

  /// Files change by crossfade, in any haste, and none is used any more afterwards.
  @Test func filesFadeIntoEachOther() {
    let images = [image([[1]]), image([[0.5, 0.2]]), image([[-1]])]
    defer { images.forEach { $0.pointee.free() } }
    let bench = bench([Wavetable.freq: [100]])
    bench.kernel.use(header(images[0]))
    var out = bench.run(960)[0][0]
    #expect(abs(out[120] - 1) < 1e-4, "the first one is heard at once")
    for next in [1, 2, 0] {
      bench.kernel.use(header(images[next]))
      out += bench.run(100)[0][0]
    }
    out += bench.run(2000)[0][0]
    // A sine of 100 Hz has steps of 0.0131, and the fade from one to its opposite 2 / 480 more.
    #expect(largestStep(out) < 0.02, "\(largestStep(out))")
    #expect(abs(peak(Array(out[2000...])) - 1) < 1e-3)
    bench.kernel.use(nil)
    _ = bench.run(2000)
    #expect(!images.contains { header($0).pointee.isUsed }, "none is used where none is heard")
    // While nothing is heard there is nothing to fade.
    bench.moves = [.init(frame: out.count + 2000, parameter: Wavetable.level, value: 0, over: 100)]
    _ = bench.run(2000)
    bench.kernel.use(header(images[0]))
    bench.kernel.use(header(images[2]))
    #expect(!header(images[0]).pointee.isUsed && header(images[2]).pointee.isUsed)
    bench.kernel.release()
    for image in images { #expect(!header(image).pointee.isUsed) }
  }

  @Test func aMoveThroughAllOctavesDoesNotClick() {
    let bench = bench([Wavetable.freq: [30], Wavetable.position: [25]])
    bench.moves = [.init(frame: 0, parameter: Wavetable.freq, value: 20_000, over: 90_000)]
    let out = bench.run(96_000)[0][0]
    let isTame = out.allSatisfy { $0.magnitude < 1.05 }
    #expect(isTame)
  }
}

extension SplitTests {
  @Test(arguments: [1, 3]) func wavetable(channels: Int) {
    expectSameBits(
      Wavetable.self, Wavetable.description, outputs: [channels],
      [Wavetable.freq: (0..<channels).map { 200 * Float(1 + 40 * $0) }, Wavetable.position: [30]],
      modulation: [Wavetable.freq: [wobble(900)], Wavetable.position: [wobble(40)]],
      moves: [
        .init(frame: 100, parameter: Wavetable.freq, value: 1000, over: 200),
        .init(frame: 905, parameter: Wavetable.level, value: 0, over: 99),
        .init(frame: 1400, parameter: Wavetable.level, value: 1, over: 9),
      ], startingAt: 37)
  }

  /// Blocks in which one table fits all frames, and blocks in which some frames need another.
  @Test(arguments: [1, 3], [Float(0), 30, 50, 100]) func wavetableOfOnePlace(channels: Int, position: Float) {
    var chance = Chance(31)
    let depth = Float.random(in: 20...3000, using: &chance)
    expectSameBits(
      Wavetable.self, Wavetable.description, outputs: [channels],
      [
        Wavetable.freq: (0..<channels).map { _ in Float.random(in: 50...9000, using: &chance) },
        Wavetable.position: [position],
      ],
      frames: 3000, modulation: [Wavetable.freq: [wobble(depth, 3000)]],
      moves: [.init(frame: 2000, parameter: Wavetable.freq, value: 20_000, over: 700)], startingAt: 37)
  }
}
