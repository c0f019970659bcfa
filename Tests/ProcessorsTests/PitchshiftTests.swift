import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

struct PitchshiftTests {
  /// A voice of some harmonics, `frequency` in Hz.
  private func voice(_ frequency: Double, _ rate: Double) -> [Float] {
    (0..<Int(rate * 1.3)).map { frame in
      let angle = 2 * Double.pi * frequency * Double(frame) / rate
      return Float(0.3 * sin(angle) + 0.1 * sin(2 * angle + 1) + 0.05 * cos(3 * angle))
    }
  }

  private func bench(_ inputs: [[Float]], _ pitch: Float, rate: Double = 48_000) -> KernelBench<Pitchshift> {
    KernelBench(
      Pitchshift.self, Pitchshift.description, inputs: [inputs], outputs: [inputs.count],
      [Pitchshift.pitch: [pitch]], rate: rate)
  }

  /// Frequency of a tone near `expected`, from how its phase goes on from tenth to tenth of a second, and its mean amplitude.
  private func tone(_ sound: ArraySlice<Float>, _ expected: Double, _ rate: Double) -> (Double, Double) {
    let part = Int(rate / 10)
    var (sum, count, before, size) = (0.0, 0, 0.0, 0.0)
    var start = sound.startIndex
    while start + part <= sound.endIndex {
      var (re, im) = (0.0, 0.0)
      for frame in start..<start + part {
        let angle = 2 * Double.pi * expected * Double(frame) / rate
        // A window, so that it hears next to nothing of other frequencies.
        let w = 1 - cos(2 * Double.pi * (Double(frame - start) + 0.5) / Double(part))
        re += w * Double(sound[frame]) * cos(angle)
        im -= w * Double(sound[frame]) * sin(angle)
      }
      let phase = atan2(im, re)
      if count > 0 { sum += remainder(phase - before, 2 * Double.pi) }
      size += 2 * (re * re + im * im).squareRoot() / Double(part)
      (before, count, start) = (phase, count + 1, start + part)
    }
    return (expected + sum / (2 * Double.pi * 0.1 * Double(count - 1)), size / Double(count))
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func pitchIsShiftedWithinACent(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<8 {
      let pitch = Float.random(in: -24...24, using: &chance)
      let ratio = pow(2, Double(pitch) / 12)
      let frequency =
        80 * pow(min(rate / 12 / max(ratio, 1), 2000) / 80, Double.random(in: 0...1, using: &chance))
      let sound = voice(frequency, rate)
      let out = bench([sound], pitch, rate: rate).run(sound.count)[0][0]
      let (there, size) = tone(out[Int(rate * 0.2)...], frequency * ratio, rate)
      let cents = 1200 * log2(there / (frequency * ratio))
      #expect(abs(cents) < 1, "\(frequency) Hz by \(pitch) semitones: \(cents) cents")
      #expect(abs(decibels(size / 0.3)) < 1, "\(frequency) Hz by \(pitch): \(decibels(size / 0.3)) dB")
    }
  }

  /// Sides of opposite signs, and any channels whose sum is silent, are shifted as one channel is.
  @Test(arguments: [8000.0, 44_100, 96_000]) func channelsThatCancelAreInTune(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 1)
    for channels in [2, 2, 3, 4, 5] {
      let pitch = Float.random(in: 2...12, using: &chance) * (Bool.random(using: &chance) ? 1 : -1)
      let ratio = pow(2, Double(pitch) / 12)
      let frequency = Double.random(in: 90...300, using: &chance)
      let sound = voice(frequency, rate)
      var gains = [Float(1)] + (2..<channels).map { _ in Float.random(in: -1...1, using: &chance) }
      gains.append(0 - gains.reduce(0, +))
      gains.shuffle(using: &chance)
      let out = bench(gains.map { gain in sound.map { $0 * gain } }, pitch, rate: rate).run(sound.count)[0]
      for (channel, gain) in gains.enumerated() where gain.magnitude > 0.05 {
        let (there, size) = tone(out[channel][Int(rate * 0.2)...], frequency * ratio, rate)
        let cents = 1200 * log2(there / (frequency * ratio))
        #expect(abs(cents) < 1, "\(gains), \(frequency) Hz by \(pitch) semitones: \(cents) cents")
        let level = decibels(size / (0.3 * Double(gain.magnitude)))
        #expect(abs(level) < 1, "\(gains), \(frequency) Hz by \(pitch): \(level) dB")
      }
    }
  }

  /// Without a shift the sound is the same, as late as the latency says; again so after one.
  @Test(arguments: [1, 2, 5]) func noShiftIsADelay(channels: Int) {
    var chance = Chance(UInt64(channels))
    let sound = (0..<channels).map { _ in chance.signal(48_000, 0.5) }
    let bench = bench(sound, 0)
    let late = 1536
    bench.moves = [
      .init(frame: 10_000, parameter: Pitchshift.pitch, value: 7, over: 100),
      .init(frame: 20_000, parameter: Pitchshift.pitch, value: 0, over: 100),
    ]
    let out = bench.run(48_000)[0]
    for channel in 0..<channels {
      #expect(Array(out[channel][late..<10_000]) == Array(sound[channel][..<(10_000 - late)]))
      #expect(Array(out[channel][24_000...]) == Array(sound[channel][(24_000 - late)..<(48_000 - late)]))
    }
  }

  /// A tone that stays has no step when the tap is put back, and both channels go together.
  @Test func nothingClicks() {
    let sound = (0..<96_000).map { Float(0.5 * sin(2 * Double.pi * 220 * Double($0) / 48_000)) }
    for pitch: Float in [-12, -5, 3, 7, 12] {
      let out = bench([sound, sound.map { 0 - $0 * 0.5 }], pitch).run(96_000)[0]
      let ratio = pow(2, Float(pitch) / 12)
      #expect(largestStep(Array(out[0][4000...])) < 0.0145 * ratio * 1.2, "\(pitch)")
      for frame in stride(from: 4000, to: 96_000, by: 61) {
        #expect(abs(out[1][frame] + out[0][frame] * 0.5) < 1e-5)
      }
    }
  }

  @Test func itSleepsAndMoreChannelsJoin() {
    let late = bench([impulse(60_000)], 5)
    _ = late.run(60_000)
    #expect(late.sleptBlocks > 700)
    func run(_ widened: Bool) -> [Float] {
      let sound = (0..<9000).map { Float(0.5 * sin(2 * Double.pi * 220 * Double($0) / 48_000)) }
      let bench = self.bench([sound], 0)
      var out = bench.run(6400)[0][0]
      if widened { bench.widen([sound, sound, sound], outputs: 3) }
      out += bench.run(2600)[0][0]
      #expect(bench.isMemoryIntact)
      return out
    }
    #expect(run(true) == run(false))
  }
}

extension SplitTests {
  @Test(arguments: [1, 2, 3]) func pitchshift(channels: Int) {
    expectSameBits(
      Pitchshift.self, Pitchshift.description, inputs: [signals(channels, frames: 9000)], outputs: [channels],
      [Pitchshift.pitch: [9]], frames: 9000, modulation: [Pitchshift.pitch: [wobble(4)]],
      moves: [
        .init(frame: 3000, parameter: Pitchshift.pitch, value: -15, over: 480),
        .init(frame: 6905, parameter: Pitchshift.mix, value: 40, over: 99),
        .init(frame: 7500, parameter: Pitchshift.pitch, value: 0, over: 1),
      ], startingAt: 37)
  }
}
