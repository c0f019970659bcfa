import Screen

/// A field of dots, two by four in a cell, as braille characters. Dots outside it have no effect.
struct BrailleField {
  let columns: Int
  let rows: Int
  private var cells: [UInt8]
  /// Bits of the dots in a cell, by column and row.
  private static let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

  /// An empty field of so many cells.
  init(columns: Int, rows: Int) {
    self.columns = max(0, columns)
    self.rows = max(0, rows)
    cells = Array(repeating: 0, count: self.columns * self.rows)
  }

  /// Width and height in dots.
  var dotColumns: Int { columns * 2 }
  var dotRows: Int { rows * 4 }

  /// Sets a dot; `row` counts from the top.
  mutating func set(_ column: Int, _ row: Int) {
    guard column >= 0, column < dotColumns, row >= 0, row < dotRows else { return }
    cells[row / 4 * columns + column / 2] |= Self.bits[column % 2][row % 4]
  }

  /// Sets the dots of a column between two rows.
  mutating func set(_ column: Int, rows: ClosedRange<Int>) {
    for row in max(0, rows.lowerBound)...max(0, min(dotRows - 1, rows.upperBound)) { set(column, row) }
  }

  /// A row of cells as text, blanks included.
  func text(row: Int) -> String {
    String(
      String.UnicodeScalarView(
        cells[row * columns..<(row + 1) * columns].compactMap { Unicode.Scalar(0x2800 + UInt32($0)) }))
  }

  /// Draws the layers over each other: a cell has the dots of all of them, in the style of the first that has any.
  static func draw(_ layers: [(field: BrailleField, key: ThemeKey)], at place: Point, on canvas: inout Canvas)
  {
    guard let first = layers.first?.field else { return }
    for row in 0..<first.rows {
      for column in 0..<first.columns {
        var bits: UInt8 = 0
        var key: ThemeKey?
        for layer in layers {
          let own = layer.field.cells[row * first.columns + column]
          if own != 0 { key = key ?? layer.key }
          bits |= own
        }
        guard let key, let scalar = Unicode.Scalar(0x2800 + UInt32(bits)) else { continue }
        canvas.set(Glyph(scalar), at: place + Point(column, row), Style(key))
      }
    }
  }
}
