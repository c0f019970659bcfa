/// Everything that a theme colours. The raw values are the names in theme files.
public enum ThemeKey: String, Hashable, Sendable, CaseIterable {
  // Text
  /// Plain text and its parts.
  case background, text, dim, header, title, value, unit, kind, hint, link
  /// The focused element.
  case accent
  /// Sounding nodes.
  case sounding
  /// Errors: faults, missing files, unknown kinds.
  case trouble
  /// Warnings.
  case warning
  /// The selected line, and characters that a search has found.
  case selection, match
  /// Lines of the trace by what happened to the node.
  case added, removed, changed
  // Nodes and cables
  /// Frame of a node.
  case frame
  /// Frame of the focused node.
  case frameFocused = "frame-focused"
  /// Frame of a node that sounds.
  case frameSounding = "frame-sounding"
  /// Frame of a node that fades out.
  case frameLeaving = "frame-leaving"
  /// Frame of a placeholder or a muted node.
  case frameTrouble = "frame-trouble"
  /// Name of a port.
  case port
  /// Letters that choose a port.
  case portHint = "port-hint"
  /// Silent cable.
  case cable
  /// Cable with a soft signal.
  case cableActive1 = "cable-active-1"
  /// Cable with a moderate signal.
  case cableActive2 = "cable-active-2"
  /// Cable with a loud signal.
  case cableActive3 = "cable-active-3"
  /// Cable with a signal near full scale.
  case cableActive4 = "cable-active-4"
  /// Cable that carries events.
  case cableEvents = "cable-events"
  /// Cable in a fade.
  case cableFading = "cable-fading"
  /// Cable that is delayed in a cycle.
  case cableFeedback = "cable-feedback"
  /// Cable of the focused node.
  case cableFocused = "cable-focused"
  // Meters
  /// Meter, lower range.
  case meterLow = "meter-low"
  /// Meter, middle range.
  case meterMid = "meter-mid"
  /// Meter, upper range.
  case meterHigh = "meter-high"
  /// Meter above full scale.
  case meterClip = "meter-clip"
  /// Meter, the part that is not lit.
  case meterEmpty = "meter-empty"
  // Lines of the frame around the views
  /// The line at the top.
  case statusBar = "status-bar"
  /// Figures in it.
  case statusValue = "status-value"
  /// Faults in it.
  case statusFault = "status-fault"
  /// The mark of patch mode.
  case modePatch = "mode-patch"
  /// The mark of play mode.
  case modePlay = "mode-play"
  /// Lines that divide the screen.
  case rule
  /// Mark of the prompt, and questions there.
  case prompt
  /// Text at the prompt.
  case promptText = "prompt-text"
  /// The part of it that is wrong.
  case promptError = "prompt-error"
  /// A proposed completion.
  case completion
  /// The chosen completion.
  case completionSelected = "completion-selected"
  /// Text in a window above the view.
  case popup
  /// Frame of such a window.
  case popupFrame = "popup-frame"
  /// Name of a key in the help.
  case keyName = "key-name"
  // The keyboard of play mode
  /// White key of the piano.
  case keyWhite = "key-white"
  /// Black key of the piano.
  case keyBlack = "key-black"
  /// Key that is held down.
  case keyDown = "key-down"

  /// The cable key for a level in decibels: brighter when louder.
  public static func cable(level decibels: Double) -> ThemeKey {
    switch decibels {
    case ..<(-90): .cable
    case ..<(-40): .cableActive1
    case ..<(-20): .cableActive2
    case ..<(-6): .cableActive3
    default: .cableActive4
    }
  }
}
