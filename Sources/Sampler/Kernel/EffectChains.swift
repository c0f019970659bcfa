import Realtime

/// Running effects: those of the present instrument and, during a fade, those of the one before.
struct EffectChains {
  private let runners: UnsafeMutablePointer<EffectRunner>
  private let spare: UnsafeMutablePointer<Float>
  private var plan = EffectPlan()
  private var before = EffectPlan()
  /// Half of the runners that belongs to the present plan.
  private var half = 0
  private var fade = Ramp(1)
  private var rate: Float = 48000
  /// `isUsed`: there is something to process. `isRinging`: even without sounding voices.
  private(set) var isUsed = false
  private(set) var isRinging = false

  private static var perPlan: Int { @_noLocks get { EffectPlan.buses &* EffectPlan.most } }

  /// Worker.
  init(_ arena: inout Arena) {
    runners = arena.take(EffectRunner.self, 2 * Self.perPlan)
    spare = arena.take(Float.self, 5 * 80)
  }

  /// True when a chain uses the voices' sends.
  var areSendsUsed: Bool {
    @_noLocks get {
      isUsed && (plan.shares.1 > 0 || plan.shares.2 > 0 || before.shares.1 > 0 || before.shares.2 > 0)
    }
  }

  /// Changes to another instrument's effects, with a 10 ms fade. Audio thread.
  @_noLocks mutating func take(_ new: EffectPlan, rate: Float) {
    self.rate = rate
    if new.isEmpty, !isUsed { return }
    before = plan
    plan = new
    half = 1 &- half
    isUsed = true
    isRinging = true
    start(half, plan)
    fade = Ramp(0)
    fade.move(to: 1, over: Int(0.010 * rate))
  }

  /// Worker.
  mutating func retune(_ rate: Float) {
    self.rate = rate
    tune(half, plan)
    tune(1 - half, before)
  }

  @_noLocks private func start(_ half: Int, _ plan: EffectPlan) {
    for index in 0..<Self.perPlan { runners[half &* Self.perPlan &+ index] = EffectRunner() }
    tune(half, plan)
  }

  @_noLocks private func tune(_ half: Int, _ plan: EffectPlan) {
    withUnsafePointer(to: plan.units) { units in
      let units = UnsafeRawPointer(units).assumingMemoryBound(to: EffectUnit.self)
      for index in 0..<Self.perPlan { runners[half &* Self.perPlan &+ index].tune(units[index], rate: rate) }
    }
  }

  /// Ends a tail below -120 dB. Called without sounding voices at the start of a 64-frame cell of engine
  /// time, so that nothing depends on the split into blocks. Audio thread.
  @_noLocks mutating func settle() {
    guard isRinging, !fade.isMoving, isQuiet else { return }
    isRinging = false
    isUsed = !plan.isEmpty
    start(0, half == 0 ? plan : before)
    start(1, half == 1 ? plan : before)
  }

  /// Replaces the sums of the voices by the first output's signal. Audio thread.
  @_noLocks mutating func process(_ sums: UnsafeMutablePointer<Float>, _ frames: Int) {
    isRinging = true
    let output = spare
    let old = spare + 160
    let place = spare + 320
    Self.run(runners + half &* Self.perPlan, &plan, sums, frames, to: output)
    if fade.isMoving {
      Self.run(runners + (1 &- half) &* Self.perPlan, &before, sums, frames, to: old)
      fade.fill(place, frames: frames)
      // Behind its end the new sound itself, as in a block that begins there: by the sum it would have other bits.
      for index in 0..<frames where place[index] < 1 {
        output[index] = old[index] + (output[index] - old[index]) * place[index]
        output[80 &+ index] = old[80 &+ index] + (output[80 &+ index] - old[80 &+ index]) * place[index]
      }
    }
    for index in 0..<frames {
      sums[index] = output[index]
      sums[Sum.side &+ index] = output[80 &+ index]
    }
  }

  private var isQuiet: Bool {
    @_noLocks mutating get {
      for index in 0..<Self.perPlan where !runners[half &* Self.perPlan &+ index].isQuiet { return false }
      return true
    }
  }

  /// Output of one plan and its runners, two rows of 80 floats. The plan is where it stands: by value, or without `inout`, each
  /// block would copy it twice.
  @_noLocks private static func run(
    _ runners: UnsafeMutablePointer<EffectRunner>, _ plan: inout EffectPlan,
    _ sums: UnsafeMutablePointer<Float>, _ frames: Int, to output: UnsafeMutablePointer<Float>
  ) {
    for index in 0..<160 { output[index] = 0 }
    let (counts, shares) = (plan.counts, plan.shares)
    withUnsafePointer(to: &plan.units) { units in
      let units = UnsafeRawPointer(units).assumingMemoryBound(to: EffectUnit.self)
      for bus in 0..<EffectPlan.buses {
        let count = Int(bus == 0 ? counts.0 : (bus == 1 ? counts.1 : counts.2))
        let share = bus == 0 ? shares.0 : (bus == 1 ? shares.1 : shares.2)
        guard share > 0 else { continue }
        let sum = sums + Sum.place(bus == 0 ? 0 : (bus == 1 ? Sum.reverb : Sum.chorus))
        for index in 0..<frames {
          var sound = SIMD2(sum[index], sum[Sum.side &+ index])
          for number in 0..<count {
            let unit = bus &* EffectPlan.most &+ number
            sound = runners[unit].next(units[unit], sound)
          }
          output[index] += sound.x * share
          output[80 &+ index] += sound.y * share
        }
      }
    }
  }
}

/// State of one running effect.
struct EffectRunner {
  private var poles = FilterPoles(tangent: 0, damping: 1, stretch: 1)
  private var input: Float = 1
  private var band: Float = 0
  private var low: Float = 0
  private var first = SIMD2<Float>(repeating: 0)
  private var second = SIMD2<Float>(repeating: 0)
  private var crusher = Crusher()

  @_noLocks init() {}

  /// Audio thread.
  @_noLocks mutating func tune(_ unit: EffectUnit, rate: Float) {
    switch unit.kind {
    case .lofi: crusher.set(bitReduction: unit.first, decimation: unit.second, rate: rate)
    case .filter:
      let powers = FilterPowers(level: SIMD16(repeating: unit.second), octaves: SIMD16(repeating: unit.third))
      design(FilterMix(unit.filter, powers, 0), cents: unit.first, rate)
    case .distortion: design(FilterMix(.lowpass1, damping: 1, root: 1, width: 1), cents: unit.second, rate)
    case .gain, .width: break
    }
  }

  @_noLocks private mutating func design(_ mix: FilterMix, cents: Float, _ rate: Float) {
    let tangent = FilterPowers.tangent(cents: SIMD16(repeating: cents), rate: rate)[0]
    poles = FilterPoles(tangent: tangent, damping: mix.damping, stretch: mix.stretch)
    (input, band, low) = (mix.input, mix.band, mix.low)
  }

  /// True when its state is below -120 dB.
  var isQuiet: Bool {
    @_noLocks get {
      let sum = first * first + second * second
      return sum.x < 1e-12 && sum.y < 1e-12 && crusher.isQuiet
    }
  }

  /// One frame of both sides. Audio thread.
  @_noLocks @inline(__always) mutating func next(_ unit: EffectUnit, _ sound: SIMD2<Float>) -> SIMD2<Float> {
    switch unit.kind {
    case .gain: return sound * unit.first
    case .width:
      let middle = (sound.x + sound.y) * 0.5
      let side = (sound.x - sound.y) * (0.005 * unit.first)
      return SIMD2(middle + side, middle - side)
    case .lofi: return crusher.next(sound)
    case .filter: return filtered(sound)
    case .distortion:
      var driven = sound
      for _ in 0..<unit.stages {
        driven = SIMD2(Self.bent(driven.x, unit.first), Self.bent(driven.y, unit.first))
      }
      return sound * unit.third + filtered(driven) * unit.fourth
    }
  }

  @_noLocks @inline(__always) private mutating func filtered(_ sound: SIMD2<Float>) -> SIMD2<Float> {
    let v = sound - second
    let nextFirst = first * poles.keep + v * poles.feed
    let nextSecond = second + first * poles.feed + v * poles.lift
    let result = sound * input + (first + nextFirst) * band + (second + nextSecond) * low
    first = nextFirst
    second = nextSecond
    return result
  }

  /// Asymmetric waveshaper, so that even harmonics arise too; full scale above zero stays full scale.
  @_noLocks @inline(__always) private static func bent(_ x: Float, _ gain: Float) -> Float {
    let place = x * gain
    return place < 0 ? place / (1 - 0.5 * place) * (1 / gain + 0.5) : place / (1 + place) * (1 / gain + 1)
  }
}
