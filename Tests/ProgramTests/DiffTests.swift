import Foundation
import Testing

@Suite struct DiffTests {
  private static let old = """
    sostenuto 1
    # title

    node tone oscillator freq=[110Hz,220Hz] channels=2  # low

    node wide wobbler depth=3

    node mix mix
    connect tone -> mix gain=-3dB

    node out output
    connect mix -> out

    # the end

    """

  private static let new = """
    sostenuto 1
    # title, other

    node out output
    connect blend -> out map=[1,0]
    # here
    layout out 3,1

    node wide wobbler depth=4

    # why
    node tone oscillator channels=2

    node main matrix
    connect tone -> main
    set main[0,1] -6dB  # see above

    node blend mix
    connect main -> blend
    connect tone -> blend gain=-3dB  # dry

    """

  @Test func theEditsOfADifferenceMakeOnePatchOfTheOther() throws {
    let folder = try Folder()
    let (old, new) = (try folder.file("old.patch", Self.old), try folder.file("new.patch", Self.new))
    for (from, to, wanted) in [(old, new, Self.new), (new, old, Self.old), (old, old, Self.old)] {
      let diff = try Program.run("diff", from, to)
      #expect(diff.status == 0)
      #expect(diff.output.isEmpty == (from == to))
      let script = try folder.file("script", diff.output)
      let applied = try Program.run("apply", script, from)
      #expect(applied.status == 0)
      #expect(applied.output == wanted, "\(diff.output)")
    }
  }

  /// `apply` reads the files of sub-patches, so `diff` has to: what a file has inside comes and goes with it, in scenes too.
  @Test func filesOfSubPatchesAreReadAsByApply() throws {
    let folder = try Folder()
    _ = try folder.file(
      "hall.patch",
      """
      sostenuto 1
      publish tank.time as size
      node in input
      node tank delay time=30ms
      connect in -> tank
      node out output
      connect tank -> out

      """)
    let start = try folder.file(
      "0.patch",
      """
      sostenuto 1

      node tone oscillator

      node verb patch file=hall.patch
      connect tone -> verb

      node out output
      connect verb -> out

      scene 1

      """)
    var patches = [start]
    for (number, script) in [
      "node room patch file=hall.patch size=3ms before out\nconnect room -> out\nscene 2",
      "unshare verb\nscene 1 set verb/tank.time 9ms\nremove verb/tank\nscene 3",
      "scene 1 remove verb\nreplace verb patch file=gone.patch\ncollapse tone out into box",
      "unshare verb\nscene 2\nset verb.file hall.patch\nset verb.size 5ms\nscene 1 set verb/tank.feedback 20%",
      "node box patch\nisolate verb\nrename verb box/verb\nmove box last\nscene 3",
    ].enumerated() {
      let outcome = try Program.run(
        ["apply", "--partial", "-", start], in: folder.path, input: script + "\n")
      patches.append(try folder.file("\(number + 1).patch", outcome.output))
    }
    for from in patches {
      for to in patches {
        let diff = try Program.run("diff", from, to)
        #expect(diff.status == 0 && (diff.output.isEmpty || from != to), "\(diff.errors)")
        let applied = try Program.run(["apply", "-", from], in: folder.path, input: diff.output)
        let isThere = try applied.output == String(contentsOfFile: to, encoding: .utf8)
        #expect(applied.status == 0 && isThere, "\(applied.errors) by\n\(diff.output)")
      }
    }
  }

  @Test func refusedEditsAreNamedAndNothingIsWritten() throws {
    let folder = try Folder()
    let patch = try folder.file("a.patch", Self.new)
    let script = try folder.file(
      "a.script",
      "set tone.level -6dB\nset tone.levle -6dB # no\nat 1s set out.channels 4 ; remove nobody\r\nnote tone on C4\n  connect main -> out map=[0,x]\n"
    )
    let refused = try Program.run("apply", "-i", script, patch)
    #expect(refused.status == 1 && refused.output.isEmpty)
    let lines = refused.errors.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(lines.count == 4, "\(refused.errors)")
    for (line, place) in zip(lines, ["2:10", "3:35", "4:6", "5:30"]) {
      #expect(line.hasPrefix("\(script):\(place): error: "), "\(line)")
    }
    #expect(try String(contentsOfFile: patch, encoding: .utf8) == Self.new)
    // A refused line is refused as a whole: none of its statements counts.
    let partial = try Program.run("apply", "-i", "--partial", script, patch)
    #expect(partial.status == 1)
    let text = try String(contentsOfFile: patch, encoding: .utf8)
    #expect(
      text
        == Self.new.replacingOccurrences(
          of: "oscillator channels=2", with: "oscillator level=-6dB channels=2"))
  }

  /// A file may have a control that waits for its target, so a difference may ask for one.
  @Test func aControlWithoutATargetIsAppliedWithAWarning() throws {
    let folder = try Folder()
    let patch = try folder.file("a.patch", Self.new)
    let script = try folder.file(
      "a.script", "control 1 tone.level\n  control 3 tone.nothing\ncontrol 4 nobody.x\n")
    let applied = try Program.run("apply", script, patch)
    #expect(applied.status == 0)
    let lines = applied.errors.split(separator: "\n").filter { $0.hasPrefix(script + ":") }
    #expect(lines.count == 2, "\(applied.errors)")
    for (line, place) in zip(lines, ["2:18", "3:11"]) {
      #expect(line.hasPrefix("\(script):\(place): warning: "), "\(line)")
    }
    let new = try folder.file("b.patch", applied.output)
    let back = try Program.run(
      "apply", try folder.file("diff", try Program.run("diff", patch, new).output), patch)
    #expect(back.status == 0 && back.output == applied.output)
  }

  @Test func movingAParagraphOfTheFileIsNotHeard() throws {
    let folder = try Folder()
    let patch = try folder.file(
      "a.patch",
      "sostenuto 1\nnode a oscillator\nnode b oscillator freq=300Hz\nnode d delay\nnode out output\nconnect a -> d\nconnect b -> d\nconnect d -> out\nconnect a -> out\n"
    )
    var renders: [Data] = []
    for (number, line) in ["", "at 0.1s move a last", "at 0.1s move d before a\nat 0.2s undo"].enumerated() {
      let script = try folder.file("s", line + "\nat 0.3s set a.level -20dB\n")
      let outcome = try Program.run(
        "render", patch, "--script", script, "--seconds", "0.4", "-o", folder.path + "/\(number).wav")
      #expect(outcome.status == 0, "\(outcome.errors)")
      renders.append(try folder.bytes("\(number).wav"))
    }
    #expect(renders[0].count > 10000 && renders[1] == renders[0] && renders[2] == renders[0])
  }

  @Test func whatAnEditChangesIsWrittenBackAndTheRestStays() throws {
    let folder = try Folder()
    let patch = try folder.file("a.patch", Self.new)
    let outcome = try Program.run(
      ["apply", "-i", "-", "a.patch"], in: folder.path,
      input: "set tone.level -6dB\nundo\nset out.channels 4\n")
    #expect(outcome.status == 0 && outcome.output.isEmpty)
    #expect(
      try String(contentsOfFile: patch, encoding: .utf8)
        == Self.new.replacingOccurrences(of: "node out output", with: "node out output channels=4"))
    // Bytes that are not text would be lost.
    let latin = folder.path + "/l.patch"
    let bytes = Data("sostenuto 1\n# caf".utf8) + [0xE9] + Data("\nnode a gain\n".utf8)
    try bytes.write(to: URL(fileURLWithPath: latin))
    for command in [["apply", "-i", "-", latin], ["merge", "-i", latin, latin, latin]] {
      let outcome = try Program.run(command, in: folder.path, input: "remove a")
      #expect(outcome.errors.contains("not UTF-8") && outcome.output.isEmpty)
      #expect(try Data(contentsOf: URL(fileURLWithPath: latin)) == bytes)
    }
    let broken = try folder.file("b.patch", "sostenuto 1\nnode a gain\nfrobnicate\n")
    #expect(try Program.run(["apply", "-i", "-", "b.patch"], in: folder.path, input: "remove a").status == 1)
    #expect(try String(contentsOfFile: broken, encoding: .utf8).contains("frobnicate"))
  }

  private static let echoes = """
    sostenuto 1

    node tone oscillator

    node box patch

    node box/in inlet
    connect tone -> box

    node box/f filter
    connect box/in -> box/f

    node wide patch file=hall.patch
    connect tone -> wide gain=-6dB

    node out output
    connect wide -> out

    """

  private func hall(in folder: Folder) throws -> String {
    _ = try folder.file(
      "hall.patch",
      "sostenuto 1\nnode in input\nnode d delay\nconnect in -> d\nnode out output\nconnect d -> out\n")
    return try folder.file("a.patch", Self.echoes)
  }

  /// The only copy of a patch is not replaced by a text that `format` refuses.
  @Test(arguments: [
    ("rename wide box/wide", "1:13", "`box/wide` would be in another sub-patch; here it is `wide`"),
    ("rename wide a/wide", "1:13", "`a/wide` would be in another sub-patch; here it is `wide`"),
    ("rename tone fx/tone", "1:13", "`fx/tone` would be in another sub-patch; here it is `tone`"),
    ("connect box/f -> wide", "1:1", "leads past the edge"),
    ("node a/b noise ; connect a/b -> wide", "1:1", "`a` is no sub-patch"),
    ("copy wide a/wide ; connect tone -> a/wide/in", "1:1", "`a` is no sub-patch"),
  ]) func editsAreRefusedAfterWhichThePatchHasNoForm(line: String, place: String, words: String) throws {
    let folder = try Folder()
    let patch = try hall(in: folder)
    let script = try folder.file("s", line + "\nset tone.level -9dB\n")
    let applied = try Program.run("apply", "-i", script, patch)
    #expect(applied.status == 1)
    let error = applied.errors.split(separator: "\n").first { $0.hasPrefix("\(script):\(place): error: ") }
    #expect(error?.contains(words) == true, "\(applied.errors)")
    #expect(try String(contentsOfFile: patch, encoding: .utf8) == Self.echoes)
    // The other lines are carried out on demand.
    let partial = try Program.run("apply", "--partial", script, patch)
    #expect(partial.status == 1)
    #expect(
      partial.output
        == Self.echoes.replacingOccurrences(of: "tone oscillator", with: "tone oscillator level=-9dB"))
  }

  /// A node that ends up where a file may have it is told of; one that goes on from there is not.
  @Test func aNodeOutOfPlaceIsToldOfUnlessItGoesOn() throws {
    let folder = try Folder()
    let patch = try hall(in: folder)
    for (lines, warnings) in [
      ("rename box/f f\n", 1), ("rename box/f f\nrename f box/g\n", 0), ("rename box/f f\nundo\n", 0),
      ("node a/b noise\n", 1), ("node a/b noise\nnode a patch\n", 0),
      ("connect box/f -> box/in\ndisconnect box/f -> box/in\n", 0),
    ] {
      let applied = try Program.run("apply", try folder.file("s", lines), patch)
      #expect(applied.status == 0, "\(lines)")
      #expect(
        applied.errors.components(separatedBy: ": warning: ").count == warnings + 1,
        "\(lines)\(applied.errors)")
      // A difference leads there all the same, and back.
      let other = try folder.file("b.patch", applied.output)
      for (from, to, wanted) in [(patch, other, applied.output), (other, patch, Self.echoes)] {
        let script = try folder.file("d", try Program.run("diff", from, to).output)
        let again = try Program.run("apply", script, from)
        #expect(again.status == 0 && again.output == wanted, "\(lines)\(again.errors)")
      }
    }
  }
}
