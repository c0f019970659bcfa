import Drivers
import Engine
import Foundation
import Midi
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Session

/// Controllers that move values: what is heard, and what the patch says afterwards.
@MainActor @Suite(.serialized) struct MapTests {
  /// Chain, matrix, cable gain, delay and switches, each moved by something.
  private static let patch = """
    sostenuto 1
    map in.cc74 -> filter.freq 200Hz..8kHz takeover=jump
    map in.cc1+33 -> filter.q 0.5..8 takeover=jump
    map in.cc7 -> main[0,0] -24dB..0dB takeover=jump
    map in.noteC4 -> main.mute[0,0]
    map in.noteD4 -> main.solo[1,1]
    map in.cc8 -> tone -> echo -60dB..0dB
    map in.cc9 -> echo.time 1ms..800ms takeover=jump
    map in.bend -> tone.freq 110Hz..440Hz curve=linear
    map in.nrpn300 -> level.gain -20dB..0dB mode=relative
    map in.cc20 -> tone.shape takeover=jump
    map keys.cc74 -> filter.freq 8kHz..200Hz
    node in midi
    node keys keyboard
    node tone oscillator shape=saw freq=220Hz
    node filter filter freq=1kHz
    connect tone -> filter
    node echo delay time=100ms mix=50%
    connect tone -> echo
    node main matrix inputs=2 outputs=2
    connect filter -> main map=[0,-1]
    connect echo -> main map=[-1,0]
    node level gain
    connect main -> level
    node out output
    connect level -> out
    """

  func session(period: Int = 256, threads: Int = 1) -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    options.threads = threads
    return Session(options: options)
  }

  private func samples(_ path: String) throws -> [Float] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let start = try #require(data.range(of: Data("data".utf8))).upperBound + 4
    return data[start...].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  /// Everything that the maps listen to, at random times: bursts, crossings, selections of parameters.
  private func performance(seed: UInt64, seconds: Double) -> [MidiFile.TimedEvent] {
    var random = SeededGenerator(seed: seed)
    var events: [(Double, Event)] = []
    for _ in 0..<Int(seconds * 60) {
      let time = Double.random(in: 0..<seconds, using: &random)
      let value = Float(Int.random(in: 0...127, using: &random))
      func control(_ number: Int, _ value: Float, _ delay: Double = 0) {
        events.append((time + delay, Event(.control, key: UInt8(number), value: value)))
      }
      switch Int.random(in: 0..<9, using: &random) {
      case 0:
        control(1, value)
        control(33, Float(Int.random(in: 0...127, using: &random)), 0.0003)
      case 1: events.append((time, Event(.bend, value: Float.random(in: -1...1, using: &random))))
      case 2: events.append((time, Event(.noteOn, key: Bool.random(using: &random) ? 60 : 62, value: 90)))
      case 3:
        control(99, 2)
        control(98, 44)
        control(6, [1, 2, 127, 120].randomElement(using: &random)!)
      case 4: control(20, value)
      default: control([74, 7, 8, 9].randomElement(using: &random)!, value)
      }
    }
    return events.sorted { $0.0 < $1.0 }.map { MidiFile.TimedEvent(seconds: $0.0, event: $0.1) }
  }

  func render(
    _ text: String, _ events: [MidiFile.TimedEvent], script: String = "", _ folder: Folder,
    period: Int = 256, threads: Int = 1, seconds: Double = 3
  ) throws -> (sound: [Float], session: Session) {
    let session = session(period: period, threads: threads)
    session.openText(text)
    #expect(session.diagnostics == [])
    var request = RenderRequest(seconds: seconds)
    request.output = folder.path + "/out.wav"
    request.midi = MidiFile(events: events, duration: seconds)
    let (lines, faults) = Script.read(script, file: "s")
    #expect(faults.isEmpty)
    request.script = lines
    try session.render(request)
    return (try samples(folder.path + "/out.wav"), session)
  }

  private static let script = """
    at 0.7s set filter.freq 500Hz over 100ms ; set main.mute[1,1] on
    at 1.1s undo
    at 1.3s rename filter f2 ; connect tone -> echo gain=-3dB
    at 1.6s replace level gain gain=-3dB
    at 2s undo ; undo ; undo
    at 2.2s control keys 74 30
    at 2.25s control keys 74 90
    at 2.5s insert d2 delay into echo -> main
    """

  @Test(arguments: searchSeeds(3, 4))
  func aMIDIFileThatMovesValuesHasTheSameBitsForEveryPeriodAndThreadCount(seed: UInt64) throws {
    print("seed", seed)
    let folder = try Folder()
    let events = performance(seed: seed, seconds: 3)
    let whole = try render(Self.patch, events, script: Self.script, folder)
    #expect(whole.sound.contains { abs($0) > 0.01 })
    let still = try render(Self.patch, [], script: Self.script, folder)
    #expect(still.sound != whole.sound, "it moves something")
    for (period, threads) in [(1, 1), (17, 1), (64, 2), (100, 1), (1024, 3)] {
      let seconds = period == 1 ? 1.5 : 3
      let other = try render(
        Self.patch, events, script: Self.script, folder, period: period, threads: threads,
        seconds: seconds)
      #expect(
        other.sound[...] == whole.sound.prefix(other.sound.count), "\(period) frames, \(threads) threads")
      if period > 1 {
        #expect(canonical(other.session) == canonical(whole.session), "\(period) frames")
        #expect(other.session.undoList == whole.session.undoList, "\(period) frames")
      }
    }
  }

  /// What the patch says at the end sounds as what was moved did.
  @Test func afterTheMovementsThePatchSoundsAsItSays() throws {
    let folder = try Folder()
    let moved = try render(Self.patch, performance(seed: 9, seconds: 0.5), folder, seconds: 4)
    var text = canonical(moved.session)
    // The oscillator's phase depends on its past, so its shape and frequency are compared by the rest alone.
    #expect(moved.session.undoList != [], "something was moved")
    text = text.replacing("node in midi\n", with: "node in midi channel=16\n")
    let still = try render(text, [], folder, seconds: 4)
    func loudness(_ sound: [Float]) -> Float {
      (sound.suffix(96_000).reduce(0) { $0 + $1 * $1 } / 96_000).squareRoot()
    }
    let (one, other) = (loudness(moved.sound), loudness(still.sound))
    #expect(abs(one - other) <= 0.01 * max(one, other), "\(one) and \(other)")
  }

  // MARK: One movement

  /// A rate and a time that are lengths of notes until a controller moves them, also while the tempo changes: the same bits for
  /// any period, and undo makes notes of them again.
  @Test func movedLengthsOfNotesHaveTheSameBitsForEveryPeriod() throws {
    let text = """
      sostenuto 1
      tempo 137
      map in.cc74 -> wave.rate 1Hz..20Hz takeover=jump
      map in.cc75 -> late.time 10ms..700ms takeover=jump
      node in midi
      node tone oscillator freq=300Hz
      node wave lfo rate=1/8d channels=2
      connect wave -> tone.freq by 1oct
      node late delay time=1/16 mix=50%
      connect tone -> late
      node out output
      connect late -> out
      """
    let events = control(0.311, 74, 30, 90, 64) + control(0.5, 75, 40) + control(1.4, 74, 5)
    let script = """
      at 0.312s tempo 190
      at 0.9s undo ; undo ; undo
      at 1.2s tempo 71
      """
    let folder = try Folder()
    let whole = try render(text, events, script: script, folder, seconds: 2)
    for (period, threads) in [(64, 1), (7, 1), (100, 2), (4096, 1)] {
      let other = try render(
        text, events, script: script, folder, period: period, threads: threads, seconds: 2)
      #expect(other.sound == whole.sound, "\(period) frames, \(threads) threads")
      #expect(canonical(other.session) == canonical(whole.session), "\(period) frames")
    }
  }

  private func control(_ seconds: Double, _ number: UInt8, _ values: Int...) -> [MidiFile.TimedEvent] {
    values.enumerated().map {
      MidiFile.TimedEvent(
        seconds: seconds + 0.02 * Double($0.offset),
        event: Event(.control, key: number, value: Float($0.element)))
    }
  }

  private func moved(
    _ map: String, _ events: [MidiFile.TimedEvent], script: String = "", seconds: Double = 2
  ) throws -> Session {
    let text = """
      sostenuto 1
      \(map)
      node in midi
      node tone oscillator level=-12dB
      node level gain gain=-6dB
      connect tone -> level
      node main matrix
      connect level -> main
      node out output
      connect main -> out
      """
    return try render(text, events, script: script, try Folder(), seconds: seconds).session
  }

  private func value(_ session: Session, _ node: String, _ path: String) -> String {
    session.patch.value(of: node, ParameterPath(path), catalogue: session.catalogue)?.line ?? "-"
  }

  @Test func aMovementIsOneEditAndUndoTakesItBackAPauseBeginsAnother() throws {
    let map = "map in.cc7 -> level.gain -24dB..0dB takeover=jump"
    let events = control(0.2, 7, 10, 20, 30, 64) + control(1.2, 7, 70, 127)
    let session = try moved(map, events)
    #expect(session.undoList == ["set level.gain 0dB", "set level.gain -12dB"])
    #expect(value(session, "level", "gain") == "0dB")
    let again = try moved(map, events, script: "at 1s undo")
    #expect(again.undoList == ["set level.gain 0dB"])
    let back = try moved(map, events, script: "at 1.8s undo ; undo")
    #expect(value(back, "level", "gain") == "-6dB" && back.redoList.count == 2)
  }

  @Test func undoneMovementsSoundAsIfTheyHadNotBeen() throws {
    let folder = try Folder()
    let events = control(0.2, 74, 10, 20, 64) + control(0.3, 7, 20, 99) + control(0.4, 9, 3)
    let plain = Self.patch.replacing("node tone oscillator", with: "node tone noise\nnode spare oscillator")
      .replacing("shape=saw freq=220Hz", with: "").replacing("-> tone.", with: "-> spare.")
      .replacing("mix=50%", with: "mix=50% feedback=0%")
    let still = try render(plain, [], folder, seconds: 3)
    let undone = try render(plain, events, script: "at 1s undo", folder, seconds: 3)
    // A second later the delay has forgotten, too.
    #expect(undone.session.undoList == [])
    #expect(undone.sound.suffix(48_000) == still.sound.suffix(48_000))
    #expect(undone.sound != still.sound)
  }

  @Test func aControllerWaitsUntilItPassesTheValue() throws {
    // -6 dB is at 96 of 127.
    let map = "map in.cc7 -> level.gain -24dB..0dB"
    #expect(value(try moved(map, control(0.1, 7, 10, 60, 90)), "level", "gain") == "-6dB")
    #expect(value(try moved(map, control(0.1, 7, 10, 60, 110)), "level", "gain") == "-3.2381dB")
    #expect(value(try moved(map, control(0.1, 7, 120, 100, 64)), "level", "gain") == "-12dB")
    #expect(value(try moved(map, control(0.1, 7, 96, 120)), "level", "gain") == "-1.3333dB", "beside it")
    // What changes elsewhere has to be met again.
    let events = control(0.1, 7, 96, 64) + control(1, 7, 60, 70)
    #expect(value(try moved(map, events), "level", "gain") == "-10.857dB")
    #expect(value(try moved(map, events, script: "at 0.5s set level.gain -3dB"), "level", "gain") == "-3dB")
    let jump = try moved(map + " takeover=jump", control(0.1, 7, 10))
    #expect(value(jump, "level", "gain") == "-22.125dB")
  }

  @Test(
    arguments: [
      ("relative", [1, 1, 3], 5), ("relative", [127, 126], -3), ("offset", [65, 66, 63], 2),
      ("sign", [1, 66], -1), ("sign", [65, 65, 3], 1), ("relative", [63], 63),
    ])
  func encodersGoBySteps(mode: String, numbers: [Int], steps: Int) throws {
    let events = numbers.enumerated().flatMap { control(0.1 + 0.01 * Double($0.offset), 7, $0.element) }
    let session = try moved("map in.cc7 -> level.gain -24dB..1dB mode=\(mode)", events)
    let course = try #require(session.patch.settings.maps.first)
    let scale = try session.patch.scale(of: course.key, course.value, catalogue: session.catalogue)
    let start = try #require(scale.position(of: .number(-6, .decibels)))
    let wanted = scale.value(at: min(127, start + steps))
    #expect(value(session, "level", "gain") == wanted.line)
  }

  @Test func notesButtonsPressureAndParametersOfDevices() throws {
    func note(_ seconds: Double, _ kind: Event.Kind) -> MidiFile.TimedEvent {
      MidiFile.TimedEvent(seconds: seconds, event: Event(kind, channel: 2, key: 60, value: 80))
    }
    let press = [note(0.1, .noteOn), note(0.2, .noteOff)]
    func muted(_ map: String, _ events: [MidiFile.TimedEvent]) throws -> Bool {
      let session = try moved(map, events)
      let path = ParameterPath("mute", [0, 0])
      return session.patch.value(of: "main", path, catalogue: session.catalogue) == .text("on")
    }
    let mute = "-> main.mute[0,0]"
    #expect(try muted("map in.noteC4 \(mute)", press))
    #expect(
      try !muted(
        "map in.noteC4 \(mute)", press + press.map { .init(seconds: $0.seconds + 1, event: $0.event) }))
    #expect(try !muted("map in.noteC4@2 \(mute)", press), "another channel")
    #expect(try muted("map in.noteC4@3 \(mute)", press))
    #expect(try !muted("map in.noteC4 \(mute) mode=absolute", press), "as long as it is held")
    #expect(try muted("map in.noteC4 \(mute) mode=absolute", [press[0]]))
    #expect(try muted("map in.cc20 \(mute) mode=toggle", control(0.1, 20, 127, 0)))
    #expect(try !muted("map in.cc20 \(mute) mode=toggle", control(0.1, 20, 127, 0, 127, 0)))
    #expect(try muted("map in.cc20 \(mute)", control(0.1, 20, 127)))
    let range = "-> level.gain -24dB..0dB takeover=jump"
    func gain(_ source: String, _ events: [MidiFile.TimedEvent]) throws -> String {
      value(try moved("map in.\(source) \(range)", events), "level", "gain")
    }
    #expect(try gain("bend", [.init(seconds: 0.1, event: Event(.bend, value: 0.5))]) == "-5.9993dB")
    #expect(try gain("pressure", [.init(seconds: 0.1, event: Event(.pressure, value: 127))]) == "0dB")
    #expect(
      try gain("pressureC4", [.init(seconds: 0.1, event: Event(.keyPressure, key: 60, value: 64))]) == "-12dB"
    )
    #expect(
      try gain("pressureC4", [.init(seconds: 0.1, event: Event(.keyPressure, key: 61, value: 64))]) == "-6dB")
    #expect(try gain("cc1+33", control(0.1, 1, 64) + control(0.11, 33, 0)) == "-12dB")
    #expect(try gain("cc1+33", control(0.1, 1, 127) + control(0.11, 33, 127)) == "0dB")
    let select = control(0.1, 99, 9) + control(0.11, 98, 82) + control(0.12, 6, 64)
    #expect(try gain("nrpn1234", select) == "-12dB")
    #expect(try gain("nrpn1235", select) == "-6dB")
    #expect(try gain("rpn1234", select) == "-6dB")
    let registered =
      control(0.1, 101, 0) + control(0.11, 100, 5) + control(0.12, 6, 64) + control(0.13, 96, 1)
    #expect(try gain("rpn5", registered) == "-11.999dB")
  }

  /// A fader and its mute button: what the one does while the other is on is heard later.
  @Test func aFaderMovesBehindItsMute() throws {
    let maps = "map in.cc7 -> main[0,0] -24dB..0dB takeover=jump\nmap in.noteC4 -> main.mute[0,0]"
    func press(_ seconds: Double) -> MidiFile.TimedEvent {
      .init(seconds: seconds, event: Event(.noteOn, key: 60, value: 90))
    }
    let text = """
      sostenuto 1
      \(maps)
      node in midi
      node tone oscillator level=0dB freq=1kHz
      node main matrix
      connect tone -> main map=[0,-1]
      node out output
      connect main -> out map=[0,-1]
      """
    let events = [press(0.1)] + control(0.2, 7, 0, 64) + [press(0.5)]
    let sound = try render(text, events, try Folder(), seconds: 1).sound
    func peak(_ from: Double, _ to: Double) -> Float {
      sound[Int(from * 96_000)..<Int(to * 96_000)].reduce(0) { max($0, abs($1)) }
    }
    #expect(abs(peak(0, 0.1) - 1) < 0.02)
    #expect(peak(0.12, 0.5) == 0, "muted, wherever the fader is")
    #expect(abs(peak(0.6, 1) - 0.2512) < 0.01, "-12 dB")
  }

  /// A cable at unity has no gain in the plan unless a map may move it.
  @Test func aCableAtUnityFollowsAController() throws {
    let text = """
      sostenuto 1
      node in midi
      node tone oscillator level=0dB freq=1kHz
      node level gain
      connect tone -> level
      node out output channels=1
      connect level -> out
      """
    let sound = try render(
      text, control(0.4, 7, 0), script: "at 0.2s map in.cc7 -> tone -> level -inf..0dB takeover=jump",
      try Folder(), seconds: 0.6
    ).sound
    #expect(sound[0..<19_000].contains { abs($0) > 0.9 })
    #expect(sound[20_000...].allSatisfy { $0 == 0 })
  }

  /// A map is there as long as its line, its source and its target are.
  @Test func whatIsGoneIsNotMovedAndMovesAgainWhenItIsBack() throws {
    let map = "map in.cc7 -> level.gain -24dB..0dB takeover=jump"
    func gain(_ script: String) throws -> String {
      value(try moved(map, control(1, 7, 0), script: script), "level", "gain")
    }
    #expect(try gain("") == "-24dB")
    #expect(try gain("at 0.5s map in.cc7 -> level.gain off") == "-6dB")
    #expect(try gain("at 0.5s remove in") == "-6dB")
    #expect(try gain("at 0.5s remove in\nat 0.6s undo") == "-24dB")
    #expect(try gain("at 0.5s remove level\nat 0.6s undo") == "-24dB")
    #expect(try gain("at 0.5s rename in wheels") == "-24dB")
    #expect(try gain("at 0.5s replace level gain gain=-9dB") == "-24dB")
  }

  /// The audio thread moves on while an edit is made: a movement that is read after the edit that took its target away
  /// leaves that edit in place, and those of other maps are edits of their own.
  @Test(arguments: ["replace level oscillator", "remove level", "rename level other"], [false, true])
  func aMovementThatComesLateTakesNoEditBack(line: String, comesWithAnother: Bool) throws {
    let session = session()
    session.openText(
      """
      sostenuto 1
      map in.cc74 -> level.gain -24dB..0dB takeover=jump
      map in.cc75 -> main.gain -24dB..0dB takeover=jump
      node in keyboard
      node level gain
      node main gain
      node out output
      connect level -> main
      connect main -> out
      """)
    #expect(session.diagnostics == [])
    func turn(_ controllers: [Int], _ value: Int) throws {
      for number in controllers { try session.perform("control in \(number) \(value)") }
      try session.renderOneBlock()
      try session.renderOneBlock()
    }
    try turn([74, 75], 20)
    session.tick()
    #expect(session.undoList.count == 1)
    // What is moved from here on is read after the edit.
    session.changesOfLine = []
    try turn(comesWithAnother ? [74, 75] : [74], 90)
    try session.perform(line)
    session.changesOfLine = nil
    let (done, kind) = (session.undoList[0], session.patch[named: "level"]?.kind)
    session.followMaps()
    try turn([75], 100)
    session.followMaps()
    try turn([75], 127)
    session.followMaps()
    #expect(session.undoList.map { $0 == done } == [false, true, false], "\(session.undoList)")
    #expect(session.patch[named: "level"]?.kind == kind)
    #expect(value(session, "main", "gain") == "0dB")
    try session.undo()
    #expect(session.undoList.first == done)
  }

  // MARK: Echo

  /// Renders and ticks as a driver and a front end do.
  private func go(_ session: Session, blocks: Int = 20) throws {
    for _ in 0..<blocks {
      try session.renderOneBlock()
      session.tick()
    }
  }

  @Test func aControllerIsToldWhatItDidNotSetItself() throws {
    let session = session()
    // What reaches the faders comes back as the events of their node.
    session.openText(
      """
      sostenuto 1
      map in.cc7 -> level.gain -24dB..0dB takeover=jump echo=motors
      map motors.cc7 -> heard.gain -24dB..0dB takeover=jump
      node in keyboard
      node motors midiout
      node level gain gain=-12dB
      node heard gain
      """)
    #expect(session.diagnostics == [])
    try go(session)
    #expect(value(session, "heard", "gain") == "-12dB", "as it is at the start")
    try session.perform("set level.gain -24dB")
    try go(session)
    #expect(value(session, "heard", "gain") == "-24dB")
    try session.perform("set heard.gain -3dB")
    try session.perform("control in 7 127")
    try go(session)
    #expect(value(session, "level", "gain") == "0dB")
    #expect(value(session, "heard", "gain") == "-3dB", "the knob itself is told nothing")
  }

  /// A fader with a motor that was moved, then told another value, is told the way back, too.
  @Test func aFaderIsToldTheWayBackToWhereItWasMovedTo() throws {
    let session = session()
    session.openText(
      """
      sostenuto 1
      map in.cc7 -> level.gain -24dB..0dB takeover=jump echo=motors
      map motors.cc7 -> heard.gain -24dB..0dB takeover=jump
      node in keyboard
      node motors midiout
      node level gain gain=-12dB
      node heard gain
      """)
    try go(session)
    try session.perform("control in 7 127")
    try go(session)
    try session.perform("set level.gain -24dB")
    try go(session)
    #expect(value(session, "heard", "gain") == "-24dB")
    try session.perform("set level.gain 0dB")
    try go(session)
    #expect(value(session, "heard", "gain") == "0dB")
  }

  // MARK: Learning

  private func learned(_ events: [Event]) -> String {
    var learner = MapLearner()
    for event in events { learner.hear(event, from: "in") }
    guard let (name, course) = learner.guess(for: .setting("a", ParameterPath("b"))) else { return "-" }
    return PatchSetting.map(name, course).line
  }

  private func controls(_ pairs: (UInt8, Float)...) -> [Event] {
    pairs.map { Event(.control, key: $0.0, value: $0.1) }
  }

  @Test func aMovingControllerTellsItsKind() {
    #expect(learned(controls((74, 3), (74, 5), (74, 9))) == "map in.cc74 -> a.b")
    #expect(learned(controls((74, 3))) == "map in.cc74 -> a.b")
    #expect(learned(controls((1, 3), (33, 100), (33, 110), (1, 4))) == "map in.cc1+33 -> a.b")
    #expect(learned(controls((33, 3), (33, 4))) == "map in.cc33 -> a.b")
    #expect(learned(controls((99, 9), (98, 82), (6, 3), (38, 3))) == "map in.nrpn1234 -> a.b")
    #expect(learned(controls((101, 0), (100, 5), (6, 3))) == "map in.rpn5 -> a.b")
    #expect(learned(controls((20, 1), (20, 1), (20, 127))) == "map in.cc20 -> a.b mode=relative")
    #expect(learned(controls((20, 65), (20, 65), (20, 63))) == "map in.cc20 -> a.b mode=offset")
    #expect(learned(controls((20, 65), (20, 65), (20, 1))) == "map in.cc20 -> a.b mode=sign")
    #expect(learned(controls((20, 63), (20, 64), (20, 65))) == "map in.cc20 -> a.b", "a knob at its middle")
    #expect(learned([Event(.noteOn, key: 37, value: 9)]) == "map in.noteC#2 -> a.b")
    #expect(learned([Event(.noteOn, key: 37, value: 9), Event(.bend, value: 0.1)]) == "map in.bend -> a.b")
    #expect(learned([Event(.pressure, value: 9)]) == "map in.pressure -> a.b")
    #expect(learned([]) == "-")
  }

  /// What a controller is told moves it to the very position that it is told of.
  @Test(arguments: ["cc7", "cc1+33", "nrpn1234", "rpn5@3", "bend", "pressure", "pressureC4"])
  func whatAControllerIsToldIsWhatItWouldSay(word: String) throws {
    let source = try #require(MapSource("in", word: word))
    let most = 1 << source.sender.bits - 1
    for position in [0, 1, 5, 64, 100, most / 2, most] where position <= most {
      let events = source.events(at: position).enumerated().map {
        MidiFile.TimedEvent(seconds: 0.1 + 0.002 * Double($0.offset), event: $0.element)
      }
      let map = "map in.\(word) -> level.gain -24dB..0dB takeover=jump"
      let session = try moved(map, events, seconds: 0.3)
      let course = try #require(session.patch.settings.maps.first)
      let scale = try session.patch.scale(of: course.key, course.value, catalogue: session.catalogue)
      #expect(value(session, "level", "gain") == scale.value(at: position).line, "\(position)")
    }
  }
}
