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

  @Test func aTakeThatWasKilledIsWholeAtTheNextStart() throws {
    let folder = try Folder()
    let state = ["XDG_STATE_HOME": folder.path + "/state"]
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
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state/sostenuto/tapes").isEmpty)
    let third = try Program.run(
      tool: Program.path, ["play", "p.patch", "--headless", "--driver", "clock", "--seconds", "0.2"],
      in: folder.path, state)
    #expect(!third.errors.contains("cut off"))
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
}
