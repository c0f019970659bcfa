import CVector
import Realtime

/// A running DAHDSR envelope: delay, attack (a straight line), hold, decay, sustain, release.
///
/// By default, decay and release are straight lines in decibels that would fall by 9 nepers (78 dB) in their
/// time; the decay stops at the sustain level. A line that ends in silence is shifted to reach zero exactly at
/// its end. Linear envelopes, for pitch and filters, fall linearly. Logarithmic times ("SoundFont Technical
/// Specification" 2.04, chapter 8.1.3) are for a fall from full to nothing: 96 dB.
///
/// Every value is a function of the frames counted since its stage began, so splitting a block never changes
/// a bit.
struct Envelope {
  enum Stage: UInt8 {
    case delay, attack, hold, decay, sustain, release, done

    var isBeforeSustain: Bool {
      @_noLocks get {
        switch self {
        case .delay, .attack, .hold, .decay: true
        case .sustain, .release, .done: false
        }
      }
    }
  }

  private(set) var stage: Stage = .done
  private var frame: Int32 = 0
  private var length: Int32 = 0
  /// Curve of the stage: `base + slope * t`, or `base + slope * 2^(t * speed)` when `speed` is not 0.
  private var base: Float = 0
  private var slope: Float = 0
  private var speed: Float = 0
  /// Frames and levels of later stages.
  private var attack: Int32 = 0
  private var hold: Int32 = 0
  private var decay: Int32 = 0
  private var release: Int32 = 0
  private var start: Float = 0
  private(set) var sustain: Float = 0
  private var isLinear = false
  private var isLogarithmic = false
  private var attackShape: Float = .nan
  private var decayShape: Float = .nan
  private var releaseShape: Float = .nan
  private var decaysToZero = true
  private var releasesFromFull = false

  /// 9 nepers in octaves of amplitude, and as a factor.
  private static var depth: Float { @_noLocks get { 12.984255 } }
  private static var floor: Float { @_noLocks get { 0.00012340980 } }

  @_noLocks init() {}

  /// Starts the envelope. `added`: modulation of the stages, by their numbers (6: of the start level). Audio
  /// thread.
  @_noLocks init(_ settings: EnvelopeSettings, added: UnsafePointer<Float>, rate: Float) {
    take(settings, added, rate)
    enter(.delay, length: frames(settings.delay + added[0], rate))
    while frame >= length, stage.isBeforeSustain { enterNext() }
  }

  /// Applies moved controllers. Later stages get new times and levels. In a dynamic envelope, the rest of the
  /// current stage is rescaled to its new time. A held note moves to a new sustain level within 5 ms. Audio
  /// thread.
  @_noLocks mutating func change(_ settings: EnvelopeSettings, added: UnsafePointer<Float>, rate: Float) {
    let (level, times) = (sustain, (attack, hold, decay, release))
    take(settings, added, rate)
    // 5 ms, so that nothing clicks.
    let least = Int32(0.005 * rate) &+ 1
    guard settings.isDynamic else {
      // The end level of a decay is fixed when it begins.
      if stage == .decay || !stage.isBeforeSustain { sustain = level }
      return
    }
    switch stage {
    case .attack: stretch(from: times.0, to: attack, least)
    case .hold: stretch(from: times.1, to: hold, least)
    case .decay:
      stretch(from: times.2, to: decay, least)
      if sustain != level { go(to: sustain, within: length &- frame > least ? length &- frame : least) }
    case .sustain:
      if sustain != level { go(to: sustain, within: least) }
    // A shorter one would click: see `Voice.release`.
    case .release: stretch(from: times.3, to: release, Int32(0.025 * rate))
    case .delay, .done: break
    }
  }

  /// A straight line from the present value, as a decay stage.
  @_noLocks private mutating func go(to level: Float, within frames: Int32) {
    let from = stage == .sustain ? base : next(lanes: SIMD16(repeating: 0))[0]
    enter(.decay, length: frames)
    base = from
    slope = (level - from) / Float(frames)
  }

  /// Rescales the current stage from one duration to another; the value continues from where it is.
  @_noLocks private mutating func stretch(from old: Int32, to new: Int32, _ least: Int32) {
    guard old > 0, new != old, length > frame else { return }
    let value = next(lanes: SIMD16(repeating: 0))[0]
    let factor = Double(new > least ? new : least) / Double(old)
    let end = base + slope * Float(length)
    length = Self.scaled(length, factor)
    frame = Self.scaled(frame, factor)
    if frame >= length { length = frame &+ 1 }
    if speed == 0 {
      slope = (end - value) / Float(length &- frame)
      base = value - slope * Float(frame)
    } else {
      speed /= Float(factor)
      slope = (value - base) / exponential2(Float(frame) * speed)
    }
  }

  /// Audio thread.
  @_noLocks private static func scaled(_ frames: Int32, _ factor: Double) -> Int32 {
    let scaled = Double(frames) * factor
    return scaled < 2e9 ? Int32(scaled + 0.5) : 2_000_000_000
  }

  @_noLocks private mutating func take(
    _ settings: EnvelopeSettings, _ added: UnsafePointer<Float>, _ rate: Float
  ) {
    isLinear = settings.isLinear
    isLogarithmic = settings.isLogarithmic
    attackShape = settings.attackShape
    decayShape = settings.decayShape
    releaseShape = settings.releaseShape
    decaysToZero = settings.decaysToZero
    releasesFromFull = settings.releasesFromFull
    attack = frames(settings.attack + added[1], rate)
    hold = frames(settings.hold + added[2], rate)
    // An envelope that is linear in decibels falls by 9 nepers in its time, a logarithmic one by 96 dB.
    let share: Float = isLogarithmic && !isLinear ? 0.814_302 : 1
    decay = frames(settings.decay + added[3], rate, share)
    release = frames(settings.release + added[5], rate, share)
    start = settings.start + added[6]
    let level = settings.sustain + added[4]
    if isLogarithmic {
      sustain =
        isLinear ? 1 - level / 1000 : (level >= 960 ? 0 : exponential2(-level * 0.016_609_640))
    } else {
      sustain = level
    }
    sustain = sustain > 0 ? (sustain < 1 ? sustain : 1) : 0
  }

  /// Frames for a time, an hour at most; NaN counts as 0. -12000 timecents (1 ms) are no time at all.
  @_noLocks private func frames(_ time: Float, _ rate: Float, _ share: Float = 1) -> Int32 {
    let limited = time < 8000 ? time : 8000
    let seconds = isLogarithmic ? (limited > -12000 ? exponential2(limited / 1200) : 0) : time
    let count = seconds * share * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  var isDone: Bool { @_noLocks get { stage == .done } }
  var isReleasing: Bool { @_noLocks get { stage == .release || stage == .done } }
  /// Frames of the release.
  var releaseFrames: Int { @_noLocks get { Int(release) } }

  /// True while the value is constant without further events.
  var isSteady: Bool { @_noLocks get { stage == .sustain || stage == .done } }

  /// The value of the next frame; for a rising envelope, the final value. Used for choosing the quietest
  /// voice.
  var loudness: Float {
    @_noLocks get { stage.isBeforeSustain && stage != .decay ? 1 : next(lanes: SIMD16(repeating: 0))[0] }
  }

  /// Begins the release from the present value. Audio thread.
  @_noLocks mutating func beginRelease() {
    guard !isReleasing else { return }
    let level = isLinear ? value : (stage == .delay ? 0 : next(lanes: SIMD16(repeating: 0))[0])
    guard level > 0, release > 0 else {
      enter(.done, length: 0)
      return
    }
    if releasesFromFull || releaseShape == releaseShape {
      let shape = usual(releaseShape)
      let place = releasesFromFull ? Self.place(of: level, shape) : 0
      enter(.release, length: Int32(Float(release) * (1 - place) + 0.5))
      if length > 0 {
        bend(from: releasesFromFull ? 1 : level, to: 0, shape, over: release, beginningAt: place)
      } else {
        enter(.done, length: 0)
      }
    } else if isLinear {
      // A logarithmic release has a constant slope, another a constant time.
      let length = isLogarithmic ? Int32(Float(release) * level + 0.5) : release
      enter(.release, length: length)
      base = level
      slope = length > 0 ? -level / Float(length) : 0
    } else {
      enter(.release, length: release)
      fall(from: level, to: 0, over: release)
    }
  }

  @_noLocks private mutating func fall(from level: Float, to end: Float, over frames: Int32) {
    speed = -Self.depth / Float(frames)
    if end > 0 {
      base = 0
      slope = level
    } else {
      slope = level / (1 - Self.floor)
      base = -slope * Self.floor
    }
  }

  /// Default shape of a stage: 9 nepers, or straight.
  @_noLocks private func usual(_ shape: Float) -> Float {
    shape == shape ? shape : (isLinear ? 0 : -9)
  }

  /// Moves between two levels along (e^(s t) - 1) / (e^s - 1) for t in 0...1 (s: the shape), starting at t
  /// = `place`.
  @_noLocks private mutating func bend(
    from level: Float, to end: Float, _ shape: Float, over frames: Int32, beginningAt place: Float = 0
  ) {
    if shape < 0.001, shape > -0.001 {
      slope = (end - level) / Float(frames)
      base = level + (end - level) * place
      return
    }
    let whole = (end - level) / (exponential(shape) - 1)
    slope = whole * exponential(shape * place)
    base = level - whole
    speed = shape * 1.442_695 / Float(frames)
  }

  /// The t at which such a curve from 1 to 0 passes a level.
  @_noLocks private static func place(of level: Float, _ shape: Float) -> Float {
    let fallen = 1 - level
    if shape < 0.001, shape > -0.001 { return fallen }
    let place = logarithm2(1 + fallen * (exponential(shape) - 1)) * 0.693_147 / shape
    return place > 0 ? (place < 1 ? place : 1) : 0
  }

  @_noLocks private mutating func enter(_ next: Stage, length frames: Int32) {
    stage = next
    frame = 0
    length = frames
    base = 0
    slope = 0
    speed = 0
  }

  @_noLocks private mutating func enterNext() {
    switch stage {
    case .delay:
      enter(.attack, length: attack)
      if attackShape == attackShape, attack > 0 {
        bend(from: start, to: 1, attackShape, over: attack)
      } else {
        base = start
        slope = attack > 0 ? (1 - start) / Float(attack) : 0
      }
    case .attack:
      enter(.hold, length: hold)
      base = 1
    case .hold:
      var frames = decay
      if sustain < 1, !decaysToZero || decayShape == decayShape {
        let shape = usual(decayShape)
        if decaysToZero { frames = Int32(Float(decay) * Self.place(of: sustain, shape) + 0.5) }
        enter(.decay, length: frames)
        if frames > 0 { bend(from: 1, to: decaysToZero ? 0 : sustain, shape, over: decay) }
        return
      }
      if sustain >= 1 {
        frames = 0
      } else if isLinear {
        frames = Int32(Float(decay) * (1 - sustain) + 0.5)
      } else if sustain > Self.floor {
        // The frame at which the line reaches the sustain level.
        frames = Int32(Float(decay) * (-logarithm2(sustain) / Self.depth) + 0.5)
      }
      enter(.decay, length: frames)
      if isLinear {
        base = 1
        slope = frames > 0 ? -(1 - sustain) / Float(frames) : 0
      } else if frames > 0 {
        fall(from: 1, to: sustain, over: decay)
      }
    case .decay:
      if sustain <= 0 {
        enter(.done, length: 0)
      } else {
        enter(.sustain, length: .max)
        base = sustain
      }
    default:
      enter(.done, length: 0)
    }
  }

  /// The value of the next frame, for envelopes evaluated once per control period. Audio thread.
  var value: Float {
    @_noLocks get {
      if stage == .done || stage == .delay { return 0 }
      let t = Float(frame)
      // A logarithmic modulation envelope has a convex attack (chapter 8.1.2): 1 + 400 / 960 log10(t).
      if isLinear, isLogarithmic, stage == .attack {
        let risen = 1 + 0.125_429 * logarithm2(t * slope + base)
        return frame > 0 && risen > 0 ? risen : 0
      }
      return speed == 0 ? t * slope + base : exponential2(t * speed) * slope + base
    }
  }

  /// Advances the envelope. Audio thread.
  @_noLocks mutating func advance(_ frames: Int) {
    var count = frames
    while count > 0, stage != .sustain, stage != .done {
      let left = Int(length &- frame)
      let step = left < count ? left : count
      frame &+= Int32(truncatingIfNeeded: step)
      count &-= step
      while frame >= length, stage != .sustain, stage != .done { enterNext() }
    }
  }

  /// The stage's values `lanes` frames from now.
  @_noLocks @inline(__always) private func next(lanes: SIMD16<Float>) -> SIMD16<Float> {
    let t = lanes + Float(frame)
    return sostenuto_add_product(
      SIMD16(repeating: base), speed == 0 ? t : exponential2(t * speed), SIMD16(repeating: slope))
  }

  /// The values of the next 16 frames, of which `frames` are valid; advances by these. `scratch`: memory for a
  /// vector. Audio thread.
  @_noLocks @inline(__always)
  mutating func next(_ frames: Int, _ scratch: UnsafeMutablePointer<Float>) -> SIMD16<Float> {
    if stage == .sustain { return SIMD16(repeating: sustain) }
    // A vector does not come back from a call in one piece.
    move(frames, scratch)
    return vector(scratch)
  }

  @_noLocks @inline(never) private mutating func move(_ frames: Int, _ target: UnsafeMutablePointer<Float>) {
    let lanes = lanes16
    // Most of the time no stage ends.
    if Int(length &- frame) > frames, stage != .done {
      store(next(lanes: lanes), target)
      frame &+= Int32(truncatingIfNeeded: frames)
      return
    }
    var values = SIMD16<Float>(repeating: 0)
    var from = 0
    while from < frames {
      let left = Int(length &- frame)
      let count = left < frames &- from ? left : frames &- from
      let shift = SIMD16(repeating: Float(from))
      values.replace(with: next(lanes: lanes - shift), where: lanes .> Float(from) - 1)
      if stage != .sustain, stage != .done { frame &+= Int32(truncatingIfNeeded: count) }
      from &+= stage == .done ? frames : count
      while frame >= length, stage != .sustain, stage != .done { enterNext() }
    }
    store(values, target)
  }

  /// Adapts to a new rate: the same times in seconds. Worker.
  mutating func retune(_ factor: Double) {
    func scaled(_ frames: Int32) -> Int32 { Int32(min(2e9, (Double(frames) * factor).rounded())) }
    if stage != .sustain, stage != .done, length > 0 {
      let whole = scaled(length)
      frame = min(scaled(frame), whole)
      length = whole
      if speed == 0 { slope /= Float(factor) } else { speed /= Float(factor) }
    }
    attack = scaled(attack)
    hold = scaled(hold)
    decay = scaled(decay)
    release = scaled(release)
  }
}

/// 2^x for x of -126...126. Audio thread.
@_noLocks @inline(__always) func exponential2(_ x: SIMD16<Float>) -> SIMD16<Float> {
  sostenuto_powers_of_two(x)
}
