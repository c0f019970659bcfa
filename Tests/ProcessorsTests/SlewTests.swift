import Glibc
import Testing

@testable import Processors

struct SlewTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  /// A way of 1 in the set time, or 63 % of any way.
  @Test(arguments: rates) func slewsTakeTheirTime(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<6 {
      let (up, down) = (
        Double.random(in: 0.002...0.1, using: &chance), Double.random(in: 0.002...0.1, using: &chance)
      )
      let frames = Int(rate * 0.5)
      let step = (0..<frames).map { Float($0 < frames / 2 ? 1 : -1) }
      for channels in [1, 3, 9] {
        func run(_ shape: Float) -> [Float] {
          KernelBench(
            Slew.self, Slew.description, inputs: [[[Float]](repeating: step, count: channels)],
            outputs: [channels], [Slew.rise: [Float(up)], Slew.fall: [Float(down)], Slew.shape: [shape]],
            rate: rate
          ).run(frames)[0][channels - 1]
        }
        let linear = run(0)
        let top = linear.firstIndex { $0 == 1 } ?? 0
        #expect(abs(Double(top + 1) - up * rate) <= 1 + up * rate * 0.002)
        let bottom = linear.firstIndex { $0 == -1 } ?? 0
        #expect(abs(Double(bottom + 1 - frames / 2) - 2 * down * rate) <= 1 + down * rate * 0.004)
        let exponential = run(1)
        let most = 1 - exp(-1.0)
        let risen = Double(exponential.firstIndex { Double($0) >= most } ?? 0)
        #expect(abs(risen - up * rate) <= 1 + up * rate * 0.01, "\(risen) of \(up * rate)")
      }
    }
  }

  /// Signals that are slow enough pass as they are; a gap of any channel is the same bits as alone.
  @Test func aSlewLeavesSlowSignalsAlone() {
    let slow = (0..<4800).map { Float(0.3 * sin(2 * Double.pi * 2 * Double($0) / 48_000)) }
    let out = KernelBench(
      Slew.self, Slew.description, inputs: [[slow]], outputs: [1], [Slew.rise: [0.1], Slew.fall: [0.1]]
    ).run(4800)[0][0]
    #expect(out == slow)
  }

  /// Every frame goes as far towards its target as it may, and no further: of rests, tones and noise.
  @Test(arguments: rates, [1, 2, 9]) func aSlewGoesAsFarAsItMay(rate: Double, channels: Int) {
    var chance = Chance(UInt64(rate) &+ UInt64(channels))
    for _ in 0..<4 {
      let times = (0..<2).map { _ in Float.random(in: 0.0005...0.01, using: &chance) }
      let signals = (0..<channels).map { _ in chance.pieces(12, rate) }
      func run(_ shape: Float) -> [[Float]] {
        KernelBench(
          Slew.self, Slew.description, inputs: [signals], outputs: [channels],
          [Slew.rise: [times[0]], Slew.fall: [times[1]], Slew.shape: [shape]], rate: rate
        ).run(signals[0].count)[0]
      }
      let (linear, exponential) = (run(0), run(1))
      let steps = times.map { Double(1 / ($0 * Float(rate))) }
      let shares = times.map { 1 - exp(-1 / (Double($0) * rate)) }
      for channel in 0..<channels {
        var (straight, bent) = (0.0, 0.0)
        for frame in 0..<signals[channel].count {
          let target = Double(signals[channel][frame])
          straight = min(max(target, straight - steps[1]), straight + steps[0])
          bent += (target - bent) * shares[target > bent ? 0 : 1]
          guard linear[channel][frame] == Float(straight),
            abs(Double(exponential[channel][frame]) - bent) < 1e-4
          else {
            Issue.record("channel \(channel) of \(channels), frame \(frame), \(times)")
            return
          }
        }
      }
    }
  }
}

extension SplitTests {
  @Test(arguments: [1, 2, 9], [Float(0), 1]) func slewOfTones(channels: Int, shape: Float) {
    var chance = Chance(UInt64(channels))
    for turn in 0..<3 {
      let signals = (0..<channels).map { _ in chance.pieces(8, 48_000) }
      expectSameBits(
        Slew.self, Slew.description, inputs: [signals], outputs: [channels],
        [Slew.rise: [0.001], Slew.fall: [turn == 1 ? 0.0005 : 0.002], Slew.shape: [shape]],
        frames: signals[0].count, startingAt: turn == 2 ? 21 : 0)
    }
  }
}

extension Chance {
  /// Pieces of 150 frames each: the frame before for a while, a tone, or noise.
  fileprivate mutating func pieces(_ count: Int, _ rate: Double) -> [Float] {
    var all: [Float] = []
    for _ in 0..<count {
      let level = Float.random(in: 0.001...2, using: &self)
      let turn = 2 * Double.pi * Double.random(in: 20...2000, using: &self) / rate
      switch Int.random(in: 0..<3, using: &self) {
      case 0: all += [Float](repeating: all.last ?? 0, count: 150)
      case 1: all += (0..<150).map { level * Float(sin(turn * Double($0))) }
      default: all += signal(150, level)
      }
    }
    return all
  }
}
