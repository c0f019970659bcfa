import Realtime

/// A note that looks for its regions.
struct Note {
  var channel: Int
  var key: Int
  /// 1...127.
  var velocity: Int
  /// Why: `first` or `legato` for a note on, `release` or `releaseKey` for a note off.
  var cause: Trigger
  /// How long it was held, for a note off.
  var seconds: Float

  @_noLocks init(channel: Int, key: Int, velocity: Int, cause: Trigger, seconds: Float) {
    self.channel = channel
    self.key = key
    self.velocity = velocity
    self.cause = cause
    self.seconds = seconds
  }

  var isRelease: Bool { @_noLocks get { cause == .release || cause == .releaseKey } }
}

/// How voices begin and end.
extension Sampler {
  // MARK: Slots

  /// The first slot in use from `slot` on, or -1. Audio thread.
  @_noLocks func nextActive(_ slot: Int) -> Int {
    var word = slot &>> 6
    var mask = UInt64.max &<< UInt64(slot & 63)
    while word < Self.slots / 64 {
      let bits = active[word] & mask
      if bits != 0 { return word &* 64 &+ bits.trailingZeroBitCount }
      word &+= 1
      mask = .max
    }
    return -1
  }

  @_noLocks private func firstFree() -> Int {
    for word in 0..<Self.slots / 64 where active[word] != .max {
      return word &* 64 &+ (~active[word]).trailingZeroBitCount
    }
    return -1
  }

  @_noLocks mutating func free(_ slot: Int) {
    active[slot &>> 6] &= ~(1 &<< UInt64(slot & 63))
    used &-= 1
    if !voicePool[slot].isStolen { live &-= 1 }
    if let image = voicePool[slot].image { image.pointee.header.uses &-= 1 }
    voicePool[slot].image = nil
  }

  @_noLocks mutating func freeIfEnded(_ slot: Int) {
    if voicePool[slot].hasEnded || voicePool[slot].envelope.isDone { free(slot) }
  }

  @_noLocks mutating func release(_ slot: Int) {
    voicePool[slot].release(rate: rate)
    freeIfEnded(slot)
  }

  /// The voice gives its place away and fades over 5 ms.
  @_noLocks private mutating func steal(_ slot: Int) {
    guard !voicePool[slot].isStolen else { return }
    voicePool[slot].isStolen = true
    live &-= 1
    voicePool[slot].fadeOut(Int(0.005 * rate))
    if voicePool[slot].wait > 0 { free(slot) }
  }

  /// Whom to steal from: a released voice before a held one, of these the quietest, of equally quiet
  /// ones the oldest; never one of the note that is just beginning.
  @_noLocks private func victim() -> Int {
    var best = -1
    var bestReleased = false
    var bestLoudness: Float = 0
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if !voice.pointee.isStolen, voice.pointee.order != order {
        let isReleased = voice.pointee.isReleased
        let loudness = voice.pointee.loudness
        let isBetter =
          best < 0 || (isReleased && !bestReleased)
          || (isReleased == bestReleased
            && (loudness < bestLoudness
              || (loudness == bestLoudness && voice.pointee.order < voicePool[best].order)))
        if isBetter {
          best = slot
          bestReleased = isReleased
          bestLoudness = loudness
        }
      }
      slot = nextActive(slot &+ 1)
    }
    return best
  }

  /// A slot for a new voice, or -1. When even the spare slots are full, the stolen voice that is
  /// closest to its end makes room.
  @_noLocks private mutating func allocate() -> Int {
    if live >= polyphony {
      let slot = victim()
      if slot < 0 { return -1 }
      steal(slot)
    }
    var slot = firstFree()
    if slot < 0 {
      var least = Int.max
      var candidate = nextActive(0)
      while candidate >= 0 {
        let left = voicePool[candidate].fade.framesLeft
        if voicePool[candidate].isStolen, left < least {
          least = left
          slot = candidate
        }
        candidate = nextActive(candidate &+ 1)
      }
      if slot < 0 { return -1 }
      free(slot)
    }
    return slot
  }

  // MARK: Starting

  @_noLocks mutating func start(_ image: UnsafeMutablePointer<InstrumentImage>, _ note: Note) {
    order &+= 1
    let chance = nextRandom()
    let list = image.pointee.list(
      program: selected, release: note.isRelease, key: note.key, velocity: note.velocity)
    let count = Int(list[0])
    var index = 1
    while index <= count {
      let region = image.pointee.regions + Int(list[index])
      if fits(region, note, image, chance) {
        limitPolyphony(region, note)
        begin(region, note, image)
        choke(region.pointee.group)
      }
      index &+= 1
    }
  }

  /// Uniform in 0..<1: PCG's predecessor, a 64-bit linear congruence of which the top bits are taken
  /// (multiplier from D. Knuth, "The Art of Computer Programming" 2, MMIX).
  @_noLocks private mutating func nextRandom() -> Float {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Float(random &>> 40) / 16_777_216
  }

  @_noLocks private mutating func fits(
    _ region: UnsafeMutablePointer<Region>, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>,
    _ chance: Float
  ) -> Bool {
    let trigger = region.pointee.trigger
    if note.isRelease ? !(trigger == note.cause) : !(trigger == .attack || trigger == note.cause) {
      return false
    }
    if region.pointee.switchLast >= 0, region.pointee.switchLast != switchLast { return false }
    var condition = Int(region.pointee.firstCondition)
    let end = condition &+ Int(region.pointee.conditionCount)
    while condition < end {
      let range = image.pointee.conditions[condition]
      let value = controlValue(note.channel, Int(range.control))
      if value < range.low || value > range.high { return false }
      condition &+= 1
    }
    if chance < region.pointee.randomLow || chance >= region.pointee.randomHigh { return false }
    if region.pointee.sequenceLength > 1 {
      let counter = sequence + Int(region.pointee.sequenceCounter) % Self.counters
      let turn = counter.pointee % UInt32(region.pointee.sequenceLength)
      counter.pointee &+= 1
      if turn != UInt32(region.pointee.sequencePosition) { return false }
    }
    return true
  }

  /// Makes room in the region's group, and on its key, where the instrument limits them.
  @_noLocks private mutating func limitPolyphony(_ region: UnsafeMutablePointer<Region>, _ note: Note) {
    if region.pointee.polyphony > 0 {
      fadeOldest(leaving: Int(region.pointee.polyphony) &- 1, group: region.pointee.group, key: -1)
    }
    if region.pointee.notePolyphony > 0 {
      fadeOldest(
        leaving: Int(region.pointee.notePolyphony) &- 1, group: region.pointee.group, key: note.key)
    }
  }

  @_noLocks private mutating func fadeOldest(leaving limit: Int, group: Int32, key: Int) {
    while true {
      var count = 0
      var oldest = -1
      var slot = nextActive(0)
      while slot >= 0 {
        let voice = voicePool + slot
        if !voice.pointee.isStolen, voice.pointee.order != order,
          voice.pointee.region.pointee.group == group, key < 0 || Int(voice.pointee.key) == key
        {
          count &+= 1
          if oldest < 0 || voice.pointee.order < voicePool[oldest].order { oldest = slot }
        }
        slot = nextActive(slot &+ 1)
      }
      if count <= limit || oldest < 0 { return }
      steal(oldest)
    }
  }

  /// A region of `group` has begun: ends the voices that this group turns off.
  @_noLocks private mutating func choke(_ group: Int32) {
    guard group != 0 else { return }
    var slot = nextActive(0)
    while slot >= 0 {
      let region = voicePool[slot].region
      if region.pointee.offBy == group, voicePool[slot].order != order {
        if region.pointee.offFast {
          voicePool[slot].isReleased = true
          voicePool[slot].isHeld = false
          voicePool[slot].isSustained = false
          voicePool[slot].fadeOut(Int(region.pointee.offTime * rate))
        } else {
          release(slot)
        }
      }
      slot = nextActive(slot &+ 1)
    }
  }

  @_noLocks private mutating func begin(
    _ region: UnsafeMutablePointer<Region>, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>
  ) {
    let slot = allocate()
    guard slot >= 0 else { return }
    active[slot &>> 6] |= 1 &<< UInt64(slot & 63)
    used &+= 1
    live &+= 1
    image.pointee.header.uses &+= 1
    var voice = Voice(image: image, region: region)
    let velocity = Float(note.velocity) / 127
    let key = Float(note.key)
    var gain = region.pointee.velocityGains[note.velocity]
    gain *= region.pointee.fades.gain(key: key, velocity: Float(note.velocity))
    if note.isRelease, region.pointee.releaseDecay > 0 {
      gain *= power(10, -region.pointee.releaseDecay * note.seconds / 20)
    }
    voice.gainLeft = region.pointee.gainLeft * gain
    voice.gainRight = region.pointee.gainRight * gain
    var cents = (key - region.pointee.keyCenter) * region.pointee.keyTrack + region.pointee.tune
    cents += velocity * region.pointee.velocityTune
    voice.pitch = exponential2(Double(cents) / 1200) * region.pointee.rate / Double(rate)
    voice.bend(bends[note.channel])
    voice.position = Int64(region.pointee.start) &<< 32
    voice.isLooping = region.pointee.loopMode == .continuous || region.pointee.loopMode == .sustain
    voice.envelope = Envelope(region.pointee.envelope, key: key, velocity: velocity, rate: rate)
    let wait = region.pointee.delay * rate
    voice.wait = wait < 1e9 ? Int32(wait) : 1_000_000_000
    voice.order = order
    voice.key = UInt8(note.key)
    voice.channel = UInt8(note.channel)
    // What a note off began, and a one-shot, hears no further note off.
    voice.isHeld = !note.isRelease && !(region.pointee.loopMode == .oneShot)
    voicePool[slot] = voice
    if voice.envelope.isDone { free(slot) }
  }
}

extension Voice {
  /// Bends by -1...1 of the region's range. Audio thread.
  @_noLocks mutating func bend(_ value: Float) {
    let cents = value >= 0 ? value * region.pointee.bendUp : -value * region.pointee.bendDown
    ratio = pitch * exponential2(Double(cents) / 1200)
  }
}
