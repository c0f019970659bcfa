import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Kinds that bend or break waves: `bitcrusher`, `waveshaper`.
struct ShapeTests {
  private func crusher(_ values: [Int: [Float]], _ input: [Float], rate: Double = 48_000) -> [Float] {
    KernelBench(
      Bitcrusher.self, Bitcrusher.description, inputs: [[input]], outputs: [1], values, rate: rate
    ).run(input.count)[0][0]
  }

  /// Without antialiasing every fourth frame is held, in steps of a power of two.
  @Test func levelsAreHeldAndRounded() {
    var chance = Chance(2)
    let x = chance.signal(1000, 1.3)
    for bits in [1, 2, 3, 7, 12] {
      let out = crusher(
        [Bitcrusher.antialias: [0], Bitcrusher.rate: [12_000], Bitcrusher.bits: [Float(bits)]], x)
      let step = powf(2, Float(1 - bits))
      for frame in 0..<1000 {
        let level = (min(max(x[frame / 4 * 4], -1), 1) / step).rounded(.toNearestOrEven) * step
        #expect(out[frame] == level, "\(bits) bits, frame \(frame)")
      }
    }
  }

  /// At the node's own rate and with all bits nothing is lost.
  @Test func allBitsAtTheFullRateChangeNothing() {
    var chance = Chance(3)
    let x = chance.signal(1000)
    let out = crusher([Bitcrusher.antialias: [0], Bitcrusher.rate: [48_000], Bitcrusher.bits: [20]], x)
    for frame in 0..<1000 { #expect(abs(out[frame] - x[frame]) < 2e-6) }
  }

  /// A slow wave is late by the latency, and by half of what a level is held.
  @Test(arguments: [3000.0, 7777, 24_000]) func aSmoothCrusherIsAsLateAsItSays(rate: Double) {
    let (x, hold) = (tone(20, 9600, 0.8), 24_000 / rate)
    let values: [Int: [Float]] = [
      Bitcrusher.rate: [Float(rate)], Bitcrusher.bits: [20], Bitcrusher.antialias: [1],
    ]
    #expect(
      Bitcrusher.latency(
        KernelConfiguration(rate: 48_000, inputs: [1], outputs: [1], values: [[20], [3000], [100], [1]]))
        == 12)
    let out = crusher(values, x)
    var mean = 0.0
    for frame in 1000..<9000 {
      let place = Double(frame) - 12 - hold
      mean += Double(out[frame]) - 0.8 * sin(2 * Double.pi * 20 * place / 48_000)
      #expect(
        abs(Double(out[frame]) - 0.8 * sin(2 * Double.pi * 20 * place / 48_000)) < 0.0025 * hold + 0.001)
    }
    #expect(abs(mean / 8000) < 2e-4)
  }

  /// What is no image of the tone about a multiple of the lower rate: only that is an alias of the node's rate. Without
  /// antialiasing it is thirty decibels louder.
  @Test(arguments: [(997.0, 5555.0), (440, 9001), (3000, 11_117)])
  func aSmoothCrusherHasNoOtherImages(freq: Double, rate: Double) {
    func alias(_ antialias: Float) -> Double {
      let out = crusher(
        [Bitcrusher.rate: [Float(rate)], Bitcrusher.bits: [20], Bitcrusher.antialias: [antialias]],
        tone(freq, 52_800, 0.9))
      let end = out[4800...]
      var most = 0.0
      for f in stride(from: 7.0, to: 15_000, by: 7) {
        let place = f / rate - (f / rate).rounded(.down)
        let near = [freq / rate, 1 - freq / rate].map { image -> Double in
          let part = image - image.rounded(.down)
          return min(abs(place - part), 1 - abs(place - part)) * rate
        }.min()!
        if near > 30 { most = max(most, amplitude(end, f)) }
      }
      return decibels(most)
    }
    let (smooth, plain) = (alias(1), alias(0))
    #expect(smooth < -70 && smooth < plain - 20, "\(smooth) dB and \(plain) dB")
  }

  @Test func aCrusherSleepsAndItsDrySoundIsAsLate() {
    var chance = Chance(5)
    let x = chance.signal(3000)
    for antialias in [Float(0), 1] {
      let bench = KernelBench(
        Bitcrusher.self, Bitcrusher.description, inputs: [[x]], outputs: [1],
        [Bitcrusher.antialias: [antialias], Bitcrusher.mix: [0]])
      let out = bench.run(20_000)[0][0]
      let late = antialias == 0 ? 0 : 12
      for frame in late..<3000 { #expect(out[frame] == x[frame - late]) }
      #expect(bench.sleptBlocks > 200)
    }
  }

  // MARK: Waveshaper

  private func shaper(_ points: [Float], _ input: [Float], drive: Float = 1, mix: Float = 100) -> [Float] {
    var values: [Int: [Float]] = [Waveshaper.drive: [drive], Waveshaper.mix: [mix]]
    for (index, y) in points.enumerated() { values[Waveshaper.y(index + 1)] = [y] }
    return KernelBench(
      Waveshaper.self, Waveshaper.description, inputs: [[input]], outputs: [1], values
    ).run(input.count)[0][0]
  }

  private static let straight = (0..<9).map { -1 + Float($0) / 4 }

  @Test func aStraightCurveChangesNothing() {
    for freq in [100.0, 1000, 9000, 15_000] {
      let out = shaper(Self.straight, tone(freq, 9632, 0.9))
      let level = decibels(amplitude(out[32...], freq) / 0.9)
      #expect(abs(level) < 0.2, "\(freq) Hz: \(level) dB")
    }
    let x = tone(500, 4000, 0.9)
    let out = shaper(Self.straight, x)
    for frame in 100..<3900 { #expect(abs(out[frame + 32] - x[frame]) < 1e-3) }
    let half = shaper(Self.straight, x, mix: 50)
    for frame in 100..<3900 { #expect(abs(half[frame + 32] - x[frame]) < 1e-3) }
  }

  /// A slow wave has the curve's values, moved so that silence stays silent.
  @Test func theCurveIsThatOfItsPoints() {
    var chance = Chance(6)
    for _ in 0..<8 {
      let y = (0..<9).map { _ in Float.random(in: -1...1, using: &chance) }
      let x = tone(10, 4900, 1.4)
      let out = shaper(y, x)
      for frame in 100..<4800 {
        let place = (min(max(x[frame], -1), 1) + 1) * 4
        let low = min(Int(place), 7)
        let value = y[low] + (y[low + 1] - y[low]) * (place - Float(low)) - y[4]
        #expect(abs(out[frame + 32] - value) < 0.012, "frame \(frame)")
      }
    }
    #expect(peak(shaper([0, 0.1, 0.2, 0.3, 0.9, 0.5, 0.2, 0, 0], [Float](repeating: 0, count: 500))) == 0)
  }

  /// Of random curves, what is no multiple of the tone.
  @Test(arguments: [500.0, 1240, 2500, 4980]) func whatAWaveshaperBendsAliasesLittle(freq: Double) {
    var chance = Chance(UInt64(freq))
    let most = Float.random(in: 3...24, using: &chance)
    for gain in [0, most] {
      let drive = pow(10, gain / 20)
      let y = (0..<9).map { _ in Float.random(in: -1...1, using: &chance) }
      let out = shaper(y, tone(freq, 14_400, 0.9), drive: drive)
      let end = out[4800...]
      var most = 0.0
      for f in stride(from: 5.0, to: 15_000, by: 5) where abs(f / freq - (f / freq).rounded()) * freq > 12 {
        most = max(most, amplitude(end, f))
      }
      #expect(decibels(most) < -48, "\(freq) Hz, driven by \(gain) dB: \(decibels(most)) dB")
    }
  }

  @Test func theyRecoverFromAnything() {
    var chance = Chance(7)
    for wrong in [Float.nan, .infinity, 1e30] {
      var input = chance.signal(9000)
      input[1000] = wrong
      let shaped = shaper(Self.straight.map { 0 - $0 }, input)
      #expect(shaped[3000...].allSatisfy { $0.magnitude < 3 })
      let crushed = crusher([:], input)
      #expect(crushed[3000...].allSatisfy { $0.magnitude < 3 })
    }
  }
}

extension LaneTests {
  @Test func widerCablesKeepShapes() {
    for antialias in [Float(0), 1] {
      expectKept(Bitcrusher.self, Bitcrusher.description, [Bitcrusher.antialias: [antialias]])
    }
    expectKept(Waveshaper.self, Waveshaper.description, [Waveshaper.y(3): [0.9], Waveshaper.mix: [70]])
  }
}

extension SplitTests {
  @Test(arguments: [Float(0), 1], [1, 3]) func bitcrusher(antialias: Float, channels: Int) {
    expectSameBits(
      Bitcrusher.self, Bitcrusher.description, inputs: [signals(channels)], outputs: [channels],
      [Bitcrusher.antialias: [antialias]], modulation: [Bitcrusher.rate: [wobble(9000)]],
      moves: [
        .init(frame: 70, parameter: Bitcrusher.bits, value: 3, over: 100),
        .init(frame: 333, parameter: Bitcrusher.rate, value: 60_000, over: 200),
        .init(frame: 900, parameter: Bitcrusher.mix, value: 50, over: 31),
      ], startingAt: 37)
  }

  @Test(arguments: [1, 3]) func waveshaper(channels: Int) {
    expectSameBits(
      Waveshaper.self, Waveshaper.description, inputs: [signals(channels)], outputs: [channels],
      modulation: [Waveshaper.y(6): [wobble(0.5)]],
      moves: [
        .init(frame: 70, parameter: Waveshaper.drive, value: 9, over: 100),
        .init(frame: 333, parameter: Waveshaper.y(2), value: 1, over: 200),
        .init(frame: 900, parameter: Waveshaper.mix, value: 50, over: 31),
      ])
  }
}
