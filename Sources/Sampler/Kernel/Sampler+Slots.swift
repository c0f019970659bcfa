import Realtime

/// Voice slots and voice stealing.
extension Sampler {
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
    for unit in 0..<Int(voicePool[slot].unitCount) { bank.reset(slot, unit) }
    if let image = voicePool[slot].image { image.pointee.header.count(-1) }
    voicePool[slot].image = nil
  }

  @_noLocks mutating func freeIfEnded(_ slot: Int) {
    if voicePool[slot].hasEnded || voicePool[slot].envelope.isDone { free(slot) }
  }

  @_noLocks mutating func release(_ slot: Int) {
    let isFirst = !voicePool[slot].isReleased
    voicePool[slot].release(rate: rate)
    if isFirst, !voicePool[slot].hasEnded { shapes[slot].release(&voicePool[slot]) }
    freeIfEnded(slot)
  }

  /// Steals the voice: it gives up its place and fades over 5 ms.
  @_noLocks private mutating func steal(_ slot: Int) {
    guard !voicePool[slot].isStolen else { return }
    voicePool[slot].isStolen = true
    live &-= 1
    voicePool[slot].fadeOut(Int(0.005 * rate))
    if voicePool[slot].isWaiting { free(slot) }
  }

  /// The voice to steal: released before held; of these the quietest; of equally quiet ones the oldest. Never
  /// a voice of the note that is just beginning.
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

  /// A slot for a new voice, or -1. When even the spare slots are full, the stolen voice closest to its end
  /// is dropped. Audio thread.
  @_noLocks mutating func allocate() -> Int {
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

  /// Makes room in the region's group, and on its key, if the instrument limits them. Audio thread.
  @_noLocks mutating func limitPolyphony(_ region: UnsafeMutablePointer<Region>, _ note: Note) {
    if region.pointee.polyphony > 0 {
      fadeOldest(
        leaving: Int(region.pointee.polyphony) &- 1, group: region.pointee.group, key: -1, upTo: 127)
    }
    if region.pointee.notePolyphony > 0 {
      fadeOldest(
        leaving: Int(region.pointee.notePolyphony) &- 1, group: region.pointee.group, key: note.key,
        upTo: region.pointee.selfMask ? note.velocity : 127)
    }
  }

  /// Fades the oldest voices up to a velocity.
  @_noLocks private mutating func fadeOldest(
    leaving limit: Int, group: Int32, key: Int, upTo velocity: Int
  ) {
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
          if Int(voice.pointee.velocity) <= velocity,
            oldest < 0 || voice.pointee.order < voicePool[oldest].order
          {
            oldest = slot
          }
        }
        slot = nextActive(slot &+ 1)
      }
      if count <= limit || oldest < 0 { return }
      steal(oldest)
    }
  }

  /// True when a monophonic region may sound this note: no held note of higher priority prevents it. Audio
  /// thread.
  @_noLocks func hasPriority(_ region: UnsafeMutablePointer<Region>, _ note: Note) -> Bool {
    if region.pointee.priority == .last { return true }
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      let key = Int(voice.pointee.key)
      if voice.pointee.isHeld, !voice.pointee.isStolen, voice.pointee.order != order,
        voice.pointee.region.pointee.group == region.pointee.group,
        region.pointee.priority == .highest ? key > note.key : key < note.key
      {
        return false
      }
      slot = nextActive(slot &+ 1)
    }
    return true
  }

  /// After a key went up: the held key with the highest priority sounds again, in monophonic regions. Audio
  /// thread.
  @_noLocks mutating func returnToHeld(
    _ channel: Int, _ key: Int, _ image: UnsafeMutablePointer<InstrumentImage>
  ) {
    let priority = soundedPriority(channel, key)
    guard !(priority == .none) else { return }
    var next = -1
    for other in 0..<128 where downVelocity[channel &* 128 &+ other] > 0 {
      let isNext =
        priority == .last
        ? next < 0 || downTime[channel &* 128 &+ other] >= downTime[channel &* 128 &+ next]
        : next < 0 || priority == .highest
      if isNext { next = other }
    }
    guard next >= 0 else { return }
    var note = Note(
      channel: channel, key: next, velocity: Int(downVelocity[channel &* 128 &+ next]), cause: .legato,
      seconds: 0)
    note.isReturn = true
    start(image, note)
  }

  /// Priority of the voices of a key just released; none if another key's voice sounds.
  @_noLocks private func soundedPriority(_ channel: Int, _ key: Int) -> NotePriority {
    var priority = NotePriority.none
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      let region = voice.pointee.region
      if !(region.pointee.priority == .none), !voice.pointee.isStolen, Int(voice.pointee.channel) == channel {
        if voice.pointee.isHeld { return .none }
        if Int(voice.pointee.key) == key, voice.pointee.isOfKeyDown { priority = region.pointee.priority }
      }
      slot = nextActive(slot &+ 1)
    }
    return priority
  }

  /// After a region has begun: ends the voices that its group turns off. Groups of logarithmic regions
  /// choke within a channel. Audio thread.
  @_noLocks mutating func choke(_ new: UnsafeMutablePointer<Region>, _ channel: Int) {
    let group = new.pointee.group
    guard group != 0 else { return }
    var slot = nextActive(0)
    while slot >= 0 {
      let region = voicePool[slot].region
      let isOfChannel = zones.master(of: Int(voicePool[slot].channel)) == zones.master(of: channel)
      if region.pointee.offBy == group, voicePool[slot].order != order,
        isOfChannel || !region.pointee.isLogarithmic
      {
        if region.pointee.offFast {
          voicePool[slot].turnOff()
        } else {
          release(slot)
        }
      }
      slot = nextActive(slot &+ 1)
    }
  }
}
