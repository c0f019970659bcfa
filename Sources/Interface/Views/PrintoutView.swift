import Patch
import Screen
import Session

extension ViewName {
  static let printout = ViewName(rawValue: "printout")
}

/// The graph printout, as `sostenuto print` gives it, with a mark at the focused node.
struct PrintoutView: View {
  let name = ViewName.printout
  let help = "The graph printout"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F3", .patch: "2"]

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if scene.patch.nodes.isEmpty { return Action.hints(ofEmpty: name, scene) }
    return [("show-help", "help"), ("next-node", "next node"), ("prompt", "prompt"), ("leave", "graph")]
  }

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? { lines(scene).map(\.text) }

  private func lines(_ scene: Scene) -> [Printout.Line] {
    Printout.lines(
      scene.report, Surroundings(scene.patch, programs: scene.programs, cables: scene.outsideCables))
  }

  func line(_ desk: Desk) -> Int {
    firstRow(lines(desk.scene), desk.state, rows: desk.viewSize.rows)
  }

  /// The focus goes along, since the view follows it.
  func reveal(_ line: Int, _ desk: Desk) {
    let lines = lines(desk.scene)
    guard lines.indices.contains(line) else { return }
    if let node = lines[...line].last(where: { $0.node != nil })?.node { desk.focus(node) }
    desk.state.scroll[name] = (max(0, line - desk.viewSize.rows / 2), desk.state.scroll[name]?.column ?? 0)
  }

  let movesFocus = true

  /// Moves the focus from node to node in the printout's order.
  func move(_ motion: Motion, _ desk: Desk) {
    var seen: Set<NodeID> = []
    let ids = lines(desk.scene).compactMap(\.node).filter {
      desk.scene.patch[$0] != nil && seen.insert($0).inserted
    }
    guard !ids.isEmpty else { return }
    let index = desk.state.focus.flatMap { ids.firstIndex(of: $0) } ?? 0
    var column = desk.state.scroll[name]?.column ?? 0
    var next = index
    switch motion {
    case .up: next -= 1
    case .down: next += 1
    case .pageUp: next -= 5
    case .pageDown: next += 5
    case .home: (next, column) = (0, 0)
    case .end: next = ids.count - 1
    case .left: column = max(0, column - 8)
    case .right: column = min(column + 8, 200)
    }
    desk.state.scroll[name] = (0, column)
    desk.focus(ids[min(max(0, next), ids.count - 1)])
  }

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    let lines = lines(scene)
    let index = firstRow(lines, state, rows: size.rows) + place.row
    guard lines.indices.contains(index) else { return .nothing }
    return lines[index].node.map { .node($0) } ?? .nothing
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let lines = lines(scene)
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

  private func firstRow(_ lines: [Printout.Line], _ state: ViewState, rows: Int) -> Int {
    var first = state.scroll[name]?.row ?? 0
    let own = lines.indices.filter { lines[$0].node != nil && lines[$0].node == state.focus }
    // The focused node's first line stays visible, with as much below it as fits.
    if let top = own.first, let bottom = own.last {
      first = max(first, bottom + 1 - rows)
      first = min(first, top)
    }
    return min(max(0, first), max(0, lines.count - rows))
  }

  private func firstColumn(_ lines: [Printout.Line], _ state: ViewState, columns: Int) -> Int {
    let longest = lines.map { DisplayWidth.of($0.text) }.max() ?? 0
    return min(max(0, state.scroll[name]?.column ?? 0), max(0, longest - columns + 1))
  }

  private func drawMore(_ count: Int, _ first: Int, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard bounds.columns > 0, bounds.rows > 0 else { return }
    if first > 0 { canvas.set("↑", at: Point(bounds.columns - 1, 0), Style(.accent)) }
    if first + bounds.rows < count {
      canvas.set("↓", at: Point(bounds.columns - 1, bounds.rows - 1), Style(.accent))
    }
  }
}
