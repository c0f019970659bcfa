import Screen

/// Assignment of the screen's rows.
struct ViewFrame {
  var columns: Int
  var rows: Int
  var status: Int?
  var tabs: Int?
  var view: Rect
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

  init(columns: Int, rows: Int, isPlaying: Bool, hasControls: Bool = false, hasScenes: Bool = false) {
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
    if isPlaying {
      let height = rows >= 20 && columns >= 40 ? Self.keyboardRows : rows >= 8 ? 1 : 0
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
  }

  /// Row for the prompt and questions.
  var entryRow: Int? { message ?? hints ?? (rows > 0 ? 0 : nil) }
}
