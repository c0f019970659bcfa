import Engine
import Glibc
import Patch
import Screen
import Session

/// The matrix mixer as a grid: inputs down, outputs across, each with its level and its gain.
struct MatrixView {
  let node: Node
  let facts: NodeFacts
  let inputs: Int
  let outputs: Int
  let inputPeaks: [Float]
  let outputPeaks: [Float]
  let cursor: ViewState.MatrixCursor
  let size: Size

  // Places of the view, in its own coordinates.
  let cellWidth: Int
  let headWidth: Int
  /// Rows above the first crosspoint.
  let headRows: Int
  let isCompact: Bool
  let firstRow: Int
  let firstColumn: Int
  let shownRows: Int
  let shownColumns: Int

  /// The matrix that the view is about: the chosen one, the focused one, or the first.
  static func nodeID(_ scene: Scene, _ state: ViewState) -> NodeID? {
    for id in [state.matrix.node, state.focus] {
      if let id, scene.patch[id]?.kind == "matrix" { return id }
    }
    return scene.patch.nodes.values.first { $0.kind == "matrix" }?.id
  }

  init?(_ scene: Scene, _ state: ViewState, _ size: Size) {
    guard let id = Self.nodeID(scene, state), let node = scene.patch[id] else { return nil }
    self.node = node
    self.size = size
    facts = NodeFacts(node, scene.catalogue)
    inputs = facts.count("inputs")
    outputs = facts.count("outputs")
    let report = scene.report.nodes.first { $0.id == id }
    inputPeaks = report?.inputs.first { !$0.isEvents }?.peaks ?? []
    outputPeaks = report?.outputs.first { !$0.isEvents }?.peaks ?? []
    cursor = state.matrix
    // A title, the outputs' names, meters, gains and a rule; less of them where there are few rows.
    headRows = size.rows >= 11 ? 6 : size.rows >= 5 ? 3 : 2
    let rows = max(0, size.rows - headRows)
    isCompact = size.columns < 22 + 10 * min(outputs, 4)
    headWidth = size.columns < 26 ? 6 : isCompact ? 14 : 23
    let wide = isCompact ? 7 : 10
    cellWidth = headWidth + wide * outputs > size.columns - 1 ? 7 : wide
    shownRows = min(inputs, rows)
    shownColumns = min(outputs, max(0, (size.columns - 1 - headWidth) / cellWidth))
    firstRow = Self.first(state.scroll[.matrix]?.row ?? 0, cursor.row, shown: shownRows, of: inputs)
    firstColumn = Self.first(
      state.scroll[.matrix]?.column ?? 0, cursor.column, shown: shownColumns, of: outputs)
  }

  private static func first(_ wanted: Int, _ cursor: Int, shown: Int, of count: Int) -> Int {
    var first = min(max(0, wanted), max(0, count - shown))
    if cursor >= 0, cursor < count {
      first = min(first, cursor)
      first = max(first, cursor + 1 - shown)
    }
    return max(0, first)
  }

  // MARK: Values

  /// Which setting a cell of the grid is.
  static func path(row: Int, column: Int) -> ParameterPath {
    switch (row, column) {
    case (..<0, ..<0): ParameterPath("master")
    case (..<0, _): ParameterPath("out", [column])
    case (_, ..<0): ParameterPath("in", [row])
    default: ParameterPath("", [row, column])
    }
  }

  func decibels(_ row: Int, _ column: Int) -> Double {
    facts.number(Self.path(row: row, column: column)) ?? -.infinity
  }

  /// `-6.0`, or `·` for silence.
  private func text(_ row: Int, _ column: Int) -> String {
    let level = decibels(row, column)
    return level.isFinite ? Printout.fixed(level, 1) : "·"
  }

  // MARK: Drawing

  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    guard let view = MatrixView(scene, state, bounds.size) else {
      canvas.put(
        [Span("no matrix in this patch", .dim)], at: Point(1, bounds.rows / 3), columns: bounds.columns - 2)
      canvas.placeCursor(at: Point(0, 0))
      return
    }
    view.draw(on: &canvas)
  }

  private func draw(on canvas: inout Canvas) {
    drawTitle(on: &canvas)
    for place in 0..<shownColumns { drawOutput(firstColumn + place, on: &canvas) }
    for place in 0..<shownRows {
      let row = firstRow + place
      drawInput(row, on: &canvas)
      for other in 0..<shownColumns { drawCell(row, firstColumn + other, on: &canvas) }
    }
    drawCell(-1, -1, on: &canvas)
    if headRows >= 6 { drawRules(on: &canvas) }
    drawMore(on: &canvas)
  }

  /// Between the heads, which stay, and the crosspoints, which scroll.
  private func drawRules(on canvas: inout Canvas) {
    let column = headWidth - 1
    let right = headWidth + shownColumns * cellWidth
    canvas.put([Span("master", .dim)], at: Point(1, row(-1)), columns: 6)
    canvas.path([Point(1, headRows - 1), Point(right, headRows - 1)], Style(.rule))
    canvas.path(
      [Point(column, 2), Point(column, headRows - 1 + shownRows)], rounded: false, Style(.rule))
  }

  private func drawTitle(on canvas: inout Canvas) {
    canvas.put(
      [Span(node.name, .title), Span("   \(facts.kindText)", .kind)], at: Point(1, 0),
      columns: size.columns - 2)
  }

  /// Column of a grid cell; the heads' own column is that of index -1.
  private func column(_ index: Int) -> Int {
    index < 0
      ? headWidth - cellWidth - (headRows >= 6 ? 1 : 0) : headWidth + (index - firstColumn) * cellWidth
  }

  private func row(_ index: Int) -> Int {
    index < 0 ? headRows - (headRows >= 6 ? 2 : 1) : headRows + index - firstRow
  }

  private func drawOutput(_ index: Int, on canvas: inout Canvas) {
    let right = column(index) + cellWidth - 1
    let isHere = index == cursor.column
    if headRows >= 3 {
      canvas.put(
        [Span("out \(index)", isHere ? .accent : .text)], endingAt: right, row: headRows >= 6 ? 2 : 1)
    }
    if headRows >= 6 {
      let peak = outputPeaks.indices.contains(index) ? outputPeaks[index] : 0
      let bar = cellWidth - 3
      canvas.put(Meter.bar(peak, columns: bar), at: Point(right - bar, 3), columns: bar)
    }
    drawCell(-1, index, on: &canvas)
  }

  private func drawInput(_ index: Int, on canvas: inout Canvas) {
    let place = Point(1, row(index))
    let isHere = index == cursor.row
    let name = headWidth < 14 ? "\(index)" : "in \(index)"
    canvas.put([Span(name, isHere ? .accent : .text)], at: place, columns: max(0, headWidth - 2))
    let bar = headWidth - 7 - cellWidth
    if bar > 2 {
      let peak = inputPeaks.indices.contains(index) ? inputPeaks[index] : 0
      canvas.put(Meter.bar(peak, columns: bar - 1), at: Point(7, place.row), columns: bar - 1)
    }
    if headWidth >= 14 { drawCell(index, -1, on: &canvas) }
  }

  private func drawCell(_ row: Int, _ index: Int, on canvas: inout Canvas) {
    let isHere = row == max(-1, cursor.row) && index == max(-1, cursor.column)
    let start = Point(column(index), self.row(row))
    guard start.column >= 0, headWidth >= 14 || index >= 0 else { return }
    let shown = isHere ? cursor.typed.map { $0 + "▏" } ?? text(row, index) : text(row, index)
    let level = decibels(row, index)
    let isHead = row < 0 || index < 0
    let key: ThemeKey =
      isHere ? .accent : !level.isFinite ? .meterEmpty : isHead ? .dim : level > -90 ? .value : .dim
    // The decimal points stand below each other: one column is left for the bracket.
    let cut = DisplayWidth.padded(shown, to: cellWidth - 2, right: true)
    canvas.put(cut, at: start, Style(key, on: isHere ? .selection : nil))
    if isHere {
      // The bracket stands right before the value.
      let value = min(shown.count, cellWidth - 2)
      let bracket = Point(start.column + cellWidth - 3 - value, start.row)
      canvas.set("[", at: Point(max(start.column, bracket.column), start.row), Style(.accent))
      canvas.set("]", at: Point(start.column + cellWidth - 2, start.row), Style(.accent))
      canvas.placeCursor(at: Point(start.column + cellWidth - 3, start.row))
    }
  }

  private func drawMore(on canvas: inout Canvas) {
    let end = headWidth + shownColumns * cellWidth
    if firstColumn > 0 { canvas.set("‹", at: Point(headWidth - 1, row(-1)), Style(.accent)) }
    if firstColumn + shownColumns < outputs {
      canvas.set("›", at: Point(min(end, size.columns - 1), row(-1)), Style(.accent))
    }
    if firstRow > 0 { canvas.set("↑", at: Point(0, headRows), Style(.accent)) }
    if firstRow + shownRows < inputs {
      canvas.set("↓", at: Point(0, headRows + max(0, shownRows - 1)), Style(.accent))
    }
  }

  /// The cell in full, and the edit that it stands for.
  static func cellSpans(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    MatrixView(scene, state, Size(columns: 80, rows: 20))?.cellSpans(columns: columns)
  }

  private func cellSpans(columns: Int) -> [Span] {
    let row = max(-1, cursor.row)
    let index = max(-1, cursor.column)
    let path = Self.path(row: row, column: index)
    let what =
      switch (row, index) {
      case (-1, -1): "master"
      case (-1, _): "output \(index)"
      case (_, -1): "input \(row)"
      default: (columns < 60 ? "" : "crosspoint ") + "\(row) → \(index)"
      }
    let level = decibels(row, index)
    let factor = level.isFinite ? pow(10, level / 20) : 0
    let value = Value.number(level, .decibels)
    let place = [Span(what), Span("   \(value.display)", .value)]
    return [Span].fitting(
      [
        place, [Span("set \(node.name + path.suffix) \(value.line)", .prompt)],
        [Span("factor \(Printout.fixed(factor, 3))", .dim)],
      ], columns: max(columns, place.width))
  }

  // MARK: The mouse

  /// Row and column of the grid at a point of the view; -1 for the gains of the sides.
  func cell(at point: Point) -> (row: Int, column: Int)? {
    guard point.row == row(-1) || point.row >= headRows, point.row < headRows + shownRows else { return nil }
    let row = point.row < headRows ? -1 : firstRow + point.row - headRows
    if point.column < headWidth { return (row, -1) }
    let place = (point.column - headWidth) / cellWidth
    return place < shownColumns ? (row, firstColumn + place) : nil
  }
}
