/// `replace dist equalizer band1.gain=6dB`
struct ReplaceNode: EditVerbs {
  var name: String
  var node: Node

  func apply(to draft: inout Draft) throws(EditError) {
    let old = try draft.patch.node(named: name)
    var new = node
    new.name = name
    new = try AddNode.checked(new, in: draft)
    if node.id.raw == 0 {
      new = new.with(id: draft.patch.freshID())
      // A user who replaces a node means its sound; box and comments stay.
      new.place = new.place ?? old.place
      if new.comments.isEmpty { new.comments = old.comments }
      if let layout = old.lineComments[.layout], new.place != nil, new.lineComments[.layout] == nil {
        new.lineComments[.layout] = layout
      }
    } else {
      new = try AddNode.identified(new, in: &draft)
    }
    let moves = Self.moves(from: old, to: new, in: draft)
    let index = draft.patch.nodes.index(forKey: old.id)
    draft.patch.keepInScenes(old, catalogue: draft.catalogue)
    draft.patch.detach(old.id)
    draft.patch.attach(new, at: index)
    for move in moves {
      guard let ends = move.new else { continue }
      var cable = move.old
      cable.ends = ends
      cable.settings = Self.settings(cable.settings, ends, new, in: draft)
      draft.patch.plug(cable)
    }
    draft.isSilent = false
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let old = try draft.patch.node(named: name)
    var new = node
    new.name = name
    if node.id.raw == 0 { new = new.with(id: NodeID(raw: .max)) }
    let checked = try AddNode.checked(new, in: draft)
    var before: [Edit] = []
    var after: [Edit] = []
    for move in Self.moves(from: old, to: new, in: draft) {
      if let ends = move.new, Self.keepsPorts(move.old.ends, ends) {
        if Self.settings(move.old.settings, ends, checked, in: draft) != move.old.settings {
          after += Connect.restoring(move.old.ends, in: draft.patch)
        }
        continue
      }
      if let ends = move.new { before.append(.disconnect(draft.patch.name(of: ends, with: new))) }
      after += Connect.restoring(move.old.ends, in: draft.patch)
    }
    return .joined(before + [.replace(name, with: old)] + after)
  }

  func describe() -> String {
    var named = node
    named.name = name
    return AddNode.joined("replace \(name) \(node.kind)" + AddNode.settings(of: node), withRemarksOf: named)
  }

  private struct Move {
    var old: Cable
    /// nil: the cable is removed.
    var new: Cable.Ends?
  }

  /// The kind that says which ports the node has; nil: cables wait at any port for a kind or an inside that is not there yet.
  private static func fixedKind(of node: Node, in draft: Draft) -> KindDescription? {
    draft.catalogue[node.kind].flatMap { $0.isContainer ? nil : $0 }
  }

  /// The settings that a cable can have at the new node. Where its kind has another unit at the port, or no parameter, the
  /// cable loses its modulation; where it has fewer channels, the map has fewer; a cable of events has none of them.
  private static func settings(
    _ settings: CableSettings, _ ends: Cable.Ends, _ new: Node, in draft: Draft
  ) -> CableSettings {
    guard let kind = fixedKind(of: new, in: draft) else { return settings }
    var settings = settings
    if ends.source.node == new.id {
      if kind.outputIsEvents(ends.source.port) == true { return CableSettings() }
      settings.map = settings.map?.cut(to: draft.channels(of: new, ends.source.port)) ?? settings.map
    }
    if ends.destination.node == new.id {
      if kind.inputIsEvents(ends.destination.port) == true { return CableSettings() }
      settings.modulation = settings.modulation.flatMap {
        kind.modulated(at: ends.destination.port)?.modulation($0)?.written
      }
    }
    return settings
  }

  private static func keepsPorts(_ old: Cable.Ends, _ new: Cable.Ends) -> Bool {
    old.source.port == new.source.port && old.destination.port == new.destination.port
  }

  /// New ends of each cable. Cables whose ports the new kind has come first.
  private static func moves(from old: Node, to new: Node, in draft: Draft) -> [Move] {
    let patch = draft.patch
    let kind = fixedKind(of: new, in: draft)
    let outgoing = patch.cables(from: old.id, catalogue: draft.catalogue).filter {
      $0.ends.destination.node != old.id
    }
    var moves: [Move] = []
    for cable in patch.cables(into: old.id, catalogue: draft.catalogue) + outgoing {
      if patch.isOutside(cable.ends, catalogue: draft.catalogue) {
        moves.append(
          Move(
            old: cable, new: Self.movedOutside(cable.ends, from: old, to: new, kind, in: draft)))
        continue
      }
      var isEvents = draft.isOfEvents(cable.ends)
      var ends: Cable.Ends? = cable.ends
      if cable.ends.source.node == old.id {
        let name = cable.ends.source.port
        // A send is not the whole sound, so no other port stands in for it.
        let isSend = draft.catalogue[old.kind]?.outputs.contains { $0.name == name && $0.isOptional } == true
        let port =
          kind.map {
            isSend && $0.outputIsEvents(name) != isEvents ? nil : $0.output(like: name, isEvents: isEvents)
          } ?? name
        // From itself to itself: both ends are of one type.
        isEvents = isEvents ?? port.flatMap { kind?.outputIsEvents($0) }
        ends = port.flatMap { port in ends.map { Cable.Ends(PortReference(new.id, port), $0.destination) } }
      }
      if cable.ends.destination.node == old.id {
        let name = cable.ends.destination.port
        // A cable that moved a parameter is no sound that another input should get.
        let isModulation =
          draft.catalogue[old.kind]?.inputRank(name) != nil
          && draft.catalogue[old.kind]?.inputs.contains { $0.name == name } == false
        let port =
          kind.map {
            isModulation && $0.inputIsEvents(name) == nil
              ? nil : $0.input(like: name, isEvents: isEvents, of: new)
          } ?? name
        ends = port.flatMap { port in ends.map { Cable.Ends($0.source, PortReference(new.id, port)) } }
      }
      moves.append(Move(old: cable, new: ends))
    }
    return withoutDoubles(within(moves, from: old, to: new, in: draft))
  }

  /// Removes cables that would lead past the edge of a sub-patch: its port is another kind of node now, or a node its port.
  private static func within(_ moves: [Move], from old: Node, to new: Node, in draft: Draft) -> [Move] {
    guard NodePath.container(of: old.name) != nil,
      [old.kind, new.kind].contains(where: { draft.catalogue[$0]?.boundary != nil })
    else { return moves }
    var patch = draft.patch
    patch.detach(old.id)
    patch.attach(new, at: nil)
    return moves.map { move in
      guard let ends = move.new,
        (try? draft.patch.checkScope(of: move.old.ends, catalogue: draft.catalogue)) != nil
      else { return move }
      var move = move
      if (try? patch.checkScope(of: ends, catalogue: draft.catalogue)) == nil { move.new = nil }
      return move
    }
  }

  /// A cable to or from another program stays with a node that is as near to it: a program, or the same kind of
  /// endpoint.
  private static func movedOutside(
    _ ends: Cable.Ends, from old: Node, to new: Node, _ kind: KindDescription?, in draft: Draft
  ) -> Cable.Ends? {
    guard kind == nil || kind?.endpoint == draft.catalogue[old.kind]?.endpoint else { return nil }
    var ends = ends
    if ends.source.node == old.id { ends.source.node = new.id }
    if ends.destination.node == old.id { ends.destination.node = new.id }
    return ends
  }

  private static func withoutDoubles(_ moves: [Move]) -> [Move] {
    var moves = moves
    var taken: Set<Cable.Ends> = []
    for index in moves.indices {
      if let ends = moves[index].new, keepsPorts(moves[index].old.ends, ends) { taken.insert(ends) }
    }
    for index in moves.indices {
      guard let ends = moves[index].new, !keepsPorts(moves[index].old.ends, ends) else { continue }
      if !taken.insert(ends).inserted { moves[index].new = nil }
    }
    return moves
  }
}

extension KindDescription {
  /// The input of that name, or else the first declared one of the same type. `isEvents`: nil if the type is not known: of any
  /// type by its name, else of sound. Nothing stands in for the gain of a channel that is not there.
  func input(like port: String, isEvents: Bool?, of node: Node) -> String? {
    if lacks(port, of: node) { return nil }
    if let type = inputIsEvents(port), type == isEvents ?? type { return port }
    return inputs.first { $0.isEvents == isEvents ?? false }?.name
  }

  /// The same for an output.
  package func output(like port: String, isEvents: Bool?) -> String? {
    if let type = outputIsEvents(port), type == isEvents ?? type { return port }
    return outputs.first { $0.isEvents == isEvents ?? false }?.name
  }
}

extension Patch {
  /// The cable's name while `node` is not in the patch yet.
  func name(of ends: Cable.Ends, with node: Node) -> CableName {
    func name(_ id: NodeID) -> String { id == node.id ? node.name : nodes[id]?.name ?? "" }
    return CableName(
      PortName(name(ends.source.node), ends.source.port),
      PortName(name(ends.destination.node), ends.destination.port))
  }
}
