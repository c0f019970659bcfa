/// Everything that a theme colours. The raw values are the names in theme files.
public enum ThemeKey: String, Hashable, Sendable, CaseIterable {
  // Text
  case background, text, dim, header, title, value, unit, kind, hint, link
  /// The focused element.
  case accent
  /// Sounding nodes.
  case sounding
  /// Errors: faults, missing files, unknown kinds.
  case trouble
  case warning
  case selection, match
  case added, removed, changed
  // Nodes and cables
  case frame
  case frameFocused = "frame-focused"
  case frameSounding = "frame-sounding"
  case frameLeaving = "frame-leaving"
  case frameTrouble = "frame-trouble"
  case port
  case portHint = "port-hint"
  case cable
  case cableActive1 = "cable-active-1"
  case cableActive2 = "cable-active-2"
  case cableActive3 = "cable-active-3"
  case cableActive4 = "cable-active-4"
  case cableEvents = "cable-events"
  case cableFading = "cable-fading"
  case cableFeedback = "cable-feedback"
  case cableFocused = "cable-focused"
  // Meters
  case meterLow = "meter-low"
  case meterMid = "meter-mid"
  case meterHigh = "meter-high"
  case meterClip = "meter-clip"
  case meterEmpty = "meter-empty"
  // Lines of the frame around the views
  case statusBar = "status-bar"
  case statusValue = "status-value"
  case statusFault = "status-fault"
  case modePatch = "mode-patch"
  case modePlay = "mode-play"
  case rule
  case prompt
  case promptText = "prompt-text"
  case promptError = "prompt-error"
  case completion
  case completionSelected = "completion-selected"
  case popup
  case popupFrame = "popup-frame"
  case keyName = "key-name"
  // The keyboard of play mode
  case keyWhite = "key-white"
  case keyBlack = "key-black"
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
