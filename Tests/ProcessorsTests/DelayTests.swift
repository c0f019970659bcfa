import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Echoes by the frame, and through changes of time and rate.
struct DelayTests {
  @Test func echoesComeAtExactFramesAndFallByTheFeedback() {
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[impulse(4000)]], outputs: [1],
      [Delay.time: [0.01], Delay.feedback: [50], Delay.mix: [100]])
    let out = bench.run(4000)[0][0]
    for frame in 0..<4000 {
      let expected: Float = frame > 0 && frame % 480 == 0 ? Float(pow(0.5, Double(frame / 480 - 1))) : 0
      #expect(out[frame] == expected)
    }
  }

  @Test func aShortDelayIsExactToo() {
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[impulse(200)]], outputs: [1],
      [Delay.time: [3.0 / 48000], Delay.feedback: [100], Delay.mix: [100]])
    let out = bench.run(200)[0][0]
    #expect(out.indices.allSatisfy { out[$0] == ($0 > 0 && $0 % 3 == 0 ? 1 : 0) })
  }

  @Test func aChangeOfTimeDoesNotClick() {
    let tone = (0..<48_000).map { 0.5 * Float(sin(2 * .pi * 200 * Double($0) / 48_000)) }
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[tone]], outputs: [1],
      [Delay.time: [0.1], Delay.feedback: [40], Delay.mix: [50]])
    bench.moves = [.init(frame: 20_000, parameter: Delay.time, value: 0.2337, over: 480)]
    let out = bench.run(48_000)[0][0]
    let before = largestStep(Array(out[10_000..<20_000]))
    #expect(largestStep(Array(out[20_000...])) < 1.3 * before)
  }

  /// Level of a tone after a delay of `frames` beside a whole number of them.
  private func level(_ freq: Double, _ frames: Float, time: Float = 0.01) -> Double {
    let tone = (0..<9600).map { Float(sin(2 * .pi * freq * Double($0) / 48_000)) }
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[tone]], outputs: [1],
      [Delay.time: [time], Delay.feedback: [0], Delay.mix: [100], Delay.shift: [frames / 48_000]])
    return decibels(amplitude(bench.run(9600)[0][0][4800...], freq))
  }

  @Test(arguments: [Float(0.25), 0.5, 0.75]) func aFractionOfAFrameKeepsTheTreble(part: Float) {
    for freq in stride(from: 1000.0, through: 15_000, by: 1000) {
      let found = level(freq, part)
      #expect(found < 0.001 && found > -0.2, "\(freq) Hz: \(found) dB")
    }
  }

  /// Where the tap comes close to the present, fewer frames lie between.
  @Test func aTapNearThePresentLosesNoMoreThanALine() {
    for frames in [Float(0.5), 1.5, 2.5, 3.5] {
      let found = level(5000, frames - 4, time: 5 / 48_000)
      #expect(found < 0.001 && found > -0.5, "\(frames + 1) frames: \(found) dB")
    }
  }

  @Test func fullFeedbackBetweenFramesStaysBounded() {
    var chance = Chance(3)
    for shift in [Float(0.1), 0.37, 0.5, 0.81] {
      let bench = KernelBench(
        Delay.self, Delay.description, inputs: [[chance.signal(480)]], outputs: [1],
        [
          Delay.time: [0.01], Delay.feedback: [100], Delay.mix: [100], Delay.shift: [shift / 48_000],
        ])
      let out = bench.run(480_000)[0][0]
      #expect(peak(Array(out[470_000...])) < peak(Array(out[480..<1440])), "a shift of \(shift) frames")
    }
  }

  @Test func theDelayFallsAsleepWhenItsTailHasGone() {
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[impulse(100)]], outputs: [1],
      [Delay.time: [0.01], Delay.feedback: [10]])
    _ = bench.run(48_000 * 8)
    #expect(bench.sleptBlocks > 100)
  }

  @Test func retuningKeepsTheTimeOfEchoes() {
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[impulse(96_000, at: 640)]], outputs: [1],
      [Delay.time: [0.1], Delay.feedback: [0], Delay.mix: [100]])
    _ = bench.run(1920)
    bench.retune(to: 96_000)
    let out = bench.run(20_000)[0][0]
    let loudest = out.indices.max { out[$0].magnitude < out[$1].magnitude }!
    // 1280 of the 4800 frames at 48 kHz have passed since the impulse.
    #expect(abs(loudest - (4800 - 1280) * 2) <= 2)
  }

  @Test(arguments: [(44_100.0, 96_000.0), (96_000, 44_100), (48_000, 384_000)])
  func theLongestDelayStaysAsLongAtAnyRate(rates: (Double, Double)) {
    let (old, new) = rates
    let seconds = 4.0
    let before = Int(old / 2)
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[impulse(before + Int(new), at: before - 1000)]], outputs: [1],
      [Delay.time: [Float(seconds)], Delay.feedback: [0], Delay.mix: [100]], rate: old)
    bench.inputs[0][0][before + 500] = 1
    _ = bench.run(before)
    bench.retune(to: new)
    let out = bench.run(Int(new * (seconds + 0.1)))[0][0]
    #expect(bench.isMemoryIntact)
    // One impulse before the change and one after it; both echo four seconds later.
    for wanted in [seconds - 1000 / old, seconds + 500 / new] {
      let place = Int((wanted * new).rounded())
      let loudest = (place - 20...place + 20).max { out[$0].magnitude < out[$1].magnitude }!
      #expect(abs(loudest - place) <= 1 && out[loudest] > 0.2, "\(wanted) s: frame \(loudest), not \(place)")
    }
  }

  @Test(arguments: [(44_100.0, 96_000.0), (96_000, 44_100), (48_000, 48_001)])
  func anEchoOfAToneGoesOnInPhaseAtAnotherRate(rates: (Double, Double)) {
    let (old, new) = rates
    func tone(_ time: Double) -> Float { Float(0.5 * sin(2 * .pi * 997 * time)) }
    let before = Int(old)
    let signal =
      (0..<before).map { tone(Double($0 - before) / old) } + (0..<Int(new)).map { tone(Double($0) / new) }
    let bench = KernelBench(
      Delay.self, Delay.description, inputs: [[signal]], outputs: [1],
      [Delay.time: [0.25], Delay.feedback: [0], Delay.mix: [100]], rate: old)
    _ = bench.run(before)
    bench.retune(to: new)
    let out = bench.run(Int(new * 0.5))[0][0]
    let frames = Float(0.25) * Float(new) + 0.5
    let delay = Double(Int(frames)) / new
    var worst: Float = 0
    for frame in out.indices {
      worst = max(worst, abs(out[frame] - tone(Double(frame) / new - delay)))
    }
    print("\(rates): largest deviation \(worst)")
    #expect(worst < 1e-4)
  }
}
