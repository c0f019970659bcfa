import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct ReadingSfz {
  let folder = Folder()

  func read(_ text: String) -> SfzReader { SfzReader(SfzScanner(text: text, file: folder.path + "t.sfz")) }

  @Test func headersInheritDownwards() {
    let reader = read(
      """
      <global> volume=-3 ampeg_release=0.5
      <master> pan=10
      <group> key=60 volume=-6
      <region> sample=a.wav
      <region> sample=b.wav pan=-20
      <group>
      <region> sample=c.wav
      <master>
      <group>
      <region> sample=d.wav
      """)
    #expect(reader.findings == [])
    #expect(reader.regions.map(\.sample) == ["a.wav", "b.wav", "c.wav", "d.wav"])
    #expect(reader.regions.map(\.volume) == [-6, -6, -3, -3])
    #expect(reader.regions.map(\.pan) == [10, -20, 10, 0])
    #expect(reader.regions.map(\.lowKey) == [60, 60, 0, 0])
    #expect(reader.regions.map { Double($0.envelope.release) } == [0.5, 0.5, 0.5, 0.5])
  }

  @Test func namesOfSamplesMayHoldSpacesAndBackslashes() {
    let reader = read(
      """
      <control> default_path=Grand Piano\\samples/
      <region> sample=C#4 loud.wav key=c#4 // the middle one
      <region> sample=sub\\b c.wav lokey=c-1 hikey=Bb2<region>sample=x.wav key=eb4
      /* <region> sample=never.wav
      still not */ <region> /* here */ sample=last.wav
      """)
    #expect(reader.findings == [])
    let root = "Grand Piano/samples/"
    #expect(
      reader.regions.map(\.sample) == [
        root + "C#4 loud.wav", root + "sub/b c.wav", root + "x.wav", root + "last.wav",
      ])
    #expect(reader.regions.map(\.lowKey) == [61, 0, 63, 0])
    #expect(reader.regions.map(\.highKey) == [61, 46, 63, 127])
  }

  @Test func keysMoveByTheControlOffsets() {
    let reader = read("<control> note_offset=2 octave_offset=-1 <region> sample=a.wav key=60")
    #expect(reader.regions[0].lowKey == 50)
    #expect(reader.regions[0].keyCenter == 50)
  }

  @Test func definesAndIncludesWork() {
    folder.makeFolder("inner")
    folder.write("inner/part.sfz", "<region> sample=$FILE.wav key=$KEY volume=$VOLUME\n")
    folder.write(
      "a.sfz",
      """
      #define $KEY 62
      #define $VOLUME -7
      #define $FILE piano
      #include "inner\\part.sfz"
      #define $KEY 63 #include "INNER/PART.sfz"
      """)
    let reader = SfzReader(try! SfzScanner(path: folder.path + "a.sfz"))
    #expect(reader.findings == [])
    #expect(reader.regions.map(\.lowKey) == [62, 63])
    #expect(reader.regions.map(\.volume) == [-7, -7])
    #expect(reader.regions.map(\.sample) == ["piano.wav", "piano.wav"])
  }

  @Test func whatIsNotUnderstoodIsReportedOnceByNameWithItsFirstPlace() {
    let reader = read(
      """
      <region> sample=a.wav wobble=800
      tremble_oncc10=100 wobble=900
      <region> sample=b.wav tremble_oncc11=50 pan_law=0.1
      <effect> reverb=1
      <effect> reverb=2
      """)
    #expect(
      reader.findings.map { "\($0.line) \($0.kind)" } == [
        "1 notUnderstood(\"wobble\")", "2 notUnderstood(\"tremble_onccN\")",
        "3 notUnderstood(\"pan_law\")", "4 notUnderstood(\"<effect> reverb\")",
      ])
    #expect(
      reader.findings[1].description.hasSuffix("t.sfz:2: the opcode `tremble_onccN` has no effect here"))
    #expect(reader.regions.count == 2)
  }

  /// Opcodes left out on purpose: undocumented filters and timers, ring modulation and rectifiers.
  @Test func whatIsLeftOutIsReportedWithItsPlace() {
    let names = """
      waveguide polyphony_stealing lotimer hitimer pan_law sample_fadeout
      egN_ringmod egN_rectify egN_depthadd_lfoN egN_ampeg_onccN
      lfoN_smooth lfoN_wave_onccN lfoN_depthadd_lfoN lfoN_stepN_onccN
      """.split(whereSeparator: \.isWhitespace).map(String.init)
    for name in names {
      let reader = read("<group>\n<region> \(name.replacing("N", with: "3"))=1")
      #expect(reader.findings.map(\.kind) == [.notUnderstood(name)])
      #expect(reader.findings.map(\.line) == [2])
    }
    let findings = read("<region> fil_type=comb").findings
    #expect(findings.count == 1 && findings[0].message.hasPrefix("fil_type=comb: one of apf_1p"))
  }

  /// The reference lists exactly the opcodes that are understood.
  @Test func allOpcodesOfTheReferenceAreUnderstood() {
    for (topic, names) in sfzOpcodes where topic != "headers" && topic != "effects of the whole" {
      for name in names {
        let value =
          switch name {
          case "sample": "a.wav"
          case "loop_mode": "one_shot"
          case "trigger": "first"
          case "off_mode": "fast"
          case "lorand": "0.5"
          case "phase": "invert"
          case "direction": "reverse"
          case "sw_vel": "previous"
          case "varN_mod": "mult"
          case "fil_type", "fil2_type": "hpf_1p"
          case "eqN_type": "peak"
          case "xf_keycurve", "xf_velcurve", "xf_cccurve": "gain"
          case "sustain_sw", "sostenuto_sw": "on"
          case "noise_filter": "bpf_2p"
          case "loop_type": "alternate"
          case _ where name.hasSuffix("_mod"): "add"
          default: "1"
          }
        let written = name.split(separator: "N", omittingEmptySubsequences: false).joined(separator: "2")
        let reader = read("<region> \(written)=\(value)")
        #expect(reader.findings == [], "\(written)")
        #expect(reader.opcodes.map(\.isUnderstood) == [true])
        #expect(reader.opcodes.map(\.name) == [name])
      }
    }
  }

  @Test func theReportCountsEveryOpcode() throws {
    folder.wav("a.wav", [noise(100)])
    let path = folder.write(
      "a.sfz", "<region> sample=a.wav pan_oncc10=100\n<region> sample=a.wav wobble=1 pan_oncc11=50")
    let (_, report) = try InstrumentLoader.load(path: path)
    #expect(
      report.opcodes == [
        OpcodeUse(name: "sample", count: 2, isUnderstood: true, file: path, line: 1),
        OpcodeUse(name: "pan_onccN", count: 2, isUnderstood: true, file: path, line: 1),
        OpcodeUse(name: "wobble", count: 1, isUnderstood: false, file: path, line: 2),
      ])
  }

  @Test func valuesOutOfRangeOrUnreadableAreReported() {
    let reader = read(
      "<region> sample=a.wav pan=300 volume=loud\nhikey=H2 ampeg_attack=nan stray loop_mode=sometimes")
    #expect(reader.regions[0].pan == 100)
    #expect(reader.regions[0].volume == 0)
    #expect(reader.regions[0].highKey == 127)
    #expect(reader.findings.map(\.line) == [1, 1, 2, 2, 2])
  }

  @Test func anInstrumentThatIncludesItselfEnds() throws {
    folder.write("a.sfz", "#include \"a.sfz\"\n#include \"a.sfz\"\n<region> sample=a.wav\n")
    folder.wav("a.wav", [noise(100)])
    let (_, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
    #expect(
      report.findings.map(\.description)
        == [1, 2].map {
          "\(folder.path)a.sfz:\($0): `a.sfz` includes itself; it is left out"
        })
    // An inclusion cycle of three files, and one deeper than any instrument needs.
    folder.write("b.sfz", "#include \"c.sfz\"\n#include \"c.sfz\"\n<region> sample=a.wav\n")
    folder.write("c.sfz", "#include \"d.sfz\"\n#include \"b.sfz\"\n")
    folder.write("d.sfz", "#include \"./b.sfz\"\n#include \"b.sfz\"\n")
    let (_, round) = try InstrumentLoader.load(path: folder.path + "b.sfz")
    #expect(round.findings.contains { $0.message.contains("`b.sfz` includes itself") })
    #expect(round.regions >= 1)
  }

  @Test func missingSamplesLeaveOutTheirRegionsOnly() throws {
    folder.wav("here.wav", [noise(100)])
    folder.write("broken.wav", "RIFF but not really")
    folder.write(
      "a.sfz",
      """
      <region> sample=here.wav key=60
      <region> sample=gone.wav key=61
      <region> sample=gone.wav key=62
      <region> sample=broken.wav key=63
      """)
    let (_, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
    #expect(report.regions == 1)
    #expect(report.keys == 60...60)
    #expect(report.missingSamples == ["gone.wav", "broken.wav"])
    #expect(report.findings.map(\.line) == [2, 4])
  }

  /// Mistakes that an instrument's author would otherwise look for by ear.
  @Test func slipsAreNamedInTheOrderOfTheFile() throws {
    folder.wav("a.wav", [noise(100)])
    let path = folder.write(
      "a.sfz",
      """
      <region> sample=gone.wav key=60
      <region> sample=a.wav lokey=64 hikey=62
      <region> sample=a.wav hikey=-1 on_locc1=64
      <region> sample=a.wav seq_position=3 seq_length=2
      <region> sample=a.wav lorand=0.5 hirand=0.2
      <region> sample=a.wav lovel=90 hivel=9
      <region> sample = a.wav key = 60
      <region> sample=a.wav volume=loud
      <effect> type=reverb volume=3
      """)
    let (_, report) = try InstrumentLoader.load(path: path)
    #expect(report.findings.map(\.line) == [1, 2, 4, 5, 6, 7, 7, 8, 9])
    #expect(report.findings[1].message == "the region never sounds: lokey 64 lies above hikey 62")
    #expect(report.findings[5].message.hasPrefix("`sample =`: there must be no space"))
    #expect(report.notUnderstood == ["<effect> type=reverb"])
    #expect(
      report.opcodes.filter { !$0.isUnderstood }.map(\.name) == ["<effect> type", "<effect> volume"])
    #expect(report.opcodes.first { $0.name == "volume" }?.isUnderstood == true)
  }

  @Test(arguments: [true, false]) func textMayBeUTF16(isLittle: Bool) throws {
    folder.wav("é.wav", [noise(100)])
    let units = Array("\u{FEFF}<region> sample=é.wav key=60\r\n".utf16)
    let bytes = units.flatMap { unit in
      isLittle ? [UInt8(unit & 255), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 255)]
    }
    let (_, report) = try InstrumentLoader.load(path: folder.write("a.sfz", bytes))
    #expect(report.findings == [])
    #expect(report.keys == 60...60)
  }

  @Test func anInstrumentWithNothingToPlayIsAnError() {
    let path = folder.write("a.sfz", "<region> sample=gone.wav\n")
    #expect {
      try InstrumentLoader.load(path: path)
    } throws: {
      "\($0)"
        == "\(path):1: nothing in it can be played: sample `gone.wav`: No such file or directory; its regions are left out"
    }
    let empty = folder.write("b.sfz", "// nothing\n")
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: empty) }
    #expect {
      try InstrumentLoader.load(path: folder.path + "none.sfz")
    } throws: {
      "\($0)".hasSuffix("none.sfz: No such file or directory")
    }
  }

  @Test func generatedWavesSound() throws {
    folder.write(
      "a.sfz",
      "<global> amp_veltrack=0 <region> sample=*sine key=69 pitch_keycenter=60\n<region> sample=*silence key=61\n<region> sample=*drum key=62"
    )
    let (resource, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
    #expect(report.missingSamples == ["*drum"])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    let output = rig.run(4800, [(0, .on(69))])[0]
    for index in 0..<4800 {
      let expected = sin(2 * Double.pi * 440 * Double(index) / 48000)
      #expect(abs(Double(output[index]) - expected) < 1e-4)
    }
  }

  @Test func loopsBeyondTheEndAreSetRightAndReported() throws {
    folder.wav("a.wav", [noise(100)])
    folder.write(
      "a.sfz",
      """
      <region> sample=a.wav key=60 loop_mode=loop_continuous loop_start=10 loop_end=5000
      <region> sample=a.wav key=61 loop_mode=loop_continuous loop_start=90 loop_end=20
      <region> sample=a.wav key=62 offset=100
      """)
    let (resource, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
    #expect(report.findings.map(\.line) == [1, 2, 3])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    for key in 60...62 as ClosedRange<UInt8> {
      let output = rig.run(2000, [(Int(rig.time), .on(key))])
      #expect(output[0].allSatisfy { $0.isFinite })
    }
    #expect(rig.kernel.voices == 1)
  }

  /// For any file content, reading terminates and the result can be played.
  @Test func mutatedInstrumentsNeverCrash() throws {
    let seed: UInt64 = 0x5F2
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    folder.wav("a.wav", [noise(400)], loop: 100...300, key: 62)
    let original = Array(
      """
      <control> default_path=./ note_offset=1 set_cc1=64
      #define $A 60
      <global> volume=-3 sw_lokey=20 sw_hikey=24 sw_default=20
      <group> lovel=1 hivel=100 xfin_lovel=20 xfin_hivel=60 seq_length=3 seq_position=2
      <region> sample=a.wav key=$A loop_mode=loop_sustain loop_start=3 loop_end=200 tune=10
      <region> sample=a.wav lokey=a2 hikey=c7 pitch_keycenter=sample pitch_keytrack=50 offset=20 end=300
      ampeg_attack=0.01 ampeg_decay=0.1 ampeg_sustain=50 ampeg_release=0.2 ampeg_vel2attack=-1
      <region> sample=a.wav trigger=release rt_decay=6 group=1 off_by=1 off_mode=fast polyphony=2
      direction=reverse rt_dead=on stop_locc1=3 delay_samples=9 lohdcc7=0.5 lfo1_freq=9 lfo1_steps=5 lfo1_step3=90
      lfo1_wave2=12 lfo1_ratio2=3 lfo1_pitch=50 ampeg_decay_shape=-70 ampeg_release_zero=1 ampeg_attack_shape=80
      amp_velcurve_64=0.5 locc1=10 hicc1=127 lorand=0.2 hirand=0.9 transpose=-200 delay=0.001
      """.utf8)
    let words = [
      "<", ">", "=", "\n", "#include \"a.sfz\"", "-1", "1e300", "nan", "99999999999", "$A", "key=", "//",
      "/*", "\0", "é", "loop_mode=loop_continuous ", "loop_end=0 ", "offset=399 ", "end=0 ",
    ]
    for _ in 0..<150 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let at = Int.random(in: 0..<max(1, bytes.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...30, using: &random)))
        case 2: bytes.insert(contentsOf: Array(words.randomElement(using: &random)!.utf8), at: at)
        default:
          let end = min(bytes.count, at + Int.random(in: 1...60, using: &random))
          bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
        }
      }
      let path = folder.write("a.sfz", bytes)
      guard let (resource, _) = try? InstrumentLoader.load(path: path) else { continue }
      let rig = Rig<Sampler>(Sampler.description, values: [3: 4])
      rig.use(resource)
      var events: [(Int, Event)] = []
      for index in 0..<8 {
        let key = UInt8.random(in: 50...70, using: &random)
        events.append((index * 20, .on(key, Float.random(in: 1...127, using: &random))))
        events.append((index * 20 + 15, .off(key)))
      }
      let output = rig.run(200, events)
      let sound = output[0].allSatisfy { $0.isFinite } && output[1].allSatisfy { $0.isFinite }
      #expect(sound, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  /// An instrument shaped like real ones: every opcode in it reaches the voice.
  @Test func aRegionsNumbersReachTheVoice() throws {
    folder.wav("a.wav", [[Float](repeating: 1, count: 48000)])
    folder.write(
      "a.sfz",
      """
      <global> amp_veltrack=0 loop_mode=no_loop
      <region> sample=a.wav key=60 volume=-6 amplitude=50 pan=-100
      <region> sample=a.wav key=61 ampeg_attack=0.01 ampeg_hold=0.01 ampeg_decay=0.1 ampeg_sustain=25
      <region> sample=a.wav key=62 amp_veltrack=100
      <region> sample=a.wav key=63 amp_veltrack=100 amp_velcurve_64=0.8
      <region> sample=a.wav key=64 delay=0.01
      <region> sample=a.wav key=65 end=99
      """)
    let (resource, report) = try InstrumentLoader.load(path: folder.path + "a.sfz")
    #expect(report.findings == [])
    func play(_ key: UInt8, _ velocity: Float, _ frames: Int) -> [[Float]] {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      return rig.run(frames, [(0, .on(key, velocity))])
    }
    let panned = play(60, 100, 64)
    #expect(abs(panned[0][10] - Float(0.5).squareRoot() * powf(10, -6 / 20)) < 1e-6)
    #expect(abs(panned[1][10]) < 1e-6)
    let shaped = play(61, 100, 9600)[0]
    #expect(abs(shaped[240] - 0.5) < 1e-6)
    #expect(abs(shaped[480 + 240] - 1) < 1e-6)
    // A quarter is reached after ln 4 / 9 of the decay time, half of it half-way.
    let quarter = 960 + Int(4800 * log(4.0) / 9)
    #expect(abs(shaped[(960 + quarter) / 2] - 0.5) < 2e-3)
    #expect(abs(shaped[quarter + 2] - 0.25) < 1e-6)
    #expect(abs(play(62, 64, 64)[0][0] - powf(64 / 127, 2)) < 1e-6)
    #expect(abs(play(63, 64, 64)[0][0] - 0.8) < 1e-6)
    #expect(abs(play(63, 32, 64)[0][0] - 0.4) < 1e-6)
    let late = play(64, 100, 600)[0]
    #expect(late.firstIndex { $0 != 0 } == 480)
    #expect(play(65, 100, 200)[0].count { $0 != 0 } == 100)
  }
}
