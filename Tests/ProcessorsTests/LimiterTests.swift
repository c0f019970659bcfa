import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// A limiter's peaks, as ITU-R BS.1770-4 measures them, and what it leaves alone.
struct LimiterTests {
  /// Annex 2: four phases of twelve taps.
  private static let phases: [[Float]] = {
    let first: [Float] = [
      0.0017089843750, 0.0109863281250, -0.0196533203125, 0.0332031250000, -0.0594482421875,
      0.1373291015625, 0.9721679687500, -0.1022949218750, 0.0476074218750, -0.0266113281250,
      0.0148925781250, -0.0083007812500,
    ]
    let second: [Float] = [
      -0.0291748046875, 0.0292968750000, -0.0517578125000, 0.0891113281250, -0.1665039062500,
      0.4650878906250, 0.7797851562500, -0.2003173828125, 0.1015625000000, -0.0582275390625,
      0.0330810546875, -0.0189208984375,
    ]
    return [first, second, second.reversed(), first.reversed()]
  }()

  /// The largest of all frames and of what is between them.
  private func truePeak(_ signal: [Float]) -> Double {
    var most = peak(signal)
    for frame in 11..<signal.count {
      for phase in Self.phases {
        var sum: Float = 0
        for tap in 0..<12 { sum += phase[tap] * signal[frame - tap] }
        most = max(most, abs(sum))
      }
    }
    return decibels(Double(most))
  }

  /// Sounds that are hard on limiters.
  private func hard(_ frames: Int, _ chance: inout Chance) -> [(String, [Float])] {
    let noise = chance.signal(frames, 8)
    func wave(_ cycles: Double, _ phase: Double = 0) -> [Float] {
      (0..<frames).map { (frame: Int) -> Float in Float(sin(2 * Double.pi * cycles * Double(frame) + phase)) }
    }
    func scaled(_ signal: [Float], _ factor: (Int) -> Float) -> [Float] {
      signal.indices.map { signal[$0] * factor($0) }
    }
    func square(_ signal: [Float], _ size: Float) -> [Float] { signal.map { $0 < 0 ? -size : size } }
    let signs = square(chance.signal(frames), 4)
    let bursts = scaled(noise) { $0 / 500 % 2 == 0 ? 0.02 : 3 }
    let quarter = scaled(wave(0.25, .pi / 4)) { _ in 2 }
    let top = scaled(wave(0.49, .pi / 2)) { $0 / 300 % 3 == 0 ? 3 : 0.05 }
    let steps = square(wave(997.3 / 48_000), 3)
    // All frames around a place have the signs with which they add up there.
    var conspiracy = [Float](repeating: 0, count: frames)
    for start in stride(from: 200, to: frames - 200, by: 613) {
      for k in -40...40 {
        let x = Double(k) - 0.5
        conspiracy[start + 40 + k] = sin(.pi * x) / x < 0 ? -5 : 5
      }
    }
    var ticks = [Float](repeating: 0, count: frames)
    for frame in stride(from: 5, to: frames, by: 37) { ticks[frame] = 3 * noise[frame] }
    return [
      ("noise", noise), ("signs", signs), ("bursts", bursts), ("a quarter of the rate", quarter),
      ("the top", top), ("square", steps), ("conspiracy", conspiracy), ("ticks", ticks),
    ]
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 96_000, 192_000])
  func peaksNeverExceedTheCeiling(rate: Double) {
    var chance = Chance(UInt64(rate))
    for (name, signal) in hard(8192, &chance) {
      for (ceiling, release) in [(-1.0, Float(0.1)), (-20, 0.001), (0, 2)] {
        let out = KernelBench(
          Limiter.self, Limiter.description, inputs: [[signal]], outputs: [1],
          [Limiter.ceiling: [linear(ceiling)], Limiter.release: [release]], rate: rate
        ).run(9000)[0][0]
        #expect(truePeak(out) <= ceiling, "\(name) at \(rate) Hz: \(truePeak(out) - ceiling) dB above")
        let samples = KernelBench(
          Limiter.self, Limiter.description, inputs: [[signal]], outputs: [1],
          [
            Limiter.ceiling: [linear(ceiling)], Limiter.release: [release], Limiter.peaks: [1],
          ], rate: rate
        ).run(9000)[0][0]
        #expect(decibels(Double(peak(samples))) <= ceiling, "\(name) at \(rate) Hz, of frames")
      }
    }
  }

  /// The latency in frames is what it reports, and below the ceiling nothing else happens to the sound, to the bit.
  @Test(arguments: [8000.0, 44_100, 48_000, 96_000, 192_000], [Float(0), 1])
  func whatStaysBelowIsOnlyLate(rate: Double, peaks: Float) {
    var chance = Chance(4)
    let signal = chance.signal(2000, 0.3)
    let values = [[linear(-1)], [0.1], [peaks], [1]]
    let late = Limiter.latency(KernelConfiguration(rate: rate, inputs: [1], outputs: [1], values: values))
    #expect(Double(late) / rate < 0.0051 && late > 0)
    let out = KernelBench(
      Limiter.self, Limiter.description, inputs: [[signal]], outputs: [1], [Limiter.peaks: [peaks]],
      rate: rate
    ).run(2400)[0][0]
    #expect(out[..<late].allSatisfy { $0 == 0 })
    #expect(Array(out[late..<late + 2000]) == signal)
  }

  /// After a peak the gain comes back in the release's time, to exactly 1, and then the limiter sleeps.
  @Test func theGainComesBackInTheReleasesTime() {
    var signal = [Float](repeating: 0.1, count: 48_000)
    for frame in 1000..<1100 { signal[frame] = 1 }
    let bench = KernelBench(
      Limiter.self, Limiter.description, inputs: [[signal]], outputs: [1],
      [Limiter.ceiling: [0.25], Limiter.release: [0.05]])
    let out = bench.run(48_000)[0][0]
    let start = (2000..<48_000).first { out[$0] < 0.1 } ?? 0
    let gain = Double(out[start]) / 0.1
    let back = (start..<48_000).first { Double(out[$0]) / 0.1 > 1 - (1 - gain) / M_E } ?? 0
    #expect(abs(Double(back - start) / 48_000 - 0.05) < 0.001)
    #expect(out[47_000] == 0.1)
    _ = bench.run(4800)
    #expect(bench.sleptBlocks > 50)
  }

  @Test func linkedChannelsKeepTheirBalanceAndOthersDoNot() {
    var chance = Chance(2)
    let (loud, soft) = (chance.signal(4800, 4), chance.signal(4800, 0.05))
    for link in [Float(1), 0] {
      let out = KernelBench(
        Limiter.self, Limiter.description, inputs: [[loud, soft]], outputs: [2], [Limiter.link: [link]]
      ).run(4900)[0]
      for frame in 300..<4800 where abs(soft[frame]) > 0.001 && abs(loud[frame]) > 0.1 {
        let gains = (out[0][frame + 82] / loud[frame], out[1][frame + 82] / soft[frame])
        if link > 0 { #expect(abs(gains.0 / gains.1 - 1) < 1e-4) } else { #expect(gains.1 == 1) }
      }
    }
  }

  /// A gain without corners: the course of a pure tone's gain adds nothing above 5 kHz.
  @Test func aToneStaysPure() {
    let tone = (0..<48_000).map { (frame: Int) -> Float in
      Float(sin(2 * Double.pi * 100 * Double(frame) / 48_000))
    }
    let out = KernelBench(
      Limiter.self, Limiter.description, inputs: [[tone]], outputs: [1],
      [Limiter.ceiling: [0.1], Limiter.release: [1]]
    ).run(48_000)[0][0]
    let steady = out[24_000...]
    for harmonic in [50, 75, 100, 150] {
      #expect(decibels(amplitude(steady, 100 * Double(harmonic)) / 0.1) < -100)
    }
    // What the release gives back from peak to peak.
    #expect(decibels(amplitude(steady, 300) / 0.1) < -40)
  }
}
