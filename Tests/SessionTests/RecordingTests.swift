import Engine
import Foundation
import Midi
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Drivers
@testable import Session

/// Takes of a session: beginning and end by the language, live and offline; what was heard; journals and replays.
@MainActor @Suite(.serialized) struct RecordingTests {
  static let patch = """
    sostenuto 1
    node keys keyboard
    node piano sampler instrument=tone.sfz
    connect keys -> piano
    node tone oscillator shape=saw freq=220Hz
    node dist distortion drive=12dB
    connect tone -> dist
    node main matrix inputs=3 outputs=2
    connect dist -> main map=[0]
    connect piano -> main map=[-1,0,1]
    node out output
    connect main -> out
    """

  func folder() throws -> (Folder, String) {
    let folder = try Folder()
    _ = try folder.file(
      "tone.sfz", "<region> sample=*saw lokey=0 hikey=127 pitch_keycenter=60 ampeg_release=0.1\n")
    return (folder, try folder.file("a.patch", Self.patch))
  }

  private func render(
    _ path: String, _ script: String, to output: String, period: Int, seconds: Double = 1
  ) throws -> [String] {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    let session = Session(options: options)
    try session.open(path)
    var request = RenderRequest(seconds: seconds)
    request.output = output
    request.script = Script.read(script, file: "").lines
    try session.render(request)
    return session.takeNotices().words
  }

  /// The take's port is then that of the node of its name. The render ends amid a block, and so does the take.
  @Test(arguments: [37, 64, 100, 1024])
  func aTakeGoesOnWithTheNodeThatReplacesItsOwnToTheLastFrame(period: Int) throws {
    let (folder, _) = try folder()
    let patch = try folder.file(
      "b.patch",
      """
      node tone oscillator shape=saw freq=220Hz
      node dist distortion drive=12dB
      node out output channels=1
      connect tone -> dist
      connect dist -> out
      """)
    let script = """
      at 0.1001s record dist \(folder.path)/dist.wav
      at 0.3s replace dist filter freq=500Hz
      at 0.45s undo
      at 0.6003s replace dist ringmod
      at 0.7s replace dist player
      at 0.75s undo
      """
    _ = try render(patch, script, to: folder.path + "/whole.wav", period: period, seconds: 0.9997)
    let whole = try samples(folder.path + "/whole.wav")
    let take = try samples(folder.path + "/dist.wav")
    #expect(take.count == whole.count - Int((0.1001 * 48000).rounded()))
    #expect(take == Array(whole.suffix(take.count)))
    #expect(take.suffix(10).allSatisfy { $0 != 0 })
  }

  @Test(arguments: [64, 100, 1024])
  func aTakeOfTheOutputIsThatPartOfTheRender(period: Int) throws {
    let (folder, patch) = try folder()
    let script = """
      at 0.1s note piano on C4 100
      at 0.25001s record out \(folder.path)/out.wav ; record main \(folder.path)/main.wav
      at 0.3s replace dist filter freq=500Hz
      at 0.4s undo
      at 0.5s record dist \(folder.path)/dist.flac
      at 0.6s set main.master -6dB over 100ms
      at 0.7s remove main
      at 0.75s undo
      at 0.9s record out off
      at 0.95001s record main off
      """
    let notices = try render(patch, script, to: folder.path + "/whole.wav", period: period)
    #expect(notices.count { $0.hasPrefix("recorded") } == 3, "\(notices)")
    let whole = try samples(folder.path + "/whole.wav")
    let (first, end) = (Int(0.25001 * 48000), Int(0.9 * 48000))
    let out = try samples(folder.path + "/out.wav")
    #expect(out.count == 2 * (end - first))
    #expect(out == Array(whole[2 * first..<2 * end]))
    let main = try samples(folder.path + "/main.wav")
    #expect(main.count == 2 * (Int(0.95001 * 48000) - first))
    #expect(Array(main[..<(2 * (33600 - first))]) == Array(whole[2 * first..<2 * 33600]))
    #expect(out.contains { abs($0) > 0.01 })
  }

  @Test func aReplayHasWhatCameInAtItsFrames() throws {
    let (folder, _) = try folder()
    let tone = "sostenuto 1\nnode o oscillator\nnode out output channels=1\nconnect o -> out\n"
    _ = try render(
      try folder.file("o.patch", tone), "at 0s record o \(folder.path)/take.in.wav\nat 0.5s record o off",
      to: folder.path + "/whole.wav", period: 256)
    let came = try samples(folder.path + "/take.in.wav")
    #expect(came.count == 24000 && came.contains { abs($0) > 0.1 })
    let journal = try folder.file(
      "take.journal",
      """
      sostenuto-replay 1
      rate 48000.0
      quality auto
      | sostenuto 1
      | node mic input channels=1
      | node out output channels=1
      | connect mic -> out
      input mic 1100 take.in.wav
      at 5000 edit rename mic ear
      at 0 take float32 out.in
      at 30000 end

      """)
    func replayed(_ name: String) throws -> [Float] {
      let replay = try Replay(path: journal)
      var options = SessionOptions()
      options.isOffline = true
      options.driver.rate = replay.rate
      options.quality = replay.quality
      let session = Session(options: options)
      return try samples(try session.render(replay, to: folder.path + "/" + name).path)
    }
    let heard = try replayed("replay.wav")
    #expect(heard.count == 30000)
    #expect(heard[..<1100].allSatisfy { $0 == 0 } && heard[25100...].allSatisfy { $0 == 0 })
    #expect(Array(heard[1100..<25100]) == came)
    #expect(try Replay(path: journal).doubts.isEmpty)
    try FileManager.default.removeItem(atPath: folder.path + "/take.in.wav")
    #expect(try Replay(path: journal).doubts == ["take.in.wav is missing: what came in is not in it"])
    #expect(try replayed("silent.wav").allSatisfy { $0 == 0 })
  }

  @Test func aSilentPortIsRecordedToo() throws {
    let (folder, patch) = try folder()
    _ = try render(
      patch, "at 0s record piano \(folder.path)/piano.wav\nat 0.5s record piano off",
      to: folder.path + "/whole.wav", period: 256)
    let piano = try samples(folder.path + "/piano.wav")
    #expect(piano.count == 48000 && piano.allSatisfy { $0 == 0 })
  }

  @Test func refusalsNameTheirReason() throws {
    let (folder, patch) = try folder()
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(patch)
    try session.renderOneBlock()
    func refusal(_ line: String) -> String {
      do {
        return "done: " + (try session.perform(line))
      } catch {
        return error.words
      }
    }
    #expect(refusal("record nothing x.wav").contains("no node `nothing`"))
    #expect(refusal("record keys x.wav").contains("no sound to record"))
    #expect(refusal("record main.side x.wav").contains("side"))
    #expect(refusal("record main").contains("which file?"))
    #expect(refusal("record main off").contains("is not being recorded"))
    #expect(refusal("record main \(folder.path)/x.mp3").contains(".wav, .flac, .ogg, .opus"))
    #expect(refusal("record main \(folder.path)/none/x.wav").contains("No such file"))
    #expect(refusal("keep 5min \(folder.path)/x.wav").contains("nothing is held"))
    // All of a line, or nothing.
    let lines = PatchWriter.write(session.patch, catalogue: session.catalogue)
    #expect(
      refusal("record dist \(folder.path)/d.wav ; node g gain ; record main \(folder.path)/none/x.wav")
        .contains("No such file"))
    #expect(
      PatchWriter.write(session.patch, catalogue: session.catalogue) == lines && session.status.takes.isEmpty)
    #expect(folder.names == ["a.patch", "tone.sfz"])
  }

  // MARK: Live

  func live(_ patch: String, held: Double = 0, period: Int = 256) throws -> Session {
    var options = SessionOptions()
    options.driver.preference = .clock
    options.driver.period = period
    options.keepsTape = true
    options.heldSeconds = held
    let session = Session(options: options)
    try session.open(patch)
    session.start()
    return session
  }

  /// Another patch is opened, or the session ends, amid a block: the audio thread is running, or has just ended.
  @Test(arguments: [100, 333], [true, false])
  func aTakeThatEndsWithItsPatchHasAllOfItsSound(period: Int, opensOther: Bool) throws {
    let (folder, patch) = try folder()
    for turn in 0..<5 {
      let session = try live(patch, period: period)
      let path = folder.path + "/\(turn).wav"
      try session.perform("record out \(path)")
      play(session, 0.05 + 0.01 * Double(turn))
      if opensOther { try session.openOther(folder.path + "/b.patch") }
      session.close()
      let frames = try samples(path)
      #expect(frames.count > 2 * 2000)
      // The left channel, on which the tone is.
      let left = stride(from: frames.count - 2 * 64, to: frames.count, by: 2).map { frames[$0] }
      #expect(left.count { $0 == 0 } < 4, "\(left)")
    }
  }

  /// Goes on until the clock has rendered so many seconds.
  func play(_ session: Session, _ seconds: Double) {
    let end = session.engine.renderer.time + Int64(seconds * 48000)
    while session.engine.renderer.time < end {
      session.tick()
      sched_yield()
    }
  }

  @Test func aTakeOutlivesUndoAndIsReplayedToTheSameBits() throws {
    let (folder, patch) = try folder()
    let session = try live(patch)
    play(session, 0.2)
    try session.perform("set dist.drive 20dB")
    play(session, 0.1)
    let answer = try session.perform("record out \(folder.path)/take.wav")
    #expect(answer == "recording out to \(folder.path)/take.wav")
    play(session, 0.1)
    #expect(session.status.takes.count == 1)
    try session.perform("note piano on C4 90")
    play(session, 0.1)
    try session.perform("replace dist filter freq=700Hz")
    play(session, 0.1)
    try session.perform("undo")
    try session.undo()
    play(session, 0.1)
    try session.perform("insert eq equalizer band1.gain=6dB into main -> out")
    try session.perform("note piano off C4")
    play(session, 0.2)
    #expect(session.status.takes.count == 1)
    try session.perform("record out off")
    play(session, 0.2)
    #expect(session.status.takes.isEmpty)
    let notices = session.takeNotices().words
    #expect(notices.contains { $0.hasPrefix("recorded \(folder.path)/take.wav") }, "\(notices)")
    session.close()
    #expect(folder.names.contains("take.journal") && folder.names.contains("take.mid"))
    let take = try samples(folder.path + "/take.wav")
    #expect(take.count > 2 * 20_000 && take.contains { abs($0) > 0.01 })

    try expectReplay("take", in: folder)
    // Nothing of this is in the way of a second take.
    #expect(try samples(folder.path + "/take.wav") == take)
  }

  @Test func theNotesOfATakeThatBeginsUnderAHeldChordHaveTheChord() throws {
    let (folder, patch) = try folder()
    let session = try live(patch)
    try session.perform("note piano on C4 90")
    try session.perform("note piano on E4 80")
    play(session, 0.1)
    try session.perform("note piano off C4")
    play(session, 0.1)
    try session.perform("record out \(folder.path)/take.wav")
    play(session, 0.1)
    try session.perform("record out off")
    play(session, 0.1)
    session.close()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path + "/take.mid")))
    let events = try MidiFile(bytes: bytes).events
    #expect(events.map(\.event.kind) == [.noteOn, .noteOff], "it ends with the take")
    #expect(events[0].event.key == 64 && events[0].event.value == 80 && events[0].seconds == 0)
    #expect(events[1].event.key == 64 && events[1].seconds > 0.09)
  }

  /// Wherever a take begins, its notes end with the keys and pedals that are down as all notes since the session's start do.
  @Test(arguments: 0..<40) func aTakesNotesEndAsAllNotesDo(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    print("seed \(seed)")
    var journal = TakeJournal()
    for index in 0..<Int.random(in: 1...60, using: &random) {
      let kind: Event.Kind = [
        .noteOn, .noteOn, .noteOn, .noteOff, .noteOff, .control, .bend, .program, .allNotesOff, .keyPressure,
      ].randomElement(using: &random)!
      let event = Event(
        kind, channel: UInt8.random(in: 0...1, using: &random),
        key: kind == .control
          ? [1, 64].randomElement(using: &random)! : UInt8.random(in: 60...63, using: &random),
        value: Float(Int.random(in: 0...1, using: &random) * 100 + 1))
      let happening: TakeJournal.Happening =
        Int.random(in: 0..<20, using: &random) == 0
        ? .panic
        : Bool.random(using: &random) ? .midi(port: 0, event) : .event(node: "keys", event)
      journal.entries.append(TakeJournal.Entry(frame: Int64(index * 10), happening: happening))
    }
    let start = Int64.random(in: 0...600, using: &random)
    // A panic after the start is no event; what it ends is not compared.
    let cut = journal.entries.filter { !($0.frame >= start && $0.happening == .panic) }
    journal.entries = cut
    let all = journal.played(from: 0)
    let part = journal.played(from: start)
    let before = journal.entries.contains { $0.frame < start && $0.happening == .panic }
    if !before, !part.isEmpty { #expect(Self.state(part) == Self.state(all), "start \(start)") }
    #expect(part.allSatisfy { $0.frame >= 0 })
    let later = journal.entries.filter { $0.frame >= start && $0.happening != .panic }.count
    #expect(part.count >= later)
  }

  /// Keys that are down and the latest values, however often each.
  private static func state(_ events: [(frame: Int64, event: Event)]) -> [String: Float] {
    var state: [String: Float] = [:]
    for (_, event) in events {
      let place = "\(event.channel) \(event.key)"
      switch event.kind {
      case .noteOn: state["note \(place)"] = 1
      case .noteOff: state["note \(place)"] = nil
      case .control: state["control \(place)"] = event.value
      case .bend, .program: state["\(event.kind) \(event.channel)"] = event.value
      case .allNotesOff:
        for key in state.keys
        where key.hasPrefix("note \(event.channel)") || key == "control \(event.channel) 64" {
          state[key] = nil
        }
      default: break
      }
    }
    return state
  }

  /// The rate changes, as with another server, while a script has told edits for frames to come; the take after it is replayed to
  /// the same bits, whatever they were prepared for.
  @Test(arguments: [44_100.0, 96_000, 22_050])
  func aTakeAfterAChangeOfTheRateUnderAScriptIsReplayedToTheSameBits(rate: Double) throws {
    let (folder, patch) = try folder()
    let session = try live(patch)
    play(session, 0.2)
    let now = session.engine.renderer.time
    for step in 0..<40 {
      try session.perform("set tone.freq \(200 + 7 * step)Hz", at: now + Int64(step * 1100))
      try session.perform("set dist.drive \(step % 20)dB", at: now + Int64(step * 1100))
    }
    try session.perform("connect tone -> out gain=-20dB", at: now + 9000)
    play(session, 0.1)
    session.supervisor.stop()
    session.engine.retune(rate: rate, period: 256)
    let clock = ClockDriver(renderer: session.engine.renderer, rate: rate, period: 256)
    try clock.start()
    for step in 0..<10 { try session.perform("set tone.freq \(500 + 5 * step)Hz") }
    try session.perform("record out \(folder.path)/take.wav")
    play(session, 0.2)
    try session.perform("record out off")
    play(session, 0.2)
    clock.stop()
    session.close()
    try expectReplay("take", in: folder)
  }

  /// The driver plays at the new rate before the session follows: the takes of before have none of it, and go on in others.
  @Test(arguments: [44_100.0, 96_000], [0, 64, 1000])
  func aTakeHasNothingOfAnotherRate(rate: Double, meanwhile: Int) throws {
    let (folder, patch) = try folder()
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(patch)
    let ports = ["dist", "main", "tone"]
    for port in ports { try session.perform("record \(port) \(folder.path)/\(port).wav") }
    func render(_ frames: Int) throws {
      let renderer = OfflineRenderer(
        engine: session.engine, rate: session.engine.rate, period: session.engine.period, tracks: [])
      try renderer.render(frames: Int64(frames)) { _ in session.recorder.pump() }
    }
    try render(4828)
    session.engine.retune(rate: rate, period: 256)
    try render(meanwhile)
    session.followTakes()
    try render(6400)
    session.followTakes()
    for port in ports { try session.perform("record \(port) off") }
    try render(6400)
    session.finishTakes()
    for port in ports {
      let channels = port == "main" ? 2 : 1
      #expect(try samples("\(folder.path)/\(port).wav").count == 4828 * channels, "\(port)")
      #expect(try samples("\(folder.path)/\(port)-2.wav").count == 6400 * channels, "\(port)")
    }
  }

  /// Tempo and meter of the patch and their changes stand in the MIDI file, and the notes where they sounded.
  @Test func theNotesOfATakeHaveTheTempoAndTheMeter() throws {
    let (folder, patch) = try folder()
    let session = try live(patch)
    try session.perform("tempo 60")
    try session.perform("meter 6/8")
    play(session, 0.1)
    try session.perform("record out \(folder.path)/take.wav")
    play(session, 0.1)
    try session.perform("note piano on C4 90")
    play(session, 0.1)
    try session.perform("tempo 200")
    play(session, 0.1)
    try session.perform("note piano off C4")
    play(session, 0.1)
    try session.perform("record out off")
    play(session, 0.1)
    session.close()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path + "/take.mid")))
    // Beats are eighths: a quarter has two seconds, then 0.6.
    for words in [
      [0xFF, 0x58, 4, 6, 3], [0xFF, 0x51, 3, 0x1E, 0x84, 0x80], [0xFF, 0x51, 3, 0x09, 0x27, 0xC0],
    ] {
      #expect(bytes.contains(words.map(UInt8.init)), "\(words)")
    }
    let events = try MidiFile(bytes: bytes).events
    try #require(events.map(\.event.kind) == [.noteOn, .noteOff])
    let entries = try #require(TakeJournal(reading: try PatchFile.read(folder.path + "/take.journal")))
      .entries
    let start = try #require(entries.first { if case .take = $0.happening { true } else { false } }).frame
    let notes = entries.filter { if case .event = $0.happening { $0.frame > start } else { false } }
    for (event, entry) in zip(events, notes) {
      #expect(abs(event.seconds * 48000 - Double(entry.frame - start)) < 2.1)
    }
  }

  /// Outputs for headphones are not heard in the hall: they stand beside the others, and add nothing to them.
  @Test func whatIsKeptHasTheOutputsSideBySide() throws {
    let (folder, patch) = try folder()
    let session = try live(patch, held: 600)
    try session.perform("node cue output channels=1")
    try session.perform("node level constant level=0.25")
    try session.perform("connect level -> cue")
    play(session, 0.3)
    try session.perform("record out \(folder.path)/out.wav")
    play(session, 0.3)
    try session.perform("keep 0.2s \(folder.path)/heard.wav")
    play(session, 0.3)
    session.close()
    let (heard, out) = (try samples(folder.path + "/heard.wav"), try samples(folder.path + "/out.wav"))
    #expect(heard.count == 3 * 9600)
    let cue = stride(from: 2, to: heard.count, by: 3).map { heard[$0] }
    let left = stride(from: 0, to: heard.count, by: 3).map { heard[$0] }
    #expect(cue.allSatisfy { $0 == 0.25 })
    #expect(left.contains { abs($0) > 0.01 } && left.contains { $0 < -0.01 })
    #expect(out.count > 2 * 9600)
  }

  @Test func whatWasHeardIsKept() throws {
    let (folder, patch) = try folder()
    let session = try live(patch, held: 600)
    play(session, 0.6)
    let before = session.engine.renderer.time
    let answer = try session.perform("keep 5min \(folder.path)/heard.wav")
    #expect(answer.contains("heard.wav"))
    play(session, 0.3)
    let notices = session.takeNotices().words
    #expect(notices.contains { $0.hasPrefix("kept") }, "\(notices)")
    try session.perform("keep 0.1s \(folder.path)/heard.wav")
    play(session, 0.3)
    session.close()
    let heard = try samples(folder.path + "/heard.wav")
    #expect(heard.count > 2 * 20_000 && heard.count <= 2 * Int(before + 4096))
    #expect(heard.contains { abs($0) > 0.01 })
    #expect(try samples(folder.path + "/heard-2.wav").count == 9600)
    // A capture is no part of the patch or of what the views show.
    #expect(session.report.nodes.count == session.patch.nodes.count)
  }

  @Test func aRecordNodeHasItsOwnFile() throws {
    let (folder, patch) = try folder()
    let session = try live(patch)
    try session.perform("insert tape record file=tape.flac format=pcm16 into main -> out")
    play(session, 0.1)
    #expect(try session.perform("record tape") == "recording tape.out to \(folder.path)/tape.flac")
    play(session, 0.1)
    session.close()
    #expect(folder.names.contains("tape.flac"))
    #expect(session.takeNotices().words.contains { $0.contains("tape.flac") })
  }
}
