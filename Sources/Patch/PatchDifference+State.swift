// The difference between two states: what a scene in a file consists of, and a recall.

extension Comparison {
  /// In the draft's order throughout, so that the result depends on the two states and that order alone.
  mutating func runState() throws(EditError) {
    for node in draft.patch.nodes.values where target.id(named: node.name) == nil && !isClient(node) {
      try make(.remove(node.name, bridge: false))
    }
    let old = draft.patch
    for node in old.nodes.values {
      guard let new = target[named: node.name], new.kind != node.kind, !isClient(node) else { continue }
      try make(.replace(node.name, with: Self.plain(new)))
    }
    try addNodes()
    for node in draft.patch.nodes.values {
      guard let new = target[named: node.name], new.kind == node.kind else { continue }
      try compareValues(of: new, isPresent: old[named: node.name]?.kind == node.kind)
    }
    try compareStateCables()
    for node in draft.patch.nodes.values where old.id(named: node.name) == nil {
      if let new = target[named: node.name] { try compareRemarks(of: new) }
    }
  }

  private func isClient(_ node: Node) -> Bool { catalogue[node.kind]?.isClient ?? false }

  /// Each new node goes before the one that follows it in the target, of those that the draft has.
  private mutating func addNodes() throws(EditError) {
    var arriving: [String: [Node]] = [:]
    var waiting: [Node] = []
    for node in target.nodes.values {
      if draft.patch.id(named: node.name) == nil {
        waiting.append(node)
      } else if !waiting.isEmpty {
        arriving[node.name] = waiting
        waiting = []
      }
    }
    if !arriving.isEmpty {
      for name in draft.patch.names {
        for node in arriving[name] ?? [] { try make(.add(Self.plain(node), before: name)) }
      }
    }
    for node in waiting { try make(.add(Self.plain(node), before: nil)) }
  }

  /// Compares values, not whether they are stored: a default is stored for its comment's sake.
  private mutating func compareValues(of new: Node, isPresent: Bool) throws(EditError) {
    let kind = catalogue[new.kind]
    // Sizes first: indices are checked against them, and elements beyond them are dropped.
    for isIndexed in [false, true] {
      guard let old = draft.patch[named: new.name], old.settings != new.settings else { return }
      let paths = Set(old.settings.keys).union(new.settings.keys).filter { $0.indices.isEmpty != isIndexed }
      for path in paths.sorted() where old.settings[path] != new.settings[path] {
        if isPresent, kind?.isConnection(path) ?? false { continue }
        let standard = kind?[parameter: path.name]?.defaultValue(at: path)
        if (old.settings[path] ?? standard) == (new.settings[path] ?? standard) { continue }
        try make(.set(new.name, path, new.settings[path] == standard ? nil : new.settings[path], over: nil))
      }
    }
  }

  private mutating func compareStateCables() throws(EditError) {
    for cable in draft.patch.orderedCables(catalogue: catalogue)
    where !draft.patch.isOutside(cable.ends, catalogue: catalogue) {
      guard counterpart(of: cable.ends, from: draft.patch, in: target) == nil else { continue }
      try make(.disconnect(draft.patch.shortName(of: cable.ends, catalogue: catalogue)))
    }
    for name in draft.patch.names {
      guard let id = target.id(named: name) else { continue }
      for cable in target.cables(into: id, catalogue: catalogue) {
        guard let source = draft.patch[named: target.name(of: cable.ends).source.node], !isClient(source),
          let destination = draft.patch[named: name], !isClient(destination)
        else { continue }
        let ends = try draft.patch.fitting(target.name(of: cable.ends), catalogue: catalogue)
        let present = draft.patch.cables[ends]
        if let present, present.gain == cable.gain, present.map == cable.map, present.mixing == cable.mixing {
          continue
        }
        let short = draft.patch.shortName(of: ends, catalogue: catalogue)
        try make(.connect(short, gain: cable.gain, map: cable.map, mixing: cable.mixing))
        if present == nil, !cable.comments.isEmpty { try make(.comment(.cable(short), cable.comments)) }
      }
    }
  }

  /// The cable between the ports of the same names.
  private func counterpart(of ends: Cable.Ends, from patch: Patch, in other: Patch) -> Cable? {
    let name = patch.name(of: ends)
    guard let source = other.id(named: name.source.node),
      let destination = other.id(named: name.destination.node)
    else { return nil }
    return other.cables[
      Cable.Ends(
        PortReference(source, ends.source.port), PortReference(destination, ends.destination.port))]
  }
}
