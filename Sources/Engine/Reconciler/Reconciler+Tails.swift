// Nodes that ring out: removed from the patch, their inputs fade, and their outputs stay until the tail is
// over. Worker.

extension Reconciler {
  /// Longest tail of a removed node, in seconds.
  static let longestTail = 60.0

  /// True when the node has a tail that can end. A node without inputs, such as an oscillator, would ring for
  /// ever.
  func mayRingOut(_ node: EngineNode) -> Bool {
    !isFirst && node.slot != nil && node.type?.description.inputs.isEmpty == false
  }

  /// Starts the tail of a node that was just removed. Its notes end when its inputs have faded.
  func startTail(of node: EngineNode) {
    node.isRinging = true
    engine.record(.ringingOut, node)
    if node.takesEvents { work.commands.append(.end(node.slot, after: Int32(clamping: fade))) }
  }

  /// True when this cable passes its source's tail on.
  func passesTail(_ cable: EngineCable) -> Bool {
    let destination = cable.destination
    return cable.source.isRinging && !cable.carriesEvents && !cable.isLeaving
      && (!destination.isLeaving || destination.isRinging)
  }

  func startTail(through cable: EngineCable) {
    cable.isTail = true
    cable.settling = .unsent(frames: Int((Self.longestTail * engine.rate).rounded()))
    graph.unsettle(cable)
    work.fading.append(cable)
    work.needsPlan = true
  }

  /// Ends the tails whose time is over.
  func endTails() {
    for cable in graph.unsettled where cable.isTail && cable.settling == nil && !cable.isGone {
      endTail(cable)
    }
  }

  /// Ends the old outputs of a node that is back: cables that the patch no longer has.
  func endTails(of node: EngineNode) {
    for cable in node.outgoing where cable.isTail { endTail(cable) }
  }

  func endTail(_ cable: EngineCable) {
    let isSilent = cable.source.hasRungOut
    cable.isTail = false
    cable.settling = nil
    if isSilent {
      // No fade: it would restart the fades beside it at a time that depends on the driver's period.
      cable.isLeaving = true
      cable.target = 0
      work.needsPlan = true
    } else {
      fadeOut(cable)
    }
    let source = cable.source
    guard source.isRinging, !source.outgoing.contains(where: \.isTail) else { return }
    source.isRinging = false
    engine.record(.fadingOut(seconds: Double(fade) / engine.rate), source)
  }
}
