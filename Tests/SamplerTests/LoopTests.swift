import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Playback of samples: loop directions, and start and stop conditions.
@Suite struct Loops {
  let folder = Folder()
  /// Each value tells its position, so that the output shows which frame is played.
  let ramp = (0..<100).map { Float($0) / 128 }

  func rig(_ opcodes: String, findings: Int = 0) throws -> Rig<Sampler> {
    folder.wav("ramp.wav", [ramp])
    let text = "<global> amp_veltrack=0 sample=ramp.wav\n" + opcodes
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings.count == findings, "\(report.findings)")
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    return rig
  }

  /// Positions of the frames in the output.
  func places(_ rig: Rig<Sampler>, _ frames: Int, _ events: [(Int, Event)] = [(0, .on(60))]) -> [Int] {
    rig.run(frames, events)[0].map { Int(($0 * 128).rounded()) }
  }

  @Test func loopsGoForwardsBackwardsOrToAndFro() throws {
    let loop = "<region> loop_mode=loop_continuous loop_start=20 loop_end=24 loop_type="
    let head = Array(0...24)
    #expect(places(try rig(loop + "forward"), 32) == head + [20, 21, 22, 23, 24, 20, 21])
    #expect(places(try rig(loop + "backward"), 36) == head + [24, 23, 22, 21, 20, 24, 23, 22, 21, 20, 24])
    #expect(
      places(try rig(loop + "alternate"), 43)
        == head + [23, 22, 21, 20, 21, 22, 23, 24, 23, 22, 21, 20, 21, 22, 23, 24, 23, 22])
  }

  /// After the note-off, an alternating loop continues to the frames behind it without a jump.
  @Test func loopsToAndFroAreLeftForwards() throws {
    let rig = try rig(
      "<region> loop_mode=loop_sustain loop_start=20 loop_end=24 loop_type=alternate ampeg_release=9 "
        + "ampeg_release_shape=40")
    let heard = places(rig, 130, [(0, .on(60)), (40, .off(60))])
    for frame in 1..<125 where heard[frame] > 0 { #expect(abs(heard[frame] - heard[frame - 1]) <= 1) }
    #expect(heard.contains(99))
    // `loop_count` repetitions after the first pass; there and back is one.
    let counted = try self.rig(
      "<region> loop_mode=loop_continuous loop_start=20 loop_end=24 loop_type=alternate loop_count=2")
    #expect(places(counted, 140).count { $0 == 22 } == 1 + 2 * 2 + 2)
  }

  /// The file's own loop direction, as samplers and editors write it.
  @Test func filesSayWhichWayTheirLoopsGo() throws {
    var bytes = folder.read(lastPart(folder.wav("own.wav", [ramp], loop: 20...24)))!
    let chunk = try #require((0..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == Array("smpl".utf8) })
    bytes[chunk + 8 + 36 + 4] = 1
    folder.write("own.wav", bytes)
    let own = try rig("<region> sample=own.wav")
    #expect(Array(places(own, 34)[23...]) == [23, 24, 23, 22, 21, 20, 21, 22, 23, 24, 23])
    let stated = try rig("<region> sample=own.wav loop_type=forward")
    #expect(Array(places(stated, 30)[23...]) == [23, 24, 20, 21, 22, 23, 24])
    let (resource, _) = try InstrumentLoader.load(path: folder.path + "own.wav")
    let plain = Rig<Sampler>(Sampler.description)
    plain.use(resource)
    #expect(Array(places(plain, 30)[23...]) == [23, 24, 23, 22, 21, 20, 21])
  }

  /// Which loop a region has, by the file's own (20...24 of `own.wav`), by opcodes, and by where the sample ends.
  struct Points: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var opcodes: String
    /// Frames that come round, or none; the first frame, and the last one without a loop.
    var loop: ClosedRange<Int>?
    var first = 0
    var last = 99
    var findings = 0

    init(
      _ name: String, _ opcodes: String, loop: ClosedRange<Int>? = nil, first: Int = 0, last: Int = 99,
      findings: Int = 0
    ) {
      testDescription = name
      (self.opcodes, self.loop, self.first, self.last, self.findings) = (opcodes, loop, first, last, findings)
    }

    /// Places of so many frames, and then silence.
    func places(_ count: Int) -> [Int] {
      guard let loop else {
        return Array((Array(first...last) + Array(repeating: 0, count: count)).prefix(count))
      }
      return (0..<count).map { frame in
        let place = first + frame
        return place <= loop.upperBound ? place : loop.lowerBound + (place - loop.lowerBound) % loop.count
      }
    }
  }

  static let points: [Points] = [
    Points("a file's own loop is played", "sample=own.wav", loop: 20...24),
    Points("loop_start moves the beginning of a file's loop", "sample=own.wav loop_start=22", loop: 22...24),
    Points("loop_end moves its end", "sample=own.wav loop_end=22", loop: 20...22),
    Points("both together are another loop", "sample=own.wav loop_start=30 loop_end=32", loop: 30...32),
    Points("points alone make no loop", "sample=ramp.wav loop_start=30 loop_end=32"),
    Points(
      "points of a sample that is not looped have no effect", "sample=own.wav loop_mode=no_loop loop_end=22"),
    Points("a one-shot leaves the file's loop out", "sample=own.wav loop_mode=one_shot"),
    Points("a loop without points is the whole sample", "loop_mode=loop_continuous", loop: 0...99),
    Points(
      "a loop without an end goes to the sample's", "loop_mode=loop_continuous loop_start=90", loop: 90...99),
    Points("a loop without a beginning has the sample's", "loop_mode=loop_sustain loop_end=9", loop: 0...9),
    Points(
      "with a loop mode the file's points count as well", "sample=own.wav loop_mode=loop_sustain",
      loop: 20...24),
    Points("`end` inside the file's loop shortens it", "sample=own.wav end=22", loop: 20...22),
    Points("`end` at its first frame leaves one", "sample=own.wav end=20", loop: 20...20),
    Points("`end` before the file's loop ends the sample there", "sample=own.wav end=10", last: 10),
    Points("`end` behind the file's loop is never reached", "sample=own.wav end=60", loop: 20...24),
    Points("`end` is the end of a loop that has none", "loop_mode=loop_continuous end=22", loop: 0...22),
    Points(
      "`end` inside a stated loop shortens it", "loop_mode=loop_sustain loop_start=5 loop_end=30 end=8",
      loop: 5...8),
    Points(
      "a sample that begins within the file's loop goes on from there", "sample=own.wav offset=22",
      loop: 20...24, first: 22),
    Points("one that begins behind it plays to its end", "sample=own.wav offset=30", first: 30, findings: 1),
    Points("a loop that would end before it begins is none", "sample=own.wav loop_start=30", findings: 1),
    Points(
      "a loop that ends behind the sample ends with it", "sample=own.wav loop_end=200", loop: 20...99,
      findings: 1),
  ]

  @Test(arguments: points) func loopsAreWhereTheFileAndTheInstrumentSay(_ example: Points) throws {
    folder.wav("own.wav", [ramp], loop: 20...24)
    let rig = try rig("<region> " + example.opcodes, findings: example.findings)
    #expect(places(rig, 250) == example.places(250))
  }

  /// A file's loop that `end` has shortened is left for what lies between it and `end`: nothing.
  @Test func aShortenedLoopIsLeftAtItsEnd() throws {
    folder.wav("own.wav", [ramp], loop: 20...24)
    let release = "ampeg_release=9 ampeg_release_shape=40 "
    let rig = try rig("<region> sample=own.wav loop_mode=loop_sustain end=22 " + release)
    let heard = places(rig, 130, [(0, .on(60)), (40, .off(60))])
    let round = (0..<41).map { frame in frame < 23 ? frame : 20 + (frame - 20) % 3 }
    #expect(Array(heard[..<41]) == round)
    #expect(heard.max() == 22 && heard[50...].allSatisfy { $0 == 0 })
    let longer = try self.rig("<region> sample=own.wav loop_mode=loop_sustain end=40 " + release)
    let rest = places(longer, 130, [(0, .on(60)), (40, .off(60))])
    #expect(rest.max() == 40 && rest[70...].allSatisfy { $0 == 0 })
  }

  private func lastPart(_ path: String) -> String { String(path.split(separator: "/").last!) }

  @Test func aLargeSampleSaysThatItsLoopGoesForwards() throws {
    folder.wav("large.wav", [noise(70_000)])
    let path = folder.write(
      "a.sfz",
      "<region> sample=large.wav loop_mode=loop_continuous loop_start=9 loop_end=99 loop_type=backward")
    let (_, report) = try InstrumentLoader.load(path: path, options: Streams.small)
    #expect(report.findings.count == 1 && report.findings[0].message.contains("goes forwards"))
  }

  @Test func controllersChooseTheDirection() throws {
    let rig = try rig("<region> loop_mode=one_shot reverse_locc1=64 reverse_hicc1=100")
    func first(_ control: Float) -> Int {
      let start = Int(rig.time)
      return places(rig, 128, [(start, .control(1, control)), (start, .on(60))])[10]
    }
    #expect([0, 63, 64, 100, 101, 127].map { first($0) } == [10, 10, 89, 89, 10, 10])
  }

  /// At 120 beats a minute, a beat is 24000 frames.
  @Test func regionsBeginAndStopAfterSoManyBeats() throws {
    let rig = try rig(
      "<region> loop_mode=loop_continuous loop_start=90 loop_end=99 delay_beats=0.5 stop_beats=1 "
        + "stop_beats_oncc1=1 ampeg_release=0.001")
    func extent(_ control: Float, step: () -> Int = { 64 }) -> (Int?, Int?) {
      let start = Int(rig.time)
      let output = rig.run(
        96000, [(start, .control(1, control)), (start + 100, .on(60)), (start + 101, .control(2, 9))],
        step: step)[0]
      // The sample's first frame is itself silent.
      return (
        output.firstIndex { $0 != 0 }.map { $0 - 101 }, output.lastIndex { $0 != 0 }.map { $0 - 101 }
      )
    }
    let (first, last) = extent(0)
    #expect(first == 12000)
    // A release of 1 ms is extended to 10 ms, so that it does not click.
    #expect((36000...36485).contains(last ?? 0), "\(last ?? 0)")
    let (_, later) = extent(127)
    #expect((60000...60485).contains(later ?? 0), "\(later ?? 0)")
    var random = SeededGenerator(seed: 3)
    let (again, end) = extent(0, step: { Int.random(in: 1...64, using: &random) })
    #expect(again == first && end == last)
  }

  @Test func releaseSamplesDecayInParts() throws {
    let rig = try rig(
      "<region> trigger=release rt_dead=on loop_mode=one_shot rt_decay1=6 rt_decay1_time=1 rt_decay2=3")
    func decibels(after frames: Int) -> Double {
      let start = Int(rig.time)
      let output = rig.run(frames + 200, [(start, .on(60)), (start + frames, .off(60))])[0]
      return 20 * log10(Double(output[frames + 50] / ramp[50]))
    }
    #expect(abs(decibels(after: 24000) + 3) < 0.01)
    #expect(abs(decibels(after: 48000) + 6) < 0.01)
    #expect(abs(decibels(after: 144_000) + 12) < 0.01)
  }

  /// Several controllers, each of which starts or stops a region.
  @Test func severalControllersStartAndEndARegion() throws {
    let rig = try rig(
      "<region> hikey=-1 loop_mode=loop_continuous start_locc1=64 start_hicc1=127 start_locc2=64 start_hicc2=127 "
        + "stop_locc3=64 stop_hicc3=127 stop_locc4=64 stop_hicc4=127")
    func voices(_ control: UInt8, _ value: Float) -> Int {
      _ = rig.run(960, [(Int(rig.time), .control(control, value))])
      return rig.kernel.voices
    }
    #expect(voices(1, 100) == 1)
    #expect(voices(3, 100) == 0)
    #expect(voices(2, 100) == 1)
    #expect(voices(4, 100) == 0)
  }
}
