import Foundation
import Testing

@testable import Session

/// A journal that cannot be written, and recovers.
@Suite struct FullDiskTests {
  @Test func aJournalThatFailedBeginsAnewWhenThereIsRoom() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    func worker() throws -> Worker {
      let worker = try Worker(stateFolder: home.path + "/state")
      #expect(try worker.ask("open \(path)") == "opened")
      return worker
    }
    let first = try worker()
    #expect(try first.ask("do node a gain") == "done")
    #expect(try first.ask("limit 10") == "done")
    #expect(try first.ask("do node b gain") == "unsafe")
    #expect(try first.ask("do node c gain") == "unsafe")
    // The lock is still held: no other session may save meanwhile.
    let other = try Worker(stateFolder: home.path + "/state")
    #expect(try other.ask("open \(path)") == "locked")
    other.kill()
    #expect(try first.ask("limit 0") == "done")
    while try first.ask("tick") != "done" {}
    let edited = try first.text("text")
    #expect(edited.contains("node c gain"))
    #expect(try first.text("notices").contains("safe from a crash again"))
    first.kill()

    let second = try worker()
    #expect(try second.text("text") == edited)
    #expect(try second.ask("do undo") == "done")
    #expect(!(try second.text("text")).contains("node c gain"), "the history was lost")
    second.kill()
  }

  @Test func whatWasSavedIsNotTakenBackByAnOlderJournal() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    let first = try Worker(stateFolder: home.path + "/state")
    #expect(try first.ask("open \(path)") == "opened")
    #expect(try first.ask("do node a gain") == "done")
    try first.ask("limit 10")
    #expect(try first.ask("do node b gain") == "unsafe")
    try first.ask("limit 0")
    try first.send("save")
    #expect(first.next() == "saving" && first.next() == "saved")
    let saved = try first.text("text")
    first.kill()
    let second = try Worker(stateFolder: home.path + "/state")
    #expect(try second.ask("open \(path)") == "opened")
    #expect(try second.text("text") == saved)
    #expect(try second.text("notices") == "")
    second.kill()
  }

  @Test func theSecondSessionKeepsEditsSafeOnceTheFirstIsGone() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    let first = try Worker(stateFolder: home.path + "/state")
    #expect(try first.ask("open \(path)") == "opened")
    let second = try Worker(stateFolder: home.path + "/state")
    #expect(try second.ask("open \(path)") == "locked")
    #expect(try second.ask("do node b gain") == "unsafe")
    first.kill()
    while try second.ask("tick") != "done" {}
    let edited = try second.text("text")
    second.kill()
    let third = try Worker(stateFolder: home.path + "/state")
    #expect(try third.ask("open \(path)") == "opened")
    #expect(try third.text("text") == edited)
    third.kill()
  }
}
