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
      if zones.reaches(channel, Int(voice.pointee.channel)) {
        if Int(pedals.sustain) == number, value < pedals.sustainLow, voice.pointee.isSustained {
          voice.pointee.isSustained = false
          if !voice.pointee.isCaught { release(slot) }
        } else if Int(pedals.sostenuto) == number {
          if before < pedals.sostenutoLow, value >= pedals.sostenutoLow {
            if voice.pointee.isHeld { voice.pointee.isCaught = true }
          } else if value < pedals.sostenutoLow, voice.pointee.isCaught {
            voice.pointee.isCaught = false
            if !voice.pointee.isHeld, !voice.pointee.isSustained { release(slot) }
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
      let bit = UInt8(1) &<< UInt8(set)
      let goesDown = before < pedals.sostenutoLow && value >= pedals.sostenutoLow
      guard goesDown || value < pedals.sostenutoLow else { continue }
      for other in 0..<Self.channels where zones.reaches(channel, other) {
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

  /// Bit mask of the instrument's pedal sets that hold a key's note. Audio thread.
  @_noLocks func holdingPedals(
    _ channel: Int, _ key: Int, _ image: UnsafeMutablePointer<InstrumentImage>
  ) -> UInt8 {
    var holding = caught[channel &* 128 &+ key]
    for set in 0..<image.pointee.pedalCount {
      let pedals = image.pointee.pedals[set]
      if pedals.sustain < 128, controlValue(channel, Int(pedals.sustain), image) >= pedals.sustainLow {
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
        let place = other &* 128 &+ key
        guard waiting[place] != 0 else { continue }
        let due = waiting[place] & ~holdingPedals(other, key, image)
        guard due != 0 else { continue }
        waiting[place] &= ~due
        var note = releasedNote(other, key, velocity: pending[place], time: time)
        note.pedals = due
        start(image, note)
      }
    }
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
