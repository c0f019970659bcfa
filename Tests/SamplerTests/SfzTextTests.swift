import Foundation
import Testing

@testable import Instruments
@testable import Sampler

/// SFZ texts as found in the wild, written for lenient players.
@Suite struct SfzText {
  let folder = Folder()

  func read(_ text: String) -> SfzReader { SfzReader(SfzScanner(text: text, file: folder.path + "t.sfz")) }

  // MARK: Directives

  @Test func directivesRightBehindAHeaderCount() {
    folder.write("part.sfz", "key=$KEY")
    let reader = SfzReader(
      SfzScanner(
        text:
          "<group>#define $KEY 61 <region>#include \"part.sfz\" sample=a.wav\n<region>#define $B b.wav sample=$B",
        file: folder.path + "t.sfz"))
    #expect(reader.findings == [])
    #expect(reader.regions.map(\.lowKey) == [61, 0])
    #expect(reader.regions.map(\.sample) == ["a.wav", "b.wav"])
  }

  @Test func aDefineMayUseOthersAlsoOnesThatComeLater() {
    let reader = read(
      """
      #define $ROOT $DIR/$SUB
      #define $DIR samples
      #define $SUB loud
      <region> sample=$ROOT/a.wav
      #define $SUB soft
      <region> sample=$ROOT/a.wav key=$NONE1
      """)
    #expect(reader.regions.map(\.sample) == ["samples/loud/a.wav", "samples/soft/a.wav"])
    #expect(reader.findings.map(\.line) == [6])
  }

  /// As in ARIA. It is reported, since the author may have meant the longer name.
  @Test func theShortestNameThatIsKnownIsMeant() {
    let reader = read("#define $KEY 6\n#define $KEYS 72\n<region> sample=a.wav key=$KEY0 lokey=$KEYS")
    #expect(reader.regions[0].highKey == 60)
    #expect(
      reader.findings.map(\.description).first?.hasSuffix(
        "t.sfz:2: `$KEYS` is never read: where it stands, `$KEY` is meant") == true)
  }

  @Test func definesThatUseThemselvesEnd() {
    let names = (0..<40).map { "#define $v\($0)x $v\($0 + 1)x$v\($0 + 1)x$v\($0 + 1)x\n" }.joined()
    for text in ["#define $A $A\n", "#define $A $B\n#define $B $A$A\n", names + "#define $A $v0x\n"] {
      let reader = read(text + String(repeating: "<region> sample=$A\n", count: 200))
      #expect(
        reader.findings.contains {
          $0.message.contains("is left out") || $0.message.contains("is defined by")
        })
      #expect(reader.regions.count == 200)
    }
  }

  @Test func includesWithinIncludesGoDeep() {
    for depth in 0..<40 {
      folder.write("p\(depth).sfz", "<region> sample=\(depth).wav\n#include \"p\(depth + 1).sfz\"\n")
    }
    folder.write("p40.sfz", "<region> sample=last.wav")
    let reader = SfzReader(try! SfzScanner(path: folder.path + "p0.sfz"))
    #expect(reader.findings == [])
    #expect(reader.regions.count == 41)
  }

  // MARK: Comments and long lines

  @Test func aCommentThatIsNeverClosedIsReportedWhereItBegins() {
    let reader = read("<region> sample=a.wav\n\nkey=60 /* the rest\n<region> sample=b.wav\n")
    #expect(reader.findings.map(\.line) == [3])
    #expect(reader.findings[0].message.hasPrefix("the comment that begins here is never closed"))
    #expect(reader.regions.map(\.lowKey) == [60])
    #expect(read("<region> /* a */ sample=a.wav /* b\nc */ key=61").regions.map(\.lowKey) == [61])
  }

  /// A second or two; a quadratic reader would take hours.
  @Test(arguments: ["/* ", "x ", "/*a*/", "<", "a = ", "#", "#define ", "$", "= ", "x=", "  "])
  func oneLongLineIsReadInTheTimeOfItsLength(_ piece: String) {
    let text = "<region> " + String(repeating: piece, count: 1_000_000)
    #expect(read(text).findings.count <= 1001)
  }

  // MARK: Values

  @Test func numbersWithSomethingBehindThemAreReadAndReported() {
    let reader = read(
      "<region> sample=a.wav volume=3dB pan=-12abc tune=+5. amp_veltrack=.5e2x key=64Garbage\n<region> volume=x3 lokey=c4 loud"
    )
    #expect(reader.regions[0].volume == 3 && reader.regions[0].pan == -12 && reader.regions[0].tune == 5)
    #expect(reader.regions[0].velocityCurve.tracking == 0.5)
    #expect(reader.regions[0].lowKey == 64 && reader.regions[1].lowKey == 60)
    #expect(reader.regions[1].volume == 0)
    #expect(reader.findings.map(\.line) == [1, 1, 1, 1, 2, 2])
    #expect(reader.findings[0].message == "volume=3dB: `dB` is no part of a number and is left out")
    #expect(reader.findings[4].message.hasPrefix("volume=x3: a number is wanted"))
    // As written by another player.
    #expect(read("<region> ampeg_attack=6.02385e-009").findings == [])
  }

  @Test func aNewControlHeaderBeginsWithoutAPath() {
    let reader = read(
      """
      <control> default_path=one/ note_offset=1 set_cc1=5
      <region> sample=a.wav key=60
      <control> set_cc2=6
      <region> sample=a.wav key=60
      """)
    #expect(reader.regions.map(\.sample) == ["one/a.wav", "a.wav"])
    // Only the path is reset.
    #expect(reader.regions.map(\.lowKey) == [61, 61])
    #expect(reader.controls == [1: 5, 2: 6])
  }

  @Test func controllersHaveTwoNamesForTheirFineValues() {
    let reader = read(
      "<region> sample=a.wav lorealcc4=0.5 hirealcc4=1\n<region> lohdcc4=0.5 hihdcc4=1 offmode=normal")
    #expect(reader.findings == [])
    for region in reader.regions {
      #expect(region.conditions.map(\.low) == [63.5] && region.conditions.map(\.high) == [127])
    }
    #expect(!reader.regions[1].offFast)
  }

  @Test func curvesWithoutANumberFollowTheFormatsOwn() {
    let reader = read(
      """
      <region> sample=a.wav volume_oncc1=10 volume_curvecc1=7 pan_oncc2=10 pan_curvecc2=8 tune_oncc3=9 tune_curvecc3=2
      <curve> v000=0.25 v127=0.25
      <curve> v000=0.5 v127=0.5
      <curve> curve_index=2 v000=0.75
      """)
    func curve(_ control: Int) -> [Float]? {
      reader.regions[0].shape.modulations.first { Int($0.source) == control }?.curve.values
    }
    #expect(curve(1)?[64] == 0.25 && curve(2)?[64] == 0.5)
    // The built-in curve remains: it falls.
    #expect(curve(3)?[0] == 1 && curve(3)?[127] == 0)
    #expect(reader.findings.map(\.line) == [4])
  }

  @Test func manyCurvesTakeTheNumbersThatAreFree() {
    let reader = read(
      "<region> sample=a.wav volume_oncc1=10 volume_curvecc1=7 pan_oncc2=10 pan_curvecc2=9\n"
        + "<curve> curve_index=8 v000=0.75 v127=0.75\n<curve> v000=0.25 v127=0.25\n"
        + "<curve> v000=0.5 v127=0.5\n"
        + String(repeating: "<curve>", count: 20_000))
    func curve(_ control: Int) -> [Float]? {
      reader.regions[0].shape.modulations.first { Int($0.source) == control }?.curve.values
    }
    #expect(curve(1)?[64] == 0.25 && curve(2)?[64] == 0.5)
    #expect(reader.findings == [])
  }

  /// Each of them splits the region, and all that follow in a group.
  @Test func fewControllersCanReverseARegion() {
    let most = SfzRegion.mostReverses
    let reader = read(
      "<group>" + (0..<100).map { " reverse_locc\($0)=64 reverse_hicc\($0)=100" }.joined()
        + "\n<region> sample=a.wav\n<region> sample=b.wav")
    #expect(reader.regions.map(\.reverses.count) == [most, most])
    #expect(reader.played.reduce(0) { count, _ in count + 1 } == 2 * (1 + 2 * most))
    #expect(reader.findings.count == 2 * (100 - most))
    #expect(
      reader.findings.first?.message
        == "at most 8 controllers can reverse a region; `reverse_locc8` is left out")
  }

  @Test func manySoundFilesBelowOneHeaderAreRead() {
    let reader = read("<sample>" + String(repeating: "data=x$ ", count: 20_000) + "\n<region> sample=*sine")
    #expect(reader.regions.count == 1)
    #expect(reader.opcodes.first { $0.name == "data" }?.count == 20_000)
  }

  // MARK: Names of files

  @Test func samplesAreFoundWhateverTheEncodingOfTheirNames() throws {
    let frames: [Float] = [0, 0.5, -0.5, 0.25]
    // On disk: UTF-8, decomposed UTF-8, and Latin-1 bytes.
    folder.wav("Flügel.wav", [frames])
    folder.wav("Bo\u{0308}hm.wav", [frames])
    folder.wav("plain.wav", [frames])
    let latin = Array(folder.path.utf8) + [0xC9, 0x74, 0xE9, 0x2E, 0x77, 0x61, 0x76, 0]
    #expect(rename(folder.path + "plain.wav", latin.map { CChar(bitPattern: $0) }) == 0)
    defer { unlink(latin.map { CChar(bitPattern: $0) }) }
    func load(_ bytes: [UInt8]) throws -> InstrumentReport {
      try InstrumentLoader.load(path: folder.write("a.sfz", bytes)).report
    }
    let texts: [[UInt8]] = [
      Array("<region> sample=Flügel.wav\n<region> sample=böhm.wav\n<region> sample=Été.wav".utf8),
      Array("<region> sample=Fl".utf8) + [0xFC] + Array("gel.wav\n<region> sample=B".utf8) + [0xF6]
        + Array("hm.wav\n<region> sample=".utf8) + [0xC9, 0x74, 0xE9] + Array(".wav".utf8),
      // One line per encoding.
      Array("<region> sample=Flügel.wav\n<region> sample=B".utf8) + [0xF6]
        + Array("hm.wav\n<region> sample=été.WAV".utf8),
    ]
    for text in texts {
      let report = try load(text)
      #expect(report.findings == [] && report.samples == 3, "\(report.findings)")
    }
    let report = try load(Array("<region> sample=plain.wav\n<region> sample=Flügel.wav".utf8))
    #expect(report.missingSamples == ["plain.wav"])
  }

  @Test func aPipeIsNoInstrument() {
    mkfifo(folder.path + "pipe.sfz", 0o600)
    mkfifo(folder.path + "pipe.wav", 0o600)
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: folder.path + "pipe.sfz") }
    #expect(throws: LoadError.self) { try AudioFileLoader.inspect(path: folder.path + "pipe.wav") }
  }

  // MARK: Embedded sound files

  /// A sound file embedded in the text, as Cakewalk's programs write it.
  static func rapture(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      let moved = byte &+ 42
      text += [61, 0, 9, 10, 13, 36].contains(moved) ? [61, byte &+ 64] : [moved]
      if index % 60 == 59 { text += [13, 10] }
    }
    return text + [36]
  }

  @Test(arguments: ["data", "base64data", "encoding=base64 data"])
  func soundFilesWithinTheTextPlay(_ name: String) throws {
    let frames = noise(300, seed: 4).map { ($0 * 8192).rounded() / 8192 }
    let bytes = Array(
      try Data(
        contentsOf: URL(fileURLWithPath: folder.wav("x.wav", [frames, frames.reversed()], loop: 20...90))))
    unlink(folder.path + "x.wav")
    let body =
      name == "data"
      ? Self.rapture(bytes) : Array(Data(bytes).base64EncodedString(options: .lineLength64Characters).utf8)
    let head =
      "<control> default_path=s/\n<region> sample=in.wav\n<region> sample=gone.wav\n<sample> name=in.wav \(name)="
    let text = Array(head.utf8) + body + Array("\n<region> wobble=1 sample=*sine".utf8)
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.missingSamples == ["s/gone.wav"] && report.samples == 2)
    // Line numbers after it are right.
    let lines = 4 + body.count { $0 == 10 } + 1
    #expect(report.findings.map(\.line) == [3, lines])
    let beside = folder.wav("y.wav", [frames, frames.reversed()], loop: 20...90)
    let rigs = try [
      resource,
      InstrumentLoader.load(path: folder.write("b.sfz", "<region> sample=\(lastComponent(beside))")).resource,
    ].map {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use($0)
      return rig
    }
    // The sine sounds as well: the difference is the embedded sample.
    let sine = Rig<Sampler>(Sampler.description)
    sine.use(try InstrumentLoader.load(path: folder.write("c.sfz", "<region> sample=*sine")).resource)
    let outputs = (rigs + [sine]).map { $0.run(2000, [(0, .on(60))]) }
    for frame in 0..<2000 {
      #expect(near(outputs[0][0][frame], Double(outputs[1][0][frame] + outputs[2][0][frame])))
      #expect(near(outputs[0][1][frame], Double(outputs[1][1][frame] + outputs[2][1][frame])))
    }
  }

  @Test func aSoundFileInTheTextThatIsNoneIsReported() throws {
    let path = folder.write(
      "a.sfz", "<region> sample=x.wav\n<region> sample=*sine\n<sample> name=x.wav base64data=UklGRg==")
    let report = try InstrumentLoader.load(path: path).report
    #expect(report.missingSamples == ["x.wav"])
    #expect(report.findings.map(\.line) == [1])
  }
}
