/// Help for a key, for the hints at the lower edge and the help screen.
public struct KeyHelp: Sendable, Hashable {
  /// Keys for display: `c`, `Ctrl-R`, `F2 1`.
  public var keys: String
  /// One or two words: `connect`.
  public var name: String
  /// Description of the action, as a sentence.
  public var help: String

  public init(keys: String, name: String, help: String = "") {
    self.keys = keys
    self.name = name
    self.help = help
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
