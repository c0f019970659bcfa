import Interface

extension ManualPage {
  /// `sostenuto(1)`: the commands with their options, and the keys of the front end; `prefix`: where the program is
  /// installed.
  static func program(prefix: String) -> ManualPage {
    let program = Sostenuto.commands
    let commands = program.shown
    var page = ManualPage(
      "sostenuto", section: 1, of: "User Commands",
      summary: "a modular audio patching environment for the terminal")
    page.section("Synopsis")
    page.example(
      (["sostenuto [<patch>] [<options>]"] + commands.map(program.usage)).map(Self.plain).joined(
        separator: "\n"))
    page.section("Description")
    page.paragraph(
      """
      Sostenuto plays a sampler from the computer's keyboard or from MIDI, through a graph of nodes and cables: a \
      patch. The graph can be changed while it sounds; held notes go on, and nothing clicks.
      """)
    page.discuss(program.discussion)
    page.paragraph(
      "`sostenuto-patch`(5) has the language of patches, `sostenuto-kinds`(7) the kinds of nodes.")
    page.section("Commands")
    for command in commands {
      page.subsection("sostenuto \(command.name)")
      page.paragraph(command.abstract)
      page.discuss(command.discussion)
      for parameter in command.parameters { page.entry(parameter) }
    }
    page.section("Options")
    page.paragraph("Besides the options of each command:")
    for option in program.options { page.entry(option) }
    page.keys()
    page.surroundings(prefix)
    page.references([("sostenuto-patch", 5), ("sostenuto-kinds", 7), ("jackd", 1), ("aplay", 1)])
    return page
  }

  /// Paragraphs of a help text; indented lines are examples.
  private mutating func discuss(_ text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    while let first = lines.first {
      let isExample = first.hasPrefix("  ")
      let part = lines.prefix { !$0.isEmpty && $0.hasPrefix("  ") == isExample }
      if part.isEmpty {
        lines.removeFirst()
      } else if isExample {
        example(part.map { $0.dropFirst(2) }.joined(separator: "\n"))
      } else {
        paragraph(part.joined(separator: " "))
      }
      lines = lines.dropFirst(part.count)
    }
  }

  /// The spellings bold, the value slanted.
  private mutating func entry(_ parameter: Parameter) {
    func slanted(_ word: String) -> String { "\\fI\(Self.escaped(word))\\fR" }
    var term = slanted(parameter.name)
    if parameter.form != .argument {
      term = parameter.spellings.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
      if parameter.form == .option { term += " " + slanted(parameter.value) }
    }
    entry(marked: term, parameter.meaning)
  }

  /// A usage without the brackets around words.
  private static func plain(_ usage: String) -> String { usage.filter { $0 != "<" && $0 != ">" } }

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
    entry(
      "SOSTENUTO_CPU",
      "Of a package with programs for several processors: the one to start, `x86-64`, `x86-64-v3` or `x86-64-v4`. "
        + "Otherwise it is the one that fits the processor.")
    entry(
      "LANG", "The locale (or `LC_ALL`, `LC_CTYPE`): one without UTF-8 makes the front end draw with ASCII.")
    entry(
      "XDG_CONFIG_HOME",
      "Folder of the user's own settings, keys, themes and layouts; `~/.config` if it is not set.")
    entry(
      "XDG_STATE_HOME",
      "Folder of the prompt's history, and of journals that cannot lie beside their patch; `~/.local/state` if it "
        + "is not set.")
    section("Files")
    entry(
      ".NAME.journal",
      "Journal of the patch `NAME`: every edit that is not yet saved, so that a crash loses none.")
    entry(
      "$XDG_CONFIG_HOME/sostenuto/config.toml",
      "Settings: `theme` is the name of a theme, and `follow-file` is false where the open patch is not to follow what "
        + "others write into its file. Read again whenever it changes, as are keys and themes.")
    entry("$XDG_CONFIG_HOME/sostenuto/keys.toml", "Changes of the keys, unless `--keys` names a file.")
    entry("$XDG_CONFIG_HOME/sostenuto/themes/", "The user's own themes, found by `--theme` `NAME`.")
    entry(
      prefix + "/share/sostenuto/",
      "Examples: `Patches` and `Instruments`, the themes of the program and its keys as files to begin with.")
  }
}
