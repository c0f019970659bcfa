import Foundation
import Interface
import PatchLanguage
import Testing

/// The manual pages and completions are made from the program's tables: a page has all of its table, and formatters
/// have nothing to say about it.
@Suite struct ManualTests {
  static let pages = ["program", "patch", "kinds"]

  /// Runs a tool; its output, and its errors with the status.
  private static func run(_ tool: String, _ arguments: [String]) throws -> Program.Outcome {
    // Wide enough that no term is broken.
    try Program.run(
      tool: "/usr/bin/env", [tool] + arguments,
      ["LC_ALL": "C.UTF-8", "MANWIDTH": "400", "MANPAGER": "cat", "MANROFFOPT": ""])
  }

  /// The page as it is read, with single blanks.
  private static func rendered(_ page: String) throws -> String {
    let folder = try Folder()
    let file = try folder.file("page.man", try Program.run("manual", page).output)
    let outcome = try run("man", ["--warnings", "--no-hyphenation", "--no-justification", "-l", file])
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
    return outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test(arguments: pages) func formattersAcceptThePage(_ page: String) throws {
    let folder = try Folder()
    let file = try folder.file("page.man", try Program.run("manual", page).output)
    let lint = try Self.run("mandoc", ["-T", "lint", file])
    #expect(lint.status == 0 && lint.output == "" && lint.errors == "", "\(lint.output)\(lint.errors)")
    #expect(try Self.rendered(page).contains("NAME sostenuto"))
  }

  @Test func thePageOfTheProgramHasEveryCommandOptionAndKey() throws {
    let page = try Self.rendered("program")
    let help = try Program.run("--help").output
    let list = try #require(help.range(of: "SUBCOMMANDS:\n"))
    let commands = help[list.upperBound...].matches(of: #/(?m)^  ([a-z-]+)/#).map { String($0.1) }
    #expect(commands.count > 10)
    for command in commands {
      #expect(page.contains("sostenuto \(command) "), "\(command) is missing")
      let options = try Program.run("help", command).output.matches(of: #/--[a-z-]+/#).map { String($0.0) }
      #expect(options.contains("--help"))
      for option in options { #expect(page.contains(option), "\(option) of \(command) is missing") }
    }
    for entry in Keymap.reference.flatMap(\.entries) {
      #expect(page.contains(entry.help.replacing("`", with: "")), "\(entry.help) is missing")
    }
    #expect(page.contains("/usr/local/share/sostenuto/"))
    #expect(
      try Program.run("manual", "program", "--prefix", "/opt/s").output.contains("/opt/s/share/sostenuto/"))
  }

  @Test func thePageOfTheLanguageHasEveryVerb() throws {
    let page = try Self.rendered("patch")
    for verb in Verb.all {
      #expect(page.contains(" \(verb.usage) "), "\(verb.usage) is missing")
      #expect(verb.summary.hasSuffix("."), "\(verb)")
    }
    for word in ["-6dB", "1.2kHz", "250ms", "80%", "-15cents", "7st", "C4"] { #expect(page.contains(word)) }
  }

  @Test func thePageOfTheKindsHasEveryKindPortAndParameter() throws {
    let page = try Self.rendered("kinds")
    let json = Data(try Program.run("kinds", "--json").output.utf8)
    let kinds = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
    #expect(kinds.count > 10)
    for kind in kinds {
      let summary = try #require(kind["summary"] as? String)
      let words = summary.replacing("`", with: "").split(whereSeparator: \.isWhitespace).joined(
        separator: " ")
      #expect(page.contains("\(kind["name"] as? String ?? "") \(words)"), "\(kind["name"] ?? "") is missing")
      for (list, mark) in [("inputs", "(input,"), ("outputs", "(output,"), ("parameters", "")] {
        for member in try #require(kind[list] as? [[String: Any]]) {
          let name = member["name"] as? String ?? ""
          // Crosspoints have no name but their indices.
          let term = mark.isEmpty ? (name.isEmpty ? "[inputs,outputs]" : name) : "\(name) \(mark)"
          #expect(page.contains(term), "\(term) is missing")
        }
      }
    }
    #expect(page.contains("fil_keytrack"))
  }

  @Test func theCompletionsNameEveryCommandAndAreReadByTheirShells() throws {
    let folder = try Folder()
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
      let text = try Program.run("--generate-completion-script", shell).output
      for command in ["render", "kinds", "git-setup", "oscillator", "jack"] {
        #expect(text.contains(command), "\(command) is missing for \(shell)")
      }
      #expect(!text.contains("manual"), "the hidden command is offered in \(shell)")
      let file = try folder.file("completions.\(shell)", text)
      // Shells other than bash are looked at where they are.
      guard try Self.run("sh", ["-c", "command -v \(shell)"]).status == 0 else { continue }
      let outcome = try Self.run(shell, [check, file])
      #expect(outcome.status == 0 && outcome.errors == "", "\(shell): \(outcome.errors)")
    }
  }

  @Test func theVersionIsANumber() throws {
    let outcome = try Program.run("--version")
    #expect(outcome.output.wholeMatch(of: #/\d+\.\d+\.\d+\n/#) != nil && outcome.status == 0)
  }
}
