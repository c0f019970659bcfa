import Engine
import Foundation
import PatchLanguage
import Testing

@testable import Session

@MainActor @Suite struct EditTests {
  @Test(arguments: [
    "remove nobody", "connect tone -> out.nowhere", "set tone.level loud", "node tone gain", "frobnicate",
    "node a gain ; remove nobody", "node a gain ; note tone on C4 100 ; remove nobody",
  ])
  func aRefusedLineChangesNothing(line: String) throws {
    let folder = try Folder()
    let session = try open(try folder.file("a.patch", JournalTests.patch))
    try session.perform("set tone.level -20dB")
    let before = session.patch
    #expect(throws: Diagnostic.self) { try session.perform(line) }
    #expect(session.patch == before)
    #expect(session.undoList == ["set tone.level -20dB"])
    session.close(keepingEdits: true)
    let next = try open(folder.path + "/a.patch")
    #expect(next.undoList == ["set tone.level -20dB"])
    next.close()
  }

  /// That a file cannot be made is known only when the line has been performed in part.
  @Test func aLineThatIsRefusedAtItsEndLeavesHistoryAndJournalAsTheyWere() throws {
    let folder = try Folder()
    let session = try open(try folder.file("a.patch", JournalTests.patch))
    try session.perform("set tone.level -20dB")
    try session.perform("set tone.level -30dB")
    try session.undo()
    let before = session.patch
    for edits in ["node a gain", "undo ; node a gain ; undo ; node b gain", "redo", "undo ; redo ; redo"] {
      #expect(throws: Diagnostic.self) {
        try session.perform("\(edits) ; record tone \(folder.path)/none/x.wav")
      }
      #expect(session.patch == before, "\(edits)")
      #expect(session.undoList == ["set tone.level -20dB"] && session.redoList == ["set tone.level -30dB"])
    }
    session.close(keepingEdits: true)
    let next = try open(folder.path + "/a.patch")
    #expect(next.undoList == ["set tone.level -20dB"] && next.redoList == ["set tone.level -30dB"])
    next.close()
  }

  @Test func undoAndRedoAreExact() throws {
    let folder = try Folder()
    let session = try open(try folder.file("a.patch", JournalTests.patch))
    let first = session.patch
    try session.perform("insert dist distortion into tone -> out ; set dist.drive 30dB")
    try session.perform("replace dist equalizer")
    let last = session.patch
    #expect(try session.undo() == "replace dist equalizer")
    #expect(try session.undo() != nil)
    #expect(try session.undo() == nil)
    #expect(session.patch == first)
    #expect(!session.isModified)
    #expect(try session.redo() != nil)
    #expect(try session.redo() != nil)
    #expect(try session.redo() == nil)
    #expect(session.patch == last)
    session.close()
  }

  @Test func stepsThatAreNotThereAreToldOnce() throws {
    let folder = try Folder()
    let session = try open(try folder.file("a.patch", JournalTests.patch))
    #expect(try session.perform("undo ; undo ; undo ; undo") == "nothing to undo")
    try session.perform("set tone.level -20dB")
    #expect(try session.perform("undo ; undo ; undo") == "undone: set tone.level -20dB ; nothing to undo")
    #expect(try session.perform("redo ; redo ; redo") == "redone: set tone.level -20dB ; nothing to redo")
    session.close()
  }

  @Test func anErrorNamesItsPlace() throws {
    let session = try open(repository + "/Patches/basics/01-tone.patch")
    let error = #expect(throws: Diagnostic.self) {
      try session.perform("remove tonne", file: "a.script", line: 7, column: 9)
    }
    #expect(error?.description == "a.script:7:16: error: no node `tonne`; did you mean `tone`?")
    session.close()
  }

  @Test func aMissingInstrumentIsAPlaceholderWithItsReason() throws {
    let folder = try Folder()
    let path = try folder.file(
      "a.patch",
      "sostenuto 1\nnode piano sampler instrument=none.sfz\nnode out output\nconnect piano -> out\n")
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(path)
    try session.renderOneBlock()
    let node = try #require(session.report.nodes.first { $0.name == "piano" })
    guard case .placeholder(let reason) = node.state else {
      Issue.record("\(node.state)")
      return
    }
    #expect(reason.contains("none.sfz"))
    #expect(session.takeNotices().words.contains { $0.contains("none.sfz") })
  }

  @Test func instrumentsLoadInTheBackgroundAndAreSharedAndComeBackWithUndo() async throws {
    let folder = try Folder()
    let session = try open(try folder.file("a.patch", "sostenuto 1\n"))
    let organ = repository + "/Instruments/organ/organ.sfz"
    try session.perform("node one sampler instrument=\(organ)")
    try session.perform("node two sampler instrument=\(organ)")
    while !session.isLoaded {
      session.tick()
      await Task.yield()
    }
    func loads() -> [String] {
      session.trace(since: 0).compactMap { if case .loaded = $0.happening { $0.name } else { nil } }
    }
    #expect(loads().sorted() == ["one", "two"])
    try session.undo()
    try session.redo()
    // Known already: nothing to wait for.
    #expect(session.isLoaded)
    session.close()
  }
}
