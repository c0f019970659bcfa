import Realtime

/// Handling of events. Audio thread, all of it.
extension Voices {
  @_noLocks mutating func handle(_ event: Event, at frame: Int) {
    let channel = Int(event.channel & 15)
    let key = Int(event.key & 127)
    switch event.kind {
    case .noteOn:
      if event.value >= 0.5 {
        begin(channel, key, velocity: event.value < 127 ? Int(event.value + 0.5) : 127, at: frame)
      } else {
        lift(channel, key, at: frame)
      }
    case .noteOff: lift(channel, key, at: frame)
    case .control: control(channel, key, Self.position(event.value), at: frame)
    case .bend:
      keys.channels[channel].bend = event.value < 1 ? (event.value > -1 ? event.value : -1) : 1
      follow(channel, at: frame)
    case .pressure:
      keys.channels[channel].pressure = Self.position(event.value)
      follow(channel, at: frame)
    case .keyPressure:
      keys.pressures[channel &* 128 &+ key] = Self.position(event.value)
      follow(channel, at: frame)
    case .allNotesOff, .allSoundOff: releaseAll(at: frame)
    case .masterTuning:
      if key == 0 { keys.whole.pointee.fine = event.value } else { keys.whole.pointee.coarse = event.value }
      followAll(at: frame)
    case .keyTuning:
      if event.detail & 127 == 0 { keys.tunings[key] = (event.value - Float(key)) * 100 }
      if event.channel == 1 { retune(at: frame) }
    case .octaveTuning:
      var number = 0
      while number < VoiceKeys.count, key < 12 {
        if event.detail &>> Int32(truncatingIfNeeded: number) & 1 == 1 {
          keys.octaves[number &* 12 &+ key] = event.value
        }
        number &+= 1
      }
      if event.channel == 1 { retune(at: frame) }
    case .reset:
      releaseAll(at: frame)
      keys.begin(keys.zones, bend: bendRange)
      keys.clearTunings()
      followAll(at: frame)
    case .program, .play, .stop, .cue, .rhythm, .masterVolume, .system, .exclusive: break
    }
  }

  /// 0...127.
  @_noLocks private static func position(_ value: Float) -> Float {
    value > 0 ? (value < 127 ? value : 127) : 0
  }

  // MARK: Notes

  @_noLocks private mutating func begin(_ midi: Int, _ key: Int, velocity: Int, at frame: Int) {
    let pitch = keys.pitch(midi, key, tuning)
    // Also false for the NaN of a key that is silent: no note, hence none to go back to.
    guard pitch > -100, free > 0 else { return }
    keys.press(midi, key, velocity)
    noteBegin()
    turn &+= 1
    let note = Note(midi: midi, key: key, velocity: Float(velocity) * (1 / 127), pitch: pitch)
    let number = copies < 1 ? 1 : copies < free ? copies : free
    if mode == .poly {
      if !restrike(note, at: frame) {
        var copy = 0
        while copy < number {
          take(freeChannel(for: note, at: frame), note, place: Self.place(copy, of: number), at: frame)
          copy &+= 1
        }
      }
    } else {
      beginAlone(note, number, at: frame)
    }
    lastPitch = pitch
  }

  struct Note {
    let midi: Int
    let key: Int
    /// 0...1.
    let velocity: Float
    /// Octaves from A4.
    let pitch: Float
  }

  /// Place of a copy among those of its note.
  @_noLocks private static func place(_ copy: Int, of number: Int) -> Float {
    number > 1 ? Float(2 &* copy) / Float(number &- 1) - 1 : 0
  }

  /// A note that sounds has its own channels again. False: it does not sound.
  @_noLocks private mutating func restrike(_ note: Note, at frame: Int) -> Bool {
    var found = false
    var channel = 0
    while channel < free {
      let voice = channels[channel]
      if voice.isHeld, Int(voice.midi) == note.midi, Int(voice.key) == note.key {
        take(channel, note, place: voice.place, at: frame)
        // The sostenuto pedal holds the key's string, struck again or not.
        channels[channel].caught = voice.caught
        found = true
      }
      channel &+= 1
    }
    return found
  }

  /// A note on the first channels, which all notes share.
  @_noLocks private mutating func beginAlone(_ note: Note, _ number: Int, at frame: Int) {
    let overlaps = channels[0].isHeld
    var channel = 0
    while channel < free {
      if channel < number {
        let isSlurred = overlaps && mode == .legato && channels[channel].isHeld
        take(channel, note, place: Self.place(channel, of: number), isSlurred: isSlurred, at: frame)
      } else if channels[channel].isHeld {
        end(channel, at: frame)
      }
      channel &+= 1
    }
  }

  /// Gives a channel to a note. `isSlurred`: without a new gate.
  @_noLocks private mutating func take(
    _ channel: Int, _ note: Note, place: Float, isSlurred: Bool = false, at frame: Int
  ) {
    willChange(channel, at: frame)
    let voice = channels + channel
    let isNew = !voice.pointee.isUsed
    voice.pointee.isUsed = true
    voice.pointee.midi = UInt8(truncatingIfNeeded: note.midi)
    voice.pointee.key = UInt8(truncatingIfNeeded: note.key)
    voice.pointee.isDown = true
    voice.pointee.isSustained = false
    voice.pointee.caught = Caught()
    voice.pointee.turn = turn
    voice.pointee.place = place
    let pitch = note.pitch + place * detune * (1 / 1200)
    let slide = glides.map { Int($0.value(0, at: frame) * rate) } ?? 0
    if slide > 0, mode != .legato || isSlurred {
      // From where the channel is, or from the last note.
      if mode == .poly, lastPitch > -100 {
        voice.pointee.pitch = Ramp(lastPitch + place * detune * (1 / 1200))
      } else if isNew {
        voice.pointee.pitch = Ramp(pitch)
      }
      voice.pointee.pitch.move(to: pitch, over: slide)
    } else {
      voice.pointee.pitch = Ramp(pitch)
    }
    let bend = keys.bend(note.midi)
    if isSlurred {
      Self.move(&voice.pointee.bend, to: bend, over: smoothing)
    } else {
      voice.pointee.bend = Ramp(bend)
    }
    let (pressure, timbre) = (keys.pressure(note.midi, note.key), keys.timbre(note.midi))
    // A node that is struck by the gate takes the velocity of that frame.
    if isNew || !isSlurred { voice.pointee.velocity = Ramp(note.velocity) }
    if isNew {
      voice.pointee.pressure = Ramp(pressure)
      voice.pointee.timbre = Ramp(timbre)
    } else {
      // Nodes that ring behind the channel may follow them.
      Self.move(&voice.pointee.pressure, to: pressure, over: smoothing)
      Self.move(&voice.pointee.timbre, to: timbre, over: smoothing)
    }
    guard !isSlurred else { return }
    voice.pointee.hasGap = voice.pointee.gate > 0
    voice.pointee.hasPulse = true
  }

  /// Frames of the way to a controller's new value: 5 ms.
  private var smoothing: Int { @_noLocks get { Int(rate * 0.005) } }

  /// A channel for one more copy of a note: the one that has been free for longest, or else that of the note which is given
  /// up for it.
  @_noLocks private mutating func freeChannel(for note: Note, at frame: Int) -> Int {
    var (best, oldest) = (-1, Int64.max)
    var channel = 0
    while channel < free {
      let voice = channels + channel
      if !voice.pointee.isHeld, voice.pointee.turn < oldest { (best, oldest) = (channel, voice.pointee.turn) }
      channel &+= 1
    }
    return best >= 0 ? best : steal(for: note, at: frame)
  }

  /// Ends the note that is missed least, and returns one of its channels.
  @_noLocks private mutating func steal(for note: Note, at frame: Int) -> Int {
    // The lowest note that a key holds is the bass.
    var lowest = 128
    var channel = 0
    while channel < free {
      if channels[channel].isDown, Int(channels[channel].key) < lowest { lowest = Int(channels[channel].key) }
      channel &+= 1
    }
    var (best, least) = (0, Int64.max)
    channel = 0
    while channel < free {
      let voice = channels[channel]
      if Int(voice.midi) != note.midi || Int(voice.key) != note.key {
        let isLowest = voice.isDown && Int(voice.key) == lowest
        let rank: Int64 = voice.isDown ? (isLowest ? 2 : 1) : 0
        let place = rank &<< 56 &+ voice.turn
        if place < least { (best, least) = (channel, place) }
      }
      channel &+= 1
    }
    let (midi, key) = (channels[best].midi, channels[best].key)
    channel = 0
    while channel < free {
      if channels[channel].isHeld, channels[channel].midi == midi, channels[channel].key == key,
        channel != best
      {
        end(channel, at: frame)
      }
      channel &+= 1
    }
    return best
  }

  /// Lets go of a channel's note: its gate falls.
  @_noLocks mutating func end(_ channel: Int, at frame: Int) {
    willChange(channel, at: frame)
    turn &+= 1
    channels[channel].isDown = false
    channels[channel].isSustained = false
    channels[channel].caught = Caught()
    channels[channel].turn = turn
  }

  @_noLocks private mutating func lift(_ midi: Int, _ key: Int, at frame: Int) {
    keys.lift(midi, key)
    if mode != .poly, free > 0, Int(channels[0].midi) == midi, Int(channels[0].key) == key, goBack(at: frame)
    {
      return
    }
    var channel = 0
    while channel < count {
      let voice = channels + channel
      if voice.pointee.isDown, Int(voice.pointee.midi) == midi, Int(voice.pointee.key) == key {
        lift(channel, at: frame)
      }
      channel &+= 1
    }
  }

  /// The key of a channel's note goes up. The note ends unless a pedal holds it.
  @_noLocks mutating func lift(_ channel: Int, at frame: Int) {
    let voice = channels + channel
    // Notes that the pedals hold keep their gate, so nothing is written.
    if sustains(Int(voice.pointee.midi)) { voice.pointee.isSustained = true }
    if voice.pointee.isSustained || voice.pointee.caught.isAny {
      voice.pointee.isDown = false
    } else {
      end(channel, at: frame)
    }
  }

  /// The note of the last key that is still down sounds on. False: none is, or its note has a channel, as after `poly`.
  @_noLocks private mutating func goBack(at frame: Int) -> Bool {
    guard channels[0].isDown else { return false }
    let last = keys.last
    guard last >= 0, !isDown(last / 128, last & 127) else { return false }
    let pitch = keys.pitch(last / 128, last & 127, tuning)
    guard pitch > -100 else { return false }
    let note = Note(
      midi: last / 128, key: last & 127, velocity: Float(keys.velocities[last]) * (1 / 127), pitch: pitch)
    var channel = 0
    while channel < free {
      if channels[channel].isDown {
        take(channel, note, place: channels[channel].place, isSlurred: true, at: frame)
      }
      channel &+= 1
    }
    lastPitch = pitch
    return true
  }

  /// A key that is down has a channel.
  @_noLocks private func isDown(_ midi: Int, _ key: Int) -> Bool {
    var channel = 0
    while channel < count {
      let voice = channels + channel
      if voice.pointee.isDown, Int(voice.pointee.midi) == midi, Int(voice.pointee.key) == key { return true }
      channel &+= 1
    }
    return false
  }

  // MARK: Signals

  @_noLocks mutating func followAll(at frame: Int) {
    var midi = 0
    while midi < VoiceKeys.count {
      follow(midi, at: frame)
      midi &+= 1
    }
  }

  /// Moves the signals of a MIDI channel's notes to what has changed.
  @_noLocks mutating func follow(_ midi: Int, at frame: Int) {
    var channel = 0
    while channel < count {
      let voice = channels + channel
      let own = Int(voice.pointee.midi)
      if voice.pointee.isUsed, keys.zones.reaches(midi, own) {
        let bend = keys.bend(own)
        let pressure = keys.pressure(own, Int(voice.pointee.key))
        let timbre = keys.timbre(own)
        if bend != voice.pointee.bend.target || pressure != voice.pointee.pressure.target
          || timbre != voice.pointee.timbre.target
        {
          willChange(channel, at: frame)
          Self.move(&voice.pointee.bend, to: bend, over: smoothing)
          Self.move(&voice.pointee.pressure, to: pressure, over: smoothing)
          Self.move(&voice.pointee.timbre, to: timbre, over: smoothing)
        }
      }
      channel &+= 1
    }
  }

  /// Keeps a ramp that already leads to the target: begun anew by each note of a trill, it would never arrive.
  @_noLocks private static func move(_ ramp: inout Ramp, to target: Float, over frames: Int) {
    if ramp.target != target { ramp.move(to: target, over: frames) }
  }

  /// Moves sounding notes to the present tuning of their keys.
  @_noLocks private mutating func retune(at frame: Int) {
    var channel = 0
    while channel < count {
      let voice = channels + channel
      if voice.pointee.isUsed {
        let pitch =
          keys.pitch(Int(voice.pointee.midi), Int(voice.pointee.key), tuning)
          + voice.pointee.place * detune * (1 / 1200)
        if pitch > -100, pitch != voice.pointee.pitch.target {
          willChange(channel, at: frame)
          voice.pointee.pitch.move(to: pitch, over: smoothing)
        }
      }
      channel &+= 1
    }
  }
}
