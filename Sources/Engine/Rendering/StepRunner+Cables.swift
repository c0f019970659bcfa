import Realtime

// Mixing, gains, channel maps and delays. Audio thread, all of it.

extension StepRunner {
  /// Sums the cables into all inputs of a node.
  @_noLocks func sumInputs(_ step: UnsafeMutablePointer<Step>) {
    var binding = step.pointee.bindings
    let end = binding + Int(step.pointee.portCount)
    while binding != end {
      if binding.pointee.sum != nil { sumInput(binding) }
      binding += 1
    }
  }

  /// Sums the cables into an input, if there is something to sum.
  @inline(never) @_noLocks func sumInput(_ binding: UnsafeMutablePointer<InputBinding>) {
    guard let sum = binding.pointee.sum, !isLeftToNode(binding, sum) else { return }
    if isWhole(sum), !sum.pointee.mayBeDirect { _ = addWhole(sum) } else { write(sum, binding) }
  }

  /// True if a sum is that of blocks as they are, times gains at rest.
  @inline(__always) @_noLocks func isWhole(_ sum: UnsafeMutablePointer<InletSum>) -> Bool {
    sum.pointee.settledAt == moves && sum.pointee.isSimple
  }

  /// True if a modulation by one cable is left to the node as in the block before.
  @inline(__always) @_noLocks func isLeftToNode(
    _ binding: UnsafeMutablePointer<InputBinding>, _ sum: UnsafeMutablePointer<InletSum>
  ) -> Bool {
    guard binding.pointee.direct != nil, sum.pointee.settledAt == moves else { return false }
    return areSounding(sum.pointee.sources, sum.pointee.sources + 1)
  }

  /// Sums the cables, in the plan's order.
  @inline(never) @_noLocks private func write(
    _ inlet: UnsafeMutablePointer<InletSum>, _ binding: UnsafeMutablePointer<InputBinding>
  ) {
    if inlet.pointee.mayBeDirect, leaveToNode(inlet, binding) { return }
    if isWhole(inlet) {
      _ = addWhole(inlet)
      return
    }
    inlet.pointee.wereAllHeard = false
    var sum = MixSum(inlet.pointee.output, frames: frames, room: summands)
    if inlet.pointee.settledAt == moves { addSettled(inlet, to: &sum) } else { addAll(inlet, to: &sum) }
    inlet.pointee.silence.pointee = !sum.finish()
  }

  /// Leaves a modulation by one cable to the node, which adds it to the parameter's own value.
  @inline(__always) @_noLocks private func leaveToNode(
    _ inlet: UnsafeMutablePointer<InletSum>, _ binding: UnsafeMutablePointer<InputBinding>
  ) -> Bool {
    let source = inlet.pointee.sources
    guard inlet.pointee.settledAt == moves, inlet.pointee.isSimple, inlet.pointee.sourceCount == 1,
      areSounding(source, source + 1)
    else {
      binding.pointee.direct = nil
      return false
    }
    binding.pointee.direct = source.pointee.base
    binding.pointee.gain = source.pointee.gain
    inlet.pointee.silence.pointee = false
    return true
  }

  /// Adds the sources while all gains are at rest.
  @inline(__always) @_noLocks private func addSettled(
    _ inlet: UnsafeMutablePointer<InletSum>, to sum: inout MixSum
  ) {
    let isSimple = inlet.pointee.isSimple
    var source = inlet.pointee.sources
    let end = source + Int(inlet.pointee.sourceCount)
    while source != end {
      let rest = end - source
      let next = source + (rest < MixSum.most ? rest : MixSum.most)
      if isSimple, areSounding(source, next) {
        sum.add(source, next - source)
        source = next
        continue
      }
      while source != next {
        let isSilent = isSilent(source)
        if isSilent != source.pointee.wasSilent { publish(source, isSilent: isSilent) }
        if source.pointee.isShaped {
          sum.add(shaped: source, offset: offset(of: source), isSilent: isSilent, times: nil)
        } else if !isSilent, source.pointee.gain != 0 {
          sum.add(source, offset: offset(of: source))
        }
        source += 1
      }
    }
  }

  /// True if all of these cables bring sound, as in their last block.
  @inline(__always) @_noLocks func areSounding(
    _ start: UnsafeMutablePointer<MixSource>, _ end: UnsafeMutablePointer<MixSource>
  ) -> Bool {
    var source = start
    while source != end {
      if source.pointee.wasSilent || source.pointee.silence.pointee { return false }
      source += 1
    }
    return true
  }

  /// Adds the sources, and looks how each gain moves.
  @_noLocks private func addAll(_ inlet: UnsafeMutablePointer<InletSum>, to sum: inout MixSum) {
    var isSettled = true
    var isSimple = true
    var isUnity = true
    var source = inlet.pointee.sources
    let end = source + Int(inlet.pointee.sourceCount)
    while source != end {
      let cable = source.pointee.cable
      if cable.pointee.nextStart <= now { cable.pointee.beginMove() }
      let isSilent = isSilent(source)
      let isMoving = cable.pointee.gain.isMoving || cable.pointee.nextStart < now &+ Int64(frames)
      if source.pointee.wasSilent != isSilent || cable.pointee.isSilent.load(ordering: .relaxed) != isSilent {
        publish(source, isSilent: isSilent)
      }
      publishGain(cable)
      source.pointee.gain = source.pointee.coefficient * cable.pointee.gain.target
      if isSilent, !source.pointee.isShaped {
        cable.pointee.advance(frames, at: now)
        if isMoving { publishGain(cable) }
      } else if isMoving {
        addMoving(source, isSilent: isSilent, to: &sum)
      } else if source.pointee.isShaped {
        sum.add(shaped: source, offset: offset(of: source), isSilent: isSilent, times: nil)
      } else if source.pointee.gain != 0 {
        sum.add(source, offset: offset(of: source))
      }
      if isMoving { source.pointee.gain = source.pointee.coefficient * cable.pointee.gain.target }
      if cable.pointee.gain.isMoving || cable.pointee.nextStart < .max { isSettled = false }
      if source.pointee.taps != nil || source.pointee.isDelayed || source.pointee.gain == 0
        || source.pointee.isShaped
      {
        isSimple = false
      }
      if source.pointee.gain != 1 { isUnity = false }
      source += 1
    }
    inlet.pointee.isSimple = isSimple
    inlet.pointee.isUnity = isSimple && isUnity
    let count = inlet.pointee.sourceCount
    inlet.pointee.isFew = isSimple && isUnity && count > 1 && count <= 4
    if isSettled { inlet.pointee.settledAt = moves }
  }

  @inline(__always) @_noLocks private func isSilent(_ source: UnsafeMutablePointer<MixSource>) -> Bool {
    source.pointee.isDelayed
      ? source.pointee.cable.pointee.isSilent(at: now) : source.pointee.silence.pointee
  }

  /// Place in a delayed cable's ring.
  @inline(__always) @_noLocks private func offset(of source: UnsafeMutablePointer<MixSource>) -> Int {
    guard source.pointee.isDelayed else { return 0 }
    let cable = source.pointee.cable
    return (Int(truncatingIfNeeded: now) &- cable.pointee.delay) & (cable.pointee.ringFrames &- 1)
  }

  /// Tells the worker whether a cable brings sound.
  @inline(__always) @_noLocks func publish(_ source: UnsafeMutablePointer<MixSource>, isSilent: Bool) {
    source.pointee.wasSilent = isSilent
    source.pointee.cable.pointee.isSilent.store(isSilent, ordering: .relaxed)
  }

  /// Tells the worker a cable's gain.
  @inline(__always) @_noLocks private func publishGain(_ cable: UnsafeMutablePointer<CableSlot>) {
    let isMoving = cable.pointee.gain.isMoving
    let gain = isMoving ? cable.pointee.gain.value : cable.pointee.gain.target
    let ceiling = isMoving ? cable.pointee.gain.ceiling : abs(gain)
    if cable.pointee.gainNow.load(ordering: .relaxed) != gain.bitPattern {
      cable.pointee.gainNow.store(gain.bitPattern, ordering: .relaxed)
    }
    if cable.pointee.ceilingNow.load(ordering: .relaxed) != ceiling.bitPattern {
      cable.pointee.ceilingNow.store(ceiling.bitPattern, ordering: .relaxed)
    }
  }

  @_noLocks private func addMoving(
    _ source: UnsafeMutablePointer<MixSource>, isSilent: Bool, to sum: inout MixSum
  ) {
    let cable = source.pointee.cable
    cable.pointee.advance(frames, at: now, writing: gains)
    if !cable.pointee.gain.isMoving { publishGain(cable) }
    if source.pointee.isShaped {
      sum.add(shaped: source, offset: offset(of: source), isSilent: isSilent, times: gains)
    } else {
      sum.add(source, offset: offset(of: source), times: gains)
    }
  }

  /// Writes a node's output into the ring of a delayed cable.
  @_noLocks func fillDelay(_ step: UnsafeMutablePointer<Step>) {
    let frames = frames
    let source = step.pointee.source.pointee
    guard let ring = source.cable.pointee.ring else { return }
    let isSilent = source.silence.pointee
    if isSilent, source.cable.pointee.holdsZeros(at: now) { return }
    let end = now &+ Int64(frames)
    if !isSilent { source.cable.pointee.markWritten(until: end) }
    let ringFrames = source.cable.pointee.ringFrames
    let stride = source.cable.pointee.ringStride
    let position = Int(truncatingIfNeeded: now) & (ringFrames &- 1)
    var magnitudes = Magnitudes()
    var index = 0
    while index < Int(source.count) {
      let target = ring + (index &* stride &+ position)
      if isSilent {
        setMemory(target, 0, frames &* 4)
      } else {
        let channel = source.base + index &* Int(source.stride)
        copyMemory(target, channel, frames &* 4)
        magnitudes.add(channel, frames)
      }
      // A block never crosses a multiple of 64, so it lies either in the first cell or beyond it.
      if position < blockCapacity { copyMemory(target + ringFrames, UnsafePointer(target), frames &* 4) }
      index &+= 1
    }
    // In a loop each node waits for the others to fall silent: what still goes round is dropped when it is inaudible, as
    // kernels drop it. It is read whole cells later, so the split into blocks does not decide; a shorter delay may be read
    // in the cell that is being written.
    let isWhole = source.cable.pointee.delay & (blockCapacity &- 1) == 0
    if !isSilent, !isWhole || !magnitudes.areInaudible { source.cable.pointee.markSound(until: end) }
    guard isWhole, endsCell, source.cable.pointee.isSilentCell(endingAt: end) else { return }
    // Dropped frames are read as zeros where the next cell sounds before its own end.
    let cell = position &+ frames &- blockCapacity
    index = 0
    while index < Int(source.count) {
      let target = ring + (index &* stride &+ cell)
      setMemory(target, 0, blockCapacity &* 4)
      if cell == 0 { setMemory(target + ringFrames, 0, blockCapacity &* 4) }
      index &+= 1
    }
  }
}
