import Foundation
import Testing

@Suite struct BundleTests {
  private func tone(_ path: String, _ frequency: Int) throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let patch = try folder.file(
      "t.patch", "sostenuto 1\nnode t oscillator freq=\(frequency)Hz\nnode out output\nconnect t -> out\n")
    #expect(try Program.run("render", patch, "--seconds", "0.2", "-o", path).status == 0)
  }

  private func write(_ path: String, _ text: String) throws {
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  private func render(_ patch: String, _ script: String) throws -> Data {
    let folder = try Folder()
    let outcome = try Program.run(
      "render", patch, "--script", script, "--seconds", "0.5", "-o", folder.path + "/o.wav")
    #expect(outcome.status == 0 && !outcome.errors.contains("warning"), "\(outcome.errors)")
    return try folder.bytes("o.wav")
  }

  private func files(_ folder: String) throws -> Set<String> {
    Set(
      try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder + "/" + $0, isDirectory: &isFolder)
          && !isFolder.boolValue
      })
  }

  @Test func aBundleSoundsTheSameElsewhere() throws {
    let home = try Folder()
    let away = try Folder()
    let (a, b) = (home.path + "/project", home.path + "/library")
    // Samples in seven places: beside the patch, below it, beside an instrument, above it, with other letter
    // case, behind a link, and by an absolute path.
    try tone(a + "/near.wav", 200)
    try tone(b + "/one/Samples/A.wav", 300)
    try tone(b + "/shared/B.wav", 400)
    try tone(home.path + "/other/library/C.wav", 500)
    try tone(home.path + "/far/D.wav", 600)
    try write(
      b + "/one/a.sfz",
      "<control> default_path=samples\\\n#include \"inc/defs.txt\"\n<region> sample=a.WAV key=$KEY\n<region> sample=../../shared/B.wav key=61\n<region> sample=*saw key=62\n"
    )
    try write(b + "/one/inc/defs.txt", "#define $KEY 60\n#include \"inc/empty.txt\"\n")
    try write(b + "/one/inc/empty.txt", "")
    try write(home.path + "/other/library/c.sfz", "<region> sample=C.wav\n")
    try write(b + "/one/t.scl", "! t\nt\n 2\n!\n 700.0\n 2/1\n")
    try FileManager.default.createSymbolicLink(atPath: a + "/linked", withDestinationPath: "../far")
    try write(
      a + "/song.patch",
      """
      sostenuto 1
      # keep me
      node near player file=near.wav loop=on
      node one sampler instrument=../library/one/a.sfz tuning=../library/one/t.scl
      node two sampler instrument="\(home.path)/other/library/c.sfz"
      node far player file=linked/D.wav loop=on
      node out output
      connect near -> out
      connect one -> out
      connect two -> out
      connect far -> out
      """)
    let script = try away.file(
      "s.script",
      "play near\nplay far\nnote one on 60 100 ; note one on 61 90 ; note one on 62\nnote two on 72\n")
    let wanted = try render(a + "/song.patch", script)

    let bundle = away.path + "/bundle"
    let made = try Program.run("bundle", a + "/song.patch", "--output", bundle)
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.hasPrefix("\(bundle): 11 files, "))
    #expect(made.errors.contains("is in files/library-2"), "\(made.errors)")
    #expect(
      try files(bundle) == [
        "song.patch", "near.wav", "files/far/D.wav", "files/library/one/a.sfz",
        "files/library/one/Samples/A.wav",
        "files/library/one/inc/defs.txt", "files/library/one/inc/empty.txt", "files/library/shared/B.wav",
        "files/library/one/t.scl", "files/library-2/c.sfz", "files/library-2/C.wav",
      ])
    // The bundle is moved, and the original folders are gone.
    try FileManager.default.moveItem(atPath: bundle, toPath: away.path + "/moved")
    for folder in ["project", "library", "other", "far"] {
      try FileManager.default.moveItem(
        atPath: home.path + "/" + folder, toPath: home.path + "/gone-" + folder)
    }
    #expect(try render(away.path + "/moved/song.patch", script) == wanted)
    let text = try String(contentsOfFile: away.path + "/moved/song.patch", encoding: .utf8)
    #expect(text.contains("# keep me") && !text.contains(home.path) && !text.contains("../"))
    // A bundle of a bundle is the same bundle.
    let again = try Program.run("bundle", away.path + "/moved/song.patch", "-o", away.path + "/again")
    #expect(again.status == 0)
    #expect(try files(away.path + "/again") == files(away.path + "/moved"))
  }

  /// Sub-patches within sub-patches, with the files that they name from their own folders.
  @Test func aBundleHasWhatSubPatchesNeed() throws {
    let (home, away) = (try Folder(), try Folder())
    try tone(home.path + "/lib/deep/ir.wav", 300)
    try tone(home.path + "/near.wav", 200)
    try write(
      home.path + "/lib/deep/low.patch",
      "sostenuto 1\nnode in input\nnode c convolution file=ir.wav\nconnect in -> c\nnode out output\nconnect c -> out\n"
    )
    try write(
      home.path + "/lib/mid.patch",
      "sostenuto 1\nnode in input\nnode l patch file=deep/low.patch\nconnect in -> l\nnode out output\nconnect l -> out\n"
    )
    try write(
      home.path + "/song.patch",
      "sostenuto 1\nnode p player file=near.wav loop=on\nnode m patch file=lib/mid.patch\nconnect p -> m\nnode out output\nconnect m -> out\n"
    )
    let script = try away.file("s.script", "play p\n")
    let wanted = try render(home.path + "/song.patch", script)
    #expect(Set(wanted.suffix(4000)).count > 50)
    let made = try Program.run("bundle", home.path + "/song.patch", "--output", away.path + "/b")
    #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
    #expect(
      try files(away.path + "/b") == [
        "song.patch", "near.wav", "lib/mid.patch", "lib/deep/low.patch", "lib/deep/ir.wav",
      ])
    try FileManager.default.moveItem(atPath: home.path + "/lib", toPath: home.path + "/gone")
    #expect(try render(away.path + "/b/song.patch", script) == wanted)
    // An absolute path is found here only.
    try write(
      home.path + "/gone/mid.patch",
      "sostenuto 1\nnode in input\nnode c convolution file=\(home.path)/near.wav\nconnect in -> c\n")
    try write(home.path + "/two.patch", "sostenuto 1\nnode m patch file=gone/mid.patch\n")
    let told = try Program.run("bundle", home.path + "/two.patch", "--output", away.path + "/c")
    #expect(told.errors.contains("mid.patch: c.file") && told.errors.contains("here only"), "\(told.errors)")
  }

  @Test func nothingIsOverwrittenAndWhatIsMissingIsTold() throws {
    let folder = try Folder()
    try write(
      folder.path + "/i.sfz", "<region> sample=gone.wav\n#include \"no.txt\"\n<region> sample=*sine\n")
    let patch = try folder.file(
      "a.patch", "sostenuto 1\nnode p player file=nowhere.wav\nnode s sampler instrument=i.sfz\n")
    let made = try Program.run(["bundle", "a.patch"], in: folder.path)
    #expect(made.status == 1)
    for words in [
      "p.file: nowhere.wav: No such file", "s.instrument: i.sfz:1: sample `gone.wav` is missing", "`no.txt`",
    ] {
      #expect(made.errors.contains(words), "\(made.errors)")
    }
    #expect(try files(folder.path + "/a.bundle") == ["a.patch", "i.sfz"])
    let before = try String(contentsOfFile: folder.path + "/a.bundle/a.patch", encoding: .utf8)
    try write(patch, "sostenuto 1\nnode other gain\n")
    let second = try Program.run(["bundle", "a.patch"], in: folder.path)
    #expect(second.status == 1 && second.errors.contains("a.bundle: is there already"))
    #expect(try String(contentsOfFile: folder.path + "/a.bundle/a.patch", encoding: .utf8) == before)
    #expect(try Program.run(["bundle", "a.patch", "-o", "a.patch"], in: folder.path).status == 1)
    #expect(try Program.run(["bundle", "a.patch", "-o", "no/where"], in: folder.path).status == 1)
    #expect(try String(contentsOfFile: patch, encoding: .utf8) == "sostenuto 1\nnode other gain\n")
    // No partial bundle is left.
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == ["a.bundle", "a.patch", "i.sfz"])
  }
}
