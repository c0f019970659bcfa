import Patch
import PatchLanguage
import Screen

/// The `:` prompt: a line of the edit language, or a command of the program.
struct Prompt: Overlay {
  var line: LineEditor
  var candidates: [Completion.Candidate] = []
  var completions: [String] { candidates.map(\.text) }
  var selectedCompletion: Int?
  /// The error in the line, with its column (from 0).
  var error: (text: String, column: Int)?
  /// Characters at the line's end that stand for the present value: the first letter replaces them.
  private var suggested = 0
  /// A key that has no effect here, by its name.
  private var idle: String?

  init(_ line: LineEditor, suggested: Int = 0) {
    self.line = line
    self.suggested = suggested
  }

  let hints = [
    KeyHelp(keys: "Tab", name: "complete"), KeyHelp(keys: "↑ ↓", name: "history"),
    KeyHelp(keys: "Enter", name: "do it"), KeyHelp(keys: "Esc", name: "leave"),
  ]
  let closesOnClick = false
  var entry: (sign: String, line: LineEditor)? { (":", line) }

  func words(_ scene: Scene) -> [String] {
    if let idle { return [Self.waiting(idle)] }
    if let error { return ["error at \(error.column + 1): \(error.text)"] }
    guard let selectedCompletion, completions.indices.contains(selectedCompletion) else { return [] }
    return ["\(completions[selectedCompletion]), \(selectedCompletion + 1) of \(completions.count)"]
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    let place = EntryLine.draw(":", line, showing: error?.column, row: row, on: &canvas)
    if suggested > 0 {
      let columns = DisplayWidth.of(String(line.text.suffix(suggested)))
      let left = max(0, place.start + place.cursor - columns)
      canvas.restyle(Rect(column: left, row: row, columns: place.start + place.cursor - left, rows: 1)) {
        $0 = Style(.completionSelected)
      }
    }
    if let error { draw(error, place, row: row, frame, on: &canvas) }
    if let idle, let hints = frame.hints, hints != row {
      EntryLine.clear(hints, on: &canvas)
      canvas.put([Span(Self.waiting(idle), .promptError)], at: Point(1, hints), columns: canvas.columns - 2)
    }
    drawCompletions(above: row, start: place.start, on: &canvas)
    EntryLine.placeCursor(place, row: row, on: &canvas)
  }

  private func draw(
    _ error: (text: String, column: Int), _ place: (start: Int, cursor: Int), row: Int, _ frame: ViewFrame,
    on canvas: inout Canvas
  ) {
    // The window may begin past the line's start, at the place of the error at the latest; the cursor gives the offset.
    let hidden = DisplayWidth.of(line.textBeforeCursor) - place.cursor
    let before = DisplayWidth.of(String(line.text.prefix(max(0, error.column))))
    let column = place.start + max(0, before - hidden)
    let isSeen = column < canvas.columns
    if isSeen {
      canvas.restyle(Rect(column: column, row: row, columns: 1, rows: 1)) {
        $0 = Style(.promptError, on: $0.ground, .underline)
      }
    }
    guard let hints = frame.hints, hints != row else { return }
    EntryLine.clear(hints, on: &canvas)
    let text = [Span("^ ", .promptError), Span(error.text, .promptError)]
    // The way out stays beside it, as beside the keys.
    let way = [Span("Esc", .keyName), Span(" leave", .hint)]
    let mark = isSeen ? column : 0
    let end = canvas.columns - 1 - way.width
    if mark + 2 < end {
      canvas.put(way, at: Point(end, hints), columns: way.width)
    } else {
      canvas.put(way, at: Point(min(1, max(0, mark - 1)), hints), columns: max(0, mark - 2))
    }
    guard mark + text.width + 2 <= end else {
      // A text too long for one row goes on above the prompt; the mark stays below its place.
      canvas.put([text[0]], at: Point(mark, hints), columns: canvas.columns)
      let lines = Wrapping.lines(
        [Wrapping.words(error.text, .promptError)], columns: canvas.columns - 2, gap: 1)
      if row > 0 { Wrapping.draw(lines, endingAt: row - 1, on: &canvas) }
      return
    }
    canvas.put(text, at: Point(mark, hints), columns: end - mark)
  }

  private static func waiting(_ key: String) -> String { "\(key) waits: Esc leaves the prompt" }

  private func drawCompletions(above row: Int, start: Int, on canvas: inout Canvas) {
    let most = min(8, row - 1)
    guard !completions.isEmpty, most > 0 else { return }
    let selected = selectedCompletion ?? -1
    // Where not all have room, the last row says how many follow.
    let room = candidates.count > most && most > 1 ? most - 1 : most
    let first = Popup.first(selected, shown: room, of: candidates.count)
    var shown = Array(candidates.dropFirst(first).prefix(room))
    let rest = candidates.count - first - shown.count
    if room < most { shown.append(Completion.Candidate(rest > 0 ? "+\(rest) more" : "the last")) }
    let texts = shown.map { DisplayWidth.of($0.text) }.max() ?? 0
    let details = shown.map { DisplayWidth.of($0.detail) }.max() ?? 0
    // Descriptions stand beside the words where they can be read.
    let columns = canvas.columns - start
    let hasDetails = details > 0 && columns - texts - 5 >= 12
    let width = min(columns, texts + 3 + (hasDetails ? details + 2 : 0))
    for (index, candidate) in shown.enumerated() {
      let isMore = index == room
      let isSelected = first + index == selected && !isMore
      let place = Point(start, row - shown.count + index)
      // Pieces of the view beside the list would read as parts of it.
      EntryLine.clear(place.row, on: &canvas)
      let key: ThemeKey = isSelected ? .completionSelected : .completion
      if isMore {
        canvas.put(DisplayWidth.padded("", to: width), at: place, Style(key))
        canvas.put([Span(candidate.text, .dim)], at: place + Point(1, 0), columns: width - 1, on: key)
        continue
      }
      let mark = isSelected ? "▸" : " "
      let text = DisplayWidth.padded(mark + candidate.text, to: hasDetails ? texts + 3 : width)
      canvas.put(DisplayWidth.padded(text, to: width), at: place, Style(key))
      if hasDetails {
        canvas.put(
          [Span(candidate.detail, .dim)], at: place + Point(texts + 3, 0), columns: width - texts - 4, on: key
        )
      }
    }
  }
}

@MainActor extension Prompt {
  /// Opens it with the beginning of a line. `value`: what stands at its end, until something else is typed.
  static func open(_ text: String = "", value: String = "", _ desk: Desk) {
    show(Prompt(LineEditor(text + value, history: desk.promptHistory), suggested: value.count), desk)
  }

  /// Without the value that stands there until something else is typed.
  private var bare: Prompt {
    if suggested == 0 { return self }
    var prompt = self
    prompt.line.replaceBeforeCursor(suggested, with: "")
    prompt.suggested = 0
    return prompt
  }

  /// After a key that edits.
  private mutating func edited() { (error, idle, suggested) = (nil, nil, 0) }

  // MARK: Keys

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    switch stroke.key {
    case "esc", "ctrl-c", "ctrl-g": desk.state.overlay = nil
    case "enter", "ctrl-j": submit(desk)
    case "tab": takeCompletion(1, desk)
    case "shift-tab": takeCompletion(-1, desk)
    case "backspace" where line.isEmpty: desk.state.overlay = nil
    default:
      var prompt = stroke.key.text == nil ? self : bare
      if prompt.line.handle(.key(stroke)) {
        prompt.edited()
        Prompt.show(prompt, desk)
      } else if case .function = stroke.key.code {
        prompt.idle = stroke.key.description
        desk.state.overlay = prompt
      }
    }
  }

  /// Several lines are performed at once, the first with what stands in the prompt before it.
  func paste(_ text: String, _ desk: Desk) {
    var prompt = bare
    let lines = text.split(whereSeparator: \.isNewline)
    if lines.count > 1 {
      let before = prompt.line.textBeforeCursor
      return perform(before + text + prompt.line.text.dropFirst(before.count), desk)
    }
    prompt.line.handle(.paste(text.trimmingNewlines))
    prompt.edited()
    Prompt.show(prompt, desk)
  }

  /// Performs pasted lines. A refused one stands in the prompt, and nothing has changed.
  private func perform(_ text: String, _ desk: Desk) {
    do {
      desk.state.overlay = nil
      try desk.paste(text)
    } catch {
      let place = error as? Diagnostic
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let index = (place?.line ?? 1) - 1
      var prompt = self
      prompt.line.text = lines.indices.contains(index) ? String(lines[index]) : ""
      prompt.error = (
        "line \(index + 1): \(place?.words ?? Desk.words(error))", max(0, (place?.column ?? 1) - 1)
      )
      prompt.candidates = []
      prompt.selectedCompletion = nil
      desk.state.overlay = prompt
    }
  }

  private func submit(_ desk: Desk) {
    let text = line.text
    do {
      desk.state.overlay = nil
      // A refused line too: ↑ brings it back after Esc.
      if !text.allSatisfy(\.isWhitespace), desk.promptHistory.last != text { desk.promptHistory.append(text) }
      try run(text, desk)
    } catch {
      var prompt = self
      let diagnostic = error as? Diagnostic
      let refusal = (error as? EditError).map { StatementParser.diagnostic(for: $0, in: text) }
      let place = diagnostic ?? refusal
      prompt.edited()
      prompt.error = (place?.words ?? Desk.words(error), max(0, (place?.column ?? 1) - 1))
      prompt.candidates = []
      prompt.selectedCompletion = nil
      desk.state.overlay = prompt
    }
  }

  /// Executes a line of the language, or a command of the program.
  private func run(_ line: String, _ desk: Desk) throws {
    if let (command, argument) = PromptCommand.of(line) {
      do {
        return try command.effect(desk, argument)
      } catch let fault as Diagnostic {
        var fault = fault
        fault.column += PromptCommand.column(ofArgumentIn: line)
        throw fault
      }
    }
    // Releases the keys held here too.
    if line.filter({ $0 != " " }) == "panic" { return desk.requests.append("panic") }
    if desk.isLocked(line: line) { return }
    let said = try desk.workbench.perform(line: line)
    desk.say(said.isEmpty ? line : said)
  }

  // MARK: Completion

  /// Shows the prompt with the completions at its cursor.
  private static func show(_ prompt: Prompt, _ desk: Desk) {
    var prompt = prompt
    // They stand in place of a value that is only suggested.
    prompt.candidates = prompt.bare.found(desk).candidates.map {
      // The summary of a parameter is a sentence, and its range follows.
      Completion.Candidate($0.text, $0.detail.substituting(".,", with: ":"))
    }
    prompt.selectedCompletion = nil
    prompt.present(desk)
  }

  /// Shows it, and what its command would do.
  private func present(_ desk: Desk) {
    desk.state.overlay = self
    desk.previewedTheme = nil
    if let (command, argument) = PromptCommand.of(line.text) { command.preview(desk, argument) }
  }

  /// Ends of completions behind which the same word goes on.
  private static let unfinished = ".=[,/"

  private func found(_ desk: Desk) -> Completion {
    let before = line.textBeforeCursor
    let typed = PromptCommand.of(before)
    return Completion.candidates(
      before, patch: desk.scene.patch, catalogue: desk.scene.catalogue,
      commands: PromptCommand.all.map { command in
        let isTyped = command.names[0] == typed?.command.names[0]
        return Completion.Command(
          command.names[0], command.help,
          arguments: isTyped ? command.arguments(desk, typed?.argument ?? "") : [])
      },
      files: { FileWords.candidates($0, desk) })
  }

  /// Inserts the next candidate; the list stays until something else is typed.
  private func takeCompletion(_ step: Int, _ desk: Desk) {
    guard !completions.isEmpty else { return }
    var prompt = bare
    let count = completions.count
    let old = selectedCompletion
    let next = old.map { ($0 + step + count) % count } ?? (step > 0 ? 0 : count - 1)
    // Before the cursor stands the typed word, or the candidate inserted last.
    let replaced = old.map { completions[$0].count } ?? prompt.found(desk).length
    prompt.line.replaceBeforeCursor(replaced, with: completions[next])
    prompt.selectedCompletion = next
    prompt.edited()
    if count == 1 {
      // An unfinished word, such as `dist.` or `gain=`, gets no space.
      if let last = completions[next].last, !Self.unfinished.contains(last) { prompt.line.insert(" ") }
      Prompt.show(prompt, desk)
    } else {
      prompt.present(desk)
    }
  }
}

extension String {
  /// Without line ends at the end.
  fileprivate var trimmingNewlines: String {
    String(self[..<(lastIndex { !$0.isNewline }.map(index(after:)) ?? startIndex)])
  }
}
