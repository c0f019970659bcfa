import Realtime

/// What events do.
extension Sampler {
  private enum Control {
    static var dataEntry: Int { @_noLocks get { 6 } }
    static var dataEntryFine: Int { @_noLocks get { 38 } }
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
    case .keyPressure:
      keyPressures[channel &* 128 &+ key] = Self.limited(event.value)
      follow(channel, Source.keyPressure, key: key)
    case .play, .stop, .cue: break
    }
  }

  /// 0...127. Audio thread.
  @_noLocks private static func limited(_ value: Float) -> Float {
    value > 0 ? (value < 127 ? value : 127) : 0
  }

  // MARK: Notes

  @_noLocks private mutating func noteOn(_ channel: Int, _ key: Int, velocity: Int, time: Int64) {
    let place = channel &* 128 &+ key
    if downVelocity[place] == 0 { keysDown &+= 1 }
    if keysDown == 1 { follow(channel, Source.gate) }
    downVelocity[place] = UInt8(velocity)
    downTime[place] = time
    pending[place] = 0
    keyPressures[place] = 0
    noteCount &+= 1
    previousKey = lastKey
    lastKey = Int32(key)
    previousVelocity = lastVelocity
    lastVelocity = velocity
    began[place] = 0
    guard let image else { return }
    if key >= Int(image.pointee.switchLow), key <= Int(image.pointee.switchHigh) {
      switchLast = Int32(key)
    }
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
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.isHeld, Int(voice.pointee.key) == key, Int(voice.pointee.channel) == channel {
        let pedals = voice.pointee.region.pointee.pedals
        let isSustained =
          pedals.sustain < 128
          && controlValue(channel, Int(pedals.sustain), image) >= pedals.sustainLow
        voice.pointee.releaseVelocity = UInt8(releaseVelocity)
        if isSustained || voice.pointee.isCaught {
          voice.pointee.isHeld = false
          voice.pointee.isSustained = isSustained
        } else {
          release(slot)
        }
      }
      slot = nextActive(slot &+ 1)
    }
    guard velocity > 0, let image else { return }
    var note = releasedNote(channel, key, velocity: velocity, time: time)
    note.cause = .releaseKey
    start(image, note)
    note.cause = .release
    waitsForPedal = false
    start(image, note)
    if waitsForPedal { pending[place] = velocity }
  }

  /// Every note gets its end and the pedals go up.
  @_noLocks mutating func endNotes(_ channel: Int, time: Int64) {
    control(channel, Control.sostenuto, 0, time: time)
    for key in 0..<128 where downVelocity[channel &* 128 &+ key] > 0 { noteOff(channel, key, time: time) }
    control(channel, Control.sustain, 0, time: time)
    // What sounds although its key is up, for instance after a change of instrument.
    var slot = nextActive(0)
    while slot >= 0 {
      if Int(voicePool[slot].channel) == channel, voicePool[slot].isHeld { release(slot) }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Panic: all of a channel fades within 10 ms, one-shots too.
  @_noLocks private mutating func silence(_ channel: Int) {
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
    }
    controls[channel &* 128 &+ Control.sustain] = 0
    controls[channel &* 128 &+ Control.sostenuto] = 0
  }

  // MARK: Controllers

  /// Where a controller stands: where it was moved to, or where the instrument sets it.
  @_noLocks func controlValue(
    _ channel: Int, _ control: Int, _ image: UnsafeMutablePointer<InstrumentImage>?
  ) -> Float {
    let value = controls[channel &* 128 &+ control]
    if value >= 0 { return value }
    let master = zones.master(of: channel)
    if master != channel, controls[master &* 128 &+ control] >= 0 {
      return controls[master &* 128 &+ control]
    }
    return image == nil ? 0 : image!.pointee.controls[control]
  }

  @_noLocks private mutating func control(_ channel: Int, _ number: Int, _ value: Float, time: Int64) {
    let before = controlValue(channel, number, image)
    let value = Self.limited(value)
    controls[channel &* 128 &+ number] = value
    switch number {
    case Control.allSoundOff:
      for other in 0..<Self.channels where zones.reaches(channel, other) { silence(other) }
    // Omni and mono modes end the notes as well, followed or not.
    case _ where number >= Control.allNotesOff:
      for other in 0..<Self.channels where zones.reaches(channel, other) { endNotes(other, time: time) }
    case Control.resetAll: reset(channel, time: time)
    case Control.unregistered, Control.unregisteredFine: parameterNumbers[channel] = -1
    case Control.registered, Control.registeredFine:
      let high = Int32(controlValue(channel, Control.registered, nil))
      parameterNumbers[channel] = high &* 128 &+ Int32(controlValue(channel, Control.registeredFine, nil))
    case Control.dataEntry, Control.dataEntryFine:
      // Pitch bend sensitivity: semitones and cents.
      if parameterNumbers[channel] == 0 {
        setBendRange(
          channel,
          controlValue(channel, Control.dataEntry, nil)
            + controlValue(channel, Control.dataEntryFine, nil) / 100)
      } else if parameterNumbers[channel] == 6, number == Control.dataEntry {
        configureZone(channel, members: value, time: time)
      }
    default: break
    }
    movePedals(channel, number, from: before, to: value)
    if value < before {
      for other in 0..<Self.channels where zones.reaches(channel, other) {
        startPending(other, pedal: number, from: before, time: time)
      }
    }
    if value != before {
      follow(channel, UInt8(number))
      if let image, image.pointee.hasControlStarts { startByControl(image, channel, number, before, value) }
    }
  }

  /// Controllers, bend and pressure stand where they did at first; volume, pan, the program, the sound controllers
  /// and the depths of effects stay (RP-015 of the MIDI Association).
  @_noLocks private mutating func reset(_ channel: Int, time: Int64) {
    control(channel, Control.sustain, 0, time: time)
    control(channel, Control.sostenuto, 0, time: time)
    for index in 0..<120 where !Self.outlastsReset(index) {
      let before = controlValue(channel, index, image)
      controls[channel &* 128 &+ index] = -1
      if controlValue(channel, index, image) != before { follow(channel, UInt8(index)) }
    }
    parameterNumbers[channel] = -1
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

  /// Voices whose sustain or sostenuto pedal this controller is: catches them, or lets them go; and ends those
  /// that it stops.
  @_noLocks private mutating func movePedals(
    _ channel: Int, _ number: Int, from before: Float, to value: Float
  ) {
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
      if zones.reaches(channel, Int(voice.pointee.channel)),
        let image = voice.pointee.image,
        begins(
          voice.pointee.region.pointee.firstStop, voice.pointee.region.pointee.stopCount, image, number,
          from: before, to: value)
      {
        release(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// The release regions of keys that went up while their pedal was down, which now goes up from `before`.
  @_noLocks private mutating func startPending(
    _ channel: Int, pedal: Int, from before: Float, time: Int64
  ) {
    for key in 0..<128 {
      let place = channel &* 128 &+ key
      guard pending[place] > 0 else { continue }
      waitsForPedal = false
      if let image {
        var note = releasedNote(channel, key, velocity: pending[place], time: time)
        note.pedal = pedal
        note.pedalBefore = before
        start(image, note)
      }
      if !waitsForPedal { pending[place] = 0 }
    }
  }

  /// What release regions are started by: how long the key was held, and whether its note sounds yet.
  @_noLocks private func releasedNote(
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

  @_noLocks private mutating func bend(_ channel: Int, _ value: Float) {
    bends[channel] = value < 1 ? (value > -1 ? value : -1) : 1
    follow(channel, Source.bend)
  }
}
