import Realtime

// Events between nodes, and the ledger of what each cable holds. Audio thread, all of it.

extension StepRunner {
  /// Takes the events of all cables into the node's queue; says whether there are any.
  @_noLocks func gatherEvents(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    let queue = node.pointee.events
    var index = 0
    while index < Int(step.pointee.eventSourceCount) {
      let source = step.pointee.eventSources[index]
      if source.cable.pointee.isReleased {
        source.cable.pointee.held?.end(into: queue)
      } else {
        let count = source.queue.pointee.count
        var position = 0
        while position < count {
          let event = source.queue.pointee[position]
          source.cable.pointee.held?.note(event)
          queue.pointee.append(event)
          position &+= 1
        }
      }
      index &+= 1
    }
    guard queue.pointee.count > 0 else { return false }
    if node.pointee.tracesNotes { traceEvents(node) }
    return true
  }

  @_noLocks func traceEvents(_ node: UnsafeMutablePointer<NodeSlot>) {
    let count = node.pointee.events.pointee.count
    var index = 0
    while index < count {
      let event = node.pointee.events.pointee[index]
      var record = TraceRecord(
        time: now &+ Int64(event.offset), node: node.pointee.number, event: event)
      switch event.kind {
      case .noteOn:
        node.pointee.held.store(node.pointee.held.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      case .noteOff:
        let held = node.pointee.held.load(ordering: .relaxed)
        if held > 0 { node.pointee.held.store(held &- 1, ordering: .relaxed) }
      case .allNotesOff, .allSoundOff: node.pointee.held.store(0, ordering: .relaxed)
      default: break
      }
      if !trace.push(&record) {
        traceDropped.store(traceDropped.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
      index &+= 1
    }
  }
}
