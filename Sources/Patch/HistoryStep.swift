/// An edit of the history, as views show it.
public struct HistoryStep: Sendable, Hashable {
  /// The edit as a line of the language.
  public var line: String
  /// Time of the edit; of a gesture, its last step. nil: unknown, as after a recovery.
  public var time: TimeOfDay?
  /// True if it was undone and can be redone.
  public var isUndone: Bool

  /// The value or the kind that it took the place of, as the language writes it; nil: it is another sort of edit.
  public var former: String?

  /// An edit that is done, or undone.
  public init(line: String, time: TimeOfDay? = nil, isUndone: Bool = false, former: String? = nil) {
    self.line = line
    self.time = time
    self.isUndone = isUndone
    self.former = former
  }
}

extension Change {
  /// The value or the kind that its only edit takes the place of, as the language writes it.
  func former(_ catalogue: KindCatalogue) -> String? {
    switch inverse {
    case .set(let name, let path, let value, _):
      let kind = patch[named: name].flatMap { catalogue[$0.kind] }
      return (value ?? kind?[parameter: path.name]?.defaultValue(at: path))?.line
    // A control or a map that was not there takes no place.
    case .setPatch(let setting):
      return setting.value.isEmpty || setting.value == "off" && !setting.name.isOfTime ? nil : setting.value
    case .replace(_, let node): return node.kind
    case .all(let edits):
      // The cables that a replacement has moved do not count.
      let replaced = edits.compactMap { if case .replace(_, let node) = $0 { node.kind } else { nil } }
      let others = edits.filter {
        switch $0 {
        case .replace, .connect, .disconnect, .comment: false
        default: true
        }
      }
      return replaced.count == 1 && others.isEmpty ? replaced[0] : nil
    default: return nil
    }
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
