import Realtime

/// What events do.
extension Sampler {
  private enum Control {
    static var sustain: Int { @_noLocks get { 64 } }
    static var sostenuto: Int { @_noLocks get { 66 } }
    static var allSoundOff: Int { @_noLocks get { 120 } }
    static var resetAll: Int { @_noLocks get { 121 } }
    static var allNotesOff: Int { @_noLocks get { 123 } }
  }

  @_noLocks mutating func handle(_ event: Event, time: Int64) {
    let channel = Int(event.channel & 15)
    let key = Int(event.key & 127)
    switch event.kind {
    case .noteOn:
      if event.value >= 0.5 {
        noteOn(channel, key, velocity: event.value < 127 ? Int(event.value + 0.5) : 127, time: time)
      } else {
        noteOff(channel, key, time: time)
      }
    case .noteOff: noteOff(channel, key, time: time)
    case .control: control(channel, key, event.value, time: time)
    case .bend: bend(channel, event.value)
    case .allNotesOff:
      for channel in 0..<Self.channels { endNotes(channel, time: time) }
    case .allSoundOff: silence()
    case .program: select(program: event.value >= 0 && event.value < 128 ? Int(event.value) : 0)
    case .pressure, .keyPressure, .play, .stop, .cue: break
    }
  }

  // MARK: Notes

  @_noLocks private mutating func noteOn(_ channel: Int, _ key: Int, velocity: Int, time: Int64) {
    let place = channel &* 128 &+ key
    if downVelocity[place] == 0 { keysDown &+= 1 }
    downVelocity[place] = UInt8(velocity)
    downTime[place] = time
    pending[place] = 0
    guard let image else { return }
    if key >= Int(image.pointee.switchLow), key <= Int(image.pointee.switchHigh) {
      switchLast = Int32(key)
    }
    let cause: Trigger = keysDown == 1 ? .first : .legato
    start(image, Note(channel: channel, key: key, velocity: velocity, cause: cause, seconds: 0))
  }

  @_noLocks private mutating func noteOff(_ channel: Int, _ key: Int, time: Int64) {
    let place = channel &* 128 &+ key
    let velocity = downVelocity[place]
    if velocity > 0 { keysDown &-= 1 }
    downVelocity[place] = 0
    let isPedalDown = isDown(channel, Control.sustain)
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.isHeld, Int(voice.pointee.key) == key, Int(voice.pointee.channel) == channel {
        if isPedalDown || voice.pointee.isCaught {
          voice.pointee.isHeld = false
          voice.pointee.isSustained = isPedalDown
        } else {
          release(slot)
        }
      }
      slot = nextActive(slot &+ 1)
    }
    guard velocity > 0, let image else { return }
    let seconds = Float(time &- downTime[place]) / rate
    var note = Note(
      channel: channel, key: key, velocity: Int(velocity), cause: .releaseKey, seconds: seconds)
    start(image, note)
    if isPedalDown {
      pending[place] = velocity
    } else {
      note.cause = .release
      start(image, note)
    }
  }

  /// Every note gets its end and the pedals go up.
  @_noLocks private mutating func endNotes(_ channel: Int, time: Int64) {
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

  /// Panic: everything fades within 10 ms, one-shots too.
  @_noLocks private mutating func silence() {
    let frames = Int(0.010 * rate)
    var slot = nextActive(0)
    while slot >= 0 {
      if voicePool[slot].wait > 0 { voicePool[slot].hasEnded = true }
      voicePool[slot].isHeld = false
      voicePool[slot].isSustained = false
      voicePool[slot].isReleased = true
      voicePool[slot].fadeOut(frames)
      freeIfEnded(slot)
      slot = nextActive(slot &+ 1)
    }
    for place in 0..<Self.channels &* 128 {
      downVelocity[place] = 0
      pending[place] = 0
    }
    keysDown = 0
    for channel in 0..<Self.channels {
      controls[channel &* 128 &+ Control.sustain] = 0
      controls[channel &* 128 &+ Control.sostenuto] = 0
    }
  }

  // MARK: Controllers

  /// Where a controller stands: where it was moved to, or where the instrument sets it.
  @_noLocks func controlValue(_ channel: Int, _ control: Int) -> Float {
    let value = controls[channel &* 128 &+ control]
    if value >= 0 { return value }
    return image == nil ? 0 : image!.pointee.controls[control]
  }

  @_noLocks private func isDown(_ channel: Int, _ pedal: Int) -> Bool { controlValue(channel, pedal) >= 64 }

  @_noLocks private mutating func control(_ channel: Int, _ number: Int, _ value: Float, time: Int64) {
    let before = controlValue(channel, number)
    controls[channel &* 128 &+ number] = value > 0 ? (value < 127 ? value : 127) : 0
    switch number {
    case Control.sustain:
      if before >= 64, value < 64 { raiseSustain(channel, time: time) }
    case Control.sostenuto:
      if before < 64, value >= 64 { catchHeld(channel) }
      if before >= 64, value < 64 { raiseSostenuto(channel) }
    case Control.allSoundOff: silence()
    case Control.allNotesOff: endNotes(channel, time: time)
    case Control.resetAll:
      self.control(channel, Control.sustain, 0, time: time)
      self.control(channel, Control.sostenuto, 0, time: time)
      for index in 0..<128 { controls[channel &* 128 &+ index] = -1 }
      bend(channel, 0)
    default: break
    }
  }

  @_noLocks private mutating func raiseSustain(_ channel: Int, time: Int64) {
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.isSustained, Int(voice.pointee.channel) == channel {
        voice.pointee.isSustained = false
        if !voice.pointee.isCaught { release(slot) }
      }
      slot = nextActive(slot &+ 1)
    }
    for key in 0..<128 {
      let place = channel &* 128 &+ key
      guard pending[place] > 0 else { continue }
      let velocity = Int(pending[place])
      pending[place] = 0
      guard let image else { continue }
      let seconds = Float(time &- downTime[place]) / rate
      start(
        image, Note(channel: channel, key: key, velocity: velocity, cause: .release, seconds: seconds))
    }
  }

  @_noLocks private mutating func catchHeld(_ channel: Int) {
    var slot = nextActive(0)
    while slot >= 0 {
      if voicePool[slot].isHeld, Int(voicePool[slot].channel) == channel { voicePool[slot].isCaught = true }
      slot = nextActive(slot &+ 1)
    }
  }

  @_noLocks private mutating func raiseSostenuto(_ channel: Int) {
    var slot = nextActive(0)
    while slot >= 0 {
      let voice = voicePool + slot
      if voice.pointee.isCaught, Int(voice.pointee.channel) == channel {
        voice.pointee.isCaught = false
        if !voice.pointee.isHeld, !voice.pointee.isSustained { release(slot) }
      }
      slot = nextActive(slot &+ 1)
    }
  }

  @_noLocks private mutating func bend(_ channel: Int, _ value: Float) {
    bends[channel] = value < 1 ? (value > -1 ? value : -1) : 1
    var slot = nextActive(0)
    while slot >= 0 {
      if Int(voicePool[slot].channel) == channel { voicePool[slot].bend(bends[channel]) }
      slot = nextActive(slot &+ 1)
    }
  }
}
