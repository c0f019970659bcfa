import Patch
import PatchLanguage
import Screen

/// Asks how far a new modulation moves its parameter, and around which value, both in the parameter's units; one edit
/// makes the cable and sets the value.
struct Modulating: Overlay {
  private enum Field: Int, CaseIterable { case depth, offset }

  private let cable: CableName
  private let destination: NodeID
  private let node: String
  private let path: ParameterPath
  private let units: [Unit]
  /// The parameter's value before.
  private let value: String
  private var depth: LineEditor
  private var offset: LineEditor
  private var field = Field.depth
  /// Nothing has been typed into the field yet: the first letter replaces what it suggests.
  private var isUntouched = true
  private var error: String?
  /// The focus before it was asked, for when no cable is made.
  private let formerFocus: NodeID?

  let closesOnClick = false
  let hints = [
    KeyHelp(keys: "Enter", name: "connect"), KeyHelp(keys: "Esc", name: "leave"),
    KeyHelp(keys: "Tab", name: "depth, offset"),
  ]

  private var line: LineEditor { field == .depth ? depth : offset }
  var entry: (sign: String, line: LineEditor)? { (field == .depth ? "by " : "around ", line) }

  func words(_ scene: Scene) -> [String] {
    [error ?? "how far does \(cable.source) move \(node)\(path.suffix)? in \(unitWords)"]
  }

  private var unitWords: String {
    units.map { $0 == .none ? "its own numbers" : $0.depthExample.line.filter { !$0.isNumber && $0 != "." } }
      .joined(separator: ", ")
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    EntryLine.clear(row, on: &canvas)
    var column = 1
    func put(_ text: String, _ key: ThemeKey) {
      column += canvas.put(
        [Span(text, key)], at: Point(column, row), columns: max(0, canvas.columns - 1 - column))
    }
    // Where both have no room in one row, the cable stands above.
    let entries = DisplayWidth.of("   by [\(depth.text)]   around [\(offset.text)] ")
    let isAbove = row > 0 && DisplayWidth.of("\(cable)") + entries >= canvas.columns
    if !isAbove { put("\(cable)", .prompt) }
    for (each, name, line) in [(Field.depth, "by", depth), (.offset, "around", offset)] {
      put("   \(name) ", each == field ? .prompt : .dim)
      let start = column
      put(each == field ? "[\(line.text)]" : " \(line.text) ", each == field ? .promptText : .value)
      if each == field {
        let before = DisplayWidth.of(line.textBeforeCursor)
        canvas.placeCursor(at: Point(min(canvas.columns - 1, start + 1 + before), row))
      }
    }
    put("   in \(unitWords)", .dim)
    guard error != nil || isAbove else { return }
    let words = error.map { Wrapping.words("! " + $0, .promptError) } ?? Wrapping.words("\(cable)", .prompt)
    let lines = Wrapping.lines([words], columns: canvas.columns - 2, gap: 1)
    // Above, since the keys that lead on are named below.
    if row > 0 { Wrapping.draw(lines, endingAt: row - 1, on: &canvas) }
  }
}

@MainActor extension Modulating {
  /// Asks for the modulation that a cable would make; false if it would make none.
  static func open(_ ends: Cable.Ends, _ desk: Desk) -> Bool {
    let (patch, catalogue) = (desk.scene.patch, desk.scene.catalogue)
    guard let parameter = patch.modulated(by: ends, catalogue: catalogue),
      let node = patch[ends.destination.node],
      let path = NodeFacts(node, catalogue).lines.first(where: { $0.line == ends.destination.port }),
      let value = patch.value(of: node.name, path, catalogue: catalogue)
    else { return false }
    let focus = desk.state.focus
    desk.focus(node.id)
    desk.state.overlay = Modulating(desk.scene.name(of: ends), node, path, parameter, value, focus)
    return true
  }

  private init(
    _ cable: CableName, _ node: Node, _ path: ParameterPath, _ parameter: ParameterDescription,
    _ value: Value, _ focus: NodeID?
  ) {
    formerFocus = focus
    (self.cable, self.node, self.path, destination) = (cable, node.name, path, node.id)
    units = parameter.depthUnits
    self.value = value.line
    // An octave says more about a frequency than its hertz.
    let example = units.contains(.octaves) ? Value.number(1, .octaves) : parameter.unit.depthExample
    depth = LineEditor(example.line)
    offset = LineEditor(value.line)
  }

  func handle(_ stroke: KeyStroke, _ desk: Desk) {
    var next = self
    switch stroke.key {
    case "esc", "ctrl-c", "ctrl-g":
      desk.state.overlay = nil
      if let formerFocus { desk.focus(formerFocus) }
      return desk.say("not connected")
    case "enter", "ctrl-j": return connect(desk)
    case "tab", "shift-tab", "up", "down":
      next.field = field == .depth ? .offset : .depth
      next.isUntouched = true
    default:
      if isUntouched, stroke.key.text != nil { next.clear() }
      next.isUntouched = false
      guard next.edit({ $0.handle(.key(stroke)) }) else { return }
    }
    desk.state.overlay = next
  }

  func paste(_ text: String, _ desk: Desk) {
    var next = self
    if isUntouched { next.clear() }
    next.isUntouched = false
    if next.edit({ $0.handle(.paste(text)) }) { desk.state.overlay = next }
  }

  private mutating func edit(_ change: (inout LineEditor) -> Bool) -> Bool {
    error = nil
    return field == .depth ? change(&depth) : change(&offset)
  }

  private mutating func clear() {
    if field == .depth { depth.text = "" } else { offset.text = "" }
  }

  /// Without a depth the signal is added as it is.
  private func connect(_ desk: Desk) {
    func typed(_ line: LineEditor) -> String { line.text.split(separator: " ").joined() }
    var text = "connect \(cable)"
    if !typed(depth).isEmpty { text += " by \(typed(depth))" }
    if !typed(offset).isEmpty, typed(offset) != value {
      text += " ; set \(node)\(path.suffix) \(typed(offset))"
    }
    if desk.isLocked(line: text) { return }
    do {
      let said = try desk.workbench.perform(line: text)
      desk.state.overlay = nil
      desk.say(said.isEmpty ? text : said)
    } catch {
      var next = self
      next.error = Desk.words(error)
      desk.state.overlay = next
    }
  }
}
