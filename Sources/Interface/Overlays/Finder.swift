import Patch
import Screen

/// The `/` prompt: focuses a node by its name or kind as it is typed.
struct Finder: Overlay {
  var line = LineEditor()
  /// The focus before.
  var origin: NodeID?

  let hints = [KeyHelp(keys: "Enter", name: "go"), KeyHelp(keys: "Esc", name: "back")]
  let closesOnClick = false

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    EntryLine.placeCursor(EntryLine.draw("/", line, row: row, on: &canvas), row: row, on: &canvas)
  }
}

@MainActor extension Finder {
  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    switch stroke.key {
    case "esc", "ctrl-c", "ctrl-g":
      desk.state.overlay = nil
      if let origin { desk.focus(origin) }
    case "enter", "ctrl-j":
      desk.state.overlay = nil
      Finder.search(line.text, desk)
    case "tab", "shift-tab": break
    case "backspace" where line.isEmpty: desk.state.overlay = nil
    default:
      var finder = self
      guard finder.line.handle(.key(stroke)) else { return }
      desk.state.overlay = finder
      Finder.search(finder.line.text, desk)
    }
  }

  func paste(_ text: String, _ desk: Desk) {
    var finder = self
    finder.line.handle(.paste(text))
    desk.state.overlay = finder
  }

  /// Focuses the first node whose name, or otherwise kind, contains the text.
  private static func search(_ text: String, _ desk: Desk) {
    desk.lastSearch = text
    guard !text.isEmpty else { return }
    if let first = matches(text, desk).first {
      desk.focus(first)
      desk.state.message = nil
    } else {
      desk.complain("no node like \(text)")
    }
  }

  static func findNext(_ desk: Desk) {
    let text = desk.lastSearch
    let found = matches(text, desk)
    guard !text.isEmpty, !found.isEmpty else {
      desk.say(text.isEmpty ? "nothing to find yet: / finds" : "no node like \(text)")
      return
    }
    let place = desk.state.focus.flatMap { found.firstIndex(of: $0) }
    desk.focus(found[((place ?? -1) + 1) % found.count])
  }

  private static func matches(_ text: String, _ desk: Desk) -> [NodeID] {
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
