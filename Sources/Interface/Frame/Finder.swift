import Patch
import Screen

/// The `/` prompt: in the graph it focuses a node by its name or kind as it is typed, in a view of lines it goes to the
/// line that has the text.
struct Finder: Overlay {
  var line = LineEditor()
  /// The focus before.
  var origin: NodeID?
  /// The line at which the search begins, and the scroll position before it.
  var start = 0
  var scroll: (row: Int, column: Int)?

  let hints = [KeyHelp(keys: "Enter", name: "go"), KeyHelp(keys: "Esc", name: "back")]
  let closesOnClick = false
  var entry: (sign: String, line: LineEditor)? { ("/", line) }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    EntryLine.placeCursor(EntryLine.draw("/", line, row: row, on: &canvas), row: row, on: &canvas)
  }
}

@MainActor extension Finder {
  static func open(_ desk: Desk) {
    let view = Views[desk.state.view]
    desk.state.overlay = Finder(
      origin: desk.state.focus, start: view.line(desk), scroll: desk.state.scroll[view.name])
  }

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    switch stroke.key {
    case "esc", "ctrl-c", "ctrl-g": cancel(desk)
    case "enter", "ctrl-j":
      desk.state.overlay = nil
      search(line.isEmpty ? desk.lastSearch : line.text, desk)
    case "tab", "shift-tab": break
    case "backspace" where line.isEmpty: cancel(desk)
    default:
      var finder = self
      guard finder.line.handle(.key(stroke)) else { return }
      desk.state.overlay = finder
      finder.search(finder.line.text, desk)
    }
  }

  func paste(_ text: String, _ desk: Desk) {
    var finder = self
    finder.line.handle(.paste(text))
    desk.state.overlay = finder
    finder.search(finder.line.text, desk)
  }

  private func cancel(_ desk: Desk) {
    desk.state.overlay = nil
    desk.state.search = ""
    desk.state.scroll[desk.state.view] = scroll
    if let origin { desk.focus(origin) }
  }

  private func search(_ text: String, _ desk: Desk) {
    desk.lastSearch = text
    let view = Views[desk.state.view]
    guard let lines = view.lines(desk.scene, desk.state) else { return Finder.searchNodes(text, desk) }
    desk.state.search = text
    guard !text.isEmpty else { return }
    let found = Finder.matches(text, in: lines)
    guard let line = found.first(where: { $0 >= start }) ?? found.first else {
      return desk.complain("no line with \(text)")
    }
    Finder.reveal(line, of: found, view, desk)
  }

  private static func reveal(_ line: Int, of found: [Int], _ view: any View, _ desk: Desk) {
    desk.foundLine = (view.name, line)
    view.reveal(line, desk)
    desk.say("line \((found.firstIndex(of: line) ?? 0) + 1) of \(found.count) with \(desk.lastSearch)")
  }

  private static func matches(_ text: String, in lines: [String]) -> [Int] {
    let wanted = text.lowercased()
    return lines.indices.filter { lines[$0].lowercased().includes(wanted) }
  }

  /// Focuses the first node whose name, or otherwise kind, contains the text.
  private static func searchNodes(_ text: String, _ desk: Desk) {
    guard !text.isEmpty else { return }
    if let first = nodes(text, desk).first {
      desk.focus(first)
      desk.state.message = nil
    } else {
      desk.complain("no node like \(text)")
    }
  }

  /// `step`: 1 for the next one, -1 for the one before.
  static func findNext(_ step: Int, _ desk: Desk) {
    let text = desk.lastSearch
    guard !text.isEmpty else { return desk.say("nothing to find yet: / finds") }
    let view = Views[desk.state.view]
    guard let lines = view.lines(desk.scene, desk.state) else { return findNextNode(step, desk) }
    desk.state.search = text
    let found = matches(text, in: lines)
    guard let first = found.first, let last = found.last else { return desk.say("no line with \(text)") }
    let here = desk.foundLine.flatMap { $0.view == view.name ? $0.line : nil } ?? view.line(desk) - step
    let next = step > 0 ? found.first { $0 > here } ?? first : found.last { $0 < here } ?? last
    reveal(next, of: found, view, desk)
  }

  private static func findNextNode(_ step: Int, _ desk: Desk) {
    let found = nodes(desk.lastSearch, desk)
    guard !found.isEmpty else { return desk.say("no node like \(desk.lastSearch)") }
    let place = desk.state.focus.flatMap { found.firstIndex(of: $0) } ?? (step > 0 ? -1 : 0)
    desk.focus(found[(place + step + found.count) % found.count])
  }

  private static func nodes(_ text: String, _ desk: Desk) -> [NodeID] {
    let wanted = text.lowercased()
    let nodes = desk.scene.patch.nodes.values
    let starts = nodes.filter { $0.name.lowercased().hasPrefix(wanted) }
    let names = nodes.filter { $0.name.lowercased().includes(wanted) && !starts.contains($0) }
    let kinds = nodes.filter {
      $0.kind.lowercased().includes(wanted) && !starts.contains($0) && !names.contains($0)
    }
    return (starts + names + kinds).map(\.id)
  }
}
