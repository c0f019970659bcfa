import Glibc
import TestSupport
import Testing

@testable import Analysis

/// The spectrum against what is known of the sounds.
@Suite struct SpectrumTests {
  @Test(arguments: [44100.0, 48000, 96000, 192_000])
  func aSineHasItsFrequencyAndLevel(rate: Double) {
    let analyser = SpectrumAnalyser(rate: rate)
    for (frequency, level) in [
      (33.3, -6.0), (440, -20), (997, 0), (5678.9, -60), (12345.6, -3), (19999, -90),
    ] {
      let history = Sounds.history(Sounds.sine(frequency, level, rate: rate, seconds: 1), rate: rate)
      let peak = analyser.measure(history, channels: 0..<1).peak
      #expect(abs((peak?.frequency ?? 0) - frequency) < 0.05 * rate / Double(analyser.frames))
      #expect(abs((peak?.level ?? -300) - level) < 0.05)
    }
  }

  @Test func softSoundsBesideLoudOnesAreSeen() {
    let rate = 48000.0
    let loud = Sounds.sine(1000, 0, rate: rate, seconds: 1)
    let soft = Sounds.sine(1100, -80, rate: rate, seconds: 1)
    let spectrum = SpectrumAnalyser(rate: rate).measure(
      Sounds.history(zip(loud, soft).map { $0 + $1 }, rate: rate), channels: 0..<1)
    #expect(abs((spectrum.level(from: 1090, to: 1110) ?? 0) + 80) < 1)
    #expect((spectrum.level(from: 1040, to: 1060) ?? 0) < -88)
    #expect((spectrum.level(from: 5000, to: 20000) ?? 0) < -88)
  }

  @Test func ofSeveralChannelsTheLoudestCountsAndOneAloneIsItself() {
    let rate = 48000.0
    let history = Sounds.history(
      Sounds.sine(500, -10, rate: rate, seconds: 1), Sounds.sine(3000, -20, rate: rate, seconds: 1),
      rate: rate)
    let analyser = SpectrumAnalyser(rate: rate)
    let both = analyser.measure(history, channels: 0..<2)
    #expect(abs((both.level(from: 490, to: 510) ?? 0) + 10) < 1)
    #expect(abs((both.level(from: 2990, to: 3010) ?? 0) + 20) < 1)
    let right = analyser.measure(history, channels: 1..<2)
    #expect((right.level(from: 490, to: 510) ?? 0) < -90)
    #expect(abs((right.peak?.frequency ?? 0) - 3000) < 0.2)
  }

  @Test func silenceHasNoPeakAndHeldLevelsStay() {
    let rate = 48000.0
    let analyser = SpectrumAnalyser(rate: rate)
    let silence = analyser.measure(
      Sounds.history([Float](repeating: 0, count: 48000), rate: rate), channels: 0..<1)
    #expect(silence.peak == nil)
    #expect(silence.level(from: 20, to: 20000) == Spectrum.floor)
    #expect(silence.level(from: 24000, to: 25000) == nil)
    var held = analyser.measure(
      Sounds.history(Sounds.sine(440, -12, rate: rate, seconds: 1), rate: rate), channels: 0..<1)
    held.hold(silence)
    #expect(abs((held.peak?.level ?? 0) + 12) < 0.05)
  }

  /// A constant, or an LFO that is looked at: its slope in the lowest bins is no tone, and a tone beside it is found.
  @Test(arguments: [0.0, 0.03, 0.7]) func whatHardlyMovesHasNoPeak(frequency: Double) {
    for rate in [8000.0, 48000, 192_000] {
      let analyser = SpectrumAnalyser(rate: rate)
      let slow = (0..<Int(rate)).map { Float(0.5 + 0.4 * sin(2 * .pi * frequency * Double($0) / rate)) }
      #expect(analyser.measure(Sounds.history(slow, rate: rate), channels: 0..<1).peak == nil)
      let tone = Sounds.sine(997, -40, rate: rate, seconds: 1)
      let both = analyser.measure(
        Sounds.history(zip(slow, tone).map { $0 + $1 }, rate: rate), channels: 0..<1)
      #expect(abs((both.peak?.frequency ?? 0) - 997) < 0.2)
    }
  }

  @Test func peaksOfAnyLevelsHaveAFrequencyAndANote() {
    let seed: UInt64 = 515
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let levels = (0..<Int.random(in: 2...40, using: &random)).map { _ in
        Bool.random(using: &random) ? Spectrum.floor : Float.random(in: -130...40, using: &random)
      }
      var spectrum = Spectrum(binWidth: .random(in: 0.1...2000, using: &random), bins: levels.count)
      spectrum.levels = levels
      guard let peak = spectrum.peak else { continue }
      #expect(peak.frequency > 0 && peak.frequency < spectrum.highest)
      _ = Pitch(frequency: peak.frequency).note()
    }
    for frequency in [0, -1, .nan, .infinity, .leastNonzeroMagnitude] as [Double] {
      #expect(!(0...127).contains(Pitch(frequency: frequency).note().key))
    }
  }

  @Test func whatIsNoNumberIsSilent() {
    var history = SoundHistory(channels: 1, rate: 48000, seconds: 1)
    history.append([[.nan, 0.5, .infinity]], frames: 3)
    #expect(history.latest(4, channel: 0) == [0, 0, 0.5, 0])
    #expect(history.peak(10, channels: 0..<1) == 0.5)
    #expect(SpectrumAnalyser(rate: 48000).measure(history, channels: 0..<1).levels.allSatisfy { $0.isFinite })
  }
}
