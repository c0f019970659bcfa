import Patch

/// Ways of notes from a node.
extension Scene {
  /// The nodes to which a node's events lead, without itself unless they come back.
  func listeners(of id: NodeID, in patch: Patch) -> Set<NodeID> {
    var found: Set<NodeID> = []
    var waiting = [id]
    while let next = waiting.popLast() {
      for cable in patch.cables(from: next, catalogue: catalogue) {
        let (source, goal) = (cable.ends.source, cable.ends.destination.node)
        let kind = patch[source.node].flatMap { catalogue[$0.kind] }
        guard kind?.outputs.first(where: { $0.name == source.port })?.isEvents == true else { continue }
        if found.insert(goal).inserted { waiting.append(goal) }
      }
    }
    return found
  }
}
