import Screen
import Session

/// The graph printout, as `sostenuto print` gives it, with a mark at the focused node.
enum PrintoutView {
  static func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let lines = Printout.lines(scene.report)
    let bounds = canvas.bounds
    let first = firstRow(lines, state, rows: bounds.rows)
    let shift = firstColumn(lines, state, columns: bounds.columns)
    for row in 0..<bounds.rows where first + row < lines.count {
      let line = lines[first + row]
      let isFocused = line.node != nil && line.node == state.focus
      let key: ThemeKey =
        switch line.role {
        case .graph: .text
        case .heading: .header
        case .node: line.isFading ? .dim : .title
        case .port, .cable: line.isFading ? .dim : .text
        }
      if isFocused {
        canvas.set("▎", at: Point(0, row), Style(.accent))
        if line.role == .node { canvas.placeCursor(at: Point(1, row)) }
      }
      let text = String(line.text.dropFirst(shift))
      let style: ThemeKey = isFocused && line.role == .node ? .accent : key
      canvas.put([Span(text, style)], at: Point(1, row), columns: bounds.columns - 1)
    }
    if state.focus == nil { canvas.placeCursor(at: Point(0, 0)) }
    drawMore(lines.count, first, on: &canvas)
  }

  /// The line at a row of the view.
  static func line(_ scene: Scene, _ state: ViewState, row: Int, rows: Int) -> Printout.Line? {
    let lines = Printout.lines(scene.report)
    let index = firstRow(lines, state, rows: rows) + row
    return lines.indices.contains(index) ? lines[index] : nil
  }

  private static func firstRow(_ lines: [Printout.Line], _ state: ViewState, rows: Int) -> Int {
    var first = state.scroll[.printout]?.row ?? 0
    let own = lines.indices.filter { lines[$0].node != nil && lines[$0].node == state.focus }
    // The focused node's first line stays visible, with as much below it as fits.
    if let top = own.first, let bottom = own.last {
      first = max(first, bottom + 1 - rows)
      first = min(first, top)
    }
    return min(max(0, first), max(0, lines.count - rows))
  }

  private static func firstColumn(_ lines: [Printout.Line], _ state: ViewState, columns: Int) -> Int {
    let longest = lines.map { DisplayWidth.of($0.text) }.max() ?? 0
    return min(max(0, state.scroll[.printout]?.column ?? 0), max(0, longest - columns + 1))
  }

  private static func drawMore(_ count: Int, _ first: Int, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard bounds.columns > 0, bounds.rows > 0 else { return }
    if first > 0 { canvas.set("↑", at: Point(bounds.columns - 1, 0), Style(.accent)) }
    if first + bounds.rows < count {
      canvas.set("↓", at: Point(bounds.columns - 1, bounds.rows - 1), Style(.accent))
    }
  }
}
