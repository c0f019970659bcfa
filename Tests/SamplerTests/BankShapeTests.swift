import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Generators and modulators of SoundFont banks, against the numbers of the SoundFont specification 2.04.
@Suite struct BankShapes {
  let folder = Folder()

  /// A rig with one preset of a constant 0.5 (or the given samples), panned hard left unless `pan` is set.
  func rig(_ preset: BankWriter.Preset, volume: Float = 127) throws -> Rig<Sampler> {
    var preset = preset
    if !preset.instrument.contains(where: { $0.0 == 17 }) { preset.instrument.append((17, -500)) }
    let path = folder.write("b.sf2", BankWriter.bytes([preset]))
    let (resource, report) = try InstrumentLoader.load(path: path)
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    _ = rig.run(64, [(0, .control(7, volume))])
    return rig
  }

  func constant(
    _ instrument: [(Int, Int)] = [], preset: [(Int, Int)] = [], modulators: [[Int]] = [],
    presetModulators: [[Int]] = []
  ) -> BankWriter.Preset {
    BankWriter.Preset(
      bank: 0, program: 0, samples: [Float](repeating: 0.5, count: 2000), loop: 100..<1900,
      instrument: instrument + [(54, 1)], preset: preset, instrumentModulators: modulators,
      presetModulators: presetModulators)
  }

  func sine(_ instrument: [(Int, Int)], modulators: [[Int]] = []) -> BankWriter.Preset {
    var preset = constant(instrument, modulators: modulators)
    preset.samples = SamplerTests.sine(4800, period: 48)
    preset.loop = 0..<4800
    return preset
  }

  /// Level in decibels relative to a constant 0.5 at full velocity, volume and expression.
  func decibels(_ value: Float) -> Double { 20 * log10(Double(value) / 0.5 / BankWriter.fullLevel) }

  func cents(_ output: ArraySlice<Float>) -> Double {
    var marks: [Double] = []
    for index in output.indices.dropFirst() where output[index - 1] < 0 && output[index] >= 0 {
      marks.append(Double(index) - Double(output[index]) / Double(output[index] - output[index - 1]))
    }
    return 1200 * log2(48 / ((marks.last! - marks.first!) / Double(marks.count - 1)))
  }

  /// A bank without filter or attenuation sounds as loud as in other players.
  @Test func aFlatBankIsAsLoudAsOtherPlayersHaveIt() throws {
    let output = try rig(constant()).run(64, [(64, .on(60))])[0]
    // The flat filter's 1.5 dB, less 127/128 from each of three controllers.
    #expect(abs(20 * log10(Double(output[10]) / 0.5) - (1.505 + 3 * 40 * log10(127.0 / 128))) < 1e-3)
    // A preset may reduce the attenuation of its instrument and of controllers.
    let raised = try rig(constant(preset: [(48, -250)]), volume: 64).run(64, [(64, .on(60))])[0]
    #expect(abs(decibels(raised[10]) - (10 + 40 * log10(64.0 / 127))) < 1e-3)
  }

  @Test func theDefaultModulatorsAreAtWork() throws {
    // Velocity, volume and expression: 40 dB per decade.
    let rig = try rig(constant())
    let soft = rig.run(64, [(64, .on(60, 64))])[0]
    #expect(abs(decibels(soft[10]) - 40 * log10(64.0 / 127)) < 0.01)
    let quiet = rig.run(9600, [(Int(rig.time), .control(7, 100)), (Int(rig.time), .control(11, 90))])[0]
    let expected = 40 * (log10(64.0 / 127) + log10(100.0 / 127) + log10(90.0 / 127))
    #expect(abs(decibels(quiet[9000]) - expected) < 0.01)
    // Pan from the centre: hard right, and a little to the left.
    let panned = try self.rig(constant([(17, 0)]))
    let right = panned.run(9600, [(64, .control(10, 127)), (64, .on(60))])
    #expect(abs(right[0][9000]) < 1e-4 && abs(decibels(right[1][9000])) < 2e-3)
    // Modulation wheel: 50 cents of vibrato at 8.176 Hz. Bend by two semitones, then by twelve.
    let wheel = try self.rig(sine([(24, -2400)]))
    let bent = wheel.run(24000, [(64, .on(60)), (64, Event(.bend, value: 1))])[0]
    #expect(abs(cents(bent[9600...]) - 200) < 0.2)
    let start = Int(wheel.time)
    let wide = wheel.run(
      24000, [(start, .control(101, 0)), (start, .control(100, 0)), (start, .control(6, 12))])[0]
    #expect(abs(cents(wide[9600...]) - 1200) < 0.5)
    let vibrato = try self.rig(sine([(24, -2400)]))
    let swinging = vibrato.run(48000, [(64, .on(60)), (64, .control(1, 127))])[0]
    // 2.04 Hz: a quarter of a cycle is 5871 frames.
    #expect(abs(cents(swinging[(5871 - 240)..<(5871 + 240)]) - 50) < 1.5)
    #expect(abs(cents(swinging[(17613 - 240)..<(17613 + 240)]) + 50) < 1.5)
  }

  @Test func modulatorsReplaceThoseOfTheInstrumentAndAddFromThePreset() throws {
    let velocity = [0x0502, 48, 0, 0, 0]
    // The instrument turns velocity off, and the preset brings half of it back.
    let flat = try rig(constant(modulators: [velocity]))
    #expect(abs(decibels(flat.run(64, [(64, .on(60, 20))])[0][10]) - 40 * log10(128.0 / 127)) < 1e-3)
    let half = try rig(constant(modulators: [velocity], presetModulators: [[0x0502, 48, 480, 0, 0]]))
    #expect(
      abs(
        decibels(half.run(64, [(64, .on(60, 20))])[0][10]) - 20 * log10(20.0 / 128) + 40 * log10(127.0 / 128))
        < 0.01)
    let double = try rig(constant(presetModulators: [[0x0502, 48, 960, 0, 0]]))
    #expect(
      abs(
        decibels(double.run(64, [(64, .on(60, 90))])[0][10]) - 80 * log10(90.0 / 128) + 40
          * log10(127.0 / 128)) < 0.01)
    // A controller of the bank's own to the pitch, scaled by a second controller.
    let own = try rig(sine([], modulators: [[0x0094, 52, 100, 0x0095, 0]]))
    let output = own.run(24000, [(64, .control(20, 127)), (64, .control(21, 127)), (64, .on(60))])[0]
    #expect(abs(cents(output[4800...]) - 100 * 127 * 127 / 128 / 128) < 0.2)
    let start = Int(own.time)
    let less = own.run(24000, [(start, .control(21, 0))])[0]
    #expect(abs(cents(less[4800...])) < 0.2)
  }

  /// A bank's own modulator of the pitch wheel takes the default one's place: it may switch bends off, or make them wider.
  @Test(arguments: [0, 1200, 12700, 25400]) func aBankHasItsOwnPitchBend(amount: Int) throws {
    let rig = try self.rig(sine([], modulators: [[0x020E, 52, amount, 0x0010, 0]]))
    let output = rig.run(24000, [(64, Event(.bend, value: 1)), (64, .on(60))])[0]
    #expect(abs(cents(output[4800...]) - 200 * Double(amount) / 12700) < 1)
  }

  /// A switch is one way up to 63 and the other way from 64 on, never both.
  @Test(
    arguments: [
      (0x0C95, false, false), (0x0D95, true, false), (0x0E95, false, true), (0x0F95, true, true),
    ])
  func aSwitchChangesFrom63To64(source: Int, isFalling: Bool, isBipolar: Bool) throws {
    for position in [0, 62, 63, 64, 65, 127] {
      let rig = try self.rig(constant([(48, 1000)], modulators: [[source, 48, 300, 0, 0]]))
      let plain = try self.rig(constant([(48, 1000)]))
      let on: [(Int, Event)] = [(64, .control(21, Float(position))), (64, .on(60))]
      let level = decibels(rig.run(64, on)[0][10]) - decibels(plain.run(64, on)[0][10])
      let isOn = (position >= 64) != isFalling
      #expect(abs(level + (isOn ? 30 : isBipolar ? -30 : 0)) < 0.01, "\(position): \(level)")
    }
  }

  @Test func envelopesHaveTheirTimes() throws {
    // Attack 0.1 s (-3986 timecents), hold 0.05 s, decay 0.5 s to -30 dB, release 0.25 s.
    let rig = try rig(
      constant([(34, -3986), (35, -5186), (36, -1200), (37, 300), (38, -2400)]))
    let output = rig.run(48000, [(64, .on(60)), (33664, .off(60))])[0]
    #expect(abs(decibels(output[2400]) + 6.02) < 0.04)
    #expect(abs(decibels(output[4800 + 1200])) < 1e-3)
    // 96 dB in half a second: 20 dB take 5000 frames.
    let decay = 4800 + 2400
    #expect(abs(decibels(output[decay + 5000]) + 20) < 0.1)
    #expect(abs(decibels(output[decay + 10000]) + 30) < 0.05)
    #expect(abs(decibels(output[33600 + 2500]) + 30 + 20) < 0.1)
    #expect(output[33600 + 12100] == 0)
  }

  @Test func keysStretchEnvelopes() throws {
    // Hold of 0.1 s at key 60, and half of it an octave higher.
    let rig = try rig(constant([(35, -3986), (36, -12000), (37, 1000), (39, 100), (56, 0)]))
    let middle = rig.run(9600, [(64, .on(60))])[0]
    #expect(abs(middle.firstIndex { $0 == 0 }! - 4800) < 12)
    let high = rig.run(9600, [(Int(rig.time), .on(72))])[0]
    #expect(abs(high.firstIndex { $0 == 0 }! - 2400) < 12)
  }

  @Test func lfosAndTheModulationEnvelopeMovePitchAndLevel() throws {
    // 2.044 Hz (-2400 cents), 100 cents.
    let vibrato = try rig(sine([(24, -2400), (6, 100)]))
    let output = vibrato.run(24000, [(64, .on(60))])[0]
    #expect(abs(cents(output[(5871 - 240)..<(5871 + 240)]) - 100) < 2)
    // Tremolo of 6 dB by the modulation LFO, after a delay of 0.1 s.
    let tremolo = try rig(constant([(22, -2400), (21, -3986), (13, 60), (48, 250)]))
    let loud = tremolo.run(24000, [(64, .on(60))])[0]
    #expect(abs(decibels(loud[4000]) + 10) < 0.01)
    #expect(abs(decibels(loud[4800 + 5871]) + 4) < 0.05)
    // Up an octave in half a second, convexly: 1 + 400 / 960 log10 of the time.
    let rising = try rig(sine([(7, 1200), (26, -1200)]))
    let rise = rising.run(36000, [(64, .on(60))])[0]
    #expect(abs(cents(rise[(12000 - 200)..<(12000 + 200)]) - 1200 * (1 + 400.0 / 960 * log10(0.5))) < 3)
    #expect(abs(cents(rise[30000...]) - 1200) < 0.5)
  }

  @Test func theFilterIsTheSpecifications() throws {
    func gain(_ generators: [(Int, Int)], at hertz: Double) throws -> Double {
      var preset = constant(generators)
      preset.samples = SamplerTests.sine(Int(48000 / hertz * 48), period: 48000 / hertz)
      preset.loop = 0..<preset.samples.count
      let output = try rig(preset).run(24000, [(64, .on(60))])[0]
      let power = output[12000...].reduce(0.0) { $0 + Double($1) * Double($1) } / 12000
      return 10 * log10(power / 0.125 / BankWriter.fullLevel / BankWriter.fullLevel)
    }
    // 1000 Hz is 8322 cents. Without resonance the gain at the cutoff is -3 dB.
    #expect(abs(try gain([(8, 8322)], at: 1000) + 3) < 0.1)
    #expect(abs(try gain([(8, 8322)], at: 100)) < 0.1)
    // 12 dB of resonance: the overall level falls by half of the peak's height.
    #expect(abs(try gain([(8, 8322), (9, 120)], at: 100) + 6) < 0.2)
    #expect(abs(try gain([(8, 8322), (9, 120)], at: 1000) - 3) < 0.2)
    // The envelope raises the cutoff by two octaves.
    #expect(abs(try gain([(8, 5922), (11, 2400)], at: 1000) + 3) < 0.2)
  }

  @Test func keysAndVelocitiesCanBeFixed() throws {
    let rig = try rig(sine([(46, 72), (47, 127)]))
    let output = rig.run(24000, [(64, .on(60, 20))])[0]
    #expect(abs(cents(output[...]) - 1200) < 0.2)
    #expect(abs(decibels(output.max()!)) < 0.02)
    let scaled = try self.rig(sine([(56, 50), (51, 1), (52, 20)]))
    #expect(abs(cents(scaled.run(24000, [(64, .on(72))])[0][...]) - 720) < 0.2)
  }

  @Test func exclusiveClassesCutEachOther() throws {
    let rig = try rig(constant([(57, 3), (38, 1200)]))
    _ = rig.run(4800, [(64, .on(60))])
    _ = rig.run(4800, [(Int(rig.time), .on(62))])
    #expect(rig.kernel.voices == 1)
    // Two drummers on two channels each have a hi-hat.
    _ = rig.run(4800, [(Int(rig.time), Event(.noteOn, channel: 5, key: 64, value: 100))])
    #expect(rig.kernel.voices == 2)
  }

  @Test func samplesCanHave24Bits() throws {
    var preset = constant()
    preset.samples = [Float](repeating: 0.25, count: 2000)
    preset.low = [UInt8](repeating: 0x80, count: 2000)
    let output = try rig(preset).run(64, [(64, .on(60))])[0]
    #expect(abs(Double(output[10]) / BankWriter.fullLevel - (0.25 + 0.5 / 32768)) < 1e-6)
  }

  @Test func theLoopEndsWithTheKeyInMode3() throws {
    var preset = constant([(54, 3), (38, 1200)])
    preset.instrument.removeAll { $0 == (54, 1) }
    let rig = try rig(preset)
    let output = rig.run(19200, [(64, .on(60)), (9664, .off(60))])[0]
    #expect(abs(decibels(output[9000])) < 1e-3)
    let last = output.lastIndex { $0 != 0 }!
    #expect(last > 9600 && last < 9600 + 2000)
  }

  @Test func damageNamesItsByte() throws {
    let whole = BankWriter.bytes([constant()])
    var broken = whole
    // Position of the first instrument's zone list.
    let tag = Array("ibag".utf8)
    let at = (0..<whole.count - 4).first { Array(whole[$0..<$0 + 4]) == tag }! + 8
    broken[at + 4] = 0xFF
    broken[at + 5] = 0xFF
    let path = folder.write("x.sf2", broken)
    #expect {
      try InstrumentLoader.load(path: path)
    } throws: {
      "\($0)" == "\(path): the bank's ibag table is damaged (byte \(at))"
    }
  }
}
