import Foundation
import Testing

@Suite struct GitTests {
  static let base = """
    sostenuto 1

    # warm
    node osc oscillator level=-20dB

    node dist distortion drive=18dB mix=50%
    connect osc -> dist

    node out output
    connect dist -> out

    """

  /// A repository with the merge driver, and a patch changed on two branches; `main` is checked out.
  private func diverged(_ ours: String, _ theirs: String, base: String = base) throws -> Repository {
    let repository = try Repository()
    let setup = try repository.sostenuto("git-setup")
    #expect(setup.status == 0, "\(setup.errors)")
    try repository.write("a.patch", base)
    try repository.write("notes.txt", "one\n")
    try repository.commit("base")
    try repository.git("branch", "other")
    try repository.write("a.patch", ours)
    try repository.commit("ours")
    try repository.git("checkout", "-q", "other")
    try repository.write("a.patch", theirs)
    try repository.write("notes.txt", "two\n")
    try repository.commit("theirs")
    try repository.git("checkout", "-q", "main")
    return repository
  }

  /// Newer versions of git label the sides differently.
  private func plain(_ text: String) -> String {
    text.replacingOccurrences(of: "<<<<<<< HEAD", with: "<<<<<<< ours").replacingOccurrences(
      of: ">>>>>>> other", with: ">>>>>>> theirs")
  }

  private func edited(_ lines: String) throws -> String {
    let folder = try Folder()
    let outcome = try Program.run(
      ["apply", "-", try folder.file("a.patch", Self.base)], in: folder.path, input: lines)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test func gitMergesWhatByItsLinesWouldBeAConflict() throws {
    let repository = try diverged(
      try edited("set dist.drive 20dB\nnode verb delay\n"), try edited("set dist.mix 80%\nnode rev delay\n"))
    let merge = try repository.git("merge", "-q", "other", "-m", "both")
    #expect(merge.status == 0, "\(merge.output)\(merge.errors)")
    let wanted = try edited("set dist.drive 20dB\nset dist.mix 80%\nnode verb delay\nnode rev delay\n")
    #expect(try repository.read("a.patch") == wanted)
    #expect(try repository.read("notes.txt") == "two\n")
    #expect(try repository.sostenuto("check", "a.patch").status == 0)
  }

  @Test func gitShowsAConflictOfPatchesAsItDoesOthers() throws {
    let repository = try diverged(
      try edited("set dist.drive 20dB\nset osc.level -10dB\n"),
      try edited("set dist.drive 22dB\nlayout out 3,1\n"))
    let merge = try repository.git("merge", "-q", "other", "-m", "both")
    #expect(merge.status == 1)
    #expect(merge.errors.contains("a.patch: conflict: `dist.drive` is 20dB here and 22dB there"))
    let text = plain(try repository.read("a.patch"))
    #expect(
      text.contains(
        """
        <<<<<<< ours
        node dist distortion drive=20dB mix=50%
        =======
        node dist distortion drive=22dB mix=50%
        >>>>>>> theirs

        """))
    #expect(text.contains("node osc oscillator level=-10dB\n") && text.contains("\nlayout out 3,1\n"))
    #expect(try repository.git("status", "--porcelain").output.contains("UU a.patch"))
    // The file with conflict markers is no valid patch, and the message says so.
    let check = try repository.sostenuto("check", "a.patch")
    #expect(check.status == 1)
    #expect(check.output.contains("a conflict of two versions"))
  }

  @Test func changesThatFitByTheirLinesButNotTogetherAreAConflict() throws {
    let base = "sostenuto 1\n\nnode m matrix inputs=4\n\nnode a gain\n\nnode b gain\n"
    let repository = try diverged(
      base.replacingOccurrences(of: "inputs=4", with: "inputs=2"),
      base.replacingOccurrences(of: "\nnode a", with: "set m[3,1] -3dB\n\nnode a"), base: base)
    #expect(try repository.git("merge", "-q", "other", "-m", "both").status == 1)
    let text = try repository.read("a.patch")
    #expect(
      text.contains("node m matrix\n") && text.contains("set m[3,1] -3dB\n") && text.contains("<<<<<<< ours"))
  }

  @Test func filesThatAreNoPatchesAreMergedByTheirLinesAsEver() throws {
    let base = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n one\n two\n three\n"
    let repository = try diverged("# mine\n" + base, base + "# yours\n", base: base)
    #expect(try repository.git("merge", "-q", "other", "-m", "both").status == 0)
    #expect(try repository.read("a.patch") == "# mine\n" + base + "# yours\n")
    let other = try diverged("mine\n" + base, "yours\n" + base, base: base)
    #expect(try other.git("merge", "-q", "other", "-m", "both").status == 1)
    let text = plain(try other.read("a.patch"))
    #expect(text.contains("<<<<<<< ours\nmine\n=======\nyours\n>>>>>>> theirs\n"))
  }

  @Test func settingGitUpTwiceChangesNothing() throws {
    let repository = try Repository()
    try repository.write(".gitattributes", "*.wav binary")
    for _ in 0..<2 {
      #expect(try repository.sostenuto("git-setup").status == 0)
      #expect(
        try repository.read(".gitattributes") == "*.wav binary\n*.patch merge=sostenuto diff=sostenuto\n")
      let values = try repository.git("config", "--get-all", "merge.sostenuto.driver").output
      #expect(values.split(separator: "\n").count == 1)
      #expect(values.contains("merge -i --marker-size %L"))
    }
    #expect(try repository.sostenuto("git-setup", "--global").status == 0)
    let attributes = try String(
      contentsOfFile: repository.home.path + "/.config/git/attributes", encoding: .utf8)
    #expect(attributes == "*.patch merge=sostenuto diff=sostenuto\n")
    #expect(try repository.git("config", "--global", "merge.sostenuto.name").status == 0)
    let nowhere = try Folder()
    let outcome = try Program.run(["git-setup"], in: nowhere.path, environment: ["HOME": nowhere.path])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("no git repository here"))
  }

  /// Git gets copies of what comes through pipes. The status is 1 however many conflicts there are.
  @Test func filesThatAreNoPatchesAreMergedByLinesFromPipesToo() throws {
    let folder = try Folder()
    func text(_ mark: String) -> String {
      let same = "same\nsame again\nsame still\nsame\n"
      return ["one", "two", "three"].map { "frobnicate \($0)\(mark)\n" + same }.joined()
    }
    for (name, mark) in [("base", ""), ("ours", "!"), ("-theirs", "?")] {
      _ = try folder.file(name, text(mark))
    }
    let piped = try Program.run(
      tool: "/bin/bash",
      ["-c", "'\(Program.path)' merge <(cat base) <(cat ours) <(cat ./-theirs)"],
      in: folder.path)
    let input = try Program.run(
      ["merge", "base", "-", "./-theirs"], in: folder.path, input: text("!"))
    for outcome in [piped, input] {
      #expect(outcome.status == 1, "\(outcome.errors)")
      #expect(outcome.errors.contains("merged line by line"))
      #expect(outcome.output.components(separatedBy: "<<<<<<<").count == 4, "\(outcome.output)")
      #expect(outcome.output.contains("frobnicate two!\n=======\nfrobnicate two?\n"))
    }
    let written = try Program.run(["merge", "-i", "base", "ours", "./-theirs"], in: folder.path)
    #expect(written.status == 1 && written.output.isEmpty)
    #expect(try folder.bytes("ours") != Data(text("!").utf8))
    // What comes from a pipe cannot be written back.
    for command in [["merge", "-i", "base", "-", "./-theirs"], ["apply", "-i", "base", "-"]] {
      let outcome = try Program.run(command, in: folder.path, input: text("!"))
      #expect(outcome.status == 1 && outcome.errors.contains("-: only a file can be written back"))
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.sorted() == ["-theirs", "base", "ours"])
  }

  @Test func mergingPrintsUnlessItIsToldToWrite() throws {
    let folder = try Folder()
    let base = try folder.file("base", Self.base)
    let ours = try folder.file("ours", try edited("set dist.drive 20dB\n"))
    let theirs = try folder.file("theirs", try edited("rename dist fuzz\n"))
    let wanted = try edited("set dist.drive 20dB\nrename dist fuzz\n")
    let printed = try Program.run("merge", base, ours, theirs)
    #expect(printed.status == 0 && printed.output == wanted && printed.errors.isEmpty)
    #expect(try String(contentsOfFile: ours, encoding: .utf8) != wanted)
    let written = try Program.run("merge", "-i", base, ours, theirs)
    #expect(written.status == 0 && written.output.isEmpty)
    #expect(try String(contentsOfFile: ours, encoding: .utf8) == wanted)
  }

  /// Git takes status 1 for a conflict whose place our side's file shows. A file that cannot be read or written is none.
  @Test(arguments: [true, false]) func aMergeThatFailsIsNoConflictForGit(isCalledByGit: Bool) throws {
    let folder = try Folder()
    for name in ["base", "ours", "theirs"] { _ = try folder.file(name, Self.base) }
    let path = isCalledByGit ? ["--path", "a.patch"] : []
    let status: Int32 = isCalledByGit ? 129 : 1
    let unread = try Program.run(["merge", "-i"] + path + ["base", "ours", "gone"], in: folder.path)
    #expect(unread.status == status && unread.errors.contains("gone: "), "\(unread)")
    // A link that leads round to itself is no place to write to.
    #expect(symlink("round", folder.path + "/round") == 0)
    let unwritten = try Program.run(["merge", "-i"] + path + ["base", "round", "theirs"], in: folder.path)
    #expect(unwritten.status == status && unwritten.errors.contains("round: "), "\(unwritten)")
    // A conflict is one.
    _ = try folder.file("ours", try edited("set dist.drive 20dB\n"))
    _ = try folder.file("theirs", try edited("set dist.drive 3dB\n"))
    let conflict = try Program.run(["merge", "-i"] + path + ["base", "ours", "theirs"], in: folder.path)
    #expect(conflict.status == 1, "\(conflict)")
    #expect(String(decoding: try folder.bytes("ours"), as: UTF8.self).contains("<<<<<<<"))
  }
}
