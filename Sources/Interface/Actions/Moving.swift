/// Moving in the views, and between them.
enum Moving {
  static let actions: [Action] = [
    Action("move-left", "Move left", [.anywhere: "left", .patch: "h"], repeats: true) { move(.left, $0) },
    Action("move-right", "Move right", [.anywhere: "right", .patch: "l"], repeats: true) { move(.right, $0) },
    Action("move-up", "Move up, or scroll", [.anywhere: "up", .patch: "k"], repeats: true) { move(.up, $0) },
    Action("move-down", "Move down, or scroll", [.anywhere: "down", .patch: "j"], repeats: true) {
      move(.down, $0)
    },
    Action("page-up", "A screenful up", [.anywhere: "pageup"], repeats: true) { move(.pageUp, $0) },
    Action("page-down", "A screenful down", [.anywhere: "pagedown"], repeats: true) { move(.pageDown, $0) },
    Action("move-home", "To the start", [.anywhere: "home"]) { move(.home, $0) },
    Action("move-end", "To the end", [.anywhere: "end"]) { move(.end, $0) },
    Action(
      "leave", "Back to the graph", [.patch: "esc", .playing: "esc"],
      otherHelp: [.playing: "Back to patch mode; held notes go on"], leave),
  ]

  @MainActor private static func move(_ motion: Motion, _ desk: Desk) {
    if desk.state.mode == .play, desk.state.play.control != nil, [.left, .right].contains(motion) {
      return Controls(desk).turn(by: motion == .left ? -1 : 1)
    }
    let view = Views[desk.state.view]
    // In play mode, the arrows still choose the node for the function keys.
    if desk.state.mode == .play, !view.movesFocus, [.left, .right].contains(motion) {
      GraphView().move(motion, desk)
    } else {
      view.move(motion, desk)
    }
  }

  @MainActor private static func leave(_ desk: Desk) {
    if desk.state.mode == .play, desk.state.play.control != nil {
      desk.state.play.control = nil
    } else if desk.state.mode == .play {
      Piano(desk).toggleMode()
    } else if !desk.state.search.isEmpty, Views[desk.state.view].lines(desk.scene, desk.state) != nil {
      desk.state.search = ""
    } else if !Views[desk.state.view].leave(desk), desk.state.view != .graph {
      desk.state.view = .graph
    }
    desk.state.message = nil
  }
}
