/// A shell for which there are completions.
enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

extension CommandSet {
  /// A script that completes the program's command lines in a shell.
  func completions(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// The commands that are completed; the standard one is also that of a command line without a name.
  var named: [String] { shown.map(\.name) + ["help"] }

  /// Text for a shell between single quotes.
  static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

extension CommandDescription {
  /// All spellings of all options, those of every command included.
  var spellings: [String] { (options + Parameter.general).flatMap(\.spellings) }
  /// Spellings of the options that take a value.
  var valued: [String] { options.filter { $0.form == .option }.flatMap(\.spellings) }
}
