import Glibc
import Testing

@testable import Analysis

/// The tuner against known pitches.
@Suite struct PitchTests {
  private static let rates = [22050.0, 44100, 48000, 88200, 96000, 192_000]

  private func cents(_ pitch: Pitch?, from frequency: Double) -> Double {
    pitch.map { 1200 * log2($0.frequency / frequency) } ?? .infinity
  }

  @Test(arguments: rates)
  func sinesFrom30HzTo4kHzAreWithinACent(rate: Double) {
    let detector = PitchDetector(rate: rate)
    var frequency = 30.0
    while frequency < 4001 {
      let history = Sounds.history(
        Sounds.sine(frequency, -18, rate: rate, seconds: 0.5, phase: frequency), rate: rate)
      let error = cents(detector.measure(history, channels: 0..<1), from: frequency)
      #expect(abs(error) < 1, "\(frequency) Hz at \(rate) Hz is off by \(error) cents")
      frequency *= 1.0973
    }
  }

  @Test(arguments: rates)
  func tonesWithManyHarmonicsAreWithinACent(rate: Double) {
    let detector = PitchDetector(rate: rate)
    for frequency in [30.87, 41.2, 82.41, 110.3, 196, 329.63, 440, 987.77, 2093, 3951] {
      let count = max(1, min(20, Int(rate * 0.45 / frequency)))
      let samples = (0..<Int(rate / 2)).map { frame in
        (1...count).reduce(Float(0)) { sum, harmonic in
          // Without the first harmonic's dominance, as in a bass.
          let level = harmonic == 1 ? 0.3 : 1 / Double(harmonic)
          return sum
            + Float(
              0.1 * level
                * sin(2 * .pi * frequency * Double(harmonic) * Double(frame) / rate + Double(harmonic)))
        }
      }
      let error = cents(
        detector.measure(Sounds.history(samples, rate: rate), channels: 0..<1), from: frequency)
      #expect(abs(error) < 1, "\(frequency) Hz at \(rate) Hz is off by \(error) cents")
    }
  }

  /// Channels whose sum is silent, such as two of opposite signs, have their note.
  @Test(arguments: [62.0, 110.3, 440, 987.77])
  func channelsThatCancelHaveAPitch(frequency: Double) {
    let sine = Sounds.sine(frequency, -18, rate: 48000, seconds: 0.5)
    for gains: [Float] in [[1, -1], [0.3, 0.5, -0.8], [-1, 1, -0.5, 0.5], [0.25, 0.25, 0.25, -1, 0.25]] {
      var history = SoundHistory(channels: gains.count, rate: 48000, seconds: 1)
      history.append(gains.map { gain in sine.map { $0 * gain } }, frames: sine.count)
      let error = cents(
        PitchDetector(rate: 48000).measure(history, channels: 0..<gains.count), from: frequency)
      #expect(abs(error) < 1, "\(frequency) Hz, \(gains): \(error) cents")
    }
  }

  /// The period of a chord is that of no note in it: a tuner that showed it would send the player to a wrong one.
  @Test(arguments: [
    ([60], false), ([33], false), ([96], false), ([60, 64, 67], true), ([60, 67], true),
    ([57, 60, 64], true),
    ([55, 60, 64], true), ([60, 72], false),
  ])
  func chordsAreToldFromNotes(keys: [Int], isOfSeveral: Bool) {
    for harmonics in [8, 20] {
      let samples = (0..<24000).map { frame in
        keys.reduce(Float(0)) { sum, key in
          let frequency = 440 * pow(2, Double(key - 69) / 12)
          return (1...harmonics).filter { Double($0) * frequency < 20000 }.reduce(sum) {
            $0 + Float(0.05 / Double($1) * sin(2 * .pi * frequency * Double($1) * Double(frame) / 48000))
          }
        }
      }
      let pitch = PitchDetector(rate: 48000).measure(Sounds.history(samples, rate: 48000), channels: 0..<1)
      // A chord may have no steady period at all.
      if !isOfSeveral { #expect(pitch?.isOfSeveral == false, "\(keys), \(harmonics) harmonics") }
      if isOfSeveral, let pitch { #expect(pitch.isOfSeveral, "\(keys): \(pitch.frequency) Hz") }
    }
  }

  @Test func noiseAndSilenceHaveNoPitch() {
    let detector = PitchDetector(rate: 48000)
    var seed: UInt64 = 12345
    let noise = (0..<24000).map { _ -> Float in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Float(Int32(truncatingIfNeeded: seed >> 32)) / Float(Int32.max)
    }
    #expect(detector.measure(Sounds.history(noise, rate: 48000), channels: 0..<1) == nil)
    let silence = [Float](repeating: 0, count: 24000)
    #expect(detector.measure(Sounds.history(silence, rate: 48000), channels: 0..<1) == nil)
    let constant = [Float](repeating: 0.5, count: 24000)
    #expect(detector.measure(Sounds.history(constant, rate: 48000), channels: 0..<1) == nil)
    let soft = Sounds.sine(440, -90, rate: 48000, seconds: 0.5)
    #expect(detector.measure(Sounds.history(soft, rate: 48000), channels: 0..<1) == nil)
  }

  @Test func aToneInSomeNoiseKeepsItsPitch() {
    var seed: UInt64 = 99
    let tone = Sounds.sine(146.83, -12, rate: 48000, seconds: 0.5).map { sample -> Float in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return sample + 0.01 * Float(Int32(truncatingIfNeeded: seed >> 32)) / Float(Int32.max) + 0.2
    }
    let pitch = PitchDetector(rate: 48000).measure(Sounds.history(tone, rate: 48000), channels: 0..<1)
    #expect(abs(cents(pitch, from: 146.83)) < 1)
  }

  @Test func aNoteIsNamedFromTheReference() {
    let exact = Pitch(frequency: 440).note()
    #expect(exact.key == 69 && exact.cents == 0)
    let flat = Pitch(frequency: 440).note(a4: 443)
    #expect(flat.key == 69 && abs(flat.cents + 11.764) < 0.01)
    let high = Pitch(frequency: 466.1638 * 1.02).note()
    #expect(high.key == 70 && abs(high.cents - 34.28) < 0.01)
  }
}
