import Screen

extension MatrixView {
  static let table: [Action] = [
    Action("gain-up", "1 dB more", [.matrix: "+ ="], repeats: true) { GridGains($0)?.step(by: 1) },
    Action(
      "gain-down", "1 dB less", [.matrix: "minus"], repeats: true,
      withKey: { GridGains($0)?.step(by: -1, key: $1) }),
    Action(
      "type-gain", "Type a gain; - turns its sign, enter sets it", [.matrix: "0 1 2 3 4 5 6 7 8 9 ."],
      shownKeys: "0–9 .", withKey: { GridGains($0)?.startTyping($1) }),
    Action("toggle-crosspoint", "Between unity and silence", [.matrix: "space"]) { GridGains($0)?.toggle() },
    Action("cell-up", "In the matrix: the cell 1 dB more", [.playing: "shift-up"], repeats: true) {
      playedCell($0)?.step(by: 1)
    },
    Action("cell-down", "In the matrix: the cell 1 dB less", [.playing: "shift-down"], repeats: true) {
      playedCell($0)?.step(by: -1)
    },
    Action("cell-toggle", "In the matrix: the cell between unity and silence", [.playing: "delete"]) {
      playedCell($0)?.toggle()
    },
    Action("toggle-mute", "Mute, and not", [.matrix: "m"]) { GridGains($0)?.turn(.mute) },
    Action("toggle-solo", "Solo in place: among inputs, outputs or crosspoints", [.matrix: "s"]) {
      GridGains($0)?.turn(.solo)
    },
    Action("turn-polarity", "Turn the polarity", [.matrix: "!"]) { GridGains($0)?.turn(.polarity) },
    Action("reset-gain", "Back to the default", [.matrix: "delete backspace"]) { GridGains($0)?.reset() },
    Action(
      "range-start", "Begin a range here: what follows is for all its cells; esc drops it", [.matrix: "["]
    ) { GridGains($0)?.startRange() },
    Action("range-end", "End the range here", [.matrix: "]"]) { GridGains($0)?.endRange() },
    Action(
      "zoom-out", "Smaller cells, and more of them: whole dB, bars, dots", [.matrix: "<"], repeats: true
    ) { zoom(-1, $0) },
    Action("zoom-in", "Larger cells", [.matrix: ">"], repeats: true) { zoom(1, $0) },
    Action("next-matrix", "The next matrix; the next cable where one is shown", [.matrix: "tab"]) {
      if GridGains($0) != nil { GridChoice($0).showNext() }
    },
    Action("open-grid", "Choose the matrix, or a cable that is shown as one", [.matrix: "o"]) {
      GridChoice($0).start()
    },
    Action(
      "open-cable", "Open a cable of the focused node as a matrix: its channel map", [.patch: "m"]
    ) { GridChoice($0).startWithCable() },
    Action("make-matrix", "Make the cable's channel map a matrix, which can sum", [.matrix: "M"]) {
      GridGains($0)?.makeMatrix()
    },
    Action("label-channel", "Name the input; on an output's gain, the output", [.matrix: "L"]) {
      GridGains($0)?.startLabel()
    },
    Action(
      "matrix-presets", "Choose a preset: identity, clear, fold, spread, diagonal, map…", [.matrix: "P"]
    ) { GridGains($0)?.startPreset() },
    Action("matrix-identity", "Input i to output i at unity", [.matrix: "i"]) {
      GridGains($0)?.preset(.identity) { $0 == $1 }
    },
    Action("matrix-fold", "The mean of all inputs to every output", [.matrix: "f"]) {
      GridGains($0)?.preset(.fold) { _, _ in true }
    },
    Action("matrix-clear", "Every crosspoint silent", [.matrix: "z"]) {
      GridGains($0)?.preset(.clear) { _, _ in false }
    },
    Action(
      "matrix-swap", "Swap the output with the next, or the ends of the range", [.matrix: "w"]
    ) { GridGains($0)?.swap() },
  ]

  /// The cell under the cursor, in play mode, where the keys are there in other views too.
  @MainActor private static func playedCell(_ desk: Desk) -> GridGains? {
    guard desk.state.view == .matrix else {
      desk.say("this key turns a cell of the matrix, which F4 shows")
      return nil
    }
    return GridGains(desk)
  }

  @MainActor private static func zoom(_ step: Int, _ desk: Desk) {
    if GridGains(desk) != nil { GridCursor(desk).zoom(step) }
  }
}
