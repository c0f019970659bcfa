import Realtime

/// State of a voice's `StagePlan`. Gains and depths are interpolated linearly over a control period;
/// everything else changes at its start, so that nothing depends on the split into blocks.
///
/// Noise and drive of Cakewalk's players are not documented anywhere: the meanings are ours.
struct VoiceStage {
  /// Gain of the noise, gain into the drive, hardness of the drive, depth of modulation: at the period's
  /// start, change per frame, and at its end.
  private var start = SIMD4<Float>(repeating: 0)
  private var change = SIMD4<Float>(repeating: 0)
  private var goal = SIMD4<Float>(repeating: 0)
  private var crusher = Crusher()
  /// Fraction of the noise's hold time per frame (1: no hold).
  private var noiseTurn: Float = 1
  /// The noise filter's tangent of half the angle; damping is constant.
  private var tangent: Float = 0
  /// Frequencies of the oscillators relative to the first, and their phases in 2^-32 cycles.
  private var ratios = SIMD16<Float>(repeating: 1)
  private var phases = SIMD16<UInt32>(repeating: 0)
  private var oscillators: UInt8 = 0
  private var random: UInt32 = 1
  private var noise = SIMD2<Float>(repeating: 0)
  private var noiseHeldTurn: Float = 1
  private var first = SIMD2<Float>(repeating: 0)
  private var second = SIMD2<Float>(repeating: 0)

  /// `values`: by slot of the voice. Audio thread.
  @_noLocks mutating func begin(
    _ plan: StagePlan, _ values: UnsafePointer<Float>, seed: UInt32, rate: Float
  ) {
    self = VoiceStage()
    random = seed | 1
    oscillators = plan.oscillators
    for index in 0..<Int(plan.oscillators) {
      let turns = plan.phase < 0 ? nextRandom() * 0.5 + 0.5 : plan.phase
      phases[index] = UInt32(turns < 1 ? turns * 4_294_967_040 : 0)
    }
    setGoal(values)
    start = goal
    setPeriod(values, rate)
  }

  @_noLocks init() {}

  /// Begins a control period; for a moving voice, `values` hold at its end. Audio thread.
  @_noLocks mutating func step(_ values: UnsafePointer<Float>, isMoving: Bool, rate: Float) {
    start = goal
    setGoal(values)
    change = isMoving ? (goal - start) * (1 / Float(ControlPeriod.frames)) : SIMD4(repeating: 0)
    if !isMoving { start = goal }
    setPeriod(values, rate)
  }

  @_noLocks private mutating func setGoal(_ values: UnsafePointer<Float>) {
    let decibels = Self.limited(values[Slot.noiseLevel], -96, 24)
    // Up to 40 dB.
    let drive = Self.limited(values[Slot.drive], 0, 100)
    goal = SIMD4(
      decibels > -96 ? exponential2(decibels * 0.166_096_404) : 0,
      drive > 0 ? exponential2(drive * 0.066_438_56) : 0,
      Self.limited(values[Slot.driveShape], 0, 100) * 0.01,
      Self.limited(values[Slot.oscillatorDepth], -10_000, 10_000) * 0.01)
  }

  @_noLocks private mutating func setPeriod(_ values: UnsafePointer<Float>, _ rate: Float) {
    crusher.set(bitReduction: values[Slot.bitReduction], decimation: values[Slot.decimation], rate: rate)
    noiseTurn = Crusher.turn(values[Slot.noiseStep], rate)
    // From 20 Hz to 20 kHz.
    let hertz = 20 * exponential2(Self.limited(values[Slot.noiseTone], 0, 100) * 0.099_657_84)
    tangent =
      FilterPowers.tangent(cents: SIMD16(repeating: 1200 * logarithm2(hertz / 8.175_799)), rate: rate)[0]
    let detune = Self.limited(values[Slot.oscillatorDetune], -12_000, 12_000) / 1200
    for index in 1..<(oscillators > 1 ? Int(oscillators) : 1) {
      ratios[index] = exponential2(detune * Self.spread[index])
    }
  }

  /// Detuning of nine oscillators relative to the setting, as in Cakewalk's players (sfzformat.info).
  private static var spread: SIMD16<Float> {
    @_noLocks get { SIMD16(0, -1, 1, -0.25, 0.25, -0.5, 0.5, -0.75, 0.75, 0, 0, 0, 0, 0, 0, 0) }
  }

  /// NaN becomes `low`.
  @_noLocks @inline(__always) private static func limited(_ x: Float, _ low: Float, _ high: Float) -> Float {
    x > low ? (x < high ? x : high) : low
  }

  /// -1...1, by Marsaglia's xorshift.
  @_noLocks @inline(__always) private mutating func nextRandom() -> Float {
    random ^= random &<< 13
    random ^= random &>> 17
    random ^= random &<< 5
    return Float(Int32(bitPattern: random)) * (1 / 2_147_483_648)
  }

  // MARK: Sound

  /// Processes frames of both sides in place; `frame` is the first one's index in its control period. Audio
  /// thread.
  @_noLocks mutating func process(
    _ plan: StagePlan, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>?, frame: Int,
    _ count: Int
  ) {
    for index in 0..<count {
      let now = start + change * Float(frame &+ index)
      var sound = SIMD2(left[index], right?[index] ?? left[index])
      if plan.hasNoise { sound += filtered(plan) * now[0] }
      if crusher.isUsed { sound = crusher.next(sound) }
      if now[1] > 1 {
        sound = SIMD2(Self.driven(sound.x, now[1], now[2]), Self.driven(sound.y, now[1], now[2]))
      }
      left[index] = sound.x
      if let right { right[index] = sound.y }
    }
  }

  /// Waveshaper that keeps full scale at full scale; `hardness` blends from a soft curve to a hard corner.
  @_noLocks @inline(__always) private static func driven(_ x: Float, _ gain: Float, _ hardness: Float)
    -> Float
  {
    let place = x * gain
    let size = place < 0 ? -place : place
    let soft = place / (1 + size) * ((1 + gain) / gain)
    let hard = place > 1 ? 1 : (place < -1 ? -1 : place)
    return soft + (hard - soft) * hardness
  }

  @_noLocks @inline(__always) private mutating func filtered(_ plan: StagePlan) -> SIMD2<Float> {
    noiseHeldTurn += noiseTurn
    if noiseHeldTurn >= 1 {
      noiseHeldTurn -= 1
      noise.x = nextRandom()
      noise.y = plan.isNoiseStereo ? nextRandom() : noise.x
    }
    if plan.noiseFilter == .none { return noise }
    let isOne = plan.noiseFilter == .lowpass1 || plan.noiseFilter == .highpass1
    if isOne {
      let share = tangent / (1 + tangent)
      let step = (noise - first) * share
      let low = first + step
      first = low + step
      return plan.noiseFilter == .lowpass1 ? low : noise - low
    }
    // As in `FilterPoles`, without resonance.
    let damping: Float = 1.414_213_6
    let poles = FilterPoles(tangent: tangent, damping: damping, stretch: 1)
    let v = noise - second
    let nextFirst = first * poles.keep + v * poles.feed
    let nextSecond = second + first * poles.feed + v * poles.lift
    let band = (first + nextFirst) * 0.5
    let low = (second + nextSecond) * 0.5
    first = nextFirst
    second = nextSecond
    if plan.noiseFilter == .lowpass { return low }
    return plan.noiseFilter == .bandpass ? band * damping : noise - band * damping - low
  }

  // MARK: Oscillators

  /// One cycle of a wave, in the memory of a sample.
  struct Wave {
    var plane: SamplePlane
    var frames: Int

    /// Value at a phase in 2^-32 cycles, by four-point interpolation. Audio thread.
    @_noLocks @inline(__always) func value(_ phase: UInt32) -> Float {
      let place = UInt64(phase) &* UInt64(frames)
      let frame = Int(place &>> 32)
      let x = Float(UInt32(truncatingIfNeeded: place) &>> 8) * (1 / 16_777_216)
      let a = plane[frame > 0 ? frame &- 1 : frames &- 1]
      let b = plane[frame]
      let c = plane[frame &+ 1 < frames ? frame &+ 1 : 0]
      let d = plane[frame &+ 2 < frames ? frame &+ 2 : frame &+ 2 &- frames]
      // Catmull-Rom.
      let slope = 0.5 * (c - a)
      let bend = a - 2.5 * b + 2 * c - 0.5 * d
      let curl = 0.5 * (d - a) + 1.5 * (b - c)
      return b + x * (slope + x * (bend + x * curl))
    }
  }

  /// Frequency of the first oscillator: cycles per frame at the control period's start, their change per
  /// frame, and the factor of the sampler's tuning.
  struct Speed {
    var turns: Double
    var change: Double
    var factor: Double
    var factors: UnsafePointer<Double>?
  }

  /// Writes frames of the oscillators. Audio thread.
  @_noLocks mutating func oscillate(
    _ plan: StagePlan, _ wave: Wave, _ left: UnsafeMutablePointer<Float>,
    _ right: UnsafeMutablePointer<Float>?,
    frame: Int, _ count: Int, _ speed: Speed
  ) {
    for index in 0..<count {
      let turns = speed.turns + speed.change * Double(frame &+ index)
      let step = turns * (speed.factors?[index] ?? speed.factor)
      if plan.mode == .sum {
        let last = Float(plan.oscillators) - 1
        var (sumLeft, sumRight): (Float, Float) = (0, 0)
        for number in 0..<Int(plan.oscillators) {
          let value = wave.value(phases[number])
          let share = Float(number) / last
          sumLeft += value * share
          sumRight += value * (1 - share)
          phases[number] = phases[number] &+ Self.fixed(step * Double(ratios[number]))
        }
        left[index] = sumLeft
        if let right { right[index] = sumRight }
        continue
      }
      let depth = start[3] + change[3] * Float(frame &+ index)
      let other = wave.value(phases[1])
      phases[1] = phases[1] &+ Self.fixed(step / Double(ratios[1]))
      var advance = step
      var sound: Float
      switch plan.mode {
      case .ring: sound = wave.value(phases[0]) * (1 - depth + depth * other)
      case .phase: sound = wave.value(phases[0] &+ Self.fixed(Double(depth * other)))
      default:
        sound = wave.value(phases[0])
        advance = step * Double(1 + depth * other)
      }
      phases[0] = phases[0] &+ Self.fixed(advance)
      left[index] = sound
      if let right { right[index] = sound }
    }
  }

  /// 2^-32 cycles, modulo one.
  @_noLocks @inline(__always) private static func fixed(_ turns: Double) -> UInt32 {
    guard turns < 1e6, turns > -1e6 else { return 0 }
    return UInt32(truncatingIfNeeded: Int64(turns * 4_294_967_296))
  }
}
