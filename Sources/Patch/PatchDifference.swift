/// The edits that lead from one document to another.
public enum PatchDifference {
  /// Applied one after the other to `old` they give the document `new`: its nodes, settings, cables, comments,
  /// places and order. Nodes are matched by name; one that was renamed is renamed. Identities of nodes that
  /// stay are those of `old`. None where both are the same document.
  ///
  /// Throws where `new` holds what no edit could have made, which a file that was read never does.
  public static func edits(
    from old: Patch, to new: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> [Edit] {
    var comparison = Comparison(from: old, to: new, catalogue: catalogue)
    try comparison.run()
    return comparison.edits
  }
}

/// Follows the older document through the edits, so that each step sees what the ones before it have done:
/// sizes cut settings and maps, a replacement moves cables.
private struct Comparison {
  private var draft: Draft
  private let target: Patch
  private let catalogue: KindCatalogue
  private(set) var edits: [Edit] = []

  init(from old: Patch, to new: Patch, catalogue: KindCatalogue) {
    draft = Draft(patch: old, catalogue: catalogue)
    draft.acceptsUnknownKinds = true
    target = new
    self.catalogue = catalogue
  }

  private mutating func make(_ edit: Edit) throws(EditError) {
    try draft.apply(edit)
    edits.append(edit)
  }

  mutating func run() throws(EditError) {
    if draft.patch.revision === target.revision { return }
    try compareNames()
    try compareKinds()
    try compareOrder()
    for node in target.nodes.values { try compareSettings(of: node) }
    try compareCables()
    for node in target.nodes.values { try compareRemarks(of: node) }
    if draft.patch.header != target.header { try make(.comment(.header, Comments(before: target.header))) }
    if draft.patch.footer != target.footer { try make(.comment(.footer, Comments(before: target.footer))) }
  }

  // MARK: Nodes

  private mutating func compareNames() throws(EditError) {
    let matching = NodeMatching(from: draft.patch, to: target)
    for node in draft.patch.nodes.values {
      guard let name = matching.newer[node.id].flatMap({ target[$0]?.name }), name != node.name else {
        continue
      }
      try make(.rename(node.name, to: name))
    }
    for node in draft.patch.nodes.values where target.id(named: node.name) == nil {
      try make(.remove(node.name, bridge: false))
    }
  }

  private mutating func compareKinds() throws(EditError) {
    for node in draft.patch.nodes.values {
      guard let new = target[named: node.name], new.kind != node.kind else { continue }
      try make(.replace(node.name, with: Self.plain(new)))
    }
  }

  /// The node with what stands in its line; the rest follows.
  private static func plain(_ node: Node) -> Node {
    Node(name: node.name, kind: node.kind, settings: node.settings.filter { $0.key.indices.isEmpty })
  }

  /// Moves as few as can be, then adds what is new where it belongs.
  private mutating func compareOrder() throws(EditError) {
    let old = draft.patch.names
    let staying = target.names.filter { draft.patch.id(named: $0) != nil }
    if old != staying {
      let places = Dictionary(uniqueKeysWithValues: staying.enumerated().map { ($1, $0) })
      let kept = Set(Self.longestIncreasing(old.compactMap { places[$0] }).map { staying[$0] })
      var next: String?
      for name in staying.reversed() {
        if !kept.contains(name) { try make(.move(name, before: next)) }
        next = name
      }
    }
    var new: [Node] = []
    for node in target.nodes.values {
      if draft.patch.id(named: node.name) == nil {
        new.append(node)
        continue
      }
      for added in new { try make(.add(Self.plain(added), before: node.name)) }
      new = []
    }
    for added in new { try make(.add(Self.plain(added), before: nil)) }
  }

  /// A longest part of different numbers that increases (patience sorting: Fredman, "On computing the length of
  /// longest increasing subsequences", 1975).
  private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
    // Of each length: where the sequence of that length with the lowest end ends.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: numbers.count)
    for index in numbers.indices {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < numbers[index] { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var result: [Int] = []
    var index = ends.last
    while let here = index {
      result.append(numbers[here])
      index = previous[here]
    }
    return result.reversed()
  }

  // MARK: What nodes have

  private mutating func compareSettings(of new: Node) throws(EditError) {
    // Sizes first: indices are checked against them, and what lies beyond goes with them.
    for isIndexed in [false, true] {
      guard let old = draft.patch[named: new.name], old.settings != new.settings else { return }
      let paths = Set(old.settings.keys).union(new.settings.keys).filter { $0.indices.isEmpty != isIndexed }
      for path in paths.sorted() where old.settings[path] != new.settings[path] {
        // What equals the default is there for its comment, which comes later.
        let standard = catalogue[new.kind]?[parameter: path.name]?.defaultValue(at: path)
        let value = new.settings[path] == standard ? nil : new.settings[path]
        if value == nil, old.settings[path] == nil { continue }
        try make(.set(new.name, path, value, over: nil))
      }
    }
  }

  private mutating func compareRemarks(of new: Node) throws(EditError) {
    guard let old = draft.patch[named: new.name] else { return }
    let name = new.name
    if old.comments != new.comments { try make(.comment(.node(name), new.comments)) }
    if old.place != new.place { try make(.place(name, new.place)) }
    let lines = Set(old.lineComments.keys).union(new.lineComments.keys)
    for line in lines.sorted(by: { $0.order < $1.order }) {
      let comments = new.lineComments[line]
      guard let old = draft.patch[named: name], old.lineComments[line] != comments else { continue }
      switch line {
      case .setting(let path): try make(.comment(.setting(name, path), comments ?? Comments()))
      case .layout: try make(.comment(.layout(name), comments ?? Comments()))
      }
    }
  }

  // MARK: Cables

  private mutating func compareCables() throws(EditError) {
    let old = draft.patch.orderedCables(catalogue: catalogue)
    let wanted = Set(target.cables.keys.map { target.name(of: $0) })
    for cable in old where !wanted.contains(draft.patch.name(of: cable.ends)) {
      try make(.disconnect(draft.patch.shortName(of: cable.ends, catalogue: catalogue)))
    }
    for cable in target.orderedCables(catalogue: catalogue) {
      let ends = try draft.patch.fitting(target.name(of: cable.ends), catalogue: catalogue)
      let name = draft.patch.shortName(of: ends, catalogue: catalogue)
      let present = draft.patch.cables[ends]
      if present?.gain != cable.gain || present?.map != cable.map || present?.mixing != cable.mixing {
        try make(.connect(name, gain: cable.gain, map: cable.map, mixing: cable.mixing))
      }
      guard (present?.comments ?? Comments()) != cable.comments else { continue }
      try make(.comment(.cable(name), cable.comments))
    }
  }
}
