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
        endHeldNotes(source.cable, queue)
      } else {
        let count = source.queue.pointee.count
        var position = 0
        while position < count {
          let event = source.queue.pointee[position]
          keepAccount(source.cable, event)
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

  /// The ledger of what a cable of events holds.
  @_noLocks func keepAccount(_ cable: UnsafeMutablePointer<CableSlot>, _ event: Event) {
    guard let held = cable.pointee.heldNotes else { return }
    let word = Int(event.channel & 15) &* 2 &+ Int(event.key >> 6 & 1)
    let bit = UInt64(1) << UInt64(event.key & 63)
    switch event.kind {
    case .noteOn: held[word] |= bit
    case .noteOff: held[word] &= ~bit
    case .control where event.key == 64:
      let mask = UInt32(1) << UInt32(event.channel & 15)
      if event.value >= 64 { cable.pointee.pedals |= mask } else { cable.pointee.pedals &= ~mask }
    case .allNotesOff, .allSoundOff:
      var index = 0
      while index < 32 {
        held[index] = 0
        index &+= 1
      }
      cable.pointee.pedals = 0
    default: return
    }
  }

  @_noLocks func endHeldNotes(
    _ cable: UnsafeMutablePointer<CableSlot>, _ queue: UnsafeMutablePointer<EventQueue>
  ) {
    guard let held = cable.pointee.heldNotes else { return }
    var word = 0
    while word < 32 {
      var bits = held[word]
      while bits != 0 {
        let bit = bits.trailingZeroBitCount
        bits &= bits &- 1
        queue.pointee.append(
          Event(
            .noteOff, channel: UInt8(truncatingIfNeeded: word >> 1),
            key: UInt8(truncatingIfNeeded: (word & 1) &* 64 &+ bit), value: 64))
      }
      held[word] = 0
      word &+= 1
    }
    var channel = 0
    while cable.pointee.pedals != 0, channel < 16 {
      if cable.pointee.pedals & (1 << UInt32(channel)) != 0 {
        queue.pointee.append(
          Event(.control, channel: UInt8(truncatingIfNeeded: channel), key: 64, value: 0))
      }
      channel &+= 1
    }
    cable.pointee.pedals = 0
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
