import Glibc
import Patch
import Realtime
import TestSupport
import Testing

@testable import Processors

/// Notes as signals: which channel a note takes, what its pitch and its gate are at each frame, and what pedals, bends and
/// zones do to them.
struct VoicesTests {
  private enum Out {
    static let (pitch, gate, velocity, pressure, timbre, place) = (0, 1, 2, 3, 4, 5)
  }

  private func bench(_ polyphony: Int, _ values: [Int: [Float]] = [:], rate: Double = 48_000)
    -> KernelBench<Voices>
  {
    var values = values
    values[Voices.polyphony] = [Float(polyphony)]
    return KernelBench(
      Voices.self, Voices.description, outputs: Array(repeating: polyphony, count: 6), values, rate: rate)
  }

  private func on(_ key: UInt8, _ velocity: Float = 100, _ channel: UInt8 = 0) -> Event {
    Event(.noteOn, channel: channel, key: key, value: velocity)
  }

  private func off(_ key: UInt8, _ channel: UInt8 = 0) -> Event {
    Event(.noteOff, channel: channel, key: key, value: 64)
  }

  private func control(_ number: UInt8, _ value: Float, _ channel: UInt8 = 0) -> Event {
    Event(.control, channel: channel, key: number, value: value)
  }

  /// Channels whose gate is up at a frame.
  private func held(_ out: [[[Float]]], _ frame: Int) -> [Int] {
    out[Out.gate].indices.filter { out[Out.gate][$0][frame] > 0 }
  }

  /// Keys at a frame, by their pitches.
  private func keys(_ out: [[[Float]]], _ frame: Int) -> [Int] {
    held(out, frame).map { Int((out[Out.pitch][$0][frame] * 12 + 69).rounded()) }
  }

  @Test(arguments: [1, 3, 16, 64]) func pitchIsInOctavesFromA4AndGatesHaveExactFrames(polyphony: Int) {
    var chance = Chance(UInt64(polyphony))
    let bench = bench(polyphony, rate: [8000, 44_100, 192_000].randomElement(using: &chance)!)
    var (wanted, frame): ([(key: UInt8, on: Int, off: Int, velocity: Float)], Int) = ([], 3)
    for _ in 0..<40 {
      let note = (
        key: UInt8.random(in: 0...127, using: &chance), on: frame,
        off: frame + Int.random(in: 1...300, using: &chance),
        velocity: Float(Int.random(in: 1...127, using: &chance))
      )
      bench.events += [(note.on, on(note.key, note.velocity)), (note.off, off(note.key))]
      wanted.append(note)
      frame = note.off + Int.random(in: 0...80, using: &chance)
    }
    bench.events.sort { $0.frame < $1.frame }
    let out = bench.run(frame + 400)
    for (number, note) in wanted.enumerated() {
      // A channel that was free for no frame has a gap.
      let middle = (note.on + note.off) / 2
      let channels = held(out, max(middle, min(note.on + 1, note.off - 1)))
      guard note.off - note.on > 1 else { continue }
      #expect(channels.count == 1, "note \(number)")
      guard let channel = channels.first else { continue }
      #expect(channel == number % polyphony, "channels are taken in turn")
      let pitch = out[Out.pitch][channel][note.off - 1]
      #expect(abs(pitch - (Float(note.key) - 69) / 12) < 1e-6)
      let gate = out[Out.gate][channel]
      #expect(gate[note.off] == 0 || wanted.contains { $0.on == note.off })
      #expect(gate[note.on - 1] == 0 || gate[note.on] == 0)
      #expect((note.on + 1..<note.off).allSatisfy { gate[$0] == 1 })
      #expect(wanted.contains { $0.off == note.on } || gate[note.on] == 1)
      // A drum or a string is as loud as the velocity where the gate opens, whatever the channel's last note had.
      let velocities = out[Out.velocity][channel][note.on..<note.off]
      #expect(velocities.allSatisfy { abs($0 - note.velocity / 127) < 1e-6 })
    }
  }

  @Test func aNoteOfNoLengthIsHeardForAFrameAndARestrikeIsAGap() {
    let bench = bench(4)
    bench.events = [
      (10, on(60)), (10, off(60)), (100, on(64)), (200, on(64)), (263, on(64)), (300, off(64)), (300, on(64)),
    ]
    let out = bench.run(600)
    #expect(out[Out.gate][0].indices.filter { out[Out.gate][0][$0] > 0 } == [10])
    let gate = out[Out.gate][1]
    #expect((100..<300).filter { gate[$0] == 0 } == [200, 263])
    // Released and struck again: the channel that has been free for longest.
    #expect(keys(out, 301) == [64] && held(out, 301) == [2])
  }

  @Test func theOldestNoteIsGivenUpButNotTheBass() {
    let bench = bench(3)
    bench.events = [
      (0, on(40)), (100, on(70)), (200, on(50)), (300, on(72)), (400, on(75)), (500, on(30)), (600, on(80)),
    ]
    let out = bench.run(700)
    #expect(keys(out, 299).sorted() == [40, 50, 70])
    #expect(keys(out, 350).sorted() == [40, 50, 72])
    #expect(keys(out, 450).sorted() == [40, 72, 75])
    #expect(keys(out, 550).sorted() == [30, 40, 75], "\(keys(out, 550))")
    #expect(keys(out, 650).sorted() == [30, 75, 80], "\(keys(out, 650))")
    // A gate that falls for one frame, in the stolen channel only.
    for frame in [300, 400, 500, 600] {
      #expect(held(out, frame).count == 2 && held(out, frame + 1).count == 3)
    }
  }

  @Test func aReleaseOfAStolenNoteEndsNothing() {
    let bench = bench(1)
    bench.events = [(0, on(60)), (100, on(64)), (200, off(60)), (300, off(64))]
    let out = bench.run(400)
    #expect(keys(out, 250) == [64] && held(out, 300) == [])
  }

  @Test func pedalsHoldNotesAndNotesOnAPedalAreGivenUpFirst() {
    let bench = bench(3)
    bench.events = [
      (0, on(60)), (50, control(64, 127)), (60, off(60)), (100, on(62)), (150, on(64)), (200, on(65)),
      (250, off(64)), (300, control(64, 0)), (350, control(66, 127)), (360, off(65)), (370, on(70)),
      (380, off(70)),
      (400, control(66, 0)),
    ]
    let out = bench.run(500)
    #expect(keys(out, 190).sorted() == [60, 62, 64])
    #expect(keys(out, 240).sorted() == [62, 64, 65])
    #expect(keys(out, 290).sorted() == [62, 64, 65])
    #expect(keys(out, 340).sorted() == [62, 65])
    // The sostenuto pedal holds what was down when it went down.
    #expect(keys(out, 365).sorted() == [62, 65] && keys(out, 390).sorted() == [62, 65])
    #expect(keys(out, 410).sorted() == [62])
  }

  /// The bass that the sostenuto pedal holds, played again and let go under it.
  @Test(arguments: [1, 3, 8]) func aNoteThatTheSostenutoPedalHoldsIsHeldWhenItIsStruckAgain(polyphony: Int) {
    let bench = bench(polyphony)
    bench.events = [
      (0, on(40)), (50, control(66, 127)), (100, off(40)), (200, on(40)), (250, off(40)),
      (400, control(66, 0)),
    ]
    let out = bench.run(500)
    #expect([150, 240, 270, 390].allSatisfy { keys(out, $0) == [40] } && held(out, 410).isEmpty)
  }

  /// A module's reset, as songs begin with: notes, pedals, bends and tunings of the song before are no more.
  @Test func aResetEndsNotesPedalsBendsAndTunings() {
    let bench = bench(4)
    bench.events = [
      (0, on(60)), (10, control(64, 127)), (20, off(60)), (30, on(70)), (40, Event(.bend, value: 1)),
      (50, Event(.masterTuning, key: 1, value: 500)), (60, control(101, 0)), (60, control(100, 2)),
      (60, control(6, 70)), (70, Event(.keyTuning, key: 72, value: 72.5)), (500, Event(.reset)),
      (600, off(70)),
      (1000, on(72)), (1100, off(72)),
    ]
    let out = bench.run(1200)
    #expect(held(out, 499).count == 2 && held(out, 500).isEmpty && held(out, 700).isEmpty)
    #expect(keys(out, 1050) == [72] && held(out, 1150).isEmpty)
    let pitch = held(out, 1050).map { out[Out.pitch][$0][1050] }
    #expect(pitch.count == 1 && abs(pitch[0] - 0.25) < 1e-6, "\(pitch)")
  }

  @Test func panicAndAllNotesOffLowerEveryGate() {
    for event in [Event(.allSoundOff), Event(.allNotesOff), Event(.reset), control(120, 0)] {
      let bench = bench(4)
      bench.events = [(0, on(60)), (10, control(64, 127)), (20, off(60)), (30, on(70)), (100, event)]
      let out = bench.run(200)
      #expect(held(out, 99).count == 2 && held(out, 100).isEmpty)
    }
  }

  @Test func pedalsHoldGatesAgainstMessage123() {
    let bench = bench(4)
    bench.events = [
      (0, on(60)), (10, control(64, 127)), (20, off(60)), (30, on(70)), (100, control(123, 0)),
      (200, control(64, 0)), (300, on(72)), (400, control(123, 0)),
    ]
    let out = bench.run(500)
    #expect(held(out, 199).count == 2 && held(out, 200).isEmpty)
    #expect(held(out, 399).count == 1 && held(out, 400).isEmpty)
  }

  @Test func theWheelBendsByItsRangeWithoutAStep() {
    let bench = bench(2, [Voices.bend: [7]])
    bench.events = [
      (0, on(69)), (1000, Event(.bend, value: 1)), (2000, Event(.bend, value: -0.5)),
      (3000, control(101, 0)), (3000, control(100, 0)), (3000, control(6, 12)),
      (4000, Event(.bend, value: 1)),
    ]
    let pitch = bench.run(5000)[Out.pitch][0]
    #expect(pitch[999] == 0 && abs(pitch[1999] - 7 / 12) < 1e-6 && abs(pitch[2999] + 3.5 / 12) < 1e-6)
    #expect(abs(pitch[3999] + 0.5) < 1e-6 && abs(pitch[4999] - 1) < 1e-6)
    // Over 5 ms, with at most 1.875 of the mean pace (minimum jerk).
    let step = zip(pitch, pitch.dropFirst()).map { abs($0 - $1) }.max()!
    #expect(step < 1.5 * 1.9 / 240, "\(step)")
  }

  /// A trill of one voice amid the way of a controller: its notes do not begin that way anew.
  @Test(arguments: [8000.0, 48_000, 192_000]) func slurredNotesDoNotHoldUpTheWheel(rate: Double) {
    let bench = bench(1, [Voices.mode: [2], Voices.bend: [12]], rate: rate)
    bench.events = [(0, on(60)), (10, Event(.bend, value: 1)), (10, Event(.pressure, value: 127))]
    let end = 11 + Int(rate * 0.005)
    for number in 1..<20 {
      bench.events.append((10 + number * (end - 10) / 20, number % 2 == 0 ? off(67) : on(67)))
    }
    let out = bench.run(end + 200)
    let pitch = out[Out.pitch][0][end]
    #expect(abs(pitch - (Float(67 - 69) / 12 + 1)) < 1e-5, "\(pitch)")
    #expect(abs(out[Out.pressure][0][end] - 1) < 1e-5)
  }

  /// Registered parameters 1 and 2 of a note's channel, and the master tuning of system exclusive messages.
  @Test(arguments: 1...8) func tuningsOfAChannelAndOfTheWholeAddUp(seed: Int) {
    var chance = Chance(UInt64(seed))
    let bench = bench(2, [Voices.mpe: [Float(seed % 3)]])
    let coarse = Float(Int.random(in: -24...24, using: &chance))
    let fine = Float.random(in: -100...100, using: &chance)
    let semitones = Float(Int.random(in: 40...88, using: &chance))
    let (high, low) = (
      Float(Int.random(in: 0...127, using: &chance)), Float(Int.random(in: 0...127, using: &chance))
    )
    bench.events = [(0, on(69, 100, 3))]
    for (number, value): (UInt8, Float) in [
      (101, 0), (100, 2), (6, semitones), (100, 1), (6, high), (38, low),
    ] {
      bench.events.append((100, control(number, value, 3)))
    }
    bench.events.append((1000, Event(.masterTuning, key: 1, value: coarse * 100)))
    bench.events.append((1000, Event(.masterTuning, key: 0, value: fine)))
    let pitch = bench.run(2000)[Out.pitch][0]
    let own = semitones - 64 + (high * 128 + low - 8192) / 8192
    #expect(abs(pitch[999] - own / 12) < 1e-5, "seed \(seed): \(pitch[999])")
    #expect(abs(pitch[1999] - (own + coarse + fine * 0.01) / 12) < 1e-5, "seed \(seed): \(pitch[1999])")
  }

  @Test func incrementsAndDecrementsStepByWhatAParameterCountsIn() {
    let bench = bench(1, [Voices.bend: [2.5]])
    let (up, down) = (control(96, 0), control(97, 0))
    func choose(_ parameter: Float) -> [Event] { [control(101, 0), control(100, parameter)] }
    let steps: [(messages: [Event], cents: Float)] = [
      (choose(2) + [control(6, 64), up, up, down], 100),
      (choose(1) + Array(repeating: up, count: 10), 100 + 1000.0 / 8192),
      // To 2.51 semitones from those of the setting, and over both ends of a semitone's hundred cents.
      (choose(0) + [up, Event(.bend, value: 1)], 351 + 1000.0 / 8192),
      ([control(6, 3), control(38, 99), up, up], 501 + 1000.0 / 8192),
      ([down, down, down], 498 + 1000.0 / 8192),
      (choose(127) + [control(101, 127), up, up], 498 + 1000.0 / 8192),
    ]
    bench.events = [(0, on(69))]
    for (index, step) in steps.enumerated() {
      bench.events += step.messages.map { (100 + index * 1000, $0) }
    }
    let pitch = bench.run(steps.count * 1000 + 100)[Out.pitch][0]
    for (index, step) in steps.enumerated() {
      let cents = pitch[1000 + index * 1000] * 1200
      #expect(abs(cents - step.cents) < 0.01, "step \(index): \(cents)")
    }
  }

  @Test(arguments: [0.02, 0.5, 2]) func aGlideTakesItsTimeFromTheLastPitch(seconds: Double) {
    let rate = 8000.0
    for mode in [0, 1] {
      let bench = bench(4, [Voices.glide: [Float(seconds)], Voices.mode: [Float(mode)]], rate: rate)
      bench.events = [(0, on(57)), (100, on(81))]
      let out = bench.run(100 + Int(rate * seconds) + 100)
      let pitch = out[Out.pitch][mode == 0 ? 1 : 0]
      #expect(abs(pitch[100] + 1) < 0.01, "\(pitch[100])")
      let done = pitch.indices.dropFirst(100).first { abs(pitch[$0] - 1) < 1e-6 }!
      #expect(abs(Double(done - 100) - rate * seconds) < rate * seconds * 0.05 + 2)
      #expect(abs(pitch[100 + Int(rate * seconds) / 2]) < 0.05)
    }
  }

  @Test func oneVoiceGoesBackToTheKeyThatIsStillDown() {
    for mode: Float in [1, 2] {
      let bench = bench(4, [Voices.mode: [mode]])
      bench.events = [
        (0, on(60)), (100, on(64)), (200, on(67)), (300, off(64)), (400, off(67)), (500, off(60)),
        (600, on(72)),
        (700, off(72)),
      ]
      let out = bench.run(800)
      #expect([50, 150, 250, 350, 450].map { keys(out, $0) } == [[60], [64], [67], [67], [60]])
      #expect(held(out, 550).isEmpty && keys(out, 650) == [72] && held(out, 750).isEmpty)
      // mono: a gap with each new key; legato: one gate for notes that overlap.
      #expect((0..<500).filter { out[Out.gate][0][$0] == 0 } == (mode == 1 ? [100, 200] : []))
    }
  }

  /// A chord that is held while `mode` becomes mono or legato ends key by key: no voice joins another's note.
  @Test(arguments: [1, 2]) func aChordThatIsHeldEndsKeyByKeyInMono(mode: Float) {
    let bench = bench(4)
    bench.events = [(0, on(60)), (10, on(64)), (20, on(67)), (300, off(60)), (400, off(64)), (500, off(67))]
    bench.moves = [.init(frame: 128, parameter: Voices.mode, value: mode, over: 0)]
    let out = bench.run(600)
    #expect(keys(out, 290).sorted() == [60, 64, 67] && keys(out, 350).sorted() == [64, 67])
    #expect(keys(out, 450) == [67] && held(out, 550).isEmpty, "\(keys(out, 350)) \(keys(out, 450))")
  }

  /// A key that a keyboard map leaves silent is in nobody's way.
  @Test(arguments: [1, 2]) func oneVoiceGoesBackPastASilentKey(mode: Float) {
    var cents = [Float](repeating: 0, count: 128)
    cents[61] = .nan
    let tuning = TuningTable.resource(cents, name: "white keys")
    withExtendedLifetime(tuning) {
      let bench = bench(2, [Voices.mode: [mode]])
      bench.kernel.use(tuning.header)
      bench.events = [
        (0, on(60)), (100, on(64)), (200, on(61)), (300, off(64)), (400, off(61)), (500, off(60)),
      ]
      let out = bench.run(600)
      #expect([50, 150, 250, 350, 450].map { keys(out, $0) } == [[60], [64], [64], [60], [60]])
      #expect(held(out, 550).isEmpty)
      bench.kernel.release()
    }
  }

  @Test func copiesOfANoteAreDetunedEvenly() {
    let bench = bench(8, [Voices.unison: [3], Voices.detune: [24]])
    bench.events = [(0, on(69)), (100, on(57)), (200, off(69)), (300, on(81))]
    let out = bench.run(400)
    #expect(held(out, 50).count == 3 && held(out, 150).count == 6 && held(out, 250).count == 3)
    let cents = held(out, 50).map { out[Out.pitch][$0][50] * 1200 }.sorted()
    #expect(zip(cents, [-24, 0, 24]).allSatisfy { abs($0 - $1) < 0.01 })
    #expect(held(out, 50).map { out[Out.place][$0][50] }.sorted() == [-1, 0, 1])
    #expect(held(out, 350).count == 6)
  }

  @Test func zonesBendPressAndColourNotesByThemselves() {
    let bench = bench(8, [Voices.mpe: [1]])
    bench.events = [
      (0, on(69, 100, 1)), (0, on(69, 100, 2)), (100, Event(.bend, channel: 1, value: 0.25)),
      (100, Event(.pressure, channel: 2, value: 127)), (100, control(74, 127, 1)), (100, control(74, 0, 2)),
      (1000, Event(.bend, channel: 0, value: 1)), (2000, off(69, 2)),
    ]
    let out = bench.run(3000)
    let at = { (port: Int, frame: Int) in [out[port][0][frame], out[port][1][frame]] }
    func isNear(_ a: [Float], _ b: [Float]) -> Bool { zip(a, b).allSatisfy { abs($0 - $1) < 1e-5 } }
    #expect(isNear(at(Out.pitch, 900), [1, 0]), "\(at(Out.pitch, 900))")
    #expect(isNear(at(Out.pitch, 1900), [1 + 2 / 12, 2 / 12]))
    #expect(isNear(at(Out.pressure, 900), [0, 1]) && isNear(at(Out.timbre, 900), [1, -1]))
    #expect(held(out, 1999) == [0, 1] && held(out, 2000) == [0])
  }

  /// Keys, pedals and message 123 on a zone's master and on its members: neither pedal ends what the other one holds.
  @Test(arguments: 1...20) func aNoteSoundsWhileAPedalOfItsZoneHoldsIt(seed: UInt64) {
    let isUpper = seed % 2 == 0
    let bench = bench(4, [Voices.mpe: [isUpper ? 2 : 1]])
    let story = PedalStory(
      master: isUpper ? 15 : 0, members: isUpper ? [14, 3] : [1, 9], count: 200, seed: seed)
    for (index, step) in story.steps.enumerated() {
      let channel = UInt8(step.channel)
      let key = 40 + channel
      let note = step.isDown ? on(key, 100, channel) : off(key, channel)
      bench.events.append(
        (index * 10, step.control == 0 ? note : control(UInt8(step.control), step.isDown ? 127 : 0, channel)))
    }
    let out = bench.run(2000)
    let wrong = story.steps.indices.first { index in
      Set(keys(out, index * 10 + 9).map { $0 - 40 }) != story.steps[index].sounding
    }
    #expect(wrong == nil)
  }

  /// Configuration messages at random, of both zones, with no members too, and bend ranges: a zone that ended comes back,
  /// and no message takes channels or ranges from a zone that it does not concern.
  @Test(arguments: 1...20) func zonesAreThoseOfTheirMessages(seed: UInt64) {
    var chance = Chance(seed)
    let isUpper = Bool.random(using: &chance)
    let bench = bench(1, [Voices.mpe: [isUpper ? 2 : 1]])
    // Members by their master.
    var members = [0: isUpper ? 0 : 15, 15: isUpper ? 15 : 0]
    func master(_ channel: Int) -> Int {
      if channel > 0, channel <= members[0]! { return 0 }
      return channel < 15 && channel >= 15 - members[15]! ? 15 : channel
    }
    var bends = Array(repeating: Float(0), count: 16)
    var ranges = (0..<16).map { Float(master($0) == $0 ? 2 : 48) }
    var wanted: [(frame: Int, pitch: Float)] = []
    for frame in stride(from: 10, to: 20_000, by: 500) {
      if Bool.random(using: &chance) {
        let (zone, other) = Bool.random(using: &chance) ? (0, 15) : (15, 0)
        let count = [0, 0, 1, 3, 7, 10, 14, 15].randomElement(using: &chance)!
        for (number, value) in [(101, 0), (100, 6), (6, count)] {
          bench.events.append((frame, control(UInt8(number), Float(value), UInt8(zone))))
        }
        let before = (0..<16).map(master)
        members[zone] = count
        if count > 0 { members[other] = min(members[other]!, max(0, 14 - count)) }
        for channel in 0..<16 where master(channel) == zone || master(channel) != before[channel] {
          ranges[channel] = master(channel) == channel ? 2 : 48
        }
      }
      if Bool.random(using: &chance) {
        let channel = Int.random(in: 0...15, using: &chance)
        let range = Int.random(in: 1...24, using: &chance)
        for (number, value) in [(101, 0), (100, 0), (6, range)] {
          bench.events.append((frame, control(UInt8(number), Float(value), UInt8(channel))))
        }
        let zone = master(channel)
        for other in 0..<16
        where other == channel || (zone != channel && other != zone && master(other) == zone) {
          ranges[other] = Float(range)
        }
      }
      for channel in [0, 15, Int.random(in: 0...15, using: &chance)] {
        bends[channel] = Float(Int.random(in: -8...8, using: &chance)) / 8
        bench.events.append((frame, Event(.bend, channel: UInt8(channel), value: bends[channel])))
      }
      let channel = Int.random(in: 0...15, using: &chance)
      bench.events += [(frame, on(69, 100, UInt8(channel))), (frame + 400, off(69, UInt8(channel)))]
      let own = master(channel) == channel ? 0 : bends[channel] * ranges[channel]
      wanted.append((frame + 399, (bends[master(channel)] * ranges[master(channel)] + own) / 12))
    }
    let pitch = bench.run(21_000)[Out.pitch][0]
    for (frame, expected) in wanted {
      #expect(abs(pitch[frame] - expected) < 1e-5, "frame \(frame): \(pitch[frame]), not \(expected)")
    }
  }

  /// A message of the upper zone amid notes of the lower one: those that keep their zone go on, as far as they are bent.
  @Test func aZonesMessageLeavesTheNotesOfTheOtherAlone() {
    let bench = bench(4, [Voices.mpe: [1]])
    bench.events = [
      (0, control(101, 0, 1)), (0, control(100, 0, 1)), (0, control(6, 12, 1)),
      (0, Event(.bend, channel: 1, value: 0.5)), (0, on(69, 100, 1)), (0, on(57, 100, 14)),
      (500, control(101, 0, 15)), (500, control(100, 6, 15)), (500, control(6, 3, 15)),
      (1000, off(69, 1)),
    ]
    let out = bench.run(1100)
    #expect(held(out, 499).count == 2 && held(out, 501) == [0] && held(out, 999) == [0])
    #expect(abs(out[Out.pitch][0][999] - 0.5) < 1e-6 && held(out, 1000).isEmpty)
  }

  /// All that is held sounds on, and its signals stay as they are.
  @Test(arguments: [(1, 3), (3, 5), (16, 64), (5, 7)]) func moreChannelsLeaveHeldNotesAlone(
    from: Int, to: Int
  ) {
    let bench = bench(from)
    for number in 0..<from { bench.events.append((number * 2, on(UInt8(40 + number), Float(number + 1)))) }
    bench.events.append((300, off(40)))
    let before = bench.run(200)
    bench.widen(outputs: Array(repeating: to, count: 6))
    bench.moves.append(.init(frame: 200, parameter: Voices.polyphony, value: Float(to), over: 0))
    let after = bench.run(200)
    #expect(keys(after, 0) == keys(before, 199) && keys(after, 99).count == from)
    for port in 0..<6 {
      for channel in 0..<from { #expect(after[port][channel][0] == before[port][channel][199]) }
    }
    #expect(keys(after, 100).count == from - 1)
  }
}
