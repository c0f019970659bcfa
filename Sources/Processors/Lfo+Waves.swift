import CVector
import Realtime

/// Waves over places in the cycle: shapes, and random values that stay or glide.
extension Lfo {
  /// Where the positions in the cycle of a block's frames come from.
  enum Course {
    /// Places of the frames, all moved on.
    case places(UnsafePointer<Int64>, more: Int64)
    /// A first place, and the parts of each frame.
    case steady(first: Int64, step: Int64)
    /// Parts of the cycle, 2^32 to one.
    case parts(UnsafePointer<Int32>)

    @inline(__always) @_noLocks subscript(_ frame: Int) -> SIMD16<Int32> {
      switch self {
      case .places(let places, let more): sostenuto_shifted_parts(places + frame, more)
      case .steady(let first, let step):
        sostenuto_parts_from(first &+ step &* Int64(truncatingIfNeeded: frame), step)
      case .parts(let parts): UnsafeRawPointer(parts + frame).loadUnaligned(as: SIMD16<Int32>.self)
      }
    }
  }

  /// Writes one channel.
  struct Wave {
    let course: Course
    let high, scale, offset: Float
    let to: UnsafeMutablePointer<Float>

    /// A loop for each shape that is not random.
    @inline(__always) @_noLocks func write(_ shape: Float, _ frames: Int) {
      if shape == 0 {
        writeOne(0, frames)
      } else if shape == 1 {
        writeOne(1, frames)
      } else if shape == 2 {
        writeOne(2, frames)
      } else if shape == 3 {
        writeOne(3, frames)
      } else {
        writeOne(4, frames)
      }
    }

    @inline(__always) @_noLocks private func writeOne(_ shape: Float, _ frames: Int) {
      let high = Frames(repeating: high)
      var frame = 0
      while frame < frames {
        to.store(Lfo.wave(shape, course[frame], high) * scale + offset, frame)
        frame &+= 16
      }
    }
  }

  /// True for a single channel that nothing resets and no transport leads, in a block of whole groups of 32 frames.
  @inline(__always) @_noLocks func sweeps(_ block: Block) -> Bool {
    count == 1 && block.frames & 31 == 0 && block.inputs[0].isSilent && voices.pointee.lean == 0
  }

  /// Sine, triangle, saw or square of such a channel, of which only the rate moves. These need no cycle's number, so that
  /// 32 bits of each place are enough.
  @inline(never) @_noLocks mutating func sweep(_ block: Block, _ rates: UnsafePointer<Float>) {
    let voice = voices
    let parts = block.scratch.assumingMemoryBound(to: Int32.self)
    let ahead = Self.ahead(0, block)
    let end = sostenuto_write_swept_parts(
      rates, block.rate * 0.5, Self.parts / Double(block.rate), voice.pointee.place &+ ahead,
      Int64(truncatingIfNeeded: block.frames), parts)
    (voice.pointee.place, voice.pointee.wasOpen) = (end &- ahead, false)
    let (shape, range) = (block.crossfades[Self.shape].new, block.crossfades[Self.range].new)
    let wave = Wave(
      course: .parts(parts), high: block.parameters[Self.width].value(0) * 0.01, scale: 1 - 0.5 * range,
      offset: 0.5 * range, to: block.outputs[0][0])
    wave.write(shape, block.frames)
  }

  /// A block in which a single channel keeps its random value, with nothing that moves or could lead or reset it. False: it is
  /// none such, and nothing has happened.
  @inline(__always) @_noLocks mutating func stay(_ block: Block) -> Bool {
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, rate) = (block.parameters[Self.phase], block.parameters[Self.rate])
    let moving =
      Int(bitPattern: shape.blend) | Int(bitPattern: range.blend) | Int(bitPattern: ahead.stream)
      | Int(bitPattern: rate.stream)
    let voice = voices
    // A known value has begun, and the first channel has no spread.
    guard moving == 0, shape.new == 5, count == 1, !isLed, voice.pointee.isKnown, !voice.pointee.wasOpen,
      block.inputs[0].isSilent, ahead.values.pointee == 0, known[0] == rate.values.pointee,
      known[1] == block.rate
    else { return false }
    let (first, step) = (voice.pointee.place, knownStep &+ voice.pointee.lean)
    let last = first &+ step &* Int64(truncatingIfNeeded: block.frames &- 1)
    let number = first &>> 40
    guard number == last &>> 40, voice.pointee.number == UInt32(truncatingIfNeeded: number) else {
      return false
    }
    voice.pointee.place = last &+ step
    block.outputs[0][0].fill(voice.pointee.value * (1 - 0.5 * range.new) + 0.5 * range.new)
    return true
  }

  /// Random values of a rate that stays: mostly all frames are of one cycle.
  @inline(never) @_noLocks mutating func hold(_ block: Block) {
    var row = Row(block)
    let range = block.crossfades[Self.range].new
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    var channel = 0
    while channel < count {
      if let (_, _, pair) = rest(channel, block) {
        block.outputs[0][channel].fill(pair.value * scale + offset)
      } else {
        turn(&row, channel, block, isSmooth: false)
      }
      channel &+= 1
    }
  }

  /// The same, gliding from each value to the next.
  @inline(never) @_noLocks mutating func glide(_ block: Block) {
    var row = Row(block)
    let range = block.crossfades[Self.range].new
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    var channel = 0
    while channel < count {
      if let (first, step, pair) = rest(channel, block) {
        let (to, distance) = (block.outputs[0][channel], pair.next - pair.value)
        var frame = 0
        while frame < block.frames {
          let parts = sostenuto_parts_from(first &+ step &* Int64(truncatingIfNeeded: frame), step)
          to.store((pair.value + distance * Self.smooth(Self.done(parts))) * scale + offset, frame)
          frame &+= 16
        }
      } else {
        turn(&row, channel, block, isSmooth: true)
      }
      channel &+= 1
    }
  }

  /// How far a channel is ahead in a block in which that stays.
  @inline(__always) @_noLocks private static func ahead(_ channel: Int, _ block: Block) -> Int64 {
    let (percent, spread) = (block.parameters[phase].value(0), block.parameters[Self.spread].value(0))
    return percent == 0 && spread == 0 ? 0 : ahead(percent, spread, channel)
  }

  /// Advances a channel by a block within one cycle, if it is: the first place, the parts of a frame, and the cycle's values.
  @inline(__always) @_noLocks private mutating func rest(_ channel: Int, _ block: Block) -> (
    first: Int64, step: Int64, pair: (value: Float, next: Float)
  )? {
    guard block.inputs[0].isSilent else { return nil }
    let step = step(channel, block)
    let first = voices[channel].place &+ Self.ahead(channel, block)
    let length = step &* Int64(truncatingIfNeeded: block.frames &- 1)
    guard first &>> 40 == (first &+ length) &>> 40 else { return nil }
    voices[channel].wasOpen = false
    voices[channel].place &+= length &+ step
    return (first, step, pair(UInt32(truncatingIfNeeded: first &>> 40), channel))
  }

  /// A block of a channel in which a cycle may begin.
  @inline(never) @_noLocks private mutating func turn(
    _ row: inout Row, _ channel: Int, _ block: Block, isSmooth: Bool
  ) {
    let range = block.crossfades[Self.range].new
    write(&row, channel, block, rises(channel, block))
    let more = Self.ahead(channel, block)
    let wave = Wave(
      course: .places(row.places, more: more), high: 0, scale: 1 - 0.5 * range, offset: 0.5 * range,
      to: block.outputs[0][channel])
    vary(wave, row.places, more, channel, isSmooth: isSmooth, block.frames)
  }

  /// The random value of a channel in a cycle, and the next one, which are calculated once a cycle.
  @inline(__always) @_noLocks private mutating func pair(_ number: UInt32, _ channel: Int) -> (
    value: Float, next: Float
  ) {
    let voice = voices + channel
    if !voice.pointee.isKnown || voice.pointee.number != number { draw(voice, number, channel) }
    return (voice.pointee.value, voice.pointee.next)
  }

  @inline(never) @_noLocks private mutating func draw(
    _ voice: UnsafeMutablePointer<Voice>, _ number: UInt32, _ channel: Int
  ) {
    (voice.pointee.number, voice.pointee.isKnown) = (number, true)
    (voice.pointee.value, voice.pointee.next) = (chance(number, channel), chance(number &+ 1, channel))
  }

  /// Random values of frames of several cycles.
  @inline(never) @_noLocks mutating func vary(
    _ wave: Wave, _ places: UnsafePointer<Int64>, _ more: Int64, _ channel: Int, isSmooth: Bool, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      let numbers = unsafeBitCast(sostenuto_shifted_numbers(places + frame, more), to: SIMD16<UInt32>.self)
      var y = chance(numbers, channel)
      if isSmooth {
        let share = Self.smooth(Self.done(sostenuto_shifted_parts(places + frame, more)))
        y = y + (chance(numbers &+ 1, channel) - y) * share
      }
      wave.to.store(y * wave.scale + wave.offset, frame)
      frame &+= 16
    }
  }

  /// Sixteen frames of a shape, from their places on.
  @inline(__always) @_noLocks func wave(
    _ shape: Float, _ places: UnsafePointer<Int64>, _ ahead: Frames, _ width: Frames, _ channel: Int
  ) -> Frames {
    let parts = sostenuto_cycle_parts(places, ahead)
    if shape < 5 { return Self.wave(shape, parts, width) }
    let numbers = unsafeBitCast(sostenuto_cycle_numbers(places, ahead), to: SIMD16<UInt32>.self)
    let held = chance(numbers, channel)
    if shape == 5 { return held }
    return held + (chance(numbers &+ 1, channel) - held) * Self.smooth(Self.done(parts))
  }

  /// Sixteen frames of a shape that is not random, from parts of the cycle on.
  @inline(__always) @_noLocks private static func wave(
    _ shape: Float, _ parts: SIMD16<Int32>, _ width: Frames
  ) -> Frames {
    if shape == 0 { return Corners.sine(parts) }
    if shape == 1 {
      // A half of the cycle in quarters: beyond the first one it turns back.
      let x = converted(parts) * (1 / 1_073_741_824)
      let size = magnitude(x)
      return copySign(sostenuto_lesser(size, 2 - size), x)
    }
    let done = done(parts)
    if shape == 2 { return done * 2 - 1 }
    if shape == 3 { return 1 - done * 2 }
    return sostenuto_where_above(width - done, 0, Frames(repeating: 1), Frames(repeating: -1))
  }

  /// Parts of the cycle, 0..<1, in as many bits as are exact.
  @inline(__always) @_noLocks private static func done(_ parts: SIMD16<Int32>) -> Frames {
    let bits = unsafeBitCast(parts, to: SIMD16<UInt32>.self) &>> 8
    return converted(unsafeBitCast(bits, to: SIMD16<Int32>.self)) * (1 / 16_777_216)
  }

  /// A course from 0 to 1 that is level at both ends.
  @inline(__always) @_noLocks private static func smooth(_ done: Frames) -> Frames {
    done * done * done * (done * (done * 6 - 15) + 10)
  }

  /// Random values of -1...1 for numbers of cycles, which wrap with their 24 bits.
  @inline(__always) @_noLocks private func chance(_ numbers: SIMD16<UInt32>, _ channel: Int) -> Frames {
    let (low, high) = salt(channel)
    let hash = Noise.mixed(Noise.mixed((numbers & 0xff_ffff) ^ low) &+ high)
    return converted(unsafeBitCast(hash, to: SIMD16<Int32>.self)) * (1 / 2_147_483_648)
  }

  @inline(__always) @_noLocks private func chance(_ number: UInt32, _ channel: Int) -> Float {
    let (low, high) = salt(channel)
    let hash = Noise.mixed(Noise.mixed((number & 0xff_ffff) ^ low) &+ high)
    return Float(Int32(bitPattern: hash)) * (1 / 2_147_483_648)
  }

  /// Numbers of the node and the channel.
  @inline(__always) @_noLocks private func salt(_ channel: Int) -> (low: UInt32, high: UInt32) {
    (
      UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9,
      UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
    )
  }
}
