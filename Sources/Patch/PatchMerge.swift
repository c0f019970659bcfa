/// Joins two documents that were made from the same one.
///
/// Nodes are matched by name, renamed ones by what they have kept; then each setting, each property of a cable,
/// each comment and each place is taken from the side that changed it. It is a conflict where both changed the
/// same thing in different ways, where one took away what the other changed, and where both changes together
/// make what no edit could have made (an index beyond a size that shrank, two nodes of one name).
public enum PatchMerge {
  /// Something that the two sides cannot both have.
  public struct Conflict: Hashable, Sendable, CustomStringConvertible {
    /// The node that it is about, as the merged patch or else the other side names it; nil: the file as a whole.
    public var node: String?
    /// In words: "`dist.drive` is 3dB here and 6dB there".
    public var message: String
    public var description: String { message }
  }

  public struct Result: Sendable {
    /// What both sides agree on, and of conflicts our side. Nodes that ours has keep its identities, so that an
    /// open session can go on with it.
    public var patch: Patch
    /// The same with their side of conflicts. Equal to `patch` where there is no conflict.
    public var theirs: Patch
    public var conflicts: [Conflict]
  }

  /// `ours` with the changes that lead from `base` to `theirs`. All three obey the invariants of a patch, and
  /// so does what is returned. Takes time in proportion to the patches, a few milliseconds for a hundred nodes.
  public static func merge(base: Patch, ours: Patch, theirs: Patch, catalogue: KindCatalogue) -> Result {
    let versions = MergeVersions(base: base, ours: ours, theirs: theirs)
    // Where the parts do not fit together, the nodes concerned are taken from one side as a whole. In the end
    // everything would be, and each side fits with itself.
    var forced: [MergeKey: Conflict] = [:]
    while true {
      var sides: [Patch] = []
      var found: [MergeKey: Conflict] = [:]
      var conflicts: [Conflict] = []
      for prefersOurs in [true, false] {
        var work = MergeWork(versions, catalogue: catalogue, prefersOurs: prefersOurs, forced: forced)
        sides.append(work.patch())
        found.merge(work.misfits) { first, _ in first }
        if prefersOurs { conflicts = work.conflicts }
      }
      let new = found.filter { forced[$0.key] == nil }
      if new.isEmpty {
        let misfits = forced.sorted { $0.key < $1.key }.map(\.value)
        var told: Set<Conflict> = []
        return Result(
          patch: sides[0], theirs: sides[1],
          conflicts: (misfits + conflicts).filter { told.insert($0).inserted })
      }
      forced.merge(new) { first, _ in first }
    }
  }
}

/// A node of the merge, whatever it is called in each version.
typealias MergeKey = Int

/// A cable of the merge.
struct MergeCable: Hashable {
  var source: MergeKey
  var sourcePort: String
  var destination: MergeKey
  var destinationPort: String
}

/// The three documents, with the same keys for the same nodes.
struct MergeVersions {
  struct Version {
    var patch: Patch
    var nodes: [MergeKey: Node] = [:]
    /// In the order of the file.
    var order: [MergeKey] = []
    var cables: [MergeCable: Cable] = [:]
    /// In the order of the file.
    var cableOrder: [MergeCable] = []
  }

  private(set) var base: Version
  private(set) var ours: Version
  private(set) var theirs: Version

  init(base: Patch, ours: Patch, theirs: Patch) {
    self.base = Version(patch: base)
    self.ours = Version(patch: ours)
    self.theirs = Version(patch: theirs)
    var baseKeys: [NodeID: MergeKey] = [:]
    for (key, node) in base.nodes.values.enumerated() { baseKeys[node.id] = key }
    var next = base.nodes.count
    var added: [String: MergeKey] = [:]
    func keys(of patch: Patch) -> [NodeID: MergeKey] {
      let matching = NodeMatching(from: base, to: patch)
      var keys: [NodeID: MergeKey] = [:]
      for node in patch.nodes.values {
        if let old = matching.older[node.id], let key = baseKeys[old] {
          keys[node.id] = key
        } else if let key = added[node.name] {
          // Both sides added it.
          keys[node.id] = key
        } else {
          keys[node.id] = next
          added[node.name] = next
          next += 1
        }
      }
      return keys
    }
    Self.fill(&self.base, baseKeys)
    Self.fill(&self.ours, keys(of: ours))
    Self.fill(&self.theirs, keys(of: theirs))
  }

  private static func fill(_ version: inout Version, _ keys: [NodeID: MergeKey]) {
    let patch = version.patch
    for node in patch.nodes.values {
      guard let key = keys[node.id] else { continue }
      version.nodes[key] = node
      version.order.append(key)
      for ends in patch.cables(at: node.id) where ends.destination.node == node.id {
        guard let source = keys[ends.source.node], let cable = patch.cables[ends] else { continue }
        let name = MergeCable(
          source: source, sourcePort: ends.source.port, destination: key,
          destinationPort: ends.destination.port)
        if version.cables.updateValue(cable, forKey: name) == nil { version.cableOrder.append(name) }
      }
    }
  }

  /// Every node, in the order of the side that moved some; what the other added stands behind the same node
  /// as there.
  var order: [MergeKey] {
    let common = Set(base.order).intersection(ours.order).intersection(theirs.order)
    func kept(_ version: Version) -> [MergeKey] { version.order.filter { common.contains($0) } }
    let theyMoved = kept(ours) == kept(base) && kept(theirs) != kept(base)
    let (frame, other) = theyMoved ? (theirs, ours) : (ours, theirs)
    let known = Set(other.order)
    var result = frame.order
    var last: MergeKey?
    for key in other.order {
      defer { last = key }
      if frame.nodes[key] != nil { continue }
      var index = last.flatMap { result.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      while index < result.count, !known.contains(result[index]) { index += 1 }
      result.insert(key, at: index)
    }
    return result
  }
}
