import Screen

/// A question answered by one key.
struct Question: Overlay {
  var text: String
  var keys: [(key: String, meaning: String)]
  /// Called with the key of the answer.
  var then: @MainActor (String, Desk) -> Void = { _, _ in }

  var hints: [KeyHelp] {
    keys.map { KeyHelp(keys: $0.key == "esc" ? "Esc" : $0.key, name: $0.meaning) }
  }

  func words(_ scene: Scene) -> [String] {
    [text + "? " + keys.map { "\($0.key): \($0.meaning)" }.joined(separator: ", ")]
  }

  @MainActor func handle(_ stroke: KeyStroke, _ desk: Desk) {
    // A key that is held down does not answer what it asked.
    if stroke.action == .repeat || stroke.key == "ctrl-c" && desk.press != .new { return }
    let name = stroke.key == "ctrl-c" ? "esc" : stroke.key.description.lowercased()
    guard keys.contains(where: { $0.key == name }) else { return }
    desk.state.overlay = nil
    then(name, desk)
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    // The last row has the answers where it has room for all of them; otherwise they stand behind the question alone.
    if let last = frame.hints, last != row {
      if hints.fit(columns: canvas.columns) {
        let lines = Wrapping.lines([Wrapping.words(text, .prompt)], columns: canvas.columns - 2, gap: 1)
        return canvas.placeCursor(at: Wrapping.draw(lines, endingAt: row, on: &canvas))
      }
      EntryLine.clear(last, on: &canvas)
    }
    let answers = keys.map { [Span($0.key, .keyName), Span(" " + $0.meaning, .text)] }
    let lines = Wrapping.lines(
      [Wrapping.words(text, .prompt), answers], columns: canvas.columns - 2, gap: 3)
    let place = Wrapping.draw(lines, endingAt: row, on: &canvas)
    canvas.placeCursor(at: place)
  }
}
