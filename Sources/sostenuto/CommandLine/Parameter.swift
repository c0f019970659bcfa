/// An option or an argument of a command, as its help, its manual and the completions show it.
struct Parameter: Sendable {
  enum Form: Sendable {
    /// A value by its place.
    case argument
    /// `--name VALUE`
    case option
    /// `--name`
    case flag
  }

  /// Values that a shell offers.
  enum Completion: Sendable {
    case nothing
    /// Files with one of these endings; with any, if there are none.
    case files([String])
    case folders
    case words([String])

    /// Patch files.
    static let patches = files(["patch"])
  }

  var form: Form
  /// `output` for `--output`; of an argument its word in the help.
  var name: String
  /// `o` for `-o`.
  var short: Character?
  /// The value's word in the help; empty for a flag.
  var value: String
  var help: String
  /// The default as it would be typed; nil: there is none.
  var standard: String?
  /// All allowed values; empty: more than could be listed.
  var choices: [String]
  /// An argument that may not be left out.
  var isRequired = false
  var isRepeated = false
  var completion: Completion

  /// `--output`; of an argument `<patch>`.
  var spelling: String { form == .argument ? "<\(name)>" : "--\(name)" }

  /// Both spellings of an option, the short one first.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// `--output <file>`
  var spellingWithValue: String { form == .option ? "\(spelling) <\(value)>" : spelling }

  /// `-o, --output <file>`
  var label: String { (short.map { "-\($0), " } ?? "") + spellingWithValue }

  /// `[--output <file>]`
  var usage: String {
    let word = spellingWithValue
    return (isRequired ? word : "[\(word)]") + (isRepeated ? " ..." : "")
  }

  /// The help with the allowed values, unless it names them itself, and the default.
  var meaning: String {
    var facts: [String] = []
    if !choices.allSatisfy(help.contains(word:)) {
      facts.append("values: " + choices.joined(separator: ", "))
    }
    if let standard { facts.append("default: \(standard)") }
    return facts.isEmpty ? help : "\(help) (\(facts.joined(separator: "; ")))"
  }

  /// Of every command, and of the program.
  static let general = [
    Parameter(
      form: .flag, name: "version", value: "", help: "Show the version.", choices: [], completion: .nothing),
    Parameter(
      form: .flag, name: "help", short: "h", value: "", help: "Show this help.", choices: [],
      completion: .nothing),
  ]
}

extension String {
  /// True if it has `word` between characters that are no letters or digits.
  fileprivate func contains(word: String) -> Bool {
    split { !$0.isLetter && !$0.isNumber && $0 != "-" }.contains { $0 == word }
  }
}

/// Name, help and parameters of a command.
struct CommandDescription: Sendable {
  var name: String
  /// A sentence for the list of commands.
  var abstract: String
  /// Paragraphs, apart by an empty line; indented lines, such as examples, are kept as they are.
  var discussion: String
  /// Left out of the help, the manual and the completions.
  var isHidden: Bool
  /// In the order of the help; arguments in that of the command line.
  var parameters: [Parameter]

  var arguments: [Parameter] { parameters.filter { $0.form == .argument } }
  /// Options and flags.
  var options: [Parameter] { parameters.filter { $0.form != .argument } }
}
