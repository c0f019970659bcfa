import Patch
import Screen

/// Two-letter hints on ports or cables of the graph, which draws them. Arrows scroll the graph below them, and `/` goes to
/// a node by its name, so that ports out of sight are reached.
struct PortHints: Overlay {
  /// Ports with letters: all, or the ones in sight if there are more than pairs of letters.
  var targets: [PortHint]
  /// All that may be chosen.
  var all: [PortHint.Target]
  var typed = ""
  var purpose: String
  /// Other ports that Tab shows in place of these.
  var others: (word: String, purpose: String, targets: [PortHint.Target])?
  private var word = "ports"
  /// Name of a node as it is typed behind `/`; nil: letters choose.
  var finding: LineEditor?
  /// Called with the chosen port or cable.
  var then: @MainActor (PortHint.Target, Desk) -> Void = { _, _ in }

  init(
    targets: [PortHint], all: [PortHint.Target]? = nil, typed: String = "", purpose: String,
    then: @escaping @MainActor (PortHint.Target, Desk) -> Void = { _, _ in }
  ) {
    (self.targets, self.typed, self.purpose, self.then) = (targets, typed, purpose, then)
    self.all = all ?? targets.map(\.target)
  }

  var hints: [KeyHelp] {
    [KeyHelp(keys: "two letters", name: "choose"), KeyHelp(keys: "Esc", name: "leave")]
      + (others.map { [KeyHelp(keys: "Tab", name: $0.word)] } ?? [])
      + [KeyHelp(keys: "arrows", name: "scroll"), KeyHelp(keys: "/", name: "find a node")]
  }

  func words(_ scene: Scene) -> [String] {
    [
      purpose + " "
        + targets.filter { $0.letters.hasPrefix(typed) }
        .map { "\($0.letters) \(Self.name($0.target, scene))" }.joined(separator: ", ")
    ]
  }

  private static func name(_ target: PortHint.Target, _ scene: Scene) -> String {
    switch target {
    case .output(let port): "\(scene.patch[port.node]?.name ?? "").\(port.port)"
    case .input(let port): "\(scene.patch[port.node]?.name ?? "").\(port.port)"
    case .cable(let ends): scene.name(of: ends).description
    }
  }

  private static let letters = Array("asdfjklghqweruiopzxcvmtybn")

  /// Shows the graph with hints on these ports or cables. `keepsLetters`: those that had letters in the first half of the
  /// choice have the same ones. `others`: ports that Tab shows in place of these.
  @MainActor static func show(
    _ targets: [PortHint.Target], purpose: String, keepsLetters: Bool = false, word: String = "ports",
    others: (word: String, purpose: String, targets: [PortHint.Target])? = nil, _ desk: Desk,
    then: @escaping @MainActor (PortHint.Target, Desk) -> Void
  ) {
    let others = others.flatMap { $0.targets.isEmpty ? nil : $0 }
    if targets.isEmpty, let others {
      return show(others.targets, purpose: others.purpose, word: others.word, desk, then: then)
    }
    guard !targets.isEmpty else {
      desk.state.overlay = nil
      desk.complain("no port that fits")
      return
    }
    let kept = keepsLetters ? desk.hintLetters : [:]
    // As few different letters as two places need, so that the fingers stay on the home row.
    var used = 4
    while used < letters.count, used * used < max(targets.count, kept.count) { used += 1 }
    let codes = (0..<used * used).map { "\(letters[$0 % used])\(letters[$0 / used])" }
    let taken = Set(targets.compactMap { kept[$0] })
    var free = codes.filter { !taken.contains($0) }.makeIterator()
    let hints = targets.compactMap { target in
      (kept[target] ?? free.next()).map { PortHint(letters: $0, target: target) }
    }
    desk.state.view = .graph
    desk.state.graph.showsOverview = false
    var shown = PortHints(targets: hints, all: targets, purpose: purpose, then: then)
    (shown.word, shown.others) = (word, others)
    desk.state.overlay = shown
  }

  /// Shows the other ports, from which Tab leads back here.
  @MainActor private func turn(_ desk: Desk) {
    guard let others else { return }
    PortHints.show(
      others.targets, purpose: others.purpose, keepsLetters: true, word: others.word,
      others: (word, purpose, all), desk, then: then)
  }

  /// Gives letters to ports that come into sight where there are not enough for all: those that are in sight keep theirs, the
  /// others lose them.
  mutating func letter(_ visible: Set<PortHint.Target>) {
    guard targets.count < all.count else { return }
    let kept = targets.filter { visible.contains($0.target) }
    let known = Set(kept.map(\.target))
    let taken = Set(kept.map(\.letters))
    var free = Self.letters.flatMap { last in Self.letters.map { "\($0)\(last)" } }
      .filter { !taken.contains($0) }.makeIterator()
    let missing = all.filter { visible.contains($0) && !known.contains($0) }
    if missing.isEmpty { return }
    targets =
      kept
      + missing.compactMap { target in
        free.next().map { PortHint(letters: $0, target: target) }
      }
  }

  /// Chooses a cable of a node: the only one at once, one of several by hints. Returns false if it has none.
  @MainActor static func chooseCable(
    of node: Node, purpose: String, _ desk: Desk, then: @escaping @MainActor (Cable.Ends, Desk) -> Void
  ) -> Bool {
    let cables = desk.scene.cables(of: node.id).map(\.ends)
    if cables.count == 1 {
      then(cables[0], desk)
    } else if !cables.isEmpty {
      show(cables.map { .cable($0) }, purpose: purpose, desk) { target, desk in
        if case .cable(let ends) = target { then(ends, desk) }
      }
    }
    return !cables.isEmpty
  }

  @MainActor func handle(_ stroke: KeyStroke, _ desk: Desk) {
    if finding != nil { return find(stroke, desk) }
    var changed = self
    switch stroke.key {
    case "esc", "ctrl-c":
      desk.state.overlay = nil
      desk.state.message = nil
      return
    case "backspace": changed.typed = String(typed.dropLast())
    case "tab", "shift-tab": return turn(desk)
    case "/": changed.finding = LineEditor()
    case "up": return scroll(0, -1, desk)
    case "down": return scroll(0, 1, desk)
    case "left": return scroll(-8, 0, desk)
    case "right": return scroll(8, 0, desk)
    case "pageup": return scroll(0, -desk.viewSize.rows, desk)
    case "pagedown": return scroll(0, desk.viewSize.rows, desk)
    default:
      guard let letter = stroke.key.text else { return }
      changed.typed += letter.lowercased()
      guard targets.contains(where: { $0.letters.hasPrefix(changed.typed) }) else { return }
      if let hint = targets.first(where: { $0.letters == changed.typed }) {
        desk.state.overlay = nil
        desk.hintLetters = Dictionary(
          targets.map { ($0.target, $0.letters) }, uniquingKeysWith: { first, _ in first })
        then(hint.target, desk)
        return
      }
    }
    desk.state.overlay = changed
  }

  /// Moves the window; the graph clamps it.
  @MainActor private func scroll(_ columns: Int, _ rows: Int, _ desk: Desk) {
    let place = desk.state.scroll[.graph] ?? (row: 0, column: 0)
    desk.state.graph.isScrolledFreely = true
    desk.state.scroll[.graph] = (max(0, place.row + rows), max(0, place.column + columns))
  }

  @MainActor private func find(_ stroke: KeyStroke, _ desk: Desk) {
    var changed = self
    switch stroke.key {
    case "esc", "ctrl-c", "enter", "ctrl-j": changed.finding = nil
    default:
      guard changed.finding?.handle(.key(stroke)) == true else { return }
      let wanted = changed.finding?.text.lowercased() ?? ""
      let nodes = desk.scene.patch.nodes.values
      let found =
        nodes.first { $0.name.lowercased().hasPrefix(wanted) }
        ?? nodes.first { $0.name.lowercased().includes(wanted) }
      if !wanted.isEmpty, let found { desk.focus(found.id) }
    }
    desk.state.overlay = changed
  }

  @MainActor func turnWheel(_ mouse: MouseEvent, _ desk: Desk) -> Bool {
    scroll(0, mouse.wheelRows, desk)
    return true
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    EntryLine.clear(row, on: &canvas)
    if let finding {
      EntryLine.placeCursor(EntryLine.draw("/", finding, row: row, on: &canvas), row: row, on: &canvas)
      return
    }
    let asked = typed.isEmpty ? "type two letters" : typed
    Wrapping.draw(
      Wrapping.lines(
        [Wrapping.words(purpose, .prompt), [[Span(asked, .promptText)]]], columns: canvas.columns - 2, gap: 2),
      endingAt: row, on: &canvas)
  }
}
