/// Every action of a key. The table below feeds the keymap, the help and the README.
public enum Action: String, Sendable, CaseIterable {
  // Views
  case showHelp = "show-help"
  case showGraph = "show-graph"
  case showPrintout = "show-printout"
  case showMatrix = "show-matrix"
  case showTrace = "show-trace"
  // Everywhere
  case prompt, find
  case findNext = "find-next"
  case undo, redo, save, quit, panic, redraw, suspend
  case play
  case leave
  // Moving
  case moveLeft = "move-left"
  case moveRight = "move-right"
  case moveUp = "move-up"
  case moveDown = "move-down"
  case pageUp = "page-up"
  case pageDown = "page-down"
  case moveHome = "move-home"
  case moveEnd = "move-end"
  case nextNode = "next-node"
  case previousNode = "previous-node"
  // Editing the graph
  case edit, connect, disconnect, remove
  case removeBridge = "remove-bridge"
  case replace, insert, add, rename
  case swapEffect = "swap-effect"
  case insertEffect = "insert-effect"
  case openCable = "open-cable"
  // The matrix
  case openGrid = "open-grid"
  case gainUp = "gain-up"
  case gainDown = "gain-down"
  case toggleCrosspoint = "toggle-crosspoint"
  case typeGain = "type-gain"
  case toggleMute = "toggle-mute"
  case toggleSolo = "toggle-solo"
  case turnPolarity = "turn-polarity"
  case resetGain = "reset-gain"
  case rangeStart = "range-start"
  case rangeEnd = "range-end"
  case zoomIn = "zoom-in"
  case zoomOut = "zoom-out"
  case nextMatrix = "next-matrix"
  case makeMatrix = "make-matrix"
  case labelChannel = "label-channel"
  case matrixPresets = "matrix-presets"
  case matrixIdentity = "matrix-identity"
  case matrixFold = "matrix-fold"
  case matrixClear = "matrix-clear"
  case matrixSwap = "matrix-swap"
  // The trace
  case filterTrace = "filter-trace"
  case followTrace = "follow-trace"
  // Playing
  case octaveDown = "octave-down"
  case octaveUp = "octave-up"
  case softer, louder
  case pedal
}

/// Scope of a key binding. The more specific context wins.
public enum KeyContext: String, Sendable, CaseIterable {
  /// Both modes, all views.
  case anywhere
  /// Patch mode, all views.
  case patch
  /// Patch mode, this view only.
  case matrix, trace
  /// Play mode.
  case playing = "play"
}

/// One line of the action table.
public struct ActionEntry: Sendable {
  public let action: Action
  public let context: KeyContext
  /// Default keys.
  public let keys: [String]
  /// Description for people.
  public let help: String

  init(_ action: Action, _ context: KeyContext, _ keys: String, _ help: String) {
    self.action = action
    self.context = context
    self.keys = keys.split(separator: " ").map(String.init)
    self.help = help
  }
}

/// The only place where keys are named.
public enum ActionTable {
  public static let entries: [ActionEntry] = [
    ActionEntry(.showHelp, .anywhere, "F1", "This help"),
    ActionEntry(.showGraph, .anywhere, "F2", "The node graph"),
    ActionEntry(.showPrintout, .anywhere, "F3", "The graph printout"),
    ActionEntry(.showMatrix, .anywhere, "F4", "The matrix"),
    ActionEntry(.showTrace, .anywhere, "F5", "The lifecycle trace"),
    ActionEntry(.play, .anywhere, "F6", "Play mode, and back"),
    ActionEntry(
      .swapEffect, .anywhere, "F7", "Replace the focused effect by the last other kind, at once"),
    ActionEntry(.insertEffect, .anywhere, "F8", "Insert the last used kind after the focused node, at once"),
    ActionEntry(.removeBridge, .anywhere, "F9", "Remove the focused node and join its neighbours"),
    ActionEntry(.undo, .anywhere, "F10", "Undo"),
    ActionEntry(.redo, .anywhere, "F11 ctrl-r", "Redo"),
    ActionEntry(.save, .anywhere, "ctrl-s", "Save"),
    ActionEntry(.quit, .anywhere, "ctrl-q ctrl-c", "Quit; asks when something is not saved"),
    ActionEntry(.redraw, .anywhere, "ctrl-l", "Draw the screen anew"),
    ActionEntry(.suspend, .anywhere, "ctrl-z", "Back to the shell until `fg`; the sound stops meanwhile"),
    ActionEntry(.moveLeft, .anywhere, "left", "Move left"),
    ActionEntry(.moveRight, .anywhere, "right", "Move right"),
    ActionEntry(.moveUp, .anywhere, "up", "Move up, or scroll"),
    ActionEntry(.moveDown, .anywhere, "down", "Move down, or scroll"),
    ActionEntry(.pageUp, .anywhere, "pageup", "A screenful up"),
    ActionEntry(.pageDown, .anywhere, "pagedown", "A screenful down"),
    ActionEntry(.moveHome, .anywhere, "home", "To the start"),
    ActionEntry(.moveEnd, .anywhere, "end", "To the end"),
    ActionEntry(.nextNode, .anywhere, "tab", "Next node"),
    ActionEntry(.previousNode, .anywhere, "shift-tab", "Previous node"),

    ActionEntry(.showHelp, .patch, "?", "This help"),
    ActionEntry(.showGraph, .patch, "1", "The node graph"),
    ActionEntry(.showPrintout, .patch, "2", "The graph printout"),
    ActionEntry(.showMatrix, .patch, "3", "The matrix"),
    ActionEntry(.showTrace, .patch, "4", "The lifecycle trace"),
    ActionEntry(.prompt, .patch, ":", "The prompt: any line of the edit language; tab completes"),
    ActionEntry(.find, .patch, "/", "Find a node by its name or kind"),
    ActionEntry(.findNext, .patch, "n", "The next node found"),
    ActionEntry(.moveLeft, .patch, "h", "Move left"),
    ActionEntry(.moveDown, .patch, "j", "Move down, or scroll"),
    ActionEntry(.moveUp, .patch, "k", "Move up, or scroll"),
    ActionEntry(.moveRight, .patch, "l", "Move right"),
    ActionEntry(.edit, .patch, "enter", "Edit the parameters of the focused node"),
    ActionEntry(.connect, .patch, "c", "Connect: two letters for one port, two for the other"),
    ActionEntry(.disconnect, .patch, "d", "Disconnect a cable of the focused node"),
    ActionEntry(.remove, .patch, "x", "Remove the focused node"),
    ActionEntry(.removeBridge, .patch, "X", "Remove it and join its neighbours"),
    ActionEntry(.replace, .patch, "r", "Replace it by another kind; its cables stay"),
    ActionEntry(.insert, .patch, "i", "Insert a node into one of its cables"),
    ActionEntry(.add, .patch, "a", "Add a node"),
    ActionEntry(.rename, .patch, "R", "Rename the focused node"),
    ActionEntry(.openCable, .patch, "m", "Open a cable of the focused node as a matrix: its channel map"),
    ActionEntry(.undo, .patch, "u", "Undo"),
    ActionEntry(.play, .patch, "p", "Play mode"),
    ActionEntry(.panic, .patch, "!", "Panic: every voice fades out"),
    ActionEntry(.quit, .patch, "q", "Quit; asks when something is not saved"),
    ActionEntry(.leave, .patch, "esc", "Back to the graph"),

    ActionEntry(.gainUp, .matrix, "+ =", "1 dB more"),
    ActionEntry(.gainDown, .matrix, "minus", "1 dB less"),
    ActionEntry(.typeGain, .matrix, "0 1 2 3 4 5 6 7 8 9 .", "Type a gain; - turns its sign, enter sets it"),
    ActionEntry(.toggleCrosspoint, .matrix, "space", "Between unity and silence"),
    ActionEntry(.toggleMute, .matrix, "m", "Mute, and not"),
    ActionEntry(.toggleSolo, .matrix, "s", "Solo in place: among inputs, outputs or crosspoints"),
    ActionEntry(.turnPolarity, .matrix, "!", "Turn the polarity"),
    ActionEntry(.resetGain, .matrix, "delete backspace", "Back to the default"),
    ActionEntry(
      .rangeStart, .matrix, "[", "Begin a range here: what follows is for all its cells; esc drops it"),
    ActionEntry(.rangeEnd, .matrix, "]", "End the range here"),
    ActionEntry(.zoomOut, .matrix, "<", "Smaller cells, and more of them: whole dB, bars, dots"),
    ActionEntry(.zoomIn, .matrix, ">", "Larger cells"),
    ActionEntry(.nextMatrix, .matrix, "tab", "The next matrix; the next cable where one is shown"),
    ActionEntry(.openGrid, .matrix, "o", "Choose the matrix, or a cable that is shown as one"),
    ActionEntry(.makeMatrix, .matrix, "M", "Make the cable's channel map a matrix, which can sum"),
    ActionEntry(.labelChannel, .matrix, "L", "Name the input; on an output's gain, the output"),
    ActionEntry(
      .matrixPresets, .matrix, "P", "Choose a preset: identity, clear, fold, spread, diagonal, map…"),
    ActionEntry(.matrixIdentity, .matrix, "i", "Input i to output i at unity"),
    ActionEntry(.matrixFold, .matrix, "f", "The mean of all inputs to every output"),
    ActionEntry(.matrixClear, .matrix, "z", "Every crosspoint silent"),
    ActionEntry(.matrixSwap, .matrix, "w", "Swap the output with the next, or the ends of the range"),

    ActionEntry(.filterTrace, .trace, "n", "The focused node alone, or all"),
    ActionEntry(.followTrace, .trace, "f", "Follow the newest line, or stay"),

    ActionEntry(.leave, .playing, "esc", "Back to patch mode; held notes go on"),
    ActionEntry(.octaveDown, .playing, "[", "An octave down"),
    ActionEntry(.octaveUp, .playing, "]", "An octave up"),
    ActionEntry(.softer, .playing, "minus", "Softer"),
    ActionEntry(.louder, .playing, "= +", "Louder"),
    ActionEntry(.pedal, .playing, "space", "The sustain pedal"),
    ActionEntry(.panic, .playing, "backspace !", "Panic: every voice fades out"),
  ]

  /// Heading of a context in the help.
  public static func title(of context: KeyContext) -> String {
    switch context {
    case .anywhere: "Everywhere"
    case .patch: "Patch mode"
    case .matrix: "In the matrix"
    case .trace: "In the trace"
    case .playing: "Play mode"
    }
  }

  /// The generated key tables of the README.
  public static var markdown: String {
    var text = ""
    for context in KeyContext.allCases {
      text += "### \(title(of: context))\n\n| keys | what they do |\n|---|---|\n"
      for entry in entries where entry.context == context {
        let keys = entry.keys.map { "`\($0 == "|" ? "\\|" : $0)`" }.joined(separator: " ")
        text += "| \(keys) | \(entry.help) |\n"
      }
      if context == .playing {
        text += "| `z` to `m`, with `s` `d` `g` `h` `j` | an octave of piano |\n"
        text += "| `q` to `u`, with `2` `3` `5` `6` `7` | the octave above |\n"
      }
      text += "\n"
    }
    return text
  }
}
