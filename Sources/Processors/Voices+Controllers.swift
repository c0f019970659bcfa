import Realtime

// Controllers, pedals and ends of notes. Audio thread, all of it.

extension Voices {
  @_noLocks func sustains(_ midi: Int) -> Bool {
    keys.channels[midi].isSustaining || keys.channels[keys.zones.master(of: midi)].isSustaining
  }

  @_noLocks mutating func control(_ midi: Int, _ number: Int, _ value: Float, at frame: Int) {
    let state = keys.channels + midi
    switch number {
    case 64:
      state.pointee.isSustaining = value >= 64
      if value < 64 { liftSustain(midi, at: frame) }
    case 66:
      let isDown = value >= 64
      if isDown, !state.pointee.isSostenuto { catchNotes(midi) }
      state.pointee.isSostenuto = isDown
      if !isDown { liftSostenuto(midi, at: frame) }
    case MPEZones.brightness:
      state.pointee.timbre = value
      follow(midi, at: frame)
    case 98, 99: state.pointee.parameter = -1
    case 100, 101:
      if number == 101 {
        state.pointee.high = UInt8(value)
      } else {
        state.pointee.low = UInt8(value)
      }
      state.pointee.parameter =
        state.pointee.high == 127 ? -1 : Int16(state.pointee.high) &* 128 &+ Int16(state.pointee.low)
    case 6, 38, 96, 97: enterData(midi, number, value, at: frame)
    case 120: release(midi, at: frame)
    case 121: resetControllers(midi, at: frame)
    case 123...127: liftKeys(midi, at: frame)
    default: break
    }
  }

  /// The sostenuto pedal holds the notes whose keys are down.
  @_noLocks func catchNotes(_ midi: Int) {
    var channel = 0
    while channel < count {
      let own = Int(channels[channel].midi)
      if channels[channel].isDown, keys.zones.reaches(midi, own) {
        channels[channel].caught.insert(Caught(isMaster: midi != own))
      }
      channel &+= 1
    }
  }

  /// Notes that the other sustain pedal of their zone holds go on.
  @_noLocks private mutating func liftSustain(_ midi: Int, at frame: Int) {
    var channel = 0
    while channel < count {
      let voice = channels + channel
      let own = Int(voice.pointee.midi)
      if voice.pointee.isSustained, keys.zones.reaches(midi, own), !sustains(own) {
        if voice.pointee.isDown || voice.pointee.caught.isAny {
          voice.pointee.isSustained = false
        } else {
          end(channel, at: frame)
        }
      }
      channel &+= 1
    }
  }

  /// Likewise for sostenuto pedals.
  @_noLocks private mutating func liftSostenuto(_ midi: Int, at frame: Int) {
    var channel = 0
    while channel < count {
      let voice = channels + channel
      let own = Int(voice.pointee.midi)
      if voice.pointee.caught.isAny, keys.zones.reaches(midi, own) {
        var rest = voice.pointee.caught
        rest.remove(Caught(isMaster: midi != own))
        if rest.isAny || voice.pointee.isDown || voice.pointee.isSustained {
          voice.pointee.caught = rest
        } else {
          end(channel, at: frame)
        }
      }
      channel &+= 1
    }
  }

  /// Registered parameters 0, the bend range, 1 and 2, the tuning, and 6, the number of a zone's channels.
  @_noLocks mutating func enterData(_ midi: Int, _ control: Int, _ value: Float, at frame: Int) {
    let zones = keys.zones
    let state = keys.channels + midi
    let parameter = Int(state.pointee.parameter)
    if parameter == RegisteredParameter.bendRange {
      let range = RegisteredParameter.data(state.pointee.range, of: parameter, after: control, value)
      let master = zones.master(of: midi)
      var other = 0
      while other < VoiceKeys.count {
        // All members of a zone have the same.
        if other == midi || (master != midi && other != master && zones.master(of: other) == master) {
          keys.channels[other].range = range
          keys.channels[other].bendRange = RegisteredParameter.semitones(range)
        }
        other &+= 1
      }
      followAll(at: frame)
    } else if parameter == RegisteredParameter.fineTuning {
      state.pointee.fine = RegisteredParameter.data(state.pointee.fine, of: parameter, after: control, value)
      followAll(at: frame)
    } else if parameter == RegisteredParameter.coarseTuning {
      state.pointee.coarse = RegisteredParameter.data(
        state.pointee.coarse, of: parameter, after: control, value)
      followAll(at: frame)
    } else if parameter == 6, control == 6, zones.isOn, midi == 0 || midi == 15 {
      keys.whole.pointee.zones.configure(master: midi, members: Int(value))
      var channel = 0
      while channel < VoiceKeys.count {
        if keys.zones.isConcerned(channel, master: midi, before: zones) {
          release(channel, at: frame)
          keys.setRange(channel, bend: bendRange)
        }
        channel &+= 1
      }
      followAll(at: frame)
    }
  }

  @_noLocks mutating func resetControllers(_ midi: Int, at frame: Int) {
    let state = keys.channels + midi
    state.pointee.bend = 0
    state.pointee.pressure = 0
    state.pointee.parameter = -1
    setMemory(keys.pressures + midi &* 128, 0, 128 &* 4)
    control(midi, 64, 0, at: frame)
    control(midi, 66, 0, at: frame)
    follow(midi, at: frame)
  }

  /// Lifts all keys of a MIDI channel, and of those that it is the master of. Pedals hold the notes, as the MIDI
  /// specification has it.
  @_noLocks private mutating func liftKeys(_ midi: Int, at frame: Int) {
    let zones = keys.zones
    for other in 0..<VoiceKeys.count where zones.reaches(midi, other) {
      setMemory(keys.turns + other &* 128, 0, 128 &* 4)
    }
    for channel in 0..<count where channels[channel].isDown {
      if zones.reaches(midi, Int(channels[channel].midi)) { lift(channel, at: frame) }
    }
  }

  /// Ends the notes of a MIDI channel, and of those that it is the master of.
  @_noLocks mutating func release(_ midi: Int, at frame: Int) {
    let zones = keys.zones
    var other = 0
    while other < VoiceKeys.count {
      if zones.reaches(midi, other) {
        setMemory(keys.turns + other &* 128, 0, 128 &* 4)
        keys.channels[other].isSustaining = false
        keys.channels[other].isSostenuto = false
      }
      other &+= 1
    }
    var channel = 0
    while channel < count {
      if channels[channel].isHeld, zones.reaches(midi, Int(channels[channel].midi)) {
        end(channel, at: frame)
      }
      channel &+= 1
    }
  }

  @_noLocks mutating func releaseAll(at frame: Int) {
    var midi = 0
    while midi < VoiceKeys.count {
      release(midi, at: frame)
      midi &+= 1
    }
  }
}
