/// Three-way merge of two documents with a common ancestor.
///
/// Nodes are matched by name, and renamed ones by similarity. Then each setting, each property of a cable,
/// each comment and each place is taken from the side that changed it. Conflicts are: different changes of
/// the same thing, a removal on one side of a thing changed on the other, and combinations that no edit could
/// produce (an index beyond a size that shrank, two nodes of one name).
public enum PatchMerge {
  /// Two changes that exclude each other.
  public struct Conflict: Hashable, Sendable, CustomStringConvertible {
    /// The node concerned, by its name in the merged patch or else on the other side; nil: the file as a
    /// whole.
    public var node: String?
    /// Description: "`dist.drive` is 3dB here and 6dB there".
    public var message: String
    /// The message.
    public var description: String { message }
  }

  /// Result of a merge.
  public struct Result: Sendable {
    /// The merged patch, with our side of each conflict. Nodes of ours keep their identities, so that an open
    /// session can continue with it.
    public var patch: Patch
    /// The merged patch, with their side of each conflict. Equal to `patch` if there is none.
    public var theirs: Patch
    /// The conflicts; empty if the merge is clean.
    public var conflicts: [Conflict]
  }

  /// Applies the changes from `base` to `theirs` to `ours`. All three must obey the invariants of a patch,
  /// and so does the result. Takes time in proportion to the patches: a few milliseconds for a hundred nodes.
  public static func merge(base: Patch, ours: Patch, theirs: Patch, catalogue: KindCatalogue) -> Result {
    let versions = MergeVersions(base: base, ours: ours, theirs: theirs)
    // If merged parts do not fit together, the nodes concerned are taken from one side as a whole. At worst
    // this ends with everything from one side, which is consistent.
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
        // A default and the value that it stands for, say: there is nothing to choose from.
        if sides[0] == sides[1] { return Result(patch: sides[0], theirs: sides[1], conflicts: []) }
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

/// A node of the merge, independent of its name in each version.
typealias MergeKey = Int

/// A cable of the merge.
struct MergeCable: Hashable {
  var source: MergeKey
  var sourcePort: String
  var destination: MergeKey
  var destinationPort: String
}

/// The three documents, with common keys for matching nodes.
struct MergeVersions {
  struct Version {
    var patch: Patch
    var nodes: [MergeKey: Node] = [:]
    /// Nodes in file order.
    var order: [MergeKey] = []
    var cables: [MergeCable: Cable] = [:]
    /// Cables in file order.
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

  /// Every node, in the order of the side that moved some. A node added by the other side follows the same
  /// predecessor as there.
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
