import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `granular`: grains are the parts of the file that they should be.
struct GranularTests {
  /// A kernel with a sound, which is freed afterwards.
  private func run(
    _ sound: [[Float]], _ values: [Int: [Float]], _ frames: Int, rate: Double = 48_000, seed: UInt64 = 7,
    _ arrange: (KernelBench<Granular>) -> Void = { _ in }, _ split: KernelBench<Granular>.Split = .whole
  ) -> [[Float]] {
    let bench = KernelBench(
      Granular.self, Granular.description, outputs: [2],
      values.merging([Granular.level: [1], Granular.spread: [0], Granular.jitter: [0]]) { own, _ in own },
      rate: rate, seed: seed)
    let resource = GrainSample.make(sound, name: "sound")
    bench.kernel.use(resource.header)
    arrange(bench)
    let out = bench.run(frames, split)[0]
    bench.kernel.release()
    #expect(!resource.header.pointee.isUsed)
    return out
  }

  private func noise(_ frames: Int, _ seed: UInt64) -> [Float] {
    var chance = Chance(seed)
    return chance.signal(frames, 0.5)
  }

  /// Even grains, one after the other.
  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func grainsAreWindowedPartsOfTheFile(rate: Double) {
    var chance = Chance(UInt64(rate))
    for channels in 1...2 {
      let sound = (0..<channels).map { noise(Int(rate), UInt64($0 + 1)) }
      let position = Float.random(in: 0...80, using: &chance)
      let size = Float.random(in: 0.01...0.05, using: &chance)
      let out = run(
        sound,
        [
          Granular.position: [position], Granular.size: [size], Granular.density: [10], Granular.scatter: [0],
        ],
        Int(rate / 2), rate: rate)
      let (first, length) = (Int(Double(position) / 100 * rate), Int(size * Float(rate)) + 1)
      for side in 0..<2 {
        let plane = sound[side % channels]
        for number in 0..<4 {
          // Rounding may take a frame.
          let begin = (0..<3).map { Int(Double(number) * rate / 10) + $0 - 1 }.first { begin in
            begin >= 0
              && (0..<length).allSatisfy { age in
                let w = pow(sin(Double.pi * (Double(age) + 0.5) / Double(length)), 2)
                return abs(Double(out[side][begin + age]) - w * Double(plane[first + age])) < 1e-4
              }
          }
          #expect(begin != nil, "grain \(number), side \(side) at \(rate) Hz")
        }
      }
    }
  }

  /// A tone's grains have its pitch, and where they overlap evenly by half their sum is steady.
  @Test(arguments: [-12, -7, 0, 3.5, 12]) func grainsHaveTheirPitch(pitch: Float) {
    let tone = (0..<96_000).map { Float(0.5 * sin(2 * Double.pi * 400 * Double($0) / 48_000)) }
    // One long grain.
    let out = run(
      [tone], [Granular.pitch: [pitch], Granular.size: [0.4], Granular.density: [1], Granular.scatter: [0]],
      19_200)[0]
    let frequency = 400 * pow(2, Double(pitch) / 12)
    func level(_ frequency: Double) -> Double {
      var (re, im) = (0.0, 0.0)
      for (frame, y) in out.enumerated() {
        re += Double(y) * cos(2 * Double.pi * frequency * Double(frame) / 48_000)
        im += Double(y) * sin(2 * Double.pi * frequency * Double(frame) / 48_000)
      }
      return (re * re + im * im).squareRoot() / 9600
    }
    // Half a Hann window's sum; the peak of the spectrum is where it should be.
    #expect(abs(level(frequency) - 0.25) < 0.005, "\(level(frequency))")
    #expect(abs(level(frequency * 1.0006) - level(frequency / 1.0006)) < 0.002)
  }

  @Test func densityScatterAndSpread() {
    let sound = [[Float](repeating: 1, count: 48_000)]
    for scatter in [Float(0), 100] {
      // Grains of a millisecond, which do not often meet.
      let out = run(
        sound,
        [
          Granular.size: [0.001], Granular.density: [50], Granular.scatter: [scatter], Granular.spread: [100],
        ],
        480_000)
      var begins: [Int] = []
      for frame in 1..<480_000
      where out[0][frame] + out[1][frame] > 0 && out[0][frame - 1] + out[1][frame - 1] == 0 {
        begins.append(frame)
      }
      #expect(abs(Double(begins.count) / 500 - 1) < (scatter == 0 ? 0.01 : 0.2), "\(begins.count)")
      let gaps = zip(begins, begins.dropFirst()).map { Double($1 - $0) / 960 }
      let mean = gaps.reduce(0, +) / Double(gaps.count)
      let deviation = (gaps.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(gaps.count)).squareRoot()
      #expect(scatter == 0 ? deviation < 0.01 : abs(deviation - 1) < 0.25, "\(deviation)")
      // Sides are spread evenly, by equal power.
      let lefts = begins.filter { out[0][$0 + 20] > out[1][$0 + 20] }.count
      #expect(abs(Double(lefts) / Double(begins.count) - 0.5) < 0.1)
    }
  }

  /// However many grains are asked for, they are as loud as few, and there is no gap among them.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func manyGrainsAreAsLoudAsFew(seed: UInt64) {
    var chance = Chance(seed)
    let size = Float.random(in: 0.05...0.5, using: &chance)
    let scatter = Float.random(in: 0...100, using: &chance)
    let isMoving = seed % 2 == 0
    let sound = [noise(96_000, seed)]
    func power(_ overlap: Float) -> (mean: Double, least: Double) {
      let frames = 48_000
      let values: [Int: [Float]] = [
        Granular.size: [size], Granular.density: [overlap / size], Granular.scatter: [scatter],
        Granular.position: [30], Granular.jitter: [0.5],
      ]
      // The same size as a signal, which moves next to nothing.
      let still = [Float](repeating: 1e-6, count: frames)
      let out = run(
        sound, values, frames, seed: seed,
        { bench in if isMoving { bench.modulation = [Granular.size: [still]] } })[0]
      // Once as many sound as are to, which takes the length of one.
      let parts = stride(from: 24_000, to: frames, by: 1200).map { first in
        out[first..<first + 1200].map { Double($0) * Double($0) }.reduce(0, +) / 1200
      }
      return (parts.reduce(0, +) / Double(parts.count), parts.min()!)
    }
    let few = power(40)
    // At most 2000 a second.
    let many = power(min(Float.random(in: 70...1000, using: &chance), 2000 * size))
    #expect(abs(10 * log10(many.mean / few.mean)) < 2, "\(few), \(many)")
    #expect(10 * log10(many.least / few.mean) > -8, "\(few), \(many)")
  }

  /// However far chance leads beyond the ends of the file, grains begin everywhere, and seldom at the same frame.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func chanceLeadsEverywhereInTheFile(seed: UInt64) {
    var chance = Chance(seed)
    let rate = 8000.0
    // A sound whose samples tell their places.
    let sound = [(0..<4000).map { Float($0 + 1) / 4000 }]
    let position = [Float(0), 100, Float.random(in: 0...100, using: &chance)].randomElement(using: &chance)!
    let jitter = Float.random(in: 0.6...30, using: &chance)
    let out = run(
      sound,
      [
        Granular.position: [position], Granular.jitter: [jitter], Granular.size: [0.01],
        Granular.density: [50], Granular.scatter: [0],
      ], 80_000, rate: rate, seed: seed)[0]
    // Even grains, one every 160 frames; the middle of each is the loudest.
    let places = stride(from: 0, to: 80_000, by: 160).map { first in
      Double(out[first..<first + 81].max()!)
    }
    for tenth in 0..<10 {
      let count = places.filter { Int($0 * 10) == tenth }.count
      #expect(count > 8 && count < 110, "\(position) %, \(jitter) s: \(count) of 500 in tenth \(tenth)")
    }
  }

  /// Without density there is no grain, not even at the start; the first begins where the density rises.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func withoutDensityThereIsNoGrain(seed: UInt64) {
    var chance = Chance(seed)
    let sound = [[Float](repeating: 1, count: 48_000)]
    let rise = Int.random(in: 1...3000, using: &chance)
    let scatter = Float.random(in: 0...100, using: &chance)
    for isMoving in [false, true] {
      let densities: [Float] = (0..<6000).map { $0 < rise ? 0 : 20 }
      let out = run(
        sound, [Granular.density: [0], Granular.scatter: [scatter]], 6000, seed: seed,
        { bench in if isMoving { bench.modulation = [Granular.density: [densities]] } })
      #expect(out[0].firstIndex { $0 != 0 } == (isMoving ? rise : nil))
    }
  }

  @Test func theSameSeedGivesTheSameGrains() {
    let sound = [noise(48_000, 3)]
    let values: [Int: [Float]] = [
      Granular.jitter: [0.3], Granular.spread: [80], Granular.detune: [3], Granular.seed: [5],
    ]
    let one = run(sound, values, 24_000)
    #expect(one == run(sound, values, 24_000, seed: 99))
    #expect(one != run(sound, values.merging([Granular.seed: [6]]) { $1 }, 24_000))
  }

  /// Dense clouds are as loud as thin ones, and nothing has a step: grains begin and end at zero.
  @Test func nothingClicksAndManyAreAsLoudAsFew() {
    let tone = [(0..<96_000).map { Float(0.5 * sin(2 * Double.pi * 200 * Double($0) / 48_000)) }]
    func power(_ density: Float) -> Double {
      let out = run(
        tone, [Granular.density: [density], Granular.jitter: [0.5], Granular.position: [50]], 96_000)
      #expect(largestStep(out[0]) < 0.12)
      return out[0].map { Double($0) * Double($0) }.reduce(0, +)
    }
    #expect(abs(decibels((power(20) / power(200)).squareRoot())) < 2)
  }

  /// Grains at the file's own pitch that go on behind its end: there is silence, whichever frame a block begins with.
  @Test(arguments: [UInt64(1), 2, 3]) func anySplitGivesTheSameBitsBehindTheEnd(seed: UInt64) {
    let sound = [noise(Int(100 * seed + 37), seed)]
    func once(_ lengths: [Int]) -> [[Float]] {
      run(
        sound, [Granular.size: [0.02], Granular.density: [60], Granular.scatter: [100]], 4800, seed: seed,
        { _ in }, .init(lengths: lengths))
    }
    let whole = once([64])
    #expect(whole[0].contains { $0 != 0 })
    for lengths in [[1], [17], [5, 64, 30], [33]] {
      #expect(firstDifference([whole], [once(lengths)]) == nil, "split \(lengths)")
    }
  }

  @Test func anySplitGivesTheSameBits() {
    let sound = [noise(24_000, 3), noise(24_000, 4)]
    func once(_ lengths: [Int]) -> [[Float]] {
      run(
        sound,
        [
          Granular.jitter: [0.1], Granular.density: [300], Granular.detune: [5], Granular.spread: [100],
          Granular.size: [0.02],
        ],
        9000, seed: 3,
        {
          $0.time = 37
          $0.modulation = [Granular.density: [(0..<9000).map { 200 * Float(sin(Double($0) * 0.01)) }]]
          $0.moves = [
            .init(frame: 3000, parameter: Granular.level, value: 0, over: 100),
            .init(frame: 6100, parameter: Granular.level, value: 1, over: 100),
            .init(frame: 1000, parameter: Granular.pitch, value: 12, over: 3000),
          ]
        }, .init(lengths: lengths))
    }
    let whole = once([64])
    for lengths in [[1], [17], [5, 64, 30]] {
      #expect(firstDifference([whole], [once(lengths)]) == nil, "split \(lengths)")
    }
  }
}
