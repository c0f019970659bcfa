import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Filters, envelopes, LFOs and controllers, against the SFZ specification and arithmetic.
@Suite struct Shapes {
  let folder = Folder()

  func rig(_ opcodes: String, rate: Double = 48000, values: [Int: Float] = [:]) throws -> Rig<Sampler> {
    folder.wav("one.wav", [[Float](repeating: 0.5, count: 4000)])
    folder.wav("sine.wav", [sine(4800, period: 48)])
    folder.wav("noise.wav", [noise(48000).map { $0 * 0.5 }])
    let text = "<global> loop_mode=loop_continuous amp_veltrack=0\n" + opcodes
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description, rate: rate, values: values)
    rig.use(resource)
    return rig
  }

  /// Gain in decibels at `hertz`.
  func gain(_ opcodes: String, at hertz: Double) throws -> Double {
    let period = 48000 / hertz
    let length = Int((period * 48).rounded())
    folder.wav("tone.wav", [sine(length, period: Double(length) / 48)])
    let output = try rig("<region> sample=tone.wav " + opcodes).run(24000, [(0, .on(60))])[0]
    let power = output[12000...].reduce(0.0) { $0 + Double($1) * Double($1) } / 12000
    return 10 * log10(power / 0.125)
  }

  /// Gains of the analogue prototypes, which the bilinear transform preserves at and near the cutoff.
  @Test func filtersHaveTheGainsOfTheirTypes() throws {
    func near(_ value: Double, _ expected: Double, _ tolerance: Double = 0.1) -> Bool {
      abs(value - expected) < tolerance
    }
    // The gain of two poles at the cutoff is the resonance.
    #expect(near(try gain("cutoff=1000 resonance=0", at: 1000), 0))
    #expect(near(try gain("cutoff=1000 resonance=12", at: 1000), 12))
    #expect(near(try gain("cutoff=1000 resonance=12", at: 50), 0))
    // -12 dB per octave, far above the cutoff.
    #expect(near(try gain("cutoff=500", at: 2000), -24, 0.5))
    #expect(near(try gain("cutoff=1000 fil_type=hpf_2p resonance=6", at: 1000), 6))
    #expect(near(try gain("cutoff=2000 fil_type=hpf_2p", at: 500), -24, 0.6))
    #expect(near(try gain("cutoff=1000 fil_type=bpf_2p", at: 1000), 0))
    #expect(try gain("cutoff=1000 fil_type=bpf_2p", at: 100) < -15)
    #expect(try gain("cutoff=1000 fil_type=brf_2p", at: 1000) < -40)
    #expect(near(try gain("cutoff=1000 fil_type=brf_2p", at: 50), 0))
    #expect(near(try gain("cutoff=1000 fil_type=lpf_1p", at: 1000), -3.01))
    #expect(near(try gain("cutoff=500 fil_type=lpf_1p", at: 2000), -12.4, 0.3))
    #expect(near(try gain("cutoff=1000 fil_type=hpf_1p", at: 1000), -3.01))
    #expect(near(try gain("cutoff=500 fil_type=lpf_4p resonance=0", at: 1000), -23.4, 1.5))
    #expect(near(try gain("eq1_freq=1000 eq1_gain=9", at: 1000), 9))
    #expect(near(try gain("eq2_freq=1000 eq2_gain=-9", at: 1000), -9))
    #expect(near(try gain("eq1_freq=1000 eq1_gain=9", at: 8000), 0, 0.2))
    #expect(near(try gain("eq3_freq=1000 eq3_gain=6 eq3_type=lshelf", at: 100), 6, 0.2))
    #expect(near(try gain("eq3_freq=1000 eq3_gain=6 eq3_type=hshelf", at: 8000), 6, 0.2))
    #expect(near(try gain("cutoff=1000 fil_veltrack=1200 resonance=6", at: 2000), 6))
    #expect(near(try gain("cutoff=500 fil_keytrack=100 fil_keycenter=48 resonance=6", at: 1000), 6))
    #expect(near(try gain("cutoff=1000 cutoff2=1000 resonance=3 resonance2=3", at: 1000), 6))
  }

  @Test func stereoIsFilteredAsMonoIs() throws {
    folder.wav("stereo.wav", [noise(9000), noise(9000, seed: 8)])
    folder.wav("left.wav", [noise(9000)])
    func run(_ sample: String) throws -> [[Float]] {
      folder.write(
        "a.sfz",
        "<region> amp_veltrack=0 cutoff=800 resonance=9 fillfo_depth=900 fillfo_freq=7 sample=" + sample)
      let (resource, _) = try InstrumentLoader.load(path: folder.path + "a.sfz")
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      return rig.run(6000, [(0, .on(60))])
    }
    let stereo = try run("stereo.wav")
    let mono = try run("left.wav")
    for frame in 0..<6000 { #expect(abs(stereo[0][frame] - mono[0][frame]) < 1e-5) }
    #expect(stereo[0] != stereo[1])
  }

  func crossings(_ output: ArraySlice<Float>) -> [Double] {
    var result: [Double] = []
    for index in output.indices.dropFirst() where output[index - 1] < 0 && output[index] >= 0 {
      result.append(Double(index) - Double(output[index]) / Double(output[index] - output[index - 1]))
    }
    return result
  }

  @Test func aPitchLfoSwingsAsDeepAndAsFastAsItSays() throws {
    let rig = try rig("<region> sample=sine.wav pitchlfo_freq=5 pitchlfo_depth=100 pitchlfo_delay=0.1")
    let output = rig.run(48000, [(0, .on(60))])[0]
    let marks = crossings(output[...])
    // 1000 Hz for a tenth of a second, then 100 cents higher after a quarter of 0.2 s, and down.
    func period(at frame: Double) -> Double {
      let index = marks.firstIndex { $0 > frame }!
      return (marks[index + 2] - marks[index - 2]) / 4
    }
    #expect(abs(1200 * log2(48 / period(at: 2400))) < 0.5)
    #expect(abs(1200 * log2(48 / period(at: 4800 + 2400)) - 100) < 2)
    #expect(abs(1200 * log2(48 / period(at: 4800 + 7200)) + 100) < 2)
    #expect(abs(1200 * log2(48 / period(at: 4800 + 9600 + 2400)) - 100) < 2)
  }

  /// Waves of one LFO are added, each at its own rate. A random wave has two values per cycle. Steps follow
  /// in order.
  @Test func anLfoHasSeveralWavesOrSteps() throws {
    func decibels(_ opcodes: String, at seconds: [Double]) throws -> [Double] {
      let rig = try rig("<region> sample=one.wav lfo1_freq=2 lfo1_volume=10 " + opcodes)
      let output = rig.run(72000, [(0, .on(60))])[0]
      return seconds.map { 20 * log10(Double(output[Int($0 * 48000)]) / 0.5) }
    }
    func expect(_ found: [Double], _ expected: [Double]) {
      for (a, b) in zip(found, expected) { #expect(abs(a - b) < 0.15, "\(found) for \(expected)") }
    }
    // Default wave: a triangle, half-way up after an eighth of a cycle.
    expect(try decibels("", at: [0.0625, 0.125, 0.375]), [5, 10, -10])
    expect(try decibels("lfo1_wave=1", at: [0.0625, 0.125]), [7.07, 10])
    // 10 sin(2 pi 2 t) + 3 sin(2 pi 8 t) + 1; the second term peaks at 1/32 s.
    expect(
      try decibels(
        "lfo1_wave=1 lfo1_wave2=1 lfo1_ratio2=4 lfo1_scale2=0.3 lfo1_offset2=0.1", at: [0.03125, 0.125]),
      [10 * sin(.pi / 8) + 3 + 1, 11])
    expect(try decibels("lfo1_wave=3 lfo1_scale=0.5 lfo1_offset=-0.2", at: [0.1, 0.4]), [3, -7])
    expect(
      try decibels(
        "lfo1_steps=4 lfo1_step1=20 lfo1_step02=-50 lfo1_step4=100", at: [0.06, 0.18, 0.3, 0.44, 0.56]),
      [2, -5, 0, 10, 2])
    let random = try decibels("lfo1_wave=12", at: (0..<12).map { 0.0625 + 0.125 * Double($0) })
    #expect(Set(random.map { ($0 * 100).rounded() }).count == 6)
    #expect(random.allSatisfy { abs($0) <= 10 })
  }

  @Test func anAmplitudeLfoSwingsInDecibels() throws {
    let rig = try rig("<region> sample=one.wav amplfo_freq=4 amplfo_depth=6")
    let output = rig.run(24000, [(0, .on(60))])[0]
    for (frame, decibels) in [(3000, 6.0), (6000, 0), (9000, -6)] {
      #expect(abs(20 * log10(Double(output[frame]) / 0.5) - decibels) < 0.05, "frame \(frame)")
    }
    // As smooth as the sine: no steps between control periods.
    let steps = (1..<24000).map { (frame: Int) -> Float in abs(output[frame] - output[frame - 1]) }
    // 0.5 times the slope of 2^(sin(2 pi 4 t)), at most ln 2 * 2 * 2 pi 4 / 48000.
    let steepest: Float = 0.00073
    #expect(steps.max()! < steepest)
  }

  @Test func aPitchEnvelopeGoesStraightInCents() throws {
    let rig = try rig(
      "<region> sample=sine.wav pitcheg_depth=1200 pitcheg_attack=0.5 pitcheg_decay=0.5 pitcheg_sustain=50")
    let output = rig.run(72000, [(0, .on(60))])[0]
    let marks = crossings(output[...])
    func cents(at frame: Double) -> Double {
      let index = marks.firstIndex { $0 > frame }!
      return 1200 * log2(48 / ((marks[index + 1] - marks[index - 1]) / 2))
    }
    #expect(abs(cents(at: 12000) - 600) < 5)
    #expect(abs(cents(at: 18000) - 900) < 5)
    // From 1200 down to 600; half of that is passed after an eighth of a second.
    #expect(abs(cents(at: 24000 + 6000) - 900) < 5)
    #expect(abs(cents(at: 60000) - 600) < 1)
  }

  @Test func aFilterEnvelopeOpensTheFilter() throws {
    let rig = try rig(
      "<region> sample=noise.wav cutoff=100 fileg_depth=7200 fileg_attack=1 fileg_sustain=100")
    let output = rig.run(60000, [(0, .on(60))])[0]
    func level(_ range: Range<Int>) -> Float {
      (range.reduce(0) { $0 + output[$1] * output[$1] } / Float(range.count)).squareRoot()
    }
    #expect(level(0..<4800) < 0.05)
    #expect(level(20000..<24800) < level(40000..<44800))
    #expect(level(50000..<60000) > 0.12)
  }

  @Test func controllersMoveWhatTheySay() throws {
    let rig = try rig(
      """
      <curve> curve_index=9 v000=1 v127=0
      <region> sample=one.wav key=60 volume_oncc20=-12 pan_oncc21=200
      <region> sample=one.wav key=61 amplitude_oncc22=100 amplitude_curvecc22=9
      <region> sample=sine.wav key=62 pitch_keytrack=0 tune_oncc23=1200 tune_stepcc23=300
      <region> sample=one.wav key=63 xfin_locc24=20 xfin_hicc24=100
      <region> sample=one.wav key=64 volume_chanaft=-6
      <region> sample=one.wav key=65 volume_polyaft=-6
      """)
    func level(_ events: [Event], _ key: UInt8) -> [Float] {
      let start = Int(rig.time)
      let output = rig.run(9600, events.map { (start, $0) } + [(start, .on(key))])
      _ = rig.run(960, [(Int(rig.time), Event(.allSoundOff))])
      return [output[0][9000], output[1][9000]]
    }
    let soft = Float(0.5) * powf(10, -0.6)
    #expect(abs(level([.control(20, 127)], 60)[0] - soft) < 1e-4)
    #expect(abs(level([.control(20, 0), .control(21, 127)], 60)[1] - Float(0.5).squareRoot()) < 1e-4)
    #expect(abs(level([.control(22, 32)], 61)[0] - 0.5 * 95 / 127) < 1e-4)
    #expect(abs(level([.control(24, 10)], 63)[0]) < 1e-6)
    #expect(abs(level([.control(24, 60)], 63)[0] - 0.5 * Float(0.5).squareRoot()) < 1e-4)
    #expect(abs(level([Event(.pressure, value: 127)], 64)[0] - 0.5 * powf(10, -0.3)) < 1e-4)
    let before = Int(rig.time)
    let pressed = rig.run(
      9600, [(before, .on(65)), (before + 1, Event(.keyPressure, key: 65, value: 127))])[0]
    #expect(abs(pressed[0] - 0.5) < 1e-6)
    #expect(abs(pressed[9500] - 0.5 * powf(10, -0.3)) < 1e-4)
    // 661 cents, lowered to the second step of 300.
    let start = Int(rig.time)
    let tuned = rig.run(24000, [(start, .control(23, 70)), (start, .on(62))])[0]
    let marks = crossings(tuned[12000...])
    let period = (marks.last! - marks.first!) / Double(marks.count - 1)
    #expect(abs(1200 * log2(48 / period) - 600) < 0.2)
  }

  @Test func aControllerThatJumpsIsHeardAsAGlide() throws {
    let rig = try rig("<region> sample=one.wav volume_oncc20=-60")
    let output = rig.run(9600, [(0, .on(60)), (1000, .control(20, 127))])[0]
    #expect(output[999] == output[500])
    let steps = (1..<9600).map { (frame: Int) -> Float in abs(output[frame] - output[frame - 1]) }
    #expect(steps.max()! < 0.012)
    #expect(abs(20 * log10(output[9599] / 0.5) + 60) < 0.05)
    // At rest it costs nothing more.
    #expect(!rig.kernel.voicePool[0].isShaped)
  }

  @Test func flexibleEnvelopesGoThroughTheirPoints() throws {
    let rig = try rig(
      """
      <region> sample=one.wav eg1_amplitude=100 eg1_time1=0.1 eg1_level1=1 eg1_time2=0.1 eg1_level2=0.5
      eg1_sustain=2 eg1_time3=0.1 eg1_level3=0 eg1_time1_oncc30=0.1 ampeg_release=1
      """)
    let output = rig.run(28800, [(0, .on(60)), (19200, .off(60))])[0]
    #expect(abs(output[2400] - 0.25) < 1e-3)
    #expect(abs(output[4800] - 0.5) < 1e-3)
    #expect(abs(output[7200] - 0.375) < 1e-3)
    #expect(abs(output[19000] - 0.25) < 1e-4)
    // Half of the last segment, after the amplifier's own release has begun.
    let fade = exp(-9 * 0.05)
    #expect(abs(Double(output[19200 + 2400]) - 0.125 * fade) < 3e-3)
    let slow = rig.run(9600, [(28800, .control(30, 127)), (28801, .on(60))])[0]
    #expect(abs(slow[4800] - 0.25) < 1e-3)
  }

  @Test func widthTakesTheSidesTogether() throws {
    folder.wav("wide.wav", [[Float](repeating: 0.5, count: 400), [Float](repeating: -0.25, count: 400)])
    func run(_ opcodes: String) throws -> [Float] {
      folder.write("a.sfz", "<region> sample=wide.wav amp_veltrack=0 " + opcodes)
      let (resource, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
      #expect(report.findings == [])
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      let output = rig.run(64, [(0, .on(60))])
      return [output[0][20], output[1][20]]
    }
    func near(_ a: [Float], _ b: [Float]) -> Bool { zip(a, b).allSatisfy { abs($0 - $1) < 1e-6 } }
    #expect(near(try run("width=100"), [0.5, -0.25]))
    #expect(near(try run("width=0"), [0.125, 0.125]))
    #expect(near(try run("width=-100"), [-0.25, 0.5]))
    #expect(near(try run("position=-100"), [Float(0.5).squareRoot(), 0]))
  }

  /// The storage format of a sample is inaudible: at steady and moving pitches, near loop points and at the
  /// end.
  @Test func sixteenBitsSoundAsTheSameFloatsDo() throws {
    let seed: UInt64 = 5
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let numbers = (0..<3000).map { _ in Int16.random(in: .min ... .max, using: &random) }
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
    let data = numbers.flatMap { bytes($0) }
    var body = Array("WAVEfmt ".utf8) + bytes(UInt32(16)) + bytes(UInt16(1)) + bytes(UInt16(1))
    body += bytes(UInt32(48000)) + bytes(UInt32(96000)) + bytes(UInt16(2)) + bytes(UInt16(16))
    body += Array("data".utf8) + bytes(UInt32(data.count)) + data
    folder.write("short.wav", Array("RIFF".utf8) + bytes(UInt32(body.count)) + body)
    folder.wav("float.wav", [numbers.map { Float($0) / 32768 }])
    func run(_ sample: String) throws -> [[Float]] {
      let rig = try rig(
        """
        <region> sample=\(sample) lokey=30 hikey=59 pitchlfo_freq=6 pitchlfo_depth=300
        <region> sample=\(sample) lokey=48 hikey=72 cutoff=2000 fillfo_freq=5 fillfo_depth=600
        <region> sample=\(sample) lokey=60 hikey=90 loop_mode=no_loop
        """)
      var steps = SeededGenerator(seed: seed)
      let notes: [(Int, Event)] = [
        (0, .on(40)), (0, .on(52)), (100, .on(60)), (5000, .on(66)), (9000, .on(75)), (12000, .off(40)),
      ]
      return rig.run(24000, notes) { Int.random(in: 1...64, using: &steps) }
    }
    let (short, float) = (try run("short.wav"), try run("float.wav"))
    #expect(short[0].contains { abs($0) > 0.1 })
    #expect(short == float)
  }

  @Test func theSplitIntoBlocksChangesNoBitOfShapedVoices() throws {
    let seed: UInt64 = 4711
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    folder.wav("stereo.wav", [noise(5000), noise(5000, seed: 9)])
    folder.write(
      "a.sfz",
      """
      <global> loop_mode=loop_continuous ampeg_release=0.03
      <region> sample=noise.wav lokey=40 hikey=64 cutoff=700 resonance=6 fileg_depth=2400 fileg_decay=0.05
      fileg_sustain=20 fillfo_freq=9 fillfo_depth=300 cutoff_oncc74=2400 eq1_gain=6 eq1_gain_oncc75=6
      <region> sample=stereo.wav lokey=50 hikey=70 pitchlfo_freq=6 pitchlfo_depth=30 width=60 pan_oncc10=100
      cutoff=3000 fil_type=hpf_2p pitchlfo_depthcc1=200 lfo3_freq=11 lfo3_pan=50 lfo3_wave=0
      <region> sample=noise.wav lokey=60 hikey=80 volume_oncc7=-12 amplfo_freq=3 amplfo_depth=2 bend_smooth=40
      <region> sample=noise.wav lokey=70 hikey=90
      """)
    folder.wav("noise.wav", [noise(3000)])
    var events: [(Int, Event)] = []
    for _ in 0..<60 {
      let key = UInt8.random(in: 40...90, using: &random)
      let at = Int.random(in: 0..<3000, using: &random)
      events.append((at, .on(key, Float.random(in: 1...127, using: &random))))
      events.append((at + Int.random(in: 1..<2000, using: &random), .off(key)))
      let control: UInt8 = [1, 7, 10, 74, 75].randomElement(using: &random)!
      events.append((at + 50, .control(control, Float.random(in: 0...127, using: &random))))
      if at % 5 == 0 {
        events.append((at + 60, Event(.bend, value: Float.random(in: -1...1, using: &random))))
      }
    }
    events = events.enumerated().sorted { ($0.1.0, $0.0) < ($1.1.0, $1.0) }.map(\.1)
    for quality in 0..<3 {
      var reference: [[Float]] = []
      for mode in 0..<4 {
        let (resource, _) = try InstrumentLoader.load(path: folder.path + "a.sfz")
        let rig = Rig<Sampler>(Sampler.description, values: [3: 12, 6: Float(quality)])
        rig.use(resource)
        rig.streams[5] = { $0 < 3000 ? 0 : ($0 < 4000 ? Float($0 - 3000) * 0.1 : 100) }
        let output = rig.run(6000, events) {
          switch mode {
          case 0: 64
          case 1: 5
          case 2: 23
          default: Int.random(in: 1...64, using: &random)
          }
        }
        if mode == 0 { reference = output }
        let isSound = output[0].contains { $0 != 0 } && output[0].allSatisfy { $0.isFinite }
        #expect(isSound)
        let isSame = output == reference
        #expect(isSame, "split \(mode), quality \(quality)")
      }
    }
  }
}
