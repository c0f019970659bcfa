import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Opcodes of SFZ 2 and ARIA, against numbers derived from sfzformat.info.
@Suite struct Opcodes {
  let folder = Folder()

  func rig(_ opcodes: String, findings: Int = 0) throws -> Rig<Sampler> {
    try folder.rig("<global> amp_veltrack=0", opcodes, findings: findings)
  }

  @Test func loopsFadeIntoWhatLiesBeforeThem() throws {
    // A ramp: the frames before the loop start are 0.1 lower, and the loop would step by 0.2.
    let ramp = (0..<4000).map { Float($0) / 10000 }
    folder.wav("ramp.wav", [ramp])
    let rig = try rig(
      "<region> sample=ramp.wav loop_mode=loop_continuous loop_start=1000 loop_end=2999 loop_crossfade=0.01")
    let output = rig.run(6000, [(0, .on(60))])[0]
    #expect(output[2500] == ramp[2500])
    // 480 frames of crossfade: in its middle, half of frame 2760 and half of frame 760.
    let middle = (ramp[2759] + ramp[759]) / 2
    #expect(near(output[2759], Double(middle), 2.5e-4))
    var steepest: Float = 0
    for frame in 2400..<3100 { steepest = max(steepest, abs(output[frame + 1] - output[frame])) }
    #expect(steepest < 6e-4)
    #expect(near(output[3000], Double(ramp[1000])))
    // Sinc interpolation reads the same loop.
    rig.setParameter(6, 2)
    rig.kernel.set(6, element: 0, to: 2, over: 0)
    let start = Int(rig.time)
    let fine = rig.run(6000, [(start, Event(.allSoundOff)), (start + 1000, .on(60))])[0]
    #expect(near(fine[3759], Double(middle), 1e-3))
  }

  @Test func samplesAndLoopsArePlayedSoManyTimes() throws {
    folder.wav("short.wav", [[Float](repeating: 0.5, count: 100)])
    func length(_ opcodes: String) throws -> Int {
      let output = try rig("<region> sample=short.wav " + opcodes).run(2000, [(0, .on(60)), (1, .off(60))])[0]
      return output.firstIndex { $0 == 0 } ?? output.count
    }
    #expect(try length("loop_mode=one_shot") == 100)
    #expect(try length("count=3") == 300)
    #expect(try length("count=1") == 100)
    // The loop of 50 frames repeats four times, then the rest plays.
    let loop = try rig(
      "<region> sample=short.wav loop_mode=loop_continuous loop_start=20 loop_end=69 loop_count=4")
    let output = loop.run(2000, [(0, .on(60))])[0]
    #expect(output.firstIndex { $0 == 0 } == 100 + 4 * 50)
  }

  @Test func theFadeOfNotesThatAreTurnedOffBends() throws {
    func halfway(_ opcodes: String) throws -> [Float] {
      let rig = try rig(
        "<region> sample=one.wav loop_mode=loop_continuous key=60 group=1 off_by=2 off_mode=time "
          + "off_time=0.1 \(opcodes)\n<region> sample=*silence key=62 group=2")
      let output = rig.run(9600, [(0, .on(60)), (960, .on(62))])[0]
      #expect(output[960 + 4800] == 0)
      return [output[960 + 480] / 0.5, output[960 + 2400] / 0.5]
    }
    let straight = try halfway("off_shape=0")
    #expect(near(straight[0], 0.9) && near(straight[1], 0.5))
    // 1 - (e^(-10.3616 t) - 1) / (e^(-10.3616) - 1)
    let fast = try halfway("")
    #expect(near(fast[0], 0.3548) && near(fast[1], 0.0056))
    let slow = try halfway("off_shape=5")
    #expect(near(slow[1], 1 - (exp(2.5) - 1) / (exp(5) - 1)))
  }

  @Test func delaysCanBeCountedInFrames() throws {
    func start(_ opcodes: String) throws -> Int? {
      try rig("<region> sample=one.wav " + opcodes).run(640, [(0, .control(1, 127)), (0, .on(60))])[0]
        .firstIndex { $0 != 0 }
    }
    #expect(try start("delay_samples=100") == 100)
    #expect(try start("delay_samples=100 delay_samples_oncc1=27 delay=0.001") == 175)
  }

  /// Reverse playback from the last frame, with loops and offsets counted in reverse; streamed and in memory.
  @Test(arguments: [false, true]) func samplesCanBePlayedBackwards(isStreamed: Bool) throws {
    let planes = [noise(70_000), noise(70_000, seed: 2)]
    folder.wav("a.wav", planes, loop: 1000...1999)
    let path = folder.write(
      "a.sfz",
      "<global> sample=a.wav amp_veltrack=0 ampeg_release=9 direction=reverse <region> key=60 loop_mode=no_loop\n"
        + "<region> key=61 pitch_keycenter=61 offset=67990")
    let (resource, report) = try InstrumentLoader.load(
      path: path, options: isStreamed ? Streams.small : LoadOptions())
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    let output = rig.run(70_000, [(0, .on(60))])
    #expect(output[0] == planes[0].reversed())
    #expect(output[1] == planes[1].reversed())
    _ = rig.run(64)
    // The file's loop lies 68000 to 68999 frames from its end.
    let looped = rig.run(3000, [(Int(rig.time), .on(61))])[0]
    #expect(looped[0] == planes[0][70_000 - 1 - 67_990])
    #expect(looped[1009] == planes[0][1000] && looped[1010] == planes[0][1999])
  }

  /// ARIA's shapes: (e^(s t) - 1) / (e^s - 1).
  @Test func envelopesHaveShapes() throws {
    func output(_ opcodes: String) throws -> [Float] {
      try self.rig("<region> sample=one.wav loop_mode=loop_continuous " + opcodes)
        .run(19200, [(0, .on(60)), (9600, .off(60))])[0].map { $0 / 0.5 }
    }
    func bent(_ t: Double, _ s: Double) -> Double { (exp(s * t) - 1) / (exp(s) - 1) }
    let risen = try output("ampeg_attack=0.1 ampeg_attack_shape=5")
    #expect(near(risen[2400], bent(0.5, 5)) && near(risen[4800], 1))
    #expect(near(try output("ampeg_attack=0.1 ampeg_attack_shape=-3")[1200], bent(0.25, -3)))
    // The decay time spans the way to zero, and stops at the sustain level ...
    let straight = try output("ampeg_decay=0.1 ampeg_decay_shape=0 ampeg_sustain=50")
    #expect(near(straight[1200], 0.75) && near(straight[2400], 0.5) && near(straight[4800], 0.5))
    let slow = try output("ampeg_decay=0.1 ampeg_decay_shape=4 ampeg_sustain=20")
    #expect(near(slow[2400], 1 - bent(0.5, 4)) && near(slow[4700], 0.2))
    // ... or it spans the way to the sustain level.
    let whole = try output("ampeg_decay=0.1 ampeg_decay_shape=0 ampeg_decay_zero=0 ampeg_sustain=50")
    #expect(near(whole[2400], 0.75) && near(whole[4800], 0.5))
    let fast = try output("ampeg_decay=0.1 ampeg_decay_zero=0 ampeg_sustain=50")
    #expect(near(fast[480], 1 - 0.5 * bent(0.1, -9)))
    let released = try output("ampeg_release=0.1 ampeg_release_shape=2 ampeg_sustain=50")
    #expect(near(released[9600 + 2400], 0.5 * (1 - bent(0.5, 2))) && released[14410] == 0)
    let short = try output(
      "ampeg_release=0.1 ampeg_release_shape=0 ampeg_release_zero=1 ampeg_sustain=50")
    #expect(near(short[9600 + 1200], 0.25) && short[9600 + 2410] == 0)
    // Pitch envelopes too: a curve of 1200 cents, an octave at the end of the attack.
    let rig = try rig(
      "<region> sample=sine.wav loop_mode=loop_continuous pitcheg_attack=0.2 pitcheg_attack_shape=8 "
        + "pitcheg_depth=1200 pitcheg_release_shape=-5 pitcheg_release=1")
    let tone = rig.run(9600, [(0, .on(60))])[0]
    let turns = (1..<4800).count { (index: Int) -> Bool in tone[index - 1] < 0 && tone[index] >= 0 }
    #expect((99...102).contains(turns))
  }

  @Test func controllersMoveHowFarVelocityCounts() throws {
    func height(_ opcodes: String, _ control: Float) throws -> Float {
      try rig("<region> sample=one.wav loop_mode=loop_continuous " + opcodes)
        .run(640, [(0, .control(1, control)), (0, .on(60, 64))])[0][600] / 0.5
    }
    let tracked = pow(64.0 / 127, 2)
    #expect(near(try height("amp_veltrack_oncc1=100", 0), 1))
    #expect(near(try height("amp_veltrack_oncc1=100", 127), tracked))
    #expect(near(try height("amp_veltrack=100 amp_veltrack_oncc1=-150", 127), 1 - 0.5 * tracked))
    func turns(_ control: Float) throws -> Int {
      let tone = try rig(
        "<region> sample=sine.wav loop_mode=loop_continuous pitch_veltrack_oncc1=2400"
      ).run(4801, [(0, .control(1, control)), (0, .on(60, 63.5))])[0]
      return (1..<4801).count { (index: Int) -> Bool in tone[index - 1] < 0 && tone[index] >= 0 }
    }
    #expect((99...101).contains(try turns(0)))
    #expect((197...203).contains(try turns(127)))
  }

  @Test func theBendHasStepsOfItsOwnEitherWay() throws {
    func turns(_ bend: Float) throws -> Int {
      let rig = try rig(
        "<region> sample=sine.wav loop_mode=loop_continuous bend_up=1200 bend_down=-1200 bend_stepup=1200 "
          + "bend_stepdown=600")
      let tone = rig.run(4801, [(0, Event(.bend, value: bend)), (0, .on(60))])[0]
      return (1..<4801).count { (index: Int) -> Bool in tone[index - 1] < 0 && tone[index] >= 0 }
    }
    #expect((99...101).contains(try turns(0.9)))
    #expect((70...71).contains(try turns(-0.9)))
  }

  @Test func controllersCanMoveSlowly() throws {
    let rig = try rig(
      "<region> sample=one.wav loop_mode=loop_continuous volume_oncc1=-20 volume_smoothcc1=100 "
        + "amplitude_oncc2=100\n<control> set_cc2=127")
    let output = rig.run(48000, [(0, .on(60)), (4800, .control(1, 127))])[0]
    // A time constant of 0.1 s: by then 1 - 1/e of 20 dB.
    #expect(abs(20 * log10(Double(output[9600]) / 0.5) + 20 * (1 - exp(-1))) < 0.3)
    #expect(abs(20 * log10(Double(output[47000]) / 0.5) + 20) < 0.05)
  }

  @Test func variablesAddOrMultiplyControllers() throws {
    func decibels(_ mod: String, _ one: Float, _ two: Float) throws -> Double {
      let rig = try rig(
        "<region> sample=one.wav loop_mode=loop_continuous var01_mod=\(mod) var01_oncc1=1 var01_oncc2=0.5 "
          + "var01_curvecc2=2 var01_volume=-12")
      let output = rig.run(640, [(0, .control(1, one)), (0, .control(2, two)), (64, .on(60))])[0]
      return 20 * log10(Double(output[600]) / 0.5)
    }
    // The second controller is inverted by its curve.
    #expect(abs(try decibels("add", 127, 0) + 18) < 0.01)
    #expect(abs(try decibels("add", 127, 127) + 12) < 0.01)
    #expect(abs(try decibels("add", 0, 127)) < 0.01)
    #expect(abs(try decibels("mult", 127, 0) + 6) < 0.01)
    #expect(abs(try decibels("mult", 0, 0)) < 0.01)
    _ = try rig(
      "<region> sample=one.wav var02_mod=mult var02_oncc1=1 var02_oncc2=1 var02_oncc3=1 var02_pan=10",
      findings: 2)
  }

  @Test func theBendGoesInSteps() throws {
    func cents(_ bend: Float) throws -> Double {
      let rig = try rig("<region> sample=sine.wav loop_mode=loop_continuous bend_up=200 bend_step=100")
      let output = rig.run(24000, [(0, Event(.bend, value: bend)), (64, .on(60))])[0][4800...]
      let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
      return 1200 * log2(48 * Double(marks.count - 1) / Double(marks.last! - marks.first!))
    }
    #expect(abs(try cents(0.9) - 100) < 2)
    #expect(abs(try cents(0.4)) < 2)
    #expect(abs(try cents(1) - 200) < 2)
  }

  @Test func aVelocityCanBeTheOneBefore() throws {
    let rig = try rig(
      "<region> sample=one.wav loop_mode=loop_continuous amp_veltrack=100 sw_vel=previous key=62\n"
        + "<region> sample=*silence key=60")
    _ = rig.run(64, [(0, .on(60, 64))])
    let output = rig.run(64, [(64, .on(62, 127))])[0]
    #expect(near(output[60] / 0.5, 64.0 * 64 / 127 / 127, 1e-4))
  }

  @Test func aSofterNoteLeavesALouderOneAlone() throws {
    func voices(_ opcodes: String, _ second: Float) throws -> Int {
      let rig = try rig("<region> sample=one.wav loop_mode=loop_continuous note_polyphony=1 \(opcodes)")
      _ = rig.run(4800, [(0, .on(60, 100)), (640, .on(60, second))])
      return rig.kernel.voices
    }
    #expect(try voices("", 110) == 1)
    #expect(try voices("", 50) == 2)
    #expect(try voices("note_selfmask=off", 50) == 1)
  }

  @Test func switchesHaveOffsetsOfTheirOwn() throws {
    let rig = try rig(
      "<control> sw_note_offset=2 sw_octave_offset=1\n<global> sw_lokey=10 sw_hikey=12\n"
        + "<region> sample=one.wav loop_mode=loop_continuous sw_last=10 key=60")
    _ = rig.run(64, [(0, .on(10)), (1, .off(10)), (2, .on(60)), (3, .off(60))])
    #expect(rig.kernel.used == 0)
    _ = rig.run(640, [(64, .on(24)), (65, .off(24)), (70, .on(60))])
    #expect(rig.kernel.voices == 1)
  }

  @Test func controllersReachEnvelopesThatRun() throws {
    let rig = try rig(
      "<region> sample=one.wav loop_mode=loop_continuous ampeg_dynamic=1 ampeg_sustain=100 "
        + "ampeg_sustain_oncc1=-50 ampeg_release=0.1 ampeg_release_oncc2=0.9")
    let output = rig.run(
      48000, [(0, .on(60)), (4800, .control(1, 127)), (9600, .control(2, 127)), (9700, .off(60))])[0]
    #expect(near(output[4700], 0.5) && near(output[9000], 0.25))
    // Nine nepers in one second.
    #expect(near(output[9700 + 4800] / 0.25, exp(-0.9), 5e-3))
  }

  @Test func filtersOfSixPolesAndShelves() throws {
    func gain(_ opcodes: String, at hertz: Double) throws -> Double {
      let period = 48000 / hertz
      let length = Int((period * 48).rounded())
      folder.wav("tone.wav", [sine(length, period: Double(length) / 48)])
      let rig = try rig("<region> sample=tone.wav loop_mode=loop_continuous " + opcodes)
      let output = rig.run(24000, [(0, .on(60))])[0]
      return 10 * log10(output[12000...].reduce(0.0) { $0 + Double($1) * Double($1) } / 12000 / 0.125)
    }
    // 36 dB per octave, far above the cutoff.
    let slope =
      try gain("fil_type=lpf_6p cutoff=500", at: 2000) - gain("fil_type=lpf_6p cutoff=500", at: 4000)
    #expect(abs(slope - 36) < 1.5)
    // Flat gain: only the phase changes.
    for hertz in [100.0, 1000, 8000] {
      #expect(abs(try gain("fil_type=apf_1p cutoff=1000", at: hertz)) < 0.05)
    }
    #expect(abs(try gain("fil_type=peq cutoff=1000 fil_gain=6", at: 1000) - 6) < 0.1)
    #expect(abs(try gain("fil_type=lsh cutoff=1000 fil_gain=6", at: 50) - 6) < 0.1)
    #expect(abs(try gain("fil_type=hsh cutoff=500 fil_gain=-6", at: 8000) + 6) < 0.2)
  }
  /// Cutoff, what velocity adds to it in cents, a velocity, and the cutoff that comes of it: instruments go beyond the
  /// 9600 cents of SFZ 1, in both directions, by more than one second filter and by controllers.
  static let tracking: [(opcodes: String, velocity: Float, cutoff: Double)] = [
    ("cutoff=500 fil_veltrack=1200", 127, 1000), ("cutoff=4 fil_veltrack=9600", 127, 1024),
    ("cutoff=1 fil_veltrack=12000", 127, 1024), ("cutoff=1 fil_veltrack=24000", 64, 1024 * 1.0682),
    ("cutoff=20000 fil_veltrack=-9600", 127, 78.125), ("cutoff=20000 fil_veltrack=-13000", 127, 10.957),
    ("cutoff=20000 fil_veltrack=-14400", 1, 20000 * exp2(-12.0 / 127)),
    ("cutoff=1 fil_veltrack=9600 fil_veltrack_oncc1=2400", 127, 1024),
  ]

  @Test(arguments: tracking) func velocityMovesTheCutoffAsFarAsIsSaid(
    opcodes: String, velocity: Float, cutoff: Double
  ) throws {
    for number in ["", "2"] {
      let text = opcodes.split(separator: " ").map {
        $0.hasPrefix("cutoff") ? "cutoff\(number)\($0.dropFirst(6))" : "fil\(number)\($0.dropFirst(3))"
      }.joined(separator: " ")
      let rig = try rig("<region> sample=sine.wav loop_mode=loop_continuous fil\(number)_type=lpf_1p " + text)
      let output = rig.run(48000, [(0, .control(1, 127)), (0, .on(60, velocity))])[0]
      let power = output[24000...].reduce(0.0) { $0 + Double($1) * Double($1) } / 24000 / 0.125
      // The bilinear transform puts the cutoff where it is asked for, and bends what lies around it.
      let ratio = tan(.pi / 48) / tan(.pi * min(cutoff, 23_000) / 48000)
      let expected = -10 * log10(1 + ratio * ratio)
      #expect(abs(10 * log10(power) - expected) < 0.3, "\(text)")
    }
  }
}
