import Engine
import Foundation
import Patch
import Testing

@testable import Session

/// The open file, while an editor writes into it.
@MainActor @Suite struct FileWatchTests {
  static let patch = """
    sostenuto 1

    node tone oscillator freq=220Hz

    node dist distortion drive=18dB
    connect tone -> dist

    node out output
    connect dist -> out

    """

  /// A session that looks at its file when the test says so.
  @MainActor private final class Desk {
    let folder: Folder
    let path: String
    let session: Session
    private var time: Int64 = 1

    init(_ text: String = FileWatchTests.patch) throws {
      folder = try Folder()
      path = try folder.file("a.patch", text)
      var options = SessionOptions()
      options.followsFile = true
      session = Session(options: options)
      try session.open(path)
      look()
    }

    deinit { MainActor.assumeIsolated { session.close() } }

    /// As many looks as a change needs, and half a second more.
    func look(_ count: Int = 7) {
      for _ in 0..<count {
        session.followFile(now: time)
        time += FileWatch.interval
      }
    }

    var told: String { session.takeNotices().words.joined(separator: "; ") }

    func replace(_ old: String, _ new: String) throws -> String {
      try text(path).replacing(old, with: new)
    }
  }

  /// Ways in which programs write a file.
  enum Way: CaseIterable { case inPlace, byRename, byBackup, inTwoParts }

  private func write(_ text: String, to desk: Desk, _ way: Way) throws {
    let path = desk.path
    switch way {
    case .inPlace: try text.write(toFile: path, atomically: false, encoding: .utf8)
    case .byRename:
      try text.write(toFile: path + ".new", atomically: false, encoding: .utf8)
      #expect(rename(path + ".new", path) == 0)
    case .byBackup:
      #expect(rename(path, path + "~") == 0)
      desk.look(1)
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    case .inTwoParts:
      try "".write(toFile: path, atomically: false, encoding: .utf8)
      desk.look(2)
      try String(text.prefix(text.count / 2)).write(toFile: path, atomically: false, encoding: .utf8)
      desk.look(1)
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
  }

  @Test(arguments: Way.allCases)
  func aChangeByAnEditorIsOneEdit(way: Way) throws {
    let desk = try Desk()
    let before = desk.session.patch
    let text = try desk.replace("drive=18dB", "drive=6dB") + "\nnode eq equalizer\n"
    try write(text, to: desk, way)
    desk.look()
    #expect(canonical(desk.session) == text)
    #expect(desk.session.undoList.count == 1)
    #expect(!desk.session.isModified)
    #expect(desk.told == "a.patch was changed by others: dist, eq; undo takes it back")
    let marked = desk.session.changedByOthers.compactMap { desk.session.patch[$0]?.name }
    #expect(Set(marked) == ["dist", "eq"])
    desk.look(80)
    #expect(desk.session.changedByOthers.isEmpty)
    #expect(desk.told == "")
    _ = try desk.session.undo()
    #expect(desk.session.patch == before && desk.session.isModified)
    _ = try desk.session.redo()
    #expect(!desk.session.isModified)
  }

  @Test func whatWeSaveIsNoChangeByOthers() throws {
    let desk = try Desk()
    try desk.session.perform("set dist.drive 3dB")
    try desk.session.save()
    desk.look()
    #expect(desk.told == "" && desk.session.undoList.count == 1)
    // Nor is a new time of the same bytes.
    try text(desk.path).write(toFile: desk.path, atomically: true, encoding: .utf8)
    desk.look()
    #expect(desk.told == "" && desk.session.undoList.count == 1)
  }

  @Test func aBrokenFileIsToldWithItsLineAndChangesNothing() throws {
    let desk = try Desk()
    let before = desk.session.patch
    try write(try desk.replace("drive=18dB", "drvie=6dB"), to: desk, .inPlace)
    desk.look()
    #expect(desk.session.patch == before)
    let told = desk.told
    #expect(told.hasPrefix("a.patch:5:22: error: "), "\(told)")
    #expect(told.hasSuffix("; the patch stays as it is"))
    desk.look(40)
    #expect(desk.told == "")
    try write(try desk.replace("drvie=6dB", "drive=6dB"), to: desk, .byRename)
    desk.look()
    #expect(canonical(desk.session).contains("drive=6dB"))
  }

  @Test func aFileThatIsEmptiedOrRemovedLeavesThePatch() throws {
    let desk = try Desk()
    let before = desk.session.patch
    try "".write(toFile: desk.path, atomically: false, encoding: .utf8)
    desk.look(FileWatch.patience + 2)
    #expect(desk.told == "a.patch is empty: the patch stays, and saving writes it again")
    try FileManager.default.removeItem(atPath: desk.path)
    desk.look(FileWatch.patience + 2)
    #expect(desk.told == "a.patch is gone: the patch stays, and saving writes it again")
    #expect(desk.session.patch == before)
    _ = try desk.folder.file("a.patch", Self.patch + "\nnode eq equalizer\n")
    desk.look()
    #expect(desk.session.patch.names.contains("eq"))
  }

  @Test func changesOfBothSidesAreMerged() throws {
    let desk = try Desk()
    try desk.session.perform("set tone.freq 330Hz")
    try write(try desk.replace("drive=18dB", "drive=6dB"), to: desk, .byRename)
    desk.look()
    #expect(desk.session.versionConflict == nil)
    let text = canonical(desk.session)
    #expect(text.contains("freq=330Hz") && text.contains("drive=6dB"))
    #expect(desk.session.isModified && desk.session.undoList.count == 2)
    // Saving asks nothing.
    try desk.session.save()
    #expect(try Self.isEqual(desk.path, text))
  }

  private static func isEqual(_ path: String, _ wanted: String) throws -> Bool { try text(path) == wanted }

  @Test func aContradictionWaitsForAChoice() throws {
    for takesTheirs in [true, false] {
      let desk = try Desk()
      try desk.session.perform("set dist.drive 3dB")
      let ours = desk.session.patch
      try write(try desk.replace("drive=18dB", "drive=6dB"), to: desk, .inPlace)
      desk.look()
      #expect(desk.session.patch == ours)
      #expect(desk.session.versionConflict?.words == "`dist.drive` is 3dB here and 6dB there")
      _ = takesTheirs ? try desk.session.reload() : try desk.session.merge()
      #expect(desk.session.versionConflict == nil)
      #expect(canonical(desk.session).contains(takesTheirs ? "drive=6dB" : "drive=3dB"))
    }
  }

  @Test func aVersionIsTakenWhenItContradictsNothingAnyMore() throws {
    let desk = try Desk()
    try desk.session.perform("set dist.drive 3dB")
    try write(try desk.replace("drive=18dB", "drive=6dB"), to: desk, .inPlace)
    desk.look()
    let told = try #require(desk.session.versionConflict)
    _ = desk.told
    // Another edit is no reason to tell it again.
    try desk.session.perform("set tone.freq 330Hz")
    desk.look(5)
    #expect(desk.told == "" && desk.session.versionConflict == told)
    _ = try desk.session.undo()
    _ = try desk.session.undo()
    desk.look(5)
    #expect(desk.session.versionConflict == nil && desk.told.hasPrefix("a.patch was changed by others: dist"))
    #expect(canonical(desk.session).contains("drive=6dB") && !desk.session.isModified)
  }

  @Test func aLockedStageTakesItWhenItIsUnlocked() throws {
    let desk = try Desk()
    desk.session.holdsFileBack = true
    try write(try desk.replace("drive=18dB", "drive=6dB"), to: desk, .inPlace)
    desk.look(30)
    #expect(desk.told == "a.patch was changed by others: it waits until the stage is unlocked")
    #expect(canonical(desk.session).contains("drive=18dB"))
    desk.session.holdsFileBack = false
    desk.look()
    #expect(canonical(desk.session).contains("drive=6dB"))
  }

  @Test func aKilledSessionComesBackToWhatTheEditorWrote() throws {
    let desk = try Desk()
    try write(try desk.replace("drive=18dB", "drive=6dB"), to: desk, .inPlace)
    desk.look()
    try desk.session.perform("set tone.freq 330Hz")
    let wanted = canonical(desk.session)
    desk.session.journal = nil
    let again = try open(desk.path)
    #expect(canonical(again) == wanted)
    again.close()
  }
}
