import ArgumentParser
import Interface

extension ManualPage {
  /// `sostenuto(1)`: the commands with their options, and the keys of the front end; `prefix`: where the program is
  /// installed.
  static func program(prefix: String) -> ManualPage {
    let root = HelpText(Sostenuto.self)
    let types = Sostenuto.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    let commands = types.map { HelpText($0) }
    var page = ManualPage(
      "sostenuto", section: 1, of: "User Commands",
      summary: "a modular audio patching environment for the terminal")
    page.section("Synopsis")
    page.synopsis(["sostenuto [<patch>] [<options>]"] + commands.map(\.usage))
    page.section("Description")
    page.paragraph(
      """
      Sostenuto plays a sampler from the computer's keyboard or from MIDI, through a graph of nodes and cables: a \
      patch. The graph can be changed while it sounds; held notes go on, and nothing clicks.
      """)
    for paragraph in root.discussion { page.paragraph(paragraph) }
    page.paragraph(
      "`sostenuto-patch`(5) has the language of patches, `sostenuto-kinds`(7) the kinds of nodes.")
    page.section("Commands")
    for (command, type) in zip(commands, types) {
      page.subsection("sostenuto \(type.configuration.commandName ?? "")")
      page.describe(command)
    }
    page.section("Options")
    page.paragraph("Besides the options of each command:")
    for option in root.options { page.entry(option) }
    page.entry(
      "--generate-completion-script SHELL", "Print the completions for a shell: `bash`, `zsh` or `fish`.")
    page.keys()
    page.surroundings(prefix)
    page.references([("sostenuto-patch", 5), ("sostenuto-kinds", 7), ("jackd", 1), ("aplay", 1)])
    return page
  }

  /// A command's help.
  private mutating func describe(_ command: HelpText) {
    paragraph(command.abstract)
    for part in command.discussion {
      guard part.contains("\n  ") else {
        paragraph(part)
        continue
      }
      let lines = part.split(separator: "\n")
      paragraph(lines.filter { !$0.hasPrefix("  ") }.joined(separator: " "))
      example(lines.filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }.joined(separator: "\n"))
    }
    let general = ["-h, --help", "--version"]
    for entry in command.arguments + command.options where !general.contains(entry.label) {
      self.entry(entry)
    }
  }

  private mutating func entry(_ entry: HelpText.Entry) {
    self.entry(marked: Self.optionLabel(entry.label), entry.meaning)
  }

  /// Options bold, their values slanted: `<file>` is a value.
  private static func optionLabel(_ label: String) -> String {
    label.split(separator: " ").map { word in
      let (name, comma) = word.hasSuffix(",") ? (word.dropLast(), ",") : (word, "")
      if name.hasPrefix("<"), name.hasSuffix(">") {
        return "\\fI\(escaped(String(name.dropFirst().dropLast())))\\fR" + comma
      }
      return "\\fB\(escaped(String(name)))\\fR" + comma
    }
    .joined(separator: " ")
  }

  /// One command line a line; many options are told as `[options]`.
  private mutating func synopsis(_ lines: [String]) {
    let short = lines.map { line in
      guard line.count > 72, let options = line.firstRange(of: " [--") else { return line }
      return line[..<options.lowerBound] + " [options]"
    }
    example(short.map { $0.replacing("<", with: "").replacing(">", with: "") }.joined(separator: "\n"))
  }

  private mutating func keys() {
    section("Keys")
    paragraph("Keys of the front end; `--keys` `FILE` changes them, in the form of `keys/default.toml`.")
    for section in Keymap.reference {
      subsection(section.title)
      for entry in section.entries { self.entry(entry.keys.joined(separator: "  "), entry.help + ".") }
    }
  }

  private mutating func surroundings(_ prefix: String) {
    section("Exit status")
    entry("0", "Done.")
    entry("1", "The input is wrong: a patch, a script, an instrument.")
    entry("2", "The command line is wrong.")
    section("Environment")
    entry("NO_COLOR", "If it is set to anything, the front end uses the theme `monochrome`.")
    entry("JACK_DEFAULT_SERVER", "Name of the JACK server, unless `--jack-server` names one.")
    entry("XDG_CONFIG_HOME", "Folder of the user's own themes; `~/.config` if it is not set.")
    entry(
      "XDG_STATE_HOME",
      "Folder of the prompt's history, and of journals that cannot lie beside their patch; `~/.local/state` if it "
        + "is not set.")
    section("Files")
    entry(
      ".NAME.journal",
      "Journal of the patch `NAME`: every edit that is not yet saved, so that a crash loses none.")
    entry("$XDG_CONFIG_HOME/sostenuto/themes/", "The user's own themes, found by `--theme` `NAME`.")
    entry(
      prefix + "/share/sostenuto/",
      "Examples: `Patches` and `Instruments`, the themes of the program and its keys as files to begin with.")
  }
}
