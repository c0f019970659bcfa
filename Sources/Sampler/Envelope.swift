import Realtime

/// An amplifier envelope as an instrument states it.
struct EnvelopeSettings {
  /// Seconds.
  var delay: Float = 0
  var attack: Float = 0
  var hold: Float = 0
  var decay: Float = 0
  /// 0...1.
  var sustain: Float = 1
  var release: Float = 0.001
  /// Where the attack begins, 0...1.
  var start: Float = 0
  /// Added at velocity 127, in proportion below: seconds, and for `sustain` 0...1.
  var velocityDelay: Float = 0
  var velocityAttack: Float = 0
  var velocityHold: Float = 0
  var velocityDecay: Float = 0
  var velocitySustain: Float = 0
  var velocityRelease: Float = 0
  /// Cents by which the time becomes shorter with each key above 60.
  var keyHold: Float = 0
  var keyDecay: Float = 0
}

/// A sounding DAHDSR envelope: delay, attack (a straight line), hold, decay, sustain, release.
///
/// Decay and release are straight lines in decibels that would fall by 9 nepers (78 dB) in their time,
/// as ARIA players of SFZ do; the decay stops at the sustain level. Where such a line ends in silence it
/// is shifted to reach zero exactly at its end.
///
/// Every value is a function of the frames counted since its stage began, so that splitting a block
/// never changes a bit.
struct Envelope {
  enum Stage {
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
  /// The stage's values: `base + slope * t`, or `base + slope * 2^(t * speed)` when `speed` is not 0.
  private var base: Float = 0
  private var slope: Float = 0
  private var speed: Float = 0
  /// Frames and levels of the stages to come.
  private var attack: Int32 = 0
  private var hold: Int32 = 0
  private var decay: Int32 = 0
  private var release: Int32 = 0
  private var start: Float = 0
  private var sustain: Float = 0

  /// 9 nepers in octaves of amplitude, and as a factor.
  private static var depth: Float { @_noLocks get { 12.984255 } }
  private static var floor: Float { @_noLocks get { 0.00012340980 } }

  @_noLocks init() {}

  /// Starts from the beginning. `velocity` is 0...1, `rate` frames a second. Audio thread.
  @_noLocks init(_ settings: EnvelopeSettings, key: Float, velocity: Float, rate: Float) {
    attack = Self.frames(settings.attack + velocity * settings.velocityAttack, rate)
    let holdTime = settings.hold + velocity * settings.velocityHold
    let decayTime = settings.decay + velocity * settings.velocityDecay
    hold = Self.frames(holdTime * exponential2((60 - key) * settings.keyHold / 1200), rate)
    decay = Self.frames(decayTime * exponential2((60 - key) * settings.keyDecay / 1200), rate)
    release = Self.frames(settings.release + velocity * settings.velocityRelease, rate)
    start = settings.start
    let level = settings.sustain + velocity * settings.velocitySustain
    sustain = level < 0 ? 0 : (level > 1 ? 1 : level)
    let delay = Self.frames(settings.delay + velocity * settings.velocityDelay, rate)
    enter(.delay, length: delay)
    while frame >= length, stage.isBeforeSustain { enterNext() }
  }

  /// At most an hour; NaN is none.
  @_noLocks private static func frames(_ seconds: Float, _ rate: Float) -> Int32 {
    let count = seconds * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  var isDone: Bool { @_noLocks get { stage == .done } }
  var isReleasing: Bool { @_noLocks get { stage == .release || stage == .done } }
  /// The frames that the release takes.
  var releaseFrames: Int { @_noLocks get { Int(release) } }

  /// Whether the value rests, and will until something happens.
  var isSteady: Bool { @_noLocks get { stage == .sustain } }

  /// The value while it is steady.
  var steadyValue: Float { @_noLocks get { sustain } }

  /// The value of the next frame; for one that still rises, where it rises to. For choosing which voice
  /// is the quietest.
  var loudness: Float {
    @_noLocks get { stage.isBeforeSustain && stage != .decay ? 1 : next(lanes: SIMD16(repeating: 0))[0] }
  }

  /// Begins the release from the present value. Audio thread.
  @_noLocks mutating func beginRelease() {
    guard !isReleasing else { return }
    let level = stage == .delay ? 0 : next(lanes: SIMD16(repeating: 0))[0]
    guard level > 0, release > 0 else {
      enter(.done, length: 0)
      return
    }
    enter(.release, length: release)
    fall(from: level, to: 0, over: release)
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
      base = start
      slope = attack > 0 ? (1 - start) / Float(attack) : 0
    case .attack:
      enter(.hold, length: hold)
      base = 1
    case .hold:
      var frames = decay
      if sustain >= 1 {
        frames = 0
      } else if sustain > Self.floor {
        // Where the line crosses the sustain level.
        frames = Int32(Float(decay) * (-logarithm2(sustain) / Self.depth) + 0.5)
      }
      enter(.decay, length: frames)
      if frames > 0 { fall(from: 1, to: sustain, over: decay) }
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

  /// The stage's values `lanes` frames from now.
  @_noLocks @inline(__always) private func next(lanes: SIMD16<Float>) -> SIMD16<Float> {
    let t = lanes + Float(frame)
    return speed == 0 ? t * slope + base : exponential2(t * speed) * slope + base
  }

  /// The values of the next 16 frames, of which `frames` count; moves on by these. Audio thread.
  @_noLocks @inline(__always) mutating func next(_ frames: Int) -> SIMD16<Float> {
    if stage == .sustain { return SIMD16(repeating: sustain) }
    return moving(frames)
  }

  @_noLocks @inline(never) private mutating func moving(_ frames: Int) -> SIMD16<Float> {
    let lanes = SIMD16<Float>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    var values = SIMD16<Float>(repeating: 0)
    var from = 0
    while from < frames {
      let left = Int(length &- frame)
      let count = left < frames &- from ? left : frames &- from
      let shift = SIMD16(repeating: Float(from))
      values.replace(with: next(lanes: lanes - shift), where: lanes .>= shift)
      if stage != .sustain, stage != .done { frame &+= Int32(truncatingIfNeeded: count) }
      from &+= stage == .done ? frames : count
      while frame >= length, stage != .sustain, stage != .done { enterNext() }
    }
    return values
  }

  /// The rate changed: the same times in seconds. Worker.
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

/// 2^x for x of -126...0, to 2e-7: x split at its integer part, and the fraction's power of two by the
/// Taylor polynomial of degree six around the middle. Audio thread.
@_noLocks @inline(__always) func exponential2(_ x: SIMD16<Float>) -> SIMD16<Float> {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the mantissa.
  let magic: Float = 12_582_912
  let low = SIMD16<Float>(repeating: -126)
  let clamped = x.replacing(with: low, where: x .< low)
  let shifted = clamped + magic
  let whole = shifted - magic
  let f = clamped - whole
  let bits = unsafeBitCast(shifted, to: SIMD16<Int32>.self)
  let exponent = (bits &+ (127 &- 0x4B40_0000)) &<< 23
  let scale = unsafeBitCast(exponent, to: SIMD16<Float>.self)
  var p = f * 0.00015403530 + 0.0013333558
  p = p * f + 0.0096181291
  p = p * f + 0.055504109
  p = p * f + 0.24022651
  p = p * f + 0.69314718
  p = p * f + 1
  return p * scale
}
