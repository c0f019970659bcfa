import Screen

/// The screen as a function of a scene, the view state and a size.
///
/// ```
/// status line
/// ─[graph]─ printout ─ matrix ─ trace ─ help ───
/// (on a tour: what to do)
/// the view
/// (play mode: the scenes, the controls and the keyboard)
/// ──────────────────────────────────────────────
/// message, prompt, or the focused node
/// mode and key hints
/// ```
/// With few rows, the horizontal lines are dropped first, then the message shares the last row.
extension Views {
  /// Any size from 1 x 1 up.
  static func draw(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> Canvas {
    var canvas = Canvas(columns: columns, rows: rows)
    let frame = ViewFrame(scene, state, columns: canvas.columns, rows: canvas.rows)
    if let row = frame.status {
      StatusLine.draw(
        scene, isLocked: state.isLocked, isFaultKnown: state.isFaultKnown,
        inside: state.view == .graph ? state.graph.inside : nil, on: &canvas, row: row)
    }
    if let row = frame.tabs { Tabs.draw(state, on: &canvas, row: row) }
    if let rect = frame.tour, let tour = state.tour {
      canvas.draw(in: rect) { TourPanel.draw(tour, on: &$0) }
    }
    canvas.draw(in: frame.view) { canvas in
      let view = Views[state.view]
      view.draw(scene, state, on: &canvas)
      if !state.search.isEmpty, view.lines(scene, state) != nil { mark(state.search, on: &canvas) }
    }
    if let rect = frame.controls {
      canvas.draw(in: rect) { ControlStrip(scene, state, columns: rect.columns).draw(on: &$0) }
    }
    if let rect = frame.scenes {
      canvas.draw(in: rect) { SceneStrip(scene, state, columns: rect.columns).draw(on: &$0) }
    }
    if let rect = frame.playBar {
      canvas.draw(in: rect) { PlayBar.draw(scene, state, on: &$0) }
    }
    if let row = frame.rule { canvas.rule(row: row) }
    if let row = frame.message { BottomLines.drawMessage(scene, state, on: &canvas, row: row) }
    if let row = frame.hints {
      BottomLines.drawHints(scene, state, on: &canvas, row: row, isShared: frame.message == nil)
    }
    if let row = frame.entryRow { state.overlay?.draw(scene, frame, row: row, on: &canvas) }
    return canvas
  }

  /// Shows where a text stands.
  private static func mark(_ text: String, on canvas: inout Canvas) {
    let wanted = text.lowercased().map { $0 }
    for row in 0..<canvas.bounds.rows {
      let letters = (0..<canvas.bounds.columns).map { column in
        Character(canvas[Point(column, row)].character.lowercased().prefix(1).description)
      }
      var column = 0
      while column + wanted.count <= letters.count {
        guard letters[column..<column + wanted.count].elementsEqual(wanted) else {
          column += 1
          continue
        }
        canvas.restyle(Rect(column: column, row: row, columns: wanted.count, rows: 1)) {
          $0 = Style(.match, on: $0.ground)
        }
        column += wanted.count
      }
    }
  }

  /// The item under the mouse. `cell` is in coordinates of the whole screen.
  static func hit(
    _ scene: Scene, _ state: ViewState, columns: Int, rows: Int, at cell: Point
  ) -> Hit {
    let frame = ViewFrame(scene, state, columns: columns, rows: rows)
    if let row = frame.tabs, cell.row == row {
      let tab = Tabs.places(state, columns: columns).first {
        (($0.column)..<($0.column + $0.text.count)).contains(cell.column)
      }
      return tab.map { .tab($0.view) } ?? .nothing
    }
    if let strip = frame.controls, strip.contains(cell) {
      return ControlStrip(scene, state, columns: columns).control(at: cell.column).map { .control($0) }
        ?? .nothing
    }
    if let row = frame.scenes, row.contains(cell) {
      return SceneStrip(scene, state, columns: columns).number(at: cell.column).map { .scene($0) } ?? .nothing
    }
    if let bar = frame.playBar, bar.contains(cell) {
      return PlayBar.key(at: cell - bar.origin, state, bar.size).map { .key($0) } ?? .nothing
    }
    guard frame.view.contains(cell) else { return .nothing }
    let place = cell - frame.view.origin
    return Views[state.view].hit(scene, state, frame.view.size, at: place)
  }
}
