import Screen

/// Every key with its help, in as many columns as fit.
enum HelpView {
  private enum Line {
    case title(String)
    case entry(KeyHelp)
    case blank
  }

  static func draw(_ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    canvas.placeCursor(at: .zero)
    let lines = self.lines(state)
    let keys = min(max(3, state.help.flatMap(\.entries).map { DisplayWidth.of($0.keys) }.max() ?? 3), 14)
    let names = min(max(4, state.help.flatMap(\.entries).map(\.name.count).max() ?? 4), 22)
    let first = min(max(0, state.scroll[.help]?.row ?? 0), max(0, lines.count - bounds.rows))
    for row in 0..<bounds.rows where first + row < lines.count {
      switch lines[first + row] {
      case .title(let title):
        canvas.put([Span(title, .header)], at: Point(1, row), columns: bounds.columns - 2)
      case .entry(let entry):
        let key = DisplayWidth.padded(entry.keys, to: keys, right: true)
        canvas.put(
          [
            Span(key, .keyName), Span("  "), Span(DisplayWidth.padded(entry.name, to: names), .value),
            Span("  "), Span(entry.help, .dim),
          ], at: Point(2, row), columns: bounds.columns - 3)
      case .blank: break
      }
    }
    if first > 0 { canvas.set("↑", at: Point(bounds.columns - 1, 0), Style(.accent)) }
    if first + bounds.rows < lines.count {
      canvas.set("↓", at: Point(bounds.columns - 1, bounds.rows - 1), Style(.accent))
    }
  }

  private static func lines(_ state: ViewState) -> [Line] {
    var lines: [Line] = []
    for section in state.help where !section.entries.isEmpty {
      if !lines.isEmpty { lines.append(.blank) }
      lines.append(.title(section.title))
      lines += section.entries.map { .entry($0) }
    }
    return lines
  }
}
