import Realtime

// Nodes: silence, sleep, processing, levels. Audio thread, all of it.

extension Renderer {
  @_noLocks final func runNode(
    _ step: UnsafeMutablePointer<Step>, _ scratch: UnsafeMutablePointer<Float>
  ) {
    guard let node = step.pointee.node else { return }
    let frames = block.frames
    let hasEvents = gatherEvents(step, node)

    var isQuiet = true
    let inputCount = step.pointee.inputCount
    var index = 0
    while index < inputCount &+ step.pointee.modulationCount {
      let binding = step.pointee.bindings[index]
      let isSilent = binding.silence.pointee
      step.pointee.inputs[index].isSilent = isSilent
      step.pointee.inputs[index].channels = isSilent ? UnsafePointer(zeroChannels) : binding.channels
      if !isSilent { isQuiet = false }
      index &+= 1
    }

    let position = Int(block.time & 63)
    let endsCell = position &+ frames == blockCapacity
    if node.pointee.isAsleep {
      if isQuiet, !hasEvents, !node.pointee.isMoving {
        silence(step)
        return
      }
      node.pointee.isAsleep = false
      if position > 0 { makeUp(step, node, scratch, frames: position) }
    }

    prepareParameters(step, node, scratch, restingOnly: false)
    let activity = process(step, node)
    if hasEvents { node.pointee.events.pointee.removeAll() }

    let isSilent = activity == .silent
    index = 0
    while index < step.pointee.outputCount {
      step.pointee.outputSilence[index] = isSilent
      index &+= 1
    }
    if node.pointee.isSilent.load(ordering: .relaxed) != (isSilent && isQuiet) {
      node.pointee.isSilent.store(isSilent && isQuiet, ordering: .relaxed)
    }
    if !isSilent, isMetering.load(ordering: .relaxed) { meter(step, node) }
    if node.pointee.tracesNotes {
      node.pointee.voices.store(dispatchVoices(node.pointee.tag, node.pointee.kernel), ordering: .relaxed)
    }

    if !isQuiet || hasEvents { node.pointee.isCellSilent = false }
    if endsCell {
      if node.pointee.isMoving { settle(node) }
      if node.pointee.isCellSilent, !node.pointee.isMoving, isSilent,
        dispatchIsFinished(node.pointee.tag, node.pointee.kernel)
      {
        node.pointee.isAsleep = true
      }
      node.pointee.isCellSilent = true
    }
  }

  /// Runs a waking node over the silence that began this 64-frame cell: with it, waking does not depend
  /// on where blocks begin. What comes out is silence too, and is written over.
  @_noLocks private final func makeUp(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>,
    _ scratch: UnsafeMutablePointer<Float>, frames: Int
  ) {
    let inputs = step.pointee.inputs
    let count = step.pointee.inputCount &+ step.pointee.modulationCount
    var index = 0
    while index < count {
      inputs[index].isSilent = true
      inputs[index].channels = UnsafePointer(zeroChannels)
      index &+= 1
    }
    let queued = node.pointee.events.pointee
    node.pointee.events.pointee.removeAll()
    prepareParameters(step, node, scratch, restingOnly: true)
    let now = block
    block.frames = frames
    block.time &-= Int64(frames)
    _ = process(step, node)
    block = now
    node.pointee.events.pointee = queued
    index = 0
    while index < count {
      let binding = step.pointee.bindings[index]
      if !binding.silence.pointee {
        inputs[index].isSilent = false
        inputs[index].channels = binding.channels
      }
      index &+= 1
    }
  }

  @_noLocks private final func silence(_ step: UnsafeMutablePointer<Step>) {
    var index = 0
    while index < step.pointee.outputCount {
      step.pointee.outputSilence[index] = true
      index &+= 1
    }
    if let node = step.pointee.node {
      node.pointee.eventOutput?.pointee.removeAll()
      if !node.pointee.isSilent.load(ordering: .relaxed) {
        node.pointee.isSilent.store(true, ordering: .relaxed)
      }
    }
  }

  @_noLocks private final func process(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) -> Activity {
    block.inputs = UnsafePointer(step.pointee.inputs)
    block.outputs = UnsafePointer(step.pointee.outputs)
    block.parameters = UnsafePointer(node.pointee.streams)
    block.crossfades = UnsafePointer(node.pointee.crossfades)
    block.events = UnsafePointer(node.pointee.events)
    block.eventOutput = node.pointee.eventOutput
    node.pointee.eventOutput?.pointee.removeAll()
    return dispatchProcess(node.pointee.tag, node.pointee.kernel, block)
  }

  @_noLocks private final func peak(of samples: UnsafePointer<Float>, _ frames: Int) -> Float {
    var lanes = SIMD16<Float>(repeating: 0)
    var frame = 0
    while frame &+ 16 <= frames {
      let next = UnsafeRawPointer(samples + frame).load(as: SIMD16<Float>.self)
      lanes = pointwiseMax(lanes, pointwiseMax(next, -next))
      frame &+= 16
    }
    var peak = lanes.max()
    while frame < frames {
      let size = samples[frame].magnitude
      if size > peak { peak = size }
      frame &+= 1
    }
    return peak
  }

  @_noLocks private final func meter(
    _ step: UnsafeMutablePointer<Step>, _ node: UnsafeMutablePointer<NodeSlot>
  ) {
    let frames = block.frames
    var slot = 0
    var port = 0
    while port < step.pointee.outputCount {
      let output = step.pointee.outputs[port]
      var channel = 0
      while channel < output.count, slot < node.pointee.peakCount {
        let peak = peak(of: output[channel], frames)
        let bits = peak.bitPattern
        if bits > node.pointee.peaks[slot].load(ordering: .relaxed) {
          node.pointee.peaks[slot].store(bits, ordering: .relaxed)
        }
        slot &+= 1
        channel &+= 1
      }
      port &+= 1
    }
  }
}
