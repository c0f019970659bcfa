import Realtime

/// Handling of events.
extension Sampler {
  enum Control {
    static var dataEntry: Int { @_noLocks get { 6 } }
    static var dataEntryFine: Int { @_noLocks get { 38 } }
    static var portamentoTime: Int { @_noLocks get { 5 } }
    static var portamento: Int { @_noLocks get { 65 } }
    static var portamentoFrom: Int { @_noLocks get { 84 } }
    static var dataIncrement: Int { @_noLocks get { 96 } }
    static var dataDecrement: Int { @_noLocks get { 97 } }
    static var sustain: Int { @_noLocks get { 64 } }
    static var sostenuto: Int { @_noLocks get { 66 } }
    static var unregisteredFine: Int { @_noLocks get { 98 } }
    static var unregistered: Int { @_noLocks get { 99 } }
    static var registeredFine: Int { @_noLocks get { 100 } }
    static var registered: Int { @_noLocks get { 101 } }
    static var allSoundOff: Int { @_noLocks get { 120 } }
    static var resetAll: Int { @_noLocks get { 121 } }
    static var allNotesOff: Int { @_noLocks get { 123 } }
  }

  @_noLocks mutating func handle(_ event: Event, time: Int64) {
    eventTime = time
    let channel = Int(event.channel & 15)
    let key = Int(event.key & 127)
    switch event.kind {
    case .noteOn:
      if event.value >= 0.5 {
        noteOn(channel, key, velocity: event.value < 127 ? Int(event.value + 0.5) : 127, time: time)
      } else {
        noteOff(channel, key, time: time)
      }
    case .noteOff: noteOff(channel, key, time: time, velocity: Int(Self.limited(event.value)))
    case .control: control(channel, key, event.value, time: time)
    case .bend: bend(channel, event.value)
    case .allNotesOff:
      for channel in 0..<Self.channels { endNotes(channel, time: time) }
    case .allSoundOff:
      for channel in 0..<Self.channels { silence(channel) }
    case .program: change(channel, to: Int(Self.limited(event.value)))
    case .pressure:
      pressures[channel] = Self.limited(event.value)
      follow(channel, Source.pressure)
      tell(channel, Source.pressure, pressures[channel])
    case .keyPressure:
      keyPressures[channel &* 128 &+ key] = Self.limited(event.value)
      follow(channel, Source.keyPressure, key: key)
      tell(channel, Source.keyPressure, Self.limited(event.value))
    case .reset: resetModule(time: time)
    case .rhythm: setRhythm(channel, event.value > 0.5)
    case .masterTuning, .keyTuning, .octaveTuning: tune(event)
    case .masterVolume:
      volume.move(to: event.value, at: time, frame: Int(time &- blockTime), rate: rate)
    case .play, .stop, .cue, .system, .exclusive: break
    }
  }

  /// 0...127. Audio thread.
  @_noLocks static func limited(_ value: Float) -> Float {
    value > 0 ? (value < 127 ? value : 127) : 0
  }

  // MARK: Notes

  @_noLocks private mutating func noteOn(_ channel: Int, _ key: Int, velocity: Int, time: Int64) {
    let place = channel &* 128 &+ key
    if downVelocity[place] == 0 { keysDown &+= 1 }
    if keysDown == 1 { follow(channel, Source.gate) }
    downVelocity[place] = UInt8(velocity)
    downTime[place] = time
    keyPressures[place] = 0
    waiting[place] = 0
    noteCount &+= 1
    previousKey = lastKey
    lastKey = Int32(key)
    previousVelocity = lastVelocity
    lastVelocity = velocity
    began[place] = 0
    let (first, second) = (nextRandom(), nextRandom())
    lastNote.begin(delta: previousKey < 0 ? 0 : lastKey &- previousKey, first, second, time)
    defer {
      portamentoKeys[channel] = Int16(key)
      portamentoFrom[channel] = -1
    }
    guard let image else { return }
    if image.pointee.switchKeys[key &>> 6] >> UInt64(key & 63) & 1 == 1 { switchLast = Int32(key) }
    if image.pointee.hasControlStarts || image.pointee.hasControlStops { tellNote(channel, key, velocity) }
    let cause: Trigger = keysDown == 1 ? .first : .legato
    if start(image, Note(channel: channel, key: key, velocity: velocity, cause: cause, seconds: 0)) {
      began[place] = 1
    }
  }

  @_noLocks private mutating func noteOff(
    _ channel: Int, _ key: Int, time: Int64, velocity releaseVelocity: Int = 64
  ) {
    let place = channel &* 128 &+ key
    let velocity = downVelocity[place]
    if velocity > 0 { keysDown &-= 1 }
    if keysDown == 0 { follow(channel, Source.gate) }
    downVelocity[place] = 0
    // Notes of a bank last 10 ms at least, as FluidSynth has it: MIDI files end a drum's note in the tick in which it begins.
    let shortest = Int64(rate * 0.010)
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.isHeld, Int(voice.pointee.key) == key, Int(voice.pointee.channel) == channel {
        let pedals = voice.pointee.region.pointee.pedals
        let isSustained =
          pedals.sustain < 128
          && pedalValue(channel, Int(pedals.sustain)) >= pedals.sustainLow
        voice.pointee.releaseVelocity = UInt8(releaseVelocity)
        if isSustained || voice.pointee.caught.isAny {
          voice.pointee.isHeld = false
          voice.pointee.isSustained = isSustained
        } else if voice.pointee.region.pointee.isLogarithmic, voice.pointee.age < shortest {
          voice.pointee.isHeld = false
          if voice.pointee.stop == 0 || voice.pointee.stop > shortest { voice.pointee.stop = shortest }
          hasStops = true
        } else {
          release(slot)
        }
      }
      slot = nextActive(slot &+ 1)
    }
    lastNote.offTime = time
    guard velocity > 0, let image else { return }
    tell(channel, Source.releaseVelocity, Float(releaseVelocity))
    var note = releasedNote(channel, key, velocity: velocity, time: time)
    note.releaseVelocity = releaseVelocity
    note.cause = .releaseKey
    start(image, note)
    note.cause = .release
    // Release regions wait for the pedals that hold the note.
    waiting[place] = holdingPedals(channel, key, image) & image.pointee.waitingPedals
    pending[place] = waiting[place] == 0 ? 0 : velocity
    note.pedals = ~waiting[place]
    start(image, note)
    if image.pointee.hasPriorities { returnToHeld(channel, key, image) }
  }

  /// Message 123: all keys go up. Pedals that are down hold the notes, as the MIDI specification has it: some
  /// keyboards send the message with the last key of a chord.
  @_noLocks private mutating func liftKeys(_ channel: Int, time: Int64) {
    for key in 0..<128 where downVelocity[channel &* 128 &+ key] > 0 { noteOff(channel, key, time: time) }
    // Notes that are held without a key, for instance after a change of instrument.
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if Int(voice.pointee.channel) == channel, voice.pointee.isHeld {
        noteOff(channel, Int(voice.pointee.key), time: time)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Ends every note and releases the pedals.
  @_noLocks mutating func endNotes(_ channel: Int, time: Int64) {
    control(channel, Control.sostenuto, 0, time: time, isMessage: false)
    for key in 0..<128 where downVelocity[channel &* 128 &+ key] > 0 { noteOff(channel, key, time: time) }
    control(channel, Control.sustain, 0, time: time, isMessage: false)
    // Voices that sound although their key is up, for instance after a change of instrument, or by a pedal of
    // the channel's zone.
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if Int(voice.pointee.channel) == channel,
        voice.pointee.isHeld || voice.pointee.isSustained || voice.pointee.caught.isAny
      {
        release(slot)
      }
      slot = nextActive(slot &+ 1)
    }
    guard let image else { return }
    for key in 0..<128 {
      startWaiting(channel, key, image, sets: waiting[channel &* 128 &+ key], time: time)
    }
  }

  /// Panic: all voices of a channel fade within 10 ms, one-shots too.
  @_noLocks mutating func silence(_ channel: Int) {
    let frames = Int(0.010 * rate)
    var slot = nextActive(0)
    while slot >= 0 {
      if Int(voicePool[slot].channel) == channel {
        voicePool[slot].silence(over: frames)
        freeIfEnded(slot)
      }
      slot = nextActive(slot &+ 1)
    }
    for place in channel &* 128..<(channel &+ 1) &* 128 {
      if downVelocity[place] > 0 { keysDown &-= 1 }
      downVelocity[place] = 0
      pending[place] = 0
      waiting[place] = 0
      caught[place] = 0
    }
    controls[channel &* 128 &+ Control.sustain] = 0
    controls[channel &* 128 &+ Control.sostenuto] = 0
  }

  // MARK: Controllers

  /// Value of a controller: as moved on the channel or on its zone's master, or as set by the instrument.
  @_noLocks func controlValue(
    _ channel: Int, _ control: Int, _ image: UnsafeMutablePointer<InstrumentImage>?
  ) -> Float {
    // MIDI has no others.
    let isMoved = control < 128 && controls[channel &* 128 &+ control] >= 0
    return ownValue(isMoved ? channel : zones.master(of: channel), control, image)
  }

  /// Value of a controller as moved on this very channel, or as set by the instrument.
  @_noLocks private func ownValue(
    _ channel: Int, _ control: Int, _ image: UnsafeMutablePointer<InstrumentImage>?
  ) -> Float {
    if control < 128, controls[channel &* 128 &+ control] >= 0 { return controls[channel &* 128 &+ control] }
    return image == nil ? 0 : image!.pointee.controls[control]
  }

  /// Value of a controller that is a pedal: the channel's or its zone's, whichever is further down. Audio
  /// thread.
  @_noLocks func pedalValue(_ channel: Int, _ control: Int) -> Float {
    let value = controlValue(channel, control, image)
    // A master's that has not been moved is below all values.
    let master = control < 128 ? controls[zones.master(of: channel) &* 128 &+ control] : -1
    return master > value ? master : value
  }

  /// `isMessage`: received as a message, not derived from another one. Audio thread.
  @_noLocks mutating func control(
    _ channel: Int, _ number: Int, _ value: Float, time: Int64, isMessage: Bool = true
  ) {
    let before = controlValue(channel, number, image)
    let pedal = ownValue(channel, number, image)
    let value = Self.limited(value)
    controls[channel &* 128 &+ number] = value
    switch number {
    case Control.allSoundOff:
      for other in 0..<Self.channels where zones.reaches(channel, other) { silence(other) }
    // Omni and mono modes end the notes as well, supported or not.
    case _ where number >= Control.allNotesOff:
      for other in 0..<Self.channels where zones.reaches(channel, other) { liftKeys(other, time: time) }
    case Control.resetAll: reset(channel, time: time)
    case Control.unregistered: parameterNumbers[channel] = -1
    case Control.unregisteredFine: chooseUnregistered(channel, Int(value))
    case Control.registered, Control.registeredFine:
      let high = Int32(controlValue(channel, Control.registered, nil))
      parameterNumbers[channel] = high &* 128 &+ Int32(controlValue(channel, Control.registeredFine, nil))
    case Control.dataEntry, Control.dataEntryFine, Control.dataIncrement, Control.dataDecrement:
      enterData(channel, number, value, time: time)
    case Control.portamentoFrom: portamentoFrom[channel] = Int16(value)
    default: break
    }
    movePedals(channel, number, from: pedal, to: value)
    if let image, image.pointee.waitingPedals != 0 { startWaiting(channel, number, image, time: time) }
    if value != before { follow(channel, UInt16(number)) }
    if isMessage || value != before { tell(channel, UInt16(number), value) }
  }

  /// Resets controllers, bend and pressure. Volume, pan, the program, the sound controllers and the effect
  /// depths stay (RP-015 of the MIDI Association).
  @_noLocks private mutating func reset(_ channel: Int, time: Int64) {
    control(channel, Control.sustain, 0, time: time, isMessage: false)
    control(channel, Control.sostenuto, 0, time: time, isMessage: false)
    for index in 0..<120 where !Self.outlastsReset(index) { forget(channel, index) }
    resetExpression(channel)
  }

  /// Resets a controller to the instrument's value. Audio thread.
  @_noLocks mutating func forget(_ channel: Int, _ control: Int) {
    let before = controlValue(channel, control, image)
    controls[channel &* 128 &+ control] = -1
    if controlValue(channel, control, image) != before { follow(channel, UInt16(control)) }
  }

  /// Resets bend and pressure, and deselects the parameter. Audio thread.
  @_noLocks mutating func resetExpression(_ channel: Int) {
    parameterNumbers[channel] = -1
    portamentoFrom[channel] = -1
    bend(channel, 0)
    pressures[channel] = 0
    follow(channel, Source.pressure)
    for key in 0..<128 { keyPressures[channel &* 128 &+ key] = 0 }
    follow(channel, Source.keyPressure)
  }

  @_noLocks private static func outlastsReset(_ number: Int) -> Bool {
    number == 0 || number == 7 || number == 10 || number == 32 || (number >= 70 && number <= 79)
      || (number >= 91 && number <= 95)
  }

  @_noLocks private mutating func bend(_ channel: Int, _ value: Float) {
    bends[channel] = value < 1 ? (value > -1 ? value : -1) : 1
    follow(channel, Source.bend)
    tell(channel, Source.bend, bends[channel])
  }

  // MARK: Messages that start and end regions

  /// Handles a controller message: ends the voices that it ends, and starts the regions that it starts. Every
  /// message does so, whether its value is new or not. Audio thread.
  @_noLocks mutating func tell(_ channel: Int, _ source: UInt16, _ value: Float) {
    guard let image else { return }
    if image.pointee.hasControlStops { stopByControl(channel, Int(source), value) }
    if image.pointee.hasControlStarts { startByControl(image, channel, Int(source), value) }
  }

  /// Reports a note's values as controller messages.
  @_noLocks private mutating func tellNote(_ channel: Int, _ key: Int, _ velocity: Int) {
    tell(channel, Source.velocity, Float(velocity))
    tell(channel, Source.key, Float(key))
    tell(channel, Source.gate, 127)
    tell(channel, Source.random, lastNote.random)
    tell(channel, Source.randomBipolar, lastNote.randomBipolar)
    tell(channel, Source.alternate, noteCount & 1 == 1 ? 127 : 0)
    tell(channel, Source.keyDelta, lastNote.keyDelta)
    tell(channel, Source.keyDistance, lastNote.keyDelta < 0 ? -lastNote.keyDelta : lastNote.keyDelta)
  }

  @_noLocks private mutating func stopByControl(_ channel: Int, _ control: Int, _ value: Float) {
    var slot = nextActive(0)
    while slot >= 0 {
      let region = voicePool[slot].region
      if region.pointee.stopCount > 0, zones.reaches(channel, Int(voicePool[slot].channel)),
        let image = voicePool[slot].image,
        takes(region.pointee.firstStop, region.pointee.stopCount, image, control, value)
      {
        release(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }
}
