import Screen

/// Assignment of the screen's rows.
struct ViewFrame {
  var columns: Int
  var rows: Int
  var status: Int?
  var tabs: Int?
  var tour: Rect?
  var view: Rect
  var inspector: Rect?
  var controls: Rect?
  var scenes: Rect?
  var playBar: Rect?
  var rule: Int?
  var message: Int?
  var hints: Int?

  /// Rows of the keyboard of play mode in its long form: the facts, and four rows of keys.
  static let keyboardRows = 5

  /// Rows of the controls: their names, and their values.
  private static let controlRows = 2

  init(
    columns: Int, rows: Int, isPlaying: Bool, hasPlayer: Bool = true, hasControls: Bool = false,
    hasScenes: Bool = false,
    hasInspector: Bool = false, hasTour: Bool = false
  ) {
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
    if hasTour {
      // The task takes three lines, more on a narrow screen, and the rule is below it.
      let height = rows >= 14 ? (columns >= 60 ? 4 : 6) : rows >= 12 ? (columns >= 60 ? 4 : 5) : 0
      tour = Rect(column: 0, row: top, columns: columns, rows: height)
      top += height
    }
    if isPlaying {
      let height = hasPlayer && rows >= 20 && columns >= 40 ? Self.keyboardRows : rows >= 8 ? 1 : 0
      if height > 0 {
        bottom -= height
        playBar = Rect(column: 0, row: bottom, columns: columns, rows: height)
      }
      if hasControls, rows >= 12 {
        bottom -= Self.controlRows
        controls = Rect(column: 0, row: bottom, columns: columns, rows: Self.controlRows)
      }
      if hasScenes, rows >= 12 {
        bottom -= 1
        scenes = Rect(column: 0, row: bottom, columns: columns, rows: 1)
      }
    }
    view = Rect(column: 0, row: top, columns: columns, rows: bottom - top)
    if hasInspector { makeRoomForInspector() }
  }

  /// From this width on the inspector stands beside the view.
  private static let wideColumns = 100
  /// Columns of the inspector there, and rows where it stands below.
  private static let inspectorColumns = 46...60
  private static let mostInspectorRows = 16

  /// The inspector takes its room from the view; on the smallest screens all of it.
  private mutating func makeRoomForInspector() {
    var rect = view
    if columns >= Self.wideColumns {
      let range = Self.inspectorColumns
      rect.columns = min(max(range.lowerBound, columns * 2 / 5), range.upperBound)
      rect.column = columns - rect.columns
      view.columns -= rect.columns
    } else {
      rect.rows = view.rows < 8 ? view.rows : min(Self.mostInspectorRows, (view.rows * 3 + 2) / 5)
      rect.row = view.bottom - rect.rows
      view.rows -= rect.rows
    }
    inspector = rect
  }

  /// Row for the prompt and questions.
  var entryRow: Int? { message ?? hints ?? (rows > 0 ? 0 : nil) }
}
