import CVector
import Realtime

/// Rendering of voices: plain ones one by one, shaped ones sixteen at a time.
extension Sampler {
  /// Adds the frames `from..<end` of all voices. Voices that stop after a number of beats are released on
  /// their frames. Audio thread.
  @_noLocks mutating func play(from: Int, to end: Int) {
    var frame = from
    while hasStops {
      let next = framesToStop()
      guard next <= end &- frame else { break }
      if next > 0 { render(from: frame, to: frame &+ next) }
      frame &+= next
      stopDue()
    }
    if frame < end { render(from: frame, to: end) }
  }

  /// Frames until the next voice stops; a very large number if there is none.
  @_noLocks private mutating func framesToStop() -> Int {
    var least = Int.max
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.stop > 0 {
        let left = Int(voice.pointee.stop &- voice.pointee.age) &+ Int(voice.pointee.wait)
        least = left < least ? (left > 0 ? left : 0) : least
      }
      slot = nextActive(slot &+ 1)
    }
    hasStops = least < Int.max
    return least
  }

  @_noLocks private mutating func stopDue() {
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.stop > 0, voice.pointee.age >= voice.pointee.stop {
        voice.pointee.stop = 0
        release(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Adds the frames `from..<to` of all voices. Within a group of sixteen slots plain voices come first, then
  /// the others, each in slot order. Audio thread.
  @_noLocks mutating func render(from: Int, to: Int) {
    // Once, and not for each voice.
    let context = context
    for group in 0..<Self.slots / FilterBank.lanes {
      let word = active[group &>> 2] &>> UInt64((group & 3) &* 16)
      var bits = word & 0xFFFF
      guard bits != 0 else { continue }
      var shaped: UInt64 = 0
      while bits != 0 {
        let lane = bits.trailingZeroBitCount
        let slot = group &* 16 &+ lane
        bits &= bits &- 1
        if bits != 0 { fetch(group &* 16 &+ bits.trailingZeroBitCount) }
        if voicePool[slot].isShaped {
          shaped |= 1 &<< UInt64(lane)
        } else {
          if context.isSending, voicePool[slot].region.pointee.hasSends {
            voicePool[slot].render(context, sends: shapes[slot].sends, from: from, to: to)
          } else {
            voicePool[slot].render(context, from: from, to: to)
          }
          if voicePool[slot].hasEnded { free(slot) }
        }
      }
      if shaped != 0 { renderShaped(group, shaped, from: from, to: to) }
    }
  }

  /// Asks for what a voice needs, while the one before it is rendered: all of them together exceed the first cache.
  @_noLocks @inline(__always) private mutating func fetch(_ slot: Int) {
    let voice = voicePool + slot
    sostenuto_fetch(voice, Int64(MemoryLayout<Voice>.stride))
    let region = voice.pointee.region
    sostenuto_fetch(region, Int64(Region.soundingSize))
    let plane = region.pointee.left
    sostenuto_fetch(plane.base + Int(voice.pointee.position >> 32) &<< (plane.isShort ? 1 : 2), 256)
    guard voice.pointee.isShaped else { return }
    let shape = shapes + slot
    sostenuto_fetch(shape, Int64(MemoryLayout<VoiceShape>.stride))
    sostenuto_fetch(shape.pointee.lfos, 128)
    sostenuto_fetch(shape.pointee.values, 128)
    sostenuto_fetch(shape.pointee.totals, 128)
  }

  @_noLocks private mutating func renderShaped(_ group: Int, _ lanes: UInt64, from: Int, to: Int) {
    let context = context
    bank.begin()
    var units = 0
    var stereo: UInt64 = 0
    var sending: UInt64 = 0
    // Bit mask of the voices' outputs.
    var outputs: UInt64 = 0
    var bits = lanes
    while bits != 0 {
      let lane = bits.trailingZeroBitCount
      let slot = group &* 16 &+ lane
      bits &= bits &- 1
      if bits != 0 { fetch(group &* 16 &+ bits.trailingZeroBitCount) }
      let region = voicePool[slot].region
      units = units > Int(voicePool[slot].unitCount) ? units : Int(voicePool[slot].unitCount)
      if region.pointee.isStereo { stereo |= 1 &<< UInt64(lane) }
      outputs |= 1 &<< UInt64(voicePool[slot].output)
      if context.isSending, region.pointee.hasSends {
        sending |= 1 &<< UInt64(lane)
        voicePool[slot].writeSending(context, &shapes[slot], &bank, slot: slot, from: from, to: to)
      } else {
        voicePool[slot].write(context, &shapes[slot], &bank, slot: slot, from: from, to: to)
      }
    }
    let frames = to &- from
    if units > 0 {
      bank.process(
        group, units: units, left: context.rows, right: stereo != 0 ? context.rightRows : nil,
        frames: frames, rate: rate)
    }
    let areMany = outputs & (outputs &- 1) != 0
    while outputs != 0 {
      let output = outputs.trailingZeroBitCount
      outputs &= outputs &- 1
      let members = areMany ? self.lanes(group, lanes, of: output) : lanes
      let sum = context.sums + Sum.place(output) + from
      var frame = 0
      while frame < frames {
        mix(members, stereo, frame, to: sum + frame)
        frame &+= 16
      }
    }
    if sending != 0 {
      send(sending, stereo, frames, context.reverbRows, to: context.sums + Sum.place(Sum.reverb) + from)
      send(sending, stereo, frames, context.chorusRows, to: context.sums + Sum.place(Sum.chorus) + from)
    }
    bits = lanes
    while bits != 0 {
      let slot = group &* 16 &+ bits.trailingZeroBitCount
      bits &= bits &- 1
      if voicePool[slot].hasEnded { free(slot) }
    }
  }

  /// Adds sixteen frames of the rows to the sums, voice after voice.
  @_noLocks @inline(__always) private mutating func mix(
    _ lanes: UInt64, _ stereo: UInt64, _ frame: Int, to sum: UnsafeMutablePointer<Float>
  ) {
    var left = vector(sum)
    var right = vector(sum + Sum.side)
    var bits = lanes
    while bits != 0 {
      let lane = bits.trailingZeroBitCount
      bits &= bits &- 1
      let row = lane &* FilterBank.stride &+ frame
      let rightRows = stereo &>> UInt64(lane) & 1 == 1 ? context.rightRows : context.rows
      left += vector(context.rows + row) * vector(context.gainRows + row)
      right += vector(rightRows + row) * vector(context.rightGainRows + row)
    }
    store(left, sum)
    store(right, sum + Sum.side)
  }

  /// The lanes whose voices belong to an output.
  @_noLocks private mutating func lanes(_ group: Int, _ lanes: UInt64, of output: Int) -> UInt64 {
    var members: UInt64 = 0
    var bits = lanes
    while bits != 0 {
      let lane = bits.trailingZeroBitCount
      bits &= bits &- 1
      if Int(voicePool[group &* 16 &+ lane].output) == output { members |= 1 &<< UInt64(lane) }
    }
    return members
  }

  /// Adds the rows to the sum of a send, with each voice's share.
  @_noLocks private mutating func send(
    _ lanes: UInt64, _ stereo: UInt64, _ frames: Int, _ shares: UnsafeMutablePointer<Float>,
    to sum: UnsafeMutablePointer<Float>
  ) {
    var bits = lanes
    while bits != 0 {
      let lane = bits.trailingZeroBitCount
      bits &= bits &- 1
      let rightRows = stereo &>> UInt64(lane) & 1 == 1 ? context.rightRows : context.rows
      var frame = 0
      while frame < frames {
        let row = lane &* FilterBank.stride &+ frame
        let share = vector(shares + row)
        add(vector(context.rows + row) * vector(context.gainRows + row) * share, to: sum + frame)
        add(
          vector(rightRows + row) * vector(context.rightGainRows + row) * share, to: sum + Sum.side + frame)
        frame &+= 16
      }
    }
  }

  /// Ends the shaping of voices that have come to rest. Audio thread.
  @_noLocks mutating func settle() {
    var slot = nextActive(0)
    while slot >= 0 {
      if voicePool[slot].isShaped, voicePool[slot].age > 0 { shapes[slot].settle(&voicePool[slot]) }
      slot = nextActive(slot &+ 1)
    }
  }

  // MARK: Modulation

  /// Summand or factor of a modulation. Audio thread.
  @_noLocks private func amount(
    _ modulation: Modulation, _ image: UnsafeMutablePointer<InstrumentImage>, _ slot: Int
  ) -> Float {
    var value = modulation.amount * part(modulation.source, modulation.curve, image, slot)
    if modulation.step > 0 {
      // Slightly more, since a whole number of steps may come out slightly below.
      let steps = value / modulation.step * 1.0001
      if steps < 1e9, steps > -1e9 { value = Float(Int32(steps)) * modulation.step }
    }
    if modulation.by != Source.one {
      value *= part(modulation.by, modulation.byCurve, image, slot)
    }
    return modulation.isAbsolute && value < 0 ? -value : value
  }

  /// Value of a source after its curve.
  @_noLocks private func part(
    _ source: UInt16, _ curve: Int32, _ image: UnsafeMutablePointer<InstrumentImage>, _ slot: Int
  ) -> Float {
    let values = image.pointee.curves + Int(curve)
    let place = position(source, slot)
    return Source.isPlain(source) ? plainCurveValue(values, place) : curveValue(values, place)
  }

  /// Computes the goals of a voice's values. Audio thread.
  @_noLocks func evaluate(_ slot: Int) {
    let voice = voicePool + slot
    let region = voice.pointee.region
    guard let image = voice.pointee.image else { return }
    let goals = shapes[slot].goals
    copyMemory(goals, region.pointee.base, 256)
    for index in 0..<Int(region.pointee.modulationCount) {
      let modulation = region.pointee.modulations[index]
      let target = Int(modulation.slot)
      guard target < Slot.noteOn else { continue }
      let amount = amount(modulation, image, slot)
      if modulation.isProduct { goals[target] *= amount } else { goals[target] += amount }
    }
    let own = Int(voice.pointee.channel)
    goals[Slot.pitch] += memberBend(own) + channelTuning(own) + facts[slot].tuning
    if region.pointee.isLogarithmic {
      let keys = Float(voice.pointee.soundKey) - region.pointee.keyCenter
      offsets.add(zones.master(of: own), to: goals, keys: keys)
      // Attenuation is never negative.
      if goals[Slot.volume] > 0 { goals[Slot.volume] = 0 }
      let pan = goals[Slot.pan]
      goals[Slot.pan] = pan > -100 ? (pan < 100 ? pan : 100) : -100
    } else {
      let bend = bends[zones.master(of: own)]
      if bend != 0 {
        let cents = bend > 0 ? bend * region.pointee.bendUp : -bend * region.pointee.bendDown
        let step = bend > 0 ? region.pointee.bendStepUp : region.pointee.bendStepDown
        goals[Slot.pitch] += step > 1 ? Float(Int32(cents / step)) * step : cents
      }
    }
  }

  /// Computes the modulation of the slots from `Slot.noteOn` on, in `noteValues`. Audio thread.
  @_noLocks func evaluateNoteOn(_ slot: Int) {
    let region = voicePool[slot].region
    setMemory(noteValues, 0, 192 &* 4)
    if region.pointee.isLogarithmic {
      let channel = zones.master(of: Int(voicePool[slot].channel))
      offsets.addNoteOn(channel, to: noteValues, key: Int(voicePool[slot].soundKey))
    }
    guard region.pointee.hasNoteModulations, let image = voicePool[slot].image else { return }
    for index in 0..<Int(region.pointee.modulationCount) {
      let modulation = region.pointee.modulations[index]
      guard Int(modulation.slot) >= Slot.noteOn else { continue }
      noteValues[Int(modulation.slot) &- Slot.noteOn] += amount(modulation, image, slot)
    }
  }

  /// After a source has moved: updates the voices of the channel that it modulates. Audio thread.
  @_noLocks mutating func follow(_ channel: Int, _ source: UInt16, key: Int = -1) {
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      let region = voice.pointee.region
      let own = Int(voice.pointee.channel)
      let isBend = source == Source.bend || source == Source.bendRange
      if zones.reaches(channel, own), key < 0 || Int(voice.pointee.key) == key,
        region.pointee.hears(source) || (isBend && (!region.pointee.isLogarithmic || zones.isMember(own)))
      {
        refresh(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Recomputes the goals of a voice's values. `isTimed`: its envelopes' times may have changed. Audio thread.
  @_noLocks mutating func refresh(_ slot: Int, isTimed: Bool = false) {
    evaluate(slot)
    if isTimed || voicePool[slot].region.pointee.hasMovedTimes {
      evaluateNoteOn(slot)
      voicePool[slot].changeTimes(added: noteValues)
      shapes[slot].change(voicePool[slot].core, noteValues, rate: rate)
    }
    shapes[slot].wake(&voicePool[slot])
  }
}
