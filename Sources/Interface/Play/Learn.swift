import Patch
import Screen

/// Choice of what a controller is to move: whatever can be turned.
@MainActor enum Learn {
  nonisolated static let actions: [Action] = [
    Action(
      "learn",
      "MIDI learn: move a controller, and the control, parameter, crosspoint or cable's gain follows it",
      [.anywhere: "ctrl-l"], start)
  ]

  /// Learns for what is at hand: the picked control, the crosspoint under the cursor, the cable whose map is shown,
  /// or a parameter or cable of the focused node that is asked for.
  static func start(_ desk: Desk) {
    // Who presses this key because the screen is torn gets a whole one.
    desk.wish = .redraw
    if desk.state.mode == .play, let number = desk.state.play.control,
      let target = desk.scene.patch.settings.controls[number]
    {
      return Learning.start(target, desk)
    }
    if let crosspoint = Controls(desk).crosspoint { return Learning.start(crosspoint, desk) }
    let (patch, catalogue) = (desk.scene.patch, desk.scene.catalogue)
    if desk.state.view == .matrix, let cable = desk.state.matrix.cable {
      return Learning.start(.gain(patch.name(of: cable)), desk)
    }
    guard let node = desk.focusedNode else { return }
    var targets: [(name: String, target: ControlTarget)] = []
    for path in NodeFacts(node, desk.scene).lines {
      targets.append((path.line, desk.scene.target(node.name, path)))
    }
    for ends in desk.scene.audioCables(of: node.id) {
      let target = ControlTarget.gain(patch.name(of: ends))
      targets.append((target.description, target))
    }
    let items = targets.compactMap { name, target -> (name: String, detail: String)? in
      guard let found = try? patch.controlled(target, catalogue: catalogue) else { return nil }
      let sources = patch.maps(to: target).map(\.source.description)
      return (name, ([found.value.display] + sources).joined(separator: "  "))
    }
    guard !items.isEmpty else { return desk.complain("\(node.name) has nothing that a controller can move") }
    desk.state.overlay = Chooser(title: "learn for \(node.name)", items: items) { name, desk in
      guard let found = targets.first(where: { $0.name == name }) else { return }
      Learning.start(found.target, desk)
    }
  }
}
