/// An obstacle to a save, until the person has said what shall be done.
public struct SaveObstacle: Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// Others wrote the file since it was read.
    case changed
    /// Another file has that name.
    case exists
    /// Another session has the file open.
    case openElsewhere
    /// Saving would lose so many lines that were not understood; or bytes that are no text where there is none.
    case unread(lines: Int)
  }

  public var reason: Reason
  public var path: String

  /// The danger first, since the end may be cut off.
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

/// Why a file could not be opened or saved, with its name.
public struct FileError: Error, CustomStringConvertible, Sendable {
  public var description: String
  /// The obstacle that the person can be asked about.
  public var obstacle: SaveObstacle?
  /// `errno`, or 0.
  var code: Int32 = 0

  public init(_ description: String) { self.description = description }

  init(_ description: String, code: Int32) {
    self.description = description
    self.code = code
  }

  init(_ obstacle: SaveObstacle) {
    description = obstacle.words
    self.obstacle = obstacle
  }
}
