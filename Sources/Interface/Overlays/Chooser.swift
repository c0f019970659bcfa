import Patch
import Screen

/// A list to choose from, filtered by typing: kinds, cables, presets.
struct Chooser: Overlay {
  var title: String
  var items: [(name: String, detail: String)]
  var filter: String = ""
  /// Index among the items that match the filter.
  var selected = 0
  /// Called with the chosen name.
  var then: @MainActor (String, Desk) -> Void = { _, _ in }

  var matching: [(name: String, detail: String)] {
    if filter.isEmpty { return items }
    let found = ranked(filter)
    // The sign of the prompt stands before what actions do, too.
    return found.isEmpty && filter.hasPrefix(":") ? ranked(String(filter.dropFirst())) : found
  }

  private func ranked(_ letters: String) -> [(name: String, detail: String)] {
    FuzzyMatch.ranked(letters, names: items.map(\.name), details: items.map(\.detail)).map { items[$0] }
  }

  var hints: [KeyHelp] {
    let way = KeyHelp(keys: "Esc", name: "leave")
    guard !matching.isEmpty else { return [KeyHelp(keys: "Backspace", name: "fewer letters"), way] }
    return [
      KeyHelp(keys: "↑ ↓", name: "choose"), KeyHelp(keys: "letters", name: "filter"),
      KeyHelp(keys: "Enter", name: "take"), way,
    ]
  }

  /// Pasted text filters as typed text does.
  @MainActor func paste(_ text: String, _ desk: Desk) {
    var chooser = self
    chooser.filter += (text.split(whereSeparator: \.isNewline).first ?? "").lowercased()
    chooser.selected = 0
    desk.state.overlay = chooser
  }

  func words(_ scene: Scene) -> [String] {
    let shown = matching
    guard shown.indices.contains(selected) else { return ["\(title) \(filter): nothing fits"] }
    let item = shown[selected]
    return ["\(title): \(item.name), \(item.detail), \(selected + 1) of \(shown.count)"]
  }

  @MainActor func handle(_ stroke: KeyStroke, _ desk: Desk) { handle(stroke.key, desk) }

  @MainActor func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    handle(mouse.wheelRows < 0 ? "up" : "down", desk)
    return true
  }

  @MainActor private func handle(_ key: Key, _ desk: Desk) {
    var chooser = self
    let last = max(0, matching.count - 1)
    switch key {
    case "esc", "ctrl-c":
      desk.state.overlay = nil
      return
    case "ctrl-g": desk.wish = .redraw
    case "enter":
      guard matching.indices.contains(selected) else { return }
      desk.state.overlay = nil
      then(matching[selected].name, desk)
      return
    case "up", "ctrl-p", "shift-tab": chooser.selected = max(0, selected - 1)
    case "down", "ctrl-n", "tab": chooser.selected = min(last, selected + 1)
    case "pageup": chooser.selected = max(0, selected - 8)
    case "pagedown": chooser.selected = min(last, selected + 8)
    case "home": chooser.selected = 0
    case "end": chooser.selected = last
    case "backspace":
      chooser.filter = String(filter.dropLast())
      chooser.selected = 0
    case "ctrl-u":
      chooser.filter = ""
      chooser.selected = 0
    default:
      guard let letter = key.text else { return }
      chooser.filter += letter.lowercased()
      chooser.selected = 0
    }
    desk.state.overlay = chooser
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    let items = matching
    let names = min(self.items.map { DisplayWidth.of($0.name) }.max() ?? 0, 30)
    let details = self.items.map { DisplayWidth.of($0.detail) }.max() ?? 0
    // A wide screen shows whole sentences.
    let widest = max(76, canvas.columns - 16)
    let inside = Popup.draw(
      title, columns: max(30, min(names + 4 + details, widest)), rows: self.items.count + 1, frame,
      on: &canvas)
    guard !inside.isEmpty else { return }
    canvas.put([Span("/", .prompt, on: .popup)], at: inside.origin, columns: inside.columns)
    // Its end is seen, where the typing goes on.
    let typed = LineEditor(filter).window(columns: max(0, inside.columns - 1))
    canvas.put(
      [Span(typed.text, .promptText, on: .popup)], at: inside.origin + Point(1, 0),
      columns: inside.columns - 1)
    canvas.placeCursor(at: inside.origin + Point(min(inside.columns - 1, 1 + typed.cursor), 0))
    let rows = inside.rows - 1
    guard rows > 0 else { return }
    if items.isEmpty {
      canvas.put(
        [Span("nothing fits", .dim, on: .popup)], at: inside.origin + Point(0, 1), columns: inside.columns)
    }
    let first = Popup.first(selected, shown: rows, of: items.count)
    // Names come first where both have no room.
    let hasDetails = inside.columns - 4 - names >= min(8, details)
    for row in 0..<rows where first + row < items.count {
      let item = items[first + row]
      let isSelected = first + row == selected
      let ground: ThemeKey = isSelected ? .selection : .popup
      let place = inside.origin + Point(0, 1 + row)
      canvas.fill(
        Rect(column: place.column, row: place.row, columns: inside.columns, rows: 1), " ", Style(ground))
      let detail = hasDetails ? item.detail : ""
      // A name takes the columns that its own detail leaves.
      let columns = max(names, inside.columns - 4 - DisplayWidth.of(detail))
      let name = Wrapping.shortened(path: item.name, to: columns)
      canvas.put(
        [
          Span(isSelected ? "▸ " : "  ", .accent), Span(DisplayWidth.padded(name, to: names), .value),
          Span("  "), Span(detail, .dim),
        ], at: place, columns: inside.columns, on: ground)
    }
    guard items.indices.contains(selected) else { return }
    let isCut = !hasDetails || DisplayWidth.of(items[selected].detail) > inside.columns - 4 - names
    if isCut, !items[selected].detail.isEmpty, frame.message == row {
      // The part of the selected text that the list cuts off stands below it.
      let words = Wrapping.words(items[selected].detail, .text)
      let lines = Wrapping.lines([words], columns: canvas.columns - 2, gap: 1)
      Wrapping.draw(Wrapping.bounded(lines, to: 3, columns: canvas.columns - 2), endingAt: row, on: &canvas)
      canvas.placeCursor(at: inside.origin + Point(min(inside.columns - 1, 1 + typed.cursor), 0))
    }
  }
}
