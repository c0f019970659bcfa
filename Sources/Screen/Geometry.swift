/// A cell's place: columns to the right, rows down, both from 0.
public struct Point: Hashable, Sendable, Comparable {
  public var column: Int
  public var row: Int

  public init(_ column: Int, _ row: Int) {
    self.column = column
    self.row = row
  }

  public static let zero = Point(0, 0)

  public static func + (a: Point, b: Point) -> Point { Point(a.column + b.column, a.row + b.row) }
  public static func - (a: Point, b: Point) -> Point { Point(a.column - b.column, a.row - b.row) }

  /// Reading order: row by row.
  public static func < (a: Point, b: Point) -> Bool {
    (a.row, a.column) < (b.row, b.column)
  }
}

/// Columns and rows, never negative.
public struct Size: Hashable, Sendable {
  public var columns: Int
  public var rows: Int

  public init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }
}

/// A rectangle of cells; `right` and `bottom` lie just outside of it.
public struct Rect: Hashable, Sendable {
  public var column: Int
  public var row: Int
  public var columns: Int
  public var rows: Int

  /// Negative sizes count as 0.
  public init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }

  public var right: Int { column + columns }
  public var bottom: Int { row + rows }
  public var origin: Point { Point(column, row) }
  public var size: Size { Size(columns: columns, rows: rows) }
  public var isEmpty: Bool { columns == 0 || rows == 0 }

  public func contains(_ point: Point) -> Bool {
    point.column >= column && point.column < right && point.row >= row && point.row < bottom
  }

  public func intersects(_ other: Rect) -> Bool { !intersection(other).isEmpty }

  /// What both have; empty when they are apart.
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

  public func offset(by point: Point) -> Rect {
    Rect(column: column + point.column, row: row + point.row, columns: columns, rows: rows)
  }

  /// Smaller by so many cells on every side, down to nothing.
  public func inset(by cells: Int) -> Rect {
    Rect(column: column + cells, row: row + cells, columns: columns - 2 * cells, rows: rows - 2 * cells)
  }
}
