import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// What moves parameters (`constant`, `lfo`) and reckons with it (`add`, `multiply`, `crossfade`), against their formulas.
struct ControlTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  /// Largest distance of a signal from a formula of the frame.
  private func error(_ signal: [Float], _ formula: (Int) -> Double) -> Double {
    signal.indices.map { abs(Double(signal[$0]) - formula($0)) }.max() ?? 0
  }

  private func lfo(_ values: [Int: [Float]], channels: Int = 1, rate: Double = 48_000, seed: UInt64 = 7)
    -> KernelBench<Lfo>
  {
    KernelBench(
      Lfo.self, Lfo.description, inputs: [[[Float]](repeating: [], count: channels)], outputs: [channels],
      values, rate: rate, seed: seed)
  }

  /// Parts of the cycle that are done, 0..<1.
  private func done(_ frame: Int, _ frequency: Float, _ rate: Double, ahead: Double = 0) -> Double {
    let cycles = Double(frame) * Double(frequency) / rate + ahead
    return cycles - floor(cycles)
  }

  /// A shape by the part of the cycle that is done.
  private static func wave(_ shape: Int, _ part: Double, _ width: Double) -> Double {
    switch shape {
    case 0: return sin(2 * Double.pi * part)
    case 1:
      if part < 0.25 { return 4 * part }
      return part < 0.75 ? 2 - 4 * part : 4 * part - 4
    case 2: return 2 * part - 1
    case 3: return 1 - 2 * part
    default: return part < width ? 1 : -1
    }
  }

  @Test(arguments: rates) func wavesAreTheirFormulas(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<4 {
      let frequency = Float.random(in: 0.01...200, using: &chance)
      let ahead = Double(Int.random(in: -8...8, using: &chance)) / 8
      let width = Double(Float.random(in: 10...90, using: &chance))
      for shape in 0..<5 {
        for isUnipolar in [false, true] {
          let out = lfo(
            [
              Lfo.shape: [Float(shape)], Lfo.rate: [frequency], Lfo.phase: [Float(100 * ahead)],
              Lfo.width: [Float(width)], Lfo.range: [isUnipolar ? 1 : 0],
            ], rate: rate
          ).run(20_000)[0][0]
          var most = 0.0
          for frame in out.indices {
            let part = done(frame, frequency, rate, ahead: ahead)
            // Beside a jump the last bit decides.
            let jumps: [Double] = shape < 2 ? [] : shape == 4 ? [0, width / 100, 1] : [0, 1]
            if jumps.contains(where: { abs(part - $0) < 1e-5 }) { continue }
            let wave = Self.wave(shape, part, width / 100)
            let expected: Double = isUnipolar ? 0.5 + 0.5 * wave : wave
            most = max(most, abs(Double(out[frame]) - expected))
          }
          #expect(most < 5e-5, "shape \(shape), \(frequency) Hz at \(rate) Hz: \(most)")
        }
      }
    }
  }

  /// Two minutes later a slow wave is where it is to be: increments of 32 bits would be off by a thousandth.
  @Test(arguments: [Float(0.013), 0.7, 4.99]) func aSlowWaveKeepsItsTime(frequency: Float) {
    let bench = lfo([Lfo.shape: [2], Lfo.rate: [frequency]])
    let blocks = 100_000
    for _ in 0..<blocks / 1000 { _ = bench.run(64_000) }
    let out = bench.run(64)[0][0]
    let expected = 2 * done(64 * blocks, frequency, 48_000) - 1
    #expect(abs(Double(out[0]) - expected) < 1e-4, "\(out[0]) in place of \(expected)")
  }

  /// Random values stay within a cycle, go evenly over their range, and are others for another channel and node.
  @Test func randomValuesAreHeldAndSpreadEvenly() {
    func values(_ shape: Float, seed: UInt64) -> [[Float]] {
      // Sixteen frames a cycle.
      lfo([Lfo.shape: [shape], Lfo.rate: [3000]], channels: 2, rate: 48_000, seed: seed).run(64_000)[0]
    }
    let all = values(5, seed: 1)
    for channel in all {
      for frame in channel.indices where frame % 16 != 0 { #expect(channel[frame] == channel[frame - 1]) }
      let held = stride(from: 0, to: channel.count, by: 16).map { Double(channel[$0]) }
      let mean = held.reduce(0, +) / Double(held.count)
      let power = held.map { $0 * $0 }.reduce(0, +) / Double(held.count)
      // Three deviations of 4000 values.
      #expect(abs(mean) < 0.028, "\(mean)")
      #expect(abs(power - 1 / 3.0) < 0.015, "\(power)")
    }
    #expect(all[0] != all[1])
    #expect(all[0] != values(5, seed: 2)[0])
    #expect(all[0] == values(5, seed: 1)[0])
    // Wander begins each cycle where random is, and makes no step that is larger than its steepest slope.
    let course = values(6, seed: 1)[0]
    for frame in stride(from: 0, to: course.count, by: 16) { #expect(course[frame] == all[0][frame]) }
    #expect(largestStep(course) <= 2 * 1.875 / 16 * 1.01)
  }

  /// A rate that moves adds up to the phase that its integral is.
  @Test func aMovingRateAddsUp() {
    let bench = lfo([Lfo.shape: [2], Lfo.rate: [10]])
    let wobble = (0..<48_000).map { (frame: Int) -> Float in
      9 * Float(sin(2 * Double.pi * 3 * Double(frame) / 48_000))
    }
    bench.modulation[Lfo.rate] = [wobble]
    let out = bench.run(48_000)[0][0]
    var cycles = 0.0
    for frame in out.indices {
      let part = cycles - floor(cycles)
      if part > 1e-4, part < 1 - 1e-4 {
        #expect(abs(Double(out[frame]) - (2 * part - 1)) < 1e-4, "frame \(frame)")
      }
      cycles += Double(10 + wobble[frame]) / 48_000
    }
  }

  /// A gate at `reset` begins a cycle of its channel in its frame, whatever the rates, and random values are new ones. Vibrato
  /// under polyphony begins with each note.
  @Test(arguments: rates) func aResetBeginsACycleOfItsChannel(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 5)
    let frames = 6000
    for isListed in [false, true] {
      let rises = (0..<3).map { _ in [200, Int.random(in: 300...5000, using: &chance)] }
      let rates = isListed ? [7, 11, 250] as [Float] : [9]
      func run(_ shape: Float, ahead: Float) -> [[Float]] {
        let bench = lfo(
          [Lfo.shape: [shape], Lfo.rate: rates, Lfo.phase: [ahead]], channels: 3, rate: rate)
        bench.inputs = [rises.map { rises in (0..<frames).map { rises.contains($0) ? 0.3 : 0 } }]
        return bench.run(frames)[0]
      }
      let saw = run(2, ahead: 25)
      for (channel, out) in saw.enumerated() {
        var (begin, most) = (0, 0.0)
        for frame in out.indices {
          if rises[channel].contains(frame) { begin = frame }
          let part = done(frame - begin, isListed ? rates[channel] : 9, rate, ahead: 0.25)
          if part > 1e-3, part < 1 - 1e-3 { most = max(most, abs(Double(out[frame]) - (2 * part - 1))) }
        }
        #expect(most < 5e-5, "channel \(channel), rates \(rates): \(most)")
      }
      for ahead in [0, 25, 90, -30] as [Float] {
        for (channel, out) in run(5, ahead: ahead).enumerated() {
          for rise in rises[channel] { #expect(out[rise] != out[rise - 1], "\(ahead) % ahead") }
        }
      }
    }
  }

  /// Channels that come while a wave runs go with it, and those that were there go on to the bit.
  @Test func aWaveGoesOnAsItWidens() {
    let bench = lfo([Lfo.shape: [2], Lfo.rate: [3]], channels: 2)
    let alone = lfo([Lfo.shape: [2], Lfo.rate: [3]], channels: 2).run(3000)[0]
    bench.inputs = [[(0..<3000).map { $0 == 500 ? 1 : 0 }, []]]
    _ = bench.run(1000)
    bench.widen([[[Float]](repeating: [], count: 9)], outputs: [9])
    let out = bench.run(2000)[0]
    #expect(Array(out[1]) == Array(alone[1][1000...]) && bench.isMemoryIntact)
    for channel in [0] + Array(2..<9) {
      let most = error(out[channel]) { 2 * self.done($0 + 500, 3, 48_000) - 1 }
      #expect(most < 5e-5, "channel \(channel)")
    }
  }

  @Test func channelsAreApartByTheSpread() {
    let out = lfo([Lfo.rate: [5], Lfo.spread: [50]], channels: 4).run(9600)[0]
    for (channel, part) in [0.0, 0.25, 0.125, 0.375].enumerated() {
      let most = error(out[channel]) { frame in sin(2 * Double.pi * (5 * Double(frame) / 48_000 + part)) }
      #expect(most < 2e-6, "channel \(channel): \(most)")
    }
  }

  @Test func constantsAndSumsAreExact() {
    let constant = KernelBench(
      Constant.self, Constant.description, outputs: [2], [Constant.level: [0.3, -7000]])
    let values = constant.run(200)[0]
    #expect(values[0].allSatisfy { $0 == 0.3 } && values[1].allSatisfy { $0 == -7000 })
    var chance = Chance(3)
    let (x, y) = ([chance.signal(500), chance.signal(500)], chance.signal(500))
    let add = KernelBench(Add.self, Add.description, inputs: [x], outputs: [2], [Add.value: [0.25, -2]])
    add.modulation[Add.value] = [y]
    let sums = add.run(500)[0]
    for frame in 0..<500 {
      let (first, second): (Float, Float) = (0.25 + y[frame], -2 + y[frame])
      #expect(sums[0][frame] == x[0][frame] + first)
      #expect(sums[1][frame] == x[1][frame] + second)
    }
  }

  @Test func aConstantOfZeroSleepsAndOneThatIsAddedToSilenceDoesNot() {
    let zero = KernelBench(Constant.self, Constant.description, outputs: [1], [Constant.level: [0]])
    zero.moves = [.init(frame: 1000, parameter: Constant.level, value: 2, over: 10)]
    let out = zero.run(2000)[0][0]
    #expect(zero.sleptBlocks > 10)
    #expect(out[1500] == 2)
    let add = KernelBench(Add.self, Add.description, inputs: [[[]]], outputs: [1], [Add.value: [0.5]])
    #expect(add.run(640)[0][0].allSatisfy { $0 == 0.5 })
    #expect(add.sleptBlocks == 0)
  }

  /// Channels of `with` repeat; without a cable there it is a factor alone.
  @Test func productsAreExact() {
    var chance = Chance(5)
    let x = (0..<3).map { _ in chance.signal(500) }
    let y = (0..<2).map { _ in chance.signal(500) }
    for factor in [Float(1), -0.5] {
      let both = KernelBench(
        Multiply.self, Multiply.description, inputs: [x, y], outputs: [3], [Multiply.factor: [factor]]
      ).run(500)[0]
      let alone = KernelBench(
        Multiply.self, Multiply.description, inputs: [x, []], outputs: [3], [Multiply.factor: [factor]]
      ).run(500)[0]
      for channel in 0..<3 {
        for frame in 0..<500 {
          let (own, other) = (x[channel][frame], y[channel % 2][frame])
          let product: Float = own * other * factor
          #expect(both[channel][frame] == product)
          #expect(alone[channel][frame] == own * factor)
        }
      }
    }
  }

  /// The same sound at both sides is as loud at any place by the linear law, different ones by that of power.
  @Test(arguments: [Float(0), 12.5, 50, 77, 100]) func theSumOfACrossfadeStays(mix: Float) {
    var chance = Chance(8)
    let (a, b) = (chance.signal(4800), chance.signal(4800))
    func run(_ law: Float, _ a: [Float], _ b: [Float]) -> [Float] {
      KernelBench(
        Fader.self, Fader.description, inputs: [[a], [b]], outputs: [1], [Fader.mix: [mix], Fader.law: [law]]
      ).run(4800)[0][0]
    }
    let m = Double(mix) / 100
    let linear = run(0, a, b)
    let (cosine, sine) = (cos(Double.pi / 2 * m), sin(Double.pi / 2 * m))
    let ofLinear = error(linear) { frame in Double(a[frame]) * (1 - m) + Double(b[frame]) * m }
    let ofOne = error(run(0, a, a)) { frame in Double(a[frame]) }
    let ofPower = error(run(1, a, b)) { frame in Double(a[frame]) * cosine + Double(b[frame]) * sine }
    #expect(ofLinear < 1e-6 && ofOne < 3e-7 && ofPower < 1e-6, "\(ofLinear), \(ofOne), \(ofPower)")
    let silence = [Float](repeating: 0, count: 4800)
    let (first, second) = (run(1, a, silence), run(1, silence, a))
    for frame in a.indices {
      let (x, y, whole) = (Double(first[frame]), Double(second[frame]), Double(a[frame]))
      #expect(abs(x * x + y * y - whole * whole) < 1e-6)
    }
  }
}

extension SplitTests {
  @Test(arguments: [1, 3]) func constantAndAdd(channels: Int) {
    expectSameBits(
      Constant.self, Constant.description, outputs: [channels], [Constant.level: [0]],
      modulation: [Constant.level: [wobble(3)]],
      moves: [.init(frame: 77, parameter: Constant.level, value: -5, over: 480)])
    expectSameBits(
      Add.self, Add.description, inputs: [signals(channels)], outputs: [channels],
      modulation: [Add.value: [wobble(3)]],
      moves: [
        .init(frame: 77, parameter: Add.value, value: -5, over: 480),
        .init(frame: 900, parameter: Add.value, value: 0, over: 37),
      ])
  }

  @Test(arguments: [0, 2], [1, 3]) func multiply(sides: Int, channels: Int) {
    expectSameBits(
      Multiply.self, Multiply.description, inputs: [signals(channels), signals(sides, 5)],
      outputs: [channels], modulation: [Multiply.factor: [wobble(3)]],
      moves: [.init(frame: 77, parameter: Multiply.factor, value: -5, over: 480)])
  }

  @Test(arguments: [1, 2], [1, 3]) func crossfade(sides: Int, channels: Int) {
    expectSameBits(
      Fader.self, Fader.description, inputs: [signals(channels), signals(sides, 5)], outputs: [channels],
      modulation: [Fader.mix: [wobble(80)]],
      moves: [
        .init(frame: 77, parameter: Fader.mix, value: 90, over: 480),
        .init(frame: 640, parameter: Fader.law, value: 1, over: 100),
      ])
  }

  @Test(arguments: (0..<7).map(Float.init)) func lfo(shape: Float) {
    expectSameBits(
      Lfo.self, Lfo.description, inputs: [signals(3).map { $0.map { $0 > 0.8 ? $0 : 0 } }], outputs: [3],
      [Lfo.shape: [shape], Lfo.rate: [333], Lfo.spread: [30]],
      modulation: [Lfo.rate: [wobble(700)], Lfo.phase: [wobble(90)]],
      moves: [
        .init(frame: 100, parameter: Lfo.shape, value: 6 - shape, over: 200),
        .init(frame: 201, parameter: Lfo.range, value: 1, over: 99),
        .init(frame: 777, parameter: Lfo.width, value: 20, over: 300),
        .init(frame: 950, parameter: Lfo.spread, value: 100, over: 300),
      ], startingAt: 37)
  }

  /// One channel of which no more than the rate moves, beyond its limits too: whole blocks have a way of their own.
  @Test(arguments: (0..<7).map(Float.init)) func sweptWave(shape: Float) {
    expectSameBits(
      Lfo.self, Lfo.description, inputs: [[[]]], outputs: [1],
      [Lfo.shape: [shape], Lfo.rate: [5], Lfo.phase: [30], Lfo.spread: [70], Lfo.width: [35]],
      modulation: [Lfo.rate: [wobble(40_000)]], startingAt: 37)
  }

  /// One channel at rest, until something moves.
  @Test(arguments: (0..<7).map(Float.init)) func restingWave(shape: Float) {
    expectSameBits(
      Lfo.self, Lfo.description, inputs: [[[]]], outputs: [1],
      [Lfo.shape: [shape], Lfo.rate: [77], Lfo.spread: [70]],
      moves: [
        .init(frame: 700, parameter: Lfo.rate, value: 20, over: 100),
        .init(frame: 1010, parameter: Lfo.phase, value: 20, over: 0),
      ], startingAt: 37)
  }

  /// Resets of channels that have rates of their own.
  @Test(arguments: (0..<7).map(Float.init)) func resetWaves(shape: Float) {
    expectSameBits(
      Lfo.self, Lfo.description, inputs: [signals(3).map { $0.map { $0 > 0.9 ? $0 : 0 } }], outputs: [3],
      [Lfo.shape: [shape], Lfo.rate: [2, 40, 700]],
      moves: [
        .init(frame: 400, parameter: Lfo.rate, element: 1, value: 90, over: 300)
      ], startingAt: 37)
  }
}
