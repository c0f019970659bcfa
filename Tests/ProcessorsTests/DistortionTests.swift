import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// The distortion's curves, latency, aliases and tone.
struct DistortionTests {
  @Test func curvesAreWhatTheyAreCalled() {
    for x in stride(from: Float(-12), through: 12, by: 0.37) {
      #expect((hyperbolicTangents(Frames(repeating: x))[3] - tanhf(x)).magnitude < 2e-4)
      let (sine, cosine) = sinesAndCosines(Frames(repeating: x))
      #expect((sine[3] - sinf(x)).magnitude < 1e-5)
      #expect((cosine[3] - cosf(x)).magnitude < 1e-5)
    }
  }

  @Test(arguments: [(Float(1), 0), (2, 32), (4, 39)], [Float(0), 1, 2]) func theWetSoundIsAsLateAsItSays(
    oversampling: (factor: Float, latency: Int), shape: Float
  ) {
    let (oversample, latency) = oversampling
    // Quiet enough for every curve to be linear.
    var quiet = impulse(500, at: 100)
    quiet[100] = 0.001
    let bench = KernelBench(
      Distortion.self, Distortion.description, inputs: [[quiet]], outputs: [1],
      [Distortion.oversample: [oversample], Distortion.shape: [shape], Distortion.drive: [1]])
    #expect(bench.kernel.latency == latency)
    let out = bench.run(500)[0][0]
    let loudest = out.indices.max { out[$0].magnitude < out[$1].magnitude }!
    #expect(loudest == 100 + latency)
    // The dry path has the same delay: half dry and half wet add up to the whole.
    let both = KernelBench(
      Distortion.self, Distortion.description, inputs: [[quiet]], outputs: [1],
      [
        Distortion.oversample: [oversample], Distortion.shape: [shape], Distortion.drive: [1],
        Distortion.mix: [50],
      ])
    let mixed = both.run(500)[0][0]
    for f in [100.0, 1000, 8000, 18_000] {
      // The filter against the droop of the curves with corners is short.
      let tolerance = shape == 0 || oversample == 1 ? 0.1 : 0.3
      #expect(abs(decibels(response(mixed, f) / 0.001)) < tolerance, "at \(f) Hz")
      #expect(abs(decibels(response(out, f) / 0.001)) < tolerance, "at \(f) Hz")
    }
    let dry = KernelBench(
      Distortion.self, Distortion.description, inputs: [[quiet]], outputs: [1],
      [Distortion.oversample: [oversample], Distortion.mix: [0]])
    #expect(dry.run(500)[0][0][100 + latency] == 0.001)
  }

  @Test func oversamplingLowersAliases() {
    func aliases(_ oversample: Float) -> Double {
      let tone = (0..<48_000).map { Float(sin(2 * .pi * 5003 * Double($0) / 48_000)) }
      let bench = KernelBench(
        Distortion.self, Distortion.description, inputs: [[tone]], outputs: [1],
        [Distortion.oversample: [oversample], Distortion.drive: [linear(12)]])
      let out = bench.run(49_000)[0][0]
      var worst = 0.0
      for k in [5, 7, 9, 11, 13, 15] {
        let folded = k * 5003 % 48_000
        let alias = folded > 24_000 ? 48_000 - folded : folded
        if alias < 20_000 { worst = max(worst, amplitude(out[1000...], Double(alias))) }
      }
      return decibels(worst)
    }
    #expect(aliases(1) > -45)
    #expect(aliases(2) < -85)
    #expect(aliases(4) < -70)
  }

  @Test func toneTiltsAroundOneKilohertz() {
    func level(_ tone: Float, _ f: Double) -> Double {
      var quiet = impulse(8000)
      quiet[0] = 0.001
      let bench = KernelBench(
        Distortion.self, Distortion.description, inputs: [[quiet]], outputs: [1],
        [Distortion.drive: [1], Distortion.tone: [tone], Distortion.oversample: [1]])
      return decibels(response(bench.run(8000)[0][0], f) / 0.001)
    }
    #expect(abs(level(0, 50)) < 0.01)
    #expect(abs(level(0, 15_000)) < 0.01)
    #expect(abs(level(1, 30) + 6) < 0.2)
    #expect(abs(level(1, 18_000) - 6) < 0.2)
    #expect(abs(level(-1, 30) - 6) < 0.2)
    #expect(abs(level(-1, 18_000) + 6) < 0.2)
  }

  // MARK: Aliases

  /// The loudest alias below 20 kHz of a sine of 5003 Hz driven by 24 dB, in dB against the fundamental.
  func loudestAlias(_ shape: Float, _ oversample: Float) -> Double {
    let tone = (0..<49_000).map { Float(sin(2 * .pi * 5003 * Double($0) / 48_000)) }
    let bench = KernelBench(
      Distortion.self, Distortion.description, inputs: [[tone]], outputs: [1],
      [Distortion.oversample: [oversample], Distortion.shape: [shape], Distortion.drive: [linear(24)]])
    let out = bench.run(49_000)[0][0][1000...]
    var worst = 0.0
    for k in stride(from: 5, through: 61, by: 2) {
      let folded = k * 5003 % 48_000
      let alias = folded > 24_000 ? 48_000 - folded : folded
      if alias < 20_000 { worst = max(worst, amplitude(out, Double(alias))) }
    }
    return decibels(worst / amplitude(out, 5003))
  }

  /// Without the antiderivatives these are -28 and -45 dB for tanh, -26 and -40 dB for clipping, and -1 and -72 dB for
  /// folding.
  @Test func curvesAliasLittleWhereTheyAreOversampled() {
    for (shape, oversample, limit) in [
      (Float(0), Float(2), -55.0), (0, 4, -70), (2, 2, -55.0), (2, 4, -70), (1, 2, -28), (1, 4, -68),
    ] {
      let alias = loudestAlias(shape, oversample)
      #expect(alias < limit, "shape \(shape) at \(oversample) times: \(alias) dB")
    }
  }

  /// Without oversampling each frame is the curve of that frame and of no other, for any number of channels, drives that
  /// rest or move, and shares of dry sound.
  @Test(arguments: [Float(0), 1, 2]) func withoutOversamplingEachFrameIsTheCurveItself(shape: Float) {
    var chance = Chance(31)
    for channels in 1...3 {
      let signal = (0..<channels).map { _ in chance.signal(1000).map { 4 * $0 } }
      let (drive, mix) = (
        Float.random(in: 0.1...8, using: &chance), Float([0, 35, 100].randomElement(using: &chance)!)
      )
      let moving = (0..<1000).map { _ in Float.random(in: -1...1, using: &chance) }
      for isMoving in [false, true] {
        let bench = KernelBench(
          Distortion.self, Distortion.description, inputs: [signal], outputs: [channels],
          [
            Distortion.oversample: [1], Distortion.shape: [shape], Distortion.drive: [drive],
            Distortion.mix: [mix],
          ])
        if isMoving { bench.modulation = [Distortion.drive: [moving]] }
        let out = bench.run(1000)[0]
        for channel in 0..<channels {
          for frame in 0..<1000 {
            let dry = signal[channel][frame]
            let x = dry * (drive + (isMoving ? moving[frame] : 0))
            let wet = shape == 0 ? tanhf(x) : shape == 1 ? sinf(x) : min(max(x, -1), 1)
            let expected = dry + (wet - dry) * mix / 100
            #expect((out[channel][frame] - expected).magnitude < 2e-4, "frame \(frame) of channel \(channel)")
          }
        }
      }
    }
  }

  /// Neighbours that are equal, nearly so or far apart, small or huge: a line's curve lies between the limits, and where
  /// the sound rests it is the curve itself.
  @Test(arguments: [Float(0), 1, 2]) func theCurvesAreSafeForAnyNeighbours(shape: Float) {
    var chance = Chance(21)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 64)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: 1 << 16)
    var arena = Arena(memory)
    let room = CurveRoom(&arena)
    let (even, odd) = (arena.take(Float.self, 128, after: 32), arena.take(Float.self, 128, after: 32))
    let (toEven, toOdd) = (arena.take(Float.self, 128), arena.take(Float.self, 128))
    let sizes: [Float] = [0, 1e-38, 1e-20, 1e-7, 0.001, 0.5, 1, 1 + 1e-7, 3, 1000, 1e6, 1e20]
    let steps: [Float] = [0, 1e-30, 1e-8, 1e-6, 0.01, 1, 100]
    func neighbour() -> Float {
      let sign: Float = Bool.random(using: &chance) ? 1 : -1
      return sign * sizes.randomElement(using: &chance)!
        + steps.randomElement(using: &chance)! * Float.random(in: -1...1, using: &chance)
    }
    for _ in 0..<100 {
      for frame in -32..<64 { (even[frame], odd[frame]) = (neighbour(), neighbour()) }
      room.apply(shape, even, odd, toEven: toEven, toOdd: toOdd, 64)
      // The filter against the droop has gains of up to 1.84 together.
      for frame in 0..<64 { #expect(toEven[frame].magnitude < 1.9 && toOdd[frame].magnitude < 1.9) }
    }
    for level in [Float(0.3), 0.999_999_9, 1, 1.5, 40] {
      for frame in -32..<64 { (even[frame], odd[frame]) = (level, level) }
      room.apply(shape, even, odd, toEven: toEven, toOdd: toOdd, 64)
      let expected = shape == 0 ? tanhf(level) : shape == 1 ? sinf(level) : min(level, 1)
      #expect((toEven[50] - expected).magnitude < 2e-5 && (toOdd[50] - expected).magnitude < 2e-5, "\(level)")
    }
  }

  /// Lines of any length, upwards and downwards, on either side of zero and across it, beside an integral in many steps.
  @Test func averagesOfLinesAreThoseOfTheCurve() {
    var chance = Chance(23)
    for _ in 0..<2000 {
      let length = pow(10, Float.random(in: -4...3, using: &chance))
      let start = Float.random(in: -1...1, using: &chance) * (Bool.random(using: &chance) ? 3 : length)
      let end = start + (Bool.random(using: &chance) ? length : -length)
      let (a, b) = (Double(start), Double(end))
      let steps = 20_000
      var expected = (0.0, 0.0)
      for step in 0..<steps {
        let t = (Double(step) + 0.5) / Double(steps)
        let y = tanh(a + (b - a) * t) / Double(steps)
        expected.0 += (1 - t) * y
        expected.1 += t * y
      }
      let averages = SaturatedFrames(Frames(repeating: start)).averages(
        to: SaturatedFrames(Frames(repeating: end)))
      #expect(abs(Double(averages.start[5]) - expected.0) < 5e-5, "from \(start) to \(end)")
      #expect(abs(Double(averages.end[9]) - expected.1) < 5e-5, "from \(start) to \(end)")
    }
  }

  /// The tone's low-pass rests while the tone is 0, and has the right state when it comes on.
  @Test func toneThatComesOnSoundsAsIfItHadAlwaysBeen() {
    var chance = Chance(22)
    let signal = chance.signal(4000)
    func bench(_ tone: Float) -> KernelBench<Distortion> {
      KernelBench(
        Distortion.self, Distortion.description, inputs: [[signal]], outputs: [1], [Distortion.tone: [tone]])
    }
    let always = bench(1)
    let expected = always.run(4000)[0][0]
    for frame in [2000, 2048, 2111] {
      let late = bench(0)
      late.moves = [.init(frame: frame, parameter: Distortion.tone, value: 1, over: 0)]
      let out = late.run(4000)[0][0]
      for index in frame..<4000 { #expect((out[index] - expected[index]).magnitude < 1e-5, "frame \(index)") }
    }
  }
}
