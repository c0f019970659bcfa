import Patch
import Screen

/// Overlays above the view: the prompt with its completions, lists to choose from, the parameters of a node,
/// a question.
enum Overlays {
  static func draw(_ scene: Scene, _ state: ViewState, _ frame: ViewFrame, on canvas: inout Canvas) {
    guard let row = frame.entryRow else { return }
    switch state.overlay {
    case .none: break
    case .prompt(let prompt): draw(prompt, frame, row: row, on: &canvas)
    case .hints(_, let typed, let purpose):
      clear(row, on: &canvas)
      canvas.put(
        [Span(purpose, .prompt), Span("  "), Span(typed.isEmpty ? "type two letters" : typed, .promptText)],
        at: Point(1, row), columns: canvas.columns - 2)
    case .question(let text, let keys):
      let answers = keys.map { [Span($0.key, .keyName), Span(" " + $0.meaning, .text)] }
      let lines = Wrapping.lines(
        [Wrapping.words(text, .prompt), answers], columns: canvas.columns - 2, gap: 3)
      let place = Wrapping.draw(lines, endingAt: row, on: &canvas)
      canvas.placeCursor(at: place)
    case .chooser(let chooser): draw(chooser, frame, on: &canvas)
    case .parameters(let panel): draw(panel, scene, frame, on: &canvas)
    }
  }

  private static func clear(_ row: Int, on canvas: inout Canvas) {
    canvas.fill(Rect(column: 0, row: row, columns: canvas.columns, rows: 1))
  }

  // MARK: The prompt

  private static func draw(
    _ prompt: ViewState.Prompt, _ frame: ViewFrame, row: Int, on canvas: inout Canvas
  ) {
    clear(row, on: &canvas)
    let sign = DisplayWidth.truncated(prompt.sign, to: max(0, canvas.columns - 1))
    let start = canvas.put(sign, at: Point(0, row), Style(.prompt)) + 1
    let window = prompt.editor.window(columns: max(0, canvas.columns - start))
    canvas.put(window.text, at: Point(start, row), Style(.promptText))
    if let error = prompt.error {
      drawError(error, prompt, window.cursor, start: start, row: row, frame, on: &canvas)
    }
    drawCompletions(prompt, above: row, start: start, frame, on: &canvas)
    canvas.placeCursor(at: Point(min(canvas.columns - 1, start + window.cursor), row))
  }

  private static func drawError(
    _ error: (text: String, column: Int), _ prompt: ViewState.Prompt, _ cursor: Int, start: Int, row: Int,
    _ frame: ViewFrame, on canvas: inout Canvas
  ) {
    // The window may begin past the line's start; the cursor gives the offset.
    let hidden = DisplayWidth.of(prompt.editor.textBeforeCursor) - cursor
    let before = DisplayWidth.of(String(prompt.editor.characters.prefix(max(0, error.column))))
    let column = start + before - hidden
    let isSeen = column >= start && column < canvas.columns
    if isSeen {
      canvas.restyle(Rect(column: column, row: row, columns: 1, rows: 1)) {
        $0 = Style(.promptError, on: $0.ground, .underline)
      }
    }
    guard let hints = frame.hints, hints != row else { return }
    clear(hints, on: &canvas)
    let text = [Span("^ ", .promptError), Span(error.text, .promptError)]
    let left = isSeen ? min(column, max(0, canvas.columns - text.width - 1)) : 0
    canvas.put(text, at: Point(left, hints), columns: canvas.columns - left)
  }

  private static func drawCompletions(
    _ prompt: ViewState.Prompt, above row: Int, start: Int, _ frame: ViewFrame, on canvas: inout Canvas
  ) {
    let most = min(8, row - 1)
    guard !prompt.completions.isEmpty, most > 0 else { return }
    let selected = prompt.selectedCompletion ?? -1
    let first = Self.first(selected, shown: most, of: prompt.completions.count)
    let shown = Array(prompt.completions.dropFirst(first).prefix(most))
    let rest = prompt.completions.count - first - shown.count
    let width = min(
      canvas.columns - start, max(shown.map { DisplayWidth.of($0) }.max() ?? 0, rest > 0 ? 10 : 0) + 3)
    for (index, text) in shown.enumerated() {
      let isSelected = first + index == selected
      let place = Point(start, row - shown.count + index)
      let key: ThemeKey = isSelected ? .completionSelected : .completion
      let mark = isSelected ? "▸" : " "
      let more = rest > 0 && index == shown.count - 1 ? "  +\(rest)" : ""
      canvas.put(DisplayWidth.padded(mark + text + more, to: width), at: place, Style(key))
    }
  }

  /// First visible entry, so that the selected one is visible.
  private static func first(_ selected: Int, shown: Int, of count: Int) -> Int {
    min(max(0, selected - shown / 2), max(0, count - shown))
  }

  // MARK: Popups

  /// Draws a frame with a title over the view, as large as requested or as fits. Returns the inside.
  private static func popup(
    _ title: String, columns: Int, rows: Int, _ frame: ViewFrame, atRight: Bool, on canvas: inout Canvas
  ) -> Rect {
    let room = Rect(
      column: 0, row: frame.view.row, columns: canvas.columns,
      rows: max(1, (frame.playBar?.bottom ?? frame.view.bottom) - frame.view.row))
    let size = Size(columns: min(columns + 4, room.columns), rows: min(rows + 2, room.rows))
    let place = Point(
      atRight ? room.right - size.columns : (room.columns - size.columns) / 2,
      room.row + (atRight ? 0 : (room.rows - size.rows) / 3))
    let rect = Rect(column: place.column, row: place.row, columns: size.columns, rows: size.rows)
    canvas.fill(rect, " ", Style(.popup))
    guard rect.columns > 2, rect.rows > 2 else { return rect }
    canvas.box(rect, rounded: true, filled: false, Style(.popupFrame))
    canvas.put(
      [Span(" \(title) ", .title, on: .popup)], at: Point(rect.column + 2, rect.row),
      columns: max(0, rect.columns - 4))
    let inside = rect.inset(by: 1)
    return inside.columns > 4
      ? Rect(column: inside.column + 1, row: inside.row, columns: inside.columns - 2, rows: inside.rows)
      : inside
  }

  private static func draw(_ chooser: ViewState.Chooser, _ frame: ViewFrame, on canvas: inout Canvas) {
    let items = chooser.matching
    let names = min(chooser.items.map { DisplayWidth.of($0.name) }.max() ?? 0, 30)
    let details = chooser.items.map { DisplayWidth.of($0.detail) }.max() ?? 0
    let inside = popup(
      chooser.title, columns: max(30, min(names + 4 + details, 76)), rows: chooser.items.count + 1, frame,
      atRight: false, on: &canvas)
    guard !inside.isEmpty else { return }
    canvas.put([Span("/", .prompt, on: .popup)], at: inside.origin, columns: inside.columns)
    canvas.put(
      [Span(chooser.filter, .promptText, on: .popup)], at: inside.origin + Point(1, 0),
      columns: inside.columns - 1)
    canvas.placeCursor(
      at: inside.origin + Point(min(inside.columns - 1, 1 + DisplayWidth.of(chooser.filter)), 0))
    let rows = inside.rows - 1
    guard rows > 0 else { return }
    if items.isEmpty {
      canvas.put(
        [Span("nothing fits", .dim, on: .popup)], at: inside.origin + Point(0, 1), columns: inside.columns)
    }
    let first = Self.first(chooser.selected, shown: rows, of: items.count)
    for row in 0..<rows where first + row < items.count {
      let item = items[first + row]
      let isSelected = first + row == chooser.selected
      let ground: ThemeKey = isSelected ? .selection : .popup
      let place = inside.origin + Point(0, 1 + row)
      canvas.fill(
        Rect(column: place.column, row: place.row, columns: inside.columns, rows: 1), " ", Style(ground))
      canvas.put(
        [
          Span(isSelected ? "▸ " : "  ", .accent), Span(DisplayWidth.padded(item.name, to: names), .value),
          Span("  "), Span(item.detail, .dim),
        ], at: place, columns: inside.columns, on: ground)
    }
  }

  private static func draw(
    _ panel: ViewState.ParameterPanel, _ scene: Scene, _ frame: ViewFrame, on canvas: inout Canvas
  ) {
    guard let node = scene.patch[panel.node] else { return }
    let facts = NodeFacts(node, scene.catalogue)
    let lines = facts.lines
    let names = min(max(4, lines.map { $0.line.count }.max() ?? 0), 20)
    let values = min(max(10, lines.compactMap { value($0, facts) }.map { $0.count }.max() ?? 0), 24)
    let inside = popup(
      "\(node.name) ▸ \(facts.kindText)", columns: 2 + names + 2 + values + 2 + 20, rows: lines.count + 2,
      frame,
      atRight: true, on: &canvas)
    guard !inside.isEmpty else { return }
    let isExplained = inside.rows >= 4
    let rows = inside.rows - (isExplained ? 2 : 0)
    let first = Self.first(panel.selected, shown: rows, of: lines.count)
    for row in 0..<rows where first + row < lines.count {
      let path = lines[first + row]
      let isSelected = first + row == panel.selected
      let ground: ThemeKey = isSelected ? .selection : .popup
      let place = inside.origin + Point(0, row)
      canvas.fill(
        Rect(column: place.column, row: place.row, columns: inside.columns, rows: 1), " ", Style(ground))
      let isSet = node.settings[path] != nil
      let typed = isSelected ? panel.typed : nil
      let text = typed ?? value(path, facts) ?? ""
      canvas.put(
        [
          Span(isSelected ? "▸ " : "  ", .accent), Span(DisplayWidth.padded(path.line, to: names), .text),
          Span("  "),
          Span(
            DisplayWidth.padded(text, to: values, right: typed == nil),
            typed != nil ? .promptText : isSet ? .value : .dim),
          Span("  "), Span(range(path, facts), .dim),
        ], at: place, columns: inside.columns, on: ground)
      if isSelected {
        let column =
          2 + names + 2 + (typed.map { DisplayWidth.of($0) } ?? max(0, values - DisplayWidth.of(text)))
        canvas.placeCursor(at: place + Point(min(column, inside.columns - 1), 0))
      }
    }
    if isExplained, lines.indices.contains(panel.selected),
      let parameter = facts.kind?[parameter: lines[panel.selected].name]
    {
      canvas.put(
        [Span(parameter.summary, .dim)], at: Point(inside.column, inside.bottom - 1), columns: inside.columns,
        on: .popup)
    }
  }

  private static func value(_ path: ParameterPath, _ facts: NodeFacts) -> String? {
    facts.node.value(at: path, description: facts.kind)?.display
  }

  /// Possible values of a parameter: `-inf … 24.0 dB`, `tanh fold hard`, `on off`.
  private static func range(_ path: ParameterPath, _ facts: NodeFacts) -> String {
    guard let parameter = facts.kind?[parameter: path.name] else { return "" }
    switch parameter.form {
    case .toggle: return "on off"
    case .choice(let words): return words.joined(separator: " ")
    case .file: return "a file"
    case .text: return "text"
    case .continuous, .integer:
      let low = Value.number(parameter.range.lowerBound, parameter.unit).display
      return "\(low) … \(Value.number(parameter.range.upperBound, parameter.unit).display)"
    }
  }
}
