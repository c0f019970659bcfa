import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Kinds that hear pitch.
struct PitchKindTests {
  private static func tone(_ frequency: Double, _ shape: Int, _ rate: Double, _ frames: Int) -> [Float] {
    (0..<frames).map { frame in
      let cycles = frequency * Double(frame) / rate
      // Sine, or harmonics below 5 kHz, or such without the first one.
      if shape == 0 { return Float(0.3 * sin(2 * Double.pi * cycles)) }
      var sum = 0.0
      var number = shape == 1 ? 1 : 2
      while Double(number) * frequency < min(5000, rate / 3) || number < 4 {
        sum += sin(2 * Double.pi * cycles * Double(number)) / Double(number)
        number += 1
      }
      return Float(0.2 * sum)
    }
  }

  @Test(arguments: [8000.0, 16_000, 44_100, 48_000, 192_000, 384_000])
  func pitchesAreFoundWithinACent(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<10 {
      let shape = Int.random(in: 0...2, using: &chance)
      // A sine of few frames a cycle leaves the parabola less to go by.
      let most = min(rate / 20, 2400)
      let frequency = 50 * pow(most / 50, Double.random(in: 0...1, using: &chance))
      let frames = Int(rate * 0.4)
      let tone = Self.tone(frequency, shape, rate, frames)
      let bench = KernelBench(
        Pitchfollower.self, Pitchfollower.description, inputs: [[tone.map { _ in 0 }, tone]],
        outputs: [2, 2],
        rate: rate)
      let out = bench.run(frames)
      let cents = 1200 * (Double(out[0][1].last!) - log2(frequency / 440))
      #expect(abs(cents) < 1, "\(frequency) Hz, shape \(shape), at \(rate) Hz: \(cents) cents")
      #expect(out[1][1].last == 1 && out[1][0].allSatisfy { $0 == 0 })
    }
  }

  /// Noise has no pitch, and the last one stays after a note.
  @Test func whatHasNoPitchKeepsTheLast() {
    var chance = Chance(1)
    let tone = Self.tone(330, 1, 48_000, 24_000)
    let bench = KernelBench(
      Pitchfollower.self, Pitchfollower.description, inputs: [[tone + chance.signal(48_000, 0.3)]],
      outputs: [1, 1])
    let out = bench.run(96_000)
    #expect(out[1][0][40_000...].allSatisfy { $0 == 0 })
    #expect(abs(out[0][0][95_999] - Float(log2(330 / 440.0))) < 0.05)
  }

  @Test func aTunerTellsNotesAndCents() {
    for (frequency, note, cents) in [
      (440.0, 69, 0.0), (445, 69, 19.56), (82.41, 40, 0.02), (1000, 83, 21.31),
    ] {
      let tone = Self.tone(frequency, 1, 48_000, 24_000)
      let bench = KernelBench(Tuner.self, Tuner.description, inputs: [[tone, tone]], outputs: [2])
      #expect(bench.run(24_000)[0] == [tone, tone])
      #expect(bench.kernel.reading(0) == Float(note))
      #expect(abs(Double(bench.kernel.reading(1)) - cents) < 1, "\(bench.kernel.reading(1))")
    }
  }

  /// Channels whose sum is silent, such as two of opposite signs, have their note.
  @Test(arguments: 2...6) func aTunerHearsChannelsThatCancel(channels: Int) {
    var chance = Chance(UInt64(channels))
    for rate in [22_050.0, 48_000, 192_000] {
      let frequency = Double.random(in: 60...1000, using: &chance)
      let tone = Self.tone(frequency, 1, rate, Int(rate / 2))
      var gains = [Float(1)] + (2..<channels).map { _ in Float.random(in: -1...1, using: &chance) }
      gains.append(0 - gains.reduce(0, +))
      gains.shuffle(using: &chance)
      let bench = KernelBench(
        Tuner.self, Tuner.description, inputs: [gains.map { gain in tone.map { $0 * gain } }],
        outputs: [channels], rate: rate)
      _ = bench.run(tone.count)
      let cents = 1200 * log2(Double(bench.kernel.reading(2)) / frequency)
      #expect(abs(cents) < 1, "\(frequency) Hz, \(gains), at \(rate) Hz: \(cents) cents")
    }
  }

  /// A constant part of any size takes no pitch away: sounds between 0 and 1, gates, a microphone with an offset.
  @Test(arguments: [8000.0, 22_050, 48_000, 192_000]) func aConstantPartHidesNoPitch(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 2)
    for _ in 0..<10 {
      let frequency = 50 * pow(min(rate / 20, 2400) / 50, Double.random(in: 0...1, using: &chance))
      let shape = Int.random(in: 0...2, using: &chance)
      let offset = Float.random(in: 0.1...2, using: &chance) * (Bool.random(using: &chance) ? 1 : -1)
      let tone = Self.tone(frequency, shape, rate, Int(rate * 0.4))
      let bench = KernelBench(
        Pitchfollower.self, Pitchfollower.description, inputs: [[tone.map { $0 + offset }]], outputs: [1, 1],
        rate: rate)
      let out = bench.run(tone.count)
      let cents = 1200 * (Double(out[0][0].last!) - log2(frequency / 440))
      #expect(abs(cents) < 1, "\(frequency) Hz, shape \(shape), \(offset), at \(rate) Hz: \(cents) cents")
      #expect(out[1][0].last == 1)
    }
  }
}

extension SplitTests {
  @Test(arguments: [1, 2]) func pitchfollower(channels: Int) {
    let tone = (0..<6000).map { Float(sin(Double($0) * (0.02 + 1e-6 * Double($0)))) }
    expectSameBits(
      Pitchfollower.self, Pitchfollower.description, inputs: [[[Float]](repeating: tone, count: channels)],
      outputs: [channels, channels], frames: 6000, startingAt: 37)
  }
}
