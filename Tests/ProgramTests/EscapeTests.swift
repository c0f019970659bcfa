import Foundation
import Testing

@Suite struct EscapeTests {
  /// Characters that a terminal would obey (title, colours, bell, an eight-bit CSI), and ones that hide or
  /// reorder text.
  static let nasty = "\u{1b}]0;x\u{7}\u{1b}[31m\u{9b}2J\u{202e}\u{200b}\u{7f}"

  /// Control and direction characters that must never be printed.
  private func harmful(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter {
      $0.value < 32 && $0 != "\n" || (127..<160).contains($0.value) || $0.value == 0x202E
        || $0.value == 0x200B
    }
  }

  @Test func nothingThatAFileSaysMovesTheTerminal() throws {
    let folder = try Folder()
    let name = "a\(Self.nasty).patch"
    let patch = try folder.file(
      name,
      """
      sostenuto 1
      # \(Self.nasty)
      node p player file="x\(Self.nasty).wav"  # \(Self.nasty)
      node s sampler instrument="i\(Self.nasty).sfz"
      node out output
      connect p -> out
      connect s -> out

      """)
    _ = try folder.file(
      "i\(Self.nasty).sfz",
      "<region> sample=x\(Self.nasty).wav wob\(Self.nasty)=1\n<h\(Self.nasty)>\n<region> sample=*sine\n")
    let broken = try folder.file(
      "b\(Self.nasty).patch",
      "sostenuto 1\nnode a gain\nfrob\(Self.nasty)\nset a.g\(Self.nasty) 3\nnode n\(Self.nasty) gain\n")
    let script = try folder.file("s\(Self.nasty)", "set p.\(Self.nasty) 3\nnote \(Self.nasty) on C4\n")
    let sfz = folder.path + "/i\(Self.nasty).sfz"
    let commands: [[String]] = [
      ["check", patch], ["check", broken], ["check", sfz], ["check", "--json", patch, broken, sfz],
      ["print", patch], ["print", "--format", "dot", patch], ["print", "--json", patch], ["format", broken],
      ["apply", script, patch], ["diff", patch, broken], ["merge", broken, broken, broken],
      ["bundle", patch, "-o", folder.path + "/o"], ["kinds", Self.nasty],
      ["render", patch, "--seconds", "0.1", "--script", script, "-o", folder.path + "/x.wav"],
      ["render", patch, "--seconds", "0.1", "-o", folder.path + "/y\(Self.nasty).wav"],
      ["render", Self.nasty, "--seconds", "0.1", "-o", "/no\(Self.nasty)/x.wav"],
    ]
    for command in commands {
      let outcome = try Program.run(command)
      #expect(harmful(outcome.errors).isEmpty, "\(command[0]): \(outcome.errors.debugDescription)")
      // Commands that print the patch itself leave it unescaped in a pipe.
      let isExact =
        ["print", "format", "apply", "diff", "merge"].contains(command[0]) && !command.contains("--json")
        && !command.contains("dot")
      if !isExact {
        #expect(harmful(outcome.output).isEmpty, "\(command[0]): \(outcome.output.debugDescription)")
      }
    }
    let check = try Program.run("check", patch)
    #expect(
      check.output.contains("x\\u{1b}]0;x\\u{7}\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{200b}\\u{7f}.wav"),
      "\(check.output)")
  }

  @Test func aPipeGetsTheExactTextAndATerminalGetsItEscaped() throws {
    let folder = try Folder()
    let patch = try folder.file("a.patch", "sostenuto 1\n\n# \(Self.nasty)é\nnode a gain  # \(Self.nasty)\n")
    let text = try String(contentsOfFile: patch, encoding: .utf8)
    #expect(try Program.run("format", patch).output == text)
    let empty = try folder.file("empty", "")
    for command in [["format", patch], ["print", patch], ["diff", empty, patch], ["apply", empty, patch]] {
      let shown = try Program.shown(command)
      #expect(shown.contains("\\u{1b}]0;x\\u{7}"), "\(command[0]): \(shown.debugDescription)")
      // The terminal's own line ends.
      #expect(harmful(shown.replacingOccurrences(of: "\r\n", with: "\n")).isEmpty, "\(command[0])")
    }
    #expect(try Program.run("format", "-i", patch).status == 0)
    #expect(try String(contentsOfFile: patch, encoding: .utf8) == text)
  }

  @Test func whatIsWrongIsFoundInFilesOfOtherSystemsToo() throws {
    let folder = try Folder()
    let lines = [
      "sostenuto 1", "node t oscillator", "node p player file=gone.wav", "set t.levle 3",
      "connect t -> p.in map=[0,x]", "",
    ]
    for ending in ["\n", "\r\n"] {
      let path = try folder.file("a.patch", lines.joined(separator: ending))
      let output = try Program.run("check", path).output.split(separator: "\n")
      let places = output.map { $0.dropFirst(path.count + 1).prefix { $0 != " " } }
      #expect(places == ["4:7:", "5:26:", "3:20:"], "\(output)")
    }
  }

  @Test func everyFaultOfAnInstrumentIsToldWhenNothingOfItPlays() throws {
    let folder = try Folder()
    let path = try folder.file("a.sfz", "<region> sample=one.wav\n<region> sample=two.wav\n")
    let outcome = try Program.run("check", path)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("one.wav") && outcome.output.contains("two.wav"), "\(outcome.output)")
  }

  @Test func aFolderIsNotReadAndItIsSaidWhy() throws {
    let folder = try Folder()
    for command in ["check", "print", "format", "diff", "bundle"] {
      let arguments = command == "diff" ? [command, folder.path, folder.path] : [command, folder.path]
      let outcome = try Program.run(arguments)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("a folder, not a file"), "\(command): \(outcome.errors)")
    }
  }
}
