import Patch
import PatchLanguage
import Session

/// A command of the program at the prompt, beside the verbs of the language: one row of `all`.
struct PromptCommand: Sendable {
  /// Its names, the one that is completed first.
  let names: [String]
  /// Description for people.
  let help: String
  /// Completions of its argument, as far as it is typed.
  let arguments: @MainActor @Sendable (Desk, String) -> [Completion.Candidate]
  /// Shows what an argument would do, while it is typed.
  let preview: @MainActor @Sendable (Desk, String) -> Void
  /// Effect. The argument is empty where none is given.
  let effect: @MainActor @Sendable (Desk, String) throws -> Void

  init(
    _ names: String..., help: String,
    arguments: @escaping @MainActor @Sendable (Desk, String) -> [Completion.Candidate] = { _, _ in [] },
    preview: @escaping @MainActor @Sendable (Desk, String) -> Void = { _, _ in },
    _ effect: @escaping @MainActor @Sendable (Desk, String) throws -> Void
  ) {
    (self.names, self.help) = (names, help)
    (self.arguments, self.preview, self.effect) = (arguments, preview, effect)
  }

  /// Its help begins with its form.
  var takesArgument: Bool { help.hasPrefix(names[0] + " ") }

  static let all: [PromptCommand] =
    [
      PromptCommand(
        "save", "w", help: "save FILE: to the file that it came from, or to another",
        arguments: { FileWords.argument($1, endings: ["patch"]) }
      ) {
        if $1.isEmpty { $0.requests.append("save") } else { Saving($0).save(as: try path($1)) }
      },
      PromptCommand(
        "open", "e", "edit", help: "open FILE: a patch, or what plays an instrument, a sound or a MIDI file",
        arguments: { _, typed in
          FileWords.argument(typed, endings: FileWords.openable)
            + RecentFiles.list().map { Completion.Candidate(Quoting.word($0), "recent") }
        }
      ) { desk, file in
        if file.isEmpty {
          Browser.open(nil, desk)
        } else {
          Opening(desk).open(try path(file))
        }
      },
      PromptCommand("merge", help: "merge the file's version with the patch, yours where both changed") {
        desk, _ in
        Saving(desk).take(merging: true)
      },
      PromptCommand("reload", help: "take the file's version in place of the patch; undo has yours") {
        desk, _ in
        Saving(desk).take(merging: false)
      },
      PromptCommand(
        "wq", help: "wq FILE: save, and quit", arguments: { FileWords.argument($1, endings: ["patch"]) }
      ) { desk, file in
        if desk.isKeptRunning { return }
        if file.isEmpty, desk.workbench.file == nil { return Prompt.open("wq ", desk) }
        try Saving(desk).save(as: file.isEmpty ? nil : path(file)) { $0.wish = .quit }
      },
      PromptCommand("quit", "q", help: "quit; asks when something is not saved, or recorded") { desk, _ in
        desk.requests.append("quit")
      },
      PromptCommand("quit!", "q!", help: "quit; edits that are not saved stay in the journal") { desk, _ in
        if !desk.isKeptRunning { desk.wish = .quitKeepingEdits }
      },
      PromptCommand(
        "export", help: "export FILE: the history as a script",
        arguments: { FileWords.argument($1, endings: ["script"]) }
      ) { desk, file in
        if file.isEmpty { Prompt.open("export ", desk) } else { Saving(desk).export(to: try path(file)) }
      },
      PromptCommand(
        "theme", help: "theme NAME: other colours",
        arguments: { desk, _ in desk.themes.map { Completion.Candidate($0) } },
        preview: { $0.previewedTheme = $0.themes.contains($1) ? $1 : nil }
      ) { desk, name in
        if name.isEmpty { return Prompt.open("theme ", desk) }
        guard desk.themes.contains(name) else {
          return desk.complain("no theme `\(name)`: there are \(desk.themes.joined(separator: ", "))")
        }
        desk.chosenTheme = name
        desk.say("theme \(name); `theme = \"\(name)\"` in \(desk.settingsFile) keeps it")
      },
      PromptCommand(
        "piano", help: "piano NAME: the layout of the piano's keys, or a TOML file with one",
        arguments: { _, typed in
          KeyboardLayout.builtIn.map { Completion.Candidate($0.name) }
            + FileWords.argument(typed, endings: ["toml"])
        }
      ) { desk, name in
        if !name.isEmpty { return desk.use(try desk.findLayout(try path(name))) }
        desk.say(
          "piano \(desk.state.play.layout.name): there are \(KeyboardLayout.names), or name a TOML file")
      },
      PromptCommand("tour", help: "begin the tour, or end it") { desk, _ in desk.requests.append("tour") },
      PromptCommand(
        "help", help: "help VERB: all keys, or a verb of the language, a command or an action",
        arguments: { _, _ in
          (Verb.all.map(\.name) + all.map { $0.names[0] }).map { Completion.Candidate($0) }
        }
      ) { desk, word in
        if word.isEmpty { desk.requests.append("show-help") } else { desk.state.wantedHelp = word }
      },
    ] + SoundState.Mode.allCases.map(looking)

  /// The command of a line, with its argument.
  static func of(_ line: String) -> (command: PromptCommand, argument: String)? {
    let words = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
    // A word of thousands of letters is no command.
    guard let first = words.first, first.count < 100, case let name = String(Substring(first)),
      let command = all.first(where: { $0.names.contains(name) })
    else { return nil }
    return (command, words.count > 1 ? String(String(Substring(words[1])).trimming(" ")) : "")
  }

  /// Number of characters before the argument of a line.
  static func column(ofArgumentIn line: String) -> Int {
    var rest = Substring(line)
    for isSpace in [true, false, true] { rest = rest.drop { ($0 == " ") == isSpace } }
    return line.count - rest.count
  }

  /// The path that an argument names, quoted or not, from the working folder or `~/`. Throws for `-` and the
  /// like: the keys come from there, and reading it would wait for ever.
  private static func path(_ argument: String) throws -> String {
    let path = FilePath.resolved(try QuotedText.read(argument), from: "")
    guard PatchFile.descriptor(of: path) == nil else { throw NoFile(name: path) }
    return path
  }

  // MARK: Looking at sound

  private static func looking(_ mode: SoundState.Mode) -> PromptCommand {
    PromptCommand(
      mode.rawValue, help: "\(mode.rawValue) NODE.PORT: the \(mode.rawValue) of a port",
      arguments: { desk, _ in
        desk.scene.patch.nodes.values.flatMap { desk.scene.soundPorts(of: $0) }.compactMap { port in
          desk.scene.name(of: port).map {
            Completion.Candidate($0, port.isInput ? "what goes in" : "what comes out")
          }
        }
      }
    ) { desk, name in
      if !name.isEmpty {
        guard let port = desk.scene.soundPort(named: name) else {
          return desk.complain("`\(name)` is no port with sound: tab after `\(mode.rawValue) ` lists them")
        }
        desk.focus(port.node)
        desk.state.sound.port = port
        desk.state.sound.channel = nil
      }
      desk.state.sound.mode = mode
      desk.state.sound.isFrozen = false
      desk.state.view = .scope
    }
  }
}

/// A name that stands for an open stream.
private struct NoFile: Error, CustomStringConvertible {
  let name: String
  var description: String { "`\(name)` is no file: only files can be opened and saved here" }
}

extension String {
  fileprivate func trimming(_ character: Character) -> Substring {
    var text = drop { $0 == character }
    while text.last == character { text.removeLast() }
    return text
  }
}
