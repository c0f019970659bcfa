import Realtime

/// A low-frequency oscillator as an instrument states it; its frequency is one of the voice's values.
struct LfoSettings: Hashable {
  /// Seconds (in a bank: timecents) until it begins, and seconds until it is at full depth.
  var delay: Float = 0
  var fade: Float = 0
  /// 0..<1 of a turn.
  var phase: Float = 0
  var wave = Wave.sine
  /// Turns after which it rests (0: never).
  var turns: Float = 0

  /// The numbers are those of ARIA's `lfoN_wave`.
  enum Wave: UInt8, Hashable {
    case triangle, sine, pulse75, square, pulse25, pulse12, sawUp, sawDown
    case random = 12
  }
}

/// A running LFO. It is looked at once a control period of its voice.
struct Lfo {
  private var phase: Float = 0
  private var turn: Float = 0
  private var wait: Int32 = 0
  private var fade: Int32 = 0
  private var faded: Int32 = 0
  private var turns: Float = 0
  private var wave: UInt8 = 0
  private var seed: UInt32 = 0
  /// The frequency as it was last said, and turns a frame.
  private var frequency: Float = .nan
  private var pace: Float = 0

  @_noLocks init() {}

  /// `delay` and `fade` in seconds. Audio thread.
  @_noLocks init(_ settings: LfoSettings, delay: Float, fade: Float, rate: Float, seed: UInt32) {
    phase = settings.phase
    wait = Self.frames(delay, rate)
    self.fade = Self.frames(fade, rate)
    turns = settings.turns
    wave = settings.wave.rawValue
    self.seed = seed
  }

  @_noLocks private static func frames(_ seconds: Float, _ rate: Float) -> Int32 {
    let count = seconds * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  /// -1...1. Audio thread.
  var value: Float {
    @_noLocks get {
      if wait > 0 { return 0 }
      let value = shape
      return faded < fade ? value * Float(faded) / Float(fade) : value
    }
  }

  private var shape: Float {
    @_noLocks get {
      switch wave {
      case 0:
        // From 0 upwards.
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
        // A number of its own for each turn (a multiplicative hash).
        let hash = (seed &+ UInt32(turn)) &* 0x9E37_79B1
        return Float((hash ^ (hash &>> 15)) &* 0x85EB_CA6B &>> 8) / 8_388_608 - 1
      }
    }
  }

  /// `frequency` in turns a second, in a bank in cents above 8.176 Hz. Audio thread.
  @_noLocks mutating func advance(_ frames: Int, frequency: Float, isBank: Bool, rate: Float) {
    if frequency != self.frequency {
      self.frequency = frequency
      pace = (isBank ? 8.175_799 * exponential2(frequency / 1200) : frequency) / rate
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

  /// The rate changed. Worker.
  mutating func retune(_ factor: Double) {
    frequency = .nan
    wait = Int32(min(2e9, (Double(wait) * factor).rounded()))
    fade = Int32(min(2e9, (Double(fade) * factor).rounded()))
    faded = Int32(min(2e9, (Double(faded) * factor).rounded()))
  }
}
