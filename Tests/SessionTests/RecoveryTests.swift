import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Journals that cannot be replayed to their end, and long ones.
@MainActor @Suite struct RecoveryTests {
  /// A patch with an unknown kind, and with keywords as names.
  static let odd = """
    sostenuto 1

    # a comment
    node odd wobulator depth=3 file="a b.wav"

    # of layout
    node layout gain  # behind
    connect odd -> layout

    node out output
    connect layout -> out

    """

  @Test func editsThatCannotBeMadeAgainAreNamedAndKept() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    session = nil
    let journal = folder.path + "/.a.patch.journal"
    let handle = try #require(FileHandle(forWritingAtPath: journal))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("edit set nobody.gain 1dB\nedit node b gain\nnonsense\n".utf8))
    try handle.close()
    let written = try text(journal)

    session = try open(path)
    let told = session?.takeNotices().words ?? []
    #expect(
      told.contains { $0.contains("2 edits could not be restored") && $0.contains("nonsense") }, "\(told)")
    #expect(
      told.contains { $0.contains("set nobody.gain 1dB") && $0.contains(".a.patch.journal.1") }, "\(told)")
    #expect(session?.undoList == ["node b gain", "node a gain"])
    #expect(try text(journal + ".1") == written)
    // Reported once.
    session = nil
    session = try open(path)
    #expect(session?.takeNotices().words == ["recovered 2 unsaved edits; undo takes them back"])
    session?.close()
  }

  @Test func whereNothingCouldBeMadeAgainTheJournalIsKept() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let journal = "sostenuto-journal 1\n| sostenuto 1\nedit frobnicate\n"
    _ = try folder.file(".a.patch.journal", journal)
    let session = try open(path)
    #expect(
      session.takeNotices().words.contains { $0.contains("1 edit could not be restored (`frobnicate`)") })
    session.close()
    #expect(try text(folder.path + "/.a.patch.journal.1") == journal)
  }

  @Test func blocksThatNeverReachedTheDiskAreTold() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session? = try open(path)
    try session?.perform("node a gain")
    session = nil
    let journal = folder.path + "/.a.patch.journal"
    let zeros = String(repeating: "\0", count: 4096)
    try (try text(journal) + zeros + "\nedit node b gain\n").write(
      toFile: journal, atomically: false, encoding: .utf8)
    let next = try open(path)
    #expect(next.undoList == ["node b gain", "node a gain"])
    #expect(next.takeNotices().words.contains { $0.contains("could not be restored") })
    next.close()
  }

  @Test func anUndoPastASaveComesBackWhateverItBringsBack() throws {
    for line in [
      "remove odd", "replace odd gain", "comment layout \"other\" after \"words\"",
      "comment \"layout\" after \"only\"",
      "remove layout", "rename layout after", "rename odd layout2", "comment odd.depth \"why\"",
    ] {
      let folder = try Folder()
      let path = try folder.file("a.patch", Self.odd)
      var session: Session? = try open(path)
      let before = canonical(try #require(session))
      try session?.perform(line)
      let after = canonical(try #require(session))
      try session?.save()
      try session?.undo()
      #expect(canonical(try #require(session)) == before)
      session = nil
      session = try open(path)
      #expect(canonical(try #require(session)) == before, "\(line)")
      #expect(session?.takeNotices().words == ["recovered 1 unsaved edit; undo takes it back"])
      // As it says: what was saved, and there and back again after another crash.
      try session?.undo()
      #expect(canonical(try #require(session)) == after, "\(line)")
      try session?.redo()
      try session?.undo()
      session = nil
      session = try open(path)
      #expect(canonical(try #require(session)) == after, "\(line)")
      session?.close()
      // And an edit that is not undone.
      session = try open(path)
      #expect(canonical(try #require(session)) == after)
      try session?.perform("node layout3 gain ; comment layout3 after \"x\"")
      try session?.undo()
      try session?.redo()
      let edited = canonical(try #require(session))
      session = nil
      session = try open(path)
      #expect(canonical(try #require(session)) == edited)
      session?.close()
    }
  }

  @Test func aWeekOfEditsOpensAtOnceAndStaysSmall() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    var session: Session?
    let journal = folder.path + "/.a.patch.journal"
    var largest = 0
    // A driver must run: commands for the engine would pile up otherwise.
    var options = SessionOptions()
    options.driver.preference = .clock
    session = Session(options: options)
    try session?.open(path)
    session?.start()
    // Two of five edits are steps of a gesture, one is an edit of any kind.
    let count = ProcessInfo.processInfo.environment["SOSTENUTO_WEEK"].flatMap(Int.init) ?? 20_000
    for step in 0..<count {
      let level = Value.number(-Double(step % 500) / 10, .decibels)
      let edit = Edit.set("tone", ParameterPath("level"), level, over: nil)
      if step % 5 == 4, let patch = session?.patch {
        var lines = RandomLines(seed: UInt64(step), of: patch, keeping: ["tone"])
        try session?.perform(step % 65 == 4 ? "undo" : lines.next())
      } else {
        try session?.perform(edit, amending: step % 2 == 0 ? nil : session?.newestEdit)
      }
      if step % 50 == 0 { session?.tick() }
      if step % 1000 == 999 { largest = max(largest, try text(journal).utf8.count) }
    }
    session?.stop()
    #expect(largest < 300_000)
    #expect((session?.undoList.count ?? 0) <= History.depth + 250)
    try session?.undo()
    try session?.undo()
    let edited = canonical(try #require(session))
    let undoList = session?.undoList ?? []
    session = nil
    let start = ContinuousClock.now
    let next = try open(path)
    print("\(count) edits: journal of \(largest) bytes at most, opened in \(ContinuousClock.now - start)")
    #expect(canonical(next) == edited)
    #expect(next.undoList == undoList)
    #expect(next.redoList.count == 2)
    next.close()
  }

  @Test(arguments: searchSeeds(11, 12))
  func shorteningTheJournalLosesNothing(seed: UInt64) throws {
    print("seed \(seed)")
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.odd)
    var session: Session? = try open(path)
    var edits = RandomLines(seed: seed, of: try #require(session).patch, storesScenes: true)
    for step in 0..<240 {
      try session?.perform(edits.next())
      if step % 50 == 17 { try session?.save() }
      if step % 30 == 24 { try session?.rewriteJournal() }
      if step % 20 == 19 {
        let before = canonical(try #require(session))
        session = nil
        session = try open(path)
        #expect(canonical(try #require(session)) == before, "seed \(seed), step \(step)")
        #expect(
          session?.takeNotices().words.contains { $0.contains("could not") || $0.contains("others") } == false
        )
        edits.draft = Draft(try #require(session).patch, history: try #require(session).history)
      }
    }
    session?.close()
  }
}
