/// Position of a cell: columns to the right, rows down, both from 0.
public struct Point: Hashable, Sendable, Comparable {
  /// Column from the left, from 0.
  public var column: Int
  /// Row from the top, from 0.
  public var row: Int

  /// The position in this column and row.
  public init(_ column: Int, _ row: Int) {
    self.column = column
    self.row = row
  }

  /// The upper left corner.
  public static let zero = Point(0, 0)

  /// Vector sum.
  public static func + (a: Point, b: Point) -> Point { Point(a.column + b.column, a.row + b.row) }
  /// Vector difference.
  public static func - (a: Point, b: Point) -> Point { Point(a.column - b.column, a.row - b.row) }

  /// Reading order: row by row.
  public static func < (a: Point, b: Point) -> Bool {
    (a.row, a.column) < (b.row, b.column)
  }
}

/// Columns and rows, never negative.
public struct Size: Hashable, Sendable {
  /// Width.
  public var columns: Int
  /// Height.
  public var rows: Int

  /// Negative sizes count as 0.
  public init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }
}

/// A rectangle of cells; `right` and `bottom` lie just outside it.
public struct Rect: Hashable, Sendable {
  /// Left column.
  public var column: Int
  /// Top row.
  public var row: Int
  /// Width.
  public var columns: Int
  /// Height.
  public var rows: Int

  /// Negative sizes count as 0.
  public init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }

  /// First column to the right of it.
  public var right: Int { column + columns }
  /// First row below it.
  public var bottom: Int { row + rows }
  /// Upper left corner.
  public var origin: Point { Point(column, row) }
  /// Width and height.
  public var size: Size { Size(columns: columns, rows: rows) }
  /// True when it has no cells.
  public var isEmpty: Bool { columns == 0 || rows == 0 }

  /// True when the cell lies inside.
  public func contains(_ point: Point) -> Bool {
    point.column >= column && point.column < right && point.row >= row && point.row < bottom
  }

  /// True when both share a cell.
  public func intersects(_ other: Rect) -> Bool { !intersection(other).isEmpty }

  /// The common part; empty if there is none.
  public func intersection(_ other: Rect) -> Rect {
    let left = max(column, other.column)
    let top = max(row, other.row)
    return Rect(
      column: left, row: top,
      columns: min(right, other.right) - left, rows: min(bottom, other.bottom) - top)
  }

  /// The smallest rectangle around both; an empty one adds nothing.
  public func union(_ other: Rect) -> Rect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let left = min(column, other.column)
    let top = min(row, other.row)
    return Rect(
      column: left, row: top,
      columns: max(right, other.right) - left, rows: max(bottom, other.bottom) - top)
  }

  /// Moved by a vector.
  public func offset(by point: Point) -> Rect {
    Rect(column: column + point.column, row: row + point.row, columns: columns, rows: rows)
  }

  /// Smaller by this many cells on every side, down to nothing.
  public func inset(by cells: Int) -> Rect {
    Rect(column: column + cells, row: row + cells, columns: columns - 2 * cells, rows: rows - 2 * cells)
  }
}
