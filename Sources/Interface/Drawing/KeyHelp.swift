import Screen

/// Help for a key, for the hints at the lower edge and the help screen.
public struct KeyHelp: Sendable, Hashable {
  /// Keys for display: `c`, `Ctrl-R`, `F2 1`.
  public var keys: String
  /// One or two words: `connect`.
  public var name: String
  /// Description of the action, as a sentence.
  public var help: String

  /// It leads out of the present situation, and is shown wherever one key can be.
  public var isWayOut: Bool

  /// `isWayOut`: unless stated, for `Esc`.
  public init(keys: String, name: String, help: String = "", isWayOut: Bool? = nil) {
    self.isWayOut = isWayOut ?? (keys == "Esc")
    self.keys = keys
    self.name = name
    self.help = help
  }
}

extension [KeyHelp] {
  /// True where the last row of the screen shows all of these, beside the mode.
  func fit(columns: Int) -> Bool {
    let width = reduce(-3) { $0 + DisplayWidth.of("\($1.keys) \($1.name)") + 3 }
    return width <= columns - DisplayWidth.of(" PATCH ") - 3
  }
}

/// A group of keys on the help screen.
public struct HelpSection: Sendable, Hashable {
  public var title: String
  public var entries: [KeyHelp]

  public init(title: String, entries: [KeyHelp]) {
    self.title = title
    self.entries = entries
  }
}
