import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// A session released without `close` acts like a killed one: it writes nothing more to disk.
@MainActor @Suite struct JournalTests {
  nonisolated static let patch = """
    sostenuto 1

    node tone oscillator

    node out output
    connect tone -> out

    """

  @Test func aKilledSessionLosesNoEdit() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("insert dist distortion drive=20dB into tone -> out")
    try session?.perform("set dist.drive 3dB over 2s ; layout dist 3,4")
    try session?.perform("comment dist \"warm\"")
    try session?.perform("remove tone")
    try session?.undo()
    let edited = canonical(try #require(session))
    let undoList = session?.undoList
    session = nil

    let next = try open(path)
    #expect(canonical(next) == edited)
    #expect(next.isModified)
    #expect(next.undoList == undoList)
    #expect(next.redoList == ["remove tone"])
    #expect(next.takeNotices().words.contains { $0.hasPrefix("recovered 5 unsaved edits") })
    while try next.undo() != nil {}
    #expect(canonical(next) == Self.patch)
    #expect(try text(path) == Self.patch)
    next.close()
    #expect(folder.names == ["a.patch"])
  }

  @Test func aGestureIsOneEditAlsoAfterACrash() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("set tone.freq 300Hz")
    let step = Edit.set("tone", ParameterPath("level"), .number(-20, .decibels), over: nil)
    try session?.perform(step)
    for level in [-21.0, -22, -23] {
      let next = Edit.set("tone", ParameterPath("level"), .number(level, .decibels), over: nil)
      try session?.perform(next, amending: session?.newestEdit)
    }
    #expect(session?.undoList == ["set tone.level -23dB", "set tone.freq 300Hz"])
    let edited = canonical(try #require(session))
    session = nil

    let next = try open(path)
    #expect(canonical(next) == edited)
    #expect(next.takeNotices().words.contains { $0.hasPrefix("recovered 2 unsaved edits") })
    #expect(try next.undo() == "set tone.level -23dB")
    #expect(try next.undo() == "set tone.freq 300Hz")
    #expect(canonical(next) == Self.patch)
    #expect(try next.redo() != nil && next.redo() != nil)
    #expect(canonical(next) == edited)
    // Only the newest edit can be amended.
    let old = next.newestEdit
    try next.perform("set tone.freq 200Hz")
    try next.perform(step, amending: old)
    #expect(next.undoList.count == 4)
    next.close()
  }

  @Test func aLineThatWasBeingWrittenIsLeftOut() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("set tone.level -20dB")
    session = nil
    let journal = folder.path + "/.a.patch.journal"
    let handle = try #require(FileHandle(forWritingAtPath: journal))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("edit set tone.lev".utf8))
    try handle.close()

    let next = try open(path)
    #expect(next.undoList == ["set tone.level -20dB"])
    next.close()
  }

  @Test func undoneBeyondTheSavedStateIsRecovered() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    try session?.perform("node b gain")
    try session?.save()
    try session?.undo()
    try session?.undo()
    try session?.redo()
    try session?.perform("node c gain")
    try session?.undo()
    let edited = canonical(try #require(session))
    session = nil
    let next = try open(path)
    #expect(canonical(next) == edited)
    next.close()
  }

  @Test func editsComeBackWhateverTheLinesOfTheFileEndWithAndHoweverItIsWritten() throws {
    let folder = try Folder()
    let written =
      "sostenuto 1\r\n# of old\r\n\r\nnode out output\r\nnode tone  oscillator freq=300\r\n connect tone->out"
    let path = try folder.file("a.patch", written)
    var session: Session? = try open(path)
    let before = canonical(try #require(session))
    try session?.perform("set tone.level -20dB")
    try session?.perform("insert dist distortion into tone -> out")
    let edited = canonical(try #require(session))
    session = nil

    session = try open(path)
    #expect(canonical(try #require(session)) == edited)
    let notices = session?.takeNotices().words ?? []
    #expect(notices.count == 1 && notices[0].hasPrefix("recovered 2 unsaved edits"), "\(notices)")
    while try session?.undo() != nil {}
    #expect(canonical(try #require(session)) == before)
    // Later edits are based on the saved document.
    try session?.perform("node a gain")
    try session?.save()
    try session?.perform("node b gain")
    let later = canonical(try #require(session))
    session = nil
    let next = try open(path)
    #expect(canonical(next) == later)
    next.close()
    #expect(folder.names == ["a.patch"])
  }

  @Test func savingEmptiesTheJournal() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    try session?.save()
    session = nil
    let next = try open(path)
    #expect(!next.isModified)
    #expect(next.takeNotices().isEmpty)
    next.close()
  }

  @Test func editsToAVersionThatIsGoneComeBackAndAreNotSavedOverTheNewOne() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    let edited = canonical(try #require(session))
    session = nil
    let foreign = Self.patch + "\nnode b gain\n"
    _ = try folder.file("a.patch", foreign)

    let next = try open(path)
    #expect(canonical(next) == edited)
    #expect(next.takeNotices().words.contains { $0.contains("changed by others") })
    #expect(throws: FileError.self) { try next.save() }
    #expect(try text(path) == foreign)
    // A second attempt changes nothing: the user must decide about the other version.
    #expect(throws: FileError.self) { try next.save() }
    try next.save(despite: [.changed])
    #expect(try text(path) == edited)
    next.close()
  }

  @Test func revertGoesBackToTheFile() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    session = nil
    let next = try open(path)
    #expect(next.isModified)
    try next.revert()
    #expect(!next.isModified)
    #expect(canonical(next) == Self.patch)
    next.close()
    let last = try open(path)
    #expect(!last.isModified)
    last.close()
  }

  @Test func theSecondSessionIsToldAndDoesNotOverwrite() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    let first = try open(path)
    let second = try open(path)
    #expect(!first.isLocked)
    #expect(second.isLocked)
    #expect(second.takeNotices().words.contains { $0.contains("another session") })
    try second.perform("node b gain")
    #expect(throws: FileError.self) { try second.save() }
    #expect(try text(path) == Self.patch)
    try second.save(as: folder.path + "/b.patch")
    #expect(!second.isLocked)
    first.close()
    second.close()
    #expect(folder.names == ["a.patch", "b.patch"])
  }

  /// The second session's edits are then safe, and the first's lie beside them.
  @Test func aSessionThatIsKilledLeavesTheOtherOneToGoOn() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var first: Session? = try open(path)
    var second: Session? = try open(path)
    try first?.perform("node b gain")
    try second?.perform("node c gain")
    first = nil
    let end = ContinuousClock.now + .seconds(20)
    while second?.journalFault != nil, ContinuousClock.now < end {
      second?.tick()
      sched_yield()
    }
    #expect(second?.journalFault == nil)
    #expect(
      second?.takeNotices().words.contains { $0.contains("its journal is kept as .a.patch.journal.1") }
        == true)
    try second?.perform("node d gain")
    let edited = canonical(try #require(second))
    second = nil
    #expect(try text(folder.path + "/.a.patch.journal.1").contains("node b gain"))
    let third = try open(path)
    #expect(canonical(third) == edited)
    try third.save()
    third.close()
    #expect(folder.names == [".a.patch.journal.1", "a.patch"])
  }

  @Test(arguments: searchSeeds(1, 2, 3))
  func whateverIsDoneTheJournalBringsItBack(seed: UInt64) throws {
    print("seed \(seed)")
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.patch)
    var session: Session? = try open(path)
    var edits = RandomLines(seed: seed, of: try #require(session).patch)
    for step in 0..<150 {
      try session?.perform(edits.next())
      if step % 40 == 17 { try session?.save() }
      if step % 25 == 24 {
        let before = canonical(try #require(session))
        session = nil
        session = try open(path)
        #expect(canonical(try #require(session)) == before, "seed \(seed), step \(step)")
        edits.draft = Draft(try #require(session).patch, history: try #require(session).history)
      }
    }
    session?.close()
  }
}
