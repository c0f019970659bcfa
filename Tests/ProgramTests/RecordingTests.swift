import Foundation
import Testing

/// Takes of the whole program: cut off by `kill -9` and made whole, replayed, and in a render.
@Suite(.timeLimit(.minutes(3))) struct RecordingTests {
  private static let patch =
    "sostenuto 1\nnode o oscillator\nnode out output\nconnect o -> out\n"

  /// Bytes of samples that the head of a WAV file tells of, and those that are there.
  private func sizes(_ bytes: Data) -> (told: Int, real: Int)? {
    guard let data = bytes.range(of: Data("data".utf8)), data.upperBound + 4 <= bytes.count else {
      return nil
    }
    let told = bytes[data.upperBound..<data.upperBound + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    return (told, bytes.count - data.upperBound - 4)
  }

  /// Also where the home cannot be written.
  @Test(arguments: [true, false]) func aTakeThatWasKilledIsWholeAtTheNextStart(hasHome: Bool) throws {
    let folder = try Folder()
    // Nobody can make a folder in a device.
    let state = [
      "XDG_STATE_HOME": hasHome ? folder.path + "/state" : "/dev/null", "TMPDIR": folder.path,
    ]
    let own = folder.path + (hasHome ? "/state/sostenuto" : "/sostenuto-\(geteuid())")
    _ = try folder.file("p.patch", Self.patch + "node keys keyboard\nnode mic input channels=1\n")
    _ = try folder.file(
      "s.script",
      """
      at 0.05s note keys on E4 90
      at 0.1s record out take.wav ; record o other.flac
      at 0.2s note keys on C4 100 ; set o.freq 330Hz
      at 0.4s undo

      """)
    let play = [
      "play", "p.patch", "--headless", "--driver", "clock", "--script", "s.script", "--seconds", "60",
    ]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = play
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ProcessInfo.processInfo.environment.merging(state) { $1 }
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    // Returns when the file has that many bytes.
    _ = try Program.run(
      tool: "/usr/bin/timeout", ["30", "sh", "-c", "tail -F -c +300000 take.wav 2>/dev/null | head -c 1"],
      in: folder.path)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let torn = try #require(sizes(try folder.bytes("take.wav")))
    #expect(torn.real > 200_000)
    let next = try Program.run(
      tool: Program.path, ["play", "p.patch", "--headless", "--driver", "clock", "--seconds", "0.2"],
      in: folder.path, state)
    #expect(next.status == 0)
    #expect(next.errors.contains("take.wav was cut off: it is whole now"), "\(next.errors)")
    #expect(next.errors.contains("other.flac was cut off: it is whole now"), "\(next.errors)")
    let whole = try #require(sizes(try folder.bytes("take.wav")))
    #expect(whole.told == whole.real && whole.real % 8 == 0 && torn.real - whole.real < 8)
    // What was played into it is there, and a replay has the same bits.
    #expect(next.errors.contains("its notes and its journal are beside it"), "\(next.errors)")
    #expect(!next.errors.contains("are lost"), "\(next.errors)")
    for name in ["take.mid", "other.mid"] {
      let notes = try folder.bytes(name)
      #expect(notes.contains([0x90, 64, 90]) && notes.contains([0x90, 60, 100]), "held before, and played")
    }
    let replayed = try Program.run(
      tool: Program.path, ["replay", "take.journal", "--output", "again.wav"], in: folder.path, state)
    #expect(replayed.status == 0 && replayed.errors.contains("its session was cut off"), "\(replayed)")
    let again = try folder.bytes("again.wav")
    #expect(try #require(sizes(again)).real == whole.real)
    #expect(again.suffix(whole.real) == (try folder.bytes("take.wav")).suffix(whole.real))
    for name in ["/tapes", "/takes"] {
      #expect(try FileManager.default.contentsOfDirectory(atPath: own + name).isEmpty)
    }
    if hasHome { #expect(!exists(folder, "sostenuto-\(geteuid())")) }
    let third = try Program.run(
      tool: Program.path, ["play", "p.patch", "--headless", "--driver", "clock", "--seconds", "0.2"],
      in: folder.path, state)
    #expect(!third.errors.contains("cut off"))
  }

  /// A tape of hours takes seconds to read, and the program may be killed meanwhile.
  @Test func aJournalThatWasNotWrittenIsWrittenAtTheNextStart() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    let played = try play(folder, "at 0.1s record out take.wav\nat 0.5s record out off\n")
    #expect(played.status == 0 && exists(folder, "take.journal"), "\(played.errors)")
    let wanted = try folder.bytes("take.journal")
    try FileManager.default.removeItem(atPath: folder.path + "/take.journal")
    let tapes = folder.path + "/state/sostenuto/tapes"
    // Its tape as the killed program leaves it.
    let lines = String(decoding: wanted, as: UTF8.self).split(separator: "\n").map(String.init)
    let take = try #require(lines.first { $0.contains(" take float32 ") }).split(separator: " ")
    let tape = lines.filter { line in
      !line.hasPrefix("sound ") && !line.contains(" take float32 ") && !line.hasSuffix(" end")
    }
    try (tape.joined(separator: "\n") + "\ntaking \(take[1]) float32 out \(folder.path)/take.wav\n").write(
      toFile: tapes + "/tape-killed", atomically: false, encoding: .utf8)
    let next = try play(folder, "# nothing\n", seconds: "0.2")
    #expect(next.errors.contains("take.wav has its notes and its journal now"), "\(next.errors)")
    let found = String(decoding: try folder.bytes("take.journal"), as: UTF8.self).split(separator: "\n")
    #expect(found.map(String.init).filter { !$0.hasPrefix("unsure ") } == lines)
    let third = try play(folder, "# nothing\n", seconds: "0.2")
    #expect(!third.errors.contains("take.wav") && !exists(folder, "take.2.journal"), "\(third.errors)")
  }

  /// A take that is named from the working folder, too.
  @Test func aJournalThatWasWrittenIsNotWrittenAgainAfterAKill() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    _ = try folder.file("s.script", "at 0.1s record out take.wav\nat 0.3s record out off\n")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = [
      "play", "p.patch", "--headless", "--driver", "clock", "--script", "s.script", "--seconds", "60",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["XDG_STATE_HOME": folder.path + "/state"]
    ) { $1 }
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let told = try Program.run(
      tool: "/usr/bin/timeout",
      ["30", "sh", "-c", "until grep -qs '^taken ' state/sostenuto/tapes/*; do sleep 0.05; done"],
      in: folder.path)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(told.status == 0 && exists(folder, "take.journal"))
    let next = try play(folder, "# nothing\n", seconds: "0.2")
    #expect(!next.errors.contains("take.wav") && !exists(folder, "take.2.journal"), "\(next.errors)")
  }

  @Test func whatComesInLiesBesideTheTake() throws {
    let folder = try Folder()
    let state = ["XDG_STATE_HOME": folder.path + "/state"]
    _ = try folder.file("p.patch", Self.patch + "node mic input channels=1\nconnect mic -> out\n")
    _ = try folder.file("s.script", "at 0.1s record out take.wav\nat 0.5s record out off\n")
    let play = [
      "play", "p.patch", "--headless", "--driver", "clock", "--script", "s.script", "--seconds", "1",
    ]
    let played = try Program.run(tool: Program.path, play, in: folder.path, state)
    #expect(played.status == 0 && !played.errors.contains("warning"), "\(played.errors)")
    let journal = String(decoding: try folder.bytes("take.journal"), as: UTF8.self)
    #expect(journal.contains("\ninput mic ") && journal.contains(" take.in.wav\n"), "\(journal)")
    #expect(try folder.bytes("take.in.wav").count > 70_000)
    let replayed = try Program.run(tool: Program.path, ["replay", "take.journal"], in: folder.path, state)
    #expect(replayed.errors.contains("what came in before the take is not in it"), "\(replayed)")
    #expect(try folder.bytes("take.wav") == folder.bytes("take-replay.wav"))
    for name in ["take.wav", "take.in.wav", "take.journal"] {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    let bare = try Program.run(tool: Program.path, play + ["--no-inputs"], in: folder.path, state)
    #expect(bare.status == 0 && !FileManager.default.fileExists(atPath: folder.path + "/take.in.wav"))
    let doubt = String(decoding: try folder.bytes("take.journal"), as: UTF8.self)
    #expect(doubt.contains("unsure the driver's inputs are not in it"))
  }

  @Test func aTakeOfAServiceIsReplayed() throws {
    let folder = try Folder()
    let state = ["XDG_STATE_HOME": folder.path + "/state"]
    _ = try folder.file("p.patch", Self.patch)
    _ = try folder.file(
      "s.script",
      "at 0.1s record out take.wav\nat 0.2s set o.freq 220Hz\nat 0.3s replace o noise\nat 0.5s record out off\n"
    )
    let played = try Program.run(
      tool: Program.path,
      ["play", "p.patch", "--headless", "--driver", "clock", "--script", "s.script", "--seconds", "1"],
      in: folder.path, state)
    #expect(played.status == 0 && played.errors.contains("recorded take.wav"), "\(played.errors)")
    #expect(!played.errors.contains("warning"), "\(played.errors)")
    let replayed = try Program.run(
      tool: Program.path, ["replay", "take.journal"], in: folder.path, state)
    #expect(replayed.status == 0 && replayed.output.contains("take-replay.wav"), "\(replayed)")
    let (take, replay) = (try folder.bytes("take.wav"), try folder.bytes("take-replay.wav"))
    #expect(take.count > 150_000 && take == replay)
    let nothing = try Program.run(tool: Program.path, ["replay", "p.patch"], in: folder.path, state)
    #expect(nothing.status == 1 && nothing.errors.contains("not the journal of a take"))
  }

  /// The session plays `script` for a second; returns what it said.
  private func play(
    _ folder: Folder, _ script: String, _ arguments: [String] = [], seconds: String = "1"
  ) throws -> Program.Outcome {
    _ = try folder.file("s.script", script)
    return try Program.run(
      tool: Program.path,
      ["play", "p.patch", "--headless", "--driver", "clock", "--script", "s.script", "--seconds", seconds]
        + arguments, in: folder.path, ["XDG_STATE_HOME": folder.path + "/state"])
  }

  private func exists(_ folder: Folder, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.path + "/" + name)
  }

  /// On a stage nobody can mend a script: what is refused is told with its line, and the rest is played and recorded.
  @Test func aRefusedLineDoesNotEndThePerformance() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    let script = """
      at 0.1s record o take.wav
      at 0.1s record o none/take.wav
      at 0.15s record o pair.wav ; set o.freq 300Hz ; record out none/pair.wav
      at 0.2s set o.freq 220Hz
      at 0.5s record o off

      """
    let played = try play(folder, script)
    #expect(played.status == 1 && played.output.contains("2 lines refused"), "\(played)")
    #expect(
      played.errors.contains("s.script:2:") && played.errors.contains("s.script:3:"), "\(played.errors)")
    let take = try #require(sizes(try folder.bytes("take.wav")))
    #expect(take.real > 18_000 * 4, "0.4 s of one channel")
    #expect(!exists(folder, "pair.wav") && !exists(folder, "pair.journal"))
    let journal = String(decoding: try folder.bytes("take.journal"), as: UTF8.self)
    #expect(journal.contains("set o.freq 220Hz"))
    // A render can be repeated, so it ends, and leaves nothing that looks like a take.
    let rendered = try Program.run(
      tool: Program.path,
      ["render", "p.patch", "--script", "s.script", "--seconds", "1", "--output", "whole.wav"],
      in: folder.path)
    #expect(rendered.status == 1 && rendered.errors.contains("s.script:2:"), "\(rendered)")
    #expect(!exists(folder, "whole.wav") && !exists(folder, "take-2.wav"))
  }

  @Test func aTakeThatEndsBeforeItsFirstFrameLeavesNoFile() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    let played = try play(folder, "at 0.2s record o take.wav\nat 0.2s record o off\n", seconds: "0.5")
    #expect(played.status == 0 && played.errors.contains("no file is left"), "\(played)")
    #expect(!exists(folder, "take.wav") && !exists(folder, "take.journal"))
  }

  /// What `keep` writes has journal and notes as a take has, also when outputs come and go meanwhile.
  @Test func whatIsKeptIsReplayedToTheSameBits() throws {
    let folder = try Folder()
    _ = try folder.file(
      "p.patch",
      Self.patch + "node cue output channels=1\nconnect o -> cue gain=-20dB\nnode keys keyboard\n")
    let script = """
      at 0.1s note keys on C4 100
      at 0.2s set o.freq 300Hz
      at 0.5s node late output ; connect o -> late gain=-6dB
      at 0.7s remove cue
      at 0.8s replace o noise
      at 1s note keys off C4
      at 1.2s keep 0.9s heard.wav
      at 1.3s keep 0.5s heard.flac

      """
    let played = try play(folder, script, ["--keep", "1"], seconds: "1.8")
    #expect(played.status == 0 && played.errors.contains("kept 0.9 s as heard.wav"), "\(played.errors)")
    let kept = try folder.bytes("heard.wav")
    let size = try #require(sizes(kept)).real
    #expect(size > 40_000 * 5 * 4, "0.9 s of three outputs")
    // The first file has the note that was held, the second what was played later.
    #expect(try folder.bytes("heard.mid").contains([0x90, 60, 100]))
    #expect(try folder.bytes("heard.2.mid").contains([0x80, 60]))
    for (journal, name, again) in [
      ("heard.journal", "heard.wav", "heard-replay.wav"),
      ("heard.2.journal", "heard.flac", "heard.2-replay.flac"),
    ] {
      let replayed = try Program.run(
        tool: Program.path, ["replay", journal], in: folder.path,
        ["XDG_STATE_HOME": folder.path + "/state"])
      #expect(replayed.status == 0 && !replayed.errors.contains("warning"), "\(replayed)")
      #expect(try folder.bytes(name) == folder.bytes(again), "\(name)")
    }
  }

  /// A take in FLAC has whole numbers; so has its replay, in FLAC or in WAV.
  @Test func aTakeInFLACIsReplayedToTheSameBits() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    let played = try play(
      folder, "at 0.1s record o take.flac\nat 0.2s record o take.ogg\nat 0.5s record o off\n")
    #expect(played.status == 0, "\(played)")
    let replayed = try Program.run(tool: Program.path, ["replay", "take.journal"], in: folder.path)
    #expect(replayed.status == 0 && replayed.output.contains("take-replay.flac"), "\(replayed)")
    #expect(try folder.bytes("take.flac") == folder.bytes("take-replay.flac"))
    let wave = try Program.run(
      tool: Program.path, ["replay", "take.journal", "-o", "take.wav"], in: folder.path)
    #expect(!wave.errors.contains("warning"), "\(wave)")
    // 24 bits.
    let whole = try #require(sizes(try folder.bytes("take.wav")))
    #expect(whole.real == 19_200 * 3, "0.4 s in 24 bits")
    let lossy = try Program.run(
      tool: Program.path, ["replay", "take.2.journal", "-o", "ogg.wav"], in: folder.path)
    #expect(lossy.errors.contains("coding"), "\(lossy)")
  }

  /// The journal's name would be too long for a file system: it is cut, and tells its take.
  @Test func aTakeWithTheLongestOfNamesHasItsJournal() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch + "node keys keyboard\n")
    let name = String(repeating: "n", count: 251) + ".wav"
    let played = try play(
      folder, "at 0.1s record o \(name)\nat 0.2s note keys on C4 100\nat 0.4s record o off\n")
    #expect(played.status == 0 && !played.errors.contains("warning"), "\(played.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains { $0.hasSuffix(".mid") })
    let journal = try #require(names.first { $0.hasSuffix(".journal") })
    let replayed = try Program.run(tool: Program.path, ["replay", journal], in: folder.path)
    let again = String(replayed.output.prefix { $0 != " " })
    #expect(replayed.status == 0 && again.hasSuffix("-replay.wav"), "\(replayed)")
    #expect(try folder.bytes(name) == folder.bytes(again))
  }

  /// A line at a bar that is past is performed at once, as a cue that was missed; who wrote it should know.
  @Test func aLineAtABarThatIsPastIsToldWhenItIsPerformed() throws {
    let folder = try Folder()
    _ = try folder.file("p.patch", Self.patch)
    let script = "at 0.1s locate bar 20\nat bar 2 set o.freq 220Hz\nat bar 20.2 set o.freq 330Hz\n"
    let played = try play(folder, script)
    let words = "s.script:2: bar 2 is past: it is performed at once"
    #expect(played.errors.contains(words) && !played.errors.contains("bar 20.2"), "\(played.errors)")
    let rendered = try Program.run(
      tool: Program.path,
      ["render", "p.patch", "--script", "s.script", "--seconds", "1", "--output", "whole.wav"],
      in: folder.path)
    #expect(rendered.status == 0 && rendered.errors.contains(words), "\(rendered)")
  }
}
