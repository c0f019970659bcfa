import Screen

/// A frame over the view, for lists.
enum Popup {
  /// Draws a frame with a title over the view, as large as requested or as fits. Returns the inside.
  static func draw(
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

  /// First visible entry of a list, so that the selected one is visible.
  static func first(_ selected: Int, shown: Int, of count: Int) -> Int {
    min(max(0, selected - shown / 2), max(0, count - shown))
  }
}
