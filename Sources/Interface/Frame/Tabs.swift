import Screen

/// The names of the views, on the line below the status line; brackets mark the current one.
enum Tabs {
  static func places(_ state: ViewState, columns: Int) -> [(view: ViewName, text: String, column: Int)] {
    var places: [(ViewName, String, Int)] = []
    var column = 1
    for view in Views.all.map(\.name) {
      let text = view == state.view ? "[\(view.rawValue)]" : " \(view.rawValue) "
      places.append((view, text, column))
      column += text.count + 1
    }
    if column <= columns { return places }
    // Only the current one where not all have room.
    return places.filter { $0.0 == state.view }.map { ($0.0, $0.1, 1) }
  }

  static func draw(_ state: ViewState, on canvas: inout Canvas, row: Int) {
    let rect = Rect(column: 0, row: row, columns: canvas.columns, rows: 1)
    canvas.draw(in: rect, showing: state.view, from: kept) { canvas in
      canvas.rule(row: 0)
      for place in places(state, columns: canvas.bounds.columns) {
        canvas.put(place.text, at: Point(place.column, 0), Style(place.view == state.view ? .title : .dim))
      }
    }
  }

  private static let kept = KeptCells<ViewName>()
}
