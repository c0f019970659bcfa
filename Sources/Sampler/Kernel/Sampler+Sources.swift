import Realtime

/// Source values captured when a note begins, kept for as long as it sounds.
struct NoteFacts: BitwiseCopyable {
  /// Distance from the previous note, in keys.
  var keyDelta: Float = 0
  /// 0..<127, per note.
  var random: Float = 0
  var randomBipolar: Float = 0
  /// Seconds: of the engine; since the instrument was loaded, since the last note on, since the last note
  /// off.
  var time: Float = 0
  var instrumentTime: Float = 0
  var sinceNoteOn: Float = 0
  var sinceNoteOff: Float = 0
  /// Tuning offset of its key in cents.
  var tuning: Float = 0
}

/// The last note, for the sources of later ones.
struct LastNote: BitwiseCopyable {
  var keyDelta: Float = 0
  var random: Float = 0
  var randomBipolar: Float = 0
  /// Frames of the engine.
  var onTime: Int64 = 0
  var offTime: Int64 = 0

  /// `first` and `second` are random, 0..<1. Audio thread.
  @_noLocks mutating func begin(delta: Int32, _ first: Float, _ second: Float, _ time: Int64) {
    keyDelta = Float(delta)
    random = first * 127
    randomBipolar = second * 127
    onTime = time
  }

  /// Audio thread.
  @_noLocks func facts(at time: Int64, since loadTime: Int64, rate: Float) -> NoteFacts {
    NoteFacts(
      keyDelta: keyDelta, random: random, randomBipolar: randomBipolar, time: Float(time) / rate,
      instrumentTime: Float(time &- loadTime) / rate, sinceNoteOn: Float(time &- onTime) / rate,
      sinceNoteOff: Float(time &- offTime) / rate)
  }
}

/// Values of sources.
extension Sampler {
  /// Beats per minute, counted from the engine's first frame: there is no transport.
  package static var tempo: Float { @_noLocks get { 120 } }
  /// Quarter notes per bar.
  private static var barBeats: Float { @_noLocks get { 4 } }

  /// Values of the absolute controllers. Audio thread.
  @_noLocks private func plain(_ source: UInt16, _ facts: NoteFacts) -> Float {
    switch source {
    case Source.keyDelta: return facts.keyDelta
    case Source.keyDistance: return facts.keyDelta < 0 ? -facts.keyDelta : facts.keyDelta
    case Source.tempo: return Self.tempo
    case Source.rate: return rate
    case Source.time: return facts.time
    case Source.barBeats, Source.beatNote: return Self.barBeats
    case Source.beats: return facts.time * Self.tempo / 60
    case Source.beatsOfBar:
      let bars = facts.time * Self.tempo / (60 * Self.barBeats)
      return (bars - Float(Int(bars))) * Self.barBeats
    case Source.instrumentTime: return facts.instrumentTime
    case Source.sinceNoteOn: return facts.sinceNoteOn
    case Source.sinceNoteOff: return facts.sinceNoteOff
    // The transport never runs.
    default: return 0
    }
  }

  /// Value of a condition's source for a note. Audio thread.
  @_noLocks func value(
    _ source: UInt16, _ note: Note, _ image: UnsafeMutablePointer<InstrumentImage>
  ) -> Float {
    if source < 128 { return controlValue(note.channel, Int(source), image) }
    switch source {
    case Source.bend: return bends[note.channel]
    case Source.pressure: return pressures[note.channel]
    case Source.keyPressure: return keyPressures[note.channel &* 128 &+ note.key]
    case Source.velocity, Source.velocityAgain: return Float(note.velocity)
    case Source.releaseVelocity: return note.isRelease ? Float(note.releaseVelocity) : 0
    case Source.key: return Float(note.key)
    case Source.gate: return keysDown > 0 ? 127 : 0
    case Source.random: return lastNote.random
    case Source.randomBipolar: return lastNote.randomBipolar
    case Source.channel: return Float(note.channel &+ 1)
    case Source.program: return Float(choices[zones.master(of: note.channel)].program)
    case Source.alternate: return noteCount & 1 == 1 ? 127 : 0
    default:
      if Source.isPlain(source) {
        return plain(source, lastNote.facts(at: eventTime, since: loadTime, rate: rate))
      }
      return source < Source.controllers ? controlValue(note.channel, Int(source), image) : 0
    }
  }

  /// Value of a source for a voice: 0...127, or absolute. Audio thread.
  @_noLocks func position(_ source: UInt16, _ slot: Int) -> Float {
    let voice = voicePool + slot
    let own = Int(voice.pointee.channel)
    // Values that are not per note belong to the zone.
    let channel = zones.master(of: own)
    if source < 128 { return controlValue(own, Int(source), voice.pointee.image) }
    switch source {
    case Source.bend:
      let bend = bends[channel]
      return bend < 0 ? 64 + 64 * bend : 64 + 63 * bend
    case Source.pressure: return pressures[own] > pressures[channel] ? pressures[own] : pressures[channel]
    case Source.keyPressure: return keyPressures[own &* 128 &+ Int(voice.pointee.key)]
    case Source.velocity, Source.velocityAgain: return Float(voice.pointee.velocity)
    case Source.releaseVelocity: return Float(voice.pointee.releaseVelocity)
    case Source.key: return Float(voice.pointee.soundKey)
    case Source.gate: return keysDown > 0 ? 127 : 0
    case Source.random: return facts[slot].random
    case Source.randomBipolar: return facts[slot].randomBipolar
    case Source.voiceRandom: return voice.pointee.random
    case Source.alternate: return voice.pointee.isOdd ? 127 : 0
    case Source.bendRange: return bendRanges[channel]
    default:
      if Source.isPlain(source) { return plain(source, facts[slot]) }
      if source < Source.controllers { return controlValue(own, Int(source), voice.pointee.image) }
      let link = Int(source) &- Int(Source.link)
      return link >= 0 && link < Most.links ? shapes[slot].goals[Slot.link &+ link] : 127
    }
  }
}
