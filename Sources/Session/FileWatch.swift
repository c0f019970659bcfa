import Patch

/// A version of the file that others wrote, which contradicts edits made here.
public struct VersionConflict: Sendable, Hashable {
  /// Differs for each version.
  public var number: Int
  /// The first contradiction, and the number of others.
  public var words: String
}

/// Knowledge of the patch's file and of those of its sub-patches, which are looked at several times a second.
struct FileWatch {
  /// Nanoseconds from one look to the next.
  static let interval: Int64 = 100_000_000
  /// Looks after which a file that is gone, or empty, is no mere moment of a write.
  static let patience = 15
  /// Nanoseconds for which changed nodes are marked.
  static let markTime: Int64 = 6_000_000_000

  var nextLook: Int64 = 0
  var own = Seen()
  /// When to look at the files of sub-patches, and what is known of them by place.
  var nextDefinitionLook: Int64 = 0
  var definitions: [String: Seen] = [:]
  /// The names of these files, and of which patch; where they led to when last looked at.
  var revision: Revision?
  var names: Set<String> = []
  var places: [String: String] = [:]
  /// When to look at the files of nodes that could not be loaded.
  var nextFailureLook: Int64 = 0
  var conflicts = 0
  /// Nodes that the last version changed, until then.
  var changed: (nodes: Set<NodeID>, until: Int64)?

  /// Versions of a file, as they were found. Editors write in many ways (in place, by a new file of the same name), so a
  /// version counts when two looks in a row have found it.
  struct Seen {
    /// The version that has been dealt with.
    private var known: FileStamp?
    /// The version found last, and by how many looks in a row.
    private var found: (stamp: FileStamp, looks: Int)?
    /// It has been said that this version waits.
    private var held: FileStamp?
    /// The patch that the known version contradicts; nil: it contradicts none.
    private var contradicted: Revision?

    init(known: FileStamp? = nil) { self.known = known }

    /// Takes note of a look; true for a version that is to be dealt with.
    mutating func isDue(_ stamp: FileStamp) -> Bool {
      guard stamp != known else {
        found = nil
        return false
      }
      let looks = stamp == found?.stamp ? (found?.looks ?? 0) + 1 : 1
      found = (stamp, looks)
      return looks >= (stamp.isBlank ? FileWatch.patience : 2)
    }

    /// True for a known version that contradicted a patch which has been edited since: it may fit now.
    func isDueAgain(_ stamp: FileStamp, _ patch: Patch) -> Bool {
      stamp == known && contradicted.map { $0 !== patch.revision } == true
    }

    /// A version has been dealt with.
    mutating func settle(_ stamp: FileStamp) { (known, contradicted) = (stamp, nil) }

    /// The known version contradicts edits of the patch.
    mutating func contradict(_ patch: Patch) { contradicted = patch.revision }

    /// A version waits; true at first.
    mutating func hold(_ stamp: FileStamp) -> Bool {
      defer { held = stamp }
      return held != stamp
    }
  }
}
