/// An edit of the history, as views show it.
public struct HistoryStep: Sendable, Hashable {
  /// The edit as a line of the language.
  public var line: String
  /// Time of the edit; of a gesture, its last step. nil: unknown, as after a recovery.
  public var time: TimeOfDay?
  /// True if it was undone and can be redone.
  public var isUndone: Bool

  /// An edit that is done, or undone.
  public init(line: String, time: TimeOfDay? = nil, isUndone: Bool = false) {
    self.line = line
    self.time = time
    self.isUndone = isUndone
  }
}

/// Local time of day, to the second.
public struct TimeOfDay: Sendable, Hashable, CustomStringConvertible {
  /// 0…23.
  public var hour: Int
  /// 0…59.
  public var minute: Int
  /// 0…60, since a minute may have a leap second.
  public var second: Int

  /// The time `hour`:`minute`:`second`.
  public init(hour: Int, minute: Int, second: Int) {
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// `09:05:30`.
  public var description: String {
    [hour, minute, second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }
}
