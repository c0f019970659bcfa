import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Compressors and gates against the curves and times that are set.
struct DynamicsTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  private func constant(_ decibels: Double, _ frames: Int) -> [Float] {
    [Float](repeating: linear(decibels), count: frames)
  }

  /// Equation 4 of Giannoulis, Massberg and Reiss: what comes out of a level, in decibels.
  private func curve(_ level: Double, _ threshold: Double, _ ratio: Double, _ knee: Double) -> Double {
    let over = level - threshold
    if 2 * over < -knee { return level }
    if 2 * abs(over) <= knee, knee > 0 {
      return level + (1 / ratio - 1) * (over + knee / 2) * (over + knee / 2) / (2 * knee)
    }
    return threshold + over / ratio
  }

  @Test func aCompressorHasTheStaticCurveThatIsSet() {
    for (threshold, ratio, knee) in [(-18.0, 4.0, 6.0), (-30, 2, 0), (-40, 100, 24), (0, 3, 36), (-12, 1, 6)]
    {
      for level in stride(from: -60.0, through: 12, by: 3) {
        let out = KernelBench(
          Compressor.self, Compressor.description, inputs: [[constant(level, 4800)], []], outputs: [1],
          [
            Compressor.threshold: [linear(threshold)], Compressor.ratio: [Float(ratio)],
            Compressor.knee: [linear(knee)], Compressor.attack: [0.001],
          ]
        ).run(4800)[0][0]
        let error = decibels(Double(out[4799])) - curve(level, threshold, ratio, knee)
        #expect(abs(error) < 0.01, "\(level) dB at \(threshold) dB, \(ratio):1, knee \(knee) dB: \(error) dB")
      }
    }
  }

  /// Frames until a course is within 1/e of its end.
  private func time(_ course: [Double]) -> Int {
    let (first, last) = (course[0], course[course.count - 1])
    return course.firstIndex { abs($0 - last) <= abs(first - last) / M_E } ?? course.count
  }

  @Test(arguments: rates) func attackAndReleaseTakeTheTimesThatAreSet(rate: Double) {
    for (attack, release) in [(0.001, 0.03), (0.02, 0.1), (0.1, 0.5)] {
      let (soft, loud) = (constant(-40, Int(rate / 100)), constant(-6, Int(8 * attack * rate)))
      let tail = constant(-40, Int(8 * release * rate))
      let signal = soft + loud + tail
      let out = KernelBench(
        Compressor.self, Compressor.description, inputs: [[signal], []], outputs: [1],
        [
          Compressor.threshold: [linear(-20)], Compressor.knee: [1], Compressor.attack: [Float(attack)],
          Compressor.release: [Float(release)],
        ], rate: rate
      ).run(signal.count)[0][0]
      let reduction = zip(out, signal).map { decibels(Double($0 / $1)) }
      let end = soft.count + loud.count
      let (up, down) = (time(Array(reduction[(soft.count - 1)..<end])), time(Array(reduction[(end - 1)...])))
      #expect(abs(Double(up) / rate - attack) < 0.01 * attack + 1 / rate, "attack \(attack) s")
      #expect(abs(Double(down) / rate - release) < 0.01 * release + 1 / rate, "release \(release) s")
    }
  }

  @Test func aLongReleaseIsWithinFivePercent() {
    let signal = constant(-6, 480) + constant(-60, 48_000 * 6)
    let out = KernelBench(
      Compressor.self, Compressor.description, inputs: [[signal], []], outputs: [1],
      [Compressor.attack: [0], Compressor.release: [5], Compressor.knee: [1]]
    ).run(signal.count)[0][0]
    let reduction = zip(out, signal).map { decibels(Double($0 / $1)) }
    let place = reduction.firstIndex { $0 > reduction[479] / M_E && $0 < 0 && $0 > reduction[479] } ?? 0
    #expect(abs(Double(place - 480) / 48_000 - 5) < 0.25)
  }

  @Test func linkedChannelsKeepTheirBalanceAndOthersDoNot() {
    var chance = Chance(2)
    let (loud, soft) = (chance.signal(4800, 0.9), chance.signal(4800, 0.05))
    for link in [Float(1), 0] {
      let out = KernelBench(
        Compressor.self, Compressor.description, inputs: [[loud, soft], []], outputs: [2],
        [Compressor.threshold: [0.1], Compressor.link: [link]]
      ).run(4800)[0]
      for frame in 480..<4800 where soft[frame].magnitude > 0.001 && loud[frame].magnitude > 0.001 {
        let gains = (out[0][frame] / loud[frame], out[1][frame] / soft[frame])
        if link > 0 {
          #expect(abs(gains.0 / gains.1 - 1) < 1e-5)
          #expect(gains.0 < 0.7)
        } else {
          #expect(abs(gains.1 - 1) < 0.01)
          #expect(gains.0 < 0.7)
        }
      }
    }
  }

  /// Each of many channels is what it would be alone, but for the rounding of levels that go frame by frame in many channels
  /// and by sixteens in one.
  @Test func channelsOfTheirOwnAreAsIfAlone() {
    var chance = Chance(3)
    let signals = (0..<11).map { chance.signal(1000, Float($0 + 1) / 11) }
    func expectAlone<K: Kernel>(
      _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]], within tolerance: Float
    ) {
      let all = KernelBench(type, description, inputs: [signals, []], outputs: [11], values).run(1000)[0]
      for (channel, signal) in signals.enumerated() {
        let alone = KernelBench(type, description, inputs: [[signal], []], outputs: [1], values).run(1000)
        let far = relativeError(all[channel], alone[0][0])
        #expect(far <= tolerance, "\(description.name), channel \(channel): \(far)")
      }
    }
    expectAlone(
      Compressor.self, Compressor.description, [Compressor.link: [0], Compressor.threshold: [0.1]],
      within: 1e-5)
    expectAlone(
      Gate.self, Gate.description, [Gate.link: [0], Gate.threshold: [0.5], Gate.hold: [0.001]],
      within: 0)
  }

  @Test func aSidechainTakesTheInputsPlace() {
    let ducked = constant(-20, 4800)
    for (side, expected) in [(-6.0, -20 - 12 * 0.75), (-60, -20)] {
      let out = KernelBench(
        Compressor.self, Compressor.description, inputs: [[ducked, ducked], [constant(side, 4800)]],
        outputs: [2],
        [Compressor.threshold: [linear(-18)], Compressor.knee: [1], Compressor.attack: [0.001]]
      ).run(4800)[0]
      for channel in out { #expect(abs(decibels(Double(channel[4799])) - expected) < 0.01) }
    }
    let opened = KernelBench(
      Gate.self, Gate.description, inputs: [[constant(-80, 4800)], [constant(-20, 4800)]], outputs: [1]
    ).run(4800)[0][0]
    #expect(abs(decibels(Double(opened[4799])) + 80) < 0.01)
  }

  @Test func aCompressorSleepsAndItsReadingIsTheReduction() {
    let bench = KernelBench(
      Compressor.self, Compressor.description, inputs: [[constant(-6, 48_000)], []], outputs: [1],
      [Compressor.threshold: [linear(-18)], Compressor.knee: [1], Compressor.release: [0.01]])
    _ = bench.run(48_000)
    #expect(abs(bench.kernel.reading(0) - 9) < 0.01)
    _ = bench.run(48_000)
    #expect(bench.kernel.reading(0) == 0)
    #expect(bench.sleptBlocks > 500)
  }

  // MARK: Gate

  @Test(arguments: rates) func aGateOpensAndShutsInItsTimes(rate: Double) {
    let (start, loud) = (Int(rate / 10), Int(rate / 5))
    var signal = constant(-50, start) + constant(-30, loud) + constant(-50, Int(rate))
    for frame in signal.indices where frame % 2 == 1 { signal[frame] *= -1 }
    let out = KernelBench(
      Gate.self, Gate.description, inputs: [[signal], []], outputs: [1],
      [
        Gate.threshold: [linear(-40)], Gate.attack: [0.01], Gate.hold: [0.05], Gate.release: [0.1],
        Gate.range: [linear(-20)],
      ], rate: rate
    ).run(signal.count)[0][0]
    let gains = zip(out, signal).map { Double($0 / $1) }
    for frame in 0..<start { #expect(abs(decibels(gains[frame]) + 20) < 0.01) }
    let opened = gains[start...].firstIndex { $0 > 1 - 0.9 / M_E } ?? 0
    #expect(abs(Double(opened - start) / rate - 0.01) < 0.0002 + 1.5 / rate)
    let shutting = gains[(start + loud)...].firstIndex { $0 < 0.999 } ?? 0
    #expect(abs(Double(shutting - start - loud) / rate - 0.05) < 0.0002 + 2 / rate)
    let shut = gains[shutting...].firstIndex { $0 < 0.1 + 0.9 / M_E } ?? 0
    #expect(abs(Double(shut - shutting) / rate - 0.1) < 0.002)
    #expect(abs(decibels(gains[gains.count - 1]) + 20) < 0.01)
  }

  @Test func aGateThatIsOpenStaysSoWithinItsHysteresis() {
    for (level, stays) in [(-43.0, true), (-45, false)] {
      let signal = constant(-60, 100) + constant(level, 4800) + constant(-39, 480) + constant(level, 48_000)
      let out = KernelBench(
        Gate.self, Gate.description, inputs: [[signal], []], outputs: [1], [Gate.hysteresis: [linear(4)]]
      ).run(signal.count)[0][0]
      #expect(decibels(Double(out[4000])) < level - 70, "it opens below the threshold")
      #expect((decibels(Double(out[50_000])) > level - 0.01) == stays)
    }
  }

  @Test func aGateWithoutRangeIsSilentAndSleeps() {
    var chance = Chance(6)
    let signal = chance.signal(4800, 0.5) + chance.signal(48_000, 0.001)
    let bench = KernelBench(
      Gate.self, Gate.description, inputs: [[signal], []], outputs: [1],
      [Gate.range: [0], Gate.release: [0.01]])
    let out = bench.run(100_000)[0][0]
    #expect(peak(Array(out[20_000...])) < 1e-9)
    #expect(bench.sleptBlocks > 500)
    #expect(bench.kernel.reading(0) == 120)
  }
}
