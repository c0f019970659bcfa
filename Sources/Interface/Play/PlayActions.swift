extension Piano {
  /// Keys of play mode beside the piano's own.
  nonisolated static let actions: [Action] = [
    Action("octave-down", "An octave down", [.playing: "["], repeats: true) {
      $0.state.play.octave = max(-1, $0.state.play.octave - 1)
    },
    Action("octave-up", "An octave up", [.playing: "]"], repeats: true) {
      $0.state.play.octave = min(8, $0.state.play.octave + 1)
    },
    Action("softer", "Softer", [.playing: "minus"], repeats: true) {
      $0.state.play.velocity = max(1, $0.state.play.velocity - 10)
    },
    Action("louder", "Louder", [.playing: "= +"], repeats: true) {
      $0.state.play.velocity = min(127, $0.state.play.velocity + 10)
    },
    Action("pedal", "The sustain pedal", [.playing: "space"]) { Piano($0).togglePedal() },
    Action(
      "gate",
      "Notes end by themselves, or when their key is pressed again, where the terminal reports no releases",
      [.playing: "/"]
    ) { desk in
      guard !desk.scene.hasKeyRelease else {
        return desk.say("this terminal reports releases: notes end with their keys")
      }
      desk.state.play.isGated.toggle()
      desk.say(
        desk.state.play.isGated
          ? "notes end by themselves, a held key's when it is let go"
          : "notes end when their key is pressed again")
    },
    Action(
      "play", "Play mode", [.anywhere: "F6", .patch: "p"], otherHelp: [.anywhere: "Play mode, and back"]
    ) {
      Piano($0).toggleMode()
    },
    Action("panic", "Panic: every voice fades out", [.patch: "!", .playing: "backspace !"]) {
      Piano($0).panic()
    },
  ]

  /// Keys of play mode in a view, the most useful first.
  nonisolated static func hints(_ view: any View, isTurning: Bool) -> [ActionHint] {
    isTurning ? turningHints : Array(hints.prefix(1)) + view.playHints + hints.dropFirst()
  }

  /// While a control is picked.
  private nonisolated static let turningHints: [ActionHint] = [
    ("leave", "lets go"), ("control-down", "ten down"), ("control-up", "ten up"), ("control-type", "type"),
    ("control", "another"), ("pedal", "pedal"), ("undo", "undo"),
  ]

  private nonisolated static let hints: [ActionHint] = [
    ("leave", "leaves"), ("pedal", "pedal"), ("swap-effect", "swap"), ("insert-effect", "insert"),
    ("remove-bridge", "remove"), ("undo", "undo"), ("octave-down", "octave −"), ("octave-up", "octave +"),
    ("control", "control"), ("recall", "scene"), ("store", "store"),
  ]
}
