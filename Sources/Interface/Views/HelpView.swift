import Screen

extension ViewName {
  static let help = ViewName(rawValue: "help")
}

/// Every key with its help, by context.
struct HelpView: View {
  let name = ViewName.help
  let help = "This help"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F1", .patch: "?"]

  func hints(_ state: ViewState) -> [ActionHint] {
    [("move-down", "scroll"), ("find", "find"), ("leave", "graph")]
  }

  /// It is glanced at: its key leads back to the graph.
  func showAgain(_ desk: Desk) { desk.state.view = .graph }

  func extent(_ scene: Scene, _ state: ViewState) -> Int {
    state.help.reduce(0) { $0 + $1.entries.count + 2 }
  }

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? {
    lines(state).map { line in
      switch line {
      case .title(let title): title
      case .entry(let entry): "\(entry.keys)  \(entry.name)  \(entry.help)"
      case .blank: ""
      }
    }
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    canvas.placeCursor(at: .zero)
    let lines = self.lines(state)
    let keys = min(max(3, state.help.flatMap(\.entries).map { DisplayWidth.of($0.keys) }.max() ?? 3), 14)
    let names = min(max(4, state.help.flatMap(\.entries).map(\.name.count).max() ?? 4), 22)
    let first = min(max(0, state.scroll[name]?.row ?? 0), max(0, lines.count - bounds.rows))
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

  private enum Line {
    case title(String)
    case entry(KeyHelp)
    case blank
  }

  private func lines(_ state: ViewState) -> [Line] {
    var lines: [Line] = []
    for section in state.help where !section.entries.isEmpty {
      if !lines.isEmpty { lines.append(.blank) }
      lines.append(.title(section.title))
      lines += section.entries.map { .entry($0) }
    }
    return lines
  }
}
