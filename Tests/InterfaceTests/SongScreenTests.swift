import Engine
import Foundation
import Patch
import Screen
import Testing

@testable import Interface
@testable import Session

/// A MIDI file that plays: what the screen says of it, and the keys that stop it.
@Suite @MainActor struct SongScreenTests {
  private final class Place {
    let path = NSTemporaryDirectory() + "sostenuto-\(UUID().uuidString)"
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  /// A note of two seconds, and another one of two.
  private static let tune: [UInt8] =
    [0x4D, 0x54, 0x68, 0x64, 0, 0, 0, 6, 0, 0, 0, 1, 0, 96, 0x4D, 0x54, 0x72, 0x6B, 0, 0, 0, 22]
    + [0, 0x90, 60, 100, 0x83, 0, 0x80, 60, 0, 0, 0x90, 64, 100, 0x83, 0, 0x80, 64, 0, 0, 0xFF, 0x2F, 0]

  private func stage(_ place: Place) throws -> Stage {
    let stage = Stage(
      "node one midi", "node a sampler", "node out output", "connect one -> a", "connect a -> out")
    (stage.columns, stage.rows) = (100, 24)
    try Data(Self.tune).write(to: URL(fileURLWithPath: place.path + "/tune.mid"))
    try stage.session.playSong(place.path + "/tune.mid")
    stage.play(seconds: 0.3)
    return stage
  }

  private func held(_ stage: Stage) -> Int {
    stage.session.report.nodes.first { $0.name == "a" }?.heldNotes ?? -1
  }

  @Test func theScreenSaysWhatPlaysAndHaltStopsItUntilRoll() throws {
    let place = try Place()
    let stage = try stage(place)
    #expect(stage.canvas.lines[0].contains("plays tune.mid 0:00 of 0:04"), "\(stage.screen)")
    #expect(held(stage) == 1)
    stage.press("space")
    stage.play(seconds: 1)
    #expect(held(stage) == 0, "what was sent ahead has ended")
    #expect(stage.canvas.lines[0].contains("halted tune.mid 0:0"), "\(stage.screen)")
    stage.play(seconds: 5)
    #expect(stage.session.songName == "tune.mid", "it waits")
    stage.press("space")
    stage.play(seconds: 1.7)
    #expect(held(stage) == 1, "the second note comes at its time behind the halt")
    stage.play(seconds: 3)
    #expect(stage.session.songName == nil)
  }

  @Test func anOrderToTheTransportMovesTheSong() throws {
    let place = try Place()
    let stage = try stage(place)
    _ = try stage.workbench.perform(line: "locate 3s")
    stage.play(seconds: 0.7)
    #expect(stage.canvas.lines[0].contains("plays tune.mid 0:03 of 0:04"), "\(stage.canvas.lines[0])")
    #expect(held(stage) == 0, "the note of before has ended")
    _ = try stage.workbench.perform(line: "locate bar 1")
    stage.play(seconds: 0.7)
    #expect(
      held(stage) == 1 && stage.canvas.lines[0].contains("plays tune.mid 0:00"), "\(stage.canvas.lines[0])")
    // Halted, it waits there.
    stage.press("space")
    stage.play(seconds: 1)
    _ = try stage.workbench.perform(line: "locate bar 2")
    stage.play(seconds: 0.2)
    #expect(
      held(stage) == 0 && stage.canvas.lines[0].contains("halted tune.mid 0:02"), "\(stage.canvas.lines[0])")
    stage.press("space")
    stage.play(seconds: 0.3)
    #expect(held(stage) == 1)
    stage.play(seconds: 2.5)
    #expect(stage.session.songName == nil)
  }

  @Test func savingAndPanicSayWhatBecomesOfTheSong() throws {
    let place = try Place()
    let stage = try stage(place)
    stage.press(":")
    stage.type("save \(place.path)/x.patch")
    stage.press("enter")
    #expect(stage.message.hasSuffix("without tune.mid: no patch names a song"), "\(stage.message)")
    stage.press("!")
    #expect(stage.message.contains("tune.mid is over") && stage.session.songName == nil)
  }

  @Test func aFileThatIsNoneIsNamed() throws {
    let place = try Place()
    let stage = try stage(place)
    let bad = place.path + "/bad.mid"
    try Data("MThdjunk".utf8).write(to: URL(fileURLWithPath: bad))
    stage.press(":")
    stage.type("open \(bad)")
    stage.press("enter n")
    #expect(stage.message.hasPrefix("\(bad): byte "), "\(stage.message)")
  }
}
