import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Instruments when played, by the text of SFZ 1, SFZ 2 and ARIA: an instrument, its events, and the left
/// channel's level after each.
@Suite struct Playing {
  let folder = Folder()

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sfz: String
    /// Events at the start of each 64-frame step, and the level in percent shortly after.
    var steps: [(events: [Event], height: Float)]

    init(_ name: String, _ sfz: String, _ steps: [([Event], Float)]) {
      testDescription = name
      self.sfz = sfz
      self.steps = steps.map { (events: $0.0, height: $0.1) }
    }
  }

  private static let keys = "<region> lokey=40 hikey=80 amplitude="
  private static func release(_ velocity: Float) -> Event { Event(.noteOff, key: 60, value: velocity) }
  private static func bend(_ value: Float) -> Event { Event(.bend, value: value) }

  static let cases: [Case] = [
    Case(
      "volume stands at 100 and expression at its full, both as squares",
      "<region>", [([.on(60)], 62), ([.control(7, 127), .on(60)], 100), ([.control(7, 64), .on(60)], 25)]),
    Case(
      "expression multiplies the volume",
      "<region>", [([.control(7, 127), .control(11, 64), .on(60)], 25), ([.control(11, 0), .on(60)], 0)]),
    Case("set_cc7 says where the volume stands", "<control> set_cc7=127 <region>", [([.on(60)], 100)]),
    Case(
      "the pan controller moves from side to side, with 3 dB more at the end",
      "<control> set_cc7=127 <region>",
      [
        ([.control(10, 0), .on(60)], 141), ([.control(10, 64), .on(60)], 100),
        ([.control(10, 127), .on(60)], 0),
      ]
    ),
    Case(
      "an instrument that uses the volume controller itself is not turned down by it twice",
      "<region> key=60 amplitude=50\n<region> key=61 volume_oncc7=6",
      [([.on(60)], 50), ([.control(7, 10), .on(60)], 50)]),
    Case(
      "a condition on a controller is a use of it",
      "<region> key=60 hicc11=126 amplitude=20\n<region> key=60 locc11=127 amplitude=50",
      [([.control(7, 127), .on(60)], 50), ([.control(11, 60), .on(60)], 20)]),
    Case(
      "pan, as the instrument has it, is where the controller begins",
      "<control> set_cc7=127 <region> pan=-100", [([.on(60)], 141), ([.control(10, 127), .on(60)], 100)]),
    Case(
      "release samples wait for the sostenuto pedal",
      "<region> trigger=release rt_dead=on amplitude=20",
      [
        ([.control(7, 127), .on(60)], 0), ([.control(66, 127)], 0), ([.off(60)], 0), ([.control(66, 0)], 20),
        ([.control(66, 127)], 0), ([.control(66, 0)], 0),
      ]),
    Case(
      "what the sostenuto pedal did not catch does not wait for it",
      "<region> trigger=release rt_dead=on amplitude=20",
      [([.control(7, 127), .control(66, 127)], 0), ([.on(60)], 0), ([.off(60)], 20), ([.control(66, 0)], 0)]),
    Case(
      "release samples wait for the last of both pedals",
      "<region> trigger=release rt_dead=on amplitude=20",
      [
        ([.control(7, 127), .on(60), .control(66, 127), .control(64, 127)], 0), ([.off(60)], 0),
        ([.control(66, 0)], 0), ([.control(64, 0)], 20),
      ]),
    Case(
      "the sustain pedal is down as soon as it leaves 0",
      "<region> trigger=release rt_dead=on amplitude=20",
      [
        ([.control(7, 127), .control(64, 1), .on(60)], 0), ([.off(60)], 0), ([.control(64, 0)], 20),
        ([.on(61)], 0), ([.off(61)], 20),
      ]),
    Case(
      "sustain_lo says from where on it is",
      "<region> trigger=release rt_dead=on sustain_lo=64 amplitude=20",
      [([.control(7, 127), .control(64, 63), .on(60)], 0), ([.off(60)], 20)]),
    Case(
      "each region waits for its own pedals",
      """
      <global> trigger=release rt_dead=on
      <region> sostenuto_cc=20 amplitude=10
      <region> sostenuto_sw=off sustain_sw=off amplitude=20
      <region> sostenuto_lo=100 amplitude=40
      """,
      [
        ([.control(7, 127), .on(60), .control(20, 1), .control(66, 60)], 0), ([.off(60)], 60),
        ([.control(20, 0)], 10),
      ]),
    Case(
      "140 and 141 are keys from the note before, and how many",
      """
      <region> lokey=40 hikey=80 locc140=1 hicc140=127 amplitude=10
      <region> lokey=40 hikey=80 locc140=-127 hicc140=-1 amplitude=20
      <region> lokey=40 hikey=80 locc141=5 amplitude=40
      """,
      [
        ([.control(7, 127), .on(60)], 0), ([.on(62)], 10), ([.on(58)], 20), ([.on(63)], 50), ([.on(58)], 60),
        ([.on(58)], 0),
      ]),
    Case(
      "the distance of keys moves what it is told to, without an end at 127",
      keys + "10 amplitude_oncc141=25 amplitude_mod=mult",
      [([.control(7, 127), .on(60)], 0), ([.on(62)], 5), ([.on(70)], 20)]),
    Case(
      "137 is on with the first note and off with the next",
      keys + "10 locc137=64\n" + keys + "20 hicc137=63",
      [([.control(7, 127), .on(60)], 10), ([.on(60)], 20), ([.on(60)], 10)]),
    Case(
      "131 and 138 are the velocity, 133 the key",
      "\(keys)10 locc131=100\n\(keys)20 locc138=110\n\(keys)40 locc133=70 hicc133=71",
      [([.control(7, 127), .on(60, 99)], 0), ([.on(60, 100)], 10), ([.on(60, 110)], 30), ([.on(70, 1)], 40)]),
    Case(
      "132 is how fast a key went up",
      "<region> trigger=release rt_dead=on locc132=90 amplitude=20",
      [([.control(7, 127), .on(60)], 0), ([release(89)], 0), ([.on(60)], 0), ([release(90)], 20)]),
    Case(
      "142 is the tempo, 146 the beats of a bar, 143 a transport that stands still",
      "\(keys)10 locc142=120 hicc142=120\n\(keys)20 locc146=4 hicc146=4\n\(keys)40 locc143=1",
      [([.control(7, 127), .on(60)], 30)]),
    Case(
      "controllers that MIDI has not stand where the instrument sets them",
      """
      <control> set_cc200=50 set_hdcc511=1
      <region> locc200=50 hicc200=50 amplitude=10
      <region> locc300=1 amplitude=20
      <region> locc511=127 amplitude=40
      """, [([.control(7, 127), .on(60)], 50)]),
    Case(
      "a bend below the middle is within a range that has only an end",
      "\(keys)10 hibend=-4096\n\(keys)20 lobend=-8192 hibend=0",
      [([.control(7, 127), .on(60)], 20), ([bend(-0.75), .on(60)], 30)]),
    Case(
      "a wheel at its stop is within a range that ends there",
      "\(keys)10 lobend=-8192 hibend=8190\n\(keys)20 lobend=8191 hibend=8191",
      [([.control(7, 127), bend(1), .on(60)], 20), ([bend(-1), .on(60)], 10)]),
    Case(
      "every message of a controller within the range starts a region",
      "<region> key=-1 on_locc20=64 on_hicc20=127 amplitude=10",
      [
        ([.control(7, 127), .control(20, 64)], 10), ([.control(20, 64)], 10), ([.control(20, 90)], 10),
        ([.control(20, 63)], 0), ([.control(20, 127)], 10),
      ]),
    Case(
      "the pedals that all notes off lifts are no messages",
      "<region> key=-1 on_locc64=0 on_hicc64=10 amplitude=10",
      [
        ([.control(7, 127), Event(.allNotesOff), .control(123, 0), .control(121, 0)], 0),
        ([.control(64, 127)], 0), ([Event(.allNotesOff)], 10), ([.control(64, 0)], 10),
      ]),
    Case(
      "each counts as a turn of a round robin",
      """
      <global> key=-1 on_locc20=64 on_hicc20=127 seq_length=3
      <region> seq_position=1 amplitude=10 <region> seq_position=2 amplitude=20
      <region> seq_position=3 amplitude=30
      """,
      [
        ([.control(7, 127), .control(20, 64)], 10), ([.control(20, 64)], 20), ([.control(20, 10)], 0),
        ([.control(20, 127)], 30), ([.control(20, 127)], 10),
      ]),
    Case(
      "bend, pressure and notes start regions as controllers",
      """
      <global> key=-1
      <region> on_locc128=96 on_hicc128=127 amplitude=10
      <region> on_locc129=60 on_hicc129=70 amplitude=20
      <region> on_locc131=100 on_hicc131=127 amplitude=40
      """,
      [
        ([.control(7, 127), bend(0.6)], 10), ([bend(0)], 0), ([Event(.pressure, value: 65)], 20),
        ([.on(60, 99)], 0), ([.on(60, 100)], 40),
      ]),
    Case(
      "a region that ends before it begins silences others",
      """
      <region> key=60 end=3999 loop_mode=loop_continuous group=1 off_by=2 off_time=0 amplitude=10
      <region> key=61 group=2 end=-1
      """, [([.control(7, 127), .on(60)], 10), ([], 10), ([.on(61)], 0)]),
    Case(
      "a controller chokes by such a region as well",
      """
      <region> key=60 end=3999 loop_mode=loop_continuous group=1 off_by=2 off_time=0 amplitude=10
      <region> key=-1 group=2 end=-1 on_locc20=64 on_hicc20=127
      """, [([.control(7, 127), .on(60)], 10), ([.control(20, 64)], 0)]),
    Case(
      "a key among the switches that switches nothing sounds and leaves the switch",
      """
      <global> sw_lokey=20 sw_hikey=40 sw_default=20
      <region> key=60 sw_last=20 amplitude=10 <region> key=60 sw_last=22 amplitude=20
      <region> key=30 amplitude=40
      """,
      [
        ([.control(7, 127), .on(60)], 10), ([.on(30)], 40), ([.on(60)], 10), ([.on(22)], 0), ([.on(60)], 20),
        ([.on(21)], 0), ([.on(60)], 20),
      ]),
    Case(
      "opcodes of <control> are for all regions",
      "<control> amplitude=20 <global> key=60 <region> <group> <region> key=61 amplitude=50",
      [([.control(7, 127), .on(60)], 20), ([.on(61)], 50)]),
    Case(
      "legato_last: the last key sounds, and the one before again when it goes up",
      "<global> loop_mode=loop_continuous end=3999 off_mode=fast polyphony=legato_last\n"
        + "<region> key=60 amplitude=10 <region> key=62 amplitude=20 <region> key=64 amplitude=40",
      [
        ([.control(7, 127), .on(60)], 10), ([.on(64)], 40), ([.on(62)], 20), ([.off(62)], 40),
        ([.off(60)], 40),
      ]),
    Case(
      "legato_high: a lower key waits until the higher ones are up",
      "<global> loop_mode=loop_continuous end=3999 polyphony=legato_high\n"
        + "<region> key=60 amplitude=10 <region> key=62 amplitude=20 <region> key=64 amplitude=40",
      [
        ([.control(7, 127), .on(62)], 20), ([.on(60)], 20), ([.on(64)], 40), ([.off(64)], 20),
        ([.off(62)], 10), ([.off(60)], 0),
      ]),
    Case(
      "legato_low: a higher key waits until the lower ones are up",
      "<global> loop_mode=loop_continuous end=3999 polyphony=legato_low\n"
        + "<region> key=60 amplitude=10 <region> key=62 amplitude=20",
      [([.control(7, 127), .on(60)], 10), ([.on(62)], 10), ([.off(60)], 20)]),
  ]

  @Test(arguments: cases) func sounds(_ example: Case) throws {
    folder.wav("one.wav", [[Float](repeating: 1, count: 40000)])
    // 32 frames, unless a case says otherwise.
    let global = example.sfz.contains("loop_continuous") ? "" : "end=31 loop_mode=one_shot"
    var parts = example.sfz.components("<region>")
    parts = [parts[0]] + parts.dropFirst().map { " sample=one.wav amp_veltrack=0 \(global) " + $0 }
    let text = parts.joined(separator: "<region>")
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource, asLoaded: true)
    var heights: [Float] = []
    for (events, _) in example.steps {
      let start = Int(rig.time)
      heights.append((rig.run(64, events.map { (start, $0) })[0][8] * 100).rounded())
      // Fades and short samples have ended.
      if example.sfz.contains("loop_continuous") {
        heights[heights.count - 1] = (rig.run(1280)[0][1279] * 100).rounded()
      }
    }
    #expect(heights == example.steps.map(\.height))
  }

  /// All regions of a note share one random number: of two regions for the halves of its range, exactly one
  /// sounds.
  @Test func theRandomControllersAreOneNumberANote() throws {
    folder.wav("one.wav", [[Float](repeating: 1, count: 400)])
    var seen: Set<Float> = []
    for source in [135, 136] {
      let text = """
        <control> set_cc7=127 <global> sample=one.wav amp_veltrack=0 end=31 loop_mode=one_shot
        <region> locc\(source)=63.5 amplitude=10\n<region> hicc\(source)=63.5 amplitude=20
        <region> amplitude=40 amplitude_oncc\(source)=100
        <region> amplitude=40 amplitude_oncc\(source)=100 phase=invert
        """
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
      for _ in 0..<64 {
        let start = Int(rig.time)
        let height = (rig.run(64, [(start, .on(60))])[0][8] * 1000).rounded()
        #expect(height == 100 || height == 200, "\(height)")
        seen.insert(height)
      }
    }
    #expect(seen == [100, 200])
  }

  /// Mono and stereo files of the same sound are equally loud, centred and panned.
  @Test func stereoSamplesAreAsLoudAsMonoOnes() throws {
    let one = [Float](repeating: 1, count: 400)
    folder.wav("mono.wav", [one])
    folder.wav("stereo.wav", [one, one])
    for pan in stride(from: -100, through: 100, by: 25) {
      var sides: [[Float]] = []
      for file in ["mono", "stereo"] {
        let text = "<control> set_cc7=127 <region> sample=\(file).wav amp_veltrack=0 pan=\(pan)"
        let rig = Rig<Sampler>(Sampler.description)
        rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
        let output = rig.run(64, [(0, .on(60))])
        sides.append([output[0][8], output[1][8]])
      }
      // Panning lowers one side of a stereo sample and raises the other by the pan law.
      #expect(near(sides[0][0], Double(sides[1][0]), 1e-5) && near(sides[0][1], Double(sides[1][1]), 1e-5))
      if pan == 0 { #expect(sides[0] == [1, 1] && sides[1] == [1, 1]) }
      #expect(near(sides[0][0] * sides[0][0] + sides[0][1] * sides[0][1], 2, 1e-4))
    }
    // A plain sound file plays at its own level, and its volume can be turned down.
    for file in ["mono", "stereo"] {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(try InstrumentLoader.load(path: folder.path + "\(file).wav").resource, asLoaded: true)
      let output = rig.run(64, [(0, .on(60))])
      #expect(output[0][8] == 1 && output[1][8] == 1)
      let softer = rig.run(128, [(64, .control(7, 64)), (64, .on(62))])
      #expect(softer[0][100] < 1.3 && softer[0][100] > 0.25)
    }
  }

  // MARK: Half-pedalling

  /// Decay of a released note in decibels per second, measured over 0.2 s, after the pedal has moved to
  /// `later`.
  private func loss(_ opcodes: String, pedal: Float, then later: Float? = nil) throws -> Double {
    folder.wav("long.wav", [[Float](repeating: 0.5, count: 200_000)])
    let text = "<control> set_cc7=127 <region> sample=long.wav amp_veltrack=0 \(opcodes)"
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
    _ = rig.run(6400, [(0, .control(64, pedal)), (640, .on(60)), (3200, .off(60))])
    if let later {
      let output = rig.run(1280, [(6400, .control(64, later))])[0]
      // The slope may change, but the level must not jump.
      for frame in 1..<1280 { #expect(abs(output[frame] - output[frame - 1]) < 0.004) }
    }
    let output = rig.run(9600)[0]
    guard output[9599] > 1e-7 else { return .infinity }
    return 20 * log10(Double(output[0] / output[9599])) * 5
  }

  /// A damper that touches the strings: with `sustain_cc` on another pedal, controller 64 only sets the
  /// release.
  @Test func halfPedallingDampsWhatIsBeingReleased() throws {
    let piano = "sustain_cc=90 ampeg_release=1 ampeg_releasecc64=9"
    let open = try loss(piano + " ampeg_dynamic=1", pedal: 127)
    #expect(abs(open - 78.2 / 10) < 0.1, "\(open)")
    let half = try loss(piano + " ampeg_dynamic=1", pedal: 127, then: 127 / 9)
    #expect(abs(half - 78.2 / 2) < 1, "\(half)")
    let closed = try loss(piano + " ampeg_dynamic=1", pedal: 127, then: 0)
    #expect(abs(closed - 78.2) < 1, "\(closed)")
    // The damper is lifted again.
    let opened = try loss(piano + " ampeg_dynamic=1", pedal: 0, then: 127)
    #expect(abs(opened - 78.2 / 10) < 0.2, "\(opened)")
    // Damper fully down: the sound ends within a fade.
    #expect(try loss("sustain_cc=90 ampeg_releasecc64=9 ampeg_dynamic=1", pedal: 127, then: 0) == .infinity)
    // Without `ampeg_dynamic`, the pedal's position at the start of the release counts.
    let fixed = try loss(piano, pedal: 127, then: 0)
    #expect(abs(fixed - 78.2 / 10) < 0.1, "\(fixed)")
    folder.wav("long.wav", [[Float](repeating: 0.5, count: 200_000)])
    let text = "<region> sample=long.wav amp_veltrack=0 sustain_cc=90 ampeg_release=1 ampeg_releasecc64=9"
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
    // The pedal moved while the key was down.
    _ = rig.run(6400, [(0, .on(60)), (1280, .control(64, 127)), (3200, .off(60))])
    let output = rig.run(9600)[0]
    #expect(abs(20 * log10(Double(output[0] / output[9599])) * 5 - 78.2 / 10) < 0.1)
  }

  /// Envelopes have no step when a controller moves their times and levels, at any stage.
  @Test(arguments: [41, 42, 43] as [UInt64]) func envelopesThatMoveNeverJump(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    folder.wav("long.wav", [[Float](repeating: 1, count: 400_000)])
    for _ in 0..<40 {
      func some(_ list: [String]) -> String { list.randomElement(using: &random)! }
      let stages = ["attack", "hold", "decay", "release"].map {
        "ampeg_\($0)=\(some(["0.02", "0.05", "0.2"])) ampeg_\($0)_oncc\(some(["1", "2"]))=\(some(["0.3", "1"]))"
      }
      let shapes = ["attack", "decay", "release"].filter { _ in Bool.random(using: &random) }
        .map { "ampeg_\($0)_shape=\(some(["-9", "-3", "0", "2"]))" }
      let text =
        "<control> set_cc7=127 <region> sample=long.wav amp_veltrack=0 "
        + "\((stages + shapes).joined(separator: " ")) ampeg_sustain=\(some(["0", "30", "100"])) "
        + "ampeg_sustain_oncc3=\(some(["50", "-20"])) ampeg_dynamic=\(some(["0", "1"])) "
        + some(["", "ampeg_release_zero=1", "ampeg_decay_zero=0"])
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
      var events: [(Int, Event)] = [(100, .on(60)), (Int.random(in: 500...20_000, using: &random), .off(60))]
      for _ in 0..<30 {
        events.append(
          (
            Int.random(in: 200...40_000, using: &random),
            .control(UInt8.random(in: 1...3, using: &random), Float(Int.random(in: 0...127, using: &random)))
          ))
      }
      let output = rig.run(48000, events.sorted { $0.0 < $1.0 })[0]
      // An attack of zero length steps at its first frame.
      for frame in 102..<48000 {
        #expect(abs(output[frame] - output[frame - 1]) < 0.012, "\(frame): \(text)")
        if abs(output[frame] - output[frame - 1]) >= 0.012 { return }
      }
    }
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
