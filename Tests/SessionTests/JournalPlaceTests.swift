import Foundation
import Patch
import Testing

@testable import Session

/// Other files in a journal's place, and the journals that belong to a patch.
@MainActor @Suite struct JournalPlaceTests {
  private static let edit = "node extra gain"

  @Test func aLinkInTheJournalsPlaceLeadsNobodyToEmptyAFile() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let precious = try folder.file("precious.txt", "years of work\n")
    let journal = folder.path + "/.a.patch.journal"
    try FileManager.default.createSymbolicLink(atPath: journal, withDestinationPath: "precious.txt")
    var session: Session? = try open(path)
    #expect(session?.takeNotices().words.contains { $0.contains("is no plain file") } == true)
    try session?.perform(Self.edit)
    let edited = canonical(try #require(session))
    session = nil
    #expect(try text(precious) == "years of work\n")
    #expect(folder.names.contains(".a.patch.journal.1"))
    let next = try open(path)
    #expect(canonical(next) == edited, "the session had no journal of its own")
    next.close()
  }

  @Test(arguments: [
    "a shopping list\nmilk\n", "sostenuto-journal 3\nmagic\n", String(repeating: "\0", count: 5000), "x",
  ])
  func whatIsNoJournalStaysAsItIs(content: String) throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    _ = try folder.file(".a.patch.journal", content)
    let session = try open(path)
    #expect(session.takeNotices().words.contains { $0.contains(".a.patch.journal.1") })
    try session.perform(Self.edit)
    try session.save()
    session.close()
    #expect(folder.names == [".a.patch.journal.1", "a.patch"])
    #expect(try text(folder.path + "/.a.patch.journal.1") == content)
  }

  @Test func foldersPipesAndFilesOfTwoNamesAreSetAside() throws {
    for kind in 0..<3 {
      let folder = try Folder()
      let path = try folder.file("a.patch", JournalTests.patch)
      let journal = folder.path + "/.a.patch.journal"
      switch kind {
      case 0: try FileManager.default.createDirectory(atPath: journal, withIntermediateDirectories: false)
      case 1: #expect(mkfifo(journal, 0o600) == 0)
      default: #expect(link(try folder.file("mine", "sostenuto-journal 2\n| sostenuto 1\n"), journal) == 0)
      }
      let session = try open(path)
      #expect(session.journalFault == nil)
      #expect(folder.names.contains(".a.patch.journal.1"), "kind \(kind)")
      try session.perform(Self.edit)
      session.close()
    }
  }

  @Test func theFirstRecordThatWasCutOffIsNoJournal() throws {
    // No edit in it was acknowledged.
    for cut in ["s", "sostenuto-journal", "sostenuto-journal 2", "sostenuto-journal 2\n| sosten"] {
      let folder = try Folder()
      let path = try folder.file("a.patch", JournalTests.patch)
      _ = try folder.file(".a.patch.journal", cut)
      var session: Session? = try open(path)
      #expect(session?.takeNotices().isEmpty == true, "\(cut)")
      try session?.perform(Self.edit)
      session = nil
      let next = try open(path)
      #expect(next.undoList == [Self.edit], "\(cut)")
      next.close()
      #expect(folder.names == ["a.patch"])
    }
  }

  @Test func aRecordAfterATornOneIsWhole() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("set tone.level -20dB")
    session = nil
    let handle = try #require(FileHandle(forWritingAtPath: folder.path + "/.a.patch.journal"))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("edit node torn ga".utf8))
    try handle.close()
    session = try open(path)
    try session?.perform(Self.edit)
    let edited = canonical(try #require(session))
    session = nil
    let next = try open(path)
    #expect(canonical(next) == edited)
    #expect(next.undoList == [Self.edit, "set tone.level -20dB"])
    next.close()
  }

  /// Editors of others leave the last line without an end.
  @Test(arguments: ["\n", ""]) func editsComeAlongWhenThePatchIsRenamed(end: String) throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", String(JournalTests.patch.dropLast()) + end)
    _ = try folder.file("other.patch", JournalTests.patch + "\n# other\n")
    var session: Session? = try open(path)
    try session?.perform(Self.edit)
    let edited = canonical(try #require(session))
    session = nil
    try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/b.patch")
    // The journal is not used for another patch.
    session = try open(folder.path + "/other.patch")
    #expect(session?.isModified == false)
    #expect(session?.takeNotices().words.contains { $0.contains("`a.patch` is not there") } == true)
    session?.close()
    session = try open(folder.path + "/b.patch")
    #expect(canonical(try #require(session)) == edited)
    #expect(session?.takeNotices().words.contains { $0.contains("edits of `a.patch`") } == true)
    #expect(folder.names == [".b.patch.journal", "b.patch", "other.patch"])
    // From now on the journals belong to this patch.
    session = nil
    let next = try open(folder.path + "/b.patch")
    #expect(canonical(next) == edited)
    next.close()
  }

  @Test func whatKilledSavesLeftIsClearedAwayAndNothingElse() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let dead = Process()
    dead.executableURL = URL(fileURLWithPath: "/bin/true")
    try dead.run()
    dead.waitUntilExit()
    let gone = dead.processIdentifier
    for name in [".a.patch.\(gone).new", ".a.patch.journal.\(gone).new"] { _ = try folder.file(name, "half") }
    let kept = [".a.patch.\(getpid()).new", ".a.patch.new", ".b.patch.\(gone).new", ".a.patch.x.new"]
    for name in kept { _ = try folder.file(name, "other") }
    let session = try open(path)
    session.close()
    #expect(folder.names == (kept + ["a.patch"]).sorted())
  }

  @Test func aTerminalThatIsClosedLeavesNoEmptyJournal() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let session = try open(path)
    session.close(keepingEdits: true)
    #expect(folder.names == ["a.patch"])
    let other = try open(path)
    try other.perform(Self.edit)
    other.close(keepingEdits: true)
    #expect(folder.names == [".a.patch.journal", "a.patch"])
    let next = try open(path)
    #expect(next.undoList == [Self.edit])
    next.close()
  }

  @Test(arguments: [240, 247, 250, 255])
  func aNameThatIsAsLongAsTheyCanBeIsSavedAndRecovered(length: Int) throws {
    let folder = try Folder()
    for letter in ["a", "é"] {
      let count = (length - 6) / letter.utf8.count
      let name = String(repeating: letter, count: count) + ".patch"
      let path = try folder.file(name, JournalTests.patch)
      var session: Session? = try open(path)
      #expect(session?.takeNotices().isEmpty == true)
      try session?.perform(Self.edit)
      session = nil
      let next = try open(path)
      #expect(next.undoList == [Self.edit])
      try next.save()
      #expect(try text(path) == canonical(next))
      next.close()
      #expect(folder.names == [name])
      try FileManager.default.removeItem(atPath: path)
    }
  }
}
