/// A cell of the matrix screen: row -1 holds the gains of the columns, column -1 those of the rows, and both
/// together the master.
public struct GridCell: Hashable, Sendable {
  public var row: Int
  public var column: Int

  public init(_ row: Int, _ column: Int) {
    self.row = row
    self.column = column
  }

  public static let master = GridCell(-1, -1)
  var isCrosspoint: Bool { row >= 0 && column >= 0 }
}

/// Adjacent cells of one group: crosspoints, or the gains of one side.
public struct GridRange: Hashable, Sendable {
  public var rows: ClosedRange<Int>
  public var columns: ClosedRange<Int>

  /// The range from one corner to the other, in the group of the first one.
  init(_ first: GridCell, _ other: GridCell) {
    func span(_ first: Int, _ other: Int) -> ClosedRange<Int> {
      first < 0 ? -1 ... -1 : min(first, max(0, other))...max(first, other)
    }
    rows = span(first.row, other.row)
    columns = span(first.column, other.column)
  }

  var first: GridCell { GridCell(rows.lowerBound, columns.lowerBound) }
  var count: Int { rows.count * columns.count }
  func contains(_ cell: GridCell) -> Bool { rows.contains(cell.row) && columns.contains(cell.column) }
  /// Row by row, in the order of ranges in the language.
  var cells: [GridCell] { rows.flatMap { row in columns.map { GridCell(row, $0) } } }
}
