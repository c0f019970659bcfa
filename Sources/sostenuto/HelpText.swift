import ArgumentParser

/// The parts of a command's help, read from the text that `--help` prints: the parser's table of options has no
/// other public form.
struct HelpText {
  /// An argument or option and its meaning.
  struct Entry {
    /// `-o, --output <file>`
    var label: String
    var meaning: String
  }

  /// The sentence in the list of commands.
  private(set) var abstract = ""
  /// Paragraphs of the discussion; lines that are indented, such as examples, are kept as they are.
  private(set) var discussion: [String] = []
  /// The command line.
  private(set) var usage = ""
  private(set) var arguments: [Entry] = []
  private(set) var options: [Entry] = []

  /// Help of a command of the program.
  init(_ command: any ParsableCommand.Type) {
    // Wide enough that nothing is wrapped.
    let text = Sostenuto.helpMessage(for: command, columns: 10_000)
    abstract = command.configuration.abstract
    discussion = Self.paragraphs(command.configuration.discussion)
    var heading = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("USAGE: ") { usage = String(line.dropFirst("USAGE: ".count)) }
      if let first = line.first, first != " " { heading = String(line.prefix { $0 != ":" }) }
      switch heading {
      case "ARGUMENTS": Self.read(line, into: &arguments)
      case "OPTIONS": Self.read(line, into: &options)
      default: break
      }
    }
  }

  /// `  label   meaning`, the meaning on the next line below a long label.
  private static func read(_ line: Substring, into entries: inout [Entry]) {
    guard line.hasPrefix("  ") else { return }
    let indented = line.dropFirst(2)
    if indented.first == " " {
      guard !entries.isEmpty else { return }
      let more = indented.drop { $0 == " " }
      entries[entries.count - 1].meaning += (entries[entries.count - 1].meaning.isEmpty ? "" : " ") + more
      return
    }
    var label = ""
    var rest = indented
    // Two blanks end the label.
    while let next = rest.first, !rest.hasPrefix("  ") {
      label.append(next)
      rest = rest.dropFirst()
    }
    entries.append(Entry(label: label, meaning: String(rest.drop { $0 == " " })))
  }

  private static func paragraphs(_ text: String) -> [String] {
    var paragraphs: [String] = []
    var isOpen = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty {
        isOpen = false
      } else if isOpen {
        paragraphs[paragraphs.count - 1] += "\n" + line
      } else {
        paragraphs.append(String(line))
        isOpen = true
      }
    }
    return paragraphs
  }
}
