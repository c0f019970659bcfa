import Realtime

/// One sounding region.
struct Voice {
  var image: UnsafeMutablePointer<InstrumentImage>?
  var region: UnsafeMutablePointer<Region>
  /// How many of its region's filters and bands it has.
  var unitCount: Int32
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
  /// Frames before it begins, and the age at which it is released (0: none).
  var wait: Int32 = 0
  var stop: Int64 = 0
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
  /// The number of the output that it adds to.
  var output: UInt8 = 0
  /// 0: four points, 1: eight, 2: many; and which kernel for this pitch.
  var quality: UInt8 = 0
  var kernel: UInt8 = 0
  /// It has a `VoiceShape` at work.
  var isShaped = false
  /// The key is down.
  var isHeld = false
  /// A note on began it.
  var isOfKeyDown = false
  /// The key is up, and a pedal holds the note.
  var isSustained = false
  /// The sostenuto pedal caught it.
  var isCaught = false
  /// The release has begun.
  var isReleased = false
  /// It gave its place to another and fades; not counted as a voice.
  var isStolen = false
  var isFading = false
  /// Another way out, that bends as the instrument says: frames done, frames in all (0: none).
  private var offFrame: Int32 = 0
  private var offLength: Int32 = 0
  /// How often the loop will still come round (negative: for ever).
  var turns: Int32 = -1
  /// Its loop has come round, so that what lies before the loop's start is its end.
  var hasLooped = false
  var isLooping = false
  /// It is to begin with frames that stream from disk; and these were not there in time.
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

  /// What its `VoiceShape` needs of it.
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

  /// Another note turns it off. Audio thread.
  @_noLocks mutating func turnOff() {
    isReleased = true
    isHeld = false
    isSustained = false
    let frames = region.pointee.offTime * rate
    if region.pointee.offShape != region.pointee.offShape {
      fadeOut(Int(frames))
    } else if offLength == 0 {
      offLength = frames >= 1 ? Int32(frames) : 1
    }
  }

  /// Of the fade that `turnOff` began: 1 - (e^(s t) - 1) / (e^s - 1), which is straight for a shape s of 0.
  @_noLocks @inline(never) private mutating func turningOff(_ count: Int) -> SIMD16<Float> {
    let length = Float(offLength)
    var t = (lanes16 + Float(offFrame)) / length
    t.replace(with: 1, where: t .> 1)
    offFrame = offLength &- offFrame > Int32(count) ? offFrame &+ Int32(count) : offLength
    let shape = region.pointee.offShape
    if region.pointee.offCurve >= 0, let image {
      var gains = SIMD16<Float>(repeating: 0)
      for lane in 0..<16 {
        gains[lane] = 1 - curveValue(image.pointee.curves + Int(region.pointee.offCurve), t[lane] * 127)
      }
      return gains
    }
    if shape < 0.001, shape > -0.001 { return 1 - t }
    return 1 - (exponential2(t * (shape * 1.442_695)) - 1) / (exponential(shape) - 1)
  }

  /// It fades whatever holds it. Audio thread.
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
    isCaught = false
    guard !isReleased else { return }
    isReleased = true
    if isWaiting {
      hasEnded = true
      return
    }
    if region.pointee.loopMode == .sustain { isLooping = false }
    if region.pointee.amplifier >= 0 { return }
    let frames = envelope.releaseFrames
    // A shorter release is a click whatever its curve: it becomes a fade without corners.
    if Float(frames) < 0.025 * rate {
      let shortest = Int(0.010 * rate)
      fadeOut(frames > shortest ? frames : shortest)
    } else {
      envelope.beginRelease()
    }
  }

  /// Modulation now says `added` for the amplifier's stages. Audio thread.
  @_noLocks mutating func changeTimes(added: UnsafePointer<Float>) {
    envelope.change(region.pointee.envelope, added: added, rate: rate)
  }

  /// The rate changed: the same pitch, the same times. Worker.
  mutating func retune(_ factor: Double) {
    rate *= Float(factor)
    age = Int64((Double(age) * factor).rounded())
    pitch /= factor
    ratio /= factor
    wait = Int32((Double(wait) * factor).rounded())
    if stop > 0 { stop = max(1, Int64((Double(stop) * factor).rounded())) }
    envelope.retune(factor)
    if offLength > 0 {
      offLength = max(1, Int32(min(2e9, (Double(offLength) * factor).rounded())))
      offFrame = min(offLength, Int32(min(2e9, (Double(offFrame) * factor).rounded())))
    }
  }

  // MARK: Sound

  /// Waits, as long as it must, from `from` on; gives where it begins to sound. Audio thread.
  @_noLocks @inline(__always) private mutating func waited(_ from: Int, _ to: Int) -> Int {
    guard wait > 0 || startsStream else { return from }
    let skip = Int(wait) < to &- from ? Int(wait) : to &- from
    wait &-= Int32(truncatingIfNeeded: skip)
    if startsStream, skip < to &- from {
      // Late rather than without its attack; it is counted as an under-run.
      isLate = !isRead(0)
      startsStream = isLate
      if isLate { return to }
    }
    return from &+ skip
  }

  /// Adds the frames `from..<to` of the block, for a voice that nothing shapes. Sets `hasEnded`. Audio
  /// thread.
  @_noLocks mutating func render(_ context: VoiceContext, from: Int, to: Int) {
    play(context, from, to, sends: nil)
  }

  /// The same, and so much of it to the reverb and to the chorus. Audio thread.
  @_noLocks mutating func render(
    _ context: VoiceContext, sends: UnsafePointer<Float>, from: Int, to: Int
  ) {
    play(context, from, to, sends: sends)
  }

  /// The compiler makes two of it, so that those who send nothing do not wait for what sending takes.
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

  /// Writes the frames `from..<to` of the block into the rows of the voice's lane, and the gains of both sides
  /// beside them. Sets `hasEnded`. Audio thread.
  @_noLocks mutating func write(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, slot: Int, from: Int,
    to: Int
  ) {
    write(context, &shape, &bank, slot, from, to, isSending: false)
  }

  /// The same, and beside the gains how much is sent. Audio thread.
  @_noLocks mutating func writeSending(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, slot: Int, from: Int,
    to: Int
  ) {
    write(context, &shape, &bank, slot, from, to, isSending: true)
  }

  /// As with `play`.
  @_noLocks @inline(__always) private mutating func write(
    _ context: VoiceContext, _ shape: inout VoiceShape, _ bank: inout FilterBank, _ slot: Int, _ from: Int,
    _ to: Int, isSending: Bool
  ) {
    let row = (slot & 15) &* FilterBank.stride
    var frame = waited(from, to)
    if frame > from {
      clearGains(context, row, frame &- from)
      // Filters are at rest until it sounds.
      setMemory(context.rows + row, 0, (frame &- from) &* 4)
      setMemory(context.rightRows + row, 0, (frame &- from) &* 4)
    }
    // Up to where there is something in the rows of gains; and of the sample.
    var written = frame
    var heard = frame
    while frame < to, !hasEnded || frame < heard {
      var count = to &- frame
      if shape.isMoving {
        if shape.frame == 0 || Int(shape.frame) == VoiceShape.period {
          shape.step(core, at: frame &- from, &bank, slot: slot, rate: rate)
          if shape.wasOver { fadeOut(shape.gainLeft == 0 && shape.gainRight == 0 ? 1 : Int(0.010 * rate)) }
        }
        if shape.isMoving {
          let left = VoiceShape.period &- Int(shape.frame)
          count = count < left ? count : left
        }
      }
      let place = row &+ frame &- from
      if heard <= frame {
        // All at once where control periods do not change it.
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
      // Most of a voice's life nothing but the shape has a say, and nothing ends.
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

  /// The sides of a stereo sample, nearer to each other or farther.
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
    var gain = envelope.next(count)
    if offLength > 0 { gain *= turningOff(count) }
    if isFading {
      fade.fill(context.fade, frames: count)
      gain *= vector(context.fade)
    }
    if count < 16 { gain.replace(with: 0, where: lanes16 .> Float(count) - 1) }
    return gain
  }

  /// Whether that was the end of it; sets `hasEnded` then.
  private var isOver: Bool {
    @_noLocks @inline(__always) mutating get {
      let isOver =
        envelope.isDone || (isFading && !fade.isMoving) || (offLength > 0 && offFrame == offLength)
      hasEnded = hasEnded || isOver
      return isOver
    }
  }
}
