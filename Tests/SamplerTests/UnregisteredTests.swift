import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Unregistered parameters: those of a bank's generators are offsets to what the bank states, all others are left
/// alone, and none is taken for a registered one.
@Suite struct Unregistered {
  let folder = Folder()

  static func choose(_ high: Float, _ low: Float...) -> [Event] {
    [.control(99, high)] + low.map { .control(98, $0) }
  }

  /// Data entry of an offset, from the middle.
  static func data(_ offset: Int, fineFirst: Bool = true) -> [Event] {
    let entry = offset + 8192
    let halves: [Event] = [.control(38, Float(entry % 128)), .control(6, Float(entry / 128))]
    return fineFirst ? halves : halves.reversed()
  }

  /// One program of a bank: a tone with overtones, in the middle.
  func rig(_ generators: [(Int, Int)]) throws -> Rig<Sampler> {
    let tone = zip(sine(4800, period: 96, amplitude: 0.25), sine(4800, period: 24, amplitude: 0.2)).map(+)
    let preset = BankWriter.Preset(
      bank: 0, program: 0, samples: tone, loop: 0..<4800, instrument: generators + [(54, 1)])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: folder.write("a.sf2", BankWriter.bytes([preset]))).resource)
    rig.read = ["reverb", "chorus"]
    return rig
  }

  /// A note of 0.4 s, and 0.2 s of its end, at all outputs.
  func note(_ rig: Rig<Sampler>, key: UInt8 = 48, after events: [Event] = []) -> [Float] {
    let start = Int(rig.time)
    var heard: [Float] = []
    _ = rig.run(640, ([Event(.allSoundOff)] + events).map { (start, $0) })
    for (frames, event) in [(19_200, Event.on(key, 100)), (9_600, .off(key))] {
      let output = rig.run(frames, [(Int(rig.time), event)])
      heard += output[0] + output[1]
      for name in ["reverb", "chorus"] { heard += (rig.heard[name] ?? []).joined() }
    }
    return heard
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var generator: Int
    var offset: Int
    /// Units that the offset adds to the generator.
    var units: Int
    /// Generators that the bank states besides, and its own value of this one.
    var bank: [(Int, Int)]
    var base: Int

    init(
      _ name: String, _ generator: Int, _ offset: Int, _ units: Int, base: Int = 0, _ bank: [(Int, Int)] = []
    ) {
      testDescription = name
      (self.generator, self.offset, self.units, self.base, self.bank) = (generator, offset, units, base, bank)
    }
  }

  static let cases: [Case] = [
    Case("a later beginning", 0, 700, 700),
    Case("depth of the modulation LFO", 5, 50, 100),
    Case("depth of the vibrato", 6, -40, -80, base: 30),
    Case("depth of the modulation envelope", 7, 300, 600, [(26, -2400)]),
    Case("cutoff of a filter", 8, -1500, -3000, base: 9000),
    Case("cutoff where there was no filter", 8, -3000, -6000, base: 13500),
    Case("resonance where there was no filter", 9, 200, 200),
    Case("resonance", 9, -100, -100, base: 150, [(8, 9000)]),
    Case("modulation LFO to a cutoff", 10, 600, 1200, [(8, 8000)]),
    Case("modulation envelope to a cutoff", 11, -1200, -2400, [(8, 9000), (26, -2400)]),
    Case("tremolo", 13, 60, 60),
    Case("chorus", 15, 300, 300), Case("reverb", 16, -200, -200, base: 500),
    Case("pan", 17, 300, 300, base: -500),
    Case("delay of the modulation LFO", 21, 5000, 10_000, base: -12000, [(5, 100)]),
    Case("speed of the modulation LFO", 22, -300, -1200, [(5, 100)]),
    Case("delay of the vibrato", 23, 5000, 10_000, base: -12000, [(6, 100)]),
    Case("speed of the vibrato", 24, 100, 400, base: -800, [(6, 100)]),
    Case("modulation envelope: delay", 25, 4800, 9600, base: -12000, [(7, 1200)]),
    Case("modulation envelope: attack", 26, 4000, 8000, base: -12000, [(7, 1200)]),
    Case("modulation envelope: hold", 27, 4500, 9000, base: -12000, [(7, 1200), (29, 900)]),
    Case("modulation envelope: decay", 28, 4500, 9000, base: -12000, [(7, 1200), (29, 900)]),
    Case("modulation envelope: sustain", 29, 500, 500, [(7, 1200)]),
    Case("modulation envelope: release", 30, 5000, 10_000, base: -12000, [(7, 1200), (38, 0)]),
    Case("modulation envelope: keys to hold", 31, 50, 50, [(7, 1200), (27, -4000), (29, 900)]),
    Case("modulation envelope: keys to decay", 32, -50, -50, [(7, 1200), (28, -2000), (29, 900)]),
    Case("envelope: delay", 33, 4800, 9600, base: -12000),
    Case("envelope: attack", 34, 4000, 8000, base: -12000),
    Case("envelope: hold", 35, 4500, 9000, base: -12000, [(36, -4000), (37, 300)]),
    Case("envelope: decay", 36, 4500, 9000, base: -12000, [(37, 300)]),
    Case("envelope: sustain", 37, 200, 200, [(36, -4000)]),
    Case("envelope: release", 38, 5000, 10_000, base: -12000),
    Case("envelope: keys to hold", 39, 50, 50, [(35, -4000), (36, -4000), (37, 300)]),
    Case("envelope: keys to decay", 40, -100, -100, [(36, -2000), (37, 300)]),
    Case("semitones", 51, 3, 3), Case("cents", 52, 25, 25), Case("cents a key", 56, -50, -50, base: 100),
  ]

  /// A channel's offset sounds as if the bank stated it.
  @Test(arguments: cases) func anOffsetSoundsAsTheBankWould(_ example: Case) throws {
    func bank(_ value: Int) throws -> Rig<Sampler> {
      try rig(example.bank + [(example.generator, value)])
    }
    let expected = note(try bank(example.base + example.units))
    let plain = note(try bank(example.base))
    let parameter = Self.choose(120, Float(example.generator))
    for isFineFirst in [true, false] {
      let rig = try bank(example.base)
      let heard = note(rig, after: parameter + Self.data(example.offset, fineFirst: isFineFirst))
      let farthest = zip(heard, expected).map { abs($0 - $1) }.max() ?? 1
      let change = zip(plain, expected).map { abs($0 - $1) }.max() ?? 0
      #expect(farthest < 2e-3 && change > 0.02, "\(farthest) of \(change)")
      // Back to what the bank has.
      let back = note(rig, after: parameter + Self.data(0))
      #expect(zip(back, plain).allSatisfy { abs($0 - $1) < 2e-3 })
    }
  }

  @Test func attenuationCountsInFullAndNeverAmplifies() throws {
    func peak(_ offset: Int) throws -> Double {
      let rig = try rig([(48, 100)])
      let events = [.control(7, 127)] + Self.choose(120, 48) + Self.data(offset) + [.on(60)]
      return Double(rig.run(9600, events.map { (0, $0) })[0].max() ?? 0)
    }
    let plain = try peak(0)
    #expect(abs(20 * log10(try peak(60) / plain) + 6) < 0.01)
    #expect(abs(20 * log10(try peak(200) / plain) + 20) < 0.01)
    // The bank's own 100 are 4 dB; three controllers at their full take a little more.
    #expect(abs(20 * log10(try peak(-300) / plain) - 4 - 3 * 40 * log10(128.0 / 127)) < 0.02)
  }

  /// Cents above 500 Hz, from a tone's zero crossings.
  private func cents(_ rig: Rig<Sampler>) -> Double {
    let output = rig.run(9600)[0]
    let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
    guard let last = marks.last, let first = marks.first, marks.count > 2 else { return .nan }
    return 1200 * log2(96 * Double(marks.count - 1) / Double(last - first))
  }

  private func play(_ rig: Rig<Sampler>, _ events: [Event]) {
    _ = rig.run(4800, events.map { (Int(rig.time), $0) })
  }

  private func sineRig() throws -> Rig<Sampler> {
    let preset = BankWriter.Preset(
      bank: 0, program: 0, samples: sine(4800, period: 96), loop: 0..<4800, instrument: [(54, 1)])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: folder.write("s.sf2", BankWriter.bytes([preset]))).resource)
    return rig
  }

  @Test func notesThatSoundFollowAndOtherChannelsDoNot() throws {
    let rig = try sineRig()
    play(rig, [.on(60)] + Self.choose(120, 52) + Self.data(50))
    #expect(abs(cents(rig) - 50) < 0.5)
    // The generator stays chosen; steps are of one.
    play(rig, Self.data(70) + [.control(96, 0), .control(96, 0), .control(97, 0)])
    #expect(abs(cents(rig) - 71) < 0.5)
    // A controller that resets others leaves the offset; data after it are for nothing.
    play(rig, [.control(121, 0)] + Self.data(-99))
    #expect(abs(cents(rig) - 71) < 0.5)
    play(rig, [Event(.allSoundOff), Event(.noteOn, channel: 3, key: 60, value: 100)])
    #expect(abs(cents(rig)) < 0.5)
    play(rig, [Event(.allSoundOff), Event(.reset), .on(60)])
    #expect(abs(cents(rig)) < 0.5)
  }

  /// Numbers that no generator of a bank has, and others' parameters.
  static let strangers: [[Event]] = [
    choose(1, 8), choose(1, 0), choose(0, 0), choose(0, 1), choose(0, 2), choose(127, 127), choose(120),
    choose(120, 100, 0), choose(120, 101, 52), choose(120, 100, 100, 2), choose(120, 102, 1), choose(120, 63),
    choose(120, 99), choose(120, 41), choose(120, 53), choose(120, 58), choose(120, 127),
    [.control(98, 0)], [.control(98, 2)], [.control(99, 0)], [.control(99, 0), .control(98, 120)],
  ]

  @Test(arguments: strangers) func dataForAnotherParameterMovesNothing(_ events: [Event]) throws {
    for registered in [0, 1, 2] as [Float] {
      let rig = try sineRig()
      // A registered parameter was chosen before; the bend is half-way up.
      play(rig, [.control(101, 0), .control(100, registered)] + events)
      play(rig, [.control(6, 5), .control(38, 7), .control(96, 0), .control(97, 0), .control(97, 0)])
      play(rig, [.on(60), Event(.bend, value: 0.5)])
      #expect(abs(cents(rig) - 100) < 0.5, "\(registered)")
      // It counts again when it is chosen again.
      play(rig, [.control(101, 0), .control(100, 0), .control(6, 12)])
      #expect(abs(cents(rig) - 600) < 1)
    }
  }

  @Test func aHundredMoreIsForTheNextNumberOnly() throws {
    let rig = try sineRig()
    play(rig, [.on(60)] + Self.choose(120, 100, 52) + Self.data(50) + [.control(98, 110)])
    #expect(abs(cents(rig)) < 0.5)
    play(rig, [.control(98, 52)] + Self.data(50))
    #expect(abs(cents(rig) - 50) < 0.5)
  }

  @Test func instrumentsOfSfzHaveNoGenerators() throws {
    folder.wav("sine.wav", [sine(4800, period: 96)])
    let rig = Rig<Sampler>(Sampler.description)
    let text = "<region> sample=sine.wav loop_mode=loop_continuous"
    rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
    play(rig, [.on(60)] + Self.choose(120, 52) + Self.data(50) + Self.choose(120, 8) + Self.data(-4000))
    #expect(abs(cents(rig)) < 0.5)
  }

  /// Whatever controllers say, in whatever order: the sound stays a sound.
  @Test(arguments: [71, 72, 73] as [UInt64]) func noControllersMakeAnythingButSound(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      let rig = try rig([(8, 9000), (6, 30), (7, 200), (38, -2000), (37, 100), (28, 0)])
      var events: [(Int, Event)] = []
      for _ in 0..<600 {
        let number: UInt8 = [6, 6, 38, 96, 97, 98, 98, 99, 100, 101, 121, 1, 7].randomElement(using: &random)!
        let value = [0, 1, 127, 120, Int.random(in: 0...60, using: &random)].randomElement(using: &random)!
        events.append((Int.random(in: 0..<48_000, using: &random), .control(number, Float(value))))
      }
      for key in 30..<60 {
        let start = Int.random(in: 0..<40_000, using: &random)
        events.append((start, .on(UInt8(key))))
        events.append((start + Int.random(in: 1...8000, using: &random), .off(UInt8(key))))
      }
      let output = rig.run(48_000, events.sorted { $0.0 < $1.0 })
      #expect(output.joined().allSatisfy { $0.isFinite && abs($0) < 1e4 })
    }
  }
}
