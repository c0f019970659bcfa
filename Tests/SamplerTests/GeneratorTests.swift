import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Multi-point envelopes, modulated LFOs, and all forms of controller modulation, against sfzformat.info and
/// arithmetic.
@Suite struct Generators {
  let folder = Folder()

  func rig(_ opcodes: String, findings: Int = 0) throws -> Rig<Sampler> {
    try folder.rig(
      "<global> loop_mode=loop_continuous amp_veltrack=0 sample=one.wav", opcodes, findings: findings
    )
  }

  /// Cents above 1 kHz, measured over `output`.
  func cents(_ output: ArraySlice<Float>) -> Double {
    let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
    return 1200 * log2(48 * Double(marks.count - 1) / Double(marks.last! - marks.first!))
  }

  @Test func controllersGoInStepsOfAUnit() throws {
    // The example of sfzformat.info: five positions, 0 to 1200 cents.
    func tuned(_ control: Float) throws -> Double {
      let rig = try self.rig("<region> sample=sine.wav pitch_oncc16=1200 pitch_stepcc16=300")
      return cents(rig.run(24000, [(0, .control(16, control)), (64, .on(60))])[0][4800...])
    }
    for (control, expected) in [(31, 0), (32, 300), (63, 300), (64, 600), (126, 900), (127, 1200)] {
      #expect(abs(try tuned(Float(control)) - Double(expected)) < 1, "at \(control)")
    }
    let rig = try self.rig("<region> amplitude_oncc1=100 amplitude_stepcc1=25")
    let output = rig.run(640, [(0, .control(1, 100)), (0, .on(60))])[0]
    #expect(near(output[600] / 0.5, 0.75))
  }

  @Test func controllersAddOrMultiply() throws {
    func level(_ opcodes: String, _ one: Float, _ two: Float) throws -> Float {
      let rig = try self.rig("<region> amplitude_oncc1=100 amplitude_oncc2=50 " + opcodes)
      return rig.run(640, [(0, .control(1, one)), (0, .control(2, two)), (0, .on(60))])[0][600] / 0.5
    }
    #expect(near(try level("", 127, 127), 0.5))
    #expect(near(try level("", 127, 0), 0))
    #expect(near(try level("amplitude_mod=mult", 127, 127), 0.5))
    #expect(near(try level("amplitude=10 amplitude_mod=add", 127, 0), 1.1))
    #expect(near(try level("amplitude=10 amplitude_mod=add", 0, 127), 0.6))
    func sides(_ control: Float) throws -> (Float, Float) {
      let rig = try self.rig("<region> pan=-50 pan_oncc1=1 pan_mod=mult pan_keytrack=10")
      let output = rig.run(640, [(0, .control(1, control)), (0, .on(61))])
      return (output[0][600] / 0.5, output[1][600] / 0.5)
    }
    // The key's pan is added to the product.
    for (control, pan) in [(Float(0), 10.0), (127, -40)] {
      let (left, right) = try sides(control)
      let angle = (pan + 100) / 200 * Double.pi / 2
      let root = 2.0.squareRoot()
      #expect(near(left, root * cos(angle)) && near(right, root * sin(angle)), "\(control)")
    }
    func tuned(_ control: Float) throws -> Double {
      let rig = try self.rig("<region> sample=sine.wav tune=600 tune_oncc1=1 tune_mod=mult")
      return cents(rig.run(24000, [(0, .control(1, control)), (64, .on(60))])[0][4800...])
    }
    #expect(abs(try tuned(127) - 600) < 1)
    #expect(abs(try tuned(0)) < 1)
    _ = try self.rig("<region> offset_mod=add")
    _ = try self.rig("<region> offset_mod=mult", findings: 1)
    _ = try self.rig("<region> wobble_mod=add", findings: 1)
  }

  /// A factor on the cutoff. A one-pole low-pass shows the change by its gain.
  @Test func controllersMultiplyTheCutoff() throws {
    folder.wav("high.wav", [sine(4800, period: 12)])
    func decibels(_ control: Float) throws -> Double {
      let rig = try self.rig(
        "<region> sample=high.wav fil_type=lpf_1p cutoff=4000 cutoff_mod=mult cutoff_oncc1=1 cutoff_curvecc1=9\n"
          + "<curve> curve_index=9 v000=0.25 v127=1")
      let output = rig.run(24000, [(0, .control(1, control)), (0, .on(60))])[0][12000...]
      return 10 * log10(output.reduce(0.0) { $0 + Double($1) * Double($1) } / 12000 / 0.125)
    }
    // One pole: -3 dB at the cutoff, and 10 log(1 + 4^2) two octaves above (with the bilinear transform's
    // tangents).
    #expect(abs(try decibels(127) + 3.01) < 0.05)
    let ratio = tan(Double.pi * 4000 / 48000) / tan(Double.pi * 1000 / 48000)
    #expect(abs(try decibels(0) + 10 * log10(1 + ratio * ratio)) < 0.1)
  }

  @Test func variablesMoveTheBandsOfTheEqualizer() throws {
    let rig = try self.rig("<region> sample=sine.wav eq1_freq=1000 eq1_bw=2 var01_oncc1=1 var01_eq1gain=12")
    let output = rig.run(24000, [(0, .control(1, 127)), (0, .on(60))])[0][12000...]
    let power = output.reduce(0.0) { $0 + Double($1) * Double($1) } / 12000
    #expect(abs(10 * log10(power / 0.125) - 12) < 0.1)
  }

  @Test func envelopesMoveAFrequencyInHertz() throws {
    let rig = try self.rig(
      "<region> sample=sine.wav eq1_freq=400 eq1_bw=0.5 eq1_gain=12 eg01_eq1freq=600 eg1_time1=0.5 eg1_level1=1 "
        + "eg1_sustain=1")
    let output = rig.run(48000, [(0, .on(60))])[0]
    func decibels(_ range: Range<Int>) -> Double {
      10
        * log10(
          range.reduce(0.0) { $0 + Double(output[$1]) * Double(output[$1]) } / Double(range.count) / 0.125)
    }
    #expect(decibels(480..<1440) < 1)
    #expect(abs(decibels(36000..<48000) - 12) < 0.1)
  }

  @Test func envelopesGoRoundWhileTheNoteIsHeld() throws {
    let points =
      "eg1_amplitude=100 eg1_time1=0.1 eg1_level1=1 eg1_time2=0.1 eg1_level2=0.5 eg1_sustain=2 eg1_time3=0.1 "
      + "eg1_level3=0 ampeg_release=9 ampeg_release_shape=60 "
    func output(_ opcodes: String) throws -> [Float] {
      try rig("<region> " + points + opcodes).run(48000, [(0, .on(60)), (33600, .off(60))])[0].map {
        $0 / 0.5
      }
    }
    let endless = try output("eg1_loop=1")
    for turn in 0..<3 {
      // From the current level up to point 1, then down to point 2.
      let start = 9600 * turn
      #expect(near(endless[start + 2400], turn == 0 ? 0.5 : 0.75) && near(endless[start + 4800], 1))
      #expect(near(endless[start + 7200], 0.75) && near(endless[start + 9600], 0.5))
    }
    // The release starts at the current level.
    #expect(near(endless[33600], 1, 2e-3) && near(endless[33600 + 2400], 0.5, 2e-3))
    #expect(near(endless[33600 + 4900], 0, 1e-3))
    let once = try output("eg1_loop=1 eg1_loop_count=1 eg1_loop_shape=5")
    #expect(near(once[9600 + 2400], 0.5 + 0.5 * (exp(2.5) - 1) / (exp(5) - 1)))
    #expect(near(once[19200], 0.5) && near(once[24000], 0.5))
    // An envelope of zero length stays at its level.
    let none = try self.rig(
      "<region> eg1_amplitude=100 eg1_level1=0.5 eg1_level2=0.5 eg1_sustain=2 eg1_loop=1")
    #expect(near(none.run(4800, [(0, .on(60))])[0][4000] / 0.5, 0.5))
  }

  @Test func waysBetweenPointsHaveCurves() throws {
    let rig = try self.rig(
      "<region> eg1_amplitude=100 eg1_time1=0.1 eg1_level1=1 eg1_curve1=4 eg1_sustain=1 eg1_points=2")
    let output = rig.run(9600, [(0, .on(60))])[0].map { $0 / 0.5 }
    // Curve 4 is the square.
    #expect(near(output[1200], 1.0 / 16, 2e-3) && near(output[2400], 0.25, 2e-3) && near(output[4800], 1))
  }

  /// `egN_ampeg` replaces the amplifier envelope: the note ends with it.
  @Test(arguments: ["1", "100"]) func anEnvelopeTakesTheAmplifiersPlace(_ value: String) throws {
    let rig = try self.rig(
      "<region> ampeg_attack=9 ampeg_release_oncc5=9 eg01_ampeg=\(value) eg1_time1=0.1 eg1_level1=1 eg1_time2=0.1 eg1_level2=0.5 "
        + "eg1_sustain=2 eg1_time3=0.5 eg1_level3=0")
    let output = rig.run(72000, [(0, .on(60)), (24000, .off(60))])[0].map { $0 / 0.5 }
    #expect(near(output[2400], 0.5) && near(output[4800], 1) && near(output[20000], 0.5))
    #expect(near(output[24000 + 12000], 0.25, 2e-3))
    #expect(rig.kernel.used == 0)
    // An envelope that ends above zero fades out at the end of the note, and not before.
    let loud = try self.rig("<region> eg1_ampeg=1 eg1_level1=1 eg1_sustain=1")
    #expect(near(loud.run(48000, [(0, .on(60))])[0][47000] / 0.5, 1))
    let fading = loud.run(4800, [(48000, .off(60))])[0]
    let steepest = (1..<4800).map { (frame: Int) -> Float in abs(fading[frame] - fading[frame - 1]) }.max()!
    #expect(fading[4700] == 0 && steepest < 0.01 && loud.kernel.used == 0)
    // Without a sustain point, the note ends when the envelope reaches zero.
    let short = try self.rig("<region> eg1_ampeg=1 eg1_level1=1 eg1_time2=0.1 eg1_level2=0")
    _ = short.run(9600, [(0, .on(60))])
    #expect(short.kernel.used == 0)
  }

  @Test func controllersReachDynamicEnvelopesOnTheirWay() throws {
    func output(_ opcodes: String) throws -> [Float] {
      let rig = try self.rig(
        "<region> eg1_amplitude=100 eg1_time1=1 eg1_level1=1 eg1_time1_oncc1=-0.5 eg1_sustain=1 " + opcodes)
      return rig.run(48000, [(0, .on(60)), (12000, .control(1, 127))])[0].map { $0 / 0.5 }
    }
    let still = try output("")
    #expect(near(still[24000], 0.5, 2e-3))
    // A quarter of the segment is over; the rest takes half of its time.
    let moved = try output("eg1_dynamic=1")
    #expect(near(moved[12000], 0.25, 2e-3) && near(moved[24000], 0.75, 2e-3) && near(moved[30100], 1, 2e-3))
    let rig = try self.rig(
      "<region> sample=sine.wav pitcheg_depth=1200 pitcheg_sustain=100 pitcheg_sustain_oncc1=-100 pitcheg_dynamic=1"
    )
    let tone = rig.run(48000, [(0, .on(60)), (24000, .control(1, 127))])[0]
    #expect(abs(cents(tone[2400..<24000]) - 1200) < 1 && abs(cents(tone[28800...])) < 1)
  }

  @Test func lfosHaveBeatsAndPhases() throws {
    // A square wave of half a beat: 12000 frames at 120 beats a minute.
    let rig = try self.rig("<region> lfo1_beats=0.5 lfo1_wave=3 lfo1_volume=6 lfo01_phase_oncc1=0.5")
    func high(_ control: Float) -> [Bool] {
      let start = Int(rig.time)
      let output = rig.run(
        24000, [(start, .control(1, control)), (start, .on(60)), (start + 23990, .allOff)])[0]
      _ = rig.run(960)
      return [3000, 9000, 15000, 21000].map { output[$0] > 0.5 }
    }
    #expect(high(0) == [true, false, true, false])
    #expect(high(127) == [false, true, false, true])
  }

  @Test func generatorsMoveLfos() throws {
    // From 2 Hz up to 10 Hz: ten cycles in the last second.
    let faster = try self.rig(
      "<region> lfo1_freq=2 lfo1_volume=6 lfo1_wave=1 eg2_freq_lfo01=8 eg2_time1=1 eg2_level1=1 eg2_sustain=1"
    )
    let output = faster.run(96000, [(0, .on(60))])[0]
    func turns(_ range: Range<Int>) -> Int {
      range.dropFirst().count { (frame: Int) -> Bool in output[frame - 1] < 0.5 && output[frame] >= 0.5 }
    }
    #expect((9...11).contains(turns(48000..<96000)))
    // 2 t + 4 t^2 cycles after t seconds: six in the first second.
    #expect((5...7).contains(turns(0..<48000)))
    // LFO depth from an envelope: zero at first, full after half a second.
    let deeper = try self.rig(
      "<region> lfo1_freq=10 lfo1_volume=6 lfo1_wave=1 eg1_depth_lfo1=100 eg1_time1=0.5 eg1_level1=1 eg1_sustain=1"
    )
    let swinging = deeper.run(48000, [(0, .on(60))])[0].map { 20 * log10($0 / 0.5) }
    #expect(swinging[0..<480].map(abs).max()! < 0.2)
    #expect(abs(swinging[12000..<16800].max()! - 3.9) < 0.5)
    #expect(abs(swinging[36000..<43200].max()! - 6) < 0.1)
    // An LFO modulates another LFO, with a depth set by a controller.
    let wild = try self.rig(
      "<region> lfo1_freq=4 lfo1_volume=6 lfo1_wave=3 lfo3_freq=0 lfo3_wave=3 lfo3_freq_lfo1_oncc9=4")
    let fast = wild.run(48000, [(0, .control(9, 127)), (0, .on(60))])[0]
    let edges = fast.indices.dropFirst().count { fast[$0 - 1] < 0.5 && fast[$0] >= 0.5 }
    #expect((7...8).contains(edges))
  }

  /// One-pole slopes on either side; far from a notch the gain is one.
  @Test func filtersOfOnePole() throws {
    func gain(_ opcodes: String, at hertz: Double) throws -> Double {
      let length = Int((48000 / hertz * 48).rounded())
      folder.wav("tone.wav", [sine(length, period: Double(length) / 48)])
      let output = try self.rig("<region> sample=tone.wav " + opcodes).run(24000, [(0, .on(60))])[0]
      return 10 * log10(output[12000...].reduce(0.0) { $0 + Double($1) * Double($1) } / 12000 / 0.125)
    }
    #expect(abs(try gain("fil_type=bpf_1p cutoff=1000", at: 1000)) < 0.05)
    // 20 log(2 / (2 + (f / c - c / f)^2)^...): at ten times less |H| = 2 / |2 + j (10 - 0.1)|.
    #expect(
      abs(try gain("fil_type=bpf_1p cutoff=1000", at: 100) - 20 * log10(2 / (4 + 9.9 * 9.9).squareRoot()))
        < 0.1)
    #expect(try gain("fil_type=brf_1p cutoff=1000", at: 1000) < -40)
    #expect(
      abs(try gain("fil_type=brf_1p cutoff=1000", at: 100) - 20 * log10(9.9 / (4 + 9.9 * 9.9).squareRoot()))
        < 0.1)
  }

  @Test func notesThatAreTurnedOffFollowACurve() throws {
    let rig = try self.rig(
      "<region> key=60 group=1 off_by=2 off_mode=time off_time=0.1 off_curve=4\n<region> sample=*silence key=62 group=2"
    )
    let output = rig.run(9600, [(0, .on(60)), (960, .on(62))])[0].map { $0 / 0.5 }
    #expect(
      near(output[960 + 1200], 1 - 1.0 / 16) && near(output[960 + 2400], 0.75) && output[960 + 4810] == 0)
  }
}

extension Event {
  static var allOff: Event { Event(.allSoundOff) }
}
