import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// What rings: `string` and `modal`, against theory.
struct ResonatorTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  /// Frequency near `guess`, from the phases of two spans apart in time; and decibels by which it falls between them.
  private func partial(_ signal: [Float], near guess: Double, rate: Double, at start: Double, apart: Double)
    -> (frequency: Double, fall: Double)
  {
    let length = Int(rate * min(0.25, 40 / guess))
    func bin(_ first: Int) -> (re: Double, im: Double) {
      var (re, im) = (0.0, 0.0)
      for n in 0..<length {
        // A Hann window keeps other partials out.
        let window: Double = 0.5 - 0.5 * cos(2 * Double.pi * Double(n) / Double(length))
        let angle: Double = 2 * Double.pi * guess * Double(first + n) / rate
        let x: Double = window * Double(signal[first + n])
        re += x * cos(angle)
        im -= x * sin(angle)
      }
      return (re, im)
    }
    let (first, second) = (Int(start * rate), Int((start + apart) * rate))
    let (a, b) = (bin(first), bin(second))
    let turn: Double = atan2(b.im * a.re - b.re * a.im, b.re * a.re + b.im * a.im)
    let time: Double = Double(second - first) / rate
    let fall: Double = 20 * log10(hypot(a.re, a.im) / hypot(b.re, b.im))
    return (guess + turn / (2 * Double.pi * time), fall)
  }

  private func cents(_ a: Double, _ b: Double) -> Double { 1200 * log2(a / b) }

  @Test(arguments: rates) func aStringIsInTuneAndDecaysInItsTime(rate: Double) {
    var chance = Chance(UInt64(rate))
    for number in 0..<16 {
      // To a twelfth of the rate: any octave, or one of the last two.
      let octaves: Double = number % 2 == 0 ? log2(rate / 12 / 40) : 2
      let freq = Float(rate / 12 * pow(0.5, Double.random(in: 0...octaves, using: &chance)))
      let decay = Float.random(in: 0.5...6, using: &chance)
      // At most it takes six tenths of what the lowest partial falls in a period.
      let spread = max((rate / 48_000).rounded(), 1)
      let taken = rate / 48_000 / spread * sin(Double.pi * Double(freq) * spread / rate)
      let most = 100 * (0.6 * 6.9 / Double(freq * decay)).squareRoot() / taken
      let damp = Float.random(in: 0...Float(min(20, most)), using: &chance)
      let bench = KernelBench(
        PluckedString.self, PluckedString.description,
        inputs: [[[]], [[Float](repeating: 0.8, count: Int(rate * 2))]], outputs: [1],
        [PluckedString.freq: [freq], PluckedString.decay: [decay], PluckedString.damp: [damp]], rate: rate)
      let out = bench.run(Int(rate * 1.2))[0][0]
      // So near that the phase cannot turn more than half way.
      let rough = partial(out, near: Double(freq), rate: rate, at: 0.15, apart: 0.02)
      let (frequency, fall) = partial(out, near: rough.frequency, rate: rate, at: 0.15, apart: 0.6)
      #expect(abs(cents(frequency, Double(freq))) < 1, "\(freq) Hz: \(cents(frequency, Double(freq))) cents")
      let time = 60 * 0.6 / fall
      #expect(abs(time / Double(decay) - 1) < 0.05, "\(freq) Hz, damp \(damp): \(time) s of \(decay)")
    }
  }

  /// A node at the place where it is plucked: every fifth partial is missing.
  @Test func aStringPluckedAtAFifthLacksEveryFifthPartial() {
    let out = KernelBench(
      PluckedString.self, PluckedString.description, inputs: [[impulse(48_000)], [[]]], outputs: [1],
      [
        PluckedString.freq: [200], PluckedString.damp: [0], PluckedString.position: [20],
        PluckedString.decay: [10], PluckedString.level: [1],
      ]
    ).run(48_000)[0][0]
    func level(_ partial: Double) -> Double { decibels(amplitude(out[4800..<28_800], 200 * partial)) }
    for partial in [5.0, 10, 15] { #expect(level(partial) < level(partial - 2) - 30, "\(partial)") }
  }

  /// A stronger pluck is as much louder, and two plucks are not the same noise.
  @Test func plucksAreAsLoudAsTheGateIsHigh() {
    func pluck(_ height: Float) -> [Float] {
      KernelBench(
        PluckedString.self, PluckedString.description,
        inputs: [[[]], [[Float](repeating: height, count: 4000)]], outputs: [1]
      ).run(20_000)[0][0]
    }
    let (soft, loud) = (pluck(0.25), pluck(0.5))
    for frame in soft.indices { #expect(abs(loud[frame] - 2 * soft[frame]) < 1e-4) }
    #expect(peak(soft) > 0.05)
    // A gate that stays high plucks once.
    let gate = (0..<20_000).map { (frame: Int) -> Float in frame % 10_000 < 5000 ? 0.5 : 0 }
    let twice = KernelBench(
      PluckedString.self, PluckedString.description, inputs: [[[]], [gate]], outputs: [1],
      [PluckedString.decay: [0.05]]
    ).run(20_000)[0][0]
    #expect(peak(Array(twice[9000..<10_000])) < 0.01 && peak(Array(twice[10_000..<11_000])) > 0.05)
    #expect(Array(twice[10_000..<10_200]) != Array(twice[0..<200]))
  }

  @Test func aStringGlidesAndFallsAsleep() {
    let bench = KernelBench(
      PluckedString.self, PluckedString.description, inputs: [[[]], [[Float](repeating: 0.5, count: 500)]],
      outputs: [1], [PluckedString.freq: [220], PluckedString.decay: [0.2], PluckedString.damp: [100]])
    bench.moves = [.init(frame: 2000, parameter: PluckedString.freq, value: 330, over: 4800)]
    let out = bench.run(96_000)[0][0]
    #expect(largestStep(Array(out[2000...])) < 0.3)
    let isFinite = out.allSatisfy(\.isFinite)
    #expect(isFinite)
    #expect(bench.sleptBlocks > 300)
  }

  /// What is no number in the input does not stay in the loop.
  @Test func aStringRecoversFromWhatIsNoNumber() {
    var input = impulse(2000)
    (input[500], input[600], input[700]) = (.nan, .infinity, 3e38)
    let bench = KernelBench(
      PluckedString.self, PluckedString.description, inputs: [[input], [[]]], outputs: [1],
      [PluckedString.decay: [0.01]])
    let isTame = bench.run(96_000)[0][0][90_000...].allSatisfy { $0.isFinite && $0.magnitude < 1 }
    #expect(isTame)
  }

  // MARK: modal

  @Test(arguments: rates) func modesAreInTuneAndDecayInTheirTimes(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 1)
    for shape in 0..<4 {
      let highest = Float(rate / 40)
      let freq = Float.random(in: 60...highest, using: &chance)
      let decay = Float.random(in: 0.3...5, using: &chance)
      let damp = Float.random(in: 0...60, using: &chance)
      for count in [1, 5, 40] {
        let out = KernelBench(
          Modal.self, Modal.description, inputs: [[impulse(64)]], outputs: [1],
          [
            Modal.shape: [Float(shape)], Modal.freq: [freq], Modal.decay: [decay], Modal.damp: [damp],
            Modal.modes: [Float(count)],
          ], rate: rate
        ).run(Int(rate * 0.5))[0][0]
        for number in 0..<min(count, 3) {
          let ratio = Double(Modes.ratios[shape][number])
          let frequency = Double(freq) * ratio
          let time = Double(decay) * pow(ratio, -Double(damp) / 50)
          guard frequency < 0.4 * rate, time > 0.15 else { continue }
          let rough = partial(out, near: frequency, rate: rate, at: 0.01, apart: 0.005)
          let found = partial(out, near: rough.frequency, rate: rate, at: 0.01, apart: 0.1)
          let name = "\(Modes.shapes[shape]) \(number) at \(frequency) Hz of \(rate)"
          #expect(abs(cents(found.frequency, frequency)) < 1, "\(name): \(cents(found.frequency, frequency))")
          let measured = 60 * 0.1 / found.fall
          #expect(abs(measured / time - 1) < 0.05 || count > 30, "\(name): \(measured) s of \(time)")
        }
      }
    }
  }

  /// However many modes ring, and however they are damped: no stroke clips that was not too loud itself.
  @Test func aStrokeRingsNoHigherThanItsLevel() {
    var chance = Chance(21)
    for number in 0..<40 {
      let modes = Float([1, 2, 16, 33, 64][number % 5])
      let (height, level) = (
        Float.random(in: 0.1...1, using: &chance), Float.random(in: 0.1...1, using: &chance)
      )
      var input = [Float](repeating: 0, count: 64)
      input[Int.random(in: 0..<64, using: &chance)] = height
      let out = KernelBench(
        Modal.self, Modal.description, inputs: [[input]], outputs: [1],
        [
          Modal.shape: [Float(number % 4)], Modal.modes: [modes], Modal.level: [level],
          Modal.freq: [Float.random(in: 30...9000, using: &chance)],
          Modal.slope: [Float.random(in: -24...6, using: &chance)],
          Modal.damp: [Float.random(in: 0...100, using: &chance)],
          Modal.decay: [Float.random(in: 0.1...20, using: &chance)],
        ]
      ).run(4800)[0][0]
      let most = peak(out) / (height * level)
      #expect(most < 1.001 && most > 0.3, "\(modes) modes: \(most)")
    }
  }

  @Test func modesOfBodiesAreThoseOfTheory() {
    // Fletcher and Rossing, "The physics of musical instruments", 1998.
    let bar: [Float] = [1, 2.756, 5.404, 8.933, 13.344]
    let membrane: [Float] = [1, 1.594, 2.136, 2.296, 2.653, 2.918, 3.156, 3.501, 3.600]
    for (found, expected) in zip(Modes.ratios[1], bar) { #expect(abs(found - expected) < 2e-3) }
    for (found, expected) in zip(Modes.ratios[2], membrane) { #expect(abs(found - expected) < 2e-3) }
    for shape in Modes.ratios { #expect(shape.count == 64 && shape == shape.sorted() && shape[0] == 1) }
  }

  @Test func changesOfEverythingInModalDoNotClick() {
    var chance = Chance(4)
    let noise = chance.signal(3000, 0.02)
    let moves: [(Int, Float)] = [
      (Modal.shape, 2), (Modal.freq, 400), (Modal.decay, 0.1), (Modal.damp, 0), (Modal.modes, 3),
      (Modal.level, 0.1),
    ]
    for (parameter, value) in moves {
      let bench = KernelBench(
        Modal.self, Modal.description, inputs: [[noise]], outputs: [1], [Modal.freq: [150], Modal.decay: [4]])
      bench.moves = [.init(frame: 9000, parameter: parameter, value: value, over: 480)]
      let out = bench.run(20_000)[0][0]
      let before = largestStep(Array(out[5000..<9000]))
      let after = largestStep(Array(out[9000..<12_000]))
      #expect(after < 1.5 * before + 0.05 * peak(out), "\(Modal.description.parameters[parameter].name)")
    }
  }

  @Test func modalFallsAsleepAndRecovers() {
    var input = impulse(2000)
    (input[500], input[600]) = (.nan, .infinity)
    let bench = KernelBench(
      Modal.self, Modal.description, inputs: [[input, impulse(2000)]], outputs: [2], [Modal.decay: [0.1]])
    let out = bench.run(48_000)[0]
    let isFinite = out.allSatisfy { $0.allSatisfy(\.isFinite) }
    #expect(isFinite)
    #expect(bench.sleptBlocks > 100)
  }

  @Test func retunedStringsAndModesKeepTheirPitch() {
    let string = KernelBench(
      PluckedString.self, PluckedString.description,
      inputs: [[[]], [[Float](repeating: 0.8, count: 400_000)]], outputs: [1],
      [PluckedString.freq: [220], PluckedString.damp: [10]], rate: 48_000)
    _ = string.run(9600)
    string.retune(to: 96_000)
    let out = string.run(96_000)[0][0]
    let rough = partial(out, near: 220, rate: 96_000, at: 0.05, apart: 0.02)
    let found = partial(out, near: rough.frequency, rate: 96_000, at: 0.05, apart: 0.4)
    #expect(abs(cents(found.frequency, 220)) < 1)
    #expect(peak(out) > 0.02)
  }
}

extension SplitTests {
  @Test(arguments: [1, 3], [Float(150), 1700, 3000]) func string(channels: Int, freq: Float) {
    expectSameBits(
      PluckedString.self, PluckedString.description,
      inputs: [signals(channels), signals(channels, 5).map { $0.map { $0 > 0.9 ? $0 : 0 } }],
      outputs: [channels], [PluckedString.freq: [freq], PluckedString.decay: [0.5]],
      modulation: [PluckedString.freq: [wobble(freq / 3)], PluckedString.position: [wobble(5)]],
      moves: [
        .init(frame: 100, parameter: PluckedString.damp, value: 90, over: 200),
        .init(frame: 201, parameter: PluckedString.decay, value: 0.1, over: 99),
        .init(frame: 905, parameter: PluckedString.level, value: 0.3, over: 99),
        .init(frame: 950, parameter: PluckedString.freq, value: freq * 2, over: 300),
      ], startingAt: 37)
  }

  /// At rest a block of whole vectors is calculated at once, and others are not; the line's end comes within the sound.
  @Test(arguments: [1, 3], [Float(110), 700, 2500, 3000]) func stringAtRest(channels: Int, freq: Float) {
    expectSameBits(
      PluckedString.self, PluckedString.description,
      inputs: [
        signals(channels, frames: 5000),
        signals(channels, 5, frames: 5000).map { $0.map { $0 > 0.95 ? $0 : 0 } },
      ],
      outputs: [channels],
      [PluckedString.freq: (0..<channels).map { freq + 37 * Float($0) }, PluckedString.decay: [0.5]],
      frames: 5000,
      moves: [
        .init(frame: 1300, parameter: PluckedString.damp, value: 90, over: 200),
        .init(frame: 2201, parameter: PluckedString.position, value: 40, over: 99),
        .init(frame: 3400, parameter: PluckedString.freq, value: freq / 2, over: 33),
      ], startingAt: 64)
  }

  @Test(arguments: [1, 3]) func modal(channels: Int) {
    expectSameBits(
      Modal.self, Modal.description, inputs: [signals(channels)], outputs: [channels],
      [Modal.freq: (0..<channels).map { 100 + 37 * Float($0) }], modulation: [Modal.freq: [wobble(30)]],
      moves: [
        .init(frame: 100, parameter: Modal.modes, value: 40, over: 200),
        .init(frame: 201, parameter: Modal.shape, value: 3, over: 99),
        .init(frame: 333, parameter: Modal.decay, value: 0.1, over: 99),
        .init(frame: 700, parameter: Modal.modes, value: 4, over: 100),
        .init(frame: 905, parameter: Modal.level, value: 0.3, over: 99),
        .init(frame: 950, parameter: Modal.damp, value: 80, over: 300),
      ], startingAt: 37)
  }
}
