import Patch
import Screen

/// The screen as a function of a scene, the view state and a size.
///
/// ```
/// status line
/// ─[graph]─ printout ─ matrix ─ trace ─ help ───
/// the view
/// (play mode: the keyboard)
/// ──────────────────────────────────────────────
/// message, prompt, or the focused node
/// mode and key hints
/// ```
/// With few rows, the horizontal lines are dropped first, then the message shares the last row.
public enum Views {
  /// Any size from 1 x 1 up.
  public static func draw(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> Canvas {
    var canvas = Canvas(columns: columns, rows: rows)
    let frame = ViewFrame(state, columns: canvas.columns, rows: canvas.rows)
    if let row = frame.status { StatusLine.draw(scene, on: &canvas, row: row) }
    if let row = frame.tabs { Tabs.draw(state, on: &canvas, row: row) }
    canvas.draw(in: frame.view) { canvas in
      switch state.view {
      case .graph: GraphView.draw(scene, state, on: &canvas)
      case .printout: PrintoutView.draw(scene, state, on: &canvas)
      case .matrix: MatrixView.draw(scene, state, on: &canvas)
      case .trace: TraceView.draw(scene, state, on: &canvas)
      case .help: HelpView.draw(state, on: &canvas)
      }
    }
    if let rect = frame.playBar {
      canvas.draw(in: rect) { PlayBar.draw(scene, state, on: &$0) }
    }
    if let row = frame.rule { canvas.rule(row: row) }
    if let row = frame.message { BottomLines.drawMessage(scene, state, on: &canvas, row: row) }
    if let row = frame.hints {
      BottomLines.drawHints(scene, state, on: &canvas, row: row, isShared: frame.message == nil)
    }
    Overlays.draw(scene, state, frame, on: &canvas)
    return canvas
  }
}

/// Assignment of rows.
struct ViewFrame {
  var columns: Int
  var rows: Int
  var status: Int?
  var tabs: Int?
  var view: Rect
  var playBar: Rect?
  var rule: Int?
  var message: Int?
  var hints: Int?

  init(_ state: ViewState, columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    var top = 0
    var bottom = rows
    if rows >= 2 {
      bottom -= 1
      hints = bottom
    }
    if rows >= 6 {
      bottom -= 1
      message = bottom
    }
    if rows >= 10 {
      bottom -= 1
      rule = bottom
    }
    if rows >= 3 {
      status = 0
      top = 1
    }
    if rows >= 8 {
      tabs = top
      top += 1
    }
    if state.mode == .play {
      let height = rows >= 20 && columns >= 40 ? PlayBar.rows : rows >= 8 ? 1 : 0
      if height > 0 {
        bottom -= height
        playBar = Rect(column: 0, row: bottom, columns: columns, rows: height)
      }
    }
    view = Rect(column: 0, row: top, columns: columns, rows: bottom - top)
  }

  /// Row for the prompt and questions.
  var entryRow: Int? { message ?? hints ?? (rows > 0 ? 0 : nil) }
}

/// The names of the views, on the line below the status line; brackets mark the current one.
enum Tabs {
  static func places(_ state: ViewState, columns: Int) -> [(view: ViewState.View, text: String, column: Int)]
  {
    var places: [(ViewState.View, String, Int)] = []
    var column = 1
    for view in ViewState.View.allCases {
      let text = view == state.view ? "[\(view.rawValue)]" : " \(view.rawValue) "
      // On a narrow screen only the current one.
      if columns < 50, view != state.view { continue }
      places.append((view, text, column))
      column += text.count + 1
    }
    return places
  }

  static func draw(_ state: ViewState, on canvas: inout Canvas, row: Int) {
    canvas.rule(row: row)
    for place in places(state, columns: canvas.columns) {
      canvas.put(
        place.text, at: Point(place.column, row), Style(place.view == state.view ? .title : .dim))
    }
  }
}
