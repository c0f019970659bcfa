import Glibc

extension CommandSet {
  /// Columns of the meanings in lists.
  private static let indent = 26

  /// Help of the program.
  var help: String {
    var text = head(abstract, discussion)
    text += "USAGE: \(name) [<\(standard.description.arguments.first?.name ?? "file")>] [<options>]\n"
    text += "       \(name) <subcommand> [<options>] [<arguments>]\n"
    text += list("OPTIONS", options)
    text += "\nSUBCOMMANDS:\n"
    for command in shown {
      let mark = command.name == standard.description.name ? " (default)" : ""
      text += row(command.name + mark, command.abstract)
    }
    return text + "\n  See '\(name) help <subcommand>' for detailed help.\n"
  }

  /// Help of a command.
  func help(for command: CommandDescription) -> String {
    head(command.abstract, command.discussion) + "USAGE: \(usage(of: command))\n"
      + list("ARGUMENTS", command.arguments) + list("OPTIONS", command.options + Parameter.general)
  }

  /// A command line with all that is possible; if that is too long for a line, with `[<options>]`.
  func usage(of command: CommandDescription) -> String {
    let arguments = command.arguments.map(\.usage)
    func line(_ parts: [String]) -> String { ([name, command.name] + parts).joined(separator: " ") }
    let whole = line(arguments + command.options.map(\.usage))
    return whole.count <= 72 ? whole : line(["[<options>]"] + arguments)
  }

  /// A mistake in the command line, with the usage and the way to the help.
  func message(for error: UsageError) -> String {
    var text = "Error: \(error.message)\n"
    if let parameter = error.parameter { text += "Help:  \(parameter.label)  \(parameter.meaning)\n" }
    guard let command = error.command else { return text + "  See '\(name) --help' for more information.\n" }
    return text + "Usage: \(usage(of: command))\n"
      + "  See '\(name) \(command.name) --help' for more information.\n"
  }

  // MARK: Layout

  private func head(_ abstract: String, _ discussion: String) -> String {
    var text = wrapped("OVERVIEW: " + abstract)
    if !discussion.isEmpty { text += "\n" }
    for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
      // Examples are copied from the terminal.
      text += line.hasPrefix(" ") ? line + "\n" : wrapped(String(line))
    }
    return text + "\n"
  }

  private func list(_ title: String, _ parameters: [Parameter]) -> String {
    if parameters.isEmpty { return "" }
    return "\n\(title):\n" + parameters.map { row($0.label, $0.meaning) }.joined()
  }

  private func row(_ label: String, _ meaning: String) -> String {
    let words = wrapped(meaning, indent: Self.indent)
    let label = "  " + label
    // A long label has a line of its own.
    if label.count >= Self.indent { return label + "\n" + words }
    return label + words.dropFirst(label.count)
  }

  /// Lines as wide as the terminal, each with its end.
  private func wrapped(_ text: String, indent: Int = 0) -> String {
    let blanks = String(repeating: " ", count: indent)
    var (lines, line) = ("", "")
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > Self.columns {
        lines += blanks + line + "\n"
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return line.isEmpty ? lines + "\n" : lines + blanks + line + "\n"
  }

  /// Width of the terminal; 80 for a pipe or a file.
  private static let columns: Int = {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return max(50, Int(size.ws_col))
  }()
}
