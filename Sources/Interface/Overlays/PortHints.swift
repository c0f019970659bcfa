import Patch
import Screen

/// Two-letter hints on ports or cables of the graph, which draws them.
struct PortHints: Overlay {
  var targets: [PortHint]
  var typed = ""
  var purpose: String
  /// Called with the chosen port or cable.
  var then: @MainActor (PortHint.Target, Desk) -> Void = { _, _ in }

  let hints = [KeyHelp(keys: "two letters", name: "choose"), KeyHelp(keys: "Esc", name: "leave")]

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

  /// Shows the graph with hints on these ports or cables.
  @MainActor static func show(
    _ targets: [PortHint.Target], purpose: String, _ desk: Desk,
    then: @escaping @MainActor (PortHint.Target, Desk) -> Void
  ) {
    guard !targets.isEmpty else {
      desk.state.overlay = nil
      desk.complain("no port that fits")
      return
    }
    // As few different letters as two places need, so that the fingers stay on the home row.
    var used = 4
    while used < letters.count, used * used < targets.count { used += 1 }
    let hints = targets.prefix(used * used).enumerated().map { index, target in
      PortHint(letters: "\(letters[index % used])\(letters[index / used])", target: target)
    }
    desk.state.view = .graph
    desk.state.overlay = PortHints(targets: hints, purpose: purpose, then: then)
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
    var changed = self
    switch stroke.key {
    case "esc", "ctrl-c":
      desk.state.overlay = nil
      desk.state.message = nil
      return
    case "backspace": changed.typed = String(typed.dropLast())
    default:
      guard let letter = stroke.key.text else { return }
      changed.typed += letter.lowercased()
      guard targets.contains(where: { $0.letters.hasPrefix(changed.typed) }) else { return }
      if let hint = targets.first(where: { $0.letters == changed.typed }) {
        desk.state.overlay = nil
        then(hint.target, desk)
        return
      }
    }
    desk.state.overlay = changed
  }

  func draw(_ scene: Scene, _ frame: ViewFrame, row: Int, on canvas: inout Canvas) {
    EntryLine.clear(row, on: &canvas)
    canvas.put(
      [Span(purpose, .prompt), Span("  "), Span(typed.isEmpty ? "type two letters" : typed, .promptText)],
      at: Point(1, row), columns: canvas.columns - 2)
  }
}
