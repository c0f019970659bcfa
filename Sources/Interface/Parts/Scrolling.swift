/// A step of the arrow keys and their relatives.
enum Motion: Sendable {
  case left, right, up, down, pageUp, pageDown, home, end
}

/// Scrolling of views that show lines.
struct ScrollPlace {
  var row: Int
  var column: Int
  private static let farthestColumn = 200

  init(_ place: (row: Int, column: Int)?) { (row, column) = place ?? (0, 0) }

  /// `page`: rows of a page.
  mutating func move(_ motion: Motion, page: Int) {
    switch motion {
    case .up: row -= 1
    case .down: row += 1
    case .pageUp: row -= page
    case .pageDown: row += page
    case .home: (row, column) = (0, 0)
    case .end: row = .max / 4
    case .left: column -= 8
    case .right: column += 8
    }
  }

  func clamped(lastRow: Int) -> (row: Int, column: Int) {
    (min(max(0, row), lastRow), min(max(0, column), Self.farthestColumn))
  }
}
