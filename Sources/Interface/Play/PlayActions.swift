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
      "play", "Play mode", [.anywhere: "F6", .patch: "p"], otherHelp: [.anywhere: "Play mode, and back"]
    ) {
      Piano($0).toggleMode()
    },
    Action("panic", "Panic: every voice fades out", [.patch: "!", .playing: "backspace !"]) {
      Piano($0).panic()
    },
  ]

  nonisolated static let hints: [ActionHint] = [
    ("leave", "leaves"), ("pedal", "pedal"), ("swap-effect", "swap"), ("insert-effect", "insert"),
    ("remove-bridge", "remove"), ("undo", "undo"), ("octave-down", "octave −"), ("octave-up", "octave +"),
  ]
}
