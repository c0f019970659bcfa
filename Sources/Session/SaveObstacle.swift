/// An obstacle to a save, which the user must decide about.
public struct SaveObstacle: Hashable, Sendable {
  /// Kind of obstacle.
  public enum Reason: Hashable, Sendable {
    /// Others wrote the file since it was read.
    case changed
    /// Another file has that name.
    case exists
    /// Another session has the file open.
    case openElsewhere
    /// Saving would lose this many unreadable lines; 0: invalid UTF-8 only.
    case unread(lines: Int)
  }

  /// Kind of obstacle.
  public var reason: Reason
  /// Path of the file.
  public var path: String

  /// Description, with the danger first, since the end may be cut off.
  public var words: String {
    switch reason {
    case .changed: "others changed the file since it was read: \(path)"
    case .exists: "there is another file of that name: \(path)"
    case .openElsewhere: "another session has the file open: \(path)"
    case .unread(0): "bytes that are not UTF-8 would be lost: \(path)"
    case .unread(1): "a line that was not understood would be lost: \(path)"
    case .unread(let lines): "\(lines) lines that were not understood would be lost: \(path)"
    }
  }
}
