import Screen

/// The rows of the tour above the view: its place, what has been done, and what to do.
enum TourPanel {
  static func draw(_ tour: TourState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard bounds.rows > 1 else { return }
    var lines = Wrapping.lines(
      [Wrapping.words(tour.words.text, .text)], columns: bounds.columns - 2, gap: 1)
    // The last task stands above the next one.
    if !tour.praise.isEmpty, lines.count + 1 < bounds.rows {
      lines.insert([Span("Done: \(tour.praise)", .sounding)], at: 0)
    }
    for (row, line) in lines.prefix(bounds.rows - 1).enumerated() {
      canvas.put(line, at: Point(1, row), columns: bounds.columns - 2)
    }
    let row = bounds.rows - 1
    canvas.rule(row: row)
    let left = [
      Span(" tour \(tour.words.number) of \(tour.words.count) ", .title),
      Span("─ ", .rule), Span("\(tour.words.title) ", .accent),
    ]
    let right = [Span(" Alt-X ", .keyName), Span("next ", .hint)]
    canvas.put(left, at: Point(1, row), columns: bounds.columns - 3 - right.width)
    canvas.put(right, endingAt: bounds.columns - 1, row: row)
  }
}
