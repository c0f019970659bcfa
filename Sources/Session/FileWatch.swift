import Patch

/// A version of the file that others wrote, which contradicts edits made here.
public struct VersionConflict: Sendable, Hashable {
  /// Differs for each version.
  public var number: Int
  /// The first contradiction, and the number of others.
  public var words: String
}

/// Knowledge of the patch's file, which is looked at several times a second. Editors write in many ways (in place, by a
/// new file of the same name), so a version counts when two looks in a row have found it.
struct FileWatch {
  /// Nanoseconds from one look to the next.
  static let interval: Int64 = 100_000_000
  /// Looks after which a file that is gone, or empty, is no mere moment of a write.
  static let patience = 15
  /// Nanoseconds for which changed nodes are marked.
  static let markTime: Int64 = 6_000_000_000

  var nextLook: Int64 = 0
  /// The version that has been dealt with.
  var known: FileStamp?
  /// The version found last, and by how many looks in a row.
  var found: (stamp: FileStamp, looks: Int)?
  /// It has been said that this version waits.
  var held: FileStamp?
  var conflicts = 0
  /// Nodes that the last version changed, until then.
  var changed: (nodes: Set<NodeID>, until: Int64)?
}
