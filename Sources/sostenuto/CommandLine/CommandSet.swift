import Patch

/// A program's commands, and what its first word means.
struct CommandSet: Sendable {
  /// A command line that is right.
  enum Invocation {
    case command(any Command)
    /// Help, the version or completions: text for standard output.
    case text(String)
  }

  let name: String
  let abstract: String
  let discussion: String
  let version: String
  let commands: [any Command.Type]
  /// The command of a command line that names none.
  let standard: any Command.Type
  /// Shell whose completions are printed if none is named.
  var shell: String?
  /// True for a file that exists: a first word that is one is no mistyped command.
  let isFile: @Sendable (String) -> Bool

  /// Commands that are shown.
  var shown: [CommandDescription] { commands.map { $0.description }.filter { !$0.isHidden } }

  /// Options of the program itself.
  var options: [Parameter] {
    Parameter.general + [
      Parameter(
        form: .option, name: "generate-completion-script", value: "shell",
        help: "Print the completions for a shell.", choices: Shell.allCases.map(\.rawValue),
        completion: .words(Shell.allCases.map(\.rawValue)))
    ]
  }

  /// Reads the words after the program's name.
  func read(_ words: [String]) throws -> Invocation {
    guard let first = words.first else { return .command(try standard.parse([])) }
    if let command = commands.first(where: { $0.description.name == first }) {
      return try read(Array(words.dropFirst()), for: command)
    }
    if first == "help" { return .text(try help(Array(words.dropFirst()))) }
    if first == "-h" || first == "--help" { return .text(help) }
    let script = first.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if let option = options.last, script[0] == option.spelling {
      return .text(try completions(script.count > 1 ? String(script[1]) : words.dropFirst().first, option))
    }
    if let near = mistyped(first) {
      throw UsageError(
        "Unknown subcommand '\(first)'. Did you mean '\(near)'? "
          + "'\(name) \(standard.description.name) \(first)' takes it for a file's name.")
    }
    return try read(words, for: standard)
  }

  private func read(_ words: [String], for command: any Command.Type) throws -> Invocation {
    let options = words.prefix { $0 != "--" }
    if options.contains("-h") || options.contains("--help") { return .text(help(for: command.description)) }
    if options.contains("--version") { return .text(version + "\n") }
    return .command(try command.parse(words))
  }

  /// `help`, or `help COMMAND`.
  private func help(_ words: [String]) throws(UsageError) -> String {
    guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return help }
    if let command = commands.first(where: { $0.description.name == word }) {
      return help(for: command.description)
    }
    let names = shown.map(\.name)
    let near = Nearest.match(for: word, among: names).map { "Did you mean '\($0)'?" }
    throw UsageError(
      "Unknown subcommand '\(word)'. " + (near ?? "There are \(names.joined(separator: ", ")).")
    )
  }

  private func completions(_ word: String?, _ option: Parameter) throws(UsageError) -> String {
    let word = word ?? shell ?? ""
    guard let shell = Shell(rawValue: word) else {
      throw UsageError(
        "No completions for the shell '\(word)': there are \(option.choices.joined(separator: ", "))")
    }
    return completions(for: shell)
  }

  /// The command that is likely to be meant by a word that is no file's name by its looks.
  private func mistyped(_ word: String) -> String? {
    guard !word.hasPrefix("-"), !word.contains("/"), !word.contains("."), !isFile(word) else { return nil }
    return Nearest.match(for: word, among: shown.map(\.name) + ["help"])
  }
}
