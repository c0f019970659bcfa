/// A grid of cells that views draw on.
///
/// Coordinates are those of the current region: `draw(in:)` gives a view a region of its own, with its
/// own origin, outside of which nothing it draws has any effect. Any coordinates and any sizes are
/// legal, however far outside.
///
/// ```swift
/// var canvas = Canvas(columns: 20, rows: 3)
/// canvas.box(Rect(column: 0, row: 0, columns: 8, rows: 3), rounded: true)
/// canvas.path([Point(7, 1), Point(19, 1)])
/// print(canvas.text)
/// // ╭──────╮
/// // │      ├────────────
/// // ╰──────╯
/// ```
public struct Canvas: Equatable, Sendable {
  /// The whole grid, row by row.
  public private(set) var cells: [Cell]
  /// Width of the whole grid.
  public let columns: Int
  /// Height of the whole grid.
  public let rows: Int
  /// Position of the hardware cursor in coordinates of the whole grid; nil hides it.
  public private(set) var cursor: Point?
  /// Area that the keys act on, in coordinates of the whole grid: lists keep clear of it.
  public private(set) var focus: Rect?

  /// The current region's origin on the grid, its size, and the clipping rectangle on the grid.
  private var origin = Point.zero
  private var region: Size
  private var clip: Rect

  /// A blank grid.
  public init(columns: Int, rows: Int) {
    let size = Size(columns: columns, rows: rows)
    self.columns = size.columns
    self.rows = size.rows
    cells = Array(repeating: .blank, count: size.columns * size.rows)
    region = size
    clip = Rect(column: 0, row: 0, columns: size.columns, rows: size.rows)
  }

  /// The current region, from 0, 0.
  public var bounds: Rect { Rect(column: 0, row: 0, columns: region.columns, rows: region.rows) }

  /// The visible part of the current region, in its own coordinates; anything outside need not be drawn.
  public var visible: Rect { clip.offset(by: Point(-origin.column, -origin.row)) }

  /// Calls `body` with a region that has its own coordinates. `scrolled`: the point of the content at the
  /// region's upper left corner.
  public mutating func draw(
    in rect: Rect, scrolled: Point = .zero, _ body: (inout Canvas) -> Void
  ) {
    let saved = (origin, region, clip)
    let absolute = rect.offset(by: origin)
    clip = clip.intersection(absolute)
    origin = absolute.origin - scrolled
    region = rect.size
    body(&self)
    (origin, region, clip) = saved
  }

  /// Places the hardware cursor; outside the visible part it is hidden.
  public mutating func placeCursor(at point: Point) {
    let place = point + origin
    cursor = clip.contains(place) ? place : nil
  }

  /// Notes what the keys are about; its visible part.
  public mutating func markFocus(_ rect: Rect) {
    let area = rect.offset(by: origin).intersection(clip)
    focus = area.isEmpty ? nil : area
  }

  /// Hides the hardware cursor.
  public mutating func hideCursor() {
    cursor = nil
  }

  /// The cell in coordinates of the current region; a blank outside the grid.
  public subscript(point: Point) -> Cell {
    let place = point + origin
    guard place.column >= 0, place.column < columns, place.row >= 0, place.row < rows else { return .blank }
    return cells[place.row * columns + place.column]
  }

  /// True when all of a rectangle is visible.
  func isVisible(_ rect: Rect) -> Bool { !rect.isEmpty && visible.intersection(rect) == rect }

  /// The cells of a visible rectangle, row by row.
  func contents(of rect: Rect) -> [Cell] {
    let area = rect.offset(by: origin)
    return (area.row..<area.bottom).flatMap { cells[$0 * columns + area.column..<$0 * columns + area.right] }
  }

  /// Puts cells into a visible rectangle, row by row, across no wide character at its sides.
  mutating func replace(_ rect: Rect, by new: [Cell]) {
    let area = rect.offset(by: origin)
    for row in 0..<area.rows {
      let start = (area.row + row) * columns + area.column
      cells.replaceSubrange(
        start..<start + area.columns, with: new[row * area.columns..<(row + 1) * area.columns])
    }
  }

  /// Writes one character of one column.
  public mutating func set(_ glyph: Glyph, at point: Point, _ style: Style = .text) {
    write(glyph, width: 1, at: point + origin, style)
  }

  /// Writes text to the right of `point`; returns its width in columns, visible or not. If half of a wide character is
  /// clipped or overwritten, the other half becomes a space, so that columns always agree.
  @discardableResult
  public mutating func put(_ text: String, at point: Point, _ style: Style = .text) -> Int {
    var place = point + origin
    DisplayWidth.forEach(in: text) { glyph, width in
      write(glyph, width: width, at: place, style)
      place.column += width
    }
    return place.column - origin.column - point.column
  }

  /// The same for a part of a text.
  @discardableResult
  public mutating func put(_ text: Substring, at point: Point, _ style: Style = .text) -> Int {
    put(String(text), at: point, style)
  }

  /// Writes text that ends just before the point.
  public mutating func put(_ text: String, endingAt point: Point, _ style: Style = .text) {
    put(text, at: Point(point.column - DisplayWidth.of(text), point.row), style)
  }

  /// Fills a rectangle with a character of one column.
  public mutating func fill(_ rect: Rect, _ glyph: Glyph = " ", _ style: Style = Style(.background)) {
    // Only the visible part, so that filling something huge costs little.
    let area = rect.offset(by: origin).intersection(clip)
    for row in area.row..<area.bottom {
      for column in area.column..<area.right { write(glyph, width: 1, at: Point(column, row), style) }
    }
  }

  /// Changes the style of existing cells: a selection, for example.
  public mutating func restyle(_ rect: Rect, _ change: (inout Style) -> Void) {
    let area = rect.offset(by: origin).intersection(clip)
    for row in area.row..<area.bottom {
      for column in area.column..<area.right { change(&cells[row * columns + column].style) }
    }
  }

  /// The whole grid as lines of plain text, without trailing spaces.
  public var lines: [String] {
    (0..<rows).map { row in
      var line = String.UnicodeScalarView()
      var spaces = 0
      for cell in cells[row * columns..<(row + 1) * columns] where cell.width > 0 {
        if cell.glyph == " " {
          spaces += 1
        } else {
          line.append(contentsOf: repeatElement(" ", count: spaces))
          line.append(contentsOf: cell.glyph.scalars)
          spaces = 0
        }
      }
      return String(line)
    }
  }

  /// The whole grid as plain text: `lines` with a line feed after each.
  public var text: String { lines.map { $0 + "\n" }.joined() }

  /// Calls with the cells that differ from those of a canvas of the same size, or with all, and their columns and rows.
  public func forEachChange(since other: Canvas?, _ body: (Cell, _ column: Int, _ row: Int) -> Void) {
    cells.withUnsafeBufferPointer { cells in
      func visit(_ old: UnsafeBufferPointer<Cell>?) {
        for row in 0..<rows {
          for index in row * columns..<(row + 1) * columns
          where old.map({ $0[index] != cells[index] }) ?? true {
            body(cells[index], index - row * columns, row)
          }
        }
      }
      if let other { other.cells.withUnsafeBufferPointer { visit($0) } } else { visit(nil) }
    }
  }

  /// The arms of the character at a point, if it is a line character.
  func arms(at point: Point) -> Arms? {
    Arms(self[point].glyph)
  }

  /// `place`: in coordinates of the grid.
  private mutating func write(_ glyph: Glyph, width: Int, at place: Point, _ style: Style) {
    guard clip.contains(place) else {
      // Only its right half may be visible.
      let right = Point(place.column + 1, place.row)
      if width == 2, clip.contains(right) { write(" ", width: 1, at: right, style) }
      return
    }
    let index = place.row * columns + place.column
    if width == 2 {
      guard place.column + 1 < clip.right else { return write(" ", width: 1, at: place, style) }
      mend(index)
      mend(index + 1)
      cells[index] = Cell(glyph, style, width: 2)
      cells[index + 1] = Cell(" ", style, width: 0)
    } else {
      mend(index)
      cells[index] = Cell(glyph, style)
    }
  }

  /// Prepares overwriting of a cell: the other half of a wide character becomes a space.
  private mutating func mend(_ index: Int) {
    switch cells[index].width {
    case 0: cells[index - 1] = Cell(" ", cells[index - 1].style)
    case 2: cells[index + 1] = Cell(" ", cells[index + 1].style)
    default: return
    }
    cells[index].width = 1
  }
}
