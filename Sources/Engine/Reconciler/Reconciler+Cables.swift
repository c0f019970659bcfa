import Patch
import Realtime

// Cables: from the running ones to the intended ones, by crossfade. Worker.

extension Reconciler {
  /// True when realising the intent only moves a gain that the running plan applies.
  func isGainMove(_ intent: CableIntent) -> Bool {
    guard let cable = intent.cable, cable.key == intent.key, !cable.isFixed else { return false }
    return cable.isMixed || !cable.isLeaving && cable.target == intent.target
  }

  /// Realises each intent by a cable. Returns the new ones, not prepared yet.
  func realize(_ intents: [CableIntent], _ arrangement: Arrangement?) -> [EngineCable] {
    intents.compactMap { realize($0, arrangement) }
  }

  private func realize(_ intent: CableIntent, _ arrangement: Arrangement?) -> EngineCable? {
    // Events that would go round have no cable.
    if intent.isFeedback, intent.route.output == nil {
      if let cable = intent.cable { fadeOut(cable) }
      graph.removeCable(of: intent)
      return nil
    }
    var key = intent.key
    if let cable = intent.cable, cable.key == key, !cable.isFixed {
      retarget(cable, intent.target)
      return nil
    }
    if let old = intent.cable { fadeOut(old) }
    // An inaudible cable is replaced: it may still exist or not, depending on when the worker last ran.
    var known = graph.cables[key]
    if let old = known, old !== intent.cable, old.isLeaving, isInaudible(old) {
      graph.remove(old)
      drop(old)
      known = nil
    }
    // It keeps gains that the patch no longer implies.
    if known?.isFixed == true {
      graph.renew(intent)
      key = intent.key
      known = graph.cables[key]
    }
    if let known {
      if known.isTail {
        known.isTail = false
        move(known)
      }
      // It may have lost the map with its place in the patch.
      known.isMapped = engine.mappedCables.contains(intent.ends)
      retarget(known, intent.target)
      graph.setCable(known, of: intent)
      return nil
    }
    let cable = EngineCable(
      key: key, number: engine.makeCableNumber(), route: intent.route, target: intent.target,
      rows: engine.rows, pools: engine.pools)
    cable.isMapped = engine.mappedCables.contains(intent.ends)
    if !isFirst { cable.wait = key.delay + (arrangement?.readiness(of: cable.source) ?? 0) }
    graph.insert(cable)
    graph.setCable(cable, of: intent)
    work.needsPlan = true
    return cable
  }

  private func retarget(_ cable: EngineCable, _ target: Float) {
    guard cable.isLeaving || cable.target != target else { return }
    let wasLeaving = cable.isLeaving
    cable.isLeaving = false
    cable.target = target
    // A cable that the newest plan mixes needs no new plan for a gain change.
    if !cable.isMixed { work.needsPlan = true }
    if cable.carriesEvents {
      if wasLeaving {
        cable.settling = nil
        cable.isClosing = false
        work.commands.append(.close(cable.slot, after: -1))
      }
    } else {
      move(cable)
    }
  }

  func fadeOut(_ cable: EngineCable) {
    guard !cable.isLeaving else { return }
    cable.isLeaving = true
    graph.unsettle(cable)
    work.needsPlan = true
    if cable.carriesEvents {
      // An event cable into a leaving node keeps its notes while it fades: it may come back.
      if !cable.destination.isLeaving || cable.destination.isRinging {
        close(cable)
      } else {
        settle(cable, after: fade)
      }
    } else if cable.destination.isSink || !cable.destination.isLeaving || cable.destination.isRinging {
      cable.target = 0
      move(cable)
    }
  }

  /// An event cable ends its notes when an audio cable would have faded out. An edit that restores it earlier
  /// finds all notes held.
  private func close(_ cable: EngineCable) {
    cable.isClosing = true
    work.closing.append(cable)
    work.commands.append(.close(cable.slot, after: Int32(clamping: fade)))
    // The block in which it closes must be over before it is removed.
    settle(cable, after: fade + blockCapacity)
  }

  /// Fades out what the patch no longer has at nodes that came back: tails that they passed on, and cables
  /// that had kept their gain in front of a leaving node.
  func fadeOutOrphans(of nodes: [EngineNode]) {
    for node in nodes { endTails(of: node) }
    for node in nodes {
      for cable in node.incoming where cable.isLeaving {
        if cable.carriesEvents {
          if !cable.isClosing { close(cable) }
        } else if cable.target != 0 {
          cable.target = 0
          move(cable)
        }
      }
    }
  }

  /// Notes which cables' gains maps move from now on: the plan applies their gains, also at unity.
  func followMaps(from old: Set<Cable.Ends>) {
    for ends in old.symmetricDifference(engine.mappedCables) {
      guard let cable = graph[ends]?.cable else { continue }
      cable.isMapped = engine.mappedCables.contains(ends)
      if !cable.isMixed { (work.needsPlan, work.isLocal) = (true, false) }
    }
  }

  // MARK: Ends

  /// True when a cable or a node can go.
  var hasFinished: Bool {
    graph.unsettled.contains { $0.isLeaving && !$0.isGone && isFinished($0) }
      || !silentNodes().isEmpty
  }

  /// Removes cables whose fade has ended, and leaving nodes that are no longer audible.
  func removeFinished() {
    for cable in graph.unsettled where cable.isLeaving && !cable.isGone && isFinished(cable) {
      graph.remove(cable)
      drop(cable)
    }
    for node in silentNodes() {
      graph.remove(node) { drop($0) }
      work.left.append(node)
      work.needsPlan = true
      work.isLocal = false
      if node.slot != nil { work.garbage += graph.shelf.keep(node).map { .node($0) } }
    }
    graph.forgetSettled()
    graph.forgetGone()
  }

  /// Leaving nodes that are no longer audible: they feed no node that stays, and no fade, and no node that
  /// does.
  private func silentNodes() -> [EngineNode] {
    if graph.leaving.isEmpty { return [] }
    var audible = graph.leaving.filter { node in
      node.outgoing.contains { !$0.destination.isLeaving || $0.settling != nil && !$0.isTail }
        || node.incoming.contains { $0.settling != nil && !$0.isTail }
    }
    var kept = Set(audible.map(\.number))
    while let node = audible.popLast() {
      for cable in node.incoming where cable.source.isLeaving {
        if kept.insert(cable.source.number).inserted { audible.append(cable.source) }
      }
    }
    return graph.leaving.filter { !kept.contains($0.number) }
  }

  /// True when a leaving cable is no longer audible.
  func isFinished(_ cable: EngineCable) -> Bool {
    // Before the first frame nothing fades. A cable that counted until the first block was over would decide
    // which others are delayed, and for how long would depend on the driver's period.
    if isFirst { return true }
    guard cable.settling == nil || isInaudible(cable) && !isWithinCell else { return false }
    // Its destination is back, and its fade has not begun yet.
    let fades = cable.carriesEvents ? cable.isClosing : cable.target == 0
    if !fades, !cable.destination.isLeaving { return false }
    return !cable.destination.isLeaving || cable.destination.isRinging || cable.destination.isSink
      || cable.isClosing
  }

  /// The edit's frame is not where a block ends anyway. What it took away would end the block, and every node would run
  /// twice: it goes with the end of its fade instead.
  private var isWithinCell: Bool { isExact && time & Int64(blockCapacity - 1) != 0 }

  /// Evaluated for edits only, since an edit's time is part of the script. The times at which the patch follows maps, and
  /// of a recompilation, depend on the driver's period.
  func isInaudible(_ cable: EngineCable) -> Bool {
    if cable.target == 0, inaudible.contains(ObjectIdentifier(cable)) { return true }
    guard !request.isRecompiling, !request.isMoved else { return false }
    let found = cable.isInaudible(at: time, isExact: isExact)
    if !found.isKnown { work.hasGuessed = true }
    guard found.isInaudible else { return false }
    inaudible.insert(ObjectIdentifier(cable))
    return true
  }

  private func drop(_ cable: EngineCable) {
    work.needsPlan = true
    work.isLocal = false
    work.garbage.append(.cable(cable))
  }
}
