import Realtime

/// What moves a voice besides its amplifier envelope: values that glide to where controllers send them,
/// LFOs, further envelopes; and what these make of its pitch, its gains and its filters.
///
/// It is computed once a control period of 32 frames, counted from the voice's own start (or from the
/// event that set it moving again), and goes straight in between. A voice of which nothing moves has no
/// control periods.
struct VoiceShape {
  static var period: Int { @_noLocks @inline(__always) get { 32 } }

  /// 64 standing values by slot, then 64 where they go; and 32 with what the generators add.
  private let values: UnsafeMutablePointer<Float>
  private let lfos: UnsafeMutablePointer<Lfo>
  private let envelopes: UnsafeMutablePointer<Envelope>
  private let flexible: UnsafeMutablePointer<FlexibleEnvelope>
  /// What modulation added to the points' times and levels when the voice began, 64 each.
  private let points: UnsafeMutablePointer<Float>

  private(set) var isMoving = false
  /// Some value is not where it is to go.
  private var isGliding = false
  /// Values glided in the last control period, and what they made may still be on its way.
  private var wasGliding = false
  /// A bit for each route whose depth is not 0, for each generator that these lead from, and for each slot
  /// that they lead to.
  private var routes: UInt32 = 0
  private var generators: UInt32 = 0
  private var targets: UInt32 = 0
  /// Frames of the control period that are over.
  var frame: Int32 = 0
  /// At the period's start, and by how much they change a frame. The next period starts where this ends.
  private(set) var ratio: Double = 0
  private(set) var ratioStep: Double = 0
  private(set) var gainLeft: Float = 0
  private(set) var gainRight: Float = 0
  private(set) var stepLeft: Float = 0
  private(set) var stepRight: Float = 0
  /// Shares of the own and of the other side.
  private(set) var own: Float = 1
  private(set) var other: Float = 0
  private var nextRatio: Double = 0
  private var nextLeft: Float = 0
  private var nextRight: Float = 0
  /// The sides that `pan` and `position` last made.
  private var pan: Float = 0
  private var position: Float = 0
  private var sideLeft: Float = 0
  private var sideRight: Float = 0
  /// The voice's age up to which these generators have moved on, and up to which the others have.
  private var age: Int64 = 0
  private var idleAge: Int64 = 0

  private static var lfoPlace: Int { 160 * 4 }
  private static var envelopePlace: Int { lfoPlace + Most.lfos * MemoryLayout<Lfo>.stride }
  private static var flexiblePlace: Int { envelopePlace + Most.envelopes * MemoryLayout<Envelope>.stride }
  private static var pointPlace: Int {
    flexiblePlace + Most.flexible * MemoryLayout<FlexibleEnvelope>.stride
  }
  /// Bytes of one voice besides the struct itself.
  static var memorySize: Int {
    (pointPlace + 128 * 4 + 63) & ~63
  }

  /// `memory` is zeroed and 64-byte aligned. Worker.
  init(memory: UnsafeMutableRawPointer) {
    values = memory.assumingMemoryBound(to: Float.self)
    lfos = (memory + Self.lfoPlace).assumingMemoryBound(to: Lfo.self)
    envelopes = (memory + Self.envelopePlace).assumingMemoryBound(to: Envelope.self)
    flexible = (memory + Self.flexiblePlace).assumingMemoryBound(to: FlexibleEnvelope.self)
    points = (memory + Self.pointPlace).assumingMemoryBound(to: Float.self)
  }

  /// Where the values are to go, by slot. Audio thread.
  var goals: UnsafeMutablePointer<Float> { @_noLocks get { values + 64 } }
  private var totals: UnsafeMutablePointer<Float> { @_noLocks get { values + 128 } }

  // MARK: Beginning and ending

  /// Begins at the goals. `noteOn` is what modulation says for the slots from `Slot.noteOn` on. Audio
  /// thread.
  @_noLocks mutating func begin(
    _ voice: inout Voice, _ noteOn: UnsafePointer<Float>, _ bank: inout FilterBank, slot: Int, seed: UInt32,
    rate: Float
  ) {
    copyMemory(values, values + 64, 256)
    let region = voice.region
    let image = voice.image!
    for index in 0..<Int(region.pointee.lfoCount) {
      let plan = image.pointee.lfos[Int(region.pointee.firstLfo) &+ index]
      let delay = plan.delay + noteOn[Slot.lfoDelay &- 64 &+ index]
      lfos[index] = Lfo(
        plan, image.pointee.lfoWaves, image.pointee.lfoSteps,
        delay: region.pointee.isBank ? (delay > -12000 ? exponential2(delay / 1200) : 0) : delay,
        fade: plan.fade + noteOn[Slot.lfoFade &- 64 &+ index], rate: rate,
        seed: seed &+ UInt32(index))
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
        times: points + 16 &* index, levels: points + 64 + 16 &* index, rate: rate)
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
    for index in 0..<Int(region.pointee.unitCount) {
      let unit = region.pointee.units[index]
      bank.set(
        slot, index, unit.kind, cents: totals[Int(unit.frequency)], level: totals[Int(unit.level)],
        octaves: totals[Int(unit.width)], rate: rate)
    }
    isGliding = false
    wasGliding = false
    isMoving = hasLiveGenerators
    settle(&voice)
  }

  /// Something has changed: control periods run until all is at rest again. Audio thread.
  @_noLocks mutating func wake(_ voice: inout Voice) {
    voice.isShaped = true
    catchUp(voice.core, voice.rate)
    isGliding = true
    findRoutes(voice.region)
    guard !isMoving else { return }
    isMoving = true
    frame = 0
  }

  /// Generators go to where they would be by now: those that move nothing, and all of a voice at rest.
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
    if hasLiveGenerators { wake(&voice) }
  }

  /// When nothing moves and nothing but gains and pitch are at work, the voice needs no shaping. Where a
  /// 64-frame cell of engine time begins, and only there: the order in which voices are summed must not
  /// depend on the split into blocks. Audio thread.
  @_noLocks mutating func settle(_ voice: inout Voice) {
    guard !isMoving, voice.region.pointee.unitCount == 0, voice.quality == 0, other == 0 else {
      voice.isShaped = true
      return
    }
    voice.isShaped = false
    voice.ratio = ratio
    voice.gainLeft = gainLeft
    voice.gainRight = gainRight
  }

  // MARK: Control periods

  /// No period will change the pitch, or what the sides have of each other, before something wakes it. Audio
  /// thread.
  var keepsPace: Bool {
    @_noLocks mutating get {
      let counts: UInt32 = 1 &<< UInt32(Slot.pitch) | 1 &<< UInt32(Slot.width)
      return !isMoving
        || !isGliding && !wasGliding && ratio == nextRatio && ratioStep == 0 && targets & counts == 0
    }
  }

  // What is called each period is mutating, also where it changes nothing: else the whole struct is copied
  // for the call, and that waits for all that was just written.

  /// Begins a control period: `frame` frames into the stretch that is being rendered. Audio thread.
  @_noLocks mutating func step(
    _ voice: Voice.Core, at place: Int, _ bank: inout FilterBank, slot: Int, rate: Float
  ) {
    frame = 0
    ratio = nextRatio
    gainLeft = nextLeft
    gainRight = nextRight
    let region = voice.region
    let isAll = isGliding
    if isGliding {
      isGliding = glide(region.pointee.smoothing, rate)
      findRoutes(region)
    }
    isMoving = isAll || hasLiveGenerators
    if isMoving {
      advance(voice, isAll ? .max : generators, Self.period, rate)
      age = age &+ Int64(Self.period)
      if isAll { idleAge = age }
    } else {
      age = voice.age
    }
    let moved = compute(voice, all: isAll)
    let share = 1 / Float(Self.period)
    ratioStep = isMoving ? (nextRatio - ratio) * Double(share) : 0
    stepLeft = isMoving ? (nextLeft - gainLeft) * share : 0
    stepRight = isMoving ? (nextRight - gainRight) * share : 0
    for index in 0..<Int(region.pointee.unitCount) {
      let unit = region.pointee.units[index]
      if !isMoving {
        bank.rest(slot, index, at: place)
        continue
      }
      let isMixed = wasGliding || Self.has(moved, unit.level) || Self.has(moved, unit.width)
      guard isMixed || Self.has(moved, unit.frequency) else { continue }
      bank.move(
        slot, index, at: place, unit.kind, cents: totals[Int(unit.frequency)],
        level: totals[Int(unit.level)], octaves: totals[Int(unit.width)], isFrequencyOnly: !isMixed)
    }
    wasGliding = isAll
  }

  @_noLocks @inline(__always) private static func has(_ slots: UInt32, _ slot: UInt8) -> Bool {
    slots &>> UInt32(slot) & 1 == 1
  }

  /// Values go to their goals with their time constants; false when all are there.
  @_noLocks private mutating func glide(_ smoothing: UnsafePointer<Float>, _ rate: Float) -> Bool {
    // log2(e)
    let octaves = -1.442_695 * Float(Self.period) / rate
    // Gains are factors, the others are decibels, cents and percent.
    var near = SIMD16<Float>(repeating: 0.005)
    near[Slot.amplitude] = 0.00002
    var isGliding = false
    for part in 0..<4 {
      let value = vector(values + 16 &* part)
      let goal = vector(values + 64 + 16 &* part)
      let distance = goal - value
      if distance != SIMD16(repeating: 0) {
        isGliding = true
        let shares = 1 - exponential2(octaves / vector(smoothing + 16 &* part))
        let next = value + distance * shares
        let left = unsafeBitCast(goal - next, to: SIMD16<UInt32>.self) & 0x7FFF_FFFF
        let isFar = near .< unsafeBitCast(left, to: SIMD16<Float>.self)
        store(goal.replacing(with: next, where: isFar), values + 16 &* part)
      }
    }
    return isGliding
  }

  /// Finds the routes that move something, now or when the values are where they go.
  @_noLocks private mutating func findRoutes(_ region: UnsafeMutablePointer<Region>) {
    (routes, generators, targets) = (0, 0, 0)
    for index in 0..<Int(region.pointee.routeCount)
    where values[Slot.depth &+ index] != 0 || goals[Slot.depth &+ index] != 0 {
      let route = region.pointee.routes[index]
      routes |= 1 &<< UInt32(index)
      generators |= 1 &<< UInt32(route.generator)
      targets |= 1 &<< UInt32(route.slot)
    }
  }

  /// Whether any generator that moves something moves itself.
  private var hasLiveGenerators: Bool {
    @_noLocks mutating get {
      if generators & (1 &<< UInt32(Route.envelope) &- 1) != 0 { return true }
      var left = generators
      while left != 0 {
        let number = left.trailingZeroBitCount
        left &= left &- 1
        let isSteady =
          number < Int(Route.flexible)
          ? envelopes[number &- Int(Route.envelope)].isSteady
          : flexible[number &- Int(Route.flexible)].isSteady
        if !isSteady { return true }
      }
      return false
    }
  }

  /// Some of the generators, a bit each, move on.
  @_noLocks private mutating func advance(_ voice: Voice.Core, _ some: UInt32, _ frames: Int, _ rate: Float) {
    guard frames > 0 else { return }
    let region = voice.region
    let isBank = region.pointee.isBank
    for index in 0..<Int(region.pointee.lfoCount) where Self.has(some, UInt8(index)) {
      lfos[index].advance(frames, frequency: values[Slot.frequency &+ index], isBank: isBank, rate: rate)
    }
    for index in 0..<Int(region.pointee.envelopeCount) where Self.has(some, Route.envelope &+ UInt8(index)) {
      envelopes[index].advance(frames)
    }
    for index in 0..<Int(region.pointee.flexibleCount) where Self.has(some, Route.flexible &+ UInt8(index)) {
      flexible[index].advance(
        frames, voice.image!.pointee.points, times: points + 16 &* index, levels: points + 64 + 16 &* index,
        rate: rate)
    }
  }

  @_noLocks @inline(__always) private mutating func generator(_ number: UInt8) -> Float {
    if number < Route.envelope { return lfos[Int(number)].value }
    if number < Route.flexible { return envelopes[Int(number &- Route.envelope)].value }
    return flexible[Int(number &- Route.flexible)].value
  }

  /// What everything together makes of pitch and gains, or of them what generators move; `totals` are all
  /// values with what the generators add. Gives a bit for each of them that is new.
  @discardableResult
  @_noLocks private mutating func compute(_ voice: Voice.Core, all: Bool) -> UInt32 {
    let region = voice.region
    let totals = self.totals
    if all {
      store(vector(values), totals)
      store(vector(values + 16), totals + 16)
    } else {
      var left = targets
      while left != 0 {
        let slot = left.trailingZeroBitCount
        left &= left &- 1
        totals[slot] = values[slot]
      }
    }
    var left = routes
    while left != 0 {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      let route = region.pointee.routes[index]
      let value = generator(route.generator) * values[Slot.depth &+ index]
      let slot = Int(route.slot)
      if slot == Slot.amplitude {
        // An envelope is the gain itself, an LFO swings around it.
        totals[slot] *= route.generator < Route.envelope ? 1 + value : value
      } else {
        totals[slot] += value
      }
    }
    let moved = all ? .max : targets
    if Self.has(moved, UInt8(Slot.pitch)) {
      nextRatio = voice.pitch
      if totals[Slot.pitch] != 0 { nextRatio *= exponential2(Double(totals[Slot.pitch]) / 1200) }
    }
    // Slots up to the position.
    if moved & 0x1F != 0 { computeGains(voice) }
    return moved
  }

  @_noLocks private mutating func computeGains(_ voice: Voice.Core) {
    let isStereo = voice.region.pointee.isStereo
    var gain = voice.gain
    if totals[Slot.amplitude] != 1 { gain *= totals[Slot.amplitude] }
    if totals[Slot.volume] != 0 { gain *= exponential2(totals[Slot.volume] * 0.166_096_404) }
    if totals[Slot.pan] != pan || totals[Slot.position] != position {
      pan = totals[Slot.pan]
      position = totals[Slot.position]
      (sideLeft, sideRight) = Self.sides(pan: pan, position: position, isStereo: isStereo)
    }
    nextLeft = gain * sideLeft
    nextRight = gain * sideRight
    let width = totals[Slot.width]
    own = width == 100 ? 1 : 0.5 + width * 0.005
    other = width == 100 || !isStereo ? 0 : 0.5 - width * 0.005
  }

  @_noLocks private static func sides(pan: Float, position: Float, isStereo: Bool) -> (Float, Float) {
    let first = side(pan)
    guard isStereo else { return first }
    // Of a stereo sample one side is lowered and the other raised: 0 dB in the middle.
    let second = side(position)
    return (2 * first.0 * second.0, 2 * first.1 * second.1)
  }

  @_noLocks private static func side(_ percent: Float) -> (Float, Float) {
    let limited = percent > -100 ? (percent < 100 ? percent : 100) : -100
    let angle = (limited + 100) * (Float.pi / 400)
    return (cosine(angle), sine(angle))
  }

  /// The rate changed: pitch and times stay; filters find their new coefficients at the next control
  /// period. Worker.
  mutating func retune(_ factor: Double) {
    ratio /= factor
    nextRatio /= factor
    ratioStep /= factor * factor
    for index in 0..<Most.lfos { lfos[index].retune(factor) }
    for index in 0..<Most.envelopes { envelopes[index].retune(factor) }
    for index in 0..<Most.flexible { flexible[index].retune(factor) }
    age = Int64((Double(age) * factor).rounded())
    idleAge = Int64((Double(idleAge) * factor).rounded())
  }
}
