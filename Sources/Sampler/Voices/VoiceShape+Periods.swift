import Realtime

/// Processing per control period.
extension VoiceShape {
  /// True when no period will change the pitch or the stereo width until something wakes the voice. Audio
  /// thread.
  var keepsPace: Bool {
    @_noLocks mutating get {
      let counts: UInt32 = 1 &<< UInt32(Slot.pitch) | 1 &<< UInt32(Slot.width)
      return !isMoving
        || !isGliding && !wasGliding && ratio == nextRatio && ratioStep == 0 && targets & counts == 0
    }
  }

  // Functions called each period are mutating even if they change nothing: otherwise the whole struct is
  // copied for the call, which waits for recent writes.

  /// Begins a control period, `place` frames into the run being rendered. Audio thread.
  @_noLocks mutating func step(
    _ voice: Voice.Core, at place: Int, _ bank: inout FilterBank, slot: Int, rate: Float
  ) {
    frame = 0
    ratio = nextRatio
    gainLeft = nextLeft
    gainRight = nextRight
    let region = voice.region
    if areSendsMoving { takeSends() }
    wasOver = isOver(region)
    let isAll = advanceSlide() || isGliding
    if isGliding {
      isGliding = glide(region.pointee.smoothing, rate)
      findRoutes(region)
    }
    isMoving = isAll || hasLiveGenerators
    if isMoving {
      advance(voice, isAll ? .max : generators, ControlPeriod.frames, rate)
      age = age &+ Int64(ControlPeriod.frames)
      if isAll { idleAge = age }
    } else {
      age = voice.age
    }
    let moved = compute(voice, all: isAll)
    let share = 1 / Float(ControlPeriod.frames)
    ratioStep = isMoving ? (nextRatio - ratio) * Double(share) : 0
    stepLeft = isMoving ? (nextLeft - gainLeft) * share : 0
    stepRight = isMoving ? (nextRight - gainRight) * share : 0
    if areSendsMoving { stepSends(isMoving ? share : 0) }
    if region.pointee.stage.isUsed { stage.pointee.step(totals, isMoving: isMoving, rate: rate) }
    for index in 0..<Int(voice.unitCount) {
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

  /// Moves the values towards their goals with their time constants; false when all have arrived.
  @_noLocks private mutating func glide(_ smoothing: UnsafePointer<Float>, _ rate: Float) -> Bool {
    // log2(e)
    let octaves = -1.442_695 * Float(ControlPeriod.frames) / rate
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

  /// Finds the active routes: those with a depth now, or at the values' goals.
  @_noLocks mutating func findRoutes(_ region: UnsafeMutablePointer<Region>) {
    (routes, lfoRoutes, generators, targets) = (0, 0, 0, 0)
    for index in 0..<Int(region.pointee.routeCount)
    where values[Slot.depth &+ index] != 0 || goals[Slot.depth &+ index] != 0 {
      let route = region.pointee.routes[index]
      generators |= 1 &<< UInt32(route.generator)
      if route.slot >= Slot.depth {
        lfoRoutes |= 1 &<< UInt32(index)
      } else {
        routes |= 1 &<< UInt32(index)
        targets |= 1 &<< UInt32(route.slot)
      }
    }
  }

  /// True when any active generator moves by itself.
  var hasLiveGenerators: Bool {
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

  /// Advances the generators of a bit mask.
  @_noLocks mutating func advance(_ voice: Voice.Core, _ some: UInt32, _ frames: Int, _ rate: Float) {
    guard frames > 0 else { return }
    let region = voice.region
    let isLogarithmic = region.pointee.isLogarithmic
    for index in 0..<Int(region.pointee.lfoCount) where Self.has(some, UInt8(index)) {
      var frequency = values[Slot.frequency &+ index]
      if lfoRoutes != 0 { frequency += addedHertz(region, index) }
      lfos[index].advance(frames, frequency: frequency, isLogarithmic: isLogarithmic, rate: rate)
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

  @_noLocks private mutating func routeValue(_ region: UnsafeMutablePointer<Region>, _ index: Int) -> Float {
    generator(region.pointee.routes[index].generator) * values[Slot.depth &+ index]
  }

  /// Frequency added to an LFO by other LFOs: earlier ones with their new values, later ones with their old
  /// values.
  @_noLocks @inline(never) private mutating func addedHertz(
    _ region: UnsafeMutablePointer<Region>, _ lfo: Int
  ) -> Float {
    var hertz: Float = 0
    var left = lfoRoutes
    while left != 0 {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      if Int(region.pointee.routes[index].slot) == Slot.frequency &+ lfo {
        hertz += routeValue(region, index)
      }
    }
    return hertz
  }

  /// Factor of an LFO's amplitude by other LFOs.
  @_noLocks @inline(never) private mutating func swing(of lfo: UInt8, _ region: UnsafeMutablePointer<Region>)
    -> Float
  {
    var swing: Float = 1
    var left = lfoRoutes
    while left != 0 {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      if Int(region.pointee.routes[index].slot) == Slot.swing &+ Int(lfo) {
        swing *= routeValue(region, index)
      }
    }
    return swing
  }

  /// A frequency in cents above 8.176 Hz, raised by a number of hertz.
  @_noLocks @inline(never) private static func raised(_ cents: Float, by hertz: Float) -> Float {
    let sum = 8.175_799 * exponential2(cents / 1200) + hertz
    return sum > 8.175_799 ? 1200 * logarithm2(sum / 8.175_799) : 0
  }

  /// Computes pitch and gains from all values, or only those that generators move. `totals`: all values with
  /// the generators' contributions. Returns a bit mask of the new ones.
  @discardableResult
  @_noLocks mutating func compute(_ voice: Voice.Core, all: Bool) -> UInt32 {
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
      var value = generator(route.generator) * values[Slot.depth &+ index]
      if lfoRoutes != 0, route.generator < Route.envelope { value *= swing(of: route.generator, region) }
      let slot = Int(route.slot)
      if slot == Slot.amplitude {
        // An envelope is the gain itself; an LFO swings around 1.
        totals[slot] *= route.generator < Route.envelope ? 1 + value : value
      } else if slot >= Slot.bandFrequency, slot < Slot.bandWidth {
        totals[slot] = Self.raised(totals[slot], by: value)
      } else {
        totals[slot] += value
      }
    }
    let moved = all ? .max : targets
    if Self.has(moved, UInt8(Slot.pitch)) {
      nextRatio = voice.pitch
      let cents = totals[Slot.pitch] + slide.cents
      if cents != 0 { nextRatio *= exponential2(Double(cents) / 1200) }
    }
    // Slots up to the position.
    if moved & 0x1F != 0 { computeGains(voice) }
    let sends: UInt32 = 1 &<< UInt32(Slot.reverb) | 1 &<< UInt32(Slot.chorus)
    if moved & sends != 0, region.pointee.hasSends {
      computeSends(totals[Slot.reverb], totals[Slot.chorus])
    }
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
      (sideLeft, sideRight) = Self.sides(
        pan: pan, position: position, isStereo: isStereo, voice.region.pointee.sideGain)
    }
    // Limit of 140 dB: more is a mistake, and might become NaN later.
    if !(gain < 1e7 && gain > -1e7) { gain = gain > 0 ? 1e7 : (gain < 0 ? -1e7 : 0) }
    nextLeft = gain * sideLeft
    nextRight = gain * sideRight
    let width = totals[Slot.width] < 1e4 ? (totals[Slot.width] > -1e4 ? totals[Slot.width] : -1e4) : 1e4
    own = width == 100 ? 1 : 0.5 + width * 0.005
    other = width == 100 || !isStereo ? 0 : 0.5 - width * 0.005
  }

  @_noLocks private static func sides(
    pan: Float, position: Float, isStereo: Bool, _ gain: Float
  ) -> (Float, Float) {
    let first = side(pan)
    guard isStereo else { return (gain * first.0, gain * first.1) }
    // In a stereo sample, both lower one side and raise the other.
    let second = side(position)
    return (gain * first.0 * second.0, gain * first.1 * second.1)
  }

  @_noLocks private static func side(_ percent: Float) -> (Float, Float) {
    let limited = percent > -100 ? (percent < 100 ? percent : 100) : -100
    let angle = (limited + 100) * (Float.pi / 400)
    return (cosine(angle), sine(angle))
  }
}
