import Glibc
import Testing

@testable import Analysis

/// The scope's trace: it stands still on a steady sound, and shows its extremes.
@Suite struct ScopeTests {
  private let rate = 48000.0

  private func trace(
    _ samples: [Float], seconds: Double, columns: Int = 200, _ trigger: ScopeTrace.Trigger = .rising,
    level: Float = 0
  ) -> ScopeTrace {
    ScopeTrace(
      Sounds.history(samples, rate: rate), channels: 0..<1, seconds: seconds, columns: columns,
      trigger: trigger,
      level: level)
  }

  @Test func aSineStandsStillWhereverItBegins() {
    let reference = trace(Sounds.sine(333.3, -6, rate: rate, seconds: 0.5), seconds: 0.01)
    #expect(reference.isTriggered)
    for phase in [0.1, 0.37, 0.5, 0.83] {
      let other = trace(Sounds.sine(333.3, -6, rate: rate, seconds: 0.5, phase: phase), seconds: 0.01)
      for (one, two) in zip(reference.channels[0], other.channels[0]) {
        #expect(abs(one.lowerBound - two.lowerBound) < 0.002 && abs(one.upperBound - two.upperBound) < 0.002)
      }
    }
    // It rises through zero in the middle.
    #expect(reference.channels[0][99].upperBound <= 0.001 && reference.channels[0][100].lowerBound >= -0.001)
    #expect(reference.channels[0][105].lowerBound > 0.2)
  }

  @Test func theTriggerHasAnEdgeAndALevel() {
    let sine = Sounds.sine(200, 0, rate: rate, seconds: 0.5)
    let falling = trace(sine, seconds: 0.01, .falling)
    #expect(falling.channels[0][95].lowerBound > 0.1 && falling.channels[0][105].upperBound < -0.1)
    let high = trace(sine, seconds: 0.01, level: 0.8)
    #expect(abs(high.channels[0][100].lowerBound - 0.8) < 0.03)
    let beyond = trace(sine, seconds: 0.01, level: 1.5)
    #expect(!beyond.isTriggered && beyond.channels[0].count == 200)
    #expect(!trace(sine, seconds: 0.01, .free).isTriggered)
  }

  @Test func noiseOnTheEdgeDoesNotTrigger() {
    var seed: UInt64 = 7
    let noisy = Sounds.sine(100, 0, rate: rate, seconds: 0.5).map { sample -> Float in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return sample + 0.03 * Float(Int32(truncatingIfNeeded: seed >> 32)) / Float(Int32.max)
    }
    let found = trace(noisy, seconds: 0.02, columns: 100)
    // Upwards: a quarter of a period before the middle it is low, a quarter after it high.
    #expect(found.isTriggered)
    #expect(found.channels[0][37].upperBound < -0.9 && found.channels[0][62].lowerBound > 0.9)
  }

  @Test func aSingleSampleIsSeenAtAnyWidth() {
    var samples = [Float](repeating: 0, count: 48000)
    samples[47000] = 0.9
    for columns in [1, 20, 333] {
      let found = trace(samples, seconds: 0.5, columns: columns, .free)
      #expect(found.channels[0].map(\.upperBound).max() == 0.9)
    }
  }

  @Test func rangesOfTimeFromAFewSamplesToAllThatIsKept() {
    let sine = Sounds.sine(440, 0, rate: rate, seconds: 1)
    for seconds in [0.00002, 0.001, 0.1, 0.5, 1] {
      let found = trace(sine, seconds: seconds, columns: 160)
      #expect(found.channels[0].count == 160)
      #expect(found.channels[0].allSatisfy { $0.lowerBound >= -1.001 && $0.upperBound <= 1.001 })
    }
    #expect(trace([], seconds: 0.01).channels[0].allSatisfy { $0 == 0...0 })
  }
}
