import Patch
import Realtime
import Testing

@testable import Processors

/// A kernel that follows levels may move in silence too. So any split of the silence before a sound must give the same bits,
/// at the start and after sleep.
struct LeadingSilenceTests {
  private static let lengths = [0, 1, 7, 15, 16, 17, 40, 63, 64, 65, 100, 200]

  private func expectSameBits<K: Kernel>(
    _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]], hasSide: Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for channels in [1, 2, 3] {
      for silence in Self.lengths {
        var chance = Chance(UInt64(silence + 1))
        // Sound, then silence that is long enough for sleep, then sound within a cell.
        let sound = (0..<channels).map { _ in
          [Float](repeating: 0, count: silence) + chance.signal(150)
            + [Float](repeating: 0, count: 3000) + chance.signal(150)
        }
        let inputs = hasSide ? [sound, []] : [sound]
        func run(_ lengths: [Int]) -> [[[Float]]] {
          KernelBench(type, description, inputs: inputs, outputs: [channels], values).run(
            3500, .init(lengths: lengths))
        }
        let whole = run([64])
        for lengths in [[1], [16], [17], [5, 64, 30]] {
          let difference = firstDifference(whole, run(lengths))
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
}
