import Screen

/// Movement of the cursor in the matrix, and the size of its cells.
@MainActor struct GridCursor {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var picture: MatrixPicture? { MatrixPicture(desk.scene, desk.state, desk.viewSize) }

  /// Keeps the cursor and the range within the grid, while it is shown.
  func clamp() {
    guard desk.state.view == .matrix else { return }
    let patch = desk.scene.patch
    if let former = desk.state.matrix.formerCable, patch.cables[former] != nil {
      desk.state.matrix.cable = former
      desk.state.matrix.formerCable = nil
    }
    if let cable = desk.state.matrix.cable, patch.cables[cable] == nil {
      desk.state.matrix.cable = nil
      desk.state.matrix.dropRange()
    }
    guard let grid = Grid(desk.scene, desk.state) else { return }
    func clamped(_ cell: GridCell) -> GridCell {
      var cell = GridCell(
        min(max(-1, cell.row), grid.rows - 1), min(max(-1, cell.column), grid.columns - 1))
      if !grid.contains(cell) { cell = GridCell(max(0, cell.row), max(0, cell.column)) }
      return cell
    }
    desk.state.matrix.cell = clamped(desk.state.matrix.cell)
    desk.state.matrix.rangeStart = desk.state.matrix.rangeStart.map(clamped)
    desk.state.matrix.rangeEnd = desk.state.matrix.rangeEnd.map(clamped)
    // The visible part stays until the cursor would leave it.
    desk.state.scroll[.matrix] = picture.map { ($0.firstRow, $0.firstColumn) } ?? (0, 0)
  }

  func move(_ motion: Motion) {
    GridTyping(desk).apply()
    let old = desk.state.matrix.cell
    let page = max(1, desk.size.rows - 12)
    switch motion {
    case .left: desk.state.matrix.column -= 1
    case .right: desk.state.matrix.column += 1
    case .up: desk.state.matrix.row -= 1
    case .down: desk.state.matrix.row += 1
    case .pageUp: desk.state.matrix.row = max(min(0, old.row), old.row - page)
    case .pageDown: desk.state.matrix.row += page
    case .home: desk.state.matrix.column = desk.state.matrix.column > 0 ? 0 : -1
    case .end: desk.state.matrix.column = 1 << 20
    }
    // A cable has no side gains: beyond the edge lies the cable's own gain.
    let isBeyond = min(desk.state.matrix.row, desk.state.matrix.column) < 0
    if isBeyond, old != .master, Grid(desk.scene, desk.state)?.cable != nil {
      desk.state.matrix.cell = .master
    }
    clamp()
  }

  /// Moves the cursor to a cell, as for a click.
  func select(_ cell: GridCell) {
    GridTyping(desk).apply()
    desk.state.matrix.cell = cell
    clamp()
  }

  /// Makes the cells one size larger or smaller.
  func zoom(_ step: Int) {
    let widths = MatrixPicture.cellWidths
    guard let index = widths.firstIndex(of: picture?.cellWidth ?? 1) else { return }
    desk.state.matrix.cellWidth = widths[min(max(0, index + step), widths.count - 1)]
  }
}
