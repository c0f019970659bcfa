import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct Voices {
  let folder = Folder()

  func rig(_ sfz: String, values: [Int: Float] = [:]) throws -> (Rig<Sampler>, Resource) {
    folder.wav("one.wav", [[Float](repeating: 0.5, count: 4000)])
    folder.wav("sine.wav", [sine(4800, period: 480)])
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", sfz))
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description, values: values)
    rig.use(resource)
    return (rig, resource)
  }

  let looped =
    "<region> sample=sine.wav loop_mode=loop_continuous ampeg_release=0.05 amp_veltrack=0 pitch_keytrack=0 "

  @Test func aNoteOffReleasesAndTheVoiceEnds() throws {
    let (rig, resource) = try rig("<region> sample=one.wav loop_mode=loop_continuous ampeg_release=0.1")
    let output = rig.run(9600, [(0, .on(60)), (1000, .off(60))])[0]
    let full = output[999]
    #expect(full > 0.3)
    // Linear in decibels: 9 nepers in 0.1 s.
    #expect(abs(output[1000 + 480] / full - exp(-0.9)) < 2e-3)
    #expect(abs(output[1000 + 2400] / full - exp(-4.5)) < 2e-3)
    #expect(output[5800...].allSatisfy { $0 == 0 })
    #expect(output[5700] != 0)
    #expect(rig.kernel.voices == 0)
    #expect(resource.header.pointee.uses == 1)
  }

  @Test func theSustainPedalHoldsNotes() throws {
    let (rig, _) = try rig(looped)
    _ = rig.run(640, [(0, .on(60)), (10, .control(64, 127)), (20, .off(60))])
    #expect(rig.kernel.voices == 1)
    _ = rig.run(6400, [(700, .control(64, 0))])
    #expect(rig.kernel.voices == 0)
  }

  @Test func sostenutoHoldsOnlyWhatWasDown() throws {
    let (rig, _) = try rig(looped)
    _ = rig.run(6400, [(0, .on(60)), (10, .control(66, 127)), (20, .on(64)), (30, .off(60)), (40, .off(64))])
    #expect(rig.kernel.voices == 1)
    _ = rig.run(6400, [(6400, .control(66, 0))])
    #expect(rig.kernel.voices == 0)
  }

  @Test func panicSilencesWithinTenMillisecondsWithoutAStep() throws {
    let (rig, _) = try rig(looped + "loop_mode=loop_continuous")
    let output = rig.run(9600, [(0, .on(60)), (2000, Event(.allSoundOff))])[0]
    let steady = (1..<2000).map { abs(output[$0] - output[$0 - 1]) }.max()!
    let fading = (2000..<2600).map { abs(output[$0] - output[$0 - 1]) }.max()!
    #expect(fading < steady * 1.3)
    #expect(output[2480...].allSatisfy { $0 == 0 })
    #expect(rig.kernel.voices == 0)
  }

  /// Controllers 120, 123 and 126, which end all notes, end those of their own MIDI channel only.
  @Test(arguments: [120, 123, 126] as [UInt8]) func aChannelsNotesEndAlone(_ control: UInt8) throws {
    let (rig, _) = try rig(looped)
    _ = rig.run(
      9600,
      [
        (0, .on(60)), (0, Event(.noteOn, channel: 3, key: 64, value: 100)),
        (1, Event(.noteOn, channel: 3, key: 65, value: 100)),
        (100, Event(.control, channel: 3, key: control, value: 0)),
      ])
    #expect(rig.kernel.voices == 1)
    // The other channel has no held notes left, and the first still receives its note-off.
    _ = rig.run(9600, [(Int(rig.time), Event(.noteOn, channel: 3, key: 65, value: 100))])
    _ = rig.run(
      9600, [(Int(rig.time), Event(.noteOff, channel: 3, key: 65, value: 0)), (9600 * 2, .off(60))])
    #expect(rig.kernel.voices == 0)
  }

  /// Some keyboards send message 123 when all keys are up, with the pedal down: the chord sounds on till the pedal is
  /// up.
  @Test func pedalsHoldNotesAgainstMessage123() throws {
    let (rig, _) = try rig(looped)
    _ = rig.run(
      9600,
      [
        (0, .on(60)), (10, .control(64, 127)), (20, .off(60)), (30, .on(64)), (40, .control(123, 0)),
      ])
    #expect(rig.kernel.voices == 2)
    _ = rig.run(9600, [(Int(rig.time), .control(64, 0))])
    #expect(rig.kernel.voices == 0)
    let (other, _) = try self.rig(looped)
    _ = other.run(9600, [(0, .on(60)), (10, .control(64, 127)), (40, Event(.allNotesOff))])
    #expect(other.kernel.voices == 0)
  }

  @Test func ofHeldVoicesTheQuietestIsStolen() throws {
    let sfz = looped.replacing("amp_veltrack=0", with: "amp_veltrack=100")
    // The quiet one is neither the oldest nor the newest.
    let output = try rig(sfz, values: [3: 3]).0.run(
      4800, [(0, .on(60, 110)), (10, .on(62, 20)), (20, .on(64, 90)), (30, .on(65, 120))])[0]
    let others = try rig(sfz).0.run(4800, [(0, .on(60, 110)), (20, .on(64, 90)), (30, .on(65, 120))])[0]
    // After the stolen voice has faded.
    let difference = (300..<4800).map { abs(output[$0] - others[$0]) }.max() ?? 1
    #expect(difference < 1e-6)
  }

  @Test func aLoudReleasedVoiceIsStolenBeforeAQuietHeldOne() throws {
    let sfz = looped.replacing("amp_veltrack=0", with: "amp_veltrack=100").replacing("0.05", with: "5")
    let output = try rig(sfz, values: [3: 2]).0.run(
      4800, [(0, .on(60, 20)), (10, .on(62, 127)), (20, .off(62)), (30, .on(64, 100))])[0]
    let others = try rig(sfz).0.run(4800, [(0, .on(60, 20)), (30, .on(64, 100))])[0]
    // After the stolen voice has faded.
    let difference = (300..<4800).map { abs(output[$0] - others[$0]) }.max() ?? 1
    #expect(difference < 1e-6)
  }

  @Test func aStolenVoiceFadesAndTheOldestOfEqualsGoes() throws {
    let (rig, resource) = try rig(looped, values: [3: 2])
    let events: [(Int, Event)] = [(0, .on(60)), (480 * 2, .on(62)), (480 * 6 + 120, .on(64))]
    let output = rig.run(480 * 12, events)[0]
    #expect(rig.kernel.voices == 2)
    #expect(resource.header.pointee.uses == 3)
    var steps: Float = 0
    for index in 2881..<4000 { steps = max(steps, abs(output[index] - output[index - 1])) }
    // Slopes of two voices and the new one, each at most 2 pi / 480 * 0.354 per frame, and of the fade.
    #expect(steps < 3 * 0.0047 + 0.006)
    _ = rig.run(9600, [(Int(rig.time), .off(60)), (Int(rig.time) + 1, .off(62))])
    #expect(rig.kernel.voices == 1)
  }

  @Test func aReleasedVoiceIsStolenBeforeAHeldOne() throws {
    let (rig, _) = try rig(looped.replacing("0.05", with: "5"), values: [3: 2])
    _ = rig.run(640, [(0, .on(60)), (10, .on(62)), (20, .off(62)), (30, .on(64))])
    // 60 and 64 are left: after their note-offs only releases remain.
    _ = rig.run(6400, [(640, Event(.allSoundOff))])
    #expect(rig.kernel.voices == 0)
    let (other, _) = try self.rig(looped.replacing("0.05", with: "5"), values: [3: 2])
    let output = other.run(4800, [(0, .on(60)), (10, .on(62)), (20, .off(62)), (30, .on(64))])[0]
    let alone = try self.rig(looped).0
    let pair = alone.run(4800, [(0, .on(60)), (30, .on(64))])[0]
    for index in 300..<4800 { #expect(abs(output[index] - pair[index]) < 1e-6) }
  }

  @Test func thousandsOfNotesNeverLeaveTheLimit() throws {
    let (rig, resource) = try rig(looped, values: [3: 256])
    var events: [(Int, Event)] = []
    for index in 0..<800 { events.append((index / 2, .on(UInt8(index % 128)))) }
    let output = rig.run(420, events)[0]
    #expect(rig.kernel.voices == 256)
    #expect(output.allSatisfy { $0.isFinite })
    _ = rig.run(64, [(Int(rig.time), Event(.allSoundOff))])
    _ = rig.run(480)
    #expect(rig.kernel.voices == 0)
    #expect(resource.header.pointee.uses == 1)
    var finished = rig.kernel
    let isFinished = finished.isFinished()
    #expect(isFinished)
  }

  @Test func bendReachesTwoSemitones() throws {
    let (rig, _) = try rig("<region> sample=sine.wav loop_mode=loop_continuous")
    let output = rig.run(24000, [(0, Event(.bend, value: 1)), (0, .on(60))])[0]
    let crossings = (1..<24000).count { (index: Int) -> Bool in output[index - 1] < 0 && output[index] >= 0 }
    // 100 Hz two semitones up is 112.25 Hz: 56 cycles in half a second.
    #expect((55...56).contains(crossings))
  }

  @Test func heldVoicesFinishOnTheOldInstrument() throws {
    let (rig, old) = try rig(looped + " pan=-100")
    folder.wav("b.wav", [[Float](repeating: 0.25, count: 500)])
    let (new, _) = try InstrumentLoader.load(path: folder.path + "b.wav")
    let (untouched, _) = try self.rig(looped + " pan=-100")
    let before = rig.run(960, [(0, .on(60))])
    rig.use(new)
    #expect(old.header.pointee.uses == 1)
    #expect(new.header.pointee.uses == 1)
    let after = rig.run(4800, [])
    let whole = untouched.run(5760, [(0, .on(60))])
    #expect(before[0] + after[0] == whole[0])
    let mixed = rig.run(64, [(5760, .on(60))])
    #expect(mixed[1][30] == 0.25)
    _ = rig.run(9600, [(Int(rig.time), Event(.allNotesOff))])
    #expect(old.header.pointee.uses == 0)
    #expect(new.header.pointee.uses == 1)
    rig.use(nil)
    #expect(new.header.pointee.uses == 0)
  }

  @Test func aSamplerThatIsRemovedWhileItSoundsGivesItsInstrumentBack() throws {
    let (rig, resource) = try rig(looped)
    _ = rig.run(640, [(0, .on(60)), (10, .on(64))])
    #expect(resource.header.pointee.isUsed)
    rig.kernel.release()
    #expect(!resource.header.pointee.isUsed)
    let (player, file) = try self.rig(looped)
    _ = player.run(64, [(0, .on(60))])
    rig.use(file)
    player.kernel.release()
    // Another voice still plays it.
    #expect(file.header.pointee.isUsed)
  }

  @Test func aNewRateKeepsThePitchOfHeldNotes() throws {
    let (rig, _) = try rig("<region> sample=sine.wav loop_mode=loop_continuous")
    _ = rig.run(4800, [(0, .on(60))])
    rig.kernel.retune(from: 48000, to: 96000, memory: nil)
    let output = rig.run(48000, [])[0]
    let crossings = (1..<48000).count { (index: Int) -> Bool in output[index - 1] < 0 && output[index] >= 0 }
    #expect((49...50).contains(crossings))
    #expect(rig.kernel.voices == 1)
  }

  @Test func roundRobinTakesTurns() throws {
    let (rig, _) = try rig(
      """
      <global> seq_length=3 amp_veltrack=0 end=9 sample=one.wav
      <region> seq_position=1 amplitude=10
      <region> seq_position=2 amplitude=20
      <region> seq_position=3 amplitude=30
      """)
    let output = rig.run(700, (0..<7).map { ($0 * 100, Event.on(60)) })[0]
    let heights = (0..<7).map { (output[$0 * 100 + 5] * 20).rounded() }
    #expect(heights == [1, 2, 3, 1, 2, 3, 1])
  }

  @Test func randomRegionsShareTheNotes() throws {
    let (rig, _) = try rig(
      """
      <global> amp_veltrack=0 end=9 sample=one.wav
      <region> hirand=0.5 amplitude=10
      <region> lorand=0.5 amplitude=20
      """)
    let output = rig.run(64 * 400, (0..<400).map { ($0 * 64, Event.on(60)) })[0]
    let first = (0..<400).count { output[$0 * 64 + 5] < 0.07 && output[$0 * 64 + 5] > 0.03 }
    let second = (0..<400).count { output[$0 * 64 + 5] > 0.08 && output[$0 * 64 + 5] < 0.12 }
    #expect(first + second == 400)
    #expect((140...260).contains(first))
  }

  @Test func aChokeGroupEndsTheOther() throws {
    let (rig, _) = try rig(
      """
      <global> sample=sine.wav loop_mode=loop_continuous
      <region> key=46 group=1 off_by=2
      <region> key=42 group=2
      """)
    _ = rig.run(640, [(0, .on(46))])
    #expect(rig.kernel.voices == 1)
    _ = rig.run(640, [(640, .on(42))])
    #expect(rig.kernel.voices == 1)
    _ = rig.run(6400, [(1280, .off(42))])
    #expect(rig.kernel.voices == 0)
  }

  @Test func releaseRegionsSoundWhenTheKeyGoesUpOrThePedal() throws {
    let (rig, _) = try rig(
      """
      <global> sample=one.wav amp_veltrack=0
      <region> trigger=release rt_decay=20 end=999 loop_mode=one_shot
      """)
    let output = rig.run(19200, [(0, .on(60)), (4800, .off(60))])[0]
    #expect(output[4799] == 0)
    // Held for a tenth of a second: 2 dB softer.
    #expect(abs(output[4800] - 0.5 * powf(10, -0.1)) < 1e-6)
    let start = Int(rig.time)
    let later = rig.run(
      9600,
      [
        (start, .on(60)), (start + 10, .control(64, 127)), (start + 20, .off(60)),
        (start + 4800, .control(64, 0)),
      ])[0]
    #expect(later.firstIndex { $0 != 0 } == 4800)
  }

  @Test func controllersAndKeyswitchesChooseRegions() throws {
    let (rig, _) = try rig(
      """
      <control> set_cc20=100
      <global> sample=one.wav amp_veltrack=0 end=9 sw_lokey=20 sw_hikey=21 sw_default=20
      <region> lokey=40 sw_last=20 hicc20=63 amplitude=10
      <region> lokey=40 sw_last=20 locc20=64 amplitude=20
      <region> lokey=40 sw_last=21 amplitude=30
      """)
    let output = rig.run(
      640,
      [
        (0, .on(60)), (50, .control(20, 0)), (64, .on(60)), (100, .on(21)), (128, .on(60)),
        (150, .on(20)), (192, .on(60)),
      ])[0]
    let heights = [0, 64, 128, 192].map { (output[$0 + 5] * 20).rounded() }
    #expect(heights == [2, 1, 3, 1])
  }

  @Test func velocityCrossfadesKeepTheirPower() throws {
    let (rig, _) = try rig(
      """
      <global> sample=one.wav amp_veltrack=0 end=9 loop_mode=one_shot
      <region> pan=-100 xfout_lovel=40 xfout_hivel=80
      <region> pan=100 xfin_lovel=40 xfin_hivel=80
      """)
    for velocity in [20, 40, 50, 60, 75, 80, 120] as [Float] {
      let output = rig.run(64, [(Int(rig.time), .on(60, velocity))])
      let power = output[0][5] * output[0][5] + output[1][5] * output[1][5]
      #expect(abs(power - 0.5) < 1e-5, "velocity \(velocity)")
    }
  }

  /// An hour has more frames at the highest rate than 32 bits can count.
  @Test func aNoteThatIsTurnedOffOverAnHourSoundsOnAtAnyRate() throws {
    let text = folder.write(
      "a.sfz",
      """
      <region> sample=*sine key=60 group=1 off_by=2 off_mode=time off_time=3600 off_shape=0
      <region> sample=*silence key=62 group=2
      """)
    let rig = Rig<Sampler>(Sampler.description, rate: 768_000)
    rig.use(try InstrumentLoader.load(path: text).resource)
    let output = rig.run(76_800, [(0, .on(60)), (7680, .on(62))])[0]
    #expect(output[38_400...].contains { $0 > 0.1 })
  }

  @Test func aNoteThatWaitsForHoursWaitsOnAfterAChangeOfTheRate() throws {
    let (rig, _) = try rig("<region> sample=sine.wav delay_samples=1e9")
    _ = rig.run(64, [(0, .on(60))])
    rig.kernel.retune(from: 48000, to: 192_000, memory: nil)
    #expect(rig.run(4800)[0].allSatisfy { $0 == 0 })
    #expect(rig.kernel.voices == 1)
  }
}
