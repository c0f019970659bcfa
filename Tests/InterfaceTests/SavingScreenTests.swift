import Foundation
import Patch
import Screen
import Testing

@testable import Interface
@testable import Session

/// Questions and warnings about files, on narrow screens too.
@MainActor @Suite struct SavingScreenTests {
  private final class Place {
    let path = NSTemporaryDirectory() + "sostenuto-\(UUID().uuidString)"
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private static let foreign = "sostenuto 1\n\nnode theirs gain\n"

  private func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  /// All words on the screen, in one line.
  private func words(_ stage: Stage) -> String {
    stage.screen.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private func changedStage(_ name: String, in place: Place) throws -> (Stage, String) {
    let stage = Stage.demo()
    let path = place.path + "/" + name
    try stage.session.save(as: path)
    stage.press("x")
    try Self.foreign.write(toFile: path, atomically: false, encoding: .utf8)
    return (stage, path)
  }

  @Test func savingASecondTimeIsNoAnswer() throws {
    let place = try Place()
    let (stage, path) = try changedStage("a.patch", in: place)
    stage.press("ctrl-s ctrl-s ctrl-s enter space y")
    #expect(try read(path) == Self.foreign)
    stage.press("esc")
    #expect(stage.message == "not saved")
    stage.press("ctrl-s o")
    #expect(stage.message.hasPrefix("saved "))
    #expect(try read(path).contains("node piano sampler"))
  }

  @Test func reloadAndMergeAreKeysOfTheirOwn() throws {
    let place = try Place()
    let (stage, path) = try changedStage("a.patch", in: place)
    let ours = stage.names
    try stage.session.save(as: path, despite: [.changed])
    let theirs = try read(path) + "\nnode theirs gain\n"
    stage.press("x")
    try theirs.write(toFile: path, atomically: false, encoding: .utf8)
    stage.press("ctrl-s")
    #expect(
      words(stage).contains("m merge theirs and yours r reload theirs o overwrite theirs Esc do not save"))
    stage.press("m")
    #expect(stage.message.hasPrefix("merged with"))
    #expect(stage.names.contains("theirs") && stage.names.count == ours.count)
    #expect(try read(path) == theirs)
    stage.press("ctrl-s")
    #expect(try read(path) != theirs)
    #expect(try read(path).contains("node theirs gain"))
    #expect(try read(path).contains("node piano"))
    try Self.foreign.write(toFile: path, atomically: false, encoding: .utf8)
    stage.press("x ctrl-s r")
    #expect(stage.names == ["theirs"])
  }

  @Test(arguments: [
    "a.patch", String(repeating: "long", count: 50) + ".patch", "日本語の長い名前のファイルがここにあります.patch",
  ])
  func theDangerousHalfOfAQuestionIsNeverCutOff(name: String) throws {
    let place = try Place()
    let (stage, _) = try changedStage(name, in: place)
    stage.press("ctrl-s")
    for (columns, rows) in [(50, 12), (40, 10), (30, 12), (80, 24), (200, 6)] {
      (stage.columns, stage.rows) = (columns, rows)
      let seen = words(stage)
      #expect(
        seen.contains("Others changed the file since it was read:"), "\(columns)x\(rows): \(stage.screen)")
      #expect(seen.contains("o overwrite theirs"), "\(columns)x\(rows): \(stage.screen)")
      #expect(seen.lowercased().contains("esc do not save"), "\(columns)x\(rows): \(stage.screen)")
    }
    (stage.columns, stage.rows) = (50, 12)
    stage.press("esc ctrl-s o")
    stage.app.state.message = .init(
      "recovered 3 unsaved edits; undo takes them back; the file was changed by others after those edits began"
    )
    #expect(words(stage).contains("changed by others after those edits began"), "\(stage.screen)")
  }

  /// No answer would make a save over a folder possible.
  @Test(arguments: ["save", "export"]) func aFolderIsRefusedWithoutAQuestion(verb: String) throws {
    let place = try Place()
    let stage = Stage.demo()
    stage.press(":")
    stage.type("\(verb) \(place.path)")
    stage.press("enter")
    #expect(stage.message == "\(place.path): not a plain file" && !(stage.app.state.overlay is Question))
  }

  @Test func anotherFileIsAskedAboutAtThePrompt() throws {
    let place = try Place()
    let stage = Stage.demo()
    try stage.session.save(as: place.path + "/a.patch")
    let letter = place.path + "/letter.txt"
    try "dear".write(toFile: letter, atomically: false, encoding: .utf8)
    stage.press(":")
    stage.type("save \(letter)")
    stage.press("enter")
    #expect(
      words(stage).contains(
        "There is another file of that name: letter.txt PATCH o overwrite it Esc do not save"))
    stage.press("esc")
    #expect(try read(letter) == "dear")
    // Quitting waits for the answer.
    let (other, path) = try changedStage("b.patch", in: place)
    other.press("q y")
    #expect(other.app.wish == .none)
    other.press("o")
    #expect(other.app.wish == .quit)
    #expect(try read(path).contains("node piano"))
  }

  @Test func editsThatAreNotSafeAreMarkedForAsLongAsThatLasts() throws {
    var scene = Scene()
    scene.status.journalFault = "No space left on device"
    scene.status.muted = ["somebody"]
    for name in ["a.patch", String(repeating: "long", count: 50) + ".patch"] {
      scene.fileName = name
      scene.isModified = true
      for columns in [60, 80, 130] {
        let row = Views.draw(scene, ViewState(), columns: columns, rows: 12).text.split(separator: "\n")[0]
        #expect(row.contains("NOT SAFE FROM A CRASH: No space left on device"), "\(columns): \(row)")
      }
      #expect(Views.draw(scene, ViewState(), columns: 50, rows: 12).text.contains("NOT SAFE FROM A CRASH"))
    }
    // Later it leaves room for the figures, where there is little.
    var state = ViewState()
    state.isFaultKnown = true
    scene.fileName = "a.patch"
    let late = Views.draw(scene, state, columns: 80, rows: 12).text.split(separator: "\n")[0]
    #expect(late.contains("NOT SAFE") && late.contains("load") && late.contains("muted somebody"), "\(late)")
    #expect(Views.draw(scene, state, columns: 160, rows: 12).text.contains("CRASH: No space left on device"))
    #expect(scene.state(of: nil).contains("not safe from a crash: No space left on device"))
    scene.status.isDisturbed = true
    scene.status.driverMessage = "JACK server gone"
    let row = Views.draw(scene, ViewState(), columns: 60, rows: 12).text.split(separator: "\n")[0]
    #expect(row.contains("NOT SAFE FROM A CRASH"))
    scene.status.journalFault = nil
    #expect(!Views.draw(scene, ViewState(), columns: 60, rows: 12).text.contains("NOT SAFE"))
  }
}
