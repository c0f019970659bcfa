import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Lines are as long as their times ask for, and grow ahead of longer ones.
struct DelayMemoryTests {
  private static let spacing = 30_000

  /// A delay of many times, one after the other. `isLarge`: its lines are the longest from the start.
  private func bench(_ times: [Float], _ inputs: [[Float]], shift: Float, isLarge: Bool) -> KernelBench<Delay>
  {
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [inputs], outputs: [inputs.count],
      [Delay.time: [times[0]], Delay.feedback: [0], Delay.mix: [100], Delay.shift: [shift]])
    bench.moves = times.dropFirst().enumerated().map { index, time in
      .init(frame: (index + 1) * Self.spacing, parameter: Delay.time, value: time, over: 480)
    }
    if isLarge { bench.growFully() }
    return bench
  }

  /// What a line has is kept as it grows. Beyond that a long one has sound from before the change.
  @Test(arguments: 0..<12) func aLineThatGrowsGivesWhatALongOneGives(seed: Int) {
    var chance = Chance(UInt64(seed) + 40)
    let times = (0..<6).map { _ in Float(exp(Double.random(in: log(0.0005)...log(0.55), using: &chance))) }
    let shift = Bool.random(using: &chance) ? Float.random(in: 0...0.003, using: &chance) : 0
    let inputs = (0..<Int.random(in: 1...3, using: &chance)).map { _ in
      chance.signal(times.count * Self.spacing)
    }
    let small = bench(times, inputs, shift: shift, isLarge: false)
    let large = bench(times, inputs, shift: shift, isLarge: true)
    let split = KernelBench<Delay>.Split(lengths: chance.lengths())
    let (found, wanted) = (
      small.run(times.count * Self.spacing, split)[0], large.run(times.count * Self.spacing)[0]
    )
    #expect(small.isMemoryIntact && small.memoryBytes <= large.memoryBytes)
    var compared = 0
    for (index, time) in times.enumerated() {
      // Once the tap reads nothing from before the change.
      let reach = index == 0 ? 0 : Int((time + shift) * 48_000) + 600
      guard reach < Self.spacing else { continue }
      for frame in index * Self.spacing + reach..<(index + 1) * Self.spacing {
        for channel in inputs.indices where found[channel][frame] != wanted[channel][frame] {
          Issue.record("times \(times): frame \(frame) of \(channel) differs")
          return
        }
        compared += 1
      }
    }
    #expect(compared > Self.spacing)
  }

  @Test func growthDoesNotClick() {
    let tone = (0..<96_000).map { 0.5 * Float(sin(2 * .pi * 200 * Double($0) / 48_000)) }
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[tone]], outputs: [1],
      [Delay.time: [0.02], Delay.feedback: [30], Delay.mix: [50]])
    bench.moves = [
      .init(frame: 20_000, parameter: Delay.time, value: 0.5, over: 480),
      .init(frame: 40_000, parameter: Delay.time, value: 0.05, over: 480),
      .init(frame: 50_000, parameter: Delay.time, value: 1.1, over: 480),
    ]
    let out = bench.run(96_000)[0][0]
    let before = largestStep(Array(out[10_000..<20_000]))
    #expect(largestStep(Array(out[20_000...])) < 1.3 * before)
  }

  @Test func memoryFollowsTheTime() {
    func bytes(_ time: Float, _ moving: Set<Int> = [], rate: Double = 48_000) -> Int {
      var configuration = KernelConfiguration(
        rate: rate, inputs: [1], outputs: [1], values: [[time], [35], [35], [0]])
      configuration.moving = moving
      return Delay.memorySize(configuration)
    }
    #expect(bytes(0.02) < 12_000)
    #expect(bytes(0.25) < 70_000)
    #expect(bytes(4) > 4 * 48_000 * 4)
    // A cable may take the tap anywhere.
    #expect(bytes(0.02, [Delay.shift]) == bytes(4))
    #expect(bytes(0.02, [Delay.mix]) == bytes(0.02))
    for rate in [44_100.0, 48_000, 52_400, 96_000, 192_000] {
      for time in [Float(0.0001), 0.006, 0.0255, 0.0257, 0.14, 0.2989, 0.62, 1.23, 2.48, 4] {
        #expect(Double(bytes(time, rate: rate) / 4) > Double(time) * rate + 64 + 512 + 8)
      }
    }
  }
}
