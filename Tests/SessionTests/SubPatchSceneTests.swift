import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Edits of scenes that are about sub-patches mean there what they mean in the patch.
@MainActor @Suite struct SubPatchSceneTests {
  private func session() throws -> (Folder, Session) {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/fx", withIntermediateDirectories: true)
    _ = try folder.file("fx/hall.patch", SubPatchTests.hall)
    return (folder, try open(try folder.file("a.patch", SubPatchTests.main)))
  }

  private func whole(_ session: Session) -> String {
    PatchWriter.write(session.patch, catalogue: session.catalogue, whole: true)
  }

  /// Performs the lines, recalls scene 1, checks undo of each, and does it all again.
  private func recall(_ lines: [String], in session: Session) throws {
    let first = whole(session)
    for line in ["scene 1"] + lines + ["recall 1"] { try session.perform(line) }
    let last = whole(session)
    for _ in 0..<lines.count + 2 { try session.undo() }
    #expect(whole(session) == first, "\(lines)")
    for _ in 0..<lines.count + 2 { try session.redo() }
    #expect(whole(session) == last, "\(lines)")
  }

  @Test func whatIsInsideASubPatchLeavesASceneWithIt() throws {
    let (folder, session) = try session()
    defer { withExtendedLifetime(folder) {} }
    try recall(["scene 1 remove verb"], in: session)
    #expect(!session.patch.names.contains { $0.hasPrefix("verb") })
    session.close()
  }

  @Test func whatIsInsideASubPatchIsRenamedWithItInAScene() throws {
    let (folder, session) = try session()
    defer { withExtendedLifetime(folder) {} }
    try recall(["scene 1 rename verb hall"], in: session)
    #expect(!session.patch.names.contains { $0.hasPrefix("verb") })
    #expect(session.patch[named: "hall/tank"] != nil && cables(session).contains("tone -> hall"))
    session.close()
  }

  @Test func aSubPatchThatASceneAddsHasWhatItsFileHas() throws {
    let (folder, session) = try session()
    defer { withExtendedLifetime(folder) {} }
    try recall(["scene 1 node late patch file=fx/hall.patch"], in: session)
    #expect(session.patch[named: "late/tank"]?.kind == "delay")
    try session.perform("set late.size 9ms")
    session.close()
  }

  /// Else a save would write one of them, and lose the other.
  @Test(arguments: ["scene 1 set verb/tank.feedback 77%", "scene 1 remove room/tone"])
  func aRecallLeavesTheSameInsideInAllThatShareAFile(line: String) throws {
    let (folder, session) = try session()
    defer { withExtendedLifetime(folder) {} }
    try recall([line], in: session)
    let library = DefinitionLibrary(for: session.file, kinds: KindRegistry.builtIn.catalogue)
    #expect(library.conflicts(in: session.patch).isEmpty)
    try session.save()
    let hall = try text(folder.path + "/fx/hall.patch")
    #expect(line.hasSuffix("77%") ? hall.contains("feedback=77%") : !hall.contains("node tone"), "\(hall)")
    session.close()
  }

  /// A file may have a line for one of them only: the first one's inside is that of all.
  @Test func linesOfAFileThatDifferForSubPatchesOfOneFileGiveOneInside() throws {
    let (folder, session) = try session()
    defer { withExtendedLifetime(folder) {} }
    session.close()
    let path = try folder.file(
      "b.patch", SubPatchTests.main + "\nscene 1\nscene 1 set verb/tank.feedback 77%\n")
    let other = try open(path)
    try other.perform("recall 1")
    for name in ["verb", "room"] { #expect(value(other, name + "/tank", "feedback") == "77%") }
    #expect(value(other, "room/tank", "time") == "12ms")
    other.close()
  }

  /// A scene that lacks a sub-patch lacks what its file has got since, too.
  @Test func aSceneWithoutASubPatchHasNothingOfAFileThatHasGrown() throws {
    let (folder, first) = try session()
    defer { withExtendedLifetime(folder) {} }
    for line in ["scene 1", "scene 1 remove verb"] { try first.perform(line) }
    try first.save()
    first.close()
    let grown = SubPatchTests.hall + "\nnode more gain\nconnect tank -> more\n"
    _ = try folder.file("fx/hall.patch", grown)
    let session = try open(folder.path + "/a.patch")
    #expect(session.diagnostics == [])
    try session.perform("recall 1")
    #expect(!session.patch.names.contains { $0.hasPrefix("verb") })
    session.close()
  }
}
