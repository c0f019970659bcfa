import Realtime
import Synchronization

// Events between nodes, and the ledger of notes held by each cable. Audio thread, all of it.

extension StepRunner {
  /// Gathers the events of all cables in the node's queue. Returns true if there are any.
  @_noLocks func gatherEvents(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Bool {
    let queue = node.pointee.events
    var index = 0
    while index < Int(step.pointee.eventSourceCount) {
      let source = step.pointee.eventSources[index]
      pass(source.queue, source.cable, to: queue)
      index &+= 1
    }
    if node.pointee.endsAt < now &+ Int64(frames) {
      endAll(queue, offset: offset(of: node.pointee.endsAt))
      node.pointee.endsAt = .max
    }
    countDropped(queue)
    guard queue.pointee.count > 0 else { return false }
    if node.pointee.tracesNotes { traceEvents(node) }
    return true
  }

  /// Passes the events of one cable. A closing cable passes note-offs for its held notes; at its closing time
  /// all of them end.
  @_noLocks private func pass(
    _ source: UnsafeMutablePointer<EventQueue>, _ cable: UnsafeMutablePointer<CableSlot>,
    to queue: UnsafeMutablePointer<EventQueue>
  ) {
    let closing = cable.pointee.closesAt
    var end = closing < now &+ Int64(frames) ? offset(of: closing) : Int32.max
    let count = source.pointee.count
    var position = 0
    while position < count {
      let event = source.pointee[position]
      position &+= 1
      // By then it holds nothing any more.
      if event.offset > end {
        cable.pointee.held?.end(into: queue, offset: end)
        end = .max
      }
      if closing < .max, !passesClosing(event, cable, queue) { continue }
      cable.pointee.held?.track(event)
      queue.pointee.append(event)
    }
    if end < .max { cable.pointee.held?.end(into: queue, offset: end) }
  }

  /// True when a closing cable passes the event: the end of a held note, or panic. An all-notes-off ends the
  /// cable's own notes instead.
  @_noLocks private func passesClosing(
    _ event: Event, _ cable: UnsafeMutablePointer<CableSlot>, _ queue: UnsafeMutablePointer<EventQueue>
  ) -> Bool {
    guard event.isEnding, let held = cable.pointee.held else { return false }
    if held.holds(event) || event.kind == .allSoundOff { return true }
    if event.kind == .allNotesOff || event.kind == .control && event.key >= 120 {
      held.end(into: queue, offset: event.offset)
    }
    return false
  }

  /// Offset of a frame in this block; 0 for the past.
  @_noLocks private func offset(of frame: Int64) -> Int32 {
    frame > now ? Int32(truncatingIfNeeded: frame &- now) : 0
  }

  /// Ends every note of a node and releases its pedals.
  @_noLocks private func endAll(_ queue: UnsafeMutablePointer<EventQueue>, offset: Int32) {
    var channel: UInt8 = 0
    while channel < 16 {
      queue.pointee.append(Event(.control, channel: channel, key: 64, offset: offset))
      channel &+= 1
    }
    queue.pointee.append(Event(.allNotesOff, offset: offset))
  }

  /// Counts the events dropped by a full queue.
  @_noLocks func countDropped(_ queue: UnsafeMutablePointer<EventQueue>) {
    guard queue.pointee.dropped > 0 else { return }
    eventsDropped.store(
      eventsDropped.load(ordering: .relaxed) &+ queue.pointee.takeDropped(), ordering: .relaxed)
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
