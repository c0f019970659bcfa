import Glibc
import Testing

@testable import Analysis

/// Signals of EBU Tech 3341, table 1 (loudness) and table 2 (true peaks), with its tolerances.
@Suite struct LoudnessTests {
  private static let rate = 48000.0

  /// Sines of 1 kHz in phase in each channel: levels in dBFS by channel, and seconds.
  private func measure(
    _ parts: [(levels: [Double], seconds: Double)], rate: Double = rate, each: (Loudness) -> Void = { _ in }
  ) -> Loudness {
    let meter = LoudnessMeter(channels: parts[0].levels.count, rate: rate)
    var start = 0.0
    for part in parts {
      let samples = part.levels.map { level in
        level.isFinite
          ? Sounds.sine(1000, level, rate: rate, seconds: part.seconds, phase: 1000 * start)
          : [Float](repeating: 0, count: Int(part.seconds * rate))
      }
      start += part.seconds
      let count = samples[0].count
      for first in stride(from: 0, to: count, by: 1600) {
        let end = min(count, first + 1600)
        meter.append(samples.map { Array($0[first..<end]) }, frames: end - first)
        each(meter.loudness)
      }
    }
    return meter.loudness
  }

  @Test(arguments: [(-23.0, 48000.0), (-33, 48000), (-23, 44100), (-23, 96000)])
  func aStereoSineHasItsLevelInAllThree(level: Double, rate: Double) {
    let loudness = measure([([level, level], 20)], rate: rate)
    for value in [loudness.momentary, loudness.shortTerm, loudness.integrated] {
      #expect(abs(value - level) <= 0.1)
    }
    #expect(abs(loudness.seconds - 20) < 0.001)
    #expect(loudness.range < 0.1)
  }

  @Test func softPartsAreGated() {
    let third = measure([([-36, -36], 10), ([-23, -23], 60), ([-36, -36], 10)])
    #expect(abs(third.integrated + 23) <= 0.1)
    let fourth = measure([
      ([-72, -72], 10), ([-36, -36], 10), ([-23, -23], 60), ([-36, -36], 10), ([-72, -72], 10),
    ])
    #expect(abs(fourth.integrated + 23) <= 0.1)
    let fifth = measure([([-26, -26], 20), ([-20, -20], 20.1), ([-26, -26], 20)])
    #expect(abs(fifth.integrated + 23) <= 0.1)
  }

  @Test func aSurroundProgrammeWeighsItsChannels() {
    let loudness = measure([([-28, -28, -24, -30, -30], 20)])
    #expect(abs(loudness.integrated + 23) <= 0.1)
    // The low-frequency channel does not count.
    #expect(abs(measure([([-28, -28, -24, -10, -30, -30], 20)]).integrated + 23) <= 0.1)
  }

  @Test func shortTermAndMomentaryAreConstantWhereTheirWindowsHoldWholePeriods() {
    let ninth = (0..<5).flatMap { _ in [([-20.0, -20.0], 1.34), ([-30.0, -30.0], 1.66)] }
    _ = measure(ninth) { loudness in
      if loudness.seconds > 3.05 { #expect(abs(loudness.shortTerm + 23) <= 0.1) }
    }
    let twelfth = (0..<25).flatMap { _ in [([-20.0, -20.0], 0.18), ([-30.0, -30.0], 0.22)] }
    _ = measure(twelfth) { loudness in
      if loudness.seconds > 1 { #expect(abs(loudness.momentary + 23) <= 0.1) }
    }
  }

  @Test(arguments: [
    (4.0, 0.0, 0.5, -6.0), (4, 45, 0.5, -6), (6, 60, 0.5, -6), (8, 67.5, 0.5, -6), (4, 45, 1.41, 3),
  ])
  func truePeaksLieBetweenTheSamples(divisor: Double, degrees: Double, amplitude: Double, level: Double) {
    let meter = LoudnessMeter(channels: 2, rate: Self.rate)
    let samples = Sounds.sine(
      Self.rate / divisor, 20 * log10(amplitude), rate: Self.rate, seconds: 1, phase: degrees / 360)
    // Faded in, since a sine that begins at once has a higher peak.
    let faded = samples.enumerated().map { $1 * min(1, Float($0) / 4800) }
    meter.append([faded, faded.map { $0 / 2 }], frames: faded.count)
    let peaks = meter.loudness.truePeaks
    #expect(peaks[0] <= level + 0.2 && peaks[0] >= level - 0.4)
    #expect(abs(peaks[1] - peaks[0] + 6.02) < 0.1)
  }

  @Test func silenceIsInfinitelySoftAndNothingIsSaidTooEarly() {
    let silent = measure([([-.infinity, -.infinity], 5)])
    #expect(silent.momentary == -.infinity && silent.integrated == -.infinity)
    #expect(silent.truePeaks == [-.infinity, -.infinity])
    #expect(measure([([-23, -23], 0.3)]).momentary == -.infinity)
    #expect(measure([([-23, -23], 2.9)]).shortTerm == -.infinity)
  }

  @Test func theHighestStay() {
    let loudness = measure([([-20, -20], 4), ([-40, -40], 6)])
    #expect(abs(loudness.highestMomentary + 20) <= 0.1)
    #expect(abs(loudness.highestShortTerm + 20) <= 0.1)
    #expect(abs(loudness.momentary + 40) <= 0.1)
  }

  @Test func manyChannelsAndOneAreMeasured() {
    // One channel at 0 dBFS has -3.01 LUFS (ITU-R BS.1770); so have three of which two are silent.
    #expect(abs(measure([([-20], 5)]).integrated + 23) <= 0.1)
    #expect(abs(measure([([-20, -.infinity, -.infinity], 5)]).integrated + 23) <= 0.1)
    #expect(measure([(Array(repeating: -40, count: 64), 1)]).truePeaks.count == LoudnessMeter.mostChannels)
  }
}
