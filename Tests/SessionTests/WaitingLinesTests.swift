import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Scenes with lines about what is inside sub-patches, while their files are not there.
@MainActor @Suite struct WaitingLinesTests {
  static let scene = """

    scene 2
    scene 2 set tone.freq 330Hz
    scene 2 set verb/tank.feedback 50%
    scene 2 set room/tank.feedback 50%

    """
  static let main = SubPatchTests.main + scene

  private func folder(hall: Bool) throws -> (Folder, String) {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/fx", withIntermediateDirectories: true)
    if hall { _ = try folder.file("fx/hall.patch", SubPatchTests.hall) }
    return (folder, try folder.file("a.patch", Self.main))
  }

  @Test func theyAreWarnedOfAndKeptUntilTheFileIsThere() throws {
    let (folder, path) = try folder(hall: false)
    defer { withExtendedLifetime(folder) {} }
    let lines = Self.main.components(separatedBy: "\n")
    let waiting = lines.indices.filter { lines[$0].contains("/tank") }.map { $0 + 1 }
    var session = try open(path)
    #expect(session.diagnostics.map(\.line) == waiting)
    #expect(session.diagnostics.allSatisfy { $0.severity == .warning })
    #expect(session.diagnostics.first?.message.contains("`verb/tank`") == true)
    // The part outside of them is recalled, and edits of the scene are undone exactly.
    try session.perform("recall 2")
    #expect(value(session, "tone", "freq") == "330Hz")
    try session.undo()
    for line in [
      "scene 2 set verb/tank.feedback 60%", "scene 2 set verb/tank.mix 70%", "scene 2", "scene 2 off",
      "rename verb hall", "remove room", "set tone.freq 50Hz", "scene 2 remove room",
      "remove room ; scene 2 remove room", "remove verb ; remove room ; scene 2 remove verb",
      "set room.file \"\"",
      "scene 2 replace room gain ; replace room gain", "scene 2 set verb.file \"\" ; set verb.file \"\"",
    ] {
      let (before, text) = (session.patch, canonical(session))
      try session.perform(line)
      #expect(canonical(session) != text, "\(line)")
      // Nothing waits for a sub-patch that has left.
      let again = PatchReader.read(canonical(session), file: path, catalogue: session.catalogue).patch
      let isRead = again.scenes == session.patch.scenes
      #expect(isRead, "\(line): \(canonical(session))")
      try session.undo()
      let isUndone = session.patch == before
      #expect(isUndone && canonical(session) == text, "\(line)")
    }
    #expect(throws: (any Error).self) { try session.perform("scene 2 set wall/tank.feedback 60%") }
    try session.perform("rename verb hall")
    #expect(canonical(session).contains("\nscene 2 set hall/tank.feedback 50%\n"))
    try session.undo()
    try session.perform("set tone.freq 110Hz")
    try session.save()
    #expect(try text(path).hasSuffix(Self.scene))
    session.close()
    _ = try folder.file("fx/hall.patch", SubPatchTests.hall)
    session = try open(path)
    #expect(session.diagnostics == [])
    try session.perform("recall 2")
    for name in ["verb", "room"] { #expect(value(session, name + "/tank", "feedback") == "50%") }
    #expect(throws: (any Error).self) { try session.perform("scene 2 set verb/wall.feedback 60%") }
    try session.undo()
    try session.save()
    #expect(try text(path).hasSuffix(Self.scene))
    session.close()
  }

  /// Scenes from before a sub-patch came lack it, and name all that is inside; their other lines keep their order.
  @Test func aSceneFromBeforeASubPatchCameIsReadWithoutFiles() throws {
    let (folder, path) = try folder(hall: true)
    defer { withExtendedLifetime(folder) {} }
    let session = try open(path)
    for line in [
      "scene 3", "scene 3 disconnect verb/in -> verb/out", "scene 3 connect tone -> out gain=-6dB",
      "scene 3 disconnect tone -> verb", "node late patch file=fx/hall.patch", "collapse tone room into box",
    ] { try session.perform(line) }
    let text = PatchWriter.write(session.patch, catalogue: session.catalogue)
    for name in ["box/room", "late"] { #expect(text.contains("\nscene 2 remove \(name)/tank\n")) }
    #expect(text.contains("\nscene 3 disconnect verb/in -> verb/out\nscene 3 connect "))
    let (bare, found) = PatchReader.read(text, file: path, catalogue: LibraryNames.catalogue(for: path))
    #expect(found == [])
    #expect(PatchWriter.write(bare, catalogue: KindRegistry.builtIn.catalogue) == text)
    session.close()
  }

  /// Files that they name are found from the patch's new folder.
  @Test func filesInThemMoveWithThePatch() throws {
    let (folder, path) = try folder(hall: false)
    defer { withExtendedLifetime(folder) {} }
    try (Self.main + "scene 2 set room/voice.instrument a.sfz\n").write(
      toFile: path, atomically: false, encoding: .utf8)
    let session = try open(path)
    try session.save(as: folder.path + "/fx/b.patch")
    let moved = try text(folder.path + "/fx/b.patch")
    #expect(moved.contains("\nscene 2 set room/voice.instrument ../a.sfz\n"), "\(moved)")
    session.close()
  }

  /// Random scenes are the same through a reading without files, their differences lead from one to the other with files and
  /// without, and each edit is undone exactly.
  @Test(arguments: searchSeeds(1...8)) func withoutFilesTheyMeanTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (folder, path) = try folder(hall: true)
    defer { withExtendedLifetime(folder) {} }
    let kinds = KindRegistry.builtIn.catalogue
    let (whole, bare) = (DefinitionLibrary.catalogue(for: path), LibraryNames.catalogue(for: path))
    func applied(_ line: String, to patch: Patch, _ catalogue: KindCatalogue) throws -> Patch {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      guard case .edit(let edit) = statement else {
        Issue.record("`\(line)` is no edit")
        return patch
      }
      let change = try patch.applying(edit, catalogue: catalogue)
      let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch
      let isUndone = back == patch
      #expect(isUndone, "seed \(seed): `\(line)`")
      return change.patch
    }
    func scenes(_ text: String) -> String {
      text.range(of: "\nscene ").map { String(text[$0.lowerBound...]) } ?? ""
    }
    func randomPatch() -> String {
      var patch = PatchReader.read(SubPatchTests.main, file: path, catalogue: whole).patch
      for number in 1...3 {
        patch = (try? applied("scene \(number) \"of \(number)\"", to: patch, whole)) ?? patch
        for _ in 0..<Int.random(in: 0...8, using: &random) {
          let count = Int.random(in: 1...90, using: &random)
          let name = ["verb", "room"].randomElement(using: &random)!
          let line = [
            "set tone.freq \(count)Hz", "set \(name)/tank.feedback \(count)%",
            "set \(name)/tank.time \(count)ms",
            "set \(name)/tone.freq \(count)Hz", "disconnect \(name)/in -> \(name)/out",
            "connect \(name)/tank -> \(name)/out gain=-\(count)dB", "connect \(name)/in -> \(name)/tone",
          ].randomElement(using: &random)!
          // A cable that has gone already.
          patch = (try? applied("scene \(number) \(line)", to: patch, whole)) ?? patch
        }
      }
      return PatchWriter.write(patch, catalogue: whole)
    }
    var last = randomPatch()
    for _ in 0..<6 {
      let next = randomPatch()
      let (from, found) = PatchReader.read(last, file: path, catalogue: bare)
      #expect(found == [])
      let text = PatchWriter.write(from, catalogue: kinds)
      #expect(scenes(text) == scenes(last), "seed \(seed)")
      let again = PatchReader.read(text, file: path, catalogue: whole).patch
      #expect(PatchWriter.write(again, catalogue: whole) == last, "seed \(seed)")
      let to = PatchReader.read(next, file: path, catalogue: bare).patch
      let edits = try PatchDifference.edits(from: from, to: to, catalogue: kinds)
      var (here, there) = (from, PatchReader.read(last, file: path, catalogue: whole).patch)
      for edit in edits {
        here = try applied(edit.line, to: here, kinds)
        there = try applied(edit.line, to: there, whole)
      }
      // Without the files nobody knows the order of what is inside.
      let (ours, theirs) = (scenes(PatchWriter.write(here, catalogue: kinds)), scenes(next))
      #expect(
        ours.split(separator: "\n").sorted() == theirs.split(separator: "\n").sorted(),
        "seed \(seed): \(edits)")
      #expect(PatchWriter.write(there, catalogue: whole) == next, "seed \(seed): \(edits)")
      last = next
    }
  }
}
