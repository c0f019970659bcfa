import Realtime

// Mixing, gains, channel maps and delays. Audio thread, all of it.

extension StepRunner {
  /// Sums the sources into the step's one output, in the plan's order.
  @_noLocks func mix(_ step: UnsafeMutablePointer<Step>) {
    let frames = frames
    let output = step.pointee.context.outputs[0]
    /// Channels written so far: the first writer stores, the others add.
    var written: UInt64 = 0
    var index = 0
    while index < Int(step.pointee.sourceCount) {
      let source = step.pointee.sources[index]
      index &+= 1
      if source.cable.pointee.nextStart <= now { source.cable.pointee.beginMove() }
      let ringFrames = source.cable.pointee.ringFrames
      let isSilent =
        source.isDelayed ? source.cable.pointee.isSilent(at: now) : source.silence.pointee
      let isMoving = source.cable.pointee.gain.isMoving
      if isMoving || source.cable.pointee.isSilent.load(ordering: .relaxed) != isSilent {
        source.cable.pointee.isSilent.store(isSilent, ordering: .relaxed)
        let gain = source.cable.pointee.gain
        source.cable.pointee.gainNow.store(gain.value.bitPattern, ordering: .relaxed)
        source.cable.pointee.ceilingNow.store(gain.ceiling.bitPattern, ordering: .relaxed)
      }
      if isSilent {
        source.cable.pointee.gain.skip(frames)
        continue
      }
      let steady = source.cable.pointee.gain.target
      if isMoving {
        source.cable.pointee.gain.fill(gains, frames: frames)
        if !source.cable.pointee.gain.isMoving {
          source.cable.pointee.gainNow.store(steady.bitPattern, ordering: .relaxed)
          source.cable.pointee.ceilingNow.store(abs(steady).bitPattern, ordering: .relaxed)
        }
      } else if steady == 0 {
        continue
      }
      let offset =
        source.isDelayed
        ? (Int(truncatingIfNeeded: now) &- source.cable.pointee.delay) & (ringFrames &- 1) : 0
      var tapIndex = 0
      while tapIndex < source.tapCount {
        let tap = source.taps[tapIndex]
        let bit = UInt64(1) << UInt64(tap.destination)
        let isFirst = written & bit == 0
        written |= bit
        add(
          tap.source + offset, to: output[tap.destination], tap.coefficient, steady, isMoving: isMoving,
          isFirst: isFirst, frames)
        tapIndex &+= 1
      }
    }
    step.pointee.outputSilence[0] = written == 0
    if written != 0 {
      var channel = 0
      while channel < output.count {
        if written & (UInt64(1) << UInt64(channel)) == 0 { setMemory(output[channel], 0, frames &* 4) }
        channel &+= 1
      }
    }
  }

  @_noLocks func add(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ coefficient: Float,
    _ steady: Float, isMoving: Bool, isFirst: Bool, _ frames: Int
  ) {
    let from = UnsafeRawPointer(source)
    let to = UnsafeMutableRawPointer(target)
    let moving = UnsafeRawPointer(gains)
    let constant = SIMD16<Float>(repeating: coefficient * steady)
    let factor = SIMD16<Float>(repeating: coefficient)
    var byte = 0
    while byte < frames &* 4 {
      let gain = isMoving ? factor * moving.load(fromByteOffset: byte, as: SIMD16<Float>.self) : constant
      var y = from.loadUnaligned(fromByteOffset: byte, as: SIMD16<Float>.self) * gain
      if !isFirst { y += to.load(fromByteOffset: byte, as: SIMD16<Float>.self) }
      to.storeBytes(of: y, toByteOffset: byte, as: SIMD16<Float>.self)
      byte &+= 64
    }
  }

  /// Writes a node's output into the ring of a delayed cable.
  @_noLocks func fillDelay(_ step: UnsafeMutablePointer<Step>) {
    let frames = frames
    let source = step.pointee.sources[0]
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
    while index < source.tapCount {
      let target = ring + (index &* stride &+ position)
      if isSilent {
        setMemory(target, 0, frames &* 4)
      } else {
        copyMemory(target, source.taps[index].source, frames &* 4)
        magnitudes.add(source.taps[index].source, frames)
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
    // What is dropped is read as zeros where the next cell sounds before its own end.
    let cell = position &+ frames &- blockCapacity
    index = 0
    while index < source.tapCount {
      let target = ring + (index &* stride &+ cell)
      setMemory(target, 0, blockCapacity &* 4)
      if cell == 0 { setMemory(target + ringFrames, 0, blockCapacity &* 4) }
      index &+= 1
    }
  }
}
