import Engine
import Foundation
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Session

/// Edits, gestures and steps of the history in the journal of a take: its replay has the same patch.
@MainActor @Suite(.serialized) struct ReplayHistoryTests {
  private static let patch = """
    sostenuto 1

    node mi midi

    node tone oscillator

    node main matrix inputs=2
    connect tone -> main

    node out output
    connect main -> out

    """

  /// A session whose audio thread is the test.
  private func live(_ folder: Folder) throws -> Session {
    var options = SessionOptions()
    options.keepsTape = true
    let session = Session(options: options)
    try session.open(try folder.file("a.patch", Self.patch))
    return session
  }

  private func edit(_ line: String, _ session: Session) throws -> Edit {
    let statement = try StatementParser.parse(line, patch: session.patch, catalogue: session.catalogue)
    guard case .edit(let edit) = statement else {
      Issue.record("`\(line)` is no edit")
      return .all([])
    }
    return edit
  }

  /// The patch of a replay at its end.
  private func replayed(_ session: Session, _ folder: Folder) throws -> String {
    // What maps have moved is followed here and there.
    for frequency in [777, 778] {
      session.tick()
      try session.perform("set tone.freq \(frequency)Hz")
      try session.renderOneBlock()
      session.tick()
    }
    let end = session.engine.renderer.time
    let journal = try #require(
      session.tape?.extract().journal(of: "main.out", format: "float32", from: 0, to: end))
    let replay = try Replay(path: try folder.file("take.journal", journal.text))
    #expect(replay.doubts == [])
    var options = SessionOptions()
    options.isOffline = true
    options.driver.rate = replay.rate
    options.quality = replay.quality
    let again = Session(options: options)
    _ = try again.render(replay, to: folder.path + "/again.wav")
    return canonical(again)
  }

  /// A line that sets some gains of the grid.
  private static func gains(_ random: inout SeededGenerator) -> String {
    var lines: [String] = []
    for gain in ["[0,0]", "[1,1]", "[0,1]"] where Bool.random(using: &random) {
      lines.append("set main\(gain) -\(Int.random(in: 1...40, using: &random))dB")
    }
    return lines.joined(separator: " ; ")
  }

  @Test(arguments: searchSeeds(1...20)) func aReplayEndsWithThePatchOfTheSession(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try live(folder)
    let mi = try #require(session.patch[named: "mi"]?.id)
    /// The edit of the gesture under way.
    var gesture: Int?
    var done: [String] = []
    for _ in 0..<80 {
      let count = Int.random(in: 1...90, using: &random)
      switch Int.random(in: 0..<14, using: &random) {
      case 0, 1:
        let line = "set main[0,0] -\(count)dB ; set main[1,1] \(-count)dB"
        try session.perform(line)
        gesture = session.newestEdit
        done.append(line)
      case 2..<6:
        let line = Self.gains(&random)
        guard let step = gesture, step == session.newestEdit, !line.isEmpty else { continue }
        // As when the audio thread moves something after the session has looked for it.
        _ = try session.perform(try edit(line, session), amending: step, isMoved: false)
        done.append("and \(line)")
      case 6:
        let line = "map mi.cc74 -> main.master -20dB..0dB takeover=jump"
        try session.perform(session.patch.settings.maps.isEmpty ? line : "map mi.cc74 -> main.master off")
        done.append("map")
      case 7:
        try session.perform("set tone.freq \(100 + count)Hz")
        done.append("freq \(count)")
      case 8, 9:
        try session.undo()
        done.append("undo")
      case 10:
        try session.redo()
        done.append("redo")
      case 11:
        #expect(throws: Diagnostic.self) {
          try session.perform("set tone.level -\(count)dB ; record tone \(folder.path)/none/x.wav")
        }
        done.append("refused")
      default:
        session.play(Event(.control, key: 74, value: Float(count)), on: mi)
        try session.renderOneBlock()
        done.append("knob \(count)")
      }
      try session.renderOneBlock()
      if Bool.random(using: &random) { session.tick() }
    }
    let again = try replayed(session, folder)
    #expect(again == canonical(session), "seed \(seed): \(done)")
    session.close()
  }

  /// The gesture's second step leaves out what is where it began, while a knob moves.
  @Test func aStepOfAGestureTakesBackTheStepsBeforeInAReplayToo() throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    let session = try live(folder)
    let mi = try #require(session.patch[named: "mi"]?.id)
    try session.perform("map mi.cc74 -> main.master -20dB..0dB takeover=jump")
    try session.perform("set main[0,0] -3dB ; set main[1,1] -3dB")
    try session.renderOneBlock()
    session.tick()
    session.play(Event(.control, key: 74, value: 10), on: mi)
    try session.renderOneBlock()
    try session.renderOneBlock()
    _ = try session.perform(
      try edit("set main[0,0] -6dB", session), amending: session.newestEdit, isMoved: false)
    try session.renderOneBlock()
    let again = try replayed(session, folder)
    #expect(again.contains("set main[0,0] -6dB") && !again.contains("set main[1,1]"), "\(again)")
    #expect(again == canonical(session))
    session.close()
  }

  @Test func aReplayNamesTheLineThatItCannotRepeat() throws {
    let folder = try Folder()
    let journal = """
      sostenuto-replay 1
      rate 48000.0
      quality auto
      | sostenuto 1
      | node out output
      at 100 take float32 out
      at 200 edit remove wall
      at 4800 end

      """
    let replay = try Replay(path: try folder.file("take.journal", journal))
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    #expect {
      _ = try session.render(replay, to: folder.path + "/again.wav")
    } throws: { error in
      let words = "\(error)"
      return words.contains("`at 200 edit remove wall`") && words.contains("no node `wall`")
    }
    session.close()
  }
}
