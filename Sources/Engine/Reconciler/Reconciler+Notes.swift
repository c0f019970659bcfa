// Notes that are held across an edit which only moves the edge of a sub-patch. Worker.

extension Reconciler {
  /// Lets notes go on that a closing cable holds, where another way leads from their source to the same node through nothing
  /// but edges of sub-patches: the cables of that way hold them from now on. `new`: cables of this edit.
  func handOverNotes(since new: [EngineCable]) {
    if work.closing.isEmpty { return }
    let new = Set(new.map(\.number))
    for cable in work.closing where cable.isLeaving && !cable.destination.isLeaving {
      let origins = origins(of: cable, before: new)
      let ways = origins.compactMap { way(from: $0, to: cable.destination) }
      // A source that no longer leads here must not leave notes behind.
      guard !ways.isEmpty, ways.count == origins.count else { continue }
      for next in ways.joined() { work.commands.append(.handOver(cable.slot, to: next.slot)) }
      work.commands.append(.handOver(cable.slot, to: nil))
    }
  }

  /// The nodes whose events come through a cable, through edges that are there or are just leaving.
  private func origins(of cable: EngineCable, before new: Set<Int32>) -> [EngineNode] {
    var found: [EngineNode] = []
    var seen: Set<Int32> = []
    var next = [cable.source]
    while let node = next.popLast() {
      guard seen.insert(node.number).inserted else { continue }
      if node.passesEvents {
        next += node.incoming.filter { $0.carriesEvents && !new.contains($0.number) }.map(\.source)
      } else {
        found.append(node)
      }
    }
    return found
  }

  /// The cables of the shortest way that the patch has now; nil: there is none.
  private func way(from origin: EngineNode, to destination: EngineNode) -> [EngineCable]? {
    var seen: Set<Int32> = [origin.number]
    var ways: [(node: EngineNode, cables: [EngineCable])] = [(origin, [])]
    while !ways.isEmpty {
      var longer: [(node: EngineNode, cables: [EngineCable])] = []
      for way in ways {
        for cable in way.node.outgoing where cable.carriesEvents && !cable.isLeaving && cable.slot != nil {
          let cables = way.cables + [cable]
          if cable.destination === destination { return cables }
          if cable.destination.passesEvents, seen.insert(cable.destination.number).inserted {
            longer.append((cable.destination, cables))
          }
        }
      }
      ways = longer
    }
    return nil
  }
}

extension EngineNode {
  /// An edge of a sub-patch that passes events as they are.
  fileprivate var passesEvents: Bool { takesEvents && type?.description.boundary != nil }
}
