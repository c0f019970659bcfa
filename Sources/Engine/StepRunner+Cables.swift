import Realtime

// Sums, gains, maps and the feedback delay. Audio thread, all of it.

extension StepRunner {
  /// Sums the sources into the step's one output, in the plan's order.
  @_noLocks func mix(_ step: UnsafeMutablePointer<Step>) {
    let frames = frames
    let output = step.pointee.context.outputs[0]
    /// Channels written so far; the first writer stores, the others add.
    var written: UInt64 = 0
    var index = 0
    while index < Int(step.pointee.sourceCount) {
      let source = step.pointee.sources[index]
      index &+= 1
      if source.isFeedback, source.cable.pointee.opensAt != 0 {
        if source.cable.pointee.opensAt < 0 { source.cable.pointee.opensAt = (now &+ 127) & ~63 }
        if now < source.cable.pointee.opensAt { continue }
        source.cable.pointee.opensAt = 0
      }
      let isSilent = source.isFeedback ? source.cable.pointee.quietFrames >= 128 : source.silence.pointee
      let isMoving = source.cable.pointee.gain.isMoving
      if isMoving || source.cable.pointee.isSilent.load(ordering: .relaxed) != isSilent {
        source.cable.pointee.isSilent.store(isSilent, ordering: .relaxed)
        source.cable.pointee.gainNow.store(source.cable.pointee.gain.value.bitPattern, ordering: .relaxed)
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
        }
      } else if steady == 0 {
        continue
      }
      let offset = source.isFeedback ? Int((now &+ Int64(CableSlot.delay)) & 127) : 0
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

  /// Writes what closes a cycle into its cable's ring, to be read 64 frames later.
  @_noLocks func remember(_ step: UnsafeMutablePointer<Step>) {
    let frames = frames
    let source = step.pointee.sources[0]
    guard let ring = source.cable.pointee.ring else { return }
    let isSilent = source.silence.pointee
    let position = Int(now & 127)
    var index = 0
    while index < source.tapCount {
      let target = ring + (index &* CableSlot.ringStride &+ position)
      if isSilent {
        setMemory(target, 0, frames &* 4)
      } else {
        copyMemory(target, source.taps[index].source, frames &* 4)
      }
      index &+= 1
    }
    let quiet = source.cable.pointee.quietFrames
    source.cable.pointee.quietFrames = isSilent ? (quiet < 128 ? quiet &+ frames : 128) : 0
  }
}
