import Patch
import Screen

/// The whole graph on one screen, with the window in it: boxes as dots, four rows and two columns of them to a cell.
struct GraphOverview {
  private let picture: GraphPicture
  private let size: Size
  /// Cells of the diagram for a dot, across and down.
  private let scale: (across: Double, down: Double)
  /// The part of the diagram that the view shows otherwise.
  private let window: Rect
  private let focus: NodeID?

  init(_ picture: GraphPicture, _ state: ViewState, _ size: Size) {
    (self.picture, self.size, focus) = (picture, size, state.focus)
    let whole = picture.diagram.size
    scale = (
      max(0.5, Double(whole.columns) / Double(max(1, size.columns * 2))),
      max(0.25, Double(whole.rows) / Double(max(1, size.rows * 4)))
    )
    let origin = GraphDrawing.offset(picture, state, size)
    window = Rect(
      column: max(0, origin.column), row: max(0, origin.row), columns: size.columns, rows: size.rows
    )
    .intersection(Rect(column: 0, row: 0, columns: whole.columns, rows: whole.rows))
  }

  private func dots(_ frame: Rect) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
    let left = Int(Double(frame.column) / scale.across)
    let top = Int(Double(frame.row) / scale.down)
    // Boxes are a dot apart where there is room.
    let right = Int(Double(frame.right) / scale.across) - 2
    let bottom = Int(Double(frame.bottom) / scale.down) - 2
    return (left...max(left, right), top...max(top, bottom))
  }

  /// The box nearest to a cell.
  func box(at cell: Point) -> Int? {
    let (column, row) = (Double(cell.column * 2 + 1) * scale.across, Double(cell.row * 4 + 2) * scale.down)
    func distance(_ frame: Rect) -> Double {
      abs(Double(frame.column) + Double(frame.columns) / 2 - column)
        + 2 * abs(Double(frame.row) + Double(frame.rows) / 2 - row)
    }
    return picture.frames.indices.min { distance(picture.frames[$0]) < distance(picture.frames[$1]) }
  }

  /// Its signs differ from boxes in ASCII, too.
  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    var quiet = BrailleField(columns: size.columns, rows: size.rows)
    var (sounding, troubled) = (quiet, quiet)
    for (box, frame) in zip(picture.boxes, picture.frames) {
      let dots = dots(frame)
      let isSounding = box.peaks(scene).contains { Meter.decibels($0) > Meter.floor }
      for column in dots.columns {
        if box.isTroubled {
          troubled.set(column, rows: dots.rows)
        } else if isSounding {
          sounding.set(column, rows: dots.rows)
        } else {
          quiet.set(column, rows: dots.rows)
        }
      }
    }
    BrailleField.draw(
      [(troubled, .frameTrouble), (sounding, .frameSounding), (quiet, .frame)], at: .zero, on: &canvas)
    for (box, frame) in zip(picture.boxes, picture.frames) where state.marked.contains(box.id) {
      canvas.set("■", at: cell(frame), Style(.accent))
    }
    drawWindow(on: &canvas)
    if let frame = focus.flatMap(picture.frame) {
      let place = cell(frame)
      canvas.set("◉", at: place, Style(.accent))
      canvas.placeCursor(at: place)
    }
  }

  /// The cell of a box's middle.
  private func cell(_ frame: Rect) -> Point {
    let dots = dots(frame)
    return Point(
      (dots.columns.lowerBound + dots.columns.upperBound) / 4,
      (dots.rows.lowerBound + dots.rows.upperBound) / 8)
  }

  /// A frame around what the view shows, where it does not show everything.
  private func drawWindow(on canvas: inout Canvas) {
    guard window.size != picture.diagram.size else { return }
    let left = Int(Double(window.column) / scale.across / 2)
    let top = Int(Double(window.row) / scale.down / 4)
    let right = min(size.columns - 1, Int(Double(window.right) / scale.across / 2))
    let bottom = min(size.rows - 1, Int(Double(window.bottom) / scale.down / 4))
    canvas.box(
      Rect(column: left, row: top, columns: max(2, right - left + 1), rows: max(2, bottom - top + 1)),
      stroke: .light, rounded: true, filled: false, Style(.accent))
  }
}
