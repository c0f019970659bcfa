import Patch
import PatchLanguage
import Screen
import Session

/// Everything about the focused node, beside the view: what it is, its parameters with help, its ports, its instrument and
/// its sound. Arrows step values, Enter edits them, letters type them anew. It follows the focus, and keys that it has no
/// use for are those of the view.
struct Inspector: Overlay {
  var owner: NodeID
  /// Index among the node's parameter lines.
  var selected = 0
  /// The value being typed.
  var typed: LineEditor?
  /// A slider is being dragged.
  var isDragging = false
  /// The sound of its port.
  var picture = SoundPicture()

  init(_ node: NodeID) { owner = node }

  var hints: [KeyHelp] {
    typed == nil
      ? [
        KeyHelp(keys: "← →", name: "step"), KeyHelp(keys: "Enter", name: "edit"),
        KeyHelp(keys: "Esc", name: "done"), KeyHelp(keys: "Del", name: "default"),
        KeyHelp(keys: "↑ ↓", name: "choose"), KeyHelp(keys: "Tab", name: "next node"),
        KeyHelp(keys: "Ctrl-L", name: "learn"),
      ] : [KeyHelp(keys: "Enter", name: "set"), KeyHelp(keys: "Esc", name: "leave")]
  }

  let isBeside = true
  let closesOnClick = false
  var letsPlay: Bool { typed == nil }

  var entry: (sign: String, line: LineEditor)? { typed.map { ("value ", $0) } }

  func words(_ scene: Scene) -> [String] {
    guard let node = scene.patch[owner], typed == nil else { return [] }
    let facts = NodeFacts(node, scene)
    let lines = facts.lines
    guard !lines.isEmpty else { return ["\(node.name) has no parameters"] }
    let path = lines[min(max(0, selected), lines.count - 1)]
    let value = facts.node.value(at: path, description: facts.kind)?.display ?? ""
    let words = value.isEmpty ? "empty" : value
    let help = facts.kind?[parameter: path.name]?.summary ?? ""
    let isSet = facts.node.settings[path] == nil ? "default" : "set"
    return ["\(path.line) \(words), \(isSet), \(selected + 1) of \(lines.count). \(help)"]
  }

  /// The port whose sound it shows.
  func port(_ scene: Scene) -> ListenedPort? {
    scene.patch[owner].flatMap { scene.soundPorts(of: $0).first }
  }

  /// Keys that edit here; all others keep their meaning.
  func takes(_ key: Key) -> Bool {
    if typed != nil { return true }
    if key.text != nil { return true }
    let own: [Key] = [
      "esc", "ctrl-c", "up", "down", "pageup", "pagedown", "home", "end", "left", "right", "shift-left",
      "shift-right", "delete", "backspace", "ctrl-l", "enter", "ctrl-z",
    ]
    return own.contains(key)
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    guard let rect = frame.inspector else { return }
    InspectorPicture(self, scene, rect).draw(on: &canvas)
  }
}

@MainActor extension Inspector {
  /// Opens it for the focused node.
  static func open(_ desk: Desk) {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    desk.state.overlay = Inspector(node.id)
  }

  /// It follows the focus, and closes where there is no node.
  func settle(_ desk: Desk) {
    guard let focus = desk.focusedNode else {
      desk.state.overlay = nil
      return
    }
    guard focus.id != owner else { return }
    // A node that replaces another has the place in the list that the other had.
    var inspector = Inspector(focus.id)
    if desk.scene.patch[owner] == nil { inspector.selected = selected }
    desk.state.overlay = inspector
  }

  private func lines(_ desk: Desk) -> [ParameterPath] {
    desk.scene.patch[owner].map { NodeFacts($0, desk.scene).lines } ?? []
  }

  /// The selected parameter; nil: it has none.
  func parameter(_ desk: Desk) -> (
    node: Node, path: ParameterPath, description: ParameterDescription
  )? {
    guard let facts = desk.scene.patch[owner].map({ NodeFacts($0, desk.scene) }) else { return nil }
    let lines = facts.lines
    guard !lines.isEmpty else { return nil }
    let path = lines[min(max(0, selected), lines.count - 1)]
    return facts.kind?[parameter: path.name].map { (facts.node, path, $0) }
  }

  // MARK: Keys

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    if let typed { return type(stroke, typed, desk) }
    let count = lines(desk).count
    switch stroke.key {
    case "esc", "ctrl-c": desk.state.overlay = nil
    case "up", "k": select(selected - 1, of: count, desk)
    case "down", "j": select(selected + 1, of: count, desk)
    case "pageup", "home": select(0, of: count, desk)
    case "pagedown", "end": select(count - 1, of: count, desk)
    case "left", "h": step(by: -1, desk)
    case "right", "l", "space": step(by: 1, desk)
    case "shift-left": step(by: -10, desk)
    case "shift-right": step(by: 10, desk)
    case "u": desk.undo()
    case "delete", "backspace":
      guard let (node, path, _) = parameter(desk) else { return }
      desk.perform(.set(node.name, path, nil, over: nil))
    case "ctrl-l":
      guard let (node, path, _) = parameter(desk) else { return }
      Learning.start(desk.scene.target(node.name, path), desk, above: self)
    case "enter": edit(desk)
    // No value begins with it.
    case "?": desk.requests.append("show-help")
    default:
      guard let letter = stroke.key.text, parameter(desk) != nil else { return }
      var inspector = self
      inspector.typed = LineEditor(String(letter))
      desk.state.overlay = inspector
    }
  }

  func paste(_ text: String, _ desk: Desk) {
    guard parameter(desk) != nil else { return }
    var inspector = self
    var line = typed ?? LineEditor()
    line.insert(text)
    inspector.typed = line
    desk.state.overlay = inspector
  }

  private func select(_ index: Int, of count: Int, _ desk: Desk) {
    var inspector = self
    inspector.selected = min(max(0, index), max(0, count - 1))
    desk.state.overlay = inspector
  }

  /// Opens the value as it stands, or turns a word to the next.
  private func edit(_ desk: Desk) {
    guard let (node, path, description) = parameter(desk) else { return }
    switch description.form {
    case .toggle, .choice: step(by: 1, desk)
    case .file, .text:
      var inspector = self
      if case .text(let text)? = node.settings[path] {
        inspector.typed = LineEditor(text)
      } else {
        inspector.typed = LineEditor()
      }
      desk.state.overlay = inspector
    case .continuous, .integer:
      var inspector = self
      inspector.typed = LineEditor(
        (node.settings[path] ?? description.defaultValue(at: path)).line)
      desk.state.overlay = inspector
    }
  }

  /// A key while a value is typed.
  private func type(_ stroke: KeyStroke, _ line: LineEditor, _ desk: Desk) {
    var inspector = self
    switch stroke.key {
    case "esc", "ctrl-c": inspector.typed = nil
    case "enter":
      inspector.typed = nil
      desk.state.overlay = inspector
      return set(line.text, desk)
    case "backspace" where line.isEmpty: inspector.typed = nil
    case "up", "down", "shift-tab": return
    case "tab":
      guard let type = parameter(desk)?.description.fileType else { return }
      let paths = FileWords.paths(
        line.text, from: desk.workbench.file ?? "", endings: FileWords.endings(type))
      let common = FileWords.common(paths)
      if common.count > line.text.count { inspector.typed = LineEditor(common) }
      if paths.count > 1 {
        desk.say(paths.prefix(12).joined(separator: "  ") + (paths.count > 12 ? "  …" : ""))
      }
    default:
      var line = line
      guard line.handle(.key(stroke)) else { return }
      inspector.typed = line
    }
    desk.state.overlay = inspector
  }

  /// Sets the typed value through the language, with the same errors as at the prompt.
  private func set(_ text: String, _ desk: Desk) {
    guard let (node, path, description) = parameter(desk) else { return }
    let trimmed = String(text.drop { $0 == " " })
    guard !trimmed.isEmpty else { return }
    let isWord = description.fileType != nil || description.form == .text
    let line = "set \(node.name)\(path.suffix) \(isWord ? Quoting.word(trimmed) : trimmed)"
    if desk.isLocked(line: line) { return }
    desk.attempt { desk.say(try desk.workbench.perform(line: line)) }
  }

  private func step(by steps: Int, _ desk: Desk) {
    guard let (node, path, description) = parameter(desk),
      let new = ValueSteps.stepped(
        node.settings[path] ?? description.defaultValue(at: path), description, by: steps),
      new != node.settings[path] ?? description.defaultValue(at: path)
    else { return }
    desk.perform(.set(node.name, path, new, over: nil), as: .step(node.name + path.suffix))
  }

  // MARK: The mouse

  private func picture(_ desk: Desk) -> InspectorPicture? {
    let frame = ViewFrame(desk.scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
    return frame.inspector.map { InspectorPicture(self, desk.scene, $0) }
  }

  /// Columns of dots of its scope; 0: it has no room for one.
  func scopeDots(_ desk: Desk) -> Int { picture(desk)?.scopeDots ?? 0 }

  /// Ways in which it shows the sound.
  func modes(_ desk: Desk) -> [SoundState.Mode] { picture(desk)?.modes ?? [] }

  /// A click on a parameter selects it; on its bar it sets the value, and a drag goes on from there.
  func press(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    guard let picture = picture(desk), picture.rect.contains(mouse.point) else { return false }
    guard let index = picture.parameter(at: mouse.point) else { return true }
    var inspector = self
    if index != selected { inspector.typed = nil }
    inspector.selected = index
    inspector.isDragging = mouse.button == .left && picture.barShare(at: mouse.point, isWithin: true) != nil
    desk.state.overlay = inspector
    if inspector.isDragging { inspector.slide(to: mouse.point, desk) }
    return true
  }

  func drag(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    guard isDragging else { return picture(desk)?.rect.contains(mouse.point) ?? false }
    slide(to: mouse.point, desk)
    return true
  }

  func release(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    let isMine = isDragging || picture(desk)?.rect.contains(mouse.point) ?? false
    if isDragging {
      var inspector = self
      inspector.isDragging = false
      desk.state.overlay = inspector
    }
    // A cable that is dropped here ends nowhere.
    return isMine && desk.drag == nil
  }

  private func slide(to point: Point, _ desk: Desk) {
    guard let share = picture(desk)?.barShare(at: point, isWithin: false),
      let (node, path, description) = parameter(desk)
    else { return }
    let old = node.settings[path] ?? description.defaultValue(at: path)
    let isNote = old.hasNotes
    guard
      let value = isNote
        ? ValueBar.note(at: share, description, wholeNote: desk.scene.wholeNote)
        : ValueBar.value(at: share, description), value != old
    else { return }
    desk.perform(.set(node.name, path, value, over: nil), as: .dragValue(node.name + path.suffix))
  }

  /// Over a parameter the wheel steps it; elsewhere in the inspector it moves through the list.
  func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    guard let picture = picture(desk), picture.rect.contains(mouse.point) else { return false }
    let rows = mouse.wheelRows.signum()
    guard typed == nil, rows != 0 else { return true }
    if picture.barShare(at: mouse.point, isWithin: true) != nil,
      let index = picture.parameter(at: mouse.point)
    {
      var inspector = self
      inspector.selected = index
      desk.state.overlay = inspector
      inspector.step(by: -rows, desk)
    } else {
      select(selected + rows, of: lines(desk).count, desk)
    }
    return true
  }
}
