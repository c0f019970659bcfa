import Patch
import Screen
import Session

extension ViewName {
  static let matrix = ViewName(rawValue: "matrix")
}

/// A matrix, or a cable's channel map, as a grid: rows down, columns across, each head with its meter and its
/// gain. The heads stay fixed while the crosspoints scroll.
struct MatrixPicture {
  let grid: Grid
  let cursor: MatrixCursor
  let range: GridRange
  let size: Size

  // Positions in the view's own coordinates.
  let cellWidth: Int
  let headWidth: Int
  /// Columns for the labels of rows beside their numbers; 0 without room or labels.
  let labelWidth: Int
  /// Rows above the first crosspoint.
  let headRows: Int
  let firstRow: Int
  let firstColumn: Int
  let shownRows: Int
  let shownColumns: Int

  /// Possible cell widths: dots, bars, whole decibels, tenths with less and with more space.
  static let cellWidths = [1, 2, 4, 7, 10]

  init?(_ scene: Scene, _ state: ViewState, _ size: Size) {
    guard let grid = Grid(scene, state) else { return nil }
    self.grid = grid
    self.size = size
    cursor = state.matrix
    range = cursor.range
    let isCompact = size.columns < 22 + 10 * min(grid.columns, 4)
    func head(_ cell: Int) -> Int {
      if cell >= 7 { return size.columns < 26 ? 6 : isCompact ? 14 : 23 }
      return size.columns < 40 ? 6 : 14
    }
    // The widest cells with which all columns are visible.
    let fitting = Self.cellWidths.last {
      ($0 < 10 || !isCompact) && head($0) + $0 * grid.columns < size.columns
    }
    cellWidth = cursor.cellWidth ?? fitting ?? 1
    let room = size.columns - 1 - head(cellWidth) - cellWidth * grid.columns
    let longest = grid.rowLabels.map { DisplayWidth.of($0) }.max() ?? 0
    labelWidth = longest > 0 && room >= 5 && head(cellWidth) >= 14 ? min(longest + 1, room, 16) : 0
    headWidth = head(cellWidth) + labelWidth
    // A title, the columns' names, meters, gains and a line; fewer of them with few rows.
    headRows = size.rows >= 11 ? 6 : size.rows >= 5 ? 3 : 2
    shownRows = min(grid.rows, max(0, size.rows - headRows))
    shownColumns = min(grid.columns, max(0, (size.columns - 1 - headWidth) / cellWidth))
    firstRow = Self.first(state.scroll[.matrix]?.row ?? 0, cursor.row, shown: shownRows, of: grid.rows)
    firstColumn = Self.first(
      state.scroll[.matrix]?.column ?? 0, cursor.column, shown: shownColumns, of: grid.columns)
  }

  private static func first(_ wanted: Int, _ cursor: Int, shown: Int, of count: Int) -> Int {
    var first = min(max(0, wanted), max(0, count - shown))
    if cursor >= 0, cursor < count {
      first = min(first, cursor)
      first = max(first, cursor + 1 - shown)
    }
    return max(0, first)
  }

  // MARK: Places

  /// True when there is room for meters and lines.
  var isFull: Bool { headRows >= 6 }
  var hasRowGains: Bool { headWidth >= 14 }

  /// Screen column of a grid cell; index -1 is the column of the row gains.
  func column(_ index: Int) -> Int {
    if index >= 0 { return headWidth + (index - firstColumn) * cellWidth }
    return cellWidth < 7 ? headWidth - 6 : headWidth - cellWidth - (isFull ? 1 : 0)
  }

  func row(_ index: Int) -> Int {
    index < 0 ? headRows - (isFull ? 2 : 1) : headRows + index - firstRow
  }

  /// Width of a cell; gains of rows are written out even if crosspoints are not.
  func width(_ column: Int) -> Int { column < 0 ? max(4, cellWidth) : cellWidth }

  /// Last column of a cell's value, relative to the cell; a bracket may follow.
  func valueEnd(_ column: Int) -> Int {
    let width = width(column)
    return width >= 7 ? width - 3 : width - 1
  }

  func isShown(_ cell: GridCell) -> Bool {
    (cell.row < 0 || (firstRow..<firstRow + shownRows).contains(cell.row))
      && (cell.column < 0 ? hasRowGains : (firstColumn..<firstColumn + shownColumns).contains(cell.column))
  }

  /// The cell at a point of the view; heads stand for the gains of their side.
  func cell(at point: Point) -> GridCell? {
    guard point.row > 0, point.row < headRows + shownRows, !isFull || point.row != headRows - 1 else {
      return nil
    }
    let row = point.row < headRows ? -1 : firstRow + point.row - headRows
    if point.column < headWidth { return grid.contains(GridCell(row, -1)) ? GridCell(row, -1) : nil }
    let place = (point.column - headWidth) / cellWidth
    let cell = GridCell(row, firstColumn + place)
    return place < shownColumns && grid.contains(cell) ? cell : nil
  }

  // MARK: Values

  /// `-6.0`, `-6`, a bar or a dot, depending on the room; `·` for silence. `Ø`: inverted. In small cells `M`
  /// and `S` replace the value.
  func text(_ cell: GridCell) -> String { text(cell, grid.element(cell)) }

  func text(_ cell: GridCell, _ element: SwitchedGains.Element?) -> String {
    let level = element?.decibels ?? grid.gain(cell)
    let width = width(cell.column)
    let room = width >= 7 ? valueEnd(cell.column) + 1 : max(1, width - 1)
    if room <= 3, let mark = element?.mark { return mark }
    let sign = element?.isInverted == true ? "Ø" : ""
    guard level.isFinite else { return room == 1 && !sign.isEmpty ? sign : sign + "·" }
    // A map has no gains, so an open channel is not a level.
    if level == 0, grid.cable != nil, cell.isCrosspoint { return "●" }
    if room == 1 {
      let dot = level > 0 ? "◆" : level == 0 ? "●" : "•"
      return !sign.isEmpty ? sign : width == 1 ? dot : String(Self.bar(level))
    }
    let words = [Printout.fixed(level, 1), "\(Int(limited: max(room > 3 ? -999 : -99, level)))"]
    let fitting = words.dropFirst(room > 3 ? 0 : 1).map { sign + $0 }.first { $0.count <= room }
    return fitting ?? (sign.isEmpty ? words[1] : sign)
  }

  /// Taller is louder: 7 eighths are unity, 8 eighths are more.
  static func bar(_ decibels: Double) -> Character {
    let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    if decibels > 0 { return blocks[7] }
    return blocks[decibels == 0 ? 6 : min(5, max(0, Int(limited: (6 + decibels / 8).rounded(.down))))]
  }

  /// Level for the meter of a row or column.
  func level(row: Int) -> MeterLevel { level(row, grid.rowLevels, cursor.meters.rows) }
  func level(column: Int) -> MeterLevel { level(column, grid.columnLevels, cursor.meters.columns) }

  private func level(_ index: Int, _ levels: GridLevels, _ meters: [MeterLevel]) -> MeterLevel {
    if cursor.meters.name == grid.name, meters.indices.contains(index) { return meters[index] }
    return MeterLevel(
      peak: levels.peaks.indices.contains(index) ? levels.peaks[index] : 0,
      mean: levels.means.indices.contains(index) ? levels.means[index] : nil)
  }
}

extension SwitchedGains.Element {
  /// `M` if muted, otherwise `S` if soloed.
  var mark: String? { isMuted ? "M" : isSoloed ? "S" : nil }
}
