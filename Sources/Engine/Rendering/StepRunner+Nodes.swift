import Realtime

// Nodes: silence, sleep, processing, levels. Audio thread, all of it.

extension StepRunner {
  /// The fastest way, of nodes that read one buffer at most (`Step.Operation.processDirect`), while that sounds, they are at
  /// rest and no meter runs. False: nothing has happened, and the node has to be run as plain ones are.
  @inline(__always) @_noLocks mutating func runDirectNode(_ step: UnsafeMutablePointer<Step>) -> Bool {
    let node = step.pointee.node
    let isSource = step.pointee.portCount == 0
    guard
      isSource || !step.pointee.bindings.pointee.silence.pointee && !step.pointee.ports.pointee.isSilent,
      node.pointee.isPlain, node.pointee.modulated == 0
    else { return false }
    let isSilent = process(step, node) == .silent
    if isSource, isSilent {
      conclude(step, node, isSilent: true, isQuiet: true, hasEvents: false)
    } else {
      step.pointee.outputSilence[0] = isSilent
      noteInput(node, isSource: isSource)
    }
    return true
  }

  /// Fast path for most nodes in most blocks: no parameter moves by itself, the same ones are modulated as before, no meter
  /// runs; or the node sleeps.
  @inline(__always) @_noLocks mutating func runPlainNode(_ step: UnsafeMutablePointer<Step>) {
    let node = step.pointee.node
    var isQuiet = true
    let isSource = step.pointee.portCount == 0
    if step.pointee.portCount == 1 {
      if step.pointee.bindings.pointee.sum != nil { sumInput(step.pointee.bindings) }
      isQuiet = bind(step.pointee.ports, step.pointee.bindings)
    } else if !isSource {
      isQuiet = sumAndBind(step)
    }
    // Without a sound that comes in it may have a tail, or no end.
    let isTail = isQuiet && !isSource
    guard !node.pointee.isAsleep, !node.pointee.isMoving, node.pointee.modulated == step.pointee.modulated,
      !isMetering, !isTail || step.pointee.modulated == 0
    else {
      if !isQuiet || !node.pointee.isAsleep || node.pointee.isMoving || node.pointee.isMuted { runNode(step) }
      return
    }
    if step.pointee.modulated != 0 { modulateAll(step, node) }
    var isSilent = (isTail || !step.pointee.isPassage) && process(step, node) == .silent
    if isSource, isSilent { return conclude(step, node, isSilent: true, isQuiet: true, hasEvents: false) }
    if !isSilent, step.pointee.mayGrow || node.pointee.amplifies, isUnfit(step.pointee.context.outputs[0]) {
      isSilent = mute(step, node)
    }
    if isTail { return conclude(step, node, isSilent: isSilent, isQuiet: true, hasEvents: false) }
    step.pointee.outputSilence[0] = isSilent
    if node.pointee.hasReadings, areReadingsDue(node) { publishReadings(node) }
    noteInput(node, isSource: isSource)
  }

  /// Sums and binds several inputs; true if all are silent. Apart from the one of most nodes, which needs fewer registers.
  @inline(never) @_noLocks private func sumAndBind(_ step: UnsafeMutablePointer<Step>) -> Bool {
    var isQuiet = true
    var (port, binding) = (step.pointee.ports, step.pointee.bindings)
    let end = binding + Int(step.pointee.portCount)
    while binding != end {
      if binding.pointee.sum != nil { sumInput(binding) }
      if !bind(port, binding) { isQuiet = false }
      port += 1
      binding += 1
    }
    return isQuiet
  }

  /// Notes that sound comes into a node at rest, and out of it.
  @inline(__always) @_noLocks func noteSound(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) {
    step.pointee.outputSilence[0] = false
    noteInput(node)
  }

  /// The cell of a source is silent until an event or a sounding input comes, which it has none of.
  @inline(__always) @_noLocks func noteInput(
    _ node: UnsafeMutablePointer<NodeSlot>, isSource: Bool = false
  ) {
    if node.pointee.isSilent.load(ordering: .relaxed) {
      node.pointee.isSilent.store(false, ordering: .relaxed)
    }
    if !isSource, node.pointee.isCellSilent != endsCell { node.pointee.isCellSilent = endsCell }
  }

  @_noLocks mutating func runNode(_ step: UnsafeMutablePointer<Step>) {
    let node = step.pointee.node
    let isQuiet = bindInputs(step)
    let hasEvents = step.pointee.takesEvents && gatherEvents(step, node)
    if let queue = step.pointee.context.eventOutput { queue.pointee.removeAll() }
    if node.pointee.isAsleep {
      if node.pointee.isMuted { return stayMuted(step, node) }
      // Its outputs have been marked silent since it fell asleep, and are so in every new plan.
      if isQuiet, !hasEvents, !node.pointee.isMoving { return }
      node.pointee.isAsleep = false
      node.pointee.asleepSince.store(-1, ordering: .relaxed)
      if now & 63 != 0 { runSilentStart(step, node) }
    }
    if node.pointee.isMoving || node.pointee.modulated != 0
      || step.pointee.portCount > step.pointee.inputCount
    {
      prepareParameters(step, node, restingOnly: false)
    }

    let activity = process(step, node)
    if hasEvents { node.pointee.events.pointee.removeAll() }
    if let queue = step.pointee.context.eventOutput { countDropped(queue) }

    var isSilent = activity == .silent
    if !isSilent, step.pointee.mayGrow || node.pointee.amplifies || isMetering {
      isSilent = inspect(step, node)
    }
    conclude(step, node, isSilent: isSilent, isQuiet: isQuiet, hasEvents: hasEvents)
  }

  /// Tells what the block was, and lets the node sleep after a silent cell.
  @_noLocks private func conclude(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>, isSilent: Bool,
    isQuiet: Bool, hasEvents: Bool
  ) {
    var index = 0
    while index < Int(step.pointee.outputCount) {
      step.pointee.outputSilence[index] = isSilent
      index &+= 1
    }
    if node.pointee.isSilent.load(ordering: .relaxed) != (isSilent && isQuiet) {
      node.pointee.isSilent.store(isSilent && isQuiet, ordering: .relaxed)
    }
    if node.pointee.tracesNotes {
      let voices = dispatchVoices(node.pointee.tag, node.pointee.kernel)
      node.pointee.voices.store(Int32(truncatingIfNeeded: voices), ordering: .relaxed)
    }
    if node.pointee.readingCount > 0 { publishReadings(node) }

    let isCellSilent = node.pointee.isCellSilent && isQuiet && !hasEvents
    if endsCell {
      if node.pointee.isMoving { settle(node) }
      // A kernel drops an inaudible remainder when asked, and is silent from then on.
      if isCellSilent, !node.pointee.isMoving,
        dispatchIsFinished(node.pointee.tag, node.pointee.kernel), isSilent
      {
        node.pointee.isAsleep = true
        node.pointee.asleepSince.store(now &+ Int64(frames), ordering: .relaxed)
      }
    }
    // Rarely changes, so the write is avoided.
    if node.pointee.isCellSilent != (isCellSilent || endsCell) {
      node.pointee.isCellSilent = isCellSilent || endsCell
    }
  }

  /// True in one of eight cells, of each node in another: figures may cost as much as the sound, and nobody meters. Those of a
  /// foreign kernel may count its blocks.
  @inline(__always) @_noLocks private func areReadingsDue(_ node: UnsafeMutablePointer<NodeSlot>) -> Bool {
    // By its address, which is at hand.
    let place = Int64(truncatingIfNeeded: Int(bitPattern: node)) & ~63
    return (now &+ place) & 511 == 0 || node.pointee.tag == .foreign
  }

  /// Publishes the figures of the kernel's report.
  @inline(never) @_noLocks private func publishReadings(_ node: UnsafeMutablePointer<NodeSlot>) {
    var position = 0
    while position < Int(node.pointee.readingCount) {
      let figure = dispatchReading(node.pointee.tag, node.pointee.kernel, position)
      node.pointee.readings[position].store(figure.bitPattern, ordering: .relaxed)
      position &+= 1
    }
  }

  /// Points the node's ports at their inputs, or at zeros. Returns true if all are silent.
  @inline(__always) @_noLocks private func bindInputs(_ step: UnsafeMutablePointer<Step>) -> Bool {
    var isQuiet = true
    var index = 0
    while index < Int(step.pointee.portCount) {
      if !bind(step.pointee.ports + index, step.pointee.bindings + index) { isQuiet = false }
      index &+= 1
    }
    return isQuiet
  }

  /// Points a port at its input, or at zeros; left alone if it is as in the last block. Returns true if it is silent.
  @inline(__always) @_noLocks private func bind(
    _ port: UnsafeMutablePointer<InputPort>, _ binding: UnsafeMutablePointer<InputBinding>
  ) -> Bool {
    let isSilent = binding.pointee.silence.pointee
    if port.pointee.isSilent != isSilent { bind(port, binding, isSilent) }
    return isSilent
  }

  @inline(never) @_noLocks private func bind(
    _ port: UnsafeMutablePointer<InputPort>, _ binding: UnsafeMutablePointer<InputBinding>, _ isSilent: Bool
  ) {
    port.pointee.isSilent = isSilent
    port.pointee.channels = isSilent ? zeros : binding.pointee.channels
  }

  /// Runs a waking node over the silent start of this 64-frame cell, so that waking does not depend on block
  /// boundaries. The output is silence too, and is overwritten.
  @_noLocks private mutating func runSilentStart(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) {
    var index = 0
    while index < Int(step.pointee.portCount) {
      bind(step.pointee.ports + index, step.pointee.bindings + index, true)
      index &+= 1
    }
    // Nodes that take no events share one queue, which stays empty.
    let queued = node.pointee.events.pointee
    if step.pointee.takesEvents { node.pointee.events.pointee.removeAll() }
    let (whole, time) = (frames, now)
    setTime(to: time & ~63, frames: Int(time & 63))
    prepareParameters(step, node, restingOnly: true)
    _ = process(step, node)
    setTime(to: time, frames: whole)
    if step.pointee.takesEvents { node.pointee.events.pointee = queued }
    step.pointee.context.eventOutput?.pointee.removeAll()
    _ = bindInputs(step)
  }

  @inline(__always) @_noLocks private func process(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Activity {
    let surroundings = UnsafeRawPointer(step).assumingMemoryBound(to: NodeContext.self)
    let kernel = node.pointee.kernel.assumingMemoryBound(to: AnyKernel.self)
    return kernel.pointee.process(Block(context, surroundings), node.pointee.tag)
  }
}
