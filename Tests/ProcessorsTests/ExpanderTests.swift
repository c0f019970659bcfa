import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// The expander's curve and times, the transient shaper's gains.
struct ExpanderTests {
  private static let rates = [8000.0, 48_000, 192_000]

  private func expander(_ values: [Int: [Float]], _ input: [[Float]], rate: Double = 48_000)
    -> KernelBench<Expander>
  {
    KernelBench(
      Expander.self, Expander.description, inputs: [input, []], outputs: [input.count],
      values.merging([Expander.link: [1]]) { a, _ in a }, rate: rate)
  }

  private static func curve(
    _ level: Double, _ threshold: Double, _ ratio: Double, _ knee: Double, _ range: Double
  )
    -> Double
  {
    let under = threshold - level
    var reduction = 0.0
    if 2 * under > knee {
      reduction = (ratio - 1) * under
    } else if 2 * under > -knee {
      reduction = (ratio - 1) * (under + knee / 2) * (under + knee / 2) / (2 * knee)
    }
    return min(reduction, -range)
  }

  @Test(arguments: rates) func anExpanderHasTheStaticCurveThatIsSet(rate: Double) {
    var chance = Chance(UInt64(rate))
    for number in 0..<18 {
      let channels = [1, 2, 9][number % 3]
      let threshold = Double.random(in: -50 ... -10, using: &chance)
      // At high ratios little of the curve is above the range.
      let isSteep = number % 2 == 0
      let ratio = Double.random(in: 1...(isSteep ? 50 : 8), using: &chance)
      let knee = Double.random(in: 0...18, using: &chance)
      let range = Double.random(in: -60 ... -10, using: &chance)
      let level =
        isSteep
        ? threshold - Double.random(in: -0.5 * knee...60 / ratio, using: &chance)
        : Double.random(in: -70...0, using: &chance)
      let frames = Int(0.45 * rate)
      // Of either sign, so that the magnitude stays.
      let input = (0..<frames).map { _ in linear(level) * (Bool.random(using: &chance) ? 1 : -1) }
      let out = expander(
        [
          Expander.threshold: [linear(threshold)], Expander.ratio: [Float(ratio)],
          Expander.knee: [linear(knee)], Expander.range: [linear(range)],
          Expander.release: [Float.random(in: 0.001...0.02, using: &chance)], Expander.attack: [0.001],
          Expander.link: [0],
        ], [[Float]](repeating: input, count: channels), rate: rate
      ).run(frames)[0][channels - 1]
      let reduction = level - decibels(Double(out[frames - 1].magnitude))
      let expected = Self.curve(level, threshold, ratio, knee, range)
      #expect(
        abs(reduction - expected) < 0.02,
        "\(channels) channels, \(level) dB under \(threshold) dB, \(ratio), knee \(knee): \(reduction) dB")
    }
  }

  /// A loud tone's soft frames are no reason to make it softer.
  @Test(arguments: [100.0, 500, 5000]) func peaksCountNotWhatIsBetween(freq: Double) {
    let out = expander(
      [Expander.threshold: [linear(-20)], Expander.ratio: [10], Expander.knee: [1]],
      [tone(freq, 48_000, 0.25)]
    ).run(48_000)[0][0]
    #expect(abs(decibels(Double(peak(Array(out[40_000...]))) / 0.25)) < 0.1)
  }

  @Test(arguments: rates) func anExpanderShutsAndOpensInItsTimes(rate: Double) {
    let frames = Int(rate)
    var input = [Float](repeating: 0.5, count: 2 * frames)
    for frame in frames..<2 * frames { input[frame] = 1e-4 }
    let release = 0.1
    let out = expander(
      [
        Expander.threshold: [linear(-20)], Expander.ratio: [10], Expander.range: [linear(-40)],
        Expander.release: [Float(release)],
      ], [input], rate: rate
    ).run(2 * frames)[0][0]
    // The peak before is forgotten first: from -6 dB to the curve's end at -24.4 dB by one time constant each 8.7 dB.
    let forgotten = 0.02 * log(0.5 / Double(linear(-20 - 40.0 / 9)))
    let reach = Int((1 + forgotten + release) * rate)
    let reduction = -decibels(Double(out[reach]) / 1e-4)
    #expect(abs(reduction - 40 * (1 - exp(-1.0))) < 4, "\(reduction) dB")
    #expect(abs(-decibels(Double(out[2 * frames - 1]) / 1e-4) - 40) < 0.1)
  }

  @Test func channelsOfAnExpanderGoTogetherOrAlone() {
    var chance = Chance(5)
    let (loud, soft) = (chance.signal(9600), chance.signal(9600, 0.002))
    let linked = expander([:], [loud, soft]).run(9600)[0]
    let ratio = linked[1][9000] / soft[9000]
    #expect(abs(ratio - linked[0][9000] / loud[9000]) < 1e-5)
    let alone = expander([Expander.link: [0]], [loud, soft]).run(9600)[0]
    let single = expander([Expander.link: [0]], [soft]).run(9600)[0][0]
    #expect(alone[1] == single)
    #expect(peak(Array(alone[1][8000...])) < 0.5 * peak(Array(linked[1][8000...])))
  }

  // MARK: Transients

  private func shaper(_ values: [Int: [Float]], _ input: [Float], rate: Double = 48_000) -> [Float] {
    KernelBench(
      Transient.self, Transient.description, inputs: [[input], []], outputs: [1],
      values.merging([Transient.link: [1]]) { a, _ in a }, rate: rate
    ).run(input.count)[0][0]
  }

  /// A beginning has all of the gain, what lasts has none, at any level.
  @Test(arguments: rates, [-12.0, 9, 24]) func beginningsHaveTheGainThatIsSet(rate: Double, gain: Double) {
    let frames = Int(rate)
    for level in [-60.0, -20, 0] {
      var input = [Float](repeating: 0, count: 2 * frames)
      for frame in frames / 2..<2 * frames { input[frame] = linear(level) * (frame % 2 == 0 ? 1 : -1) }
      let out = shaper([Transient.attack: [linear(gain)], Transient.length: [0.05]], input, rate: rate)
      func change(_ seconds: Double) -> Double {
        let frame = frames / 2 + Int(seconds * rate)
        return decibels(Double(out[frame] / input[frame]))
      }
      #expect(abs(change(0.004) - gain) < 0.3, "\(level) dB: \(change(0.004))")
      #expect(abs(change(0.8)) < 0.1, "\(level) dB: \(change(0.8))")
    }
  }

  /// What follows a sound has its gain.
  @Test(arguments: [-18.0, 12]) func tailsHaveTheGainThatIsSet(gain: Double) {
    var input = [Float](repeating: 0, count: 96_000)
    for frame in 0..<96_000 {
      let size = frame < 24_000 ? 1 : max(expf(-Float(frame - 24_000) / 2400), 1e-4)
      input[frame] = size * (frame % 2 == 0 ? 0.5 : -0.5)
    }
    let out = shaper([Transient.attack: [1], Transient.sustain: [linear(gain)], Transient.tail: [1]], input)
    func change(_ frame: Int) -> Double { decibels(Double(out[frame] / input[frame])) }
    #expect(abs(change(23_000)) < 0.1)
    #expect(abs(change(24_000 + 14_400) - gain) < 0.3, "\(change(24_000 + 14_400))")
  }

  /// A tone or noise that lasts has neither gain, whatever is set.
  @Test(arguments: [8000.0, 44_100, 192_000], [1, 2, 3, 4] as [UInt64])
  func whatLastsHasNoGain(rate: Double, seed: UInt64) {
    var chance = Chance(UInt64(rate) &+ seed)
    let frames = Int(rate * 2)
    let level = linear(Double.random(in: -60...0, using: &chance))
    let frequency = 50 * pow(rate / 4 / 50, Double.random(in: 0...1, using: &chance))
    let input = (0..<frames).map { frame -> Float in
      seed == 4
        ? Float.random(in: -level...level, using: &chance)
        : level * Float(sin(2 * Double.pi * frequency * Double(frame) / rate))
    }
    let gains = [-24.0, 24].shuffled(using: &chance)
    let out = shaper(
      [
        Transient.attack: [linear(gains[0])], Transient.sustain: [linear(gains[1])],
        Transient.length: [Float.random(in: 0.001...0.2, using: &chance)],
        Transient.tail: [Float.random(in: 0.1...0.5, using: &chance)],
      ], input, rate: rate)
    func power(_ sound: [Float]) -> Double {
      sound[(frames * 3 / 4)...].map { Double($0) * Double($0) }.reduce(0, +)
    }
    let change = 10 * log10(power(out) / power(input))
    // Noise goes up and down by more than a tone.
    #expect(abs(change) < (seed == 4 ? 0.5 : 0.1), "\(frequency) Hz, \(gains): \(change) dB")
  }

  @Test func theyEndAndPassSilence() {
    var chance = Chance(6)
    let noise = chance.signal(1000)
    let expanding = expander([:], [noise])
    _ = expanding.run(192_000)
    #expect(expanding.sleptBlocks > 500)
    let shaping = KernelBench(
      Transient.self, Transient.description, inputs: [[noise], []], outputs: [1], [Transient.tail: [0.1]])
    _ = shaping.run(192_000)
    #expect(shaping.sleptBlocks > 500)
  }
}

extension LaneTests {
  /// Linked channels would hear the louder ones that come.
  @Test func widerCablesKeepGains() {
    expectKept(
      Expander.self, Expander.description, [Expander.link: [0], Expander.threshold: [0.9]], within: 1e-5)
    expectKept(
      Transient.self, Transient.description, [Transient.link: [0], Transient.sustain: [2]], within: 1e-5)
  }
}

extension SplitTests {
  @Test(arguments: [Float(0), 1], [0, 2]) func expander(link: Float, sides: Int) {
    expectSameBits(
      Expander.self, Expander.description, inputs: [signals(3), signals(sides, 5)], outputs: [3],
      [Expander.link: [link], Expander.threshold: [0.9], Expander.release: [0.01]],
      modulation: [Expander.threshold: [wobble(0.1)]],
      moves: [
        .init(frame: 70, parameter: Expander.ratio, value: 9, over: 100),
        .init(frame: 171, parameter: Expander.attack, value: 0.01, over: 100),
        .init(frame: 333, parameter: Expander.knee, value: 8, over: 100),
        .init(frame: 640, parameter: Expander.range, value: 0.1, over: 100),
      ])
  }

  @Test(arguments: [Float(0), 1], [0, 2]) func transient(link: Float, sides: Int) {
    expectSameBits(
      Transient.self, Transient.description, inputs: [signals(3), signals(sides, 5)], outputs: [3],
      [Transient.link: [link]], modulation: [Transient.attack: [wobble(1)]],
      moves: [
        .init(frame: 70, parameter: Transient.sustain, value: 4, over: 100),
        .init(frame: 171, parameter: Transient.length, value: 0.002, over: 100),
        .init(frame: 333, parameter: Transient.tail, value: 0.1, over: 100),
        .init(frame: 640, parameter: Transient.mix, value: 30, over: 100),
      ])
  }
}
