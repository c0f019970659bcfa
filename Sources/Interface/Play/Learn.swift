import Patch
import Screen

/// Choice of what a controller is to move.
@MainActor enum Learn {
  nonisolated static let actions: [Action] = [
    Action(
      "learn", "MIDI learn: move a controller, and the control, parameter or crosspoint follows it",
      [.anywhere: "ctrl-l"], start)
  ]

  /// Learns for what is at hand: the picked control, the crosspoint under the cursor, or a parameter that is asked for.
  static func start(_ desk: Desk) {
    // Who presses this key because the screen is torn gets a whole one.
    desk.wish = .redraw
    if desk.state.mode == .play, let number = desk.state.play.control,
      let target = desk.scene.patch.settings.controls[number]
    {
      return Learning.start(target, desk)
    }
    if let crosspoint = Controls(desk).crosspoint { return Learning.start(crosspoint, desk) }
    guard let node = desk.focusedNode else { return }
    let items = NodeFacts(node, desk.scene.catalogue).lines.compactMap {
      path -> (name: String, detail: String)? in
      let target = ControlTarget.setting(node.name, path)
      guard let found = try? desk.scene.patch.controlled(target, catalogue: desk.scene.catalogue) else {
        return nil
      }
      let sources = desk.scene.patch.maps(to: target).map(\.source.description)
      return (path.line, ([found.value.display] + sources).joined(separator: "  "))
    }
    guard !items.isEmpty else { return desk.complain("\(node.name) has nothing that a controller can move") }
    desk.state.overlay = Chooser(title: "learn for \(node.name)", items: items) { name, desk in
      guard let path = NodeFacts(node, desk.scene.catalogue).lines.first(where: { $0.line == name }) else {
        return
      }
      Learning.start(.setting(node.name, path), desk)
    }
  }
}
