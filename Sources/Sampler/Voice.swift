import Realtime

/// Where the voices of a sampler write, and what they share in one stretch of frames.
struct VoiceContext {
  /// The sums of all voices, with room for 16 floats behind the block.
  var left: UnsafeMutablePointer<Float>
  var right: UnsafeMutablePointer<Float>
  /// For the sixteen voices of a group, what each one plays and the gains of its sides: rows of
  /// `FilterBank.stride` floats.
  var rows: UnsafeMutablePointer<Float>
  var rightRows: UnsafeMutablePointer<Float>
  var gainRows: UnsafeMutablePointer<Float>
  var rightGainRows: UnsafeMutablePointer<Float>
  /// For interpolation by more than four points.
  var kernels: SincKernels.Tables
  /// Room for the slow path: 16 x 4 taps of each side, and 16 low halves of positions.
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
  /// Frames of the sample a frame of output, without and with what modulates the pitch.
  var pitch: Double = 0
  var ratio: Double = 0
  var envelope = Envelope()
  /// The way out of a voice that must go faster than its envelope says.
  var fade = Ramp(1)
  /// What velocity and fades make of the region's gain; and with everything else, side by side.
  var gain: Float = 0
  var gainLeft: Float = 0
  var gainRight: Float = 0
  /// Frames since it began, and frames a second.
  var age: Int64 = 0
  var rate: Float
  /// Frames before it begins.
  var wait: Int32 = 0
  /// Counts note-ons: which came first.
  var order: UInt64 = 0
  var key: UInt8 = 0
  var channel: UInt8 = 0
  /// What counts for modulation: the note's or the region's own.
  var soundKey: UInt8 = 0
  var velocity: UInt8 = 0
  var releaseVelocity: UInt8 = 0
  /// Of its own, 0..<128; and whether its note was an odd one.
  var random: Float = 0
  var isOdd = false
  /// 0: four points, 1: eight, 2: many; and which kernel for this pitch.
  var quality: UInt8 = 0
  var kernel: UInt8 = 0
  /// It has a `VoiceShape` at work.
  var isShaped = false
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

  @_noLocks init(
    image: UnsafeMutablePointer<InstrumentImage>, region: UnsafeMutablePointer<Region>, rate: Float
  ) {
    self.image = image
    self.region = region
    self.rate = rate
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
    rate *= Float(factor)
    age = Int64((Double(age) * factor).rounded())
    pitch /= factor
    ratio /= factor
    wait = Int32((Double(wait) * factor).rounded())
    envelope.retune(factor)
  }

  // MARK: Sound

  /// Waits, as long as it must, from `from` on; gives where it begins to sound. Audio thread.
  @_noLocks @inline(__always) private mutating func waited(_ from: Int, _ to: Int) -> Int {
    guard wait > 0 else { return from }
    let skip = Int(wait) < to &- from ? Int(wait) : to &- from
    wait &-= Int32(truncatingIfNeeded: skip)
    return from &+ skip
  }

  /// Adds the frames `from..<to` of the block, for a voice that nothing shapes. Sets `hasEnded`. Audio
  /// thread.
  @_noLocks mutating func render(_ context: VoiceContext, from: Int, to: Int) {
    var frame = waited(from, to)
    age = age &+ Int64(to &- frame)
    let increment = fixedPoint(ratio * context.factor)
    while frame < to {
      let count = to &- frame < 16 ? to &- frame : 16
      let gain = self.gain(context, count)
      let sound: Sides
      if let factors = context.factors {
        for index in 0..<count { context.steps[index] = fixedPoint(ratio * factors[frame &+ index]) }
        for index in count..<16 { context.steps[index] = 0 }
        sound = moving(context, count)
      } else {
        sound = steady(context, count, increment, 0)
      }
      add(sound.left * (gain * gainLeft), to: context.left + frame)
      add(sound.right * (gain * gainRight), to: context.right + frame)
      frame &+= count
      if endsNow { return }
    }
  }

  /// Writes the frames `from..<to` of the block into the rows of the voice's lane, and the gains beside
  /// them. Sets `hasEnded`. Audio thread.
  @_noLocks mutating func write(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, slot: Int, from: Int,
    to: Int
  ) {
    let row = (slot & 15) &* FilterBank.stride
    var frame = waited(from, to)
    if frame > from { clearGains(context, row, frame &- from) }
    if age == 0, frame < to, !shape.isMoving {
      shape.start(self, &bank, slot: slot, at: frame &- from)
    }
    while frame < to {
      if shape.isMoving, shape.frame == 0 || Int(shape.frame) == VoiceShape.period {
        shape.step(self, at: frame &- from, &bank, slot: slot, rate: rate)
      }
      var count = to &- frame < 16 ? to &- frame : 16
      if shape.isMoving {
        let left = VoiceShape.period &- Int(shape.frame)
        count = count < left ? count : left
      }
      let gain = self.gain(context, count)
      var sound: Sides
      if context.factors != nil || quality > 0 {
        setSteps(context, shape, frame, count)
        sound = quality > 0 ? wide(context, count) : moving(context, count)
      } else {
        let change = fixedPoint(shape.ratioStep * context.factor)
        let increment = fixedPoint(shape.ratio * context.factor) &+ change &* Int64(shape.frame)
        sound = steady(context, count, increment, change)
      }
      if shape.other != 0 {
        sound = Sides(
          left: sound.left * shape.own + sound.right * shape.other,
          right: sound.right * shape.own + sound.left * shape.other)
      }
      let place = row &+ frame &- from
      store(sound.left, context.rows + place)
      store(sound.right, context.rightRows + place)
      let at = lanes16 + Float(shape.frame)
      store(gain * (at * shape.stepLeft + shape.gainLeft), context.gainRows + place)
      store(gain * (at * shape.stepRight + shape.gainRight), context.rightGainRows + place)
      frame &+= count
      age = age &+ Int64(count)
      if shape.isMoving { shape.frame &+= Int32(truncatingIfNeeded: count) }
      if endsNow { break }
    }
    // Whole vectors of these rows are added to the sums.
    clearGains(context, row &+ frame &- from, to &- frame &+ 16)
  }

  @_noLocks private func clearGains(_ context: VoiceContext, _ place: Int, _ count: Int) {
    setMemory(context.gainRows + place, 0, count &* 4)
    setMemory(context.rightGainRows + place, 0, count &* 4)
  }

  @_noLocks private func setSteps(_ context: VoiceContext, _ shape: VoiceShape, _ frame: Int, _ count: Int) {
    for index in 0..<count {
      let factor = context.factors == nil ? context.factor : context.factors![frame &+ index]
      let change = fixedPoint(shape.ratioStep * factor)
      context.steps[index] =
        fixedPoint(shape.ratio * factor) &+ change &* (Int64(shape.frame) &+ Int64(index))
    }
    for index in count..<16 { context.steps[index] = 0 }
  }

  /// The gains of the next `count` frames, 0 behind them.
  @_noLocks @inline(__always) private mutating func gain(
    _ context: VoiceContext, _ count: Int
  ) -> SIMD16<Float> {
    var gain = envelope.next(count)
    if isFading {
      fade.fill(context.fade, frames: count)
      gain *= vector(context.fade)
    }
    if count < 16 { gain.replace(with: 0, where: lanes16 .>= Float(count)) }
    return gain
  }

  private var endsNow: Bool {
    @_noLocks @inline(__always) mutating get {
      if hasEnded || envelope.isDone || (isFading && !fade.isMoving) { hasEnded = true }
      return hasEnded
    }
  }

  // MARK: Interpolation

  /// Sixteen frames of both sides; a mono sample's are the same.
  struct Sides {
    var left: SIMD16<Float>
    var right: SIMD16<Float>
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

  @_noLocks @inline(__always) private mutating func steady(
    _ context: VoiceContext, _ count: Int, _ increment: Int64, _ change: Int64
  ) -> Sides {
    guard isPlain(position &+ increment &* 15 &+ change &* 105) else {
      for index in 0..<16 { context.steps[index] = increment &+ change &* Int64(index) }
      return gathered(context, count)
    }
    if change != 0 { return changing(count, increment, change) }
    let fraction = fractions(position: position, increment: increment)
    let left = Taps(region.pointee.left, position: position, increment: increment).interpolated(fraction)
    var right = left
    if region.pointee.isStereo {
      right = Taps(region.pointee.right, position: position, increment: increment).interpolated(fraction)
    }
    position = position &+ increment &* Int64(count)
    return Sides(left: left, right: right)
  }

  /// Within a control period in which the pitch moves, steps grow evenly.
  @_noLocks @inline(__always) private mutating func changing(
    _ count: Int, _ increment: Int64, _ change: Int64
  ) -> Sides {
    let fraction = fractions(position: position, increment: increment, change: change)
    let left = Taps(region.pointee.left, position: position, increment: increment, change: change)
      .interpolated(fraction)
    var right = left
    if region.pointee.isStereo {
      right = Taps(region.pointee.right, position: position, increment: increment, change: change)
        .interpolated(fraction)
    }
    position = position &+ increment &* Int64(count) &+ change &* Int64((count &* (count &- 1)) / 2)
    return Sides(left: left, right: right)
  }

  /// While the sampler's tuning moves, every frame has a step of its own.
  @_noLocks @inline(never) private mutating func moving(_ context: VoiceContext, _ count: Int) -> Sides {
    var last = position
    var end = position
    for index in 0..<16 {
      last = end
      context.low[index] = UInt32(truncatingIfNeeded: end)
      end = end &+ context.steps[index]
    }
    guard isPlain(last) else { return gathered(context, count) }
    let fraction = fractions(UnsafeRawPointer(context.low).loadUnaligned(as: SIMD16<UInt32>.self))
    let left = Taps(region.pointee.left, position: position, steps: context.steps).interpolated(fraction)
    var right = left
    if region.pointee.isStereo {
      right = Taps(region.pointee.right, position: position, steps: context.steps).interpolated(fraction)
    }
    position = end
    return Sides(left: left, right: right)
  }

  /// Brings the position back into the loop, and ends a voice that has no more frames; false then.
  @_noLocks @inline(__always) private mutating func wrap() -> Bool {
    if isLooping, Int(position >> 32) >= region.pointee.loopEnd {
      let start = Int64(region.pointee.loopStart) &<< 32
      let length = Int64(region.pointee.loopEnd &- region.pointee.loopStart) &<< 32
      position = start &+ (position &- start) % length
      hasLooped = true
    }
    if !isLooping, Int(position >> 32) >= region.pointee.end {
      hasEnded = true
      return false
    }
    return true
  }

  /// Where the frame `place` is found: within the loop when it comes round.
  @_noLocks @inline(__always) private func folded(_ place: Int) -> Int {
    guard isLooping else { return place }
    let length = region.pointee.loopEnd &- region.pointee.loopStart
    if place >= region.pointee.loopEnd {
      return region.pointee.loopStart &+ (place &- region.pointee.loopStart) % length
    }
    if hasLooped, place < region.pointee.loopStart {
      let below = (region.pointee.loopStart &- 1 &- place) % length
      return region.pointee.loopEnd &- 1 &- below
    }
    return place
  }

  /// Near a loop's seam and near the end: every frame's neighbours are looked up one by one, then the
  /// same arithmetic as elsewhere, so that the way taken never shows in the sound.
  @_noLocks @inline(never) private mutating func gathered(_ context: VoiceContext, _ count: Int) -> Sides {
    let leftTaps = context.gathered
    let rightTaps = context.gathered + 64
    setMemory(leftTaps, 0, 512)
    setMemory(context.low, 0, 64)
    for index in 0..<count {
      guard wrap() else { break }
      let at = Int(position >> 32)
      context.low[index] = UInt32(truncatingIfNeeded: position)
      for tap in 0..<4 {
        let place = folded(at &- 1 &+ tap)
        leftTaps[index &* 4 &+ tap] = region.pointee.left[place]
        rightTaps[index &* 4 &+ tap] = region.pointee.right[place]
      }
      position = position &+ context.steps[index]
    }
    let fraction = fractions(UnsafeRawPointer(context.low).loadUnaligned(as: SIMD16<UInt32>.self))
    return Sides(
      left: Taps(gathered: leftTaps).interpolated(fraction),
      right: Taps(gathered: rightTaps).interpolated(fraction))
  }

  /// Interpolation by more than four points, a frame at a time. Audio thread.
  @_noLocks @inline(never) private mutating func wide(_ context: VoiceContext, _ count: Int) -> Sides {
    var left = SIMD16<Float>(repeating: 0)
    var right = SIMD16<Float>(repeating: 0)
    let table = context.kernels.table(quality, kernel)
    for index in 0..<count {
      guard wrap() else { break }
      let first = Int(position >> 32) &- table.before
      let fraction = UInt32(truncatingIfNeeded: position)
      var fits = true
      if isLooping {
        fits =
          first &+ table.taps <= region.pointee.loopEnd && (!hasLooped || first >= region.pointee.loopStart)
      }
      if fits {
        left[index] = table.value(region.pointee.left + first, fraction)
        right[index] =
          region.pointee.isStereo ? table.value(region.pointee.right + first, fraction) : left[index]
      } else {
        for tap in 0..<table.taps {
          let place = folded(first &+ tap)
          context.gathered[tap] = region.pointee.left[place]
          context.gathered[64 &+ tap] = region.pointee.right[place]
        }
        left[index] = table.value(context.gathered, fraction)
        right[index] = table.value(context.gathered + 64, fraction)
      }
      position = position &+ context.steps[index]
    }
    return Sides(left: left, right: right)
  }
}
