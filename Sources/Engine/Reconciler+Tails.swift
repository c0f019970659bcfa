// Nodes that ring out: gone from the patch, their inputs fade, their outputs stay until nothing more
// comes from them. Worker.

extension Reconciler {
  /// Seconds that a removed node may ring at most.
  static let longestTail = 60.0

  /// What has nothing that could end, such as an oscillator, would ring for ever.
  func mayRing(_ node: EngineNode) -> Bool {
    !isFirst && node.slot != nil && node.type?.description.inputs.isEmpty == false
  }

  /// The node has just been taken out of the patch: its notes end when its inputs have faded.
  func ring(_ node: EngineNode) {
    node.isRinging = true
    engine.note(.ringingOut, node)
    if node.takesEvents { work.commands.append(.end(node.slot, after: Int32(clamping: fade))) }
  }

  /// Whether what its source still has to say goes on through this cable.
  func mayRing(_ cable: EngineCable) -> Bool {
    let destination = cable.destination
    return cable.source.isRinging && !cable.carriesEvents && !cable.isLeaving
      && (!destination.isLeaving || destination.isRinging)
  }

  func ring(_ cable: EngineCable) {
    cable.isTail = true
    cable.settling = .unsent(frames: Int((Self.longestTail * engine.rate).rounded()))
    graph.unsettle(cable)
    work.fading.append(cable)
    work.needsPlan = true
  }

  /// Ends the tails that have been long enough.
  func endTails() {
    for cable in graph.unsettled where cable.isTail && cable.settling == nil && !cable.isGone {
      endTail(cable)
    }
  }

  /// What a node that is back does not say through the patch any more.
  func endTails(of node: EngineNode) {
    for cable in node.outgoing where cable.isTail { endTail(cable) }
  }

  func endTail(_ cable: EngineCable) {
    let isSilent = cable.source.hasRungOut
    cable.isTail = false
    cable.settling = nil
    if isSilent {
      // No fade: one would restart those beside it, at a time that depends on the driver's period.
      cable.isLeaving = true
      cable.target = 0
      work.needsPlan = true
    } else {
      leave(cable)
    }
    let source = cable.source
    guard source.isRinging, !source.outgoing.contains(where: \.isTail) else { return }
    source.isRinging = false
    engine.note(.fadingOut(seconds: Double(fade) / engine.rate), source)
  }
}

extension Engine {
  /// Lets a node that rings leave half a second after it fell asleep: then an undo finds it or does not
  /// whatever the driver's period is, as the worker knows of it before.
  func hearOut(_ node: EngineNode) {
    let since = node.slot.pointee.asleepSince.load(ordering: .relaxed)
    // What comes in through a fade, or from what rings itself, may wake it.
    guard since >= 0, node.incoming.allSatisfy({ $0.isTail && ($0.source === node || $0.source.hasRungOut) })
    else { return }
    let longest = Int64((Reconciler.longestTail * rate).rounded())
    for cable in node.outgoing where cable.isTail {
      guard case .at(let end) = cable.settling else { return }
      cable.settling = .at(min(end, max(since, end - longest) + Int64(rate / 2)))
    }
    node.hasRungOut = true
  }
}
