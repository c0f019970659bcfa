import Glibc
import Patch
import Screen
import Session

/// Text of the matrix screen: its title, and the cursor's cell in full.
extension MatrixPicture {
  func drawTitle(on canvas: inout Canvas) {
    var groups = [[Span(grid.name, .title), Span("   \(grid.kindText)", .kind)]]
    if case .cable(let cable, _) = grid.subject {
      let way = cable.map.map { "map \($0.line)" } ?? grid.conversion ?? "1:1"
      groups.append([Span(way, .text)])
    }
    var parts: [String] = []
    if shownRows < grid.rows { parts.append("rows \(firstRow)…\(firstRow + shownRows - 1) of \(grid.rows)") }
    if shownColumns < grid.columns {
      parts.append("columns \(firstColumn)…\(firstColumn + shownColumns - 1) of \(grid.columns)")
    }
    if !parts.isEmpty, shownRows > 0, shownColumns > 0 {
      groups.append([Span(parts.joined(separator: "   "), .dim)])
    }
    let room = size.columns - 2
    canvas.put([Span].fitting(groups, columns: max(room, groups[0].width)), at: Point(1, 0), columns: room)
  }

  /// Description of the cell, or of the range, with the corresponding edit.
  static func cellSpans(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    guard let grid = Grid(scene, state), grid.contains(state.matrix.cell) else { return nil }
    let cell = state.matrix.cell
    var place: [Span]
    let range = state.matrix.range
    if state.matrix.rangeStart != nil {
      place = [Span("range "), Span(words(range, grid), .accent)]
    } else {
      place = [Span(words(cell, grid, isShort: columns < 60))]
    }
    if let typed = state.matrix.typed {
      return place + [Span("   "), Span(typed + "▏dB", .accent)]
    }
    let level = grid.gain(cell)
    let factor = grid.element(cell).map { Double($0.factor) } ?? (level.isFinite ? pow(10, level / 20) : 0)
    let switches = switches(cell, grid)
    let value = Value.number(level, .decibels)
    let isSwitch = grid.cable != nil && cell.isCrosspoint && (level == 0 || !level.isFinite)
    place.append(Span("   " + (isSwitch ? level == 0 ? "on" : "off" : value.display), .value))
    return [Span].fitting(
      [
        place, switches.isEmpty ? [] : [Span(switches, .accent)], [Span(line(cell, grid, value), .prompt)],
        isSwitch ? [] : [Span("factor \(Printout.fixed(factor, 3))", .dim)],
      ],
      columns: max(columns, place.width))
  }

  private static func words(_ cell: GridCell, _ grid: Grid, isShort: Bool) -> String {
    let isCable = grid.cable != nil
    switch (cell.row, cell.column) {
    case (..<0, ..<0): return isCable ? "the cable's gain" : "master"
    case (..<0, let column): return "output \(named(column, grid.columnLabel(column)))"
    case (let row, ..<0): return "input \(named(row, grid.rowLabel(row)))"
    case (let row, let column):
      return (isShort ? "" : isCable ? "channel " : "crosspoint ")
        + "\(named(row, grid.rowLabel(row))) → \(named(column, grid.columnLabel(column)))"
    }
  }

  /// `0 Kick`
  private static func named(_ index: Int, _ label: String) -> String {
    label.isEmpty ? "\(index)" : "\(index) \(label)"
  }

  /// `muted`, `inverted`, `silent: others are soloed`, and `~lfo` for what moves it
  private static func switches(_ cell: GridCell, _ grid: Grid) -> String {
    guard let element = grid.element(cell) else { return "" }
    var words: [String] = []
    if element.isMuted { words.append("muted") }
    if element.isSoloed { words.append("soloed") }
    if element.isInverted { words.append("inverted") }
    if !element.isHeard, !element.isMuted { words.append("silent while others are soloed") }
    words += grid.movers(of: cell).map { "~" + $0 }
    return words.joined(separator: ", ")
  }

  /// `0…3 → 1, 4 crosspoints`
  private static func words(_ range: GridRange, _ grid: Grid) -> String {
    func span(_ range: ClosedRange<Int>) -> String {
      range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)…\(range.upperBound)"
    }
    let isRows = range.columns.upperBound < 0
    let isColumns = range.rows.upperBound < 0
    if isRows, isColumns { return "master" }
    if isRows { return "inputs \(span(range.rows))" }
    if isColumns { return "outputs \(span(range.columns))" }
    return "\(span(range.rows)) → \(span(range.columns)), \(range.count) crosspoints"
  }

  private static func line(_ cell: GridCell, _ grid: Grid, _ value: Value) -> String {
    switch grid.subject {
    case .matrix(let node): "set \(node.name + Grid.path(cell).suffix) \(value.line)"
    case .cable(let cable, let name):
      Edit.connect(name, cable.settings).line
    }
  }
}
