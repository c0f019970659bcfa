import Patch
import PatchLanguage
import Screen

/// The parameters of a node: arrows step their values, letters type them.
struct ParameterPanel: Overlay {
  var owner: NodeID
  /// Index among the node's parameter lines.
  var selected = 0
  /// Text being typed in place of the value.
  var typed: String?

  init(_ node: NodeID) { owner = node }

  var node: NodeID? { owner }

  var hints: [KeyHelp] {
    typed == nil
      ? [
        KeyHelp(keys: "← →", name: "step"), KeyHelp(keys: "Enter", name: "type"),
        KeyHelp(keys: "Del", name: "default"), KeyHelp(keys: "↑ ↓", name: "choose"),
        KeyHelp(keys: "Ctrl-L", name: "learn"),
        KeyHelp(keys: "Esc", name: "done"),
      ] : [KeyHelp(keys: "Enter", name: "set"), KeyHelp(keys: "Esc", name: "leave")]
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    guard let node = scene.patch[owner] else { return }
    let facts = NodeFacts(node, scene.catalogue)
    let lines = facts.lines
    let names = min(max(4, lines.map { $0.line.count }.max() ?? 0), 20)
    let values = min(max(10, lines.compactMap { Self.value($0, facts) }.map { $0.count }.max() ?? 0), 24)
    let inside = Popup.draw(
      "\(node.name) ▸ \(facts.kindText)", columns: 2 + names + 2 + values + 2 + 20, rows: lines.count + 2,
      frame, atRight: true, on: &canvas)
    guard !inside.isEmpty else { return }
    let isExplained = inside.rows >= 4
    let rows = inside.rows - (isExplained ? 2 : 0)
    let first = Popup.first(selected, shown: rows, of: lines.count)
    for row in 0..<rows where first + row < lines.count {
      let path = lines[first + row]
      let isSelected = first + row == selected
      let ground: ThemeKey = isSelected ? .selection : .popup
      let place = inside.origin + Point(0, row)
      canvas.fill(
        Rect(column: place.column, row: place.row, columns: inside.columns, rows: 1), " ", Style(ground))
      let isSet = node.settings[path] != nil
      let sources = scene.patch.maps(to: .setting(node.name, path)).map(\.source.description)
      let typed = isSelected ? self.typed : nil
      let text = typed ?? Self.value(path, facts) ?? ""
      canvas.put(
        [
          Span(isSelected ? "▸ " : "  ", .accent), Span(DisplayWidth.padded(path.line, to: names), .text),
          Span("  "),
          Span(
            DisplayWidth.padded(text, to: values, right: typed == nil),
            typed != nil ? .promptText : isSet ? .value : .dim),
          Span("  "), Span(sources.map { $0 + "  " }.joined(), .accent), Span(Self.range(path, facts), .dim),
        ], at: place, columns: inside.columns, on: ground)
      if isSelected {
        let column =
          2 + names + 2 + (typed.map { DisplayWidth.of($0) } ?? max(0, values - DisplayWidth.of(text)))
        canvas.placeCursor(at: place + Point(min(column, inside.columns - 1), 0))
      }
    }
    if isExplained, lines.indices.contains(selected),
      let parameter = facts.kind?[parameter: lines[selected].name]
    {
      canvas.put(
        [Span(parameter.summary, .dim)], at: Point(inside.column, inside.bottom - 1), columns: inside.columns,
        on: .popup)
    }
  }

  private static func value(_ path: ParameterPath, _ facts: NodeFacts) -> String? {
    facts.node.value(at: path, description: facts.kind)?.display
  }

  /// Possible values of a parameter: `-inf … 24.0 dB`, `tanh fold hard`, `on off`.
  private static func range(_ path: ParameterPath, _ facts: NodeFacts) -> String {
    guard let parameter = facts.kind?[parameter: path.name] else { return "" }
    switch parameter.form {
    case .toggle: return "on off"
    case .choice(let words): return words.joined(separator: " ")
    case .file: return "a file"
    case .text: return "text"
    case .continuous, .integer:
      let low = Value.number(parameter.range.lowerBound, parameter.unit).display
      return "\(low) … \(Value.number(parameter.range.upperBound, parameter.unit).display)"
    }
  }
}

@MainActor extension ParameterPanel {
  /// Opens it for the focused node.
  static func open(_ desk: Desk) {
    guard let node = desk.focusedNode else { return }
    guard desk.scene.catalogue[node.kind] != nil else {
      desk.complain("\(node.name) is a placeholder: nobody knows a kind \(node.kind)")
      return
    }
    guard !NodeFacts(node, desk.scene.catalogue).lines.isEmpty else {
      desk.say("\(node.name) has no parameters")
      return
    }
    desk.state.overlay = ParameterPanel(node.id)
  }

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    guard let node = desk.scene.patch[owner] else { return }
    let list = NodeFacts(node, desk.scene.catalogue).lines
    guard list.indices.contains(selected) else {
      desk.state.overlay = nil
      return
    }
    let path = list[selected]
    guard let parameter = desk.scene.catalogue[node.kind]?[parameter: path.name] else { return }
    if let typed {
      return type(stroke.key, after: typed, desk) { set(typed, parameter, path, of: node, desk) }
    }
    var panel = self
    func step(by steps: Int) { self.step(parameter, path, of: node, by: steps, desk) }
    switch stroke.key {
    case "esc", "ctrl-c":
      desk.state.overlay = nil
      return
    case "up", "shift-tab", "k": panel.selected = max(0, selected - 1)
    case "down", "tab", "j": panel.selected = min(list.count - 1, selected + 1)
    case "pageup", "home": panel.selected = 0
    case "pagedown", "end": panel.selected = list.count - 1
    case "left", "h": return step(by: -1)
    case "right", "l", "space": return step(by: 1)
    case "shift-left": return step(by: -10)
    case "shift-right": return step(by: 10)
    case "delete", "backspace":
      desk.perform(.set(node.name, path, nil, over: nil))
      return
    case "ctrl-l": return Learning.start(.setting(node.name, path), desk, above: self)
    case "enter":
      switch parameter.form {
      case .toggle, .choice: return step(by: 1)
      default: panel.typed = ""
      }
    case "ctrl-z", "u": return desk.undo()
    case "ctrl-r": return desk.redo()
    default:
      guard let letter = stroke.key.text else { return }
      panel.typed = String(letter)
    }
    desk.state.overlay = panel
  }

  /// A key while a value is typed.
  private func type(_ key: Key, after typed: String, _ desk: Desk, set: () -> Void) {
    var panel = self
    switch key {
    case "esc", "ctrl-c": panel.typed = nil
    case "enter":
      panel.typed = nil
      desk.state.overlay = panel
      return set()
    case "backspace": panel.typed = typed.isEmpty ? nil : String(typed.dropLast())
    case "ctrl-u": panel.typed = ""
    case "up", "down", "tab": return
    default:
      guard let letter = key.text else { return }
      panel.typed = typed + String(letter)
    }
    desk.state.overlay = panel
  }

  /// Sets the typed value through the language, with the same errors as at the prompt.
  private func set(
    _ text: String, _ parameter: ParameterDescription, _ path: ParameterPath, of node: Node, _ desk: Desk
  ) {
    let trimmed = text.drop { $0 == " " }
    guard !trimmed.isEmpty else { return }
    let isWord = parameter.fileType != nil || parameter.form == .text
    let value = isWord ? Quoting.word(String(trimmed)) : String(trimmed)
    desk.attempt {
      desk.say(try desk.workbench.perform(line: "set \(node.name)\(path.suffix) \(value)"))
    }
  }

  private func step(
    _ parameter: ParameterDescription, _ path: ParameterPath, of node: Node, by steps: Int, _ desk: Desk
  ) {
    guard
      let old = desk.scene.patch.value(of: node.name, path, catalogue: desk.scene.catalogue),
      let new = ValueSteps.stepped(old, parameter, by: steps), new != old
    else { return }
    desk.perform(.set(node.name, path, new, over: nil), as: .step(node.name + path.suffix))
  }
}
