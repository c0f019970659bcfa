import Foundation
import Testing

/// `sostenuto format -i` loses nothing that it cannot read.
@Suite struct FormatTests {
  @Test func bytesThatAreNoTextAreKeptBesideAndToldWhenFormattedInPlace() throws {
    let folder = try Folder()
    let path = folder.path + "/latin.patch"
    let bytes = Data("sostenuto 1\n# caf\u{e9}\n\nnode out   output\n".unicodeScalars.map { UInt8($0.value) })
    try bytes.write(to: URL(fileURLWithPath: path))
    _ = try folder.file("latin.patch~", "of another day")
    let outcome = try Program.run("format", "-i", path)
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("not UTF-8") && outcome.errors.contains("latin.patch~2"))
    #expect(try folder.bytes("latin.patch~2") == bytes)
    #expect(try folder.bytes("latin.patch~") == Data("of another day".utf8))
    // It is told, too, where it is not written.
    try bytes.write(to: URL(fileURLWithPath: folder.path + "/other.patch"))
    let printed = try Program.run("format", folder.path + "/other.patch")
    #expect(printed.status == 0 && printed.errors.contains("not UTF-8"), "\(printed.errors)")
    let checked = try Program.run(["check", "other.patch"], in: folder.path)
    #expect(checked.status == 1)
    #expect(checked.output == "other.patch:2:1: error: bytes that are not UTF-8; save it as UTF-8\n")
    try FileManager.default.removeItem(atPath: folder.path + "/other.patch")
    // A valid text file needs no copy.
    #expect(try Program.run("format", "-i", path).errors.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  @Test func checkTellsOfThemInTheFilesOfSubPatchesToo() throws {
    let folder = try Folder()
    let latin = "sostenuto 1\nnode g gain # caf\u{e9}\n"
    for name in ["a.patch", "b.patch"] {
      try Data(latin.unicodeScalars.map { UInt8($0.value) }).write(
        to: URL(fileURLWithPath: folder.path + "/" + name))
    }
    // One file is named by the patch itself, and one by another sub-patch.
    _ = try folder.file("mid.patch", "sostenuto 1\nnode deep patch file=b.patch\n")
    _ = try folder.file("p.patch", "sostenuto 1\nnode v patch file=a.patch\nnode m patch file=mid.patch\n")
    let checked = try Program.run(["check", "p.patch"], in: folder.path)
    #expect(checked.status == 1)
    let lines = Set(checked.output.split(separator: "\n").map(String.init))
    let words = ":2:1: error: bytes that are not UTF-8; save it as UTF-8"
    #expect(lines == ["a.patch" + words, "b.patch" + words], "\(checked.output)")
  }

  /// Commands that know nothing of what is inside know the names of the library beside the patch all the same.
  @Test func subPatchesOfTheLibraryAreKindsForEveryCommand() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/library", withIntermediateDirectories: true)
    _ = try folder.file(
      "library/echoes.patch",
      "sostenuto 1\n# Echoes.\n\npublish d.mix as wet\n\nnode i inlet\nnode d delay\nconnect i -> d\n"
        + "node o outlet\nconnect d -> o\n")
    let written = { (kind: String) in
      "sostenuto 1\n\nnode t oscillator\n\nnode e \(kind) wet=50%\nconnect t -> e\n\n"
        + "node out output\nconnect e -> out\n"
    }
    _ = try folder.file("a.patch", written("echoes"))
    _ = try folder.file("b.patch", written("patch file=library/echoes.patch"))
    let printed = try Program.run(["format", "a.patch"], in: folder.path)
    #expect(printed.errors.isEmpty && printed.output == written("patch file=library/echoes.patch"))
    let same = try Program.run(["diff", "a.patch", "b.patch"], in: folder.path)
    #expect(same.status == 0 && same.errors.isEmpty && same.output.isEmpty, "\(same.output)\(same.errors)")
    let merged = try Program.run(["merge", "a.patch", "b.patch", "a.patch"], in: folder.path)
    #expect(merged.errors.isEmpty && merged.output == printed.output, "\(merged.errors)")
    let bundled = try Program.run(["bundle", "a.patch"], in: folder.path)
    #expect(bundled.status == 0 && bundled.errors.isEmpty, "\(bundled.errors)")
    #expect(try folder.bytes("a.bundle/library/echoes.patch") == folder.bytes("library/echoes.patch"))
    // They stand in the reference, too.
    let page = try Program.run(["kinds", "echoes", "--json"], in: folder.path)
    #expect(page.output.contains("\"name\": \"echoes\"") && page.output.contains("\"wet\""), "\(page.output)")
    let all = try Program.run(["kinds", "--json"], in: folder.path)
    #expect(all.output.contains("\"name\": \"echoes\"") && all.output.contains("\"name\": \"delay\""))
  }

  /// A scene may have values of what stands in the file of a sub-patch.
  @Test(arguments: [true, false]) func scenesOfWhatIsInsideAreFormattedWithTheFileAndWithoutIt(
    isThere: Bool
  ) throws {
    let folder = try Folder()
    if isThere {
      _ = try folder.file(
        "hall.patch",
        "sostenuto 1\nnode i inlet\nnode d delay\nconnect i -> d\nnode o outlet\nconnect d -> o\n")
    }
    let text =
      "sostenuto 1\n\nnode t oscillator\n\nnode e patch file=hall.patch\nconnect t -> e\n\n"
      + "node out output\nconnect e -> out\n\n"
      + "scene 2\nscene 2 set t.freq 220Hz\nscene 2 set e/d.time 90ms\nscene 2 set out.channels 4\n"
    _ = try folder.file("p.patch", text.replacing("\n\n", with: "\n\n\n"))
    let printed = try Program.run(["format", "p.patch"], in: folder.path)
    #expect(printed.status == 0 && printed.errors.isEmpty && printed.output == text, "\(printed.errors)")
    #expect(try Program.run(["format", "-i", "p.patch"], in: folder.path).status == 0)
    #expect(try folder.bytes("p.patch") == Data(text.utf8))
    // Other commands too: without the file they tell of the line.
    for command in [
      ["render", "p.patch", "--seconds", "0.01", "-o", "o.wav"],
      ["play", "p.patch", "--headless", "--driver", "clock", "--seconds", "0.01"],
    ] {
      let outcome = try Program.run(command, in: folder.path)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let isTold = outcome.errors.contains("p.patch:13:13: warning: no node `e/d`")
      #expect(isTold == !isThere, "\(outcome.errors)")
    }
    // Nor does a difference need the file, which it tells of.
    _ = try folder.file("q.patch", text.replacing("90ms", with: "95ms"))
    let difference = try Program.run(["diff", "p.patch", "q.patch"], in: folder.path)
    #expect(difference.status == 0 && difference.errors.isEmpty == isThere, "\(difference.errors)")
    #expect(difference.output == "scene 2 set e/d.time 95ms\n")
    let merged = try Program.run(["merge", "p.patch", "p.patch", "q.patch"], in: folder.path)
    #expect(merged.status == 0 && merged.output == text.replacing("90ms", with: "95ms"), "\(merged.errors)")
  }
}
