/// Parts of two patches that may differ, by the names of their nodes. What the two share in memory is passed over: a copy of
/// a patch of thousands of nodes differs from it in the few that were edited since.
struct Differing {
  /// Nodes that differ, or that only one of the two has.
  private(set) var nodes: Set<String> = []
  /// The sub-patches around these nodes.
  private(set) var around: Set<String> = []
  /// Nodes that cables lead to which differ, or which are at a node that differs.
  private(set) var receivers: Set<String> = []

  var isEmpty: Bool { nodes.isEmpty && receivers.isEmpty }

  init(_ one: Patch, _ other: Patch) {
    if one.revision === other.revision { return }
    let ids = one.nodes.differing(from: other.nodes)
    let cables = one.cables.differing(from: other.cables)
    for patch in [one, other] {
      for id in ids {
        guard let name = patch[id]?.name else { continue }
        nodes.insert(name)
        around.formUnion(NodePath.containers(of: name))
        receive(patch.cables(at: id), in: patch)
      }
      receive(cables, in: patch)
    }
  }

  private mutating func receive(_ cables: some Sequence<Cable.Ends>, in patch: Patch) {
    for id in Set(cables.lazy.map(\.destination.node)) {
      if let name = patch[id]?.name { receivers.insert(name) }
    }
  }
}

extension NodeTable {
  /// Identities of nodes that may differ between two tables: all others are equal.
  func differing(from other: NodeTable) -> Set<NodeID> {
    var ids: Set<NodeID> = []
    for index in 0..<max(pieces.count, other.pieces.count) {
      let (ours, theirs) = (piece(index), other.piece(index))
      // Arrays that share their memory are equal without a look at their elements.
      if ours == theirs { continue }
      for slot in 0..<max(ours.count, theirs.count) {
        let (one, two) = (slot < ours.count ? ours[slot] : nil, slot < theirs.count ? theirs[slot] : nil)
        if one == two { continue }
        for node in [one, two] { if let node { ids.insert(node.id) } }
      }
    }
    return ids
  }

  private func piece(_ index: Int) -> [Node?] { index < pieces.count ? pieces[index] : [] }
}

extension ShardedDictionary where Value: Equatable {
  /// Keys of which the two have different values.
  func differing(from other: Self) -> Set<Key> {
    var keys: Set<Key> = []
    // Arrays and dictionaries that share their memory are equal without a look at their elements.
    let groups = zip(groups, other.groups).lazy.filter { $0 != $1 }
    for (ours, theirs) in groups.flatMap({ zip($0, $1) }) where ours != theirs {
      for (key, value) in ours where theirs[key] != value { keys.insert(key) }
      for key in theirs.keys where ours[key] == nil { keys.insert(key) }
    }
    return keys
  }
}
