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
    canvas.rule(row: row)
    for place in places(state, columns: canvas.columns) {
      canvas.put(
        place.text, at: Point(place.column, row), Style(place.view == state.view ? .title : .dim))
    }
  }
}
