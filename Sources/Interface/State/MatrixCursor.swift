import Patch

/// Contents and cursor of the matrix screen; rows and columns as in `GridCell`.
public struct MatrixCursor: Sendable {
  public var node: NodeID?
  /// The cable that is shown instead of a matrix.
  public var cable: Cable.Ends?
  /// The cable that became a matrix, for when that is undone.
  public var formerCable: Cable.Ends?
  public var row = 0
  public var column = 0
  public var typed: String?
  /// Corners of a range: without the second one it extends to the cursor.
  public var rangeStart: GridCell?
  public var rangeEnd: GridCell?
  /// Width of a cell in columns; nil: as wide as fits.
  public var cellWidth: Int?
  public var meters = GridMeters()
  public init() {}

  public var cell: GridCell {
    get { GridCell(row, column) }
    set { (row, column) = (newValue.row, newValue.column) }
  }

  /// The cells to edit: the range, or else the one under the cursor.
  public var range: GridRange {
    GridRange(rangeStart ?? cell, rangeStart == nil ? cell : rangeEnd ?? cell)
  }

  /// The cell lies in a range that was begun.
  func isInRange(_ cell: GridCell) -> Bool { rangeStart != nil && range.contains(cell) }

  mutating func dropRange() { (rangeStart, rangeEnd) = (nil, nil) }
}
