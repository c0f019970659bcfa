import Screen

/// Labels beside and below a plot.
enum PlotLabels {
  /// A label at the left, ending before the picture.
  static func label(_ text: String, row: Int, _ rect: Rect, on canvas: inout Canvas) {
    guard rect.column > 0 else { return }
    canvas.put([Span(text, .dim)], endingAt: rect.column - 1, row: row)
  }

  /// Labels below the picture, each in the middle of its place; those that would touch another are left out.
  static func labels(_ labels: [(text: String, share: Double)], _ rect: Rect, on canvas: inout Canvas) {
    guard rect.bottom < canvas.bounds.rows else { return }
    var end = 0
    for (text, share) in labels {
      let middle = rect.column + Int(limited: share * Double(rect.columns - 1))
      let column = min(max(0, middle - text.count / 2), canvas.bounds.columns - text.count)
      guard column >= end else { continue }
      canvas.put([Span(text, .dim)], at: Point(column, rect.bottom), columns: text.count)
      end = column + text.count + 1
    }
  }
}
