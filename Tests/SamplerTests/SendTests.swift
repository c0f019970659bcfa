import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Outputs of an instrument other than `out`: reverb and chorus sends, and outputs of regions.
@Suite struct Sends {
  let folder = Folder()

  func rig(
    _ opcodes: String, reading: Set<String> = ["reverb", "chorus", "out2", "out3", "out4"],
    findings: Int = 0, values: [Int: Float] = [:]
  ) throws -> Rig<Sampler> {
    folder.wav("one.wav", [[Float](repeating: 0.5, count: 20000)])
    folder.wav("wide.wav", [noise(20000, seed: 1), noise(20000, seed: 2)])
    let text = "<global> amp_veltrack=0 loop_mode=loop_continuous\n" + opcodes
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings.count == findings, "\(report.findings)")
    let rig = Rig<Sampler>(Sampler.description, values: values)
    rig.use(resource)
    rig.read = reading
    return rig
  }

  @Test func aRegionSendsThePercentThatItSays() throws {
    let rig = try rig(
      "<region> key=60 sample=one.wav effect1=50\n<region> key=62 sample=wide.wav effect2=100")
    let out = rig.run(640, [(0, .on(60))])
    #expect(abs(out[0][320] - 0.5) < 1e-6)
    #expect(rig.heard["reverb"]!.map { $0[320] } == out.map { $0[320] * 0.5 })
    #expect(rig.heard["chorus"]!.joined().allSatisfy { $0 == 0 })
    #expect(rig.heard["out2"]!.joined().allSatisfy { $0 == 0 })
    _ = rig.run(9600, [(640, Event(.allSoundOff))])
    let both = rig.run(640, [(Int(rig.time), .on(62))])
    #expect(rig.heard["chorus"] == both && both[1].contains { abs($0) > 0.1 })
    #expect(rig.heard["reverb"]!.joined().allSatisfy { $0 == 0 })
  }

  @Test func sendsLieWhereTheVoiceLiesAndFollowItsLevel() throws {
    let rig = try rig("<region> sample=one.wav pan=50 volume=-6 effect1=25", values: [4: 0.5])
    let out = rig.run(640, [(0, .on(60))])
    let reverb = rig.heard["reverb"]!
    for side in 0...1 { #expect(abs(reverb[side][500] - out[side][500] / 4) < 1e-7) }
    #expect(out[1][500] > out[0][500] * 2)
  }

  @Test func controllersMoveSendsWithoutSteps() throws {
    let rig = try rig("<region> sample=one.wav effect1=20 effect1_oncc91=60 effect2_oncc93=50")
    _ = rig.run(640, [(0, .on(60))])
    let out = rig.run(
      9600, [(Int(rig.time), .control(91, 127)), (Int(rig.time) + 480, .control(93, 127))])[0]
    let reverb = rig.heard["reverb"]![0]
    #expect(out.allSatisfy { $0 == out[0] })
    #expect(abs(reverb[0] - 0.1) < 1e-3 && abs(reverb[9599] - 0.4) < 1e-4)
    #expect(abs(rig.heard["chorus"]![0][9599] - 0.25) < 1e-4)
    // Time constant of 5 ms: the first step of the exponential is 1/240 of the distance, linear between
    // control periods.
    let steepest = zip(reverb, reverb.dropFirst()).map { abs($1 - $0) }.max()!
    #expect(steepest > 0 && steepest < 0.3 / 240 * 1.1)
  }

  @Test func moreThanAllIsAll() throws {
    let rig = try rig("<region> sample=one.wav effect1=80 effect1_oncc91=80 effect2=30 effect2_oncc93=-80")
    _ = rig.run(640, [(0, .on(60)), (0, .control(91, 127)), (0, .control(93, 127))])
    let out = rig.run(9600)
    #expect(rig.heard["reverb"]!.map { $0[9599] } == out.map { $0[9599] })
    #expect(rig.heard["chorus"]!.allSatisfy { $0[9599] == 0 })
  }

  /// Idle voices and voices with filters and LFOs, which take different code paths.
  static let crowd = """
    <region> sample=one.wav key=60 effect1=50
    <region> sample=wide.wav key=61 effect1=10 effect1_oncc1=80 cutoff=900 cutoff_oncc1=2400
    <region> sample=wide.wav key=62 lfo1_freq=7 lfo1_pan=60 lfo1_volume=3 effect2=70 output=1
    <region> sample=one.wav key=63 amplfo_freq=3 amplfo_depth=6
    """

  static func play(
    _ rig: Rig<Sampler>, reading: (Int) -> Set<String>, step: () -> Int = { 64 }
  ) -> [[[Float]]] {
    let notes = (0..<4).map { (64 + 100 * $0, Event.on(UInt8(60 + $0))) }
    let events =
      notes + [(700, .control(1, 90)), (1500, .off(61)), (1700, .control(91, 20)), (2000, .off(62))]
    var parts: [[[Float]]] = [[], [], []]
    for part in 0..<6 {
      rig.read = reading(part)
      let due = events.filter { ($0.0 / 500) == part }
      let out = rig.run(500, due, step: step)
      for (place, sound) in [out, rig.heard["reverb"] ?? [], rig.heard["chorus"] ?? []].enumerated() {
        for (side, frames) in sound.enumerated() {
          if parts[place].count <= side { parts[place].append([]) }
          parts[place][side] += frames
        }
      }
    }
    return parts
  }

  @Test func whoeverListensToSendsHearsTheSameAtTheOutput() throws {
    let deaf = Self.play(try rig(Self.crowd), reading: { _ in [] })[0]
    let listening = Self.play(try rig(Self.crowd), reading: { _ in ["reverb", "chorus"] })
    #expect(listening[0] == deaf)
    #expect(listening[1][0].contains { abs($0) > 0.1 } && listening[2][1].contains { abs($0) > 0.1 })
    let changing = try rig(Self.crowd)
    let parts = Self.play(changing, reading: { [[], ["chorus"], ["reverb"]][$0 % 3] })
    #expect(parts[0] == deaf)
    // A send does not depend on earlier connections.
    #expect(parts[1][0][..<500] == listening[1][0][1000..<1500])
    #expect(parts[2][1][500...] == listening[2][1][2000..<2500])
  }

  @Test func sendsAreTheSameHoweverTimeIsSplit() throws {
    let seed: UInt64 = 77
    print("seed \(seed)")
    let whole = Self.play(try rig(Self.crowd), reading: { _ in ["reverb", "chorus"] })
    var random = SeededGenerator(seed: seed)
    let split = Self.play(
      try rig(Self.crowd), reading: { _ in ["reverb", "chorus"] },
      step: { Int.random(in: 1...64, using: &random) })
    #expect(split == whole)
  }

  @Test func regionsPlayAtOutputsOfTheirOwnWhereTheyAreSeparate() throws {
    let regions = (0...3).map {
      "<region> key=\(60 + $0) sample=one.wav amplitude=\(10 << $0) output=\($0)\n"
    }
    .joined()
    let all = (0...3).map { (0, Event.on(UInt8(60 + $0))) }
    let together = try rig(regions)
    #expect(abs(together.run(640, all)[0][320] - 0.75) < 1e-5)
    for name in ["out2", "out3", "out4"] {
      #expect(together.heard[name]!.joined().allSatisfy { $0 == 0 })
    }
    let separate = try rig(regions, values: [11: 1])
    #expect(abs(separate.run(640, all)[0][320] - 0.05) < 1e-6)
    for (name, level) in [("out2", 0.1), ("out3", 0.2), ("out4", 0.4)] as [(String, Float)] {
      #expect(abs(separate.heard[name]![0][320] - level) < 1e-6)
    }
    // An unconnected output is silent, the others are unchanged, and ended voices leave nothing behind.
    separate.read = ["out3"]
    #expect(abs(separate.run(640)[0][320] - 0.05) < 1e-6)
    #expect(abs(separate.heard["out3"]![0][320] - 0.2) < 1e-6)
    separate.read = ["out2", "out3"]
    _ = separate.run(9600, [(Int(separate.time), Event(.allSoundOff))])
    _ = separate.run(640, [(Int(separate.time), .on(60))])
    #expect(separate.heard["out2"]!.joined().allSatisfy { $0 == 0 })
    #expect(separate.heard["out3"]!.joined().allSatisfy { $0 == 0 })
  }

  @Test func aHeldNoteStaysAtItsOutput() throws {
    let rig = try rig("<region> sample=one.wav output=2 effect1=50 cutoff=20000")
    let held = rig.run(640, [(0, .on(60))])[0][600]
    rig.kernel.set(11, element: 0, to: 1, over: 0)
    let both = rig.run(640, [(Int(rig.time), .on(72))])
    #expect(abs(both[0][600] - held) < 1e-4)
    #expect(abs(rig.heard["out3"]![0][600] - held) < 1e-4)
    #expect(abs(rig.heard["reverb"]![0][600] - held) < 1e-4, "half of each of two")
    rig.kernel.set(11, element: 0, to: 0, over: 0)
    #expect(abs(rig.run(640)[0][600] - held) < 1e-4)
  }

  @Test func anOutputThatIsNotThereIsTold() throws {
    let rig = try rig("<region> sample=one.wav output=7", findings: 1, values: [11: 1])
    _ = rig.run(640, [(0, .on(60))])
    #expect(abs(rig.heard["out4"]![0][320] - 0.5) < 1e-6)
  }

  // MARK: Banks

  func bank(
    _ instrument: [(Int, Int)], preset: [(Int, Int)] = [], modulators: [[Int]] = []
  ) throws -> Rig<Sampler> {
    let path = folder.write(
      "b.sf2",
      BankWriter.bytes([
        BankWriter.Preset(
          bank: 0, program: 0, samples: [Float](repeating: 0.5, count: 2000), loop: 100..<1900,
          instrument: instrument + [(54, 1), (17, -500)], preset: preset, instrumentModulators: modulators)
      ]))
    let (resource, report) = try InstrumentLoader.load(path: path)
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    rig.read = ["reverb", "chorus"]
    return rig
  }

  /// Sends in percent of the output, once settled.
  func percent(_ rig: Rig<Sampler>, _ events: [Event]) -> [Double] {
    let start = Int(rig.time)
    let out = rig.run(9600, events.map { (start, $0) })[0][9599]
    return ["reverb", "chorus"].map { Double(rig.heard[$0]![0][9599] / out) * 100 }
  }

  func near(_ values: [Double], _ expected: [Double]) -> Bool {
    zip(values, expected).allSatisfy { abs($0 - $1) < 0.01 }
  }

  @Test func banksSendWhatGeneratorsAndControllersSay() throws {
    // 30 % and 12.5 % in the instrument; the preset adds 20 % to the reverb.
    let rig = try bank([(16, 300), (15, 125)], preset: [(16, 200)])
    #expect(near(percent(rig, [.on(60)]), [50, 12.5]))
    // Controllers 91 and 93: 20 % at most; 127 gives 127/128 of it.
    #expect(near(percent(rig, [.control(91, 127)]), [50 + 20 * 127 / 128, 12.5]))
    #expect(near(percent(rig, [.control(91, 0), .control(93, 64)]), [50, 12.5 + 10]))
    let full = try bank([(16, 1000)])
    #expect(near(percent(full, [.on(60), .control(91, 127)]), [100, 0]))
    // A reset of controllers keeps the effect depths.
    #expect(near(percent(rig, [.control(121, 0)]), [50, 22.5]))
  }

  @Test func modulatorsOfABankMoveItsSends() throws {
    // The default modulator is turned off; velocity sends up to 40 %.
    let rig = try bank([], modulators: [[0x00DB, 16, 0, 0, 0], [0x0002, 16, 400, 0, 0]])
    #expect(near(percent(rig, [.control(91, 127), .on(60, 64)]), [20, 0]))
  }
}
