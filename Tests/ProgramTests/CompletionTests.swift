import Foundation
import Testing

/// The completions, asked as their shells ask them.
@Suite struct CompletionTests {
  /// A folder with files of several kinds.
  private static func files() throws -> Folder {
    let folder = try Folder()
    for name in ["song.patch", "old.patch", "tune.mid", "tune.midi", "day.toml", "notes.txt"] {
      _ = try folder.file(name, "")
    }
    try FileManager.default.createDirectory(atPath: folder.path + "/sub", withIntermediateDirectories: false)
    return folder
  }

  /// What stands before the cursor, and everything that is offered.
  static let lines: [(line: String, offered: Set<String>)] = [
    ("sostenuto rend", ["render"]),
    ("sostenuto so", ["song.patch"]),
    ("sostenuto --drivers x", []),
    ("sostenuto render ", ["song.patch", "old.patch", "sub"]),
    ("sostenuto render song.patch ", []),
    ("sostenuto render song.patch --midi ", ["tune.mid", "tune.midi", "sub"]),
    ("sostenuto render song.patch --quality ", ["4-point", "8-point", "sinc"]),
    ("sostenuto render song.patch --quality s", ["sinc"]),
    ("sostenuto render --rate 48000 so", ["song.patch"]),
    ("sostenuto render song.patch --form", ["--format"]),
    ("sostenuto song.patch --driver ", ["jack", "alsa", "clock"]),
    ("sostenuto song.patch --theme d", ["day.toml"]),
    ("sostenuto apply no", ["notes.txt"]),
    ("sostenuto apply notes.txt ", ["song.patch", "old.patch", "sub"]),
    ("sostenuto bundle song.patch -o ", ["sub"]),
    ("sostenuto kinds osc", ["oscillator"]),
    ("sostenuto help git", ["git-setup"]),
    ("sostenuto check song.patch no", ["notes.txt"]),
  ]

  @Test(arguments: lines) func bashOffersWhatFits(line: String, offered: Set<String>) throws {
    let folder = try Self.files()
    let script = try Program.run("--generate-completion-script", "bash").output
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let command = """
      \(script)
      COMP_WORDS=(\(list)) COMP_CWORD=\(words.count - 1)
      _sostenuto
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let outcome = try Program.run("/bin/bash", ["-c", command], in: folder.path)
    #expect(outcome.errors == "")
    #expect(Set(outcome.output.split(separator: "\n").map(String.init)) == offered, "\(line)")
  }

  /// Bash takes `=` for a word.
  @Test func bashCompletesAValueBehindAnEqualSign() throws {
    let script = try Program.run("--generate-completion-script", "bash").output
    for (words, offered) in [
      ("sostenuto render a.patch --quality =", "4-point\n8-point\nsinc\n"),
      ("sostenuto render a.patch --quality = s", "sinc\n"),
      ("sostenuto print --format = json --js", "--json\n"),
    ] {
      let command = """
        \(script)
        COMP_WORDS=(\(words)) COMP_CWORD=\(words.split(separator: " ").count - 1)
        _sostenuto
        printf '%s\\n' "${COMPREPLY[@]}"
        """
      #expect(try Program.run("/bin/bash", ["-c", command], in: "/").output == offered, "\(words)")
    }
  }

  @Test(arguments: lines) func fishOffersWhatFits(line: String, offered: Set<String>) throws {
    let folder = try Self.files()
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/fish") else { return }
    _ = try folder.file(".completions", try Program.run("--generate-completion-script", "fish").output)
    let outcome = try Program.run(
      "/usr/bin/fish", ["--no-config", "-c", "source .completions; complete -C '\(line)'"], in: folder.path,
      environment: ["HOME": folder.path])
    #expect(outcome.errors == "")
    // Each with its description behind a tab; folders with a slash.
    let words = outcome.output.split(separator: "\n").map { line in
      let word = line.prefix { $0 != "\t" }
      return String(word.hasSuffix("/") ? word.dropLast() : word)
    }
    #expect(Set(words) == offered, "\(line)")
  }
}
