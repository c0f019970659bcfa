import Screen

/// A frame over the view, for lists.
enum Popup {
  /// Draws a frame with a title over the view, as large as requested or as fits, and clear of what the list is about.
  /// Returns the inside.
  static func draw(
    _ title: String, columns: Int, rows: Int, _ frame: ViewFrame, on canvas: inout Canvas
  ) -> Rect {
    // Controls and scenes below the view stay in sight unless the view is small.
    let bottom =
      frame.view.rows >= least.rows + 2 ? frame.view.bottom : frame.playBar?.bottom ?? frame.view.bottom
    let room = Rect(
      column: 0, row: frame.view.row, columns: canvas.columns, rows: max(1, bottom - frame.view.row))
    // The rest of the rows below the view could not be read.
    if bottom > frame.view.bottom {
      for row in frame.view.bottom..<bottom { EntryLine.clear(row, on: &canvas) }
    }
    let rect = place(Size(columns: columns + 4, rows: rows + 2), in: room, besides: canvas.focus)
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

  /// Smallest frame for which a list moves out of the way.
  private static let least = Size(columns: 36, rows: 7)

  /// In the middle, or if that would cover the focus, at the side of it that has the most room.
  static func place(_ wanted: Size, in room: Rect, besides focus: Rect?) -> Rect {
    func fitted(_ side: Rect) -> Size {
      Size(columns: min(wanted.columns, side.columns), rows: min(wanted.rows, side.rows))
    }
    let size = fitted(room)
    let middle = Rect(
      column: room.column + (room.columns - size.columns) / 2, row: room.row + (room.rows - size.rows) / 3,
      columns: size.columns, rows: size.rows)
    guard let focus = focus?.intersection(room), middle.intersects(focus) else { return middle }
    // A blank column keeps the frames apart.
    let sides = [
      Rect(
        column: focus.right + 1, row: room.row, columns: room.right - focus.right - 1, rows: room.rows),
      Rect(
        column: room.column, row: room.row, columns: focus.column - 1 - room.column, rows: room.rows),
      Rect(column: room.column, row: focus.bottom, columns: room.columns, rows: room.bottom - focus.bottom),
      Rect(column: room.column, row: room.row, columns: room.columns, rows: focus.row - room.row),
    ]
    var best = middle
    var area = 0
    for side in sides {
      let size = fitted(side)
      guard size.columns >= min(wanted.columns, least.columns), size.rows >= min(wanted.rows, least.rows),
        size.columns * size.rows > area
      else { continue }
      area = size.columns * size.rows
      // As near to it as the side allows.
      best = Rect(
        column: min(max(focus.column, side.column), side.right - size.columns),
        row: min(max(focus.row, side.row), side.bottom - size.rows),
        columns: size.columns, rows: size.rows)
    }
    return best
  }

  /// First visible entry of a list, so that the selected one is visible.
  static func first(_ selected: Int, shown: Int, of count: Int) -> Int {
    min(max(0, selected - shown / 2), max(0, count - shown))
  }
}
