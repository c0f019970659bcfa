import Glibc
import Patch
import Realtime
import TestSupport
import Testing

@testable import Processors

/// A number of the complex plane, for responses.
struct Complex {
  var re: Double
  var im: Double
  init(_ re: Double, _ im: Double = 0) { (self.re, self.im) = (re, im) }
  var size: Double { hypot(re, im) }
  static func + (a: Self, b: Self) -> Self { Self(a.re + b.re, a.im + b.im) }
  static func - (a: Self, b: Self) -> Self { Self(a.re - b.re, a.im - b.im) }
  static func * (a: Self, b: Self) -> Self { Self(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re) }
  static func / (a: Self, b: Self) -> Self {
    let s = b.re * b.re + b.im * b.im
    return Self((a.re * b.re + a.im * b.im) / s, (a.im * b.re - a.re * b.im) / s)
  }
  static func * (a: Double, b: Self) -> Self { Self(a * b.re, a * b.im) }
}

/// Sine of so many hertz.
func tone(_ frequency: Double, _ frames: Int, rate: Double = 48_000, _ peak: Double = 1) -> [Float] {
  (0..<frames).map { (frame: Int) -> Float in
    Float(peak * sin(2 * Double.pi * frequency * Double(frame) / rate))
  }
}

/// Kinds whose channels are calculated side by side, against their formulas: `ladder`, `svf`, `crossover`, `freqshift`.
struct LaneTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  /// Place on the analogue frequency axis, where the corner is at 1j.
  private func place(_ f: Double, _ corner: Double, _ rate: Double) -> Complex {
    Complex(0, tan(Double.pi * f / rate) / tan(Double.pi * corner / rate))
  }

  private func ladder(_ values: [Int: [Float]], _ input: [[Float]], rate: Double = 48_000)
    -> KernelBench<Ladder>
  {
    KernelBench(
      Ladder.self, Ladder.description, inputs: [input], outputs: [input.count], values, rate: rate)
  }

  @Test(arguments: rates) func aLadderHasTheResponseOfItsModel(rate: Double) {
    var chance = Chance(UInt64(rate))
    for type in 0..<4 {
      for _ in 0..<3 {
        let corner = 0.35 * rate * pow(0.01, Double.random(in: 0...1, using: &chance))
        let k = 0.04 * Double.random(in: 0...90, using: &chance)
        let bass = Double.random(in: 0...1, using: &chance)
        let bench = ladder(
          [
            Ladder.type: [Float(type)], Ladder.freq: [Float(corner)], Ladder.resonance: [Float(k / 0.04)],
            Ladder.bass: [Float(100 * bass)],
          ], [impulse(30_000).map { $0 * 0.001 }], rate: rate)
        let out = bench.run(30_000)[0][0].map { $0 * 1000 }
        for step in 0..<24 {
          let f = 0.4 * rate * pow(0.005, Double(step) / 23)
          let l = Complex(1) / (Complex(1) + place(f, corner, 2 * rate))
          let h = Complex(1) - l
          let two = l * l
          let shape = [two * two, two, 4 * (two * (h * h)), h * h * (h * h)][type]
          let expected = (Complex(1 + bass * k) * shape / (Complex(1) + k * (two * two))).size
          guard expected > 0.003 else { continue }
          let error = decibels(response(out, f, rate: rate) / expected)
          #expect(abs(error) < 0.05, "type \(type), \(corner) Hz, k \(k), at \(f) Hz: \(error) dB")
        }
      }
    }
  }

  /// Mean frequency of a wave from its crossings of zero upwards.
  private func frequency(_ signal: ArraySlice<Float>, _ rate: Double) -> Double {
    var places: [Double] = []
    for frame in signal.indices.dropFirst() where signal[frame - 1] < 0 && signal[frame] >= 0 {
      let (a, b) = (Double(signal[frame - 1]), Double(signal[frame]))
      places.append(Double(frame) - b / (b - a))
    }
    guard places.count > 2 else { return 0 }
    return rate * Double(places.count - 1) / (places[places.count - 1] - places[0])
  }

  /// From silence, without an input.
  @Test(arguments: rates) func aLadderSingsInTune(rate: Double) {
    for freq in [110.0, 440, 1567.98, 3000, 7000, 15_000] where freq < 0.4 * rate {
      let out = ladder([Ladder.freq: [Float(freq)], Ladder.resonance: [110]], [[]], rate: rate)
        .run(Int(1.6 * rate))[0][0]
      let end = out[Int(1.1 * rate)...]
      let cents = 1200 * log2(frequency(end, rate) / freq)
      #expect(abs(cents) < 1, "\(freq) Hz at \(rate): \(cents) cents")
      let loudest = end.map(\.magnitude).max()!
      #expect(loudest > 0.1 && loudest < 0.5, "\(freq) Hz at \(rate): \(loudest)")
    }
  }

  /// What is no multiple of a tone's frequency.
  @Test(
    arguments: [
      (500, 24, 20), (1237, 24, 20), (2500, 24, 20), (5000, 6, 20), (3300, 12, 90), (5000, 6, 90),
    ] as [(Double, Double, Float)])
  func whatALadderSaturatesAliasesLittle(freq: Double, drive: Double, resonance: Float) {
    let whole = (freq / 5).rounded() * 5
    let out = ladder(
      [Ladder.freq: [15_000], Ladder.resonance: [resonance], Ladder.drive: [linear(drive)]],
      [tone(whole, 48_000, 0.5)]
    ).run(48_000)[0][0]
    let end = out[(48_000 - 9600)...]
    var most = 0.0
    for f in stride(from: 5.0, to: 20_000, by: 5)
    where abs(f / whole - (f / whole).rounded()) * whole > 12 {
      most = max(most, amplitude(end, f))
    }
    let level = decibels(most / amplitude(end, whole))
    #expect(level < (resonance > 20 ? -85 : -55), "\(whole) Hz: \(level) dB")
  }

  @Test func aLadderFallsSilentAndRecovers() {
    var chance = Chance(3)
    let sound = chance.signal(2000)
    let bench = ladder([Ladder.resonance: [80]], [sound])
    _ = bench.run(48_000)
    #expect(bench.sleptBlocks > 100)
    let still = ladder([Ladder.resonance: [105]], [sound])
    _ = still.run(48_000)
    #expect(still.sleptBlocks == 0, "one that sings does not sleep")
    for wrong in [Float.nan, .infinity, 1e30] {
      var input = chance.signal(24_000)
      input[1000] = wrong
      let out = ladder([:], [input]).run(24_000)[0][0]
      #expect(out[20_000...].allSatisfy { $0.isFinite && $0.magnitude < 2 }, "after \(wrong)")
    }
  }

  private func svf(_ values: [Int: [Float]], _ input: [[Float]], rate: Double = 48_000) -> KernelBench<Svf> {
    KernelBench(
      Svf.self, Svf.description, inputs: [input], outputs: [Int](repeating: input.count, count: 4), values,
      rate: rate)
  }

  /// With the saturation too, where sound is too quiet for it.
  @Test(arguments: rates, [Float(0), 1]) func allOutputsOfAStateVariableFilterAreTheirModels(
    rate: Double, saturate: Float
  ) {
    var chance = Chance(UInt64(rate))
    let quiet: Float = saturate == 0 ? 1 : 0.001
    let over = saturate == 0 ? rate : 2 * rate
    for _ in 0..<5 {
      let corner = 0.35 * rate * pow(0.01, Double.random(in: 0...1, using: &chance))
      let q = Double.random(in: 0.3...8, using: &chance)
      let out = svf(
        [Svf.freq: [Float(corner)], Svf.q: [Float(q)], Svf.saturate: [saturate]],
        [impulse(30_000).map { $0 * quiet }], rate: rate
      ).run(30_000).map { $0[0].map { $0 / quiet } }
      for step in 0..<24 {
        let f = 0.4 * rate * pow(0.005, Double(step) / 23)
        let s = place(f, corner, over)
        let below = s * s + (1 / q) * s + Complex(1)
        let models = [Complex(1), (1 / q) * s, s * s, s * s + Complex(1)]
        for (index, model) in models.enumerated() {
          let expected = (model / below).size
          guard expected > 0.01 else { continue }
          let error = decibels(response(out[index], f, rate: rate) / expected)
          #expect(abs(error) < 0.05, "output \(index), \(corner) Hz, q \(q), at \(f) Hz: \(error) dB")
        }
      }
    }
  }

  @Test func aSaturatedFilterStaysBoundedAndRecovers() {
    var chance = Chance(4)
    for wrong in [Float.nan, 1e30, 1000] {
      var input = chance.signal(24_000, 20)
      input[1000] = wrong
      for saturate in [Float(0), 1] {
        let out = svf([Svf.saturate: [saturate], Svf.q: [30], Svf.drive: [4]], [input]).run(24_000)
        for port in out { #expect(port[0][20_000...].allSatisfy { $0.isFinite && $0.magnitude < 4000 }) }
        // Within 1 before the filter; its resonance is held too.
        if saturate == 1 { #expect(out.allSatisfy { peak(Array($0[0][20_000...])) < 8 }) }
      }
    }
  }

  /// Noise, or a square of any period.
  private func restless(_ count: Int, _ peak: Float, _ chance: inout Chance) -> [Float] {
    if Bool.random(using: &chance) { return chance.signal(count, peak) }
    let half = Int.random(in: 1...400, using: &chance)
    return (0..<count).map { (frame: Int) -> Float in frame / half % 2 == 0 ? peak : -peak }
  }

  /// However loud the sound is, and however frequency and resonance are moved: nothing runs away, and behind the sound there
  /// is soon nothing left.
  @Test(arguments: searchSeeds(1...12))
  func aSaturatedFilterStaysBoundedHoweverItIsMoved(seed: UInt64) {
    print("seed \(seed)")
    var chance = Chance(seed)
    for number in 0..<8 {
      let rate = [22_050.0, 44_100, 48_000, 96_000, 192_000].randomElement(using: &chance)!
      let least: Float = number % 2 == 0 ? 8000 : 1500
      let freq = Float.random(in: least...22_000, using: &chance)
      let q = number % 4 < 2 ? 100 : Float(0.1 * pow(900, Double.random(in: 0...1, using: &chance)))
      let (sounding, all) = (Int(rate * 0.1), Int(rate * 0.8))
      let sound = restless(sounding, number % 3 == 0 ? 1 : 10, &chance)
      let bench = svf(
        [
          Svf.freq: [freq], Svf.q: [q], Svf.saturate: [1],
          Svf.drive: [linear(Double.random(in: 0...48, using: &chance))],
        ], [sound], rate: rate)
      // While the sound is there, or for good.
      let moved = Bool.random(using: &chance) ? sounding : all
      var lowest = q
      if number % 3 > 0 { bench.modulation[Svf.freq] = [restless(moved, 0.5 * freq, &chance)] }
      if number % 5 > 2 {
        let depth = q - max(0.1, q * Float.random(in: 0...1, using: &chance))
        bench.modulation[Svf.q] = [restless(moved, depth, &chance).map { min($0, 0) }]
        lowest -= depth
      }
      let name = "\(freq) Hz, q \(q) to \(lowest), at \(rate) Hz"
      for (port, out) in bench.run(all).enumerated() {
        let (most, end) = (peak(out[0]), peak(Array(out[0].suffix(1000))))
        #expect(most < (port == 0 ? 4 : 4 + 4 / lowest), "output \(port), \(name): \(most)")
        #expect(end < 1e-5, "output \(port), \(name): \(end) is left")
      }
    }
  }

  /// A tone of -60 dB in the middle of a resonance is the tone of -100 dB, but for its level.
  @Test(arguments: searchSeeds(1...6)) func aSaturatedFilterLeavesQuietSoundAlone(seed: UInt64) {
    print("seed \(seed)")
    var chance = Chance(seed)
    let rate = [22_050.0, 48_000, 192_000].randomElement(using: &chance)!
    let freq = Double.random(in: 200...10_000, using: &chance)
    let q = Float.random(in: 0.1...100, using: &chance)
    func out(_ level: Double) -> [[Float]] {
      svf(
        [Svf.freq: [Float(freq)], Svf.q: [q], Svf.saturate: [1]],
        [tone(freq, 24_000, rate: rate, Double(linear(level)))], rate: rate
      ).run(24_000).map { $0[0] }
    }
    for (port, (loud, quiet)) in zip(out(-60), out(-100)).enumerated() {
      let error = zip(loud, quiet).map { abs($0 - 100 * $1) }.max()! / peak(loud)
      #expect(error < 1e-3, "output \(port), \(freq) Hz, q \(q), at \(rate) Hz: \(error)")
    }
  }

  @Test(arguments: rates, [2, 3, 4]) func bandsOfACrossoverAddUpFlat(rate: Double, bands: Int) {
    var chance = Chance(UInt64(rate) + UInt64(bands))
    for _ in 0..<4 {
      // In any order.
      let freqs = (0..<3).map { _ in 0.4 * rate * pow(0.004, Double.random(in: 0...1, using: &chance)) }
      let bench = KernelBench(
        Crossover.self, Crossover.description, inputs: [[impulse(40_000)]], outputs: [1, 1, 1, 1],
        [
          Crossover.bands: [Float(bands)], Crossover.freq(0): [Float(freqs[0])],
          Crossover.freq(1): [Float(freqs[1])], Crossover.freq(2): [Float(freqs[2])],
        ], rate: rate)
      let out = bench.run(40_000).map { $0[0] }
      #expect(bench.isMemoryIntact)
      let sum = (0..<40_000).map { (frame: Int) -> Float in
        out[0][frame] + out[1][frame] + out[2][frame] + out[3][frame]
      }
      for step in 0..<30 {
        let f = 0.48 * rate * pow(0.004, Double(step) / 29)
        let error = decibels(response(sum, f, rate: rate))
        #expect(abs(error) < 0.01, "\(bands) bands, \(freqs) Hz, at \(f) Hz: \(error) dB")
      }
      for unused in bands..<4 { #expect(peak(out[unused]) == 0) }
      guard bands == 2 else { continue }
      for step in 0..<20 {
        let f = 0.4 * rate * pow(0.01, Double(step) / 19)
        let s = place(f, freqs[0], rate)
        let below = s * s + 2.0.squareRoot() * s + Complex(1)
        for (index, model) in [Complex(1), s * s].enumerated() {
          let expected = (model * model / (below * below)).size
          guard expected > 0.001 else { continue }
          let error = decibels(response(out[index], f, rate: rate) / expected)
          #expect(abs(error) < 0.02, "band \(index + 1), \(freqs[0]) Hz, at \(f) Hz: \(error) dB")
        }
      }
    }
  }

  /// A channel that is alone goes another way than eight side by side.
  @Test(arguments: [2, 3, 4], [false, true]) func aCrossoverSplitsOneChannelAsItSplitsMore(
    bands: Int, moves: Bool
  ) {
    var chance = Chance(UInt64(bands))
    let signals = (0..<9).map { _ in chance.signal(5000) }
    func split(_ channels: [[Float]]) -> [[[Float]]] {
      let bench = KernelBench(
        Crossover.self, Crossover.description, inputs: [channels],
        outputs: [Int](repeating: channels.count, count: 4), [Crossover.bands: [Float(bands)]])
      if moves {
        bench.modulation = [
          Crossover.freq(0): [(0..<5000).map { 200 * Float(sin(Double($0) * 0.03)) }],
          Crossover.freq(1): [(0..<5000).map { 900 * Float(sin(Double($0) * 0.4)) }],
        ]
      }
      return bench.run(5000)
    }
    let all = split(signals)
    for channel in [0, 5, 8] {
      let one = split([signals[channel]])
      for band in 0..<4 {
        #expect(one[band][0] == all[band][channel], "channel \(channel), band \(band + 1)")
      }
    }
  }

  @Test(arguments: rates) func aFrequencyShifterLeavesNoImage(rate: Double) {
    var chance = Chance(UInt64(rate))
    // Twenty hertz are one part in so many of the rate here; the image of higher rates is higher there.
    for low in [20.0, 50, 1000, 0.4 * rate] {
      let shift = Double(Int.random(in: 1...400, using: &chance)) * (rate / 8000)
      let freq = (low / 5).rounded(.up) * 5
      let frames = Int(rate) * 3
      for sign in [1.0, -1] {
        let bench = KernelBench(
          Freqshift.self, Freqshift.description, inputs: [[tone(freq, frames, rate: rate)]], outputs: [1, 1],
          [Freqshift.shift: [Float(sign * shift)]], rate: rate)
        let out = bench.run(frames).map { $0[0][(2 * Int(rate))...] }
        for (port, up) in [sign, -sign].enumerated() {
          func level(_ f: Double) -> Double {
            let whole = abs(f)
            return decibels(amplitude(out[port], whole > rate / 2 ? rate - whole : whole, rate: rate))
          }
          let (moved, image) = (freq + up * shift, freq - up * shift)
          guard abs(abs(moved) - abs(image)) > 5, abs(moved) > 5, abs(image) > 5, moved < rate / 2 else {
            continue
          }
          #expect(abs(level(moved)) < 0.02, "\(freq) Hz by \(up * shift) at \(rate): \(level(moved)) dB")
          #expect(level(image) < -60, "\(freq) Hz by \(up * shift) at \(rate): image \(level(image)) dB")
        }
      }
    }
  }

  @Test func aShiftByNothingKeepsLevels() {
    let out = KernelBench(
      Freqshift.self, Freqshift.description, inputs: [[impulse(48_000)]], outputs: [1, 1],
      [Freqshift.shift: [0]]
    ).run(48_000)[0][0]
    for f in [30.0, 100, 1000, 10_000, 20_000] { #expect(abs(decibels(response(out, f))) < 0.01) }
  }
}

/// What all effects hold to: no clicks, more channels, an end.
extension LaneTests {

  private func smooth<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]] = [:],
    _ changes: [(Int, Float)], outputs: Int = 1
  ) {
    let sound = tone(300, 30_000, 0.5)
    for (parameter, value) in changes {
      let bench = KernelBench(
        type, description, inputs: [[sound]], outputs: [Int](repeating: 1, count: outputs), values)
      bench.moves = [.init(frame: 20_010, parameter: parameter, value: value, over: 480)]
      for (port, out) in bench.run(30_000).enumerated() {
        let step = largestStep(Array(out[0][19_900...]))
        let name = "\(description.name).\(description.parameters[parameter].name) to \(value), output \(port)"
        #expect(step < 0.1, "\(name): \(step)")
      }
    }
  }

  @Test func noChangeClicks() {
    smooth(
      Ladder.self, Ladder.description, [:],
      [
        (Ladder.type, 1), (Ladder.type, 3), (Ladder.freq, 100), (Ladder.freq, 15_000), (Ladder.resonance, 90),
        (Ladder.drive, 4), (Ladder.bass, 100),
      ])
    for saturate in [Float(0), 1] {
      smooth(
        Svf.self, Svf.description, [Svf.saturate: [saturate]],
        [(Svf.freq, 60), (Svf.freq, 15_000), (Svf.q, 5), (Svf.drive, 0.1)], outputs: 4)
    }
    smooth(
      Crossover.self, Crossover.description, [Crossover.bands: [4]],
      [(Crossover.freq(0), 2000), (Crossover.freq(1), 100), (Crossover.freq(2), 100)], outputs: 4)
    smooth(
      Freqshift.self, Freqshift.description, [Freqshift.shift: [2]],
      [(Freqshift.shift, -30), (Freqshift.mix, 0)], outputs: 2)
  }

  /// One channel that becomes two, then eleven: those that were there go on, to the bit unless a tolerance is given.
  func expectKept<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]] = [:],
    within tolerance: Float = 0
  ) {
    var chance = Chance(9)
    let signal = chance.signal(3000)
    let outputs = description.outputs.map { _ in 1 }
    let others = description.inputs.dropFirst().map { _ in [[Float]]() }
    let expected = KernelBench(type, description, inputs: [[signal]] + others, outputs: outputs, values)
      .run(3000)
    let bench = KernelBench(type, description, inputs: [[signal]] + others, outputs: outputs, values)
    let before = bench.run(1003)
    bench.widen([signal, signal], outputs: 2)
    let after = bench.run(997)
    let more = chance.signal(3000)
    bench.widen([signal, signal] + (0..<9).map { _ in more }, outputs: 11)
    let last = bench.run(1000)
    for port in outputs.indices {
      #expect(before[port][0] == Array(expected[port][0][..<1003]), "\(description.name)")
      for channel in 0..<2 {
        #expect(
          relativeError(after[port][channel], expected[port][0][1003..<2000]) <= tolerance,
          "\(description.name)")
        #expect(
          relativeError(last[port][channel], expected[port][0][2000...]) <= tolerance, "\(description.name)")
      }
      #expect(last[port][10] == last[port][2], "\(description.name)")
    }
    #expect(bench.isMemoryIntact)
  }

  @Test func widerCablesKeepStates() {
    expectKept(Ladder.self, Ladder.description)
    for saturate in [Float(0), 1] { expectKept(Svf.self, Svf.description, [Svf.saturate: [saturate]]) }
    for bands in [Float(2), 3, 4] {
      expectKept(Crossover.self, Crossover.description, [Crossover.bands: [bands]])
    }
    expectKept(Freqshift.self, Freqshift.description)
  }

  @Test func theyFallAsleep() {
    var chance = Chance(8)
    let noise = chance.signal(1000)
    func sleeps<K: Kernel>(_ type: K.Type, _ description: KindDescription) {
      let bench = KernelBench(
        type, description, inputs: [[noise]], outputs: description.outputs.map { _ in 1 })
      _ = bench.run(96_000)
      #expect(bench.sleptBlocks > 300, "\(description.name)")
    }
    sleeps(Svf.self, Svf.description)
    sleeps(Crossover.self, Crossover.description)
    sleeps(Freqshift.self, Freqshift.description)
  }
}

extension SplitTests {
  @Test(arguments: [1, 3, 11], [Int64(0), 37]) func ladder(channels: Int, start: Int64) {
    expectSameBits(
      Ladder.self, Ladder.description, inputs: [signals(channels)], outputs: [channels],
      modulation: [Ladder.freq: [wobble(900)]],
      moves: [
        .init(frame: 70, parameter: Ladder.resonance, value: 108, over: 100),
        .init(frame: 333, parameter: Ladder.type, value: 2, over: 100),
        .init(frame: 640, parameter: Ladder.resonance, value: 20, over: 130),
        .init(frame: 900, parameter: Ladder.drive, value: 9, over: 31),
      ], startingAt: start)
  }

  @Test(arguments: [Float(0), 1], [1, 9]) func svf(saturate: Float, channels: Int) {
    expectSameBits(
      Svf.self, Svf.description, inputs: [signals(channels)],
      outputs: [Int](repeating: channels, count: 4),
      [Svf.saturate: [saturate], Svf.freq: (0..<channels).map { 300 + 900 * Float($0) }],
      modulation: [Svf.q: [wobble(0.3)]],
      moves: [
        .init(frame: 70, parameter: Svf.freq, value: 4000, over: 100),
        .init(frame: 900, parameter: Svf.drive, value: 5, over: 31),
      ], startingAt: 37)
  }

  @Test(arguments: [2, 3, 4], [1, 9]) func crossover(bands: Int, channels: Int) {
    expectSameBits(
      Crossover.self, Crossover.description, inputs: [signals(channels)],
      outputs: [Int](repeating: channels, count: 4), [Crossover.bands: [Float(bands)]],
      modulation: [Crossover.freq(0): [wobble(100)]],
      moves: [.init(frame: 70, parameter: Crossover.freq(1), value: 4000, over: 100)])
  }

  @Test(arguments: [1, 3, 11], [Int64(0), 37]) func freqshift(channels: Int, start: Int64) {
    expectSameBits(
      Freqshift.self, Freqshift.description, inputs: [signals(channels)], outputs: [channels, channels],
      modulation: [Freqshift.shift: [wobble(900)]],
      moves: [
        .init(frame: 70, parameter: Freqshift.shift, value: -4000, over: 100),
        .init(frame: 900, parameter: Freqshift.mix, value: 30, over: 31),
      ], startingAt: start)
  }
}
