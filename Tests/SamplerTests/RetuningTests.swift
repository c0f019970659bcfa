import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// MIDI tuning and part messages: registered parameters, the MIDI Tuning Standard, portamento, drums.
@Suite struct Retuning {
  let folder = Folder()

  enum Kind: CaseIterable { case sfz, bank }

  /// A 480 Hz sine on C4.
  func rig(_ kind: Kind) throws -> Rig<Sampler> {
    let rig = Rig<Sampler>(Sampler.description)
    switch kind {
    case .sfz:
      folder.wav("sine.wav", [sine(4800, period: 100)])
      let text = "<region> sample=sine.wav loop_mode=loop_continuous"
      rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
    case .bank: rig.use(try InstrumentLoader.load(path: bank()).resource)
    }
    return rig
  }

  private func bank(_ more: [BankWriter.Preset] = []) -> String {
    let samples = sine(4800, period: 100)
    return folder.write(
      "a.sf2",
      BankWriter.bytes(
        [.init(bank: 0, program: 0, samples: samples, loop: 0..<4800, instrument: [(54, 1)])] + more))
  }

  /// Cents above 480 Hz, over the next `frames` frames.
  func cents(_ rig: Rig<Sampler>, _ frames: Int = 9600) -> Double {
    let output = rig.run(frames)[0]
    let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
    guard marks.count > 2 else { return .nan }
    func place(_ mark: Int) -> Double {
      Double(mark) - Double(output[mark]) / Double(output[mark] - output[mark - 1])
    }
    return 1200 * log2(100 * Double(marks.count - 1) / (place(marks.last!) - place(marks[0])))
  }

  func play(_ rig: Rig<Sampler>, _ events: [Event], settling frames: Int = 4800) {
    let now = Int(rig.time)
    _ = rig.run(frames, events.map { (now, $0) })
  }

  /// A registered parameter with coarse and fine data.
  static func parameter(_ number: UInt8, _ coarse: Float, _ fine: Float? = nil, channel: UInt8 = 0) -> [Event]
  {
    var data: [(UInt8, Float)] = [(101, 0), (100, Float(number)), (6, coarse)]
    if let fine { data.append((38, fine)) }
    return data.map { Event(.control, channel: channel, key: $0.0, value: $0.1) }
  }

  @Test(arguments: Kind.allCases) func fineAndCoarseTuningMoveNotesThatSoundAndThoseToCome(_ kind: Kind)
    throws
  {
    let rig = try rig(kind)
    play(rig, [.on(60)])
    #expect(abs(cents(rig)) < 0.3)
    play(rig, Self.parameter(2, 64 + 3))
    #expect(abs(cents(rig) - 300) < 0.3)
    play(rig, Self.parameter(1, 96))
    #expect(abs(cents(rig) - 350) < 0.3)
    play(rig, [.off(60), Event(.allSoundOff)])
    play(rig, [.on(62)])
    #expect(abs(cents(rig) - 550) < 0.3)
    // Fine data is in 1/8192 of a semitone, with 64 as the middle.
    play(rig, Self.parameter(1, 64, 127))
    #expect(abs(cents(rig) - 500 - 127 * 100 / 8192) < 0.3)
    // Data without a selected parameter has no effect.
    play(rig, [.control(101, 127), .control(100, 127), .control(6, 0), .control(38, 9), .control(96, 0)])
    #expect(abs(cents(rig) - 500 - 127 * 100 / 8192) < 0.3)
    // Other channels have their own tuning.
    play(rig, [.off(62), Event(.allSoundOff)])
    play(rig, [Event(.noteOn, channel: 4, key: 60, value: 100)])
    #expect(abs(cents(rig)) < 0.3)
  }

  @Test func incrementsAndDecrementsStepByWhatAParameterCountsIn() throws {
    let rig = try rig(.bank)
    play(rig, [.on(60)] + Self.parameter(2, 64) + [.control(96, 0), .control(96, 0), .control(97, 0)])
    #expect(abs(cents(rig) - 100) < 0.3)
    // Bend range of 3 semitones and 99 cents, two cents up, and one down.
    play(rig, Self.parameter(2, 64) + Self.parameter(0, 3, 99) + [.control(96, 0), .control(96, 0)])
    play(rig, [Event(.bend, value: 8191 / 8192)])
    #expect(abs(cents(rig) - 401) < 0.6)
    play(rig, [.control(97, 0), .control(97, 0), .control(97, 0)])
    #expect(abs(cents(rig) - 398) < 0.6)
    // A new coarse value clears the fine one.
    play(rig, Self.parameter(0, 12))
    #expect(abs(cents(rig) - 1200) < 0.6)
  }

  @Test(arguments: Kind.allCases) func keysAndOctavesAreTunedBySystemExclusiveMessages(_ kind: Kind) throws {
    let rig = try rig(kind)
    // In tuning program 5, C4 is a quarter of a semitone higher and D4 unchanged.
    play(rig, [Event(.keyTuning, key: 60, value: 60.25, detail: 5), .on(60)])
    #expect(abs(cents(rig)) < 0.3)
    play(rig, Self.parameter(3, 5))
    #expect(abs(cents(rig) - 25) < 0.3)
    // Real-time messages retune sounding notes; others apply to new notes.
    play(rig, [Event(.keyTuning, channel: 1, key: 60, value: 59.5, detail: 5)])
    #expect(abs(cents(rig) + 50) < 0.3)
    play(
      rig, [Event(.keyTuning, channel: 0, key: 60, value: 61, detail: 5), .control(10, 60)])
    #expect(abs(cents(rig) + 50) < 0.3)
    play(rig, [.off(60), Event(.allSoundOff)])
    play(rig, [.on(60)])
    #expect(abs(cents(rig) - 100) < 0.3)
    play(rig, Self.parameter(3, 0))
    #expect(abs(cents(rig)) < 0.3)
    // Every C on channels 1 and 3.
    play(rig, [Event(.octaveTuning, channel: 1, key: 0, value: -30, detail: 0b101)])
    #expect(abs(cents(rig) + 30) < 0.3)
    play(rig, [Event(.masterTuning, key: 0, value: 10), Event(.masterTuning, key: 1, value: -200)])
    #expect(abs(cents(rig) + 220) < 0.3)
    play(rig, [.off(60), Event(.allSoundOff)])
    play(rig, [Event(.noteOn, channel: 1, key: 60, value: 100)])
    #expect(abs(cents(rig) + 190) < 0.3)
    // A reset of the module restores all tunings.
    play(rig, [Event(.reset)])
    play(rig, [Event(.allSoundOff)])
    play(rig, [.on(60)])
    #expect(abs(cents(rig)) < 0.3)
  }

  /// 2.87 ms * e^(0.0429 * 80) a semitone: 0.089 s, 1.07 s an octave.
  @Test func portamentoSlidesFromTheNamedKeyOrFromTheLastOne() throws {
    let rig = try rig(.bank)
    let seconds = 0.002_87 * exp2(80 * 0.061_885) * 12
    // From the given key, for one note.
    play(rig, [.control(5, 80), .control(84, 48), .on(60)], settling: 64)
    #expect(cents(rig, 2400) < -1000)
    _ = rig.run(Int(seconds / 2 * 48000) - 64 - 2400 - 2400)
    #expect(abs(cents(rig, 4800) + 600) < 15)
    _ = rig.run(Int(seconds / 2 * 48000))
    #expect(abs(cents(rig)) < 0.3)
    play(rig, [.off(60), Event(.allSoundOff)])
    play(rig, [.on(60)], settling: 64)
    #expect(abs(cents(rig, 4800)) < 0.5)
    // From the last key, while portamento is on.
    play(rig, [.off(60), Event(.allSoundOff)])
    play(rig, [.control(65, 127), .on(72)], settling: 64)
    #expect(cents(rig, 2400) < 200)
    _ = rig.run(48000 + 9600)
    #expect(abs(cents(rig) - 1200) < 0.3)
    // At time zero there is no glide.
    play(rig, [.off(72), Event(.allSoundOff)])
    play(rig, [.control(5, 0), .on(60)], settling: 64)
    #expect(abs(cents(rig, 4800)) < 0.5)
  }

  /// The same bits for every split into blocks.
  @Test func slidesDoNotDependOnBlocks() throws {
    var outputs: [[Float]] = []
    for step in [64, 17, 5] {
      let rig = try rig(.bank)
      outputs.append(
        rig.run(24000, [(10, .control(5, 60)), (10, .control(84, 40)), (33, .on(60)), (9000, .off(60))]) {
          step
        }[0]
      )
    }
    #expect(outputs[0] == outputs[1] && outputs[0] == outputs[2])
  }

  @Test func drumsAreOnTheTenthChannelAndWhereGsPutsThem() throws {
    let one = [Float](repeating: 0.5, count: 300)
    func preset(_ bank: Int, _ program: Int, _ value: Float) -> BankWriter.Preset {
      BankWriter.Preset(
        bank: bank, program: program, samples: one.map { $0 * value }, loop: 0..<300,
        instrument: [(17, -500), (54, 1)])
    }
    let path = folder.write(
      "d.sf2",
      BankWriter.bytes([
        preset(0, 0, 1), preset(0, 5, 0.5), preset(128, 0, 0.25), preset(128, 5, 0.125),
      ]))
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: path).resource)
    func height(_ channel: UInt8, _ events: [Event] = []) -> Float {
      let now = Int(rig.time)
      let note = Event(.noteOn, channel: channel, key: 60, value: 127)
      let height = rig.run(64, (events + [note]).map { (now, $0) })[0][32]
      _ = rig.run(9600, [(Int(rig.time), Event(.allSoundOff))])
      return height
    }
    let unit = height(0)
    func sounds(_ value: Float, _ share: Float) -> Bool { abs(value / unit - share) < 1e-3 }
    #expect(sounds(height(9), 0.25))
    #expect(sounds(height(9, [Event(.program, channel: 9, value: 5)]), 0.125))
    #expect(sounds(height(0, [Event(.program, channel: 0, value: 5)]), 0.5))
    // GS assigns drums to channel 12, and removes them from channel 10.
    #expect(sounds(height(11, [Event(.rhythm, channel: 11, value: 1)]), 0.25))
    #expect(sounds(height(9, [Event(.rhythm, channel: 9, value: 0)]), 1))
    // A reset restores them, and also programs and controllers.
    #expect(sounds(height(11, [.control(7, 30), Event(.reset)]), 1))
    #expect(sounds(height(9), 0.25))
    #expect(sounds(height(0), 1))
    // General MIDI 2 and XG have banks for drums.
    let select = [Event(.control, channel: 2, key: 0, value: 127), Event(.program, channel: 2, value: 5)]
    #expect(sounds(height(2, select), 0.125))
    let melodic = [Event(.control, channel: 2, key: 0, value: 121), Event(.program, channel: 2, value: 5)]
    #expect(sounds(height(2, melodic), 0.5))
    // A node that ignores program changes plays its own program.
    rig.setParameter(7, 0)
    rig.kernel.set(7, element: 0, to: 0, over: 0)
    #expect(sounds(height(9), 1))
  }
}
