import PatchLanguage
import Screen

extension ViewName {
  static let help = ViewName(rawValue: "help")
}

/// Every key with its help, by context.
struct HelpView: View {
  let name = ViewName.help
  let help = "This help"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F1", .patch: "?"]

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    [("move-down", "scroll"), ("find", "find"), ("leave", "graph")]
  }

  /// It is glanced at: its key leads back to the graph.
  func showAgain(_ desk: Desk) { desk.state.view = .graph }

  func extent(_ scene: Scene, _ state: ViewState) -> Int {
    lines(state, columns: state.screen.columns).count
  }

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? {
    lines(state, columns: state.screen.columns).map(\.text)
  }

  /// A line with the whole of its help, for those who do not see the next ones; empty for these.
  func telling(_ line: Int, _ state: ViewState) -> String {
    let lines = lines(state, columns: state.screen.columns)
    guard lines.indices.contains(line), !lines[line].isContinued else { return "" }
    let help = lines[(line + 1)...].prefix(while: \.isContinued)
    return ([lines[line]] + help).map(\.text).joined(separator: " ")
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    canvas.placeCursor(at: .zero)
    let lines = lines(state, columns: bounds.columns)
    let (keys, names) = (Self.keyColumns(state), Self.nameColumns(state))
    let first = min(max(0, state.scroll[name]?.row ?? 0), max(0, lines.count - bounds.rows))
    for row in 0..<bounds.rows where first + row < lines.count {
      let line = lines[first + row]
      switch line.form {
      case .title:
        canvas.put([Span(line.name, .header)], at: Point(1, row), columns: bounds.columns - 2)
      case .entry:
        canvas.put(
          [
            Span(DisplayWidth.padded(line.keys, to: keys, right: true), .keyName), Span("  "),
            Span(line.help.isEmpty ? line.name : DisplayWidth.padded(line.name, to: names), .value),
          ] + (line.help.isEmpty ? [] : [Span("  "), Span(line.help, .dim)]), at: Point(2, row),
          columns: bounds.columns - 3)
      case .usage: canvas.put([Span(line.name, .value)], at: Point(2, row), columns: bounds.columns - 3)
      case .more: canvas.put([Span(line.help, .dim)], at: Point(6, row), columns: bounds.columns - 7)
      }
    }
    if first > 0 { canvas.set("↑", at: Point(bounds.columns - 1, 0), Style(.accent)) }
    if first + bounds.rows < lines.count {
      canvas.set("↓", at: Point(bounds.columns - 1, bounds.rows - 1), Style(.accent))
    }
  }

  // MARK: Lines

  private struct Line {
    enum Form { case title, entry, usage, more }
    var form: Form
    var keys = ""
    var name = ""
    var help = ""

    var text: String { [keys, name, help].filter { !$0.isEmpty }.joined(separator: "  ") }
    /// It goes on with a sentence of the line before.
    var isContinued: Bool { form == .more && !help.isEmpty || form == .entry && keys.isEmpty && name.isEmpty }
  }

  private static func keyColumns(_ state: ViewState) -> Int {
    min(max(3, state.help.flatMap(\.entries).map { DisplayWidth.of($0.keys) }.max() ?? 3), 18)
  }

  private static func nameColumns(_ state: ViewState) -> Int {
    min(max(4, state.help.flatMap(\.entries).map(\.name.count).max() ?? 4), 22)
  }

  /// Sentences that one row does not hold go on in the next ones.
  private func lines(_ state: ViewState, columns: Int) -> [Line] {
    let room = columns - 9 - Self.keyColumns(state) - Self.nameColumns(state)
    var lines: [Line] = []
    func title(_ text: String) {
      if !lines.isEmpty { lines.append(Line(form: .more)) }
      lines += Self.wrapped(text, columns: columns - 2).map { Line(form: .title, name: $0) }
    }
    for section in state.help where !section.entries.isEmpty {
      title(section.title)
      for entry in section.entries {
        // On a narrow screen what a key does stands below it.
        guard room >= 16 else {
          lines.append(Line(form: .entry, keys: entry.keys, name: entry.name))
          lines += Self.wrapped(entry.help, columns: columns - 8).map { Line(form: .more, help: $0) }
          continue
        }
        for (index, text) in Self.wrapped(entry.help, columns: room).enumerated() {
          lines.append(
            index == 0
              ? Line(form: .entry, keys: entry.keys, name: entry.name, help: text)
              : Line(form: .entry, help: text))
        }
      }
    }
    for section in Self.language {
      title(section.title)
      for entry in section.entries {
        lines += Self.wrapped(entry.usage, columns: columns - 4).map { Line(form: .usage, name: $0) }
        lines += Self.wrapped(entry.help, columns: columns - 8).map { Line(form: .more, help: $0) }
      }
    }
    return lines
  }

  private static func wrapped(_ text: String, columns: Int) -> [String] {
    Wrapping.lines([Wrapping.words(text, .dim)], columns: columns, gap: 1).map { line in
      line.map(\.text).joined()
    }
  }

  // MARK: The language

  private typealias Section = (title: String, entries: [(name: String, usage: String, help: String)])

  /// Verbs of the language, by topic, and commands of the prompt.
  private static let language: [Section] =
    Verb.Topic.allCases.map { topic in
      let title =
        switch topic {
        case .file: "The edit language: lines of a patch, which are edits as well"
        case .edit: "The edit language: edits"
        case .performance: "The edit language: playing"
        case .session: "The edit language: the session"
        }
      return (
        title,
        Verb.all.filter { $0.topic == topic }.map { verb in
          (verb.name, verb.usage, verb.summary.filter { $0 != "`" })
        }
      )
    } + [
      (
        "Commands of the prompt",
        PromptCommand.all.map { command in (command.names[0], ":" + command.names[0], command.help) }
      )
    ]

  /// Shows what is asked for: the help of a verb of the language, of a command of the prompt, or of an action.
  @MainActor func settle(_ desk: Desk) {
    guard let word = desk.state.wantedHelp else { return }
    desk.state.wantedHelp = nil
    let lines = lines(desk.state, columns: desk.state.screen.columns)
    let line =
      lines.firstIndex { line in
        line.form == .usage
          && line.name.split(separator: " ").first.map { $0 == word || $0 == ":" + word } == true
      } ?? lines.firstIndex { $0.form == .entry && $0.name == word.substituting("-", with: " ") }
    guard let line else {
      return desk.complain("no help for `\(word)`: Tab after `help ` lists all words")
    }
    desk.state.view = .help
    reveal(line, desk)
    desk.state.scroll[name] = (line, 0)
    desk.foundLine = (.help, line)
    desk.say(lines[line].text)
  }
}
