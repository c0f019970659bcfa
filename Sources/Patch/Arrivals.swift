/// The order of nodes that a scene brings back, and their places in the file. It depends on the two states and the order of
/// what is there, since scenes that are equal may have their own nodes in different orders.
///
/// Sources come before what they feed, and a sub-patch before what is inside, which stays together. New nodes go before the
/// first one that they feed, as an insertion does, and those that feed none at the end of their sub-patch or of the file.
struct Arrivals {
  private let target: Patch
  private let catalogue: KindCatalogue
  /// Places of the nodes that are there.
  private let places: [String: Int]
  private let names: [String]
  /// New nodes of each sub-patch, and of none.
  private var members: [String?: [Node]] = [:]
  private(set) var list: [(node: Node, before: String?)] = []

  init(from patch: Patch, to target: Patch, catalogue: KindCatalogue) {
    self.target = target
    self.catalogue = catalogue
    names = patch.names
    places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    for node in target.nodes.values where places[node.name] == nil {
      members[NodePath.container(of: node.name), default: []].append(node)
    }
    // The inside of a new sub-patch comes with it.
    for container in members.keys.sorted(by: { $0 ?? "" < $1 ?? "" }) {
      if let container, places[container] == nil, target.id(named: container) != nil { continue }
      for top in inOrder(members[container] ?? []) {
        let before = place(of: top, in: container).map { names[$0] }
        add(top, before: before)
      }
    }
  }

  private mutating func add(_ node: Node, before: String?) {
    list.append((node, before))
    for inner in inOrder(members[node.name] ?? []) { add(inner, before: before) }
  }

  /// Nodes of one sub-patch, sources first, by name where nothing leads from one to the other.
  private func inOrder(_ nodes: [Node]) -> [Node] {
    guard nodes.count > 1 else { return nodes }
    let sorted = nodes.sorted { $0.name < $1.name }
    let indices = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.name, $0) })
    let depth = NodePath.containers(of: sorted[0].name).count
    var fed = [[Int]](repeating: [], count: sorted.count)
    for (index, node) in sorted.enumerated() {
      for name in feeds(node) {
        if let other = indices[NodePath.top(of: name, at: depth)], other != index { fed[index].append(other) }
      }
    }
    // Depth first, and backwards: what is finished last comes first.
    var order: [Int] = []
    var seen = [Bool](repeating: false, count: sorted.count)
    for start in sorted.indices.reversed() where !seen[start] {
      seen[start] = true
      var way = [(index: start, left: fed[start].sorted())]
      while let (index, left) = way.last {
        guard let next = left.last else {
          order.append(index)
          way.removeLast()
          continue
        }
        way[way.count - 1].left.removeLast()
        if seen[next] { continue }
        seen[next] = true
        way.append((next, fed[next].sorted()))
      }
    }
    return order.reversed().map { sorted[$0] }
  }

  /// Names of the nodes that one feeds, or that what is inside it feeds.
  private func feeds(_ node: Node) -> [String] {
    ([node] + target.allNodes(inside: node.name)).flatMap { source in
      target.cables(from: source.id, catalogue: catalogue).compactMap {
        target[$0.ends.destination.node]?.name
      }
    }
  }

  /// The place of the first node of its sub-patch that a new one feeds, directly or through other new ones; nil: at the end.
  private func place(of node: Node, in container: String?) -> Int? {
    var seen: Set<String> = [node.name]
    var ring = [node]
    let depth = container.map { NodePath.containers(of: $0).count + 1 } ?? 0
    while !ring.isEmpty {
      let fed = ring.flatMap(feeds).filter { container == nil || NodePath.isInside($0, container!) }
        .map { NodePath.top(of: $0, at: depth) }.filter { seen.insert($0).inserted }
      if let first = fed.compactMap({ places[$0] }).min() { return first }
      ring = fed.compactMap { target[named: $0] }
    }
    guard let container,
      let last = names.lastIndex(where: { NodePath.isInside($0, container) || $0 == container })
    else { return nil }
    return last + 1 < names.count ? last + 1 : nil
  }
}
