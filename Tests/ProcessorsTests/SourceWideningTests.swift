import Patch
import Realtime
import Testing

@testable import Processors

/// Sources that get more channels while they sound, as `voices` brings them to their parameters.
struct SourceWideningTests {
  private static let widenings = [(1, 3), (1, 2), (2, 16), (3, 64), (7, 9), (8, 17)]

  /// Random settings: a frequency for each of 64 channels, and a value within its range for each other parameter.
  private func settings(_ description: KindDescription, _ chance: inout Chance) -> [Int: [Float]] {
    var values: [Int: [Float]] = [:]
    for (index, parameter) in description.parameters.enumerated() where parameter.name != "channels" {
      switch parameter.name {
      case "freq": values[index] = (0..<64).map { _ in Float.random(in: 50...900, using: &chance) }
      case "level": values[index] = [Float.random(in: 0.2...1, using: &chance)]
      case "density": values[index] = [Float.random(in: 2000...9000, using: &chance)]
      case "color": values[index] = [Float(Int.random(in: 0...1, using: &chance))]
      case "shape" where parameter.form == .choice(["impulses", "bipolar", "steps"]):
        values[index] = [Float(Int.random(in: 0...2, using: &chance))]
      case "system": values[index] = [Float(Int.random(in: 0...2, using: &chance))]
      case "feedback": values[index] = [Float.random(in: -60...60, using: &chance)]
      default: break
      }
    }
    return values
  }

  private func check<K: Kernel>(_ type: K.Type, inputs: Int = 0) where K.Description == KindDescription {
    for (number, (from, to)) in Self.widenings.enumerated() {
      var chance = Chance(UInt64(number &+ 11))
      let values = settings(type.description, &chance)
      let signals = (0..<64).map { channel in
        (0..<3000).map { frame in frame % (400 + channel) < 200 ? Float(0.5) : 0 }
      }
      func run(_ widens: Bool) -> [[Float]] {
        let bench = KernelBench(
          K.self, K.description, inputs: (0..<inputs).map { _ in Array(signals.prefix(from)) },
          outputs: [from], values)
        _ = bench.run(1000)
        if widens { bench.widen((0..<inputs).map { _ in Array(signals.prefix(to)) }, outputs: [to]) }
        let out = bench.run(2000)[0]
        #expect(bench.isMemoryIntact)
        return out
      }
      let (alone, wide) = (run(false), run(true))
      #expect(wide.count == to)
      // A channel that was there goes on to the bit; one that mono is copied to is the same with the pitch of its own.
      for channel in 0..<from {
        #expect(wide[channel] == alone[channel], "\(K.description.name) \(from) to \(to), channel \(channel)")
      }
      for channel in 0..<to {
        #expect(peak(wide[channel]) > 0.05, "\(K.description.name) \(from) to \(to), channel \(channel)")
      }
    }
  }

  @Test func operatorsGoOn() { check(Fm.self) }
  @Test func noisesGoOn() { check(Noise.self) }
  @Test func dustGoesOn() { check(Dust.self) }
  @Test func chaosGoesOn() { check(Chaos.self) }
  @Test func sawsGoOn() { check(Supersaw.self) }
  @Test func partialsGoOn() { check(Additive.self) }
  @Test func stringsGoOn() { check(PluckedString.self, inputs: 2) }
}
