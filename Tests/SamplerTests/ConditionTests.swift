import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Conditions of regions: key switches, pedals, controllers, groups.
@Suite struct Conditions {
  let folder = Folder()

  /// A rig whose regions have different amplitudes, so that the level identifies the region.
  func rig(_ sfz: String) throws -> Rig<Sampler> {
    folder.wav("one.wav", [[Float](repeating: 1, count: 4000)])
    let text = "<global> sample=one.wav amp_veltrack=0 end=31 loop_mode=one_shot\n" + sfz
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    return rig
  }

  /// Level in percent shortly after each group of events.
  func heights(_ rig: Rig<Sampler>, _ cells: [[Event]]) -> [Float] {
    cells.map { events in
      let start = Int(rig.time)
      return (rig.run(64, events.map { (start, $0) })[0][8] * 100).rounded()
    }
  }

  @Test func keyswitchesOfAllKinds() throws {
    let rig = try rig(
      """
      <control> note_offset=0
      <region> lokey=60 hikey=60 sw_lokey=20 sw_hikey=29 sw_lolast=20 sw_hilast=22 amplitude=10
      <region> lokey=60 hikey=60 sw_last=24 amplitude=20
      <region> lokey=61 hikey=61 sw_down=30 amplitude=30
      <region> lokey=61 hikey=61 sw_up=30 amplitude=40
      <region> lokey=62 hikey=62 sw_previous=63 amplitude=50
      """)
    #expect(heights(rig, [[.on(60)], [.on(21)], [.on(60)], [.on(24)], [.on(60)]]) == [0, 0, 10, 0, 20])
    #expect(heights(rig, [[.on(61)], [.on(30)], [.on(61)], [.off(30)], [.on(61)]]) == [40, 0, 30, 0, 40])
    #expect(heights(rig, [[.on(62)], [.on(63)], [.on(62)], [.on(62)]]) == [0, 0, 50, 0])
  }

  @Test func controllersStartRegions() throws {
    let rig = try rig(
      "<region> hikey=-1 on_locc64=64 on_hicc64=127 amplitude=30\n<region> key=60 amplitude=10")
    #expect(
      heights(
        rig,
        [[.control(64, 127)], [.control(64, 100)], [.control(64, 0)], [.control(64, 64)], [.on(60)]])
        == [30, 30, 0, 30, 10])
  }

  @Test func channelsBendsAndProgramsChooseRegions() throws {
    let rig = try rig(
      """
      <region> key=60 hichan=1 lochan=1 amplitude=10
      <region> key=60 lochan=2 hichan=16 amplitude=20
      <region> key=61 lobend=4096 hibend=8192 amplitude=30
      <region> key=62 lochanaft=64 amplitude=40
      <region> key=63 loprog=5 hiprog=5 amplitude=50
      <region> key=64 locc131=100 amplitude=60
      """)
    let second = Event(.noteOn, channel: 1, key: 60, value: 100)
    #expect(heights(rig, [[.on(60)], [second]]) == [10, 20])
    #expect(heights(rig, [[.on(61)], [Event(.bend, value: 0.75), .on(61)]]) == [0, 30])
    #expect(heights(rig, [[.on(62)], [Event(.pressure, value: 90), .on(62)]]) == [0, 40])
    #expect(heights(rig, [[.on(63)], [Event(.program, value: 5), .on(63)]]) == [0, 50])
    #expect(heights(rig, [[.on(64, 50)], [.on(64, 110)]]) == [0, 60])
  }

  @Test func highResolutionControllersAndTheTempoChooseRegions() throws {
    let rig = try rig(
      """
      <region> key=60 lohdcc1=0.5 hihdcc1=1 amplitude=10
      <region> key=61 lobpm=100 hibpm=130 amplitude=20
      <region> key=61 lobpm=130 amplitude=40
      """)
    #expect(
      heights(rig, [[.on(60)], [.control(1, 63), .on(60)], [.control(1, 64), .on(60)]]) == [0, 0, 10])
    #expect(heights(rig, [[.on(61)]]) == [20])
  }

  /// The noise of a hand leaving the keyboard, and pitch bend as a controller.
  @Test func whetherAnyKeyIsDownChoosesRegions() throws {
    let rig = try rig(
      """
      <region> lokey=60 hikey=62 trigger=release rt_dead=on hicc134=63 amplitude=10
      <region> lokey=60 hikey=62 trigger=release rt_dead=on locc134=64 amplitude=20
      <region> key=64 locc128=96 amplitude=30
      """)
    #expect(heights(rig, [[.on(60)], [.on(62)], [.off(60)], [.off(62)]]) == [0, 0, 20, 10])
    let half = Event(.bend, value: 0.55)
    #expect(heights(rig, [[.on(64)], [half, .on(64)], [Event(.bend, value: 0.4), .on(64)]]) == [0, 30, 0])
  }

  /// At 120 beats a minute, counted from the first frame: a beat is half a second.
  @Test func regionsWaitForTheirBeat() throws {
    let rig = try rig(
      """
      <group> amplitude=10
      <region> key=60 sync_beats=1
      <region> key=61 sync_beats=2 sync_offset=0.5
      """)
    let half = Int(rig.rate / 2)
    func begin(_ key: UInt8, at frame: Int) -> Int? {
      let start = Int(rig.time)
      return rig.run(3 * half, [(start + frame, .on(key))])[0].firstIndex { $0 != 0 }.map { start + $0 }
    }
    _ = rig.run(half / 4)
    let first = try #require(begin(60, at: 100))
    #expect(first % half < 2 && first >= half, "\(first)")
    let second = try #require(begin(61, at: 0))
    #expect((second - half / 2) % (2 * half) < 2, "\(second)")
  }

  /// Beats that lie closer than frames have no numbers.
  @Test func aRegionThatWaitsForBeatsWithoutLengthSounds() throws {
    let text = folder.write("a.sfz", "<region> sample=*sine sync_beats=1e-20")
    let (resource, report) = try InstrumentLoader.load(path: text)
    #expect(report.findings.map(\.message) == ["sync_beats=1e-20 is out of range; 0.001 is used"])
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    #expect(rig.run(4800, [(1000, .on(60))])[0].contains { $0 != 0 })
  }

  @Test func controllersEndRegions() throws {
    let rig = try rig(
      "<region> hikey=-1 start_locc1=64 stop_locc1=0 stop_hicc1=10 end=3999 loop_mode=loop_continuous "
        + "ampeg_release=0.001 amplitude=30")
    #expect(heights(rig, [[.control(1, 100)], [.control(1, 50)], []]) == [30, 30, 30])
    _ = rig.run(640, [(Int(rig.time), .control(1, 5))])
    #expect(rig.kernel.voices == 0)
    #expect(heights(rig, [[.control(1, 64)]]) == [30])
  }

  /// A damper on a string that is long silent makes no sound, unless `rt_dead` is set.
  @Test func releaseRegionsNeedWhatTheyRelease() throws {
    let rig = try rig(
      """
      <region> lokey=60 hikey=61 amplitude=10
      <region> key=60 trigger=release amplitude=20
      <region> key=61 trigger=release rt_dead=on amplitude=20
      <region> key=62 loop_mode=no_loop end=3999 ampeg_release=0.1 amplitude=10
      <region> key=62 trigger=release amplitude=20
      <region> key=63 trigger=release amplitude=20
      """)
    // The first region's sound lasts 32 frames.
    #expect(heights(rig, [[.on(60)], [.off(60)], [.on(61)], [.off(61)]]) == [10, 0, 10, 20])
    #expect(heights(rig, [[.on(62)], [.off(62)]]) == [10, 30])
    _ = rig.run(9600)
    // Under the pedal as well.
    #expect(heights(rig, [[.control(64, 127), .on(60)], [.off(60)], [.control(64, 0)]]) == [10, 0, 0])
    // A release region plays if its key has no attack region.
    #expect(heights(rig, [[.on(63)], [.off(63)]]) == [0, 20])
  }

  /// A release region waits for its own pedal, once, or for no pedal.
  @Test func releaseRegionsKnowTheirPedals() throws {
    let rig = try rig(
      """
      <group> trigger=release
      <region> key=60 amplitude=10
      <region> key=61 sustain_sw=off amplitude=20
      <region> key=62 sustain_cc=20 sustain_lo=30 amplitude=40
      """)
    #expect(heights(rig, [[.control(64, 127), .on(60), .on(61), .on(62)]]) == [0])
    #expect(heights(rig, [[.off(60)], [.off(61)], [.off(62)]]) == [0, 20, 40])
    #expect(
      heights(rig, [[.control(64, 70)], [.control(64, 0)], [.control(64, 127)], [.control(64, 0)]]) == [
        0, 10, 0, 0,
      ])
    #expect(heights(rig, [[.control(20, 29), .on(62)], [.off(62)]]) == [0, 40])
    #expect(heights(rig, [[.control(20, 30), .on(62)], [.off(62)], [.control(20, 29)]]) == [0, 0, 40])
  }

  /// Without a note-off to end them, release regions end with their sample.
  @Test func releaseRegionsDoNotLoopForEver() throws {
    let rig = try rig(
      "<region> trigger=release loop_mode=loop_continuous loop_start=0 loop_end=20 amplitude=20\n"
        + "<region> trigger=release sample=*silence")
    _ = rig.run(64000, [(0, .on(60)), (10, .off(60))])
    #expect(rig.kernel.used == 0)
  }

  @Test func firstAndLegatoTellNotesApart() throws {
    let rig = try rig("<region> trigger=first amplitude=10\n<region> trigger=legato amplitude=20")
    #expect(heights(rig, [[.on(60)], [.on(62)], [.off(60), .off(62)], [.on(64)]]) == [10, 20, 0, 10])
  }

  @Test func pedalsCanBeOtherControllersOrNone() throws {
    folder.wav("long.wav", [[Float](repeating: 1, count: 40000)])
    func voices(_ opcodes: String, _ control: UInt8) throws -> [Int] {
      let path = folder.write("b.sfz", "<region> sample=long.wav ampeg_release=0.001 " + opcodes)
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(try InstrumentLoader.load(path: path).resource)
      _ = rig.run(64, [(0, .on(60))])
      _ = rig.run(1280, [(64, .control(control, 127)), (70, .off(60))])
      let held = rig.kernel.voices
      _ = rig.run(1280, [(Int(rig.time), .control(control, 0))])
      return [held, rig.kernel.voices]
    }
    #expect(try voices("", 64) == [1, 0])
    #expect(try voices("sustain_sw=off", 64) == [0, 0])
    #expect(try voices("sustain_cc=20", 20) == [1, 0])
    #expect(try voices("sostenuto_cc=21", 21) == [1, 0])
    #expect(try voices("sustain_cc=20 sustain_lo=127.5", 20) == [1, 0])
  }

  @Test func groupsLimitTheirVoices() throws {
    folder.wav("long.wav", [[Float](repeating: 1, count: 40000)])
    let path = folder.write(
      "b.sfz",
      "<group> sample=long.wav group=3 polyphony=2\n<region> hikey=70\n<region> lokey=71 note_polyphony=1")
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: path).resource)
    _ = rig.run(640, (0..<5).map { ($0 * 64, .on(UInt8(60 + $0))) })
    #expect(rig.kernel.voices == 2)
    _ = rig.run(640, [(640, Event(.allSoundOff)), (1000, .on(72)), (1100, .on(72))])
    #expect(rig.kernel.voices == 1)
  }

  @Test func theSoftPedalSoftensWhatBeginsUnderIt() throws {
    let rig = try rig("<region> amplitude=50")
    #expect(
      heights(rig, [[.on(60)], [.control(67, 127), .on(60)], [.control(67, 0), .on(60)]]) == [50, 32, 50])
  }

  @Test func resettingControllersLeavesVolumeAndPan() throws {
    let rig = try rig(
      "<region> key=60 locc7=50 hicc7=50 amplitude=10\n<region> key=61 locc1=50 hicc1=50 amplitude=20")
    #expect(
      heights(
        rig,
        [
          [.control(7, 50), .control(1, 50), .on(60)], [.on(61)], [.control(121, 0), .on(60)], [.on(61)],
        ]) == [10, 20, 10, 0])
  }

  @Test func randomOffsetsStayWithinTheirRange() throws {
    let ramp = (0..<4000).map { Float($0) / 4000 }
    folder.wav("ramp.wav", [ramp])
    let path = folder.write(
      "b.sfz", "<region> sample=ramp.wav amp_veltrack=0 offset=1000 offset_random=500")
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: path).resource)
    var starts: Set<Int> = []
    for _ in 0..<100 {
      let start = Int(rig.time)
      let output = rig.run(64, [(start, .on(60))])[0]
      starts.insert(Int((output[0] * 4000).rounded()))
      _ = rig.run(4096)
    }
    #expect(starts.count > 50)
    #expect(starts.allSatisfy { (1000...1500).contains($0) })
  }
}
