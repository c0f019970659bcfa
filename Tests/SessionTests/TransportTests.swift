import Drivers
import Engine
import Foundation
import Patch
import PatchLanguage
import Realtime
import Testing

@testable import Session

/// Bars in scripts, orders to the transport, and their repetition.
@MainActor @Suite(.serialized) struct TransportTests {
  private static let patch = """
    sostenuto 1
    tempo 150
    meter 3/4
    node clock transport
    node tone oscillator freq=220Hz
    node level gain gain=-inf
    node out output channels=3
    connect tone -> level
    connect clock.beat -> level.gain
    connect level -> out map=[0,-1,-1]
    connect clock.run -> out map=[-1,0,-1]
    connect clock.bar -> out map=[-1,-1,0]
    node wave lfo rate=1/8t
    node echo delay time=1/16 mix=40%
    connect tone -> echo gain=-6dB
    connect wave -> echo.mix by 20%
    connect echo -> out map=[-1,-1,0]
    """

  private func samples(_ path: String) throws -> [Float] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let data = try #require(Data(bytes).range(of: Data("data".utf8)))
    return stride(from: data.upperBound + 4, to: bytes.count - 3, by: 4).map { place in
      Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) })
    }
  }

  private func session(period: Int = 256, threads: Int = 1) -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    options.threads = threads
    return Session(options: options)
  }

  private func render(
    _ script: String, _ folder: Folder, period: Int = 256, threads: Int = 1, seconds: Double = 8,
    patch: String = patch
  ) throws -> [Float] {
    let session = session(period: period, threads: threads)
    session.openText(patch)
    var request = RenderRequest(seconds: seconds)
    request.output = folder.path + "/out.wav"
    let (lines, faults) = Script.read(script, file: "s")
    #expect(faults.isEmpty)
    request.script = lines
    try session.render(request)
    return try samples(folder.path + "/out.wav")
  }

  private static let script = """
    at bar 2 set tone.freq 330Hz
    at bar 2.3 tempo 75
    at 3s meter 4/4
    at bar 4 halt
    at 6s roll
    at bar 4.2 locate bar 2
    at bar 5 tempo 300 ; replace level gain gain=-6dB
    """

  @Test func aScriptWithBarsHasTheSameBitsForEveryPeriodAndThreadCount() throws {
    let folder = try Folder()
    let whole = try render(Self.script, folder)
    #expect(whole.contains { abs($0) > 0.01 })
    for (period, threads) in [(1, 1), (64, 1), (100, 2), (1024, 1), (1000, 3)] {
      let other = try render(
        Self.script, folder, period: period, threads: threads, seconds: period == 1 ? 4 : 8)
      #expect(other[...] == whole.prefix(other.count), "\(period) frames, \(threads) threads")
    }
  }

  @Test func linesAtBarsTakeEffectAtTheirFrames() throws {
    let folder = try Folder()
    // 150 beats a minute: 19200 frames a beat, 57600 a bar.
    let halts = try render("at bar 2.2 halt\nat 3s roll\nat bar 3 halt", folder)
    let run = stride(from: 1, to: halts.count, by: 3).map { halts[$0] }
    let changes = run.indices.dropFirst().filter { run[$0] != run[$0 - 1] }
    #expect(changes == [76_800, 144_000, 144_000 + 38_400])
    // A later line moves what an earlier one counts on.
    let moved = try render("at bar 2 tempo 75\nat bar 3 halt", folder)
    #expect(
      stride(from: 1, to: moved.count, by: 3).map { moved[$0] }.lastIndex(of: 1) == 57_600 + 115_200 - 1)
    // A bar that is passed by a jump is due at once; one that is never reached, never.
    let jumped = try render("at bar 3 halt\nat 0.5s locate bar 9\nat bar 12 remove out", folder)
    #expect(stride(from: 1, to: jumped.count, by: 3).map { jumped[$0] }.lastIndex(of: 1) == 24_000 - 1)
    // At one frame the order of the file counts.
    let ordered = try render("at bar 2 halt\nat 1.2s roll\nat bar 3 halt\nat 2.4s tempo 200", folder)
    #expect(stride(from: 1, to: ordered.count, by: 3).map { ordered[$0] }.lastIndex(of: 1) == 115_200 - 1)
  }

  @Test func checkingAScriptGoesByItsBars() {
    let session = session()
    session.openText(Self.patch)
    func faults(_ text: String) -> [String] {
      Script.check(Script.read(text, file: "s").lines, on: session.patch, file: "s").map(\.description)
    }
    // Bar 2 is at 1.2 s.
    #expect(faults("at bar 2 remove tone\nat 1.1s set tone.freq 2Hz").isEmpty)
    #expect(faults("at bar 2 remove tone\nat 1.3s set tone.freq 2Hz").count == 1)
    #expect(faults("at 0.1s halt\nat bar 2 remove tone\nat 1.3s set tone.freq 2Hz").isEmpty)
    #expect(faults("at 0.1s locate bar 2\nat bar 2 remove tone\nat 0.2s set tone.freq 2Hz").count == 1)
  }

  @Test func ordersAreNoEditsAndTempoIsOne() throws {
    let session = session()
    session.openText(Self.patch)
    try session.renderOneBlock()
    #expect(try session.perform("halt") == "halt")
    try session.perform("locate bar 7.2")
    try session.renderOneBlock()
    #expect(session.undoList.isEmpty)
    #expect(session.status.transport.place == "7.2" && !session.status.transport.isRolling)
    try session.perform("tempo 60")
    try session.renderOneBlock()
    #expect(session.status.transport.tempo == 60 && session.undoList == ["tempo 60"])
    try session.undo()
    try session.renderOneBlock()
    #expect(session.status.transport.tempo == 150 && session.status.transport.place == "7.2")
    try session.perform("locate 2m")
    try session.renderOneBlock()
    #expect(session.status.transport.place == "101.1")
  }

  /// Live, with a server's transport that jumps, and its journal in a replay.
  @Test func aTakeWithTransportIsReplayedToTheSameBits() throws {
    let folder = try Folder()
    var options = SessionOptions()
    options.driver.preference = .clock
    options.keepsTape = true
    let session = Session(options: options)
    try session.open(try folder.file("a.patch", Self.patch))
    session.start()
    func play(_ seconds: Double) {
      let end = session.engine.renderer.time + Int64(seconds * 48000)
      while session.engine.renderer.time < end {
        session.tick()
        sched_yield()
      }
    }
    play(0.1)
    try session.perform("record out \(folder.path)/take.wav")
    for line in ["locate bar 4.2", "tempo 99", "halt", "meter 7/8", "roll", "locate 30s"] {
      play(0.08)
      try session.perform(line)
    }
    play(0.1)
    try session.perform("record out off")
    play(0.2)
    session.close()
    let take = try samples(folder.path + "/take.wav")
    let replay = try Replay(path: folder.path + "/take.journal")
    #expect(replay.doubts.isEmpty)
    var offline = SessionOptions()
    offline.isOffline = true
    let again = Session(options: offline)
    let made = try again.render(replay, to: folder.path + "/again.wav")
    #expect(try samples(made.path) == take && take.contains { abs($0) > 0.01 })
  }

  /// A rate in notes that a cable moves is the cable's: the transport does not pull the wave back.
  @Test(arguments: [("1oct", 4.0), ("-1oct", 1), ("2Hz", 4), ("-1Hz", 1), ("0Hz", 2)], [120, 93])
  func aMovedRateOfNotesIsTheOneThatIsHeard(depth: (text: String, hertz: Double), tempo: Int) throws {
    let folder = try Folder()
    let patch = """
      sostenuto 1
      tempo \(tempo)
      node k constant level=1
      node wave lfo rate=1/4 shape=up
      node out output channels=1
      connect k -> wave.rate by \(depth.text)
      connect wave -> out
      """
    let wave = try render("", folder, patch: patch)
    let falls = zip(wave.indices, zip(wave, wave.dropFirst())).filter { $1.1 - $1.0 < -0.1 }.map(\.0)
    let own = Double(tempo) / 60
    let wanted = depth.text.hasSuffix("oct") ? own * depth.hertz / 2 : own + depth.hertz - 2
    for (one, next) in zip(falls, falls.dropFirst()) {
      #expect(abs(48_000 / Double(next - one) / wanted - 1) < 1e-3, "\(depth.text) at \(tempo)")
    }
    #expect(falls.count >= Int(8 * wanted) - 1)
  }

  /// A third of a note is no number of 24 bits: hours into a piece, a wave of triplets begins with its notes all the same.
  @Test(arguments: ["1/4t", "1/8t", "1/2t", "1/4", "3/8"], [30_001, 99_991])
  func aWaveInNotesIsInPhaseHoursLater(note: String, bar: Int) throws {
    let folder = try Folder()
    let patch = """
      sostenuto 1
      tempo 123.7
      node wave lfo rate=\(note) shape=up
      node out output channels=1
      connect wave -> out
      """
    let wave = try render("at 1s locate bar \(bar)", folder, seconds: 6, patch: patch)
    let falls = zip(wave.indices, zip(wave, wave.dropFirst())).filter { $1.1 - $1.0 < -0.1 }.map(\.0)
    // Quarter notes since the jump, which was to the beginning of a bar and so of a triplet.
    let length = ["1/4t": 2.0 / 3, "1/8t": 1.0 / 3, "1/2t": 4.0 / 3, "1/4": 1, "3/8": 1.5][note]!
    let start = Double(4 * (bar - 1)).remainder(dividingBy: length)
    for fall in falls where fall > 48_000 * 3 {
      let notes = (Double(fall + 1 - 48_000) / 48_000 * 123.7 / 60 + start) / length
      #expect(abs(notes - notes.rounded()) * length * 60 / 123.7 * 48_000 < 3, "\(note) from bar \(bar)")
    }
    #expect(falls.filter { $0 > 48_000 * 3 }.count >= 3)
  }

  @Test func aServersTransportIsWrittenIntoJournalsAndBack() {
    var journal = TakeJournal()
    var input = TransportInput(isRolling: true, frame: 123_456)
    (input.pulse.tempo, input.pulse.beats, input.pulse.unit) = (97.25, 6, 8)
    (input.bar, input.beat, input.tolerance) = (12, 3.125, 0.0011)
    journal.entries = [
      .init(frame: 0, happening: .follow(TransportInput(isRolling: false, frame: 0))),
      .init(frame: 10, happening: .follow(input)), .init(frame: 20, happening: .transport("locate bar 5.3")),
    ]
    let read = TakeJournal(
      reading: Array((journal.headText + journal.entries.map(\.line).joined()).utf8))
    #expect(read?.entries == journal.entries && read?.broken == [])
  }

  /// The same for an offline render that a server's transport moves.
  @Test func aFollowedTransportGivesTheSameBitsForEveryPeriod() throws {
    let folder = try Folder()
    func render(_ period: Int) throws -> [Float] {
      let session = session(period: period)
      session.openText(Self.patch)
      let renderer = OfflineRenderer(
        engine: session.engine, rate: 48000, period: period, tracks: [.outputs(to: folder.path + "/f.wav")])
      var led = TransportInput(isRolling: true, frame: 96_000)
      (led.pulse.tempo, led.pulse.beats, led.bar, led.beat, led.tolerance) = (111, 5, 3, 2.5, 0.001)
      let inputs = [
        (0, TransportInput(isRolling: false, frame: 0)), (5000, TransportInput(isRolling: true, frame: 0)),
        (20_001, led), (40_000, TransportInput(isRolling: true, frame: 10)),
      ]
      try renderer.render(
        frames: 60_000,
        cues: inputs.map { frame, input in Cue(frame: Int64(frame)) { renderer.follow(input) } })
      return try samples(folder.path + "/f.wav")
    }
    let whole = try render(1024)
    #expect(whole.contains { abs($0) > 0.01 })
    for period in [1, 64, 100] { #expect(try render(period) == whole) }
  }
}
