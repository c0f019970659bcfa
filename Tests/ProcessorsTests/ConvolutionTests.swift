import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Convolution against sums of products.
final class ConvolutionTests {
  /// Impulses in use, so that none is freed before the test's end.
  private var kept: [Resource] = []

  private func impulse(_ channels: [[Float]]) -> Resource {
    kept.append(Impulse.make(channels, name: "room"))
    return kept.last!
  }

  private func bench(
    _ impulse: Resource?, _ input: [[Float]], _ values: [Int: [Float]] = [:], rate: Double = 48_000
  ) -> KernelBench<Convolution> {
    let bench = KernelBench(
      Convolution.self, Convolution.description, inputs: [input], outputs: [input.count],
      values.merging([Convolution.channels: [Float(input.count)]]) { $1 }, rate: rate)
    bench.kernel.use(impulse?.header)
    return bench
  }

  /// Noise that decays.
  private func room(_ frames: Int, _ seed: UInt64) -> [Float] {
    var chance = Chance(seed)
    return chance.signal(frames).enumerated().map { $1 * expf(-4 * Float($0) / Float(frames)) }
  }

  /// Some frames of the sum of products, in double precision.
  private func expected(_ x: [Float], _ h: [Float], _ frame: Int) -> Double {
    var sum = 0.0
    for k in 0..<min(h.count, frame + 1) { sum += Double(x[frame - k]) * Double(h[k]) }
    return sum
  }

  private func expectConvolved(_ out: [Float], _ x: [Float], _ h: [Float], _ frames: [Int], _ what: String) {
    let scale = h.map { Double($0) * Double($0) }.reduce(0, +).squareRoot()
    for frame in frames {
      let error = abs(Double(out[frame]) - expected(x, h, frame))
      #expect(error < 2e-6 * (1 + scale), "\(what), frame \(frame): \(error)")
    }
  }

  /// Sound, a silence of any length, in which the node may go to sleep, and sound again.
  @Test(arguments: [1, 200, 2500, 9000], [10, 3000, 30_000]) func itSoundsAgainAfterASilence(
    frames: Int, gap: Int
  ) {
    var chance = Chance(UInt64(frames &+ gap))
    let h = room(frames, 6)
    let x = chance.signal(4000) + [Float](repeating: 0, count: gap) + chance.signal(4000)
    let bench = bench(self.impulse([h]), [x], [Convolution.length: [1]])
    let out = bench.run(x.count)[0][0]
    if gap > frames + 8 * 1024 { #expect(bench.sleptBlocks > 0) }
    let places = (0..<40).map { _ in Int.random(in: 0..<4000, using: &chance) }
    expectConvolved(out, x, h, places + places.map { $0 + 4000 + gap }, "\(frames) after \(gap)")
    // Asleep from the start, as in a patch whose cable comes later.
    let late = [Float](repeating: 0, count: gap) + chance.signal(4000)
    let other = self.bench(self.impulse([h]), [late], [Convolution.length: [1]])
    expectConvolved(
      other.run(late.count)[0][0], late, h, places.map { $0 + gap }, "\(frames), late by \(gap)")
  }

  /// The sound that a node lets in which comes while it sounds: it rises within 10 ms.
  private func risen(_ sound: [Float]) -> [Float] {
    var gain = Ramp(0)
    gain.move(to: 1, over: 480)
    return sound.map { sample in
      defer { gain.skip(1) }
      return sample * gain.value
    }
  }

  @Test(arguments: [1, 2, 63, 64, 65, 500, 2047, 2048, 2049, 3100, 9000, 20_000])
  func soundIsConvolvedWithoutLatency(frames: Int) {
    var chance = Chance(UInt64(frames))
    let h = room(frames, 5)
    let impulse = self.impulse([h])
    let x = chance.signal(24_000)
    for start in [Int64(0), 1000] {
      let bench = bench(impulse, [x], [Convolution.length: [1]])
      bench.time = start
      let out = bench.run(24_000)[0][0]
      let places =
        (0..<60).map { _ in Int.random(in: 0..<24_000, using: &chance) } + [0, 1, 63, 64, 1023, 1024]
      let heard = start == 0 ? x : risen(x)
      expectConvolved(out, heard, h, places, "\(frames) frames from \(start) on")
      #expect(bench.isMemoryIntact)
    }
  }

  @Test func channelsHaveTheirOwnImpulses() {
    var chance = Chance(3)
    let x = (0..<3).map { _ in chance.signal(4000) }
    let h = [room(2500, 1), room(2500, 2)]
    let impulse = self.impulse(h)
    let bench = bench(
      impulse, x, [Convolution.length: [1], Convolution.mix: [25], Convolution.level: [2]])
    let out = bench.run(4000)[0]
    bench.kernel.release()
    #expect(impulse.header.pointee.isUsed == false)
    for channel in 0..<3 {
      for frame in [100, 2000, 3999] {
        let wet = expected(x[channel], h[channel % 2], frame)
        let whole = 0.75 * Double(x[channel][frame]) + 0.5 * wet
        #expect(abs(Double(out[channel][frame]) - whole) < 1e-4)
      }
    }
  }

  @Test func anySplitGivesTheSameBits() {
    var chance = Chance(7)
    let impulses = [impulse([room(7000, 1)]), impulse([room(3000, 2)])]
    var x = chance.signal(9000)
    for frame in 3000..<4500 { x[frame] = 0 }
    func run(_ split: KernelBench<Convolution>.Split) -> [[[Float]]] {
      let bench = bench(impulses[0], [x, x], [Convolution.length: [0.3]])
      bench.time = 37
      bench.moves = [.init(frame: 700, parameter: Convolution.mix, value: 40, over: 300)]
      let first = bench.run(2500, split)
      bench.kernel.use(impulses[1].header)
      let second = bench.run(6500, split)
      return [first[0] + second[0]]
    }
    let whole = run(.whole)
    for lengths in [[1], [17], [16], [5, 64, 30], chance.lengths(), chance.lengths()] {
      let difference = firstDifference(whole, run(.init(lengths: lengths)))
      #expect(difference == nil, "split \(lengths)")
    }
  }

  /// Two impulses of one sound: between them there is no step, and in the end only the new one is heard.
  @Test func anotherImpulseComesByCrossfade() {
    let x = tone(200, 24_000, 0.5)
    let h = [room(4000, 1), room(6000, 2)].map { h in h.map { $0 * 0.02 } }
    let impulses = h.map { impulse([$0]) }
    let bench = bench(impulses[0], [x], [Convolution.length: [1]])
    let first = bench.run(9111)[0][0]
    bench.kernel.use(impulses[1].header)
    let second = bench.run(24_000 - 9111)[0][0]
    let out = first + second
    var chance = Chance(2)
    let places = (0..<40).map { _ in Int.random(in: 0..<9100, using: &chance) }
    expectConvolved(out, x, h[0], places, "before")
    expectConvolved(out, x, h[1], places.map { $0 + 13_000 }, "afterwards")
    let usual = largestStep(Array(out[6000..<9000])) + largestStep(Array(out[15_000...]))
    #expect(largestStep(Array(out[9000...13_000])) < 1.2 * usual + 0.002)
    #expect(impulses[0].header.pointee.isUsed == false && impulses[1].header.pointee.isUsed)
    bench.kernel.use(nil)
    _ = bench.run(4000)
    #expect(peak(bench.run(1000)[0][0]) == 0)
    #expect(impulses[1].header.pointee.isUsed == false)
  }

  @Test func aTailEndsAndAllRecovers() {
    var chance = Chance(4)
    let impulse = self.impulse([room(4000, 1)])
    let short = bench(impulse, [chance.signal(500)], [Convolution.length: [6]])
    let out = short.run(48_000)[0][0]
    #expect(short.sleptBlocks > 550, "the impulse's length decides, not the room for longer ones")
    #expect(peak(Array(out[2000..<4400])) > 0)
    short.kernel.release()
    #expect(impulse.header.pointee.isUsed == false)
    for wrong in [Float.nan, .infinity, 1e30] {
      var input = chance.signal(30_000)
      input[1000] = wrong
      let out = bench(impulse, [input], [Convolution.length: [0.1]]).run(30_000)[0][0]
      #expect(out[20_000...].allSatisfy { $0.magnitude < 1000 }, "after \(wrong)")
    }
  }

  /// A change of the rate leaves no sound of before, and the work goes on.
  @Test func anotherRateBeginsAnew() {
    var chance = Chance(5)
    let (x, h) = (chance.signal(9000), room(3000, 1))
    let impulse = self.impulse([h])
    let bench = bench(impulse, [x], [Convolution.length: [0.5]])
    _ = bench.run(4096)
    bench.retune(to: 96_000)
    bench.rewind()
    let out = bench.run(9000)[0][0]
    expectConvolved(out, x, h, [0, 5, 64, 2000, 5000, 8999], "afterwards")
    #expect(bench.isMemoryIntact)
  }
}
