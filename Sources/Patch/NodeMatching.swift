/// Matches the nodes of two documents: by name, and renamed nodes by similarity. Identities do not help,
/// since each reading of a file assigns new ones.
struct NodeMatching {
  /// The older document's nodes to the newer one's, and the reverse.
  private(set) var newer: [NodeID: NodeID] = [:]
  private(set) var older: [NodeID: NodeID] = [:]

  init(from old: Patch, to new: Patch) {
    for node in old.nodes.values {
      if let id = new.id(named: node.name) { join(node.id, id) }
    }
    // A chain that was renamed as a whole is matched from its ends inwards.
    for _ in 0..<Self.mostPasses {
      let found = renamed(from: old, to: new)
      if found.isEmpty { break }
      for (from, to) in found { join(from, to) }
    }
  }

  private mutating func join(_ old: NodeID, _ new: NodeID) {
    newer[old] = new
    older[new] = old
  }

  /// A property that a node keeps when it is renamed. Nodes at the other ends of cables have the older
  /// document's identities.
  private enum Trait: Hashable {
    case setting(ParameterPath, Value)
    case input(String, from: NodeID, String)
    case output(String, to: NodeID, String)
    case remark(Comments)
  }

  /// Each pass compares all unmatched nodes.
  private static let mostPasses = 64
  /// A trait shared by more nodes than this distinguishes nothing.
  private static let mostSharers = 32

  /// The partner with the highest score; none if two have it.
  private struct Best {
    var score = 0.0
    var partner: NodeID?

    mutating func consider(_ other: NodeID, _ score: Double) {
      if score > self.score {
        (self.score, partner) = (score, other)
      } else if score == self.score {
        partner = nil
      }
    }
  }

  /// Pairs of one kind that share more than half of their traits, and are each other's only best match.
  private func renamed(from old: Patch, to new: Patch) -> [(NodeID, NodeID)] {
    let gone = old.nodes.values.filter { newer[$0.id] == nil }
    let fresh = new.nodes.values.filter { older[$0.id] == nil }
    if gone.isEmpty || fresh.isEmpty { return [] }
    var freshTraits: [NodeID: Set<Trait>] = [:]
    var sharers: [Trait: [Node]] = [:]
    for node in fresh {
      let traits = traits(of: node, in: new) { older[$0] }
      freshTraits[node.id] = traits
      for trait in traits { sharers[trait, default: []].append(node) }
    }
    var forGone: [NodeID: Best] = [:]
    var forFresh: [NodeID: Best] = [:]
    for node in gone {
      let traits = traits(of: node, in: old) { newer[$0] == nil ? nil : $0 }
      var common: [NodeID: Int] = [:]
      for trait in traits {
        let nodes = sharers[trait] ?? []
        guard nodes.count <= Self.mostSharers else { continue }
        for other in nodes where other.kind == node.kind { common[other.id, default: 0] += 1 }
      }
      for (other, count) in common {
        let score = Double(2 * count) / Double(traits.count + (freshTraits[other]?.count ?? 0))
        guard score > 0.5 else { continue }
        forGone[node.id, default: Best()].consider(other, score)
        forFresh[other, default: Best()].consider(node.id, score)
      }
    }
    return gone.compactMap { node in
      guard let partner = forGone[node.id]?.partner, forFresh[partner]?.partner == node.id else { return nil }
      return (node.id, partner)
    }
  }

  private func traits(of node: Node, in patch: Patch, far: (NodeID) -> NodeID?) -> Set<Trait> {
    var traits = Set(node.settings.map { Trait.setting($0.key, $0.value) })
    if !node.comments.isEmpty { traits.insert(.remark(node.comments)) }
    for ends in patch.cables(at: node.id) where ends.source.node != ends.destination.node {
      if ends.destination.node == node.id {
        guard let other = far(ends.source.node) else { continue }
        traits.insert(.input(ends.destination.port, from: other, ends.source.port))
      } else if let other = far(ends.destination.node) {
        traits.insert(.output(ends.source.port, to: other, ends.destination.port))
      }
    }
    return traits
  }
}
