import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// MPE: messages on a member channel apply to its note only.
@Suite struct MpeZones {
  let folder = Folder()

  /// A 1 kHz sine; `zones`: 1 lower, 2 upper.
  func rig(_ opcodes: String = "", zones: Float) throws -> Rig<Sampler> {
    folder.wav("sine.wav", [sine(4800, period: 48)])
    let (resource, _) = try InstrumentLoader.load(
      path: folder.write(
        "a.sfz",
        "<region> sample=sine.wav loop_mode=loop_continuous amp_veltrack=0 pitch_keytrack=0 \(opcodes)"
      ))
    let rig = Rig<Sampler>(Sampler.description, values: [8: zones])
    rig.use(resource)
    return rig
  }

  func cents(_ output: ArraySlice<Float>) -> Double {
    let marks = output.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }
    return 1200 * log2(48 * Double(marks.count - 1) / Double(marks.last! - marks.first!))
  }

  /// Cents above the sine's own pitch, once settled.
  func pitch(zones: Float, _ events: (Int, Event)...) throws -> Double {
    let rig = try rig(zones: zones)
    _ = rig.run(64, events)
    _ = rig.run(9600)
    return cents(rig.run(24000)[0][...])
  }

  func on(_ channel: UInt8, _ key: UInt8 = 60) -> (Int, Event) {
    (0, Event(.noteOn, channel: channel, key: key, value: 100))
  }

  func bend(_ channel: UInt8, _ value: Float) -> (Int, Event) {
    (0, Event(.bend, channel: channel, value: value))
  }

  @Test func aMembersBendIsForItsNoteAndReachesFourOctaves() throws {
    #expect(try abs(pitch(zones: 1, on(3), bend(3, 0.25)) - 1200) < 3)
    #expect(try abs(pitch(zones: 1, on(3), bend(4, 0.25))) < 1)
    // The master channel's bend is added, with its own range.
    #expect(try abs(pitch(zones: 1, on(3), bend(3, 0.25), bend(0, 1)) - 1400) < 3)
    #expect(try abs(pitch(zones: 2, on(14), bend(14, -0.25), bend(15, 1)) + 1000) < 3)
    #expect(try abs(pitch(zones: 0, on(3), bend(3, 1), bend(0, 1)) - 200) < 1)
  }

  @Test func registeredParametersSetRangesAndZones() throws {
    func control(_ channel: UInt8, _ number: UInt8, _ value: Float) -> (Int, Event) {
      (0, Event(.control, channel: channel, key: number, value: value))
    }
    // A range set on one member applies to all members.
    let ranged = try pitch(
      zones: 1, control(1, 101, 0), control(1, 100, 0), control(1, 6, 24), on(3), bend(3, 0.5))
    #expect(abs(ranged - 1200) < 3)
    // A zone of two members: channel 3 is outside.
    let small = try pitch(
      zones: 1, control(0, 101, 0), control(0, 100, 6), control(0, 6, 2), on(3), bend(3, 1))
    #expect(abs(small - 200) < 1)
    // Two zones: the upper takes members from the lower.
    var zones = MPEZones(1)
    zones.configure(master: 15, members: 5)
    #expect(zones.lower == 9 && zones.upper == 5)
    #expect(
      (0..<16).map { zones.master(of: $0) } == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [15, 15, 15, 15, 15, 15])
    zones.configure(master: 0, members: 15)
    #expect(zones.lower == 15 && zones.upper == 0)
    // The upper zone has none to lose; a zone that ends may begin again.
    zones.configure(master: 15, members: 0)
    #expect(zones.lower == 15 && zones.isMember(15))
    zones.configure(master: 0, members: 0)
    #expect(zones.lower == 0 && zones.upper == 0 && zones.isOn && !MPEZones(0).isOn)
  }

  @Test func aConfigurationMessageConcernsItsZoneAlone() throws {
    // Registered parameter 0, the bend range, or 6, the number of members.
    func pitch(_ channel: UInt8, _ messages: (channel: UInt8, parameter: Float, value: Float)...) throws
      -> Double
    {
      let rig = try rig(zones: 1)
      let controls = messages.flatMap { message in
        [(101, 0), (100, message.parameter), (6, message.value)].map { (number: UInt8, value: Float) in
          (0, Event(.control, channel: message.channel, key: number, value: value))
        }
      }
      _ = rig.run(64, controls + [bend(channel, 0.25), on(channel)])
      _ = rig.run(9600)
      return cents(rig.run(24000)[0][...])
    }
    // A zone that ends takes no channel from the other, and comes back.
    #expect(try abs(pitch(15, (15, 6, 0)) - 1200) < 3)
    #expect(try abs(pitch(1, (0, 6, 0)) - 50) < 1)
    #expect(try abs(pitch(1, (0, 6, 0), (0, 6, 15)) - 1200) < 3)
    // Ranges stay in the zone that keeps its channels, and are those of the beginning in one that is new.
    #expect(try abs(pitch(1, (1, 0, 24), (15, 6, 3)) - 600) < 3)
    #expect(try abs(pitch(13, (1, 0, 24), (15, 6, 3)) - 1200) < 3)
    #expect(try abs(pitch(15, (1, 0, 24), (15, 6, 3)) - 50) < 1)
  }

  /// A message of the upper zone amid notes: those whose channels stay in the lower one go on.
  @Test func notesOfTheOtherZoneGoOn() throws {
    let rig = try rig("ampeg_release=0.01", zones: 1)
    _ = rig.run(4800, [on(2), on(14)])
    #expect(rig.kernel.voices == 2)
    let message = [(101, 0), (100, 6), (6, 3)].map { (number: UInt8, value: Float) in
      (4800, Event(.control, channel: 15, key: number, value: value))
    }
    _ = rig.run(4800, message)
    #expect(rig.kernel.voices == 1)
  }

  @Test func pressureAndBrightnessAreByNotePedalsAndVolumeByZone() throws {
    func level(_ event: Event, note: UInt8) throws -> Double {
      let rig = try rig("volume_oncc74=-20 volume_chanaft=-20 volume_oncc12=-20", zones: 1)
      _ = rig.run(9600, [on(note), (0, event)])
      let power = rig.run(4800)[0].reduce(0.0) { $0 + Double($1) * Double($1) } / 4800
      return (10 * log10(power / 0.125)).rounded()
    }
    #expect(try level(Event(.control, channel: 2, key: 74, value: 127), note: 2) == -20)
    #expect(try level(Event(.control, channel: 2, key: 74, value: 127), note: 5) == 0)
    #expect(try level(Event(.pressure, channel: 2, value: 127), note: 2) == -20)
    #expect(try level(Event(.pressure, channel: 2, value: 127), note: 5) == 0)
    #expect(try level(Event(.control, channel: 0, key: 12, value: 127), note: 5) == -20)
    #expect(try level(Event(.pressure, channel: 0, value: 127), note: 5) == -20)
    // The master channel's pedal holds and releases notes of members.
    let held = try rig("ampeg_release=0.01", zones: 1)
    _ = held.run(
      4800,
      [
        (0, Event(.control, channel: 0, key: 64, value: 127)), on(2),
        (64, Event(.noteOff, channel: 2, key: 60)),
      ])
    #expect(held.kernel.voices == 1)
    _ = held.run(4800, [(4800, Event(.control, channel: 0, key: 64, value: 0))])
    #expect(held.kernel.voices == 0)
    _ = held.run(4800, [(9600, Event(.noteOn, channel: 2, key: 60, value: 100))])
    _ = held.run(4800, [(14400, Event(.control, channel: 0, key: 123, value: 0))])
    #expect(held.kernel.voices == 0)
  }

  /// Keys, pedals and message 123 on a zone's master and on its members: neither pedal ends what the other one holds.
  @Test(arguments: 1...10) func aNoteSoundsWhileAPedalOfItsZoneHoldsIt(seed: UInt64) throws {
    let isUpper = seed % 2 == 0
    let rig = try rig("ampeg_release=0.001", zones: isUpper ? 2 : 1)
    let story = PedalStory(
      master: isUpper ? 15 : 0, members: isUpper ? [14, 3] : [1, 9], count: 200, seed: seed)
    for (index, step) in story.steps.enumerated() {
      let channel = UInt8(step.channel)
      let kind: Event.Kind = step.control > 0 ? .control : step.isDown ? .noteOn : .noteOff
      let event = Event(
        kind, channel: channel, key: step.control > 0 ? UInt8(step.control) : 40 + channel,
        value: step.isDown ? 100 : 0)
      _ = rig.run(480, [(index * 480, event)])
      #expect(rig.kernel.voices == step.sounding.count, "step \(index): \(step)")
      if rig.kernel.voices != step.sounding.count { return }
    }
  }

  /// Notes that pedals hold end where the zones do: no pedal would reach them any more.
  @Test(arguments: [64, 66]) func changedZonesLeaveNoNoteOnAPedal(pedal: UInt8) throws {
    let rig = try rig("ampeg_release=0.01", zones: 1)
    _ = rig.run(
      4800,
      [
        on(2), (64, Event(.control, key: pedal, value: 127)), (128, Event(.noteOff, channel: 2, key: 60)),
      ])
    #expect(rig.kernel.voices == 1)
    rig.kernel.set(8, element: 0, to: 0, over: 0)
    _ = rig.run(4800)
    #expect(rig.kernel.voices == 0)
  }
}
