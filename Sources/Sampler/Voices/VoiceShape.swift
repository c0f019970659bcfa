import Realtime

/// Portamento: an offset in cents that falls linearly to zero.
struct Slide: BitwiseCopyable {
  private(set) var cents: Float = 0
  /// Per control period.
  private var step: Float = 0

  @_noLocks init() {}

  @_noLocks init(from cents: Float, over seconds: Float, rate: Float) {
    let periods = seconds * rate / Float(ControlPeriod.frames)
    guard periods >= 1 else { return }
    self.cents = cents
    step = cents / periods
  }

  var isMoving: Bool { @_noLocks @inline(__always) get { cents != 0 } }

  @_noLocks mutating func advance() {
    cents -= step
    if (cents > 0) != (step > 0) { cents = 0 }
  }

  mutating func retune(_ factor: Double) { step /= Float(factor) }
}

/// Modulation state of a voice besides its amplifier envelope: values that glide to where controllers send
/// them, LFOs, further envelopes, and the resulting pitch, gains and filters.
///
/// It is computed once per control period of 32 frames, counted from the voice's own start (or from the event
/// that set it in motion again), with linear interpolation between. A voice at rest has no control periods.
struct VoiceShape {
  /// 64 values by slot, 64 goals, 32 totals with the generators' contributions, and `sends`.
  let values: UnsafeMutablePointer<Float>
  let lfos: UnsafeMutablePointer<Lfo>
  let envelopes: UnsafeMutablePointer<Envelope>
  let flexible: UnsafeMutablePointer<FlexibleEnvelope>
  /// Modulation of the points' times and levels when the voice began, 64 each.
  let points: UnsafeMutablePointer<Float>
  /// State of its region's `StagePlan`, if that is used.
  let stage: UnsafeMutablePointer<VoiceStage>

  var isMoving = false
  /// Some value has not reached its goal.
  var isGliding = false
  /// Values moved in the last control period, so results may still be moving.
  var wasGliding = false
  /// Bit masks of active routes (`lfoRoutes`: those to LFOs), of their generators, and of their target slots.
  var routes: UInt32 = 0
  var lfoRoutes: UInt32 = 0
  var generators: UInt32 = 0
  var targets: UInt32 = 0
  /// Frames of the control period that are over.
  var frame: Int32 = 0
  /// Values at the period's start, and their change per frame. The next period starts at their end.
  var ratio: Double = 0
  var ratioStep: Double = 0
  var gainLeft: Float = 0
  var gainRight: Float = 0
  var stepLeft: Float = 0
  var stepRight: Float = 0
  /// Weights of the own and of the other side.
  var own: Float = 1
  var other: Float = 0
  /// The sends change in this control period, or will in the next.
  var areSendsMoving = false
  /// State of the amplifier when the present control period began.
  var wasOver = false
  var nextRatio: Double = 0
  var nextLeft: Float = 0
  var nextRight: Float = 0
  /// Sides for the last `pan` and `position`.
  var pan: Float = 0
  var position: Float = 0
  var sideLeft: Float = 0
  var sideRight: Float = 0
  /// The portamento under way.
  private(set) var slide = Slide()
  /// Age of the voice up to which active generators have advanced, and inactive ones.
  var age: Int64 = 0
  var idleAge: Int64 = 0

  /// Bytes of one voice besides the struct itself.
  static var memorySize: Int { Arena.bytes { Self(&$0) } }

  /// The memory is zeroed. Worker.
  init(_ arena: inout Arena) {
    values = arena.take(Float.self, 176)
    lfos = arena.take(Lfo.self, Most.lfos)
    envelopes = arena.take(Envelope.self, Most.envelopes)
    flexible = arena.take(FlexibleEnvelope.self, Most.flexible)
    points = arena.take(Float.self, 128)
    stage = arena.take(VoiceStage.self, 1)
  }

  /// Goals of the values, by slot. Audio thread.
  var goals: UnsafeMutablePointer<Float> { @_noLocks get { values + 64 } }
  var totals: UnsafeMutablePointer<Float> { @_noLocks get { values + 128 } }
  /// Six levels: see `VoiceShape+Sends.swift`. Audio thread.
  var sends: UnsafeMutablePointer<Float> { @_noLocks @inline(__always) get { values + 160 } }

  // MARK: Beginning and ending

  /// Begins at the goals. `noteOn`: modulation of the slots from `Slot.noteOn` on. Audio thread.
  @_noLocks mutating func begin(
    _ voice: inout Voice, _ noteOn: UnsafePointer<Float>, _ bank: inout FilterBank, slot: Int, seed: UInt32,
    rate: Float, slide: Slide
  ) {
    copyMemory(values, values + 64, 256)
    self.slide = slide
    let region = voice.region
    let image = voice.image!
    for index in 0..<Int(region.pointee.lfoCount) {
      let plan = image.pointee.lfos[Int(region.pointee.firstLfo) &+ index]
      let delay = plan.delay + noteOn[Slot.lfoDelay &- 64 &+ index]
      lfos[index] = Lfo(
        plan, image.pointee.lfoWaves, image.pointee.lfoSteps,
        delay: region.pointee.isLogarithmic ? (delay > -12000 ? exponential2(delay / 1200) : 0) : delay,
        fade: plan.fade + noteOn[Slot.lfoFade &- 64 &+ index],
        phase: noteOn[Slot.lfoPhase &- 64 &+ index], rate: rate, seed: seed &+ UInt32(index))
    }
    for index in 0..<Int(region.pointee.envelopeCount) {
      envelopes[index] = Envelope(
        image.pointee.envelopes[Int(region.pointee.firstEnvelope) &+ index],
        added: noteOn + 8 &* (index &+ 1), rate: rate)
    }
    if region.pointee.flexibleCount > 0 { copyMemory(points, noteOn + 64, 512) }
    for index in 0..<Int(region.pointee.flexibleCount) {
      flexible[index] = FlexibleEnvelope(
        image.pointee.flexible[Int(region.pointee.firstFlexible) &+ index], image.pointee.points,
        curves: UnsafePointer(image.pointee.curves), times: points + 16 &* index,
        levels: points + 64 + 16 &* index, rate: rate)
    }
    pan = region.pointee.pan
    position = region.pointee.position
    sideLeft = region.pointee.sideLeft
    sideRight = region.pointee.sideRight
    age = 0
    idleAge = 0
    frame = 0
    ratioStep = 0
    stepLeft = 0
    stepRight = 0
    findRoutes(region)
    compute(voice.core, all: true)
    ratio = nextRatio
    gainLeft = nextLeft
    gainRight = nextRight
    takeSends()
    stepSends(0)
    if region.pointee.stage.isUsed {
      stage.pointee.begin(region.pointee.stage, totals, seed: seed &+ 0x9E37_79B9, rate: rate)
    }
    for index in 0..<Int(voice.unitCount) {
      let unit = region.pointee.units[index]
      bank.set(
        slot, index, unit.kind, cents: totals[Int(unit.frequency)], level: totals[Int(unit.level)],
        octaves: totals[Int(unit.width)], rate: rate)
    }
    isGliding = false
    wasGliding = false
    isMoving = hasLiveGenerators || slide.isMoving
    settle(&voice)
  }

  /// Advances the portamento by a control period; false if there is none. Audio thread.
  @_noLocks @inline(__always) mutating func advanceSlide() -> Bool {
    guard slide.isMoving else { return false }
    slide.advance()
    return true
  }

  /// Starts control periods after a change; they run until everything is at rest again. Audio thread.
  @_noLocks mutating func wake(_ voice: inout Voice) {
    voice.isShaped = true
    catchUp(voice.core, voice.rate)
    isGliding = true
    findRoutes(voice.region)
    guard !isMoving else { return }
    isMoving = true
    frame = 0
  }

  /// Advances skipped generators to the present: inactive ones, and all of a voice at rest.
  @_noLocks private mutating func catchUp(_ voice: Voice.Core, _ rate: Float) {
    let now = isMoving ? age : voice.age
    advance(voice, generators, Int(now &- age), rate)
    advance(voice, ~generators, Int(now &- idleAge), rate)
    age = now
    idleAge = now
  }

  /// The note is over. Audio thread.
  @_noLocks mutating func release(_ voice: inout Voice) {
    let region = voice.region
    guard region.pointee.routeCount > 0 else { return }
    catchUp(voice.core, voice.rate)
    for index in 0..<Int(region.pointee.envelopeCount) { envelopes[index].beginRelease() }
    for index in 0..<Int(region.pointee.flexibleCount) {
      flexible[index].release(
        voice.image!.pointee.points, times: points + 16 &* index, levels: points + 64 + 16 &* index,
        rate: voice.rate)
    }
    // The end of a flexible amplifier envelope is detected in control periods.
    if hasLiveGenerators || region.pointee.amplifier >= 0 { wake(&voice) }
  }

  /// Applies new modulation `noteOn` of the slots from `Slot.noteOn` on, and updates dynamic envelopes. Audio
  /// thread.
  @_noLocks mutating func change(_ voice: Voice.Core, _ noteOn: UnsafePointer<Float>, rate: Float) {
    catchUp(voice, rate)
    let (region, image) = (voice.region, voice.image!)
    for index in 0..<Int(region.pointee.envelopeCount) {
      envelopes[index].change(
        image.pointee.envelopes[Int(region.pointee.firstEnvelope) &+ index],
        added: noteOn + 8 &* (index &+ 1), rate: rate)
    }
    if region.pointee.flexibleCount > 0 { copyMemory(points, noteOn + 64, 512) }
    for index in 0..<Int(region.pointee.flexibleCount) {
      flexible[index].change(image.pointee.points, times: points + 16 &* index, rate: rate)
    }
  }

  /// True when the flexible amplifier envelope is over. Mutating for the reason given for `step`. Audio
  /// thread.
  @_noLocks @inline(__always) mutating func isOver(_ region: UnsafeMutablePointer<Region>) -> Bool {
    let amplifier = Int(region.pointee.amplifier)
    return amplifier >= 0 && flexible[amplifier].isOver
  }

  /// Ends the shaping of a voice that is at rest and uses gains and pitch only. Called only at the start of a
  /// 64-frame cell of engine time: the order in which voices are summed must not depend on the split into
  /// blocks. Audio thread.
  @_noLocks mutating func settle(_ voice: inout Voice) {
    guard !isMoving, voice.unitCount == 0, other == 0,
      !voice.region.pointee.stage.isUsed
    else {
      voice.isShaped = true
      return
    }
    voice.isShaped = false
    voice.ratio = ratio
    voice.gainLeft = gainLeft
    voice.gainRight = gainRight
  }

  /// Adapts to a new rate: pitch and times stay; filters get new coefficients at the next control period.
  /// Worker.
  mutating func retune(_ factor: Double) {
    ratio /= factor
    nextRatio /= factor
    ratioStep /= factor * factor
    slide.retune(factor)
    for index in 0..<Most.lfos { lfos[index].retune(factor) }
    for index in 0..<Most.envelopes { envelopes[index].retune(factor) }
    for index in 0..<Most.flexible { flexible[index].retune(factor) }
    age = Int64((Double(age) * factor).rounded())
    idleAge = Int64((Double(idleAge) * factor).rounded())
  }
}
