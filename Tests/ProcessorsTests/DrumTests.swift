import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `drum` against the formulas of its sounds.
struct DrumTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  private func bench(_ gates: [[Float]], _ values: [Int: [Float]], rate: Double = 48_000) -> KernelBench<Drum>
  {
    KernelBench(
      Drum.self, Drum.description, inputs: [gates], outputs: [gates.count],
      values.merging([Drum.level: [1]]) { own, _ in own }, rate: rate)
  }

  private func energy(_ sound: ArraySlice<Float>) -> Double {
    sound.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(sound.count, 1))
  }

  @Test(arguments: rates) func aBassFallsToItsPitchByItsFormula(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<4 {
      let tune = Float.random(in: -12...24, using: &chance)
      let tone = Float.random(in: 0...100, using: &chance)
      let decay = Float.random(in: 20...300, using: &chance)
      let start = Int.random(in: 0...200, using: &chance)
      let frames = Int(rate / 2)
      let strength = Float.random(in: 0.1...1, using: &chance)
      let out = bench(
        [gate(frames, start..<start + 9, level: strength)],
        [Drum.tune: [tune], Drum.tone: [tone], Drum.decay: [decay]], rate: rate
      ).run(frames)[0][0]
      let freq = 50 * pow(2, Double(tune) / 12)
      let time = 0.6 * Double(decay) / 100
      var most = 0.0
      for frame in 0..<frames {
        let t = Double(frame - start) / rate
        guard t >= 0, t < 2 * time else {
          most = max(most, Double(out[frame].magnitude))
          continue
        }
        let fall = (pow(2, 3 * Double(tone) / 100) - 1) * 0.03 * (1 - exp(-t / 0.03))
        let expected = Double(strength) * sin(2 * Double.pi * freq * (t + fall)) * pow(10, -3 * t / time)
        most = max(most, abs(Double(out[frame]) - expected))
      }
      #expect(most < 1e-3, "\(tune) semitones, tone \(tone), decay \(decay): \(most)")
    }
  }

  @Test(arguments: rates) func aSnareWithoutNoiseIsTwoSines(rate: Double) {
    let frames = Int(rate / 5)
    let out = bench(
      [gate(frames, 0..<1)], [Drum.sound: [1], Drum.tone: [0], Drum.tune: [3], Drum.decay: [60]], rate: rate
    ).run(frames)[0][0]
    let pitch = pow(2, 0.25)
    var most = 0.0
    for frame in 0..<frames {
      let t = Double(frame) / rate
      let sines = 0.6 * sin(2 * Double.pi * 185 * pitch * t) + 0.4 * sin(2 * Double.pi * 330 * pitch * t)
      most = max(most, abs(Double(out[frame]) - sines * pow(10, -3 * t / 0.15)))
    }
    #expect(most < 1e-3, "\(most)")
  }

  /// The energy of many strokes, each with a noise of its own, falls by 60 dB in the time that is set.
  @Test(arguments: [(1, 0.25), (2, 0.12), (3, 0.25)], [40, 100, 250])
  func noiseFallsInItsTime(_ kind: (sound: Int, seconds: Double), decay: Int) {
    let time = kind.seconds * Double(decay) / 100
    let frames = Int(48_000 * time)
    let out = bench(
      (0..<64).map { _ in gate(frames + 1600, 0..<1) },
      [Drum.sound: [Float(kind.sound)], Drum.tone: [100], Drum.decay: [Float(decay)]]
    ).run(frames + 1600)[0]
    func level(_ from: Double, _ end: Double) -> Double {
      let skipped = kind.sound == 3 ? 1440 : 0
      let range = skipped + Int(from * Double(frames))..<skipped + Int(end * Double(frames))
      return 10 * log10(out.map { energy($0[range]) }.reduce(0, +))
    }
    // From one eighth to the next 7.5 dB; the first has the beginning of the filters.
    let fallen = level(0.125, 0.25) - level(0.75, 0.875)
    #expect(abs(fallen / 37.5 - 1) < 0.05, "\(fallen) dB in five eighths of the time")
    #expect(out[0] != out[1], "channels have noise of their own")
  }

  /// At 0 dB the highest peak of a stroke is full scale, or up to 3 dB less, of a hat 6 dB.
  @Test(arguments: rates) func thePeakIsWhatLevelSays(rate: Double) {
    for sound in 0..<4 {
      for tone: Float in [0, 50, 100] {
        let gates = (0..<32).map { _ in gate(Int(rate / 2), 0..<1) }
        let out = bench(gates, [Drum.sound: [Float(sound)], Drum.tone: [tone]], rate: rate)
          .run(gates[0].count)[0]
        let peaks = out.map { peak($0) }
        #expect(peaks.max()! <= 1, "sound \(sound), tone \(tone)")
        // At low rates there is little that a hat lets pass, and a snare has fewer frames for its sines to meet in.
        if rate > 40_000 || sound == 0 || sound == 3 {
          #expect(
            peaks.sorted()[16] > (sound == 2 ? 0.5 : 0.7),
            "sound \(sound), tone \(tone): \(peaks.sorted()[16])")
        }
      }
    }
  }

  /// Below half the lowest frequency that a hat lets pass there is next to nothing, and above it most.
  @Test func aHatIsHigh() {
    let out = bench((0..<16).map { _ in gate(4096, 0..<1) }, [Drum.sound: [2], Drum.tone: [0]]).run(4096)[0]
    func level(_ range: [Double]) -> Double {
      var sum = 0.0
      for sound in out { for frequency in range { sum += pow(response(sound, frequency), 2) } }
      return 10 * log10(sum / Double(range.count))
    }
    let high = level((0..<40).map { 8000 + 300 * Double($0) })
    let low = level((0..<40).map { 500 + 20 * Double($0) })
    let middle = level((0..<40).map { 3900 + 5 * Double($0) })
    #expect(high - low > 35, "\(high - low)")
    #expect(abs(high - middle - 6) < 2, "6 dB less at its corner: \(high - middle)")
  }

  @Test(arguments: rates) func aClapHasFourBursts(rate: Double) {
    let frames = Int(rate / 4)
    let out = bench((0..<48).map { _ in gate(frames, 0..<1) }, [Drum.sound: [3]], rate: rate).run(frames)[0]
    func level(_ from: Double, _ end: Double) -> Double {
      10 * log10(out.map { energy($0[Int(from * rate)..<Int(end * rate)]) }.reduce(0, +))
    }
    for burst in 0..<3 {
      let start = 0.01 * Double(burst)
      #expect(level(start + 0.0015, start + 0.003) - level(start + 0.0085, start + 0.01) > 12)
      #expect(level(start + 0.0115, start + 0.013) - level(start + 0.0085, start + 0.01) > 12)
    }
    #expect(abs(level(0.0315, 0.033) - level(0.0385, 0.04)) < 4, "the fourth lasts")
  }

  /// A stroke changes nothing of the one before it but that this fades out, and what is set holds for the next one.
  @Test func strokesFollowWithoutAStepAndSettingsHoldForTheNext() {
    let settings: [Int: [Float]] = [Drum.tone: [0], Drum.decay: [1000], Drum.tune: [12]]
    let one = bench([gate(9600, 100..<200)], settings).run(9600)[0][0]
    let other = bench([gate(9600, 100..<200)], settings)
    other.moves = [
      .init(frame: 300, parameter: Drum.sound, value: 2, over: 0),
      .init(frame: 320, parameter: Drum.tune, value: 30, over: 100),
    ]
    #expect(other.run(9600)[0][0] == one)
    // A sine of 100 Hz has steps of 0.0131; two overlap, and the fade adds 1.5 / 240.
    let gates = gate(9600, 100..<200, 1930..<1940, 2500..<2501, 2610..<2640, 2660..<2670)
    let out = bench([gates], settings).run(9600)[0][0]
    #expect(Array(out[..<1930]) == Array(one[..<1930]))
    #expect(largestStep(out) < 0.05, "\(largestStep(out))")
    // 50 frames after another one is none: the last is that of frame 2610.
    let last = bench([gate(9600, 2610..<2700)], settings).run(9600)[0][0]
    #expect(Array(out[2900...]) == Array(last[2900...]))
  }

  @Test func aDrumSleepsAndMoreChannelsJoin() {
    let bench = bench([gate(48_000, 100..<200)], [Drum.sound: [2]])
    let out = bench.run(48_000)[0][0]
    #expect(bench.sleptBlocks > 500 && peak(Array(out[24_000...])) == 0)
    func run(_ widened: Bool) -> [Float] {
      let bench = self.bench([gate(9000, 100..<200)], [Drum.sound: [3]])
      var out = bench.run(1500)[0][0]
      if widened { bench.widen((0..<3).map { _ in gate(9000, 100..<200, 4000..<4100) }, outputs: 3) }
      out += bench.run(2400)[0][0]
      #expect(bench.isMemoryIntact)
      return out
    }
    #expect(run(true) == run(false))
  }

  /// A stroke that sounds goes on with its pitch.
  @Test func anotherRateKeepsThePitch() {
    let bench = bench([gate(200_000, 0..<100)], [Drum.tune: [24], Drum.decay: [1000], Drum.tone: [0]])
    _ = bench.run(4800)
    bench.retune(to: 96_000)
    let out = bench.run(96_000)[0][0]
    let there = amplitude(out[...], 200, rate: 96_000)
    #expect(there > 20 * amplitude(out[...], 206, rate: 96_000))
    #expect(there > 20 * amplitude(out[...], 194, rate: 96_000))
  }
}

extension SplitTests {
  @Test(arguments: 0..<4) func drum(sound: Int) {
    var chance = Chance(UInt64(40 + sound))
    let gates = (0..<3).map { _ in chance.gate(1500, longest: 250) }
    expectSameBits(
      Drum.self, Drum.description, inputs: [gates], outputs: [3],
      [Drum.sound: [Float(sound)], Drum.decay: [10, 40, 100]],
      modulation: [Drum.tune: [wobble(10)], Drum.tone: [wobble(40)]],
      moves: [
        .init(frame: 300, parameter: Drum.sound, value: Float((sound + 1) % 4), over: 0),
        .init(frame: 905, parameter: Drum.level, value: 0, over: 99),
        .init(frame: 1100, parameter: Drum.level, value: 1, over: 9),
      ], startingAt: 37)
  }
}
