import Realtime

/// A running LFO, evaluated once per control period of its voice.
struct Lfo {
  private var phase: Float = 0
  private var turn: Float = 0
  private var wait: Int32 = 0
  private var fade: Int32 = 0
  private var faded: Int32 = 0
  private var turns: Float = 0
  private var waves: UnsafePointer<LfoWave>?
  /// A copy of the first wave, since most LFOs have no other.
  private var wave = LfoWave(shape: .sine)
  private var waveCount: Int32 = 0
  private var steps: UnsafePointer<Float>?
  private var stepCount: Int32 = 0
  private var seed: UInt32 = 0
  /// Last frequency, and cycles per frame at it.
  private var frequency: Float = .nan
  private var pace: Float = 0

  @_noLocks init() {}

  /// `delay` and `fade` in seconds; `phase` is added to the plan's. Audio thread.
  @_noLocks init(
    _ plan: LfoPlan, _ waves: UnsafePointer<LfoWave>, _ steps: UnsafePointer<Float>, delay: Float,
    fade: Float, phase added: Float, rate: Float, seed: UInt32
  ) {
    phase = plan.phase
    if added != 0, added < 1e6, added > -1e6 {
      phase += added - Float(Int32(added))
      phase = phase >= 1 ? phase - 1 : (phase < 0 ? phase + 1 : phase)
    }
    wait = Self.frames(delay, rate)
    self.fade = Self.frames(fade, rate)
    turns = plan.turns
    self.waves = waves + Int(plan.firstWave)
    if plan.waveCount > 0 { wave = waves[Int(plan.firstWave)] }
    waveCount = plan.waveCount
    self.steps = steps + Int(plan.firstStep)
    stepCount = plan.stepCount
    self.seed = seed
  }

  @_noLocks private static func frames(_ seconds: Float, _ rate: Float) -> Int32 {
    let count = seconds * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  /// -1...1, or the sum of several waves. (Mutating, so that it is read in place: see `VoiceShape`.) Audio
  /// thread.
  var value: Float {
    @_noLocks mutating get {
      if wait > 0 { return 0 }
      let value = stepCount > 0 ? step : swing
      return faded < fade ? value * Float(faded) / Float(fade) : value
    }
  }

  private var step: Float {
    @_noLocks mutating get {
      let place = Int32(phase * Float(stepCount))
      return steps![Int(place < stepCount ? place : stepCount &- 1)]
    }
  }

  private var swing: Float {
    @_noLocks mutating get {
      var sum: Float = 0
      var wave = wave
      var index = 0
      while index < Int(waveCount) {
        sum += wave.offset + wave.scale * value(of: wave)
        index &+= 1
        if index < Int(waveCount) { wave = waves![index] }
      }
      return sum
    }
  }

  @_noLocks private mutating func value(of wave: LfoWave) -> Float {
    var phase = phase
    var turn = Double(turn)
    if wave.ratio != 1 {
      let turns = (turn + Double(phase)) * Double(wave.ratio)
      turn = Double(Int64(turns))
      phase = Float(turns - turn)
    }
    switch wave.shape.rawValue {
    case 0:
      // Starts at 0, upwards.
      let shifted = phase < 0.25 ? phase + 0.75 : phase - 0.25
      let distance = shifted - 0.5
      return 4 * (distance < 0 ? -distance : distance) - 1
    case 1: return sine(2 * Float.pi * phase)
    case 2: return phase < 0.75 ? 1 : -1
    case 3: return phase < 0.5 ? 1 : -1
    case 4: return phase < 0.25 ? 1 : -1
    case 5: return phase < 0.125 ? 1 : -1
    case 6: return 2 * phase - 1
    case 7: return 1 - 2 * phase
    default:
      // A new random number for each half cycle (a multiplicative hash).
      let half = UInt32(truncatingIfNeeded: Int64(turn) &* 2 &+ (phase < 0.5 ? 0 : 1))
      let hash = (seed &+ half) &* 0x9E37_79B1
      let mixed = (hash ^ (hash &>> 15)) &* 0x85EB_CA6B
      return Float(mixed &>> 8) / 8_388_608 - 1
    }
  }

  /// `frequency` in Hz, if logarithmic in cents above 8.176 Hz. Audio thread.
  @_noLocks mutating func advance(_ frames: Int, frequency: Float, isLogarithmic: Bool, rate: Float) {
    if frequency != self.frequency {
      self.frequency = frequency
      pace = (isLogarithmic ? 8.175_799 * exponential2(frequency / 1200) : frequency) / rate
    }
    var count = frames
    if wait > 0 {
      let waited = Int(wait) < count ? Int(wait) : count
      wait &-= Int32(truncatingIfNeeded: waited)
      count &-= waited
    }
    guard count > 0, turns == 0 || turn < turns else { return }
    if faded < fade {
      let left = Int(fade &- faded)
      faded &+= Int32(truncatingIfNeeded: left < count ? left : count)
    }
    phase += pace * Float(count)
    if phase >= 1 || phase < 0 {
      let whole = phase < 1e6 && phase > -1e6 ? Float(Int32(phase)) : 0
      turn += whole
      phase -= whole
      if phase < 0 { phase += 1 }
      if !(phase >= 0 && phase < 1) { phase = 0 }
      if turns > 0, turn >= turns { phase = 0 }
      if turn > 1e6 { turn = 0 }
    }
  }

  /// Adapts to a new rate. Worker.
  mutating func retune(_ factor: Double) {
    frequency = .nan
    wait = Int32(min(2e9, (Double(wait) * factor).rounded()))
    fade = Int32(min(2e9, (Double(fade) * factor).rounded()))
    faded = Int32(min(2e9, (Double(faded) * factor).rounded()))
  }
}
