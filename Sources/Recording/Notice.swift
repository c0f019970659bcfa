/// A message to the user that no command has asked for.
public struct Notice: Sendable, Hashable {
  /// Its words.
  public var text: String
  /// True where something is wrong, or may be lost.
  public var isWarning: Bool

  /// A message about something that is wrong.
  public static func warning(_ text: String) -> Notice { Notice(text: text, isWarning: true) }

  /// A message that something has happened as it should.
  public static func news(_ text: String) -> Notice { Notice(text: text, isWarning: false) }
}

extension [Notice] {
  /// The words of each.
  public var words: [String] { map(\.text) }
}
