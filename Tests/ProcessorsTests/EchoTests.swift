import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `echo` against what its parameters say.
struct EchoTests {
  private func bench(_ inputs: [[Float]], _ values: [Int: [Float]], rate: Double = 48_000) -> KernelBench<
    Echo
  > {
    KernelBench(
      Echo.self, Echo.description, inputs: [inputs], outputs: [inputs.count],
      values.merging([Echo.mix: [100], Echo.longest: [1]]) { own, _ in own }, rate: rate)
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func tapsComeAtTheirTimesAndLoudness(rate: Double) {
    var chance = Chance(UInt64(rate))
    for taps in [1, 2, 3, 5, 8] {
      let between = Int.random(in: 60...900, using: &chance)
      let time = Float(Double(between * taps) / rate)
      let slope = Float.random(in: 0.3...1, using: &chance)
      let feedback = Float.random(in: -90...90, using: &chance)
      let frames = between * taps * 2 + 20
      let out = bench(
        [impulse(frames)],
        [
          Echo.time: [time], Echo.taps: [Float(taps)], Echo.slope: [slope], Echo.feedback: [feedback],
          Echo.damp: [20_000],
        ], rate: rate
      ).run(frames)[0][0]
      for frame in 0...between * taps {
        let isTap = frame > 0 && frame % between == 0
        let expected = isTap ? pow(slope, Float(frame / between - 1)) : 0
        #expect(abs(out[frame] - expected) < 1e-3, "frame \(frame) of \(between) x \(taps)")
      }
      // The first tap of what went through again, whose low-pass loses little and nothing of its sum.
      let again = out[(between * (taps + 1) - between / 2)...(between * (taps + 1) + 9)].reduce(0, +)
      #expect(abs(again - feedback / 100) < 0.02 + 0.2 * abs(feedback / 100))
    }
  }

  @Test func oddTapsSwing() {
    let out = bench([impulse(9000)], [Echo.time: [0.1], Echo.taps: [2], Echo.swing: [50], Echo.slope: [1]])
      .run(9000)[0][0]
    #expect(out[3600] > 0.99 && out[4800] > 0.99 && abs(out[2400]) < 1e-3)
  }

  /// A pass through the low-pass falls by 3 dB at its frequency.
  @Test(arguments: [8000.0, 48_000, 192_000]) func eachEchoIsDarker(rate: Double) {
    let frames = Int(rate * 0.4)
    let out = bench(
      [impulse(frames)], [Echo.time: [0.1], Echo.feedback: [100], Echo.damp: [1500]], rate: rate
    ).run(frames)[0][0]
    let length = Int(rate / 10)
    for echo in 1...3 {
      let sound = Array(out[(echo * length)..<min((echo + 1) * length, frames)])
      #expect(abs(decibels(response(sound, 1500, rate: rate)) + 3.01 * Double(echo - 1)) < 0.1)
      #expect(abs(decibels(response(sound, 30, rate: rate))) < 0.1)
    }
  }

  @Test func echoesGoFromSideToSide() {
    let silence = [Float](repeating: 0, count: 9000)
    for enters in 0..<2 {
      let out = bench(
        enters == 0 ? [impulse(9000), silence] : [silence, impulse(9000)],
        [Echo.time: [0.04], Echo.feedback: [100], Echo.damp: [20_000], Echo.pingpong: [100]]
      ).run(9000)[0]
      for echo in 1...4 {
        let place = 1920 * echo - 10..<1920 * echo + 40
        let (left, right) = (out[0][place].reduce(0, +), out[1][place].reduce(0, +))
        #expect(abs((echo % 2 == 1 ? left : right) - 0.5) < 0.01 && abs(echo % 2 == 1 ? right : left) < 1e-5)
      }
    }
  }

  /// While the delay grows pitch falls as much as the speed says, and a tone has no step.
  @Test func aGlideBendsThePitchAndAFadeDoesNot() {
    let tone = (0..<60_000).map { Float(sin(2 * Double.pi * 1000 * Double($0) / 48_000)) }
    for change in [Float(0), 1] {
      let bench = bench(
        [tone],
        [Echo.time: [0.1], Echo.feedback: [0], Echo.change: [change], Echo.lag: [change == 0 ? 0 : 0.02]])
      // Half a second more in a second of 48000 frames would be half the pitch; the ramp is fastest in the middle, 1.875 times.
      bench.moves = [.init(frame: 9600, parameter: Echo.time, value: 0.2, over: 48_000)]
      let out = bench.run(60_000)[0][0]
      let middle = out[(33_600 - 960)..<(33_600 + 960)]
      let bent = 1000 * (1 - 0.1 * 1.875)
      let (there, plain) = (amplitude(middle, bent), amplitude(middle, 1000))
      if change == 0 { #expect(there > 0.95 && plain < 0.3) } else { #expect(there < 0.6) }
      #expect(largestStep(Array(out[4810...])) < 0.135, "\(largestStep(Array(out[4810...])))")
      #expect(abs(amplitude(out[58_000..<59_920], 1000) - 1) < 1e-3)
    }
  }

  /// With a lag a glide has gone 63 % of its way in that time.
  @Test(arguments: [8000.0, 48_000, 192_000]) func aGlideTakesItsLag(rate: Double) {
    let frames = Int(rate)
    // A ramp as sound: an output tells how late it is.
    let ramp = (0..<frames).map { Float(Double($0) / rate) }
    let bench = bench([ramp], [Echo.time: [0.1], Echo.feedback: [0], Echo.lag: [0.2]], rate: rate)
    let start = Int(rate * 0.3) & ~63
    bench.moves = [.init(frame: start, parameter: Echo.time, value: 0.25, over: 0)]
    let out = bench.run(frames)[0][0]
    let place = start + Int(rate * 0.2)
    let late = Double(ramp[place]) - Double(out[place])
    #expect(abs(late - (0.1 + 0.15 * (1 - exp(-1)))) < 0.002, "\(late)")
  }

  @Test func anEchoSleepsAndKeepsItsSoundWhenItIsWidened() {
    let bench = bench([impulse(200_000, at: 40)], [Echo.time: [0.05], Echo.feedback: [0]])
    let out = bench.run(200_000)[0][0]
    #expect(bench.sleptBlocks > 500 && out[2440] == 1)
    func run(_ widened: Bool) -> [Float] {
      var chance = Chance(5)
      let signal = chance.signal(12_000, 0.5)
      let bench = self.bench([signal], [Echo.time: [0.05], Echo.feedback: [70]])
      var out = bench.run(6400)[0][0]
      if widened { bench.widen([signal, signal, signal], outputs: 3) }
      out += bench.run(5600)[0][0]
      #expect(bench.isMemoryIntact)
      return out
    }
    #expect(run(true) == run(false))
  }

  @Test func anotherRateKeepsPitchAndTime() {
    let tone = (0..<4800).map { Float(sin(2 * Double.pi * 500 * Double($0) / 48_000)) }
    let bench = bench([tone], [Echo.time: [0.3], Echo.feedback: [0]])
    _ = bench.run(4800)
    bench.retune(to: 96_000)
    let out = bench.run(48_000)[0][0]
    // From 0.2 s to 0.3 s after the change.
    #expect(abs(amplitude(out[20_160..<28_800 - 960], 500, rate: 96_000) - 1) < 0.01)
    #expect(peak(Array(out[..<19_100])) < 0.01 && peak(Array(out[29_000...])) < 0.01)
  }
}

extension SplitTests {
  @Test(arguments: [1, 2, 3], [0, 1]) func echo(channels: Int, change: Int) {
    expectSameBits(
      Echo.self, Echo.description, inputs: [signals(channels, frames: 6000)], outputs: [channels],
      [
        Echo.time: [0.004], Echo.taps: [Float(channels + 1)], Echo.pingpong: [40], Echo.longest: [0.1],
        Echo.change: [Float(change)], Echo.lag: [0.01],
      ], frames: 6000, modulation: [Echo.time: [wobble(0.002)], Echo.damp: [wobble(2000)]],
      moves: [
        .init(frame: 500, parameter: Echo.swing, value: 60, over: 300),
        .init(frame: 1700, parameter: Echo.change, value: Float(1 - change), over: 480),
        .init(frame: 2100, parameter: Echo.time, value: 0.02, over: 333),
        .init(frame: 4100, parameter: Echo.time, value: 0.0071, over: 1),
      ], startingAt: 37)
  }
}
