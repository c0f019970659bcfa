import Engine
import Foundation
import Patch
import PatchLanguage
import Testing

@testable import Session

/// Patch files changed by other programs while open.
@MainActor @Suite struct VersionTests {
  static let theirs = JournalTests.patch + "\nnode theirs gain\n"

  @Test func aChangeOfEqualSizeAndTimeIsSeen() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let session = try open(path)
    try session.perform("node extra gain")
    var info = stat()
    #expect(stat(path, &info) == 0)
    let foreign = JournalTests.patch.replacing("tone", with: "toff")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data(foreign.utf8))
    try handle.close()
    var times = [info.st_atim, info.st_mtim]
    #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    for _ in 0..<3 { #expect(throws: FileError.self) { try session.save() } }
    #expect(try text(path) == foreign)
    session.close()
  }

  @Test func aFileThatOthersMadeMeanwhileIsNotOverwritten() throws {
    let folder = try Folder()
    let path = folder.path + "/new.patch"
    let session = try open(path)
    try session.perform("node extra gain")
    _ = try folder.file("new.patch", Self.theirs)
    #expect(throws: FileError.self) { try session.save() }
    #expect(try text(path) == Self.theirs)
    // A file that was deleted is created again.
    try FileManager.default.removeItem(atPath: path)
    try session.save()
    #expect(try text(path) == canonical(session))
    session.close()
  }

  @Test func reloadingTakesTheirsAndUndoBringsYoursBack() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("node mine gain")
    let mine = canonical(try #require(session))
    let tone = session?.patch.id(named: "tone")
    _ = try folder.file("a.patch", Self.theirs)
    _ = try session?.reload()
    #expect(canonical(try #require(session)) == Self.theirs)
    #expect(session?.isModified == false)
    #expect(session?.patch.id(named: "tone") == tone, "a node that stays was replaced")
    try session?.undo()
    #expect(canonical(try #require(session)) == mine)
    // The state restored by undo is unsaved again, and in the journal.
    session = nil
    session = try open(path)
    #expect(canonical(try #require(session)) == mine)
    #expect(session?.takeNotices().words.contains { $0.contains("others") } == false)
    try session?.save()
    session?.close()
  }

  @Test func mergingKeepsBothAndIsSavedWhenAskedFor() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("node mine gain")
    _ = try folder.file("a.patch", Self.theirs)
    let said = try session?.merge() ?? ""
    #expect(said.hasPrefix("merged with"), "\(said)")
    #expect(session?.patch.names == ["tone", "out", "mine", "theirs"])
    #expect(session?.isModified == true)
    #expect(try text(path) == Self.theirs)
    session = nil
    session = try open(path)
    #expect(session?.patch.names == ["tone", "out", "mine", "theirs"])
    #expect(session?.takeNotices().words.contains { $0.contains("others") } == false)
    try session?.save()
    #expect(try text(path) == canonical(try #require(session)))
    session?.close()
  }

  @Test func ofWhatBothChangedYoursStaysAndTheConflictIsSaid() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let session = try open(path)
    try session.perform("set tone.freq 100Hz")
    _ = try folder.file("a.patch", JournalTests.patch.replacing("oscillator", with: "oscillator freq=200Hz"))
    let said = try session.merge()
    #expect(said.hasPrefix("1 conflict, yours kept (`tone.freq`"), "\(said)")
    #expect(canonical(session).contains("freq=100Hz"))
    #expect(try text(path).contains("freq=200Hz"))
    session.close()
  }

  @Test func editsRecoveredOverAFileThatOthersChangedCanBeMerged() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("node mine gain")
    session = nil
    _ = try folder.file("a.patch", Self.theirs)
    session = try open(path)
    #expect(throws: FileError.self) { try session?.save() }
    _ = try session?.merge()
    #expect(session?.patch.names == ["tone", "out", "mine", "theirs"])
    try session?.save()
    session?.close()
  }

  @Test func bytesThatAreNoTextAreKeptBeside() throws {
    let folder = try Folder()
    let path = folder.path + "/a.patch"
    let bytes = Array("sostenuto 1\n# caf\u{e9}\n\nnode out output\n".unicodeScalars.map { UInt8($0.value) })
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let session = try open(path)
    #expect(session.takeNotices().words.contains { $0.contains("not UTF-8") })
    try session.perform("node a gain")
    #expect(throws: FileError.self) { try session.save() }
    #expect(try session.save(despite: [.unread(lines: 0)]).contains("a.patch~"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "~")) == Data(bytes))
    session.close()
  }
}
