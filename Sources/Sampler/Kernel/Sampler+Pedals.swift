import Realtime

/// Keys held by pedals.
extension Sampler {
  /// Holds or releases the voices whose sustain or sostenuto pedal this controller is. Audio thread.
  @_noLocks mutating func movePedals(_ channel: Int, _ number: Int, from before: Float, to value: Float) {
    catchKeys(channel, number, from: before, to: value)
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      let pedals = voice.pointee.region.pointee.pedals
      let own = Int(voice.pointee.channel)
      if zones.reaches(channel, own) {
        if Int(pedals.sustain) == number {
          if voice.pointee.isSustained, pedalValue(own, number) < pedals.sustainLow {
            voice.pointee.isSustained = false
            if !voice.pointee.caught.isAny { release(slot) }
          }
        } else if Int(pedals.sostenuto) == number {
          let pedal = Caught(isMaster: channel != own)
          if before < pedals.sostenutoLow, value >= pedals.sostenutoLow {
            if voice.pointee.isHeld { voice.pointee.caught.insert(pedal) }
          } else if value < pedals.sostenutoLow, voice.pointee.caught.isAny {
            voice.pointee.caught.remove(pedal)
            let isHeld = voice.pointee.isHeld || voice.pointee.isSustained || voice.pointee.caught.isAny
            if !isHeld { release(slot) }
          }
        }
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Catches the keys that are down when their sostenuto pedal goes down, until it goes up.
  @_noLocks private mutating func catchKeys(
    _ channel: Int, _ number: Int, from before: Float, to value: Float
  ) {
    guard let image else { return }
    for set in 0..<image.pointee.pedalCount {
      let pedals = image.pointee.pedals[set]
      guard Int(pedals.sostenuto) == number else { continue }
      let goesDown = before < pedals.sostenutoLow && value >= pedals.sostenutoLow
      guard goesDown || value < pedals.sostenutoLow else { continue }
      for other in 0..<Self.channels where zones.reaches(channel, other) {
        let bit = UInt16(1) &<< UInt16(other == channel ? set : set &+ 8)
        for place in other &* 128..<(other &+ 1) &* 128 {
          if !goesDown {
            caught[place] &= ~bit
          } else if downVelocity[place] > 0 {
            caught[place] |= bit
          }
        }
      }
    }
  }

  /// The sostenuto pedals of a set that hold a key. Audio thread.
  @_noLocks func pedals(_ channel: Int, _ key: Int, set: UInt8) -> Caught {
    let bits = caught[channel &* 128 &+ key] &>> UInt16(set)
    var pedals = Caught()
    if bits & 1 != 0 { pedals.insert(Caught(isMaster: false)) }
    if bits & 256 != 0 { pedals.insert(Caught(isMaster: true)) }
    return pedals
  }

  /// Bit mask of the instrument's pedal sets that hold a key's note. Audio thread.
  @_noLocks func holdingPedals(
    _ channel: Int, _ key: Int, _ image: UnsafeMutablePointer<InstrumentImage>
  ) -> UInt8 {
    let bits = caught[channel &* 128 &+ key]
    var holding = UInt8(truncatingIfNeeded: bits | bits &>> 8)
    for set in 0..<image.pointee.pedalCount {
      let pedals = image.pointee.pedals[set]
      if pedals.sustain < 128, pedalValue(channel, Int(pedals.sustain)) >= pedals.sustainLow {
        holding |= 1 &<< UInt8(set)
      }
    }
    return holding
  }

  /// After a controller has moved: starts release regions of keys that no pedal of theirs holds any longer.
  /// Audio thread.
  @_noLocks mutating func startWaiting(
    _ channel: Int, _ number: Int, _ image: UnsafeMutablePointer<InstrumentImage>, time: Int64
  ) {
    var isPedal = false
    for set in 0..<image.pointee.pedalCount {
      let pedals = image.pointee.pedals[set]
      isPedal = isPedal || Int(pedals.sustain) == number || Int(pedals.sostenuto) == number
    }
    guard isPedal else { return }
    for other in 0..<Self.channels where zones.reaches(channel, other) {
      for key in 0..<128 {
        guard waiting[other &* 128 &+ key] != 0 else { continue }
        startWaiting(other, key, image, sets: ~holdingPedals(other, key, image), time: time)
      }
    }
  }

  /// Starts a key's release regions that wait for pedals of these sets. Audio thread.
  @_noLocks mutating func startWaiting(
    _ channel: Int, _ key: Int, _ image: UnsafeMutablePointer<InstrumentImage>, sets: UInt8, time: Int64
  ) {
    let place = channel &* 128 &+ key
    let due = waiting[place] & sets
    guard due != 0 else { return }
    waiting[place] &= ~due
    var note = releasedNote(channel, key, velocity: pending[place], time: time)
    note.pedals = due
    start(image, note)
  }

  /// The note for release regions, with the time that the key was held, and whether its note still sounds.
  @_noLocks func releasedNote(
    _ channel: Int, _ key: Int, velocity: UInt8, time: Int64
  ) -> Note {
    let seconds = Float(time &- downTime[channel &* 128 &+ key]) / rate
    var note = Note(
      channel: channel, key: key, velocity: Int(velocity), cause: .release, seconds: seconds)
    note.isDead = began[channel &* 128 &+ key] != 0
    var slot = nextActive(0)
    while slot >= 0, note.isDead {
      let voice = voicePool + slot
      let isOfKey = Int(voice.pointee.key) == key && Int(voice.pointee.channel) == channel
      note.isDead = !isOfKey || voice.pointee.isStolen || !voice.pointee.isOfKeyDown
      slot = nextActive(slot &+ 1)
    }
    return note
  }
}
