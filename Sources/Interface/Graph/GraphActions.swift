extension GraphView {
  static let table: [Action] = [
    Action("next-node", "Next node", [.anywhere: "tab"], repeats: true) { cycleFocus(1, $0) },
    Action("previous-node", "Previous node", [.anywhere: "shift-tab"], repeats: true) { cycleFocus(-1, $0) },
    Action("connect", "Connect: two letters for one port, two for the other", [.patch: "c"]) {
      Wiring($0).startConnecting()
    },
    Action("disconnect", "Disconnect a cable of the focused node, or all of the marked ones", [.patch: "d"]) {
      Wiring($0).startDisconnecting()
    },
    Action("remove", "Remove the focused node, or the marked ones", [.patch: "x"]) {
      Rewiring($0).removeChosen(bridge: false)
    },
    Action(
      "remove-bridge", "Remove the focused node and join its neighbours", [.anywhere: "F9", .patch: "X"],
      otherHelp: [.patch: "Remove it and join its neighbours"]
    ) { Rewiring($0).removeChosen(bridge: true) },
    Action("replace", "Replace it by another kind; its cables stay", [.patch: "r"]) {
      Rewiring($0).startReplacing()
    },
    Action("insert", "Insert a node into one of its cables", [.patch: "i"]) { Rewiring($0).startInserting() },
    Action("add", "Add a node", [.patch: "a"]) { Rewiring($0).startAdding() },
    Action("rename", "Rename the focused node", [.patch: "R"]) {
      guard let node = $0.focusedNode else { return $0.complain(Desk.nothingThere) }
      Prompt.open("rename \(node.name) ", $0)
    },
    Action(
      "show-programs", "Show or hide the JACK server's programs beside those of the patch", [.patch: "o"]
    ) { desk in
      let isShown = !desk.scene.showsPrograms
      desk.workbench.showPrograms(isShown)
      let named = desk.scene.programs.values.contains { !$0.isFound }
      desk.say(
        isShown
          ? "other programs are shown"
          : "other programs are hidden" + (named ? ", except those of the patch" : ""))
    },
    Action("keep-cables", "Keep the found cables of the focused program in the patch", [.patch: "K"]) {
      Wiring($0).keepFoundCables()
    },
    Action("swap-effect", "Replace the focused effect by the last other kind, at once", [.anywhere: "F7"]) {
      Rewiring($0).swapEffect()
    },
    Action(
      "insert-effect", "Insert the last used kind after the focused node, at once", [.anywhere: "F8"]
    ) { Rewiring($0).insertEffect() },
  ]
}
