import Realtime

/// Where the voices of a sampler write, and what they share in one stretch of frames.
struct VoiceContext {
  /// The sums of all voices, with room for 16 floats behind the block.
  var left: UnsafeMutablePointer<Float>
  var right: UnsafeMutablePointer<Float>
  /// Room for the slow path: 16 x 4 taps of each side, and 16 low halves of positions four times each.
  var gathered: UnsafeMutablePointer<Float>
  var low: UnsafeMutablePointer<UInt32>
  var fade: UnsafeMutablePointer<Float>
  var steps: UnsafeMutablePointer<Int64>
  /// What the sampler's tuning makes of the pitch: the same for all frames, or one a frame.
  var factor: Double
  var factors: UnsafePointer<Double>?
}

/// One sounding region.
struct Voice {
  var image: UnsafeMutablePointer<InstrumentImage>?
  var region: UnsafeMutablePointer<Region>
  /// The next frame to read, 32.32 fixed point. Wrapped into the loop only when it is read.
  var position: Int64 = 0
  /// Frames of the sample a frame of output, without and with bend.
  var pitch: Double = 0
  var ratio: Double = 0
  var envelope = Envelope()
  /// The way out of a voice that must go faster than its envelope says.
  var fade = Ramp(1)
  var gainLeft: Float = 0
  var gainRight: Float = 0
  /// Frames before it begins.
  var wait: Int32 = 0
  /// Counts note-ons: which came first.
  var order: UInt64 = 0
  var key: UInt8 = 0
  var channel: UInt8 = 0
  /// The key is down.
  var isHeld = false
  /// The key is up, and a pedal holds the note.
  var isSustained = false
  /// The sostenuto pedal caught it.
  var isCaught = false
  /// The release has begun.
  var isReleased = false
  /// It gave its place to another and fades; not counted as a voice.
  var isStolen = false
  var isFading = false
  /// Its loop has come round, so that what lies before the loop's start is its end.
  var hasLooped = false
  var isLooping = false
  var hasEnded = false

  @_noLocks init(image: UnsafeMutablePointer<InstrumentImage>, region: UnsafeMutablePointer<Region>) {
    self.image = image
    self.region = region
  }

  /// How loud it is, for choosing which to steal. Audio thread.
  var loudness: Float {
    @_noLocks get {
      let gain = gainLeft > gainRight ? gainLeft : gainRight
      return envelope.loudness * gain * (isFading ? fade.value : 1)
    }
  }

  /// Fades to nothing over `frames` and ends; never later than a fade under way. Audio thread.
  @_noLocks mutating func fadeOut(_ frames: Int) {
    if isFading, fade.framesLeft <= frames { return }
    isFading = true
    fade.move(to: 0, over: frames)
  }

  /// The note is over. Audio thread.
  @_noLocks mutating func release(rate: Float) {
    isHeld = false
    isSustained = false
    isCaught = false
    guard !isReleased else { return }
    isReleased = true
    if wait > 0 {
      hasEnded = true
      return
    }
    if region.pointee.loopMode == .sustain { isLooping = false }
    let frames = envelope.releaseFrames
    // A shorter release is a click whatever its curve: it becomes a fade without corners.
    if Float(frames) < 0.025 * rate {
      let shortest = Int(0.010 * rate)
      fadeOut(frames > shortest ? frames : shortest)
    } else {
      envelope.beginRelease()
    }
  }

  /// The rate changed: the same pitch, the same times. Worker.
  mutating func retune(_ factor: Double) {
    pitch /= factor
    ratio /= factor
    wait = Int32((Double(wait) * factor).rounded())
    envelope.retune(factor)
  }

  /// Adds the frames `from..<to` of the block. Sets `hasEnded`. Audio thread.
  @_noLocks mutating func render(_ context: VoiceContext, from: Int, to: Int) {
    var frame = from
    if wait > 0 {
      let skip = Int(wait) < to &- from ? Int(wait) : to &- from
      wait &-= Int32(truncatingIfNeeded: skip)
      frame &+= skip
    }
    let increment = fixedPoint(ratio * context.factor)
    while frame < to {
      let count = to &- frame < 16 ? to &- frame : 16
      var gain = envelope.next(count)
      if isFading {
        fade.fill(context.fade, frames: count)
        gain *= UnsafeRawPointer(context.fade).loadUnaligned(as: SIMD16<Float>.self)
      }
      if count < 16 { gain.replace(with: 0, where: lanes16 .>= Float(count)) }
      if let factors = context.factors {
        for index in 0..<16 {
          context.steps[index] =
            index < count ? fixedPoint(ratio * factors[frame &+ index]) : 0
        }
        addMoving(context, frame, count, gain)
      } else {
        addSteady(context, frame, count, gain, increment)
      }
      frame &+= count
      if hasEnded || envelope.isDone || (isFading && !fade.isMoving) {
        hasEnded = true
        return
      }
    }
  }

  /// Whether sixteen frames can be read without looking at every one. Audio thread.
  @_noLocks @inline(__always) private func isPlain(_ last: Int64) -> Bool {
    let first = Int(position >> 32)
    let final = Int(last >> 32)
    if isLooping {
      return final &+ 2 < region.pointee.loopEnd
        && (!hasLooped || first &- 1 >= region.pointee.loopStart)
    }
    return final < region.pointee.end
  }

  @_noLocks @inline(__always) private mutating func addSteady(
    _ context: VoiceContext, _ frame: Int, _ count: Int, _ gain: SIMD16<Float>, _ increment: Int64
  ) {
    guard isPlain(position &+ increment &* 15) else {
      for index in 0..<16 { context.steps[index] = increment }
      gather(context, frame, count, gain)
      return
    }
    let fraction = fractions(position: position, increment: increment)
    let taps = Taps(region.pointee.left, position: position, increment: increment)
    let left = taps.interpolated(fraction) * gain
    add(left * gainLeft, to: context.left + frame)
    if region.pointee.isStereo {
      let taps = Taps(region.pointee.right, position: position, increment: increment)
      let right = taps.interpolated(fraction) * gain
      add(right * gainRight, to: context.right + frame)
    } else {
      add(left * gainRight, to: context.right + frame)
    }
    position = position &+ increment &* Int64(count)
  }

  /// While the pitch moves, every frame has a step of its own.
  @_noLocks @inline(never) private mutating func addMoving(
    _ context: VoiceContext, _ frame: Int, _ count: Int, _ gain: SIMD16<Float>
  ) {
    var last = position
    var end = position
    for index in 0..<16 {
      last = end
      context.low[index] = UInt32(truncatingIfNeeded: end)
      end = end &+ context.steps[index]
    }
    guard isPlain(last) else {
      gather(context, frame, count, gain)
      return
    }
    let fraction = fractions(UnsafeRawPointer(context.low).loadUnaligned(as: SIMD16<UInt32>.self))
    let taps = Taps(region.pointee.left, position: position, steps: context.steps)
    let left = taps.interpolated(fraction) * gain
    add(left * gainLeft, to: context.left + frame)
    if region.pointee.isStereo {
      let taps = Taps(region.pointee.right, position: position, steps: context.steps)
      let right = taps.interpolated(fraction) * gain
      add(right * gainRight, to: context.right + frame)
    } else {
      add(left * gainRight, to: context.right + frame)
    }
    position = end
  }

  /// Near a loop's seam and near the end: every frame's neighbours are looked up one by one, then the
  /// same arithmetic as elsewhere, so that the way taken never shows in the sound.
  @_noLocks @inline(never) private mutating func gather(
    _ context: VoiceContext, _ frame: Int, _ count: Int, _ gain: SIMD16<Float>
  ) {
    let leftTaps = context.gathered
    let rightTaps = context.gathered + 64
    setMemory(leftTaps, 0, 512)
    setMemory(context.low, 0, 64)
    let loopStart = region.pointee.loopStart
    let loopEnd = region.pointee.loopEnd
    let length = loopEnd &- loopStart
    for index in 0..<count {
      if isLooping, Int(position >> 32) >= loopEnd {
        let beyond = position &- (Int64(loopStart) &<< 32)
        position = (Int64(loopStart) &<< 32) &+ beyond % (Int64(length) &<< 32)
        hasLooped = true
      }
      let at = Int(position >> 32)
      if !isLooping, at >= region.pointee.end {
        hasEnded = true
        break
      }
      context.low[index] = UInt32(truncatingIfNeeded: position)
      for tap in 0..<4 {
        var place = at &- 1 &+ tap
        if isLooping {
          if place >= loopEnd {
            place = loopStart &+ (place &- loopStart) % length
          } else if hasLooped, place < loopStart {
            place = loopEnd &- 1
          }
        }
        leftTaps[index &* 4 &+ tap] = region.pointee.left[place]
        rightTaps[index &* 4 &+ tap] = region.pointee.right[place]
      }
      position = position &+ context.steps[index]
    }
    let fraction = fractions(UnsafeRawPointer(context.low).loadUnaligned(as: SIMD16<UInt32>.self))
    add(Taps(gathered: leftTaps).interpolated(fraction) * gain * gainLeft, to: context.left + frame)
    add(Taps(gathered: rightTaps).interpolated(fraction) * gain * gainRight, to: context.right + frame)
  }
}
