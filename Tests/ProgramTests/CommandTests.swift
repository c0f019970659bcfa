import Foundation
import Testing

@Suite struct CommandTests {
  @Test func tenErrorsOnTenLinesAreAllReportedWithTheirPlaces() throws {
    let folder = try Folder()
    let path = try folder.file(
      "ten.patch",
      """
      sostenuto 1
      node tone oscillator
      node out output
      connect tone -> nobody
      connect tonne -> out
      node tone gain
      set tone.levle -6dB
      set tone.level loud
      frobnicate the widget
      connect tone -> out map=[0,9
      set out.channels 900
      connect tone.sideways -> out
      node 7! gain

      """)
    let outcome = try Program.run("check", path)
    #expect(outcome.status == 1)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 10, "\(outcome.output)")
    for (line, number) in zip(lines, 4...13) {
      #expect(line.hasPrefix("\(path):\(number):"))
      #expect(line.contains(": error: "))
    }
    #expect(outcome.output.contains("did you mean `tone`?"))
    let json = try Program.run("check", "--json", path)
    let list = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
    #expect(list?.count == 10)
    #expect(json.status == 1)
  }

  @Test func instrumentsAreCheckedOpcodeByOpcode() throws {
    let folder = try Folder()
    let path = try folder.file("a.sfz", "<region> sample=*sine wobble=1\n<region> sample=gone.wav")
    let outcome = try Program.run("check", path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("\(path):1: warning: the opcode `wobble` has no effect here"))
    #expect(outcome.output.contains("\(path):2: warning: sample `gone.wav`: No such file or directory"))
    #expect(outcome.output.contains("2 opcodes: 1 understood, 1 ignored"))
    let empty = try folder.file("b.sfz", "<region> sample=gone.wav")
    let refused = try Program.run("check", "--json", empty)
    #expect(refused.status == 1)
    let list = try JSONSerialization.jsonObject(with: Data(refused.output.utf8)) as? [[String: Any]]
    #expect((list?.first?["error"] as? String)?.contains("nothing in it can be played") == true)
    #expect(try Program.run("kinds", "sampler").output.contains("fil_keytrack"))
  }

  @Test func soundFilesAreCheckedAsWhatTheyAre() throws {
    let folder = try Folder()
    func u32(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    // 16-bit mono, one second.
    let head = Array("WAVEfmt ".utf8) + u32(16) + [1, 0, 1, 0] + u32(8000) + u32(16000) + [2, 0, 16, 0]
    let body = head + Array("data".utf8) + u32(16000) + [UInt8](repeating: 0, count: 16000)
    let path = folder.path + "/a.wav"
    try Data(Array("RIFF".utf8) + u32(UInt32(body.count)) + body).write(to: URL(fileURLWithPath: path))
    let whole = try Program.run("check", path)
    #expect(whole.status == 0)
    #expect(whole.output == "\(path): WAV, 16-bit, 1 channel, 8000 Hz, 8000 frames (1.000 s)\n")
    truncate(path, 44 + 8000)
    let cut = try Program.run("check", path)
    #expect(
      cut.output.hasPrefix(
        "\(path):1: warning: the file is cut short: 8000 bytes are missing; 4000 frames were read\n"))
    let json = try Program.run("check", "--json", path)
    let list = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
    #expect(list?.first?["frames"] as? Int == 4000 && list?.first?["rate"] as? Int == 8000)
    let none = try folder.file("none.flac", "sostenuto 1\n")
    let refused = try Program.run("check", none)
    #expect(refused.status == 1 && refused.output.hasPrefix("\(none):1: error: not a readable audio file: "))
  }

  @Test func aWrongCommandLineIsTwoAndAWrongInputOne() throws {
    #expect(try Program.run("render", "--no-such-option").status == 2)
    #expect(try Program.run("render", "a.patch", "--seconds", "1").status == 2)
    #expect(try Program.run("play", "a.patch").status == 2)
    for name in ["", "a:b", String(repeating: "n", count: 300)] {
      let refused = try Program.run("edit", "--jack-name", name)
      #expect(refused.status == 2 && refused.errors.contains("--jack-name is 1 to 6"))
    }
    #expect(try Program.run("print", "/no/such.patch").status == 1)
    #expect(try Program.run("kinds", "oscilator").status == 1)
    #expect(try Program.run("kinds", "oscilator").errors.contains("did you mean `oscillator`?"))
    let help = try Program.run("--help")
    #expect(help.status == 0)
    #expect(help.output.contains("render"))
  }

  @Test func everyPatchThatWeShipIsCanonicalAndLoadsWithoutAWord() throws {
    let root = Program.repository + "/Patches"
    let files = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".patch") }
      .filter { !$0.hasPrefix("benchmarks") }.sorted()
    #expect(files.contains("reconnect.patch"))
    #expect(files.count > 10)
    let folder = try Folder()
    for file in files {
      let path = root + "/" + file
      let check = try Program.run("check", path)
      #expect(check.status == 0 && check.output.isEmpty, "\(check.output)")
      #expect(
        try Program.run("format", path).output == String(contentsOfFile: path, encoding: .utf8), "\(file)")
      let render = try Program.run("render", path, "--seconds", "0.05", "--output", folder.path + "/o.wav")
      // Setups play sound banks that the repository does not contain.
      let isOurs = !file.hasPrefix("setups")
      #expect(render.status == 0, "\(file): \(render.errors)")
      #expect(!isOurs || !render.errors.contains("warning"), "\(file): \(render.errors)")
    }
  }

  @Test func editsOfSubPatchesAreAppliedToTheirFiles() throws {
    let folder = try Folder()
    let hall =
      "sostenuto 1\n\nnode in input\n\nnode f filter freq=2kHz\nconnect in -> f\n\nnode out output\nconnect f -> out\n"
    _ = try folder.file("hall.patch", hall)
    let patch = try folder.file(
      "a.patch", "sostenuto 1\n\nnode a patch file=hall.patch\n\nnode b patch file=hall.patch\n")
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
    }
    let unshare = try folder.file("u.s", "unshare b\n")
    #expect(try Program.run("apply", "-i", unshare, patch).status == 0)
    #expect(try text("a.patch").contains("node b/f filter freq=2kHz"))
    #expect(try text("hall.patch") == hall)
    let inner = try folder.file("i.s", "set a/f.freq 500Hz\n")
    let refused = try Program.run("apply", inner, patch)
    #expect(refused.status == 1 && refused.errors.contains("hall.patch") && refused.errors.contains("-i"))
    #expect(try text("hall.patch") == hall)
    #expect(try Program.run("apply", "-i", inner, patch).status == 0)
    #expect(try text("hall.patch") == hall.replacingOccurrences(of: "2kHz", with: "500Hz"))
    let expand = try folder.file("e.s", "expand a\n")
    #expect(try Program.run("apply", "-i", expand, patch).status == 0)
    #expect(try text("a.patch").contains("node f filter freq=500Hz"))
    #expect(try Program.run("check", patch).output.isEmpty)
  }

  /// What an edit of sub-patches makes of a patch, a difference makes too, line by line.
  @Test(arguments: [
    "rename box zz", "collapse box into outer", "collapse n box into q", "expand box", "copy box two",
    "remove box bridge", "rename box/f box/filt", "publish box/f.q as box/width", "replace box gain",
  ]) func aDifferenceOfSubPatchesIsApplied(edit: String) throws {
    let folder = try Folder()
    let before = try folder.file(
      "a.patch",
      "sostenuto 1\n\npublish box/f.freq as box/cut\n\nnode n oscillator\n\nnode box patch\n\nnode box/in inlet\nconnect n -> box\n\nnode box/f filter freq=2kHz\nconnect box/in -> box/f\n\nnode box/out outlet\nconnect box/f -> box/out\n\nnode out output\nconnect box -> out gain=-3dB\n"
    )
    let script = try folder.file("e.s", edit + "\n")
    let made = try Program.run("apply", script, before)
    #expect(made.status == 0, "\(made.errors)")
    let after = try folder.file("b.patch", made.output)
    #expect(try Program.run("check", after).output.isEmpty)
    let difference = try Program.run("diff", before, after)
    let lines = try folder.file("d.s", difference.output)
    let again = try Program.run("apply", lines, before)
    #expect(again.status == 0 && again.output == made.output, "\(edit): \(difference.output)\(again.errors)")
  }

  /// Lines that would leave two sub-patches of one file unlike each other are refused as a whole.
  @Test func twoOfOneFileAreNotLeftUnlike() throws {
    let folder = try Folder()
    _ = try folder.file("hall.patch", "sostenuto 1\n\nnode f filter\n")
    let patch = try folder.file(
      "a.patch",
      "sostenuto 1\n\nnode n gain\n\nnode a patch file=hall.patch\n\nnode b patch file=hall.patch\n")
    let script = try folder.file("e.s", "rename n a/n\n")
    let made = try Program.run("apply", "-i", script, patch)
    #expect(made.status == 1 && made.errors.contains("share a file"), "\(made.errors)")
    #expect(
      try String(contentsOfFile: folder.path + "/hall.patch", encoding: .utf8)
        == "sostenuto 1\n\nnode f filter\n")
  }

  @Test func checkNamesTheLineOfASubPatchsFile() throws {
    let folder = try Folder()
    _ = try folder.file("low.patch", "sostenuto 1\nnode f filter freq=loud\n")
    _ = try folder.file("mid.patch", "sostenuto 1\nnode l patch file=low.patch\n")
    let patch = try folder.file(
      "a.patch", "sostenuto 1\nnode m patch file=mid.patch\nnode n patch file=mid.patch\n")
    let check = try Program.run("check", patch)
    #expect(check.status == 1 && check.output.contains("low.patch:2:"), "\(check.output)")
    #expect(check.output.components(separatedBy: "low.patch:2:").count == 2)
  }

  /// A file that is found by many names, as through a folder that leads to itself, is checked once.
  @Test func checkTellsAFaultOfASubPatchsFileOnce() throws {
    let folder = try Folder()
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/here", withDestinationPath: ".")
    let patch = try folder.file("a.patch", "sostenuto 1\nnode me patch file=here/here/a.patch\n")
    let check = try Program.run("check", patch)
    #expect(check.status == 1 && check.output.contains("a.patch -> a.patch"), "\(check.output)")
    #expect(check.output.components(separatedBy: "cannot have itself inside").count == 2, "\(check.output)")
  }

  /// Outputs and taps have 256 channels together.
  @Test(arguments: [3, 4]) func tapsBeyondAllChannelsAreRefused(taps: Int) throws {
    let folder = try Folder()
    let patch = try folder.file(
      "a.patch", "sostenuto 1\nnode x oscillator channels=64\nnode out output channels=2\nconnect x -> out\n")
    let arguments = (0..<taps).flatMap { ["--tap", "x=\(folder.path)/\($0).wav"] }
    let render = try Program.run(
      ["render", patch, "--seconds", "0.05", "-o", folder.path + "/o.wav"] + arguments)
    #expect(render.status == (taps == 3 ? 0 : 1), "\(render.errors)")
    if taps == 4 {
      #expect(render.errors.contains("--tap x") && render.errors.contains("256"), "\(render.errors)")
    }
  }

  @Test func formattingAgainChangesNothingAndKeepsComments() throws {
    let folder = try Folder()
    let path = try folder.file(
      "wild.patch",
      """
      sostenuto 1
      connect a -> out gain=-3dB   # softly
      node out output
      # the source
      node a oscillator level=-18dB freq=1.2kHz
      layout a 2,1
      """)
    let once = try Program.run("format", path)
    #expect(once.status == 0)
    #expect(once.output.contains("# softly") && once.output.contains("# the source"))
    #expect(try Program.run("format", "-i", path).output.isEmpty)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == once.output)
    #expect(try Program.run("format", path).output == once.output)
  }

  @Test func thePrintoutReadBackRebuildsTheGraph() throws {
    let folder = try Folder()
    for name in ["reconnect", "basics/06-four-outputs-from-two", "basics/07-matrix", "basics/11-feedback"] {
      let source = "Patches/\(name).patch"
      let printed = try Program.run("print", source)
      #expect(printed.status == 0)
      #expect(printed.output.contains("output chain"))
      // Beside the original: files are named relative to the folder.
      let copy = try folder.file("copy.patch", printed.output)
      let rebuilt = try Program.run("format", copy).output
      let nodes = rebuilt.split(separator: "\n").filter { !$0.hasPrefix("#") }
      let original = try Program.run("format", source).output.split(separator: "\n").filter {
        !$0.hasPrefix("#")
      }
      #expect(nodes == original)
    }
    let json = try Program.run("print", "Patches/reconnect.patch", "--format", "json").output
    #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [String: Any])
    #expect(try Program.run("print", "Patches/reconnect.patch", "--format", "dot").output.contains("digraph"))
  }

  @Test func kindsDocumentTheirPortsAndParameters() throws {
    let list = try Program.run("kinds").output
    for kind in ["sampler", "player", "matrix", "distortion", "output"] {
      #expect(list.contains("  \(kind) "))
    }
    let page = try Program.run("kinds", "distortion").output
    for word in ["inputs", "outputs", "drive", "dB", "default 12dB", "tanh, fold, hard"] {
      #expect(page.contains(word))
    }
    let json = try Program.run("kinds", "--json").output
    let kinds = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    #expect((kinds?.count ?? 0) > 12)
  }

  /// The front end makes a patch of a missing file; to play one must be a mistake.
  @Test func aPatchThatIsNotThereIsNotPlayed() throws {
    let outcome = try Program.run(
      "play", "/nowhere/p.patch", "--headless", "--driver", "clock", "--seconds", "0.1")
    #expect(outcome.status == 1 && outcome.errors.contains("/nowhere/p.patch: No such file or directory"))
  }
}
