/// `remove dist`, `remove dist bridge`, `remove echo tail`
struct RemoveNode: EditVerbs {
  var name: String
  var bridge: Bool
  var tail = false

  func apply(to draft: inout Draft) throws(EditError) {
    let node = try draft.patch.node(named: name)
    if bridge {
      for cable in Self.bridges(over: node, in: draft) { draft.patch.plug(cable) }
    }
    draft.patch.keepInScenes(node, catalogue: draft.catalogue)
    draft.patch.detach(node.id)
    if tail { draft.tails.append(node.id) }
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let node = try draft.patch.node(named: name)
    let patch = draft.patch
    var edits: [Edit] = []
    if bridge {
      for cable in Self.bridges(over: node, in: draft) {
        edits.append(.disconnect(patch.name(of: cable.ends)))
      }
    }
    edits.append(.add(node, before: patch.node(after: node.id)?.name))
    for ends in patch.cablesTouching(node.id) { edits += Connect.restoring(ends, in: patch) }
    return .joined(edits)
  }

  func describe() -> String { "remove \(name)" + (bridge ? " bridge" : "") + (tail ? " tail" : "") }

  /// The cables that join the neighbours of a removed node: each source of its inputs to each destination of
  /// its outputs, audio to audio and events to events. Gains add up; maps are composed. Side chains and
  /// parameters are left out. Pairs that are connected already stay as they are.
  ///
  /// Any port of an unknown kind may be a side chain or a parameter, except the one that a cable goes to
  /// when it names none: only that one is bridged, so that no control signal becomes audible.
  static func bridges(over node: Node, in draft: Draft) -> [Cable] {
    let patch = draft.patch
    let kind = draft.catalogue[node.kind]
    let sources = patch.cables(into: node.id, catalogue: draft.catalogue).filter {
      let port = $0.ends.destination.port
      let isMain =
        kind.map { $0.inputs.contains { $0.name == port && $0.role == .main } }
        ?? (port == PortReference.unknownInput)
      return $0.ends.source.node != node.id && isMain
    }
    let destinations = patch.cables(from: node.id, catalogue: draft.catalogue).filter {
      $0.ends.destination.node != node.id
    }
    var bridges: [Cable] = []
    var joined: Set<Cable.Ends> = []
    for source in sources {
      let sourceIsEvents = draft.carriesEvents(source.ends)
      let isOutside = patch.isOutside(source.ends, catalogue: draft.catalogue)
      for destination in destinations
      where draft.carriesEvents(destination.ends) == sourceIsEvents
        && patch.isOutside(destination.ends, catalogue: draft.catalogue) == isOutside
      {
        let ends = Cable.Ends(source.ends.source, destination.ends.destination)
        guard patch.cables[ends] == nil, joined.insert(ends).inserted else { continue }
        // Cables that an outlet joins are not on one side of the edge.
        if (try? patch.checkScope(of: ends, catalogue: draft.catalogue)) == nil { continue }
        let (first, second) = (source.settings, destination.settings)
        let isDiscrete = first.mixing == .discrete || second.mixing == .discrete
        // The node may have passed on more channels than its source has.
        let map = second.map.after(first.map)
        bridges.append(
          Cable(
            ends,
            CableSettings(
              gain: min(first.gain + second.gain, Connect.loudest),
              map: map?.cut(to: draft.channels(of: ends.source)) ?? map,
              mixing: isDiscrete ? .discrete : .speakers, modulation: second.modulation),
            comments: destination.comments))
      }
    }
    return bridges
  }
}

extension Optional where Wrapped == ChannelMap {
  /// The composition: `first`, then this map.
  func after(_ first: ChannelMap?) -> ChannelMap? {
    guard let second = self else { return first }
    guard let first else { return second }
    return ChannelMap(second.sources.map { first.sources.indices.contains($0) ? first.sources[$0] : -1 })
  }
}

extension Draft {
  /// True for a cable of events.
  func carriesEvents(_ ends: Cable.Ends) -> Bool { isOfEvents(ends) ?? false }

  /// True for a cable of events, false for one of sound, judged by the first end whose kind has the port. nil: neither has it,
  /// as that of an unknown kind or of a sub-patch with nothing inside.
  func isOfEvents(_ ends: Cable.Ends) -> Bool? {
    if let node = patch[ends.source.node], let kind = catalogue[node.kind],
      let isEvents = kind.outputIsEvents(ends.source.port)
    {
      return isEvents
    }
    return patch[ends.destination.node].flatMap { catalogue[$0.kind]?.inputIsEvents(ends.destination.port) }
  }

  /// Throws for a cable of events that is part of a loop of such cables.
  package func checkLoop(of ends: Cable.Ends) throws(EditError) {
    guard carriesEvents(ends) else { return }
    var seen: Set<NodeID> = [ends.destination.node]
    var next = [ends.destination.node]
    while let id = next.popLast() {
      if id == ends.source.node { throw .closesLoop(patch.name(of: ends)) }
      for onward in patch.outgoing[id] ?? [] where carriesEvents(onward) {
        if seen.insert(onward.destination.node).inserted { next.append(onward.destination.node) }
      }
    }
  }
}

extension Patch {
  /// True if any node is of a kind that sends events.
  package func hasEvents(catalogue: KindCatalogue) -> Bool {
    let kinds = Set(catalogue.kinds.lazy.filter { $0.outputs.contains(where: \.isEvents) }.map(\.name))
    return nodes.contains(ofKind: kinds.contains)
  }

  /// The next node in file order.
  func node(after id: NodeID) -> Node? {
    guard let index = nodes.index(forKey: id), index + 1 < nodes.count else { return nil }
    return nodes.values[index + 1]
  }
}
