import CVector
import Realtime

/// One stroke of a drum.
struct DrumStroke: BitwiseCopyable {
  /// Frames since it began, and those that it takes; 0: it is over.
  private var age = 0
  private var length = 0
  /// Frames since it began to fade out; below zero: it does not.
  private var faded = -1
  private var fadeFrames: Float = 1

  private var sound = 0
  private var strength: Float = 0
  private var key: UInt32 = 0
  private var tune: Float = 0
  private var decay: Float = 0
  private var tone: Float = 0

  /// Increments of two sines' phases.
  private var first: Int32 = 0
  private var second: Int32 = 0
  /// Cycles that the fall of the pitch adds, and logarithms to base 2 of what a frame leaves: of the fall, of sines, of noise and
  /// of a clap's burst.
  private var sweep: Float = 0
  private var sweepFall: Float = 0
  private var bodyFall: Float = 0
  private var noiseFall: Float = 0
  private var burstFall: Float = 0
  /// Frames of a burst.
  private var burst: Float = 1
  private var share: Float = 0
  /// Of the band of a clap's noise.
  private var loudness: Float = 1
  private var filter = DrumFilter()
  private var filterAgain = DrumFilter()

  @_noLocks init() {}

  /// A stroke of 0 bass, 1 snare, 2 hat, 3 clap. `key` of its noise. Audio thread.
  @_noLocks init(
    sound: Int, strength: Float, key: UInt32, tune: Float, decay: Float, tone: Float, _ rate: Float
  ) {
    (self.sound, self.strength, self.key) = (sound, strength, key)
    self.tune = limited(tune, -96, 96)
    self.decay = limited(decay * 0.01, 0.1, 10)
    self.tone = limited(tone * 0.01, 0, 1)
    prepare(rate)
  }

  var isSounding: Bool { @inline(__always) @_noLocks get { length > 0 } }

  /// Begins to fade out, if it has not. Audio thread.
  @_noLocks mutating func fade() { if faded < 0 { faded = 0 } }

  /// Goes on at another rate. Worker.
  mutating func retune(to rate: Float, by factor: Double) {
    guard isSounding else { return }
    age = Int(Double(age) * factor)
    if faded > 0 { faded = Int(Double(faded) * factor) }
    prepare(rate)
  }

  /// Seconds in which each sound falls by 60 dB.
  @_noLocks static func time(_ sound: Int) -> Float { sound == 0 ? 0.6 : sound == 2 ? 0.12 : 0.25 }

  /// Calculates the coefficients that depend on the rate.
  @_noLocks private mutating func prepare(_ rate: Float) {
    let pitch = exponential2(tune * (1 / 12))
    let time = Self.time(sound) * decay
    // 60 dB.
    let fall = -9.965_784 / (time * rate)
    (bodyFall, noiseFall) = (fall, fall)
    fadeFrames = 0.005 * rate
    length = Int(2 * time * rate) &+ 1
    let scale = MovingPhases.scale(rate)
    switch sound {
    case 0:
      let freq = limited(50 * pitch, 0, 0.05 * rate)
      first = MovingPhases.step(freq, scale)
      sweep = freq * (exponential2(3 * tone) - 1) * 0.03
      sweepFall = -1.442_695 / (0.03 * rate)
    case 1:
      first = MovingPhases.step(limited(185 * pitch, 0, 0.45 * rate), scale)
      second = MovingPhases.step(limited(330 * pitch, 0, 0.45 * rate), scale)
      share = tone
      filter.tune(1000 * pitch, 1.414_213_6, rate)
    case 2:
      let freq = 4000 * pitch * exponential2(1.5 * tone)
      filter.tune(freq, 1.414_213_6, rate)
      filterAgain.tune(freq, 1.414_213_6, rate)
    default:
      let freq = 700 * pitch * exponential2(1.5 * tone)
      filter.tune(freq, 0.5, rate)
      // A band of noise is as loud as it is wide.
      loudness = 0.8 * squareRoot(rate / limited(freq, 1, 0.45 * rate))
      burst = 0.01 * rate
      burstFall = -9.965_784 / (0.02 * rate)
      length &+= Int(3 * burst)
    }
  }

  /// Adds the next frames to what is there. `room`: for 80 frames. Audio thread.
  @inline(never) @_noLocks mutating func add(
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ room: UnsafeMutablePointer<Float>
  ) {
    if sound > 0 { makeNoise(room, frames) }
    var frame = 0
    while frame < frames {
      let n = converted(sostenuto_row(Int32(truncatingIfNeeded: age &+ frame), 1))
      var y: Frames
      switch sound {
      case 0: y = bass(n, frame)
      case 1: y = snare(n, frame, room)
      case 2: y = Self.bounded(room.vector(frame) * level(n, noiseFall) * 0.8, 0.9)
      default: y = Self.bounded(room.vector(frame) * clap(n) * loudness, 0.7)
      }
      if faded >= 0 {
        let m = converted(sostenuto_row(Int32(truncatingIfNeeded: faded &+ frame), 1))
        let left = limited(1 - m * (1 / fadeFrames), 0, 1)
        y = y * (left * left * (3 - 2 * left))
      }
      y = sostenuto_where_above(Float(length) - 0.5 - n, 0, y, Frames(repeating: 0))
      to.store(to.vector(frame) + y * strength, frame)
      frame &+= 16
    }
    age &+= frames
    if faded >= 0 { faded &+= frames }
    if age >= length || Float(faded) >= fadeFrames { length = 0 }
  }

  /// Never beyond 1: what exceeds `knee` goes less and less far. The highest peak of noise is another one in each stroke, of most
  /// above it. (A hat has little below its filter, and few peaks are bent, so that this stays so.)
  @inline(__always) @_noLocks private static func bounded(_ y: Frames, _ knee: Float) -> Frames {
    let size = magnitude(y)
    let more = atLeast(0, size - knee)
    return copySign(sostenuto_where_above(size, knee, knee + more / (1 + more * (1 / (1 - knee))), size), y)
  }

  /// Level of a decay after n frames.
  @inline(__always) @_noLocks private func level(_ n: Frames, _ fall: Float) -> Frames {
    sostenuto_powers_of_two(n * fall)
  }

  @inline(__always) @_noLocks private func phase(_ step: Int32, _ frame: Int) -> SIMD16<Int32> {
    sostenuto_row(step &* Int32(truncatingIfNeeded: age &+ frame), step)
  }

  @inline(__always) @_noLocks private func bass(_ n: Frames, _ frame: Int) -> Frames {
    let ahead = (1 - level(n, sweepFall)) * sweep
    let phases = phase(first, frame) &+ sostenuto_low_bits(ahead, 4_294_967_296, 6_755_399_441_055_744)
    return Corners.sine(phases) * level(n, bodyFall)
  }

  @inline(__always) @_noLocks private func snare(
    _ n: Frames, _ frame: Int, _ noise: UnsafeMutablePointer<Float>
  ) -> Frames {
    let body = Corners.sine(phase(first, frame)) * 0.6 + Corners.sine(phase(second, frame)) * 0.4
    return body * ((1 - share) * level(n, bodyFall)) + Self.bounded(
      noise.vector(frame) * level(n, noiseFall) * 1.2, 0.7) * share
  }

  /// Three bursts, and a fourth that lasts.
  @inline(__always) @_noLocks private func clap(_ n: Frames) -> Frames {
    // Half a frame later than asked, so that no number is in the middle.
    let place = limited((n + 0.5) * (1 / burst) - 0.5, -0.25, 3)
    let number = (place + 12_582_912) - 12_582_912
    let fall = sostenuto_where_above(
      number, 2.5, Frames(repeating: noiseFall), Frames(repeating: burstFall))
    return sostenuto_powers_of_two((n - number * burst) * fall)
  }

  /// Noise behind the filters.
  @inline(__always) @_noLocks private mutating func makeNoise(
    _ room: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      let number = unsafeBitCast(
        sostenuto_row(Int32(truncatingIfNeeded: age &+ frame), 1), to: SIMD16<UInt32>.self)
      let hash = Noise.mixed(Noise.mixed(number) ^ key)
      room.store(converted(unsafeBitCast(hash, to: SIMD16<Int32>.self)) * (1 / 2_147_483_648), frame)
      frame &+= 16
    }
    if sound == 3 {
      filter.passBand(room, frames)
    } else {
      filter.passHigh(room, frames)
      if sound == 2 { filterAgain.passHigh(room, frames) }
    }
  }
}

/// A state-variable filter without delay in its loop (V. Zavalishin, "The Art of VA Filter Design", 2012).
struct DrumFilter: BitwiseCopyable {
  private var damping: Float = 1
  private var a: Float = 1
  private var b: Float = 0
  private var c: Float = 0
  private var x: Float = 0
  private var y: Float = 0

  @_noLocks init() {}

  /// `damping`: one over the quality. What it has heard stays.
  @_noLocks mutating func tune(_ frequency: Float, _ damping: Float, _ rate: Float) {
    let g = tangent(.pi * limited(frequency / rate, 0.0001, 0.45))
    self.damping = damping
    a = 1 / (1 + g * (g + damping))
    b = g * a
    c = g * b
  }

  @inline(__always) @_noLocks private mutating func step(_ input: Float) -> (band: Float, low: Float) {
    let rest = input - y
    let band = a * x + b * rest
    let low = y + b * x + c * rest
    x = 2 * band - x
    y = 2 * low - y
    return (band, low)
  }

  /// Audio thread.
  @inline(never) @_noLocks mutating func passHigh(_ frames: UnsafeMutablePointer<Float>, _ count: Int) {
    var frame = 0
    while frame < count {
      let input = frames[frame]
      let (band, low) = step(input)
      frames[frame] = input - damping * band - low
      frame &+= 1
    }
  }

  /// As loud in the middle as before.
  @inline(never) @_noLocks mutating func passBand(_ frames: UnsafeMutablePointer<Float>, _ count: Int) {
    var frame = 0
    while frame < count {
      frames[frame] = damping * step(frames[frame]).band
      frame &+= 1
    }
  }
}
