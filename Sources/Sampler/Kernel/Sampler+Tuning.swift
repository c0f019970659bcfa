import Realtime

/// The stored registered parameters of MIDI: bend range, fine and coarse tuning, tuning program, tuning bank,
/// 14 bits each.
enum Parameters {
  static var count: Int { @_noLocks get { 5 } }
  static var bendRange: Int { @_noLocks get { RegisteredParameter.bendRange } }
  static var fineTuning: Int { @_noLocks get { RegisteredParameter.fineTuning } }
  static var coarseTuning: Int { @_noLocks get { RegisteredParameter.coarseTuning } }
  static var tuningProgram: Int { @_noLocks get { 3 } }
  /// The MPE configuration message.
  static var zone: Int { @_noLocks get { 6 } }
}

/// Tuning of channels and keys: registered parameters and the MIDI Tuning Standard. Sounding notes follow at
/// once, within 5 ms.
extension Sampler {
  /// Number of keys in all tunings that a channel may choose.
  static var tuningPlaces: Int { @_noLocks get { 128 * 128 } }

  /// Resets everything to equal temperament at concert pitch. Audio thread.
  @_noLocks mutating func resetTunings() {
    setMemory(keyTunings, 0, Self.tuningPlaces &* 4)
    setMemory(octaveTunings, 0, Self.channels &* 12 &* 4)
    masterTuning = (0, 0)
    for channel in 0..<Self.channels {
      parameters[channel &* Parameters.count &+ Parameters.fineTuning] = 8192
      parameters[channel &* Parameters.count &+ Parameters.coarseTuning] = 64 &* 128
      parameters[channel &* Parameters.count &+ Parameters.tuningProgram] = 0
      portamentoKeys[channel] = -1
      portamentoFrom[channel] = -1
    }
    refreshAll()
  }

  @_noLocks private mutating func refreshAll() {
    var slot = nextActive(0)
    while slot >= 0 {
      refresh(slot)
      slot = nextActive(slot &+ 1)
    }
  }

  // MARK: Registered parameters

  /// Selects an unregistered parameter: only those of `GeneratorOffsets` are supported. Audio thread.
  @_noLocks func chooseUnregistered(_ channel: Int, _ value: Int) {
    let isKnown = controlValue(channel, Control.unregistered, nil) == GeneratorOffsets.mark
    parameterNumbers[channel] =
      isKnown ? Int32(GeneratorOffsets.parameter(value, after: Int(parameterNumbers[channel]))) : -1
    offsets.choose(channel)
  }

  /// Data entry, coarse or fine, and increments. Audio thread.
  @_noLocks mutating func enterData(_ channel: Int, _ number: Int, _ value: Float, time: Int64) {
    let parameter = Int(parameterNumbers[channel])
    if parameter == Parameters.zone {
      if number == Control.dataEntry { configureZone(channel, members: value, time: time) }
      return
    }
    if parameter >= GeneratorOffsets.first {
      enterOffset(channel, parameter &- GeneratorOffsets.first, number, value)
      return
    }
    guard parameter >= 0, parameter < Parameters.count else { return }
    let place = parameters + (channel &* Parameters.count &+ parameter)
    place.pointee = RegisteredParameter.data(place.pointee, of: parameter, after: number, value)
    take(parameter, channel)
  }

  @_noLocks private mutating func take(_ parameter: Int, _ channel: Int) {
    let data = parameters[channel &* Parameters.count &+ parameter]
    if parameter == Parameters.bendRange {
      setBendRange(channel, RegisteredParameter.semitones(data))
      return
    }
    var slot = nextActive(0)
    while slot >= 0 {
      if zones.reaches(channel, Int(voicePool[slot].channel)) {
        if parameter == Parameters.tuningProgram { retune(slot) }
        refresh(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  // MARK: Tunings

  /// Tuning of a channel including the whole instrument's, in cents. Audio thread.
  @_noLocks func channelTuning(_ channel: Int) -> Float {
    var cents = masterTuning.fine + masterTuning.coarse + ownTuning(channel)
    let master = zones.master(of: channel)
    if master != channel { cents += ownTuning(master) }
    return cents
  }

  @_noLocks private func ownTuning(_ channel: Int) -> Float {
    let fine = parameters[channel &* Parameters.count &+ Parameters.fineTuning]
    let coarse = parameters[channel &* Parameters.count &+ Parameters.coarseTuning] &>> 7
    return Float(fine &- 8192) * (100 / 8192) + Float(coarse &- 64) * 100
  }

  /// Deviation of a key from equal temperament, in cents. Audio thread.
  @_noLocks func keyTuning(_ channel: Int, _ key: Int) -> Float {
    let program = Int(parameters[channel &* Parameters.count &+ Parameters.tuningProgram] &>> 7)
    return keyTunings[program &* 128 &+ key] + octaveTunings[channel &* 12 &+ key % 12]
  }

  /// Handles tuning messages (system exclusive). Audio thread.
  @_noLocks mutating func tune(_ event: Event) {
    let key = Int(event.key & 127)
    switch event.kind {
    case .masterTuning:
      if key == 0 { masterTuning.fine = event.value } else { masterTuning.coarse = event.value }
      refreshAll()
      return
    case .keyTuning:
      keyTunings[Int(event.detail & 127) &* 128 &+ key] = (event.value - Float(key)) * 100
    default:
      guard key < 12 else { return }
      for channel in 0..<Self.channels where event.detail &>> Int32(channel) & 1 == 1 {
        octaveTunings[channel &* 12 &+ key] = event.value
      }
    }
    guard event.channel == 1 else { return }
    var slot = nextActive(0)
    while slot >= 0 {
      let sounding = Int(voicePool[slot].key)
      if event.kind == .keyTuning ? sounding == key : sounding % 12 == key {
        retune(slot)
        refresh(slot)
      }
      slot = nextActive(slot &+ 1)
    }
  }

  /// Updates a voice to the present tuning of its key.
  @_noLocks private func retune(_ slot: Int) {
    let voice = voicePool + slot
    facts[slot].tuning =
      keyTuning(Int(voice.pointee.channel), Int(voice.pointee.key)) * voice.pointee.region.pointee.keyTrack
      * 0.01
  }

  // MARK: Portamento

  /// The portamento to a key's pitch: from the key of controller 84, for one note; or, while controller 65 is
  /// on, from the channel's last key. The time per semitone is that of Yamaha's tone generators (2.87 ms *
  /// e^(0.0429 x) for x of controller 5; measured by J. P. Cimalando, libADLMIDI's issue 102). Audio thread.
  @_noLocks mutating func slide(_ channel: Int, to key: Int) -> Slide {
    let from = slidingFrom(channel)
    let time = controlValue(channel, Control.portamentoTime, image)
    guard from >= 0, from != key, time > 0 else { return Slide() }
    let keys = from &- key
    let seconds = 0.002_87 * exponential2(time * 0.061_885) * Float(keys < 0 ? -keys : keys)
    return Slide(from: Float(keys) * 100, over: seconds, rate: rate)
  }

  @_noLocks private func slidingFrom(_ channel: Int) -> Int {
    if portamentoFrom[channel] >= 0 { return Int(portamentoFrom[channel]) }
    return controlValue(channel, Control.portamento, image) >= 64 ? Int(portamentoKeys[channel]) : -1
  }
}
