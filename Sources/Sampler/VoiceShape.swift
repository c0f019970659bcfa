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
  /// An LFO moves something: for as long as no value glides.
  private var isSwinging = false
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
  /// The voice's age up to which the generators have moved on.
  private var age: Int64 = 0

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
    frame = 0
    ratioStep = 0
    stepLeft = 0
    stepRight = 0
    compute(voice.core, rate)
    ratio = nextRatio
    gainLeft = nextLeft
    gainRight = nextRight
    for index in 0..<Int(region.pointee.unitCount) {
      let unit = region.pointee.units[index]
      let powers = FilterPowers(
        cents: SIMD16(repeating: totals[Int(unit.frequency)]),
        level: SIMD16(repeating: totals[Int(unit.level)]),
        octaves: SIMD16(repeating: totals[Int(unit.width)]), rate: SIMD16(repeating: rate))
      bank.set(slot, index, FilterCoefficients(unit.kind, powers, 0))
    }
    isGliding = false
    isSwinging = false
    isMoving = hasLiveGenerators(region)
    settle(&voice)
  }

  /// Something has changed: control periods run until all is at rest again. Audio thread.
  @_noLocks mutating func wake(_ voice: inout Voice) {
    voice.isShaped = true
    isGliding = true
    isSwinging = false
    guard !isMoving else { return }
    catchUp(voice.core, voice.rate)
    isMoving = true
    frame = 0
  }

  /// The generators of a voice at rest go to where they would be by now.
  @_noLocks private mutating func catchUp(_ voice: Voice.Core, _ rate: Float) {
    advance(voice.region, voice.image!, rate, Int(voice.age &- age))
    age = voice.age
  }

  /// The note is over. Audio thread.
  @_noLocks mutating func release(_ voice: inout Voice) {
    let region = voice.region
    guard region.pointee.routeCount > 0 else { return }
    if !isMoving { catchUp(voice.core, voice.rate) }
    for index in 0..<Int(region.pointee.envelopeCount) { envelopes[index].beginRelease() }
    for index in 0..<Int(region.pointee.flexibleCount) {
      flexible[index].release(
        voice.image!.pointee.points, times: points + 16 &* index, levels: points + 64 + 16 &* index,
        rate: voice.rate)
    }
    if hasLiveGenerators(region) { wake(&voice) }
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

  /// Begins a control period: `frame` frames into the stretch that is being rendered. Audio thread.
  @_noLocks mutating func step(
    _ voice: Voice.Core, at place: Int, _ bank: inout FilterBank, slot: Int, rate: Float
  ) {
    frame = 0
    ratio = nextRatio
    gainLeft = nextLeft
    gainRight = nextRight
    let region = voice.region
    let wasGliding = isGliding
    if isGliding { isGliding = glide(region.pointee.smoothing, rate) }
    let isLive = wasGliding || isSwinging || hasLiveGenerators(region)
    if isLive {
      advance(region, voice.image!, rate, Self.period)
      age = age &+ Int64(Self.period)
    } else {
      isMoving = false
      age = voice.age
    }
    compute(voice, rate)
    let share = 1 / Float(Self.period)
    ratioStep = isMoving ? (nextRatio - ratio) * Double(share) : 0
    stepLeft = isMoving ? (nextLeft - gainLeft) * share : 0
    stepRight = isMoving ? (nextRight - gainRight) * share : 0
    for index in 0..<Int(region.pointee.unitCount) {
      let unit = region.pointee.units[index]
      if isMoving {
        bank.move(
          slot, index, at: place, unit.kind, cents: totals[Int(unit.frequency)],
          level: totals[Int(unit.level)], octaves: totals[Int(unit.width)], rate: rate)
      } else {
        bank.rest(slot, index, at: place)
      }
    }
  }

  /// Values go to their goals with their time constants; false when all are there.
  @_noLocks private func glide(_ smoothing: UnsafePointer<Float>, _ rate: Float) -> Bool {
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
        var next = value + distance * shares
        let left = goal - next
        next.replace(with: goal, where: (left .<= near) .& (left .>= -near))
        store(next, values + 16 &* part)
      }
    }
    return isGliding
  }

  /// Whether any generator that moves something moves itself.
  @_noLocks private mutating func hasLiveGenerators(_ region: UnsafeMutablePointer<Region>) -> Bool {
    let routes = region.pointee.routes
    for index in 0..<Int(region.pointee.routeCount) {
      guard values[Slot.depth &+ index] != 0 || goals[Slot.depth &+ index] != 0 else { continue }
      let generator = routes[index].generator
      if generator < Route.envelope {
        isSwinging = !isGliding
        return true
      }
      if generator < Route.flexible {
        if !envelopes[Int(generator &- Route.envelope)].isSteady { return true }
      } else if !flexible[Int(generator &- Route.flexible)].isSteady {
        return true
      }
    }
    return false
  }

  @_noLocks private func advance(
    _ region: UnsafeMutablePointer<Region>, _ image: UnsafeMutablePointer<InstrumentImage>, _ rate: Float,
    _ frames: Int
  ) {
    guard frames > 0 else { return }
    for index in 0..<Int(region.pointee.lfoCount) {
      lfos[index].advance(
        frames, frequency: values[Slot.frequency &+ index], isBank: region.pointee.isBank, rate: rate)
    }
    for index in 0..<Int(region.pointee.envelopeCount) { envelopes[index].advance(frames) }
    for index in 0..<Int(region.pointee.flexibleCount) {
      flexible[index].advance(
        frames, image.pointee.points, times: points + 16 &* index, levels: points + 64 + 16 &* index,
        rate: rate)
    }
  }

  @_noLocks private func generator(_ number: UInt8) -> Float {
    if number < Route.envelope { return lfos[Int(number)].value }
    if number < Route.flexible { return envelopes[Int(number &- Route.envelope)].value }
    return flexible[Int(number &- Route.flexible)].value
  }

  /// What everything together makes of pitch and gains; `totals` are all values with what the generators
  /// add.
  @_noLocks private mutating func compute(_ voice: Voice.Core, _ rate: Float) {
    let region = voice.region
    let totals = self.totals
    store(vector(values), totals)
    store(vector(values + 16), totals + 16)
    let routes = region.pointee.routes
    for index in 0..<Int(region.pointee.routeCount) {
      let depth = values[Slot.depth &+ index]
      guard depth != 0 else { continue }
      let number = routes[index].generator
      let value = generator(number) * depth
      let slot = Int(routes[index].slot)
      if slot == Slot.amplitude {
        // An envelope is the gain itself, an LFO swings around it.
        totals[slot] *= number < Route.envelope ? 1 + value : value
      } else {
        totals[slot] += value
      }
    }
    nextRatio = voice.pitch
    if totals[Slot.pitch] != 0 { nextRatio *= exponential2(Double(totals[Slot.pitch]) / 1200) }
    var gain = voice.gain
    if totals[Slot.amplitude] != 1 { gain *= totals[Slot.amplitude] }
    if totals[Slot.volume] != 0 { gain *= exponential2(totals[Slot.volume] * 0.166_096_404) }
    if totals[Slot.pan] != pan || totals[Slot.position] != position {
      pan = totals[Slot.pan]
      position = totals[Slot.position]
      let sides = Self.sides(pan: pan, position: position, isStereo: region.pointee.isStereo)
      sideLeft = sides.0
      sideRight = sides.1
    }
    nextLeft = gain * sideLeft
    nextRight = gain * sideRight
    let width = totals[Slot.width]
    own = width == 100 ? 1 : 0.5 + width * 0.005
    other = width == 100 || !region.pointee.isStereo ? 0 : 0.5 - width * 0.005
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
  }
}
