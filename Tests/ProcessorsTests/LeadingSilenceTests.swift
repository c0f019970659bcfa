import Patch
import Realtime
import Testing

@testable import Processors

/// A kernel that follows levels may move in silence too. So any split of the silence before a sound must give the same bits,
/// at the start and after sleep.
struct LeadingSilenceTests {
  private static let lengths = [0, 1, 7, 15, 16, 17, 40, 63, 64, 65, 100, 200]

  /// `rest`: frames of silence that are enough for sleep. `silences`: frames before the first sound.
  private func expectSameBits<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]], hasSide: Bool,
    rest: Int = 3000, rate: Double = 48_000, silences: [Int] = LeadingSilenceTests.lengths,
    splits: [[Int]] = [[1], [16], [17], [5, 64, 30]],
    moves: [(frame: Int, parameter: Int, value: Float)] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for channels in [1, 2, 3] {
      for silence in silences {
        var chance = Chance(UInt64(silence + 1))
        // Sound, then silence that is long enough for sleep, then sound within a cell.
        let sound = (0..<channels).map { _ in
          [Float](repeating: 0, count: silence) + chance.signal(150)
            + [Float](repeating: 0, count: rest) + chance.signal(150)
        }
        let inputs = hasSide ? [sound, []] : [sound]
        func run(_ lengths: [Int]) -> (sound: [[[Float]]], slept: Int) {
          let bench = KernelBench(
            type, description, inputs: inputs, outputs: [channels], values, rate: rate)
          bench.moves = moves.map {
            .init(frame: $0.frame, parameter: $0.parameter, value: $0.value, over: 480)
          }
          return (bench.run(rest + 500, .init(lengths: lengths)), bench.sleptBlocks)
        }
        let whole = run([64])
        if rest > 3000 {
          #expect(whole.slept > 0, "it has slept between the sounds", sourceLocation: sourceLocation)
        }
        for lengths in splits {
          let difference = firstDifference(whole.sound, run(lengths).sound)
          #expect(
            difference == nil, "\(channels) channels, silence of \(silence), split \(lengths)",
            sourceLocation: sourceLocation)
        }
      }
    }
  }

  @Test(arguments: [Float(0), 1]) func compressor(link: Float) {
    expectSameBits(
      Compressor.self, Compressor.description,
      [Compressor.link: [link], Compressor.threshold: [0.1], Compressor.release: [0.002]], hasSide: true)
  }

  @Test(arguments: [Float(0), 1]) func expander(link: Float) {
    expectSameBits(
      Expander.self, Expander.description,
      [Expander.link: [link], Expander.threshold: [0.7], Expander.release: [0.01]], hasSide: true)
  }

  @Test(arguments: [Float(0), 1]) func gate(link: Float) {
    expectSameBits(
      Gate.self, Gate.description,
      [Gate.link: [link], Gate.threshold: [0.7], Gate.hold: [0.0005], Gate.release: [0.002]], hasSide: true)
  }

  /// The range goes elsewhere while the gate sleeps.
  @Test(arguments: [Float(0), 1]) func gateWithAnotherRange(link: Float) {
    for (from, to) in [(Float(1), Float(0)), (0, 1), (0.5, 0.1), (0.1, 0.5)] {
      expectSameBits(
        Gate.self, Gate.description,
        [
          Gate.link: [link], Gate.threshold: [0.7], Gate.hold: [0.0005], Gate.release: [0.002],
          Gate.range: [from],
        ],
        hasSide: true, silences: [0, 7, 100], splits: [[17], [5, 64, 30]],
        moves: [(frame: 1500, parameter: Gate.range, value: to)])
    }
  }

  @Test(arguments: [Float(0), 1]) func transient(link: Float) {
    expectSameBits(
      Transient.self, Transient.description,
      [Transient.link: [link], Transient.attack: [2], Transient.sustain: [0.5]], hasSide: true)
  }

  @Test(arguments: [Float(0), 1]) func limiter(link: Float) {
    expectSameBits(
      Limiter.self, Limiter.description,
      [Limiter.link: [link], Limiter.ceiling: [0.3], Limiter.release: [0.002]], hasSide: false)
  }

  @Test(arguments: [Float(0), 1]) func follower(detector: Float) {
    expectSameBits(
      Follower.self, Follower.description, [Follower.detector: [detector]], hasSide: false)
  }

  /// Modes are calculated on a grid of sixteen frames, and a stroke may come between its lines.
  @Test(arguments: [Float(4), 40]) func modal(modes: Float) {
    expectSameBits(
      Modal.self, Modal.description,
      [Modal.modes: [modes], Modal.decay: [0.02], Modal.damp: [50], Modal.freq: [700]], hasSide: false)
  }

  /// Feedback leaves less than -200 dB in the lines, and nothing of that is heard before the next sound.
  @Test(arguments: [Float(0), 60, -80]) func flanger(feedback: Float) {
    let position = SweptDelay.Position.self
    expectSameBits(
      Flanger.self, Flanger.description, [position.feedback: [feedback]], hasSide: false, rest: 9000,
      rate: 8000, silences: [0, 7, 100], splits: [[17], [5, 64, 30]])
  }

  @Test(arguments: [Float(0), 60, 90]) func delay(feedback: Float) {
    expectSameBits(
      Delay.self, Delay.description, [Delay.time: [0.004], Delay.feedback: [feedback]], hasSide: false,
      rest: 42_000, rate: 8000, silences: [0, 7, 100], splits: [[17], [5, 64, 30]])
  }

  @Test(arguments: [Float(0), 60, 80]) func echo(feedback: Float) {
    expectSameBits(
      Echo.self, Echo.description,
      [Echo.time: [0.01], Echo.feedback: [feedback], Echo.longest: [0.1]], hasSide: false, rest: 20_000,
      rate: 8000, silences: [0, 7, 100], splits: [[17], [5, 64, 30]])
  }

  @Test func reverb() {
    expectSameBits(
      Reverb.self, Reverb.description, [Reverb.decay: [0.1], Reverb.size: [20]], hasSide: false,
      rest: 20_000, rate: 8000, silences: [0, 7], splits: [[17]])
  }
}
