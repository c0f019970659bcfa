import Patch
import Screen

extension MatrixPicture {
  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    guard let view = MatrixPicture(scene, state, bounds.size) else {
      canvas.put(
        [Span("no matrix in this patch, and no cable to open as one: a adds a node", .dim)],
        at: Point(1, bounds.rows / 3),
        columns: bounds.columns - 2)
      canvas.placeCursor(at: Point(0, 0))
      return
    }
    view.draw(on: &canvas)
  }

  private func draw(on canvas: inout Canvas) {
    drawTitle(on: &canvas)
    for place in 0..<shownColumns { drawColumnHead(firstColumn + place, on: &canvas) }
    for place in 0..<shownRows {
      let row = firstRow + place
      drawRowHead(row, on: &canvas)
      for other in 0..<shownColumns { draw(GridCell(row, firstColumn + other), on: &canvas) }
    }
    draw(.master, on: &canvas)
    if isFull { drawRules(on: &canvas) }
    drawBrackets(on: &canvas)
    drawMore(on: &canvas)
  }

  /// Lines between the fixed heads and the scrolling crosspoints.
  private func drawRules(on canvas: inout Canvas) {
    let column = headWidth - 1
    let right = headWidth + shownColumns * cellWidth
    canvas.put([Span(grid.cable == nil ? "master" : "gain", .dim)], at: Point(1, row(-1)), columns: 6)
    canvas.path([Point(1, headRows - 1), Point(right, headRows - 1)], Style(.rule))
    canvas.path(
      [Point(column, 2), Point(column, headRows - 1 + shownRows)], rounded: false, Style(.rule))
    // Dots are too close for brackets, so marks on the lines point at the cursor.
    guard cellWidth == 1 else { return }
    if cursor.column >= 0 {
      canvas.set("▾", at: Point(self.column(cursor.column), headRows - 1), Style(.accent))
    }
    if cursor.row >= 0 { canvas.set("▸", at: Point(column, row(cursor.row)), Style(.accent)) }
  }

  // MARK: Heads

  private func drawColumnHead(_ index: Int, on canvas: inout Canvas) {
    let key: ThemeKey = index == cursor.column ? .accent : .text
    let end = column(index) + (cellWidth >= 7 ? cellWidth - 2 : cellWidth - 1)
    let hasLabels = !grid.columnLabels.isEmpty && cellWidth >= 4
    let top = isFull && !hasLabels ? 2 : 1
    let label = grid.columnLabel(index)
    if headRows >= 3 {
      if cellWidth >= 4 {
        let number = cellWidth >= 7 ? grid.columnName(index) : "\(index)"
        // If both share one row, the label is more useful than the number.
        let name = isFull || label.isEmpty ? number : label
        put(name, key, endingAt: end, columns: cellWidth - 1, row: top, on: &canvas)
        if isFull, hasLabels { put(label, key, endingAt: end, columns: cellWidth - 1, row: 2, on: &canvas) }
      } else {
        canvas.put([Span("\(index % 10)", key)], endingAt: end + 1, row: top)
        if isFull, grid.columns > 10, index % 10 == 0 || index == firstColumn {
          canvas.put([Span("\(index / 10)", .dim)], endingAt: end + 1, row: top - 1)
        }
      }
    }
    if isFull {
      if cellWidth >= 4 {
        let bar = cellWidth >= 7 ? cellWidth - 3 : 3
        canvas.put(Meter.bar(level(column: index), columns: bar), at: Point(end + 1 - bar, 3))
      } else {
        let meter = level(column: index)
        // A row of lowest blocks would look like sound.
        if meter.peak > 0 { canvas.put([Meter.cell(meter)], at: Point(end, 3)) }
      }
    }
    draw(GridCell(-1, index), on: &canvas)
  }

  private func put(
    _ text: String, _ key: ThemeKey, endingAt end: Int, columns: Int, row: Int, on canvas: inout Canvas
  ) {
    canvas.put([Span(DisplayWidth.truncated(text, to: columns), key)], endingAt: end + 1, row: row)
  }

  private func drawRowHead(_ index: Int, on canvas: inout Canvas) {
    let place = Point(1, row(index))
    let key: ThemeKey = index == cursor.row ? .accent : .text
    let isWide = cellWidth >= 7 && headWidth >= 14
    let label = grid.rowLabel(index)
    var name = isWide ? grid.rowName(index) : DisplayWidth.padded("\(index)", to: 2, right: headWidth >= 14)
    if isWide, labelWidth == 0, !label.isEmpty { name = DisplayWidth.truncated(label, to: 5) }
    canvas.put([Span(name, key)], at: place, columns: max(0, headWidth - 2))
    // All rows leave the room that the last row's name needs.
    var start = isWide ? max(7, DisplayWidth.of(grid.rowName(grid.rows - 1)) + 2) : 4
    if labelWidth > 0 {
      canvas.put(
        [Span(DisplayWidth.truncated(label, to: labelWidth - 1), key)], at: Point(start, place.row),
        columns: labelWidth - 1)
      start += labelWidth
    }
    let bar = column(-1) - start
    if headWidth >= 14, bar > 1 {
      canvas.put(Meter.bar(level(row: index), columns: bar), at: Point(start, place.row))
    }
    if hasRowGains { draw(GridCell(index, -1), on: &canvas) }
  }

  // MARK: Cells

  private func draw(_ cell: GridCell, on canvas: inout Canvas) {
    let start = Point(column(cell.column), row(cell.row))
    guard start.column >= 0, hasRowGains || cell.column >= 0, grid.contains(cell) else { return }
    let isHere = cell == cursor.cell
    let isInRange = range.contains(cell)
    let width = width(cell.column)
    let element = grid.element(cell)
    let typed = isHere && width >= 7 ? cursor.typed.map { $0 + "▏" } : nil
    let shown = typed ?? text(cell, element)
    let key = isHere ? .accent : key(cell, element)
    // Decimal points are aligned.
    let cut = DisplayWidth.padded(shown, to: valueEnd(cell.column) + 1, right: true)
    canvas.put(cut, at: start, Style(key, on: isInRange ? .selection : nil))
    if width >= 7, let mark = element?.mark ?? (grid.movers(of: cell).isEmpty ? nil : "~") {
      canvas.put(
        mark, at: start + Point(valueEnd(cell.column) + 2, 0), Style(mark == "M" ? .warning : .sounding))
    }
    // The selection is one continuous area.
    if isInRange, cell.column < range.columns.upperBound {
      let rest = width - valueEnd(cell.column) - 1
      canvas.restyle(
        Rect(column: start.column + width - rest, row: start.row, columns: rest, rows: 1)
      ) {
        $0.ground = .selection
      }
    }
    guard isHere else { return }
    canvas.placeCursor(at: start + Point(valueEnd(cell.column), 0))
    canvas.markFocus(Rect(column: start.column, row: start.row, columns: width, rows: 1))
  }

  /// Silent cells are dimmed.
  private func key(_ cell: GridCell, _ element: SwitchedGains.Element?) -> ThemeKey {
    let level = element?.decibels ?? grid.gain(cell)
    guard level.isFinite else { return .meterEmpty }
    if element?.isHeard == false { return .dim }
    return !cell.isCrosspoint || level <= -90 ? .dim : .value
  }

  /// Brackets around the cursor's cell, or around each row of the range, so that it is visible without
  /// colours.
  private func drawBrackets(on canvas: inout Canvas) {
    for row in range.rows where isShown(GridCell(row, range.columns.lowerBound)) {
      let first = GridCell(row, range.columns.lowerBound)
      guard width(first.column) > 1, grid.contains(first) else { continue }
      let shown = first == cursor.cell ? cursor.typed.map { $0 + "▏" } ?? text(first) : text(first)
      let end = valueEnd(first.column)
      let left = max(width(first.column) >= 7 ? -1 : 0, end - DisplayWidth.of(shown))
      canvas.set(
        "[", at: Point(column(first.column) + left, self.row(row)), Style(.accent, on: .selection))
    }
    for row in range.rows where isShown(GridCell(row, range.columns.upperBound)) {
      let last = GridCell(row, range.columns.upperBound)
      guard width(last.column) > 1, grid.contains(last) else { continue }
      canvas.set(
        "]", at: Point(column(last.column) + valueEnd(last.column) + 1, self.row(row)),
        Style(.accent, on: .selection))
    }
  }

  private func drawMore(on canvas: inout Canvas) {
    let end = headWidth + shownColumns * cellWidth
    if firstColumn > 0 { canvas.set("‹", at: Point(headWidth - 1, row(-1)), Style(.accent)) }
    if firstColumn + shownColumns < grid.columns {
      canvas.set("›", at: Point(min(end, size.columns - 1), row(-1)), Style(.accent))
    }
    if firstRow > 0 { canvas.set("↑", at: Point(0, headRows), Style(.accent)) }
    if firstRow + shownRows < grid.rows {
      canvas.set("↓", at: Point(0, headRows + max(0, shownRows - 1)), Style(.accent))
    }
  }
}
