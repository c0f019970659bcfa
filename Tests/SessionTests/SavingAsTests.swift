import Foundation
import Patch
import Testing

@testable import Session

@MainActor @Suite struct SavingAsTests {
  private func obstacle(_ save: () throws -> Void) -> SaveObstacle.Reason? {
    do { try save() } catch { return (error as? FileError)?.obstacle?.reason }
    return nil
  }

  @Test func anotherFileIsNotOverwrittenUnasked() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let letter = try folder.file("letter.txt", "dear")
    let session = try open(path)
    try session.perform("node extra gain")
    #expect(obstacle { try session.save(as: letter) } == .exists)
    #expect(obstacle { try session.save(as: letter) } == .exists)
    #expect(try text(letter) == "dear")
    #expect(session.file == path)
    let other = try open(try folder.file("other.patch", JournalTests.patch))
    try other.perform("node theirs gain")
    #expect(obstacle { try session.save(as: folder.path + "/other.patch") } == .openElsewhere)
    #expect(
      obstacle { try session.save(as: folder.path + "/./other.patch", despite: [.exists]) } == .openElsewhere)
    other.close(keepingEdits: true)
    // Its edits were never saved: its journal is kept.
    try session.save(as: folder.path + "/other.patch", despite: [.exists])
    #expect(session.takeNotices().words.contains { $0.contains(".other.patch.journal.1") })
    #expect(try text(folder.path + "/.other.patch.journal.1").contains("node theirs gain"))
    session.close()
  }

  @Test func theSameFileByAnotherNameHasTheSameGuards() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.patch", withDestinationPath: "a.patch")
    let session = try open(path)
    try session.perform("node extra gain")
    let foreign = JournalTests.patch + "\n# someone else's\n"
    _ = try folder.file("a.patch", foreign)
    for name in [
      "/./a.patch", "/link.patch", "//a.patch", "/../\((folder.path as NSString).lastPathComponent)/a.patch",
    ] {
      #expect(obstacle { try session.save(as: folder.path + name) } == .changed, "\(name)")
      #expect(obstacle { try session.save(as: folder.path + name, despite: [.exists]) } == .changed)
      #expect(try text(path) == foreign)
    }
    try session.save(as: folder.path + "/./a.patch", despite: [.changed])
    #expect(session.file == path)
    session.close()
    #expect(folder.names == ["a.patch", "link.patch"])
  }

  /// The nodes are few enough for a test, and many enough to tell: with a comparison of whole scenes for each node of each it
  /// took a minute.
  @Test func manyNodesWithFilesInScenesAreSavedElsewhereAtOnce() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/there", withIntermediateDirectories: true)
    let count = 1500
    let path = try folder.file(
      "a.patch",
      "sostenuto 1\n" + (0..<count).map { "node p\($0) player file=s\($0).wav\n" }.joined()
        + "scene 1\nscene 2\nscene 2 set p7.file other.wav\n")
    let session = try open(path)
    let start = ContinuousClock.now
    try session.save(as: folder.path + "/there/b.patch")
    #expect(ContinuousClock.now - start < .seconds(30))
    let saved = try text(folder.path + "/there/b.patch")
    #expect(saved.contains("node p\(count - 1) player file=../s\(count - 1).wav\n"))
    #expect(saved.contains("scene 2 set p7.file ../other.wav\n"))
    // No other edits of scenes.
    #expect(saved.split(separator: "\n").filter { $0.hasPrefix("scene ") }.count == 3)
    session.close()
  }

  static let files = """
    sostenuto 1

    node far sampler instrument=/usr/share/none.sfz

    node here sampler instrument=samples/x.wav

    node up sampler instrument=../y.wav

    """

  @Test func aSaveThatFailsLeavesPathsAndJournalAsTheyWere() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", Self.files)
    var session: Session? = try open(path)
    try session?.perform("node extra gain")
    let before = canonical(try #require(session))
    #expect(throws: FileError.self) { try session?.save(as: folder.path + "/no/such/b.patch") }
    #expect(throws: FileError.self) { try session?.save(as: folder.path) }
    #expect(canonical(try #require(session)) == before)
    #expect(session?.file == path)
    try session?.perform("node more gain")
    let edited = canonical(try #require(session))
    session = nil
    let next = try open(path)
    #expect(canonical(next) == edited)
    next.close()
  }

  @Test func pathsStayRelativeInANeighbouringFolder() throws {
    let folder = try Folder()
    for name in ["one", "two/deep"] {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/" + name, withIntermediateDirectories: true)
    }
    let path = try folder.file("one/a.patch", Self.files)
    let session = try open(path)
    func instruments() -> [String] {
      session.patch.nodes.values.map { $0.settings[ParameterPath("instrument")]?.line ?? "" }
    }
    try session.save(as: folder.path + "/two/deep/a.patch")
    #expect(instruments() == ["/usr/share/none.sfz", "../../one/samples/x.wav", "../../y.wav"])
    try session.save(as: folder.path + "/b.patch")
    #expect(instruments() == ["/usr/share/none.sfz", "one/samples/x.wav", "y.wav"])
    try session.save(as: folder.path + "/one/a.patch", despite: [.exists])
    #expect(instruments() == ["/usr/share/none.sfz", "samples/x.wav", "../y.wav"])
    session.close()
  }

  @Test func bothNamesOfAFileStayInStep() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch + String(repeating: "# long\n", count: 50))
    #expect(link(path, folder.path + "/b.patch") == 0)
    let session = try open(path)
    for line in ["header \"short\"", "header \"\(String(repeating: "long ", count: 90))\"", "footer \"x\""] {
      try session.perform(line)
      try session.save()
      #expect(try text(path) == canonical(session))
      #expect(try text(folder.path + "/b.patch") == canonical(session))
    }
    session.close()
    #expect(folder.names == ["a.patch", "b.patch"])
  }

  @Test func aFileInAFolderThatTakesNothingIsSavedAndItsEditsAreSafe() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    let locked = home.path + "/locked"
    try FileManager.default.createDirectory(atPath: locked, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: path, toPath: locked + "/a.patch")
    try FileManager.default.createDirectory(atPath: home.path + "/state", withIntermediateDirectories: true)
    // Root may write anywhere, so another user does it.
    for name in ["", "/locked/a.patch", "/state"] { chmod(home.path + name, 0o777) }
    chmod(locked, 0o555)
    defer { chmod(locked, 0o755) }
    func worker() throws -> Worker {
      let worker = try Worker(stateFolder: home.path + "/state")
      if geteuid() == 0 { #expect(try worker.ask("user 65534") == "done") }
      return worker
    }
    let first = try worker()
    #expect(try first.ask("open \(locked)/a.patch") == "opened")
    #expect(try first.ask("do node extra gain") == "done")
    let edited = try first.text("text")
    first.kill()
    let second = try worker()
    #expect(try second.ask("open \(locked)/a.patch") == "opened")
    #expect(try second.text("text") == edited)
    #expect(try second.ask("save") == "saving")
    #expect(second.next() == "saved")
    #expect(try text(locked + "/a.patch") == edited)
    #expect(try FileManager.default.contentsOfDirectory(atPath: locked) == ["a.patch"])
    let saves = home.path + "/state/sostenuto/saves"
    #expect(try FileManager.default.contentsOfDirectory(atPath: saves).isEmpty)
  }

  /// Whoever else may write it: the file stays with the one who has it.
  @Test(.enabled(if: geteuid() == 0)) func aSaveIntoAFileOfAnotherPersonLeavesItTheirs() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    try FileManager.default.createDirectory(atPath: home.path + "/state", withIntermediateDirectories: true)
    for name in ["", "/a.patch", "/state"] { chmod(home.path + name, 0o777) }
    #expect(chown(path, 1234, 1234) == 0)
    let worker = try Worker(stateFolder: home.path + "/state")
    #expect(try worker.ask("user 65534") == "done")
    #expect(try worker.ask("open \(path)") == "opened")
    #expect(try worker.ask("do node extra gain") == "done")
    let edited = try worker.text("text")
    #expect(try worker.ask("save") == "saving")
    #expect(worker.next() == "saved")
    #expect(try text(path) == edited)
    var owner = stat()
    let isThere = stat(path, &owner) == 0
    #expect(isThere && owner.st_uid == 1234 && owner.st_gid == 1234)
  }

  /// Programs in containers often have the same number each time: the killed one and this one.
  @Test(arguments: [false, true]) func aSaveThatWasCutOffInTheMiddleIsTold(hadThisNumber: Bool) throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    let state = home.path + "/state"
    let saves = state + "/sostenuto/saves"
    try FileManager.default.createDirectory(atPath: saves, withIntermediateDirectories: true)
    let worker = try Worker(stateFolder: state)
    let dead = Process()
    dead.executableURL = URL(fileURLWithPath: "/bin/true")
    try dead.run()
    dead.waitUntilExit()
    // The name that `overwrite` uses: the file's name and the hash of its path.
    let number = hadThisNumber ? worker.number : dead.processIdentifier
    let name = StateFolder.name(for: path, after: "") + ".\(number).save"
    try "what it was\n".write(toFile: saves + "/" + name, atomically: false, encoding: .utf8)
    #expect(try worker.ask("open \(path)") == "opened")
    #expect(try worker.text("notices").contains("cut off in the middle"))
    #expect(try text(path + "~") == "what it was\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: saves).isEmpty)
  }

  /// The copy of another program's save may be all that is left of a file.
  @Test func aSaveInPlaceLeavesTheCopiesOfOthersAndOnlyTakesAwayItsOwn() throws {
    let home = try Folder()
    let path = try home.file("a.patch", JournalTests.patch)
    #expect(link(path, home.path + "/other.patch") == 0)
    let saves = home.path + "/state/sostenuto/saves"
    try FileManager.default.createDirectory(atPath: saves, withIntermediateDirectories: true)
    let worker = try Worker(stateFolder: home.path + "/state")
    #expect(try worker.ask("open \(path)") == "opened")
    // As of a program in another container.
    let name = StateFolder.name(for: path, after: "") + ".\(worker.number).save"
    try "what it was\n".write(toFile: saves + "/" + name, atomically: false, encoding: .utf8)
    #expect(try worker.ask("do node extra gain") == "done")
    #expect(try worker.ask("save") == "saving")
    #expect(worker.next() == "saved")
    #expect(try text(path).contains("node extra gain"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: saves) == [name])
    #expect(try text(saves + "/" + name) == "what it was\n")
  }

  @Test func whatASessionMakesForItselfIsLockedAndLeavesOthersOfThatName() throws {
    let folder = try Folder()
    func make() throws -> (file: Int32, path: String) {
      try PatchFile.makeOwn(mode: 0o600, for: "a.patch") { folder.path + "/a.\($0).save" }
    }
    let (first, second) = (try make(), try make())
    #expect(first.path == folder.path + "/a.\(getpid()).save")
    #expect(second.path == folder.path + "/a.\(getpid())-2.save")
    for made in [first, second] {
      let other = Glibc.open(made.path, O_RDONLY)
      #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
      close(made.file)
      #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
      close(other)
    }
  }

  /// Edits of such a patch could neither be saved nor be written down, and nobody would know before the first save.
  @Test func aPatchWhoseFolderIsNotThereIsRefusedAndThePresentOneStays() throws {
    let folder = try Folder()
    let lost = folder.path + "/nowhere/at all/a.patch"
    #expect(throws: FileError.noFolder(path: folder.path + "/nowhere/at all")) { try Session().open(lost) }
    let session = try open(folder.path + "/here.patch")
    try session.perform("node tone oscillator")
    #expect(throws: FileError.noFolder(path: folder.path + "/nowhere/at all")) { try session.openOther(lost) }
    #expect(session.patch.names == ["tone"] && session.file == folder.path + "/here.patch")
    // A file that is not there yet in a folder that is, is a new patch.
    try session.openOther(folder.path + "/new.patch", keepingEdits: true)
    #expect(session.patch.nodes.isEmpty && session.file == folder.path + "/new.patch")
  }
}
