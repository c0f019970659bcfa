import CThread
import Foundation
import Testing

@testable import Session

@MainActor @Suite struct SavingTests {
  @Test func aSaveReplacesTheFileAndKeepsItsModeAndLinks() throws {
    let folder = try Folder()
    let path = try folder.file("real.patch", JournalTests.patch)
    let link = folder.path + "/link.patch"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.patch")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let before = FileStamp(path: path)

    let session = try open(link)
    try session.perform("node extra gain")
    try session.save()
    #expect(!session.isModified)
    session.close()

    #expect(try text(path) == canonical(session))
    #expect(FileStamp(path: path).number != before.number, "written in place: a crash could leave half of it")
    #expect(
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.patch")
    #expect(folder.names == ["link.patch", "real.patch"])
  }

  /// Other people whom the file's list lets in would else be shut out by a save.
  @Test func aSaveKeepsTheAccessControlList() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    // Version 2; then tag, permissions and number of the owner, of user 1234, of the group, of the mask and of others.
    let entries: [(UInt16, UInt16, UInt32)] = [
      (1, 6, .max), (2, 6, 1234), (4, 4, .max), (16, 6, .max), (32, 0, .max),
    ]
    var list: [UInt8] = [2, 0, 0, 0]
    for (tag, permissions, number) in entries {
      for value in [UInt32(tag), UInt32(permissions)] {
        list += [UInt8(value & 255), UInt8(value >> 8)]
      }
      for byte in 0..<4 { list.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * byte))) }
    }
    let name = "system.posix_acl_access"
    // A file system without lists.
    guard setxattr(path, name, list, list.count, 0) == 0 else { return }
    let session = try open(path)
    try session.perform("node extra gain")
    try session.save()
    session.close()
    #expect(try text(path).contains("node extra gain"))
    var found = [UInt8](repeating: 0, count: 256)
    let count = getxattr(path, name, &found, found.count)
    #expect(count == list.count && Array(found.prefix(max(count, 0))) == list)
  }

  /// In Latin-1, the byte of an é is no UTF-8. What stands for it on the screen is another name.
  @Test func aSaveThroughALinkToANameThatIsNotUTF8WritesNowhere() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let (link, e) = (folder.path + "/link.patch", CChar(bitPattern: 0xE9))
    func name(_ start: String) -> [CChar] {
      Array(start.utf8CString.dropLast()) + [e] + Array(".patch".utf8CString)
    }
    let target = name(folder.path + "/caf")
    #expect(rename(path, target) == 0 && symlink(name("caf"), link) == 0)
    defer { unlink(target) }
    let session = try open(link)
    try session.perform("node extra gain")
    #expect(throws: FileError.linkNotFollowed(path: link)) { try session.save() }
    #expect(session.isModified)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/caf\u{FFFD}.patch"))
    #expect(try text(link) == JournalTests.patch)
    session.close()
  }

  @Test func aSaveThatFailsLeavesTheOldFileAndTheEdits() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let session = try open(path)
    try session.perform("node extra gain")
    #expect(throws: FileError.self) { try session.save(as: folder.path + "/no/such/folder/a.patch") }
    #expect(session.file == path)
    #expect(session.isModified)
    #expect(try text(path) == JournalTests.patch)
    session.close()
  }

  @Test func whatOthersWroteIsNotOverwrittenUnasked() throws {
    let folder = try Folder()
    let path = try folder.file("a.patch", JournalTests.patch)
    let session = try open(path)
    try session.perform("node extra gain")
    _ = try folder.file("a.patch", JournalTests.patch + "\n# someone else's\n")
    #expect(throws: FileError.self) { try session.save() }
    #expect(try text(path).contains("someone else's"))
    // Trying again is not consent.
    #expect(throws: FileError.self) { try session.save() }
    #expect(try text(path).contains("someone else's"))
    try session.save(despite: [.changed])
    #expect(try text(path) == canonical(session))
    session.close()
  }

  @Test func linesThatWereNotUnderstoodAreNotSavedAwayUnasked() throws {
    let folder = try Folder()
    let broken = JournalTests.patch + "\nconnect nobody -> out\n"
    let path = try folder.file("a.patch", broken)
    let session = try open(path)
    #expect(session.diagnostics.count == 1)
    #expect(throws: FileError.self) { try session.save() }
    #expect(throws: FileError.self) { try session.save() }
    #expect(try text(path) == broken)
    // With consent, the original is kept beside it; an existing copy stays.
    _ = try folder.file("a.patch~", "of another day")
    let said = try session.save(despite: [.unread(lines: 1)])
    #expect(said.contains("a.patch~2"), "\(said)")
    #expect(try text(path) == canonical(session))
    #expect(try text(path + "~2") == broken)
    #expect(try text(path + "~") == "of another day")
    try session.perform("node a gain")
    try session.save()
    session.close()
    #expect(folder.names == ["a.patch", "a.patch~", "a.patch~2"])
  }

  @Test func aPlaceholderAndAMissingFileAreSavedAsTheyWere() throws {
    let folder = try Folder()
    let written = """
      sostenuto 1

      node piano sampler instrument=not/there.sfz

      node odd wobulator depth=3 file="a b.wav"
      connect piano -> odd

      node out output
      connect odd -> out

      """
    let path = try folder.file("a.patch", written)
    let session = try open(path)
    try session.perform("layout out 3,1")
    try session.save()
    #expect(try text(path) == written + "layout out 3,1\n")
    session.close()
  }
}
