import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Modulators whose source is another modulator's output. In each bank here, controllers 20 to 22 end at the
/// pitch, in cents.
@Suite struct LinkedModulators {
  let folder = Folder()
  /// A modulator link as the source, linear and unipolar; and the pitch as the destination.
  let link = 0x007F
  let pitch = 52

  func load(
    _ modulators: [[Int]], preset: [[Int]] = [], instrument: [(Int, Int)] = []
  ) throws -> (rig: Rig<Sampler>, report: InstrumentReport) {
    let path = folder.write(
      "b.sf2",
      BankWriter.bytes([
        BankWriter.Preset(
          bank: 0, program: 0, samples: sine(4800, period: 48), loop: 0..<4800,
          instrument: instrument + [(54, 1)], instrumentModulators: modulators, presetModulators: preset)
      ]))
    let (resource, report) = try InstrumentLoader.load(path: path)
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    return (rig, report)
  }

  func to(_ number: Int) -> Int { 0x8000 | number }

  /// Detune of a note in cents, with controllers 20, 21 and 22 at the given positions.
  func cents(_ rig: Rig<Sampler>, _ controls: [Float], key: UInt8 = 60) -> Double {
    let start = Int(rig.time)
    let moves = controls.enumerated().map { (start, Event.control(UInt8(20 + $0.offset), $0.element)) }
    let output = rig.run(24000, moves + [(start, .on(key))])[0]
    _ = rig.run(4800, [(Int(rig.time), Event(.allSoundOff))])
    let marks = output.indices.dropFirst(4800).filter { output[$0 - 1] < 0 && output[$0] >= 0 }.map {
      Double($0) - Double(output[$0]) / Double(output[$0] - output[$0 - 1])
    }
    return 1200 * log2(48 / ((marks.last! - marks.first!) / Double(marks.count - 1)))
  }

  func near(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) < 0.2 }

  @Test func aModulatorFeedsAnother() throws {
    let (rig, report) = try load([[0x0094, to(1), 127, 0, 0], [link, pitch, 100, 0, 0]])
    #expect(report.findings == [])
    // 127 * n/128 is the position of the second modulator's source, again out of 128.
    #expect(near(cents(rig, [127]), 100 * (127.0 * 127 / 128) / 128))
    #expect(near(cents(rig, [64]), 100 * 63.5 / 128))
    #expect(near(cents(rig, [0]), 0))
  }

  @Test func aHeldNoteFollowsWhatFeedsItsModulators() throws {
    let (rig, _) = try load([[link, pitch, 100, 0, 0], [0x0094, to(0), 127, 0, 0]])
    _ = rig.run(4800, [(0, .on(60))])
    // No new note: the first one continues.
    let start = Int(rig.time)
    let output = rig.run(24000, [(start, .control(20, 127))])[0]
    let marks = output.indices.dropFirst(4800).filter { output[$0 - 1] < 0 && output[$0] >= 0 }
    let period = Double(marks.last! - marks.first!) / Double(marks.count - 1)
    #expect(abs(1200 * log2(48 / period) - 98.4) < 0.5)
  }

  @Test func severalAddUpWithinAControllersWay() throws {
    let (rig, report) = try load([
      [0x0094, to(2), 64, 0, 0], [0x0095, to(2), 96, 0, 0], [link, pitch, 100, 0x0096, 0],
    ])
    #expect(report.findings == [])
    #expect(near(cents(rig, [64, 32, 127]), 100 * (32.0 + 24) / 128 * 127 / 128))
    #expect(near(cents(rig, [64, 32, 64]), 100 * (32.0 + 24) / 128 / 2))
    // 63.5 and 95.25 add up to more than 127.
    #expect(near(cents(rig, [127, 127, 127]), 100 * 127.0 / 128 * 127 / 128))
  }

  @Test func chainsHaveDirectionsCurvesAndSigns() throws {
    // A falling link: at rest it gives 127 of 128.
    let falling = try load([[0x0094, to(1), 127, 0, 0], [0x017F, pitch, 100, 0, 0]]).rig
    #expect(near(cents(falling, [0]), 100))
    #expect(near(cents(falling, [64]), 100 * 64.5 / 128))
    // From a switch through a chain of three modulators to the pitch.
    let chain = try load([
      [0x0C94, to(1), 127, 0, 0], [link, to(2), 64, 0, 0], [link, pitch, 200, 0, 0],
    ]).rig
    #expect(near(cents(chain, [63]), 0))
    #expect(near(cents(chain, [64]), 200 * (64 * 127.0 / 128) / 128))
    // A bipolar controller with the absolute-value transform: equal at both ends, zero in the middle.
    let absolute = try load([[0x0294, to(1), 127, 0, 2], [link, pitch, 100, 0, 0]]).rig
    #expect(near(cents(absolute, [0]), 100 * 127.0 / 128))
    #expect(near(cents(absolute, [127]), 100 * 127.0 / 128))
    #expect(near(cents(absolute, [64]), 0))
    // A bipolar link: zero at 64.
    let bipolar = try load([[0x0094, to(1), 127, 0, 0], [0x027F, pitch, 100, 0, 0]]).rig
    #expect(near(cents(bipolar, [0]), -100))
    #expect(near(cents(bipolar, [127]), 100 * (126.0 + 1.0 / 128 - 64) / 63))
  }

  @Test func linksOfOneZoneDoNotReachIntoAnother() throws {
    // The preset's first modulator feeds the preset's second one, not the instrument's second one.
    let (rig, report) = try load(
      [[0x0096, pitch, 10, 0, 0], [0x0095, pitch, 20, 0, 0]],
      preset: [[0x0094, to(1), 127, 0, 0], [link, pitch, 100, 0, 0]])
    #expect(report.findings == [])
    #expect(near(cents(rig, [127, 0, 0]), 98.44))
    #expect(near(cents(rig, [0, 127, 127]), 30 * 127.0 / 128))
  }

  @Test func linksThatLeadNowhereAreToldAndDoNothing() throws {
    // A cycle; a link to a missing modulator; to one whose source is no link; and a link as the amount
    // source.
    let (circle, first) = try load([
      [0x0094, to(1), 127, 0, 0], [link, to(2), 127, 0, 0], [link, to(1), 127, 0, 0],
    ])
    #expect(first.notUnderstood.count == 3)
    #expect(near(cents(circle, [127]), 0))
    let (lost, second) = try load([[0x0094, to(40), 127, 0, 0], [link, pitch, 100, 0, 0]])
    #expect(second.notUnderstood.count == 2)
    #expect(near(cents(lost, [127]), 0))
    let (deaf, third) = try load([[0x0094, to(1), 127, 0, 0], [0x0095, pitch, 100, 0, 0]])
    #expect(third.notUnderstood.count == 1)
    #expect(near(cents(deaf, [127, 64]), 50))
    let (amount, fourth) = try load([[0x0094, to(1), 127, 0, 0], [0x0095, pitch, 100, link, 0]])
    #expect(fourth.notUnderstood.count == 2)
    #expect(near(cents(amount, [127, 127]), 0))
    // A controller with another meaning is no legal source.
    let (illegal, sixth) = try load([[0x00E2, pitch, 100, 0, 0]])
    #expect(sixth.notUnderstood.count == 1)
    #expect(near(cents(illegal, []), 0))
    // A chain longer than a voice has room for.
    let long = (0..<40).map { [link, to($0 + 1), 127, 0, 0] } + [[link, pitch, 100, 0, 0]]
    let (endless, fifth) = try load([[0x0094, to(1), 127, 0, 0]] + long.dropFirst())
    #expect(!fifth.notUnderstood.isEmpty)
    #expect(near(cents(endless, [127]), 0))
  }

  @Test func howFarKeysCountCanBeModulated() throws {
    // Scale tuning by a controller: 100 cents per key become 150.
    let (rig, report) = try load([[0x0094, 56, 100, 0, 0]])
    #expect(report.findings == [])
    #expect(near(cents(rig, [0], key: 62), 200))
    #expect(near(cents(rig, [64], key: 62), 300))
    #expect(near(cents(rig, [64]), 0))
  }
}
