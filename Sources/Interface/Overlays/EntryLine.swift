import Screen

/// The line of a prompt or a question, in the place of the message row.
enum EntryLine {
  static func clear(_ row: Int, on canvas: inout Canvas) {
    canvas.fill(Rect(column: 0, row: row, columns: canvas.columns, rows: 1))
  }

  /// Draws a sign and the text being edited. Returns the column where the text starts, and the cursor's column
  /// in it. `place`: a character that is seen in any case.
  @discardableResult
  static func draw(
    _ sign: String, _ line: LineEditor, showing place: Int? = nil, row: Int, on canvas: inout Canvas
  ) -> (start: Int, cursor: Int) {
    clear(row, on: &canvas)
    let sign = DisplayWidth.truncated(sign, to: max(0, canvas.columns - 1))
    let start = canvas.put(sign, at: Point(0, row), Style(.prompt)) + 1
    let window = line.window(columns: max(0, canvas.columns - start), showing: place)
    canvas.put(window.text, at: Point(start, row), Style(.promptText))
    return (start, window.cursor)
  }

  static func placeCursor(_ place: (start: Int, cursor: Int), row: Int, on canvas: inout Canvas) {
    canvas.placeCursor(at: Point(min(canvas.columns - 1, place.start + place.cursor), row))
  }
}
