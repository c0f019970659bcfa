import Realtime

/// One sounding region.
struct Voice {
  var image: UnsafeMutablePointer<InstrumentImage>?
  var region: UnsafeMutablePointer<Region>
  /// Number of the region's filters and bands in use.
  var unitCount: Int32
  /// The next frame to read, 32.32 fixed point. It is wrapped into the loop only when it is read.
  var position: Int64 = 0
  /// Frames of the sample per frame of output, without and with modulation of the pitch.
  var pitch: Double = 0
  var ratio: Double = 0
  var envelope = Envelope()
  /// Fade-out faster than the envelope.
  var fade = Ramp(1)
  /// Gain with velocity and crossfades; and the final gains of both sides.
  var gain: Float = 0
  var gainLeft: Float = 0
  var gainRight: Float = 0
  /// Frames since it began, and sample rate in Hz.
  var age: Int64 = 0
  var rate: Float
  /// Frames before it begins, and the age at which it is released (0: none).
  var wait: Int32 = 0
  var stop: Int64 = 0
  /// Number of its note on, for the order of age.
  var order: UInt64 = 0
  var key: UInt8 = 0
  var channel: UInt8 = 0
  /// Key and velocities for modulation: the note's or the region's own.
  var soundKey: UInt8 = 0
  var velocity: UInt8 = 0
  var releaseVelocity: UInt8 = 0
  /// Its own random value, 0..<128; and whether its note had an odd number.
  var random: Float = 0
  var isOdd = false
  /// Number of its output.
  var output: UInt8 = 0
  /// 0: four points, 1: eight, 2: 32; and the kernel of 32 for this pitch.
  var quality: UInt8 = 0
  var kernel: UInt8 = 0
  /// It has an active `VoiceShape`.
  var isShaped = false
  /// The key is down.
  var isHeld = false
  /// Started by a note on.
  var isOfKeyDown = false
  /// The key is up, and a pedal holds the note.
  var isSustained = false
  /// Sostenuto pedals hold it.
  var caught = Caught()
  /// The release has begun.
  var isReleased = false
  /// Stolen: it fades, and does not count as a voice.
  var isStolen = false
  var isFading = false
  /// Fade-out with the instrument's own shape: frames done, frames in all (0: none).
  private var offFrame: Int32 = 0
  private var offLength: Int32 = 0
  /// Remaining loop passes (negative: unlimited).
  var turns: Int32 = -1
  /// The loop has wrapped, so the frames before its start are those at its end.
  var hasLooped = false
  var isLooping = false
  /// It begins with frames that stream from disk; `isLate`: these were not there in time.
  var startsStream = false
  private var isLate = false
  var hasEnded = false

  @_noLocks init(
    image: UnsafeMutablePointer<InstrumentImage>, region: UnsafeMutablePointer<Region>, rate: Float
  ) {
    self.image = image
    self.region = region
    self.rate = rate
    unitCount = region.pointee.unitCount
  }

  /// The part needed by its `VoiceShape`.
  struct Core {
    var image: UnsafeMutablePointer<InstrumentImage>?
    var region: UnsafeMutablePointer<Region>
    var unitCount: Int32
    var pitch: Double
    var gain: Float
    var age: Int64
  }

  var core: Core {
    @_noLocks @inline(__always) get {
      Core(image: image, region: region, unitCount: unitCount, pitch: pitch, gain: gain, age: age)
    }
  }

  /// It has not begun to sound.
  var isWaiting: Bool { @_noLocks get { wait > 0 || isLate } }

  /// Loudness, for choosing a voice to steal. Audio thread.
  var loudness: Float {
    @_noLocks get {
      let gain = gainLeft > gainRight ? gainLeft : gainRight
      return envelope.loudness * gain * (isFading ? fade.value : 1)
    }
  }

  /// Fades out over `frames` and ends; never later than a fade under way. Audio thread.
  @_noLocks mutating func fadeOut(_ frames: Int) {
    if isFading, fade.framesLeft <= frames { return }
    isFading = true
    fade.move(to: 0, over: frames)
  }

  /// Ends it because of another note (`off_by`). Audio thread.
  @_noLocks mutating func turnOff() {
    isReleased = true
    isHeld = false
    isSustained = false
    let frames = region.pointee.offTime * rate
    if region.pointee.offShape != region.pointee.offShape {
      fadeOut(Int(frames))
    } else if offLength == 0 {
      offLength = frames >= 1 ? (frames < 2e9 ? Int32(frames) : 2_000_000_000) : 1
    }
  }

  /// Gains of the fade started by `turnOff`: 1 - (e^(s t) - 1) / (e^s - 1); a straight line for the shape s =
  /// 0.
  @_noLocks @inline(never)
  private mutating func turnOff(_ count: Int, _ gains: UnsafeMutablePointer<Float>) {
    let length = Float(offLength)
    var t = (lanes16 + Float(offFrame)) / length
    t.replace(with: 1, where: t .> 1)
    offFrame = offLength &- offFrame > Int32(count) ? offFrame &+ Int32(count) : offLength
    let shape = region.pointee.offShape
    if region.pointee.offCurve >= 0, let image {
      store(t * 127, gains)
      let values = image.pointee.curves + Int(region.pointee.offCurve)
      for lane in 0..<16 { gains[lane] = 1 - curveValue(values, gains[lane]) }
    } else if shape < 0.001, shape > -0.001 {
      store(1 - t, gains)
    } else {
      store(1 - (exponential2(t * (shape * 1.442_695)) - 1) / (exponential(shape) - 1), gains)
    }
  }

  /// Fades it out regardless of keys and pedals. Audio thread.
  @_noLocks mutating func silence(over frames: Int) {
    if isWaiting { hasEnded = true }
    isHeld = false
    isSustained = false
    isReleased = true
    fadeOut(frames)
  }

  /// The note is over. Audio thread.
  @_noLocks mutating func release(rate: Float) {
    isHeld = false
    isSustained = false
    caught = Caught()
    guard !isReleased else { return }
    isReleased = true
    if isWaiting {
      hasEnded = true
      return
    }
    if region.pointee.loopMode == .sustain { isLooping = false }
    if region.pointee.amplifier >= 0 { return }
    let frames = envelope.releaseFrames
    // A shorter release clicks whatever its curve, so it is replaced by a smooth fade.
    if Float(frames) < 0.025 * rate {
      let shortest = Int(0.010 * rate)
      fadeOut(frames > shortest ? frames : shortest)
    } else {
      envelope.beginRelease()
    }
  }

  /// Applies new modulation `added` of the amplifier's stages. Audio thread.
  @_noLocks mutating func changeTimes(added: UnsafePointer<Float>) {
    envelope.change(region.pointee.envelope, added: added, rate: rate)
  }

  /// Adapts to a new rate: the same pitch, the same times. Worker.
  mutating func retune(_ factor: Double) {
    rate *= Float(factor)
    age = Int64((Double(age) * factor).rounded())
    pitch /= factor
    ratio /= factor
    wait = Int32(min(2e9, (Double(wait) * factor).rounded()))
    if stop > 0 { stop = max(1, Int64((Double(stop) * factor).rounded())) }
    envelope.retune(factor)
    if offLength > 0 {
      offLength = max(1, Int32(min(2e9, (Double(offLength) * factor).rounded())))
      offFrame = min(offLength, Int32(min(2e9, (Double(offFrame) * factor).rounded())))
    }
  }

  // MARK: Sound

  /// Waits as long as necessary from `from` on; returns the frame at which it begins to sound. Audio thread.
  @_noLocks @inline(__always) private mutating func waited(_ from: Int, _ to: Int) -> Int {
    guard wait > 0 || startsStream else { return from }
    let skip = Int(wait) < to &- from ? Int(wait) : to &- from
    wait &-= Int32(truncatingIfNeeded: skip)
    if startsStream, skip < to &- from {
      // It starts late rather than without its attack; this counts as an under-run.
      isLate = !isRead(0)
      startsStream = isLate
      if isLate { return to }
    }
    return from &+ skip
  }

  /// Adds the frames `from..<to` of the block, for an unshaped voice. Sets `hasEnded`. Audio thread.
  @_noLocks mutating func render(_ context: VoiceContext, from: Int, to: Int) {
    play(context, from, to, sends: nil)
  }

  /// The same, with reverb and chorus sends. Audio thread.
  @_noLocks mutating func render(
    _ context: VoiceContext, sends: UnsafePointer<Float>, from: Int, to: Int
  ) {
    play(context, from, to, sends: sends)
  }

  /// Compiled twice, so that voices without sends pay nothing for them.
  @_noLocks @inline(__always) private mutating func play(
    _ context: VoiceContext, _ from: Int, _ to: Int, sends: UnsafePointer<Float>?
  ) {
    var frame = waited(from, to)
    age = age &+ Int64(to &- frame)
    let right = region.pointee.isStereo ? context.rightRows : context.rows
    let sum = context.sums + Sum.place(Int(output))
    while frame < to, !hasEnded {
      let count = read(context, ratio, 0, 0, at: 0, frame, to &- frame)
      var done = 0
      while done < count {
        let some = count &- done < 16 ? count &- done : 16
        let gain = self.gain(context, some)
        let ours = vector(context.rows + done) * (gain * gainLeft)
        let others = vector(right + done) * (gain * gainRight)
        add(ours, to: sum + frame + done)
        add(others, to: sum + Sum.side + frame + done)
        if let sends {
          let reverb = context.sums + Sum.place(Sum.reverb) + frame + done
          add(ours * sends[0], to: reverb)
          add(others * sends[0], to: reverb + Sum.side)
          let chorus = context.sums + Sum.place(Sum.chorus) + frame + done
          add(ours * sends[1], to: chorus)
          add(others * sends[1], to: chorus + Sum.side)
        }
        done = isOver ? count : done &+ some
      }
      frame &+= count
    }
  }

  /// Writes the frames `from..<to` of the block into the rows of the voice's lane, and the gains of both
  /// sides beside them. Sets `hasEnded`. Audio thread.
  @_noLocks mutating func write(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, slot: Int, from: Int,
    to: Int
  ) {
    write(context, &shape, &bank, slot, from, to, isSending: false)
  }

  /// The same, with the send levels beside the gains. Audio thread.
  @_noLocks mutating func writeSending(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, slot: Int, from: Int,
    to: Int
  ) {
    write(context, &shape, &bank, slot, from, to, isSending: true)
  }

  /// Compiled twice, like `play`.
  @_noLocks @inline(__always) private mutating func write(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, _ slot: Int, _ from: Int,
    _ to: Int, isSending: Bool
  ) {
    let row = (slot & 15) &* FilterBank.stride
    var frame = waited(from, to)
    if frame > from {
      clearGains(context, row, frame &- from)
      // The filters are at rest until it sounds.
      setMemory(context.rows + row, 0, (frame &- from) &* 4)
      setMemory(context.rightRows + row, 0, (frame &- from) &* 4)
    }
    // End of the gains written, and of the sample frames written.
    var written = frame
    var heard = frame
    while frame < to, !hasEnded || frame < heard {
      var count = to &- frame
      if shape.isMoving {
        if shape.frame == 0 || Int(shape.frame) == ControlPeriod.frames {
          shape.step(core, at: frame &- from, &bank, slot: slot, rate: rate)
          if shape.wasOver { fadeOut(shape.gainLeft == 0 && shape.gainRight == 0 ? 1 : Int(0.010 * rate)) }
        }
        if shape.isMoving {
          let left = ControlPeriod.frames &- Int(shape.frame)
          count = count < left ? count : left
        }
      }
      let place = row &+ frame &- from
      if heard <= frame {
        // All frames at once if control periods do not change them.
        let isStaged = region.pointee.stage.isUsed
        let wanted = !isStaged && shape.keepsPace ? to &- frame : count
        let ahead =
          isStaged
          ? readStaged(context, &shape, at: place, frame, wanted)
          : read(context, shape.ratio, shape.ratioStep, Int(shape.frame), at: place, frame, wanted)
        if shape.other != 0 { spread(context, place, ahead, shape.own, shape.other) }
        heard = frame &+ ahead
      }
      count = count < heard &- frame ? count : heard &- frame
      // Most of the time only the shape changes the gain, and nothing ends.
      let isLevel = envelope.stage == .sustain && !isFading && offLength == 0 && count & 15 == 0
      let level = SIMD16(repeating: envelope.sustain)
      var done = 0
      while done < count {
        let some = count &- done < 16 ? count &- done : 16
        let gain = isLevel ? level : self.gain(context, some)
        let at = vector(context.numbers) + Float(Int(shape.frame) &+ done)
        store(gain * (at * shape.stepLeft + shape.gainLeft), context.gainRows + place + done)
        store(gain * (at * shape.stepRight + shape.gainRight), context.rightGainRows + place + done)
        if isSending {
          store(at * shape.sends[2] + shape.sends[0], context.reverbRows + place + done)
          store(at * shape.sends[3] + shape.sends[1], context.chorusRows + place + done)
        }
        written = frame &+ done &+ 16
        done &+= some
        if !isLevel, isOver {
          done = count
          heard = frame
        }
      }
      frame &+= count
      age = age &+ Int64(count)
      if shape.isMoving { shape.frame &+= Int32(truncatingIfNeeded: count) }
    }
    // Whole vectors of these rows are added to the sums.
    let end = from &+ ((to &- from &+ 15) & ~15)
    if written < end { clearGains(context, row &+ written &- from, end &- written) }
  }

  @_noLocks private func clearGains(_ context: VoiceContext, _ place: Int, _ count: Int) {
    setMemory(context.gainRows + place, 0, count &* 4)
    setMemory(context.rightGainRows + place, 0, count &* 4)
  }

  /// Changes the stereo width.
  @_noLocks private func spread(
    _ context: VoiceContext, _ place: Int, _ count: Int, _ own: Float, _ other: Float
  ) {
    var done = 0
    while done < count {
      let left = vector(context.rows + place + done)
      let right = vector(context.rightRows + place + done)
      store(left * own + right * other, context.rows + place + done)
      store(right * own + left * other, context.rightRows + place + done)
      done &+= 16
    }
  }

  /// The gains of the next `count` frames, 0 behind them.
  @_noLocks @inline(__always) private mutating func gain(
    _ context: VoiceContext, _ count: Int
  ) -> SIMD16<Float> {
    var gain = envelope.next(count, context.levels)
    if offLength > 0 {
      turnOff(count, context.levels)
      gain *= vector(context.levels)
    }
    if isFading {
      fade.fill(context.fade, frames: count)
      gain *= vector(context.fade)
    }
    if count < 16 { gain.replace(with: 0, where: lanes16 .> Float(count) - 1) }
    return gain
  }

  /// True at its end; sets `hasEnded` then.
  private var isOver: Bool {
    @_noLocks @inline(__always) mutating get {
      let isOver =
        envelope.isDone || (isFading && !fade.isMoving) || (offLength > 0 && offFrame == offLength)
      hasEnded = hasEnded || isOver
      return isOver
    }
  }
}
