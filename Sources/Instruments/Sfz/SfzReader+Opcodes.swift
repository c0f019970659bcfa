import Patch
import Realtime
import Sampler

/// Supported opcodes.
extension SfzReader {
  /// Applies an opcode; false for unsupported ones. An unreadable value is reported and ignored; one out of
  /// range is reported and limited. Worker.
  mutating func set(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    setKeys(name, value, in: &region, place) || setSound(name, value, in: &region, place)
      || setPlayback(name, value, in: &region, place)
      || setConditions(name, value, in: &region, place) || setNumbered(name, value, in: &region, place)
      || setShape(name, value, in: &region, place) || Self.isLabel(name)
      || setFine(name, value, in: &region, place)
  }

  /// ARIA's controllers with more than seven bits, 0...1: `lohdccN` and `lorealccN` correspond to `loccN`,
  /// and so on.
  private mutating func setFine(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    guard let word = ["hdcc", "realcc"].first(where: { name.includes($0) }) else { return false }
    guard let number = real(name, value, 0...1, place) else { return true }
    return set(name.substituting(word, with: "cc"), String(number * 127), in: &region, place)
  }

  private mutating func setKeys(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    switch name {
    case "key":
      guard let key = key(name, value, place) else { return true }
      region.lowKey = key
      region.highKey = key
      if key >= 0 { region.keyCenter = key }
    case "lokey": region.lowKey = key(name, value, place) ?? region.lowKey
    case "hikey": region.highKey = key(name, value, place) ?? region.highKey
    case "pitch_keycenter":
      if value == "sample" {
        region.keyCenter = nil
      } else if let key = key(name, value, place) {
        region.keyCenter = key
      }
    case "lovel": region.lowVelocity = integer(name, value, 0...127, place) ?? region.lowVelocity
    case "hivel": region.highVelocity = integer(name, value, 0...127, place) ?? region.highVelocity
    // The key switches follow from the regions.
    case "sw_lokey", "sw_hikey": _ = key(name, value, place)
    case "sw_default": switchDefault = key(name, value, place) ?? switchDefault
    case "sw_last", "sw_lolast": set(&region.switches.last, key(name, value, place))
    case "sw_hilast": set(&region.switches.lastHigh, key(name, value, place))
    case "sw_vel":
      if value == "previous" || value == "current" {
        region.takesPreviousVelocity = value == "previous"
      } else {
        unreadable(name, value, "current or previous", place)
      }
    case "sw_down": set(&region.switches.down, key(name, value, place))
    case "sw_up": set(&region.switches.up, key(name, value, place))
    case "sw_previous": set(&region.switches.previous, key(name, value, place))
    case "xfin_lokey": set(&region.fades.keyInLow, key(name, value, place))
    case "xfin_hikey": set(&region.fades.keyInHigh, key(name, value, place))
    case "xfout_lokey": set(&region.fades.keyOutLow, key(name, value, place))
    case "xfout_hikey": set(&region.fades.keyOutHigh, key(name, value, place))
    case "xfin_lovel": set(&region.fades.velocityInLow, integer(name, value, 0...127, place))
    case "xfin_hivel": set(&region.fades.velocityInHigh, integer(name, value, 0...127, place))
    case "xfout_lovel": set(&region.fades.velocityOutLow, integer(name, value, 0...127, place))
    case "xfout_hivel": set(&region.fades.velocityOutHigh, integer(name, value, 0...127, place))
    case "xf_keycurve": region.fades.keyPower = isPower(name, value, place) ?? region.fades.keyPower
    case "xf_velcurve":
      region.fades.velocityPower = isPower(name, value, place) ?? region.fades.velocityPower
    default: return false
    }
    return true
  }

  private mutating func setSound(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    switch name {
    case "sample":
      region.sample = value.hasPrefix("*") ? value : defaultPath + value.substituting("\\", with: "/")
      region.sampleLine = place
    case "pitch_keytrack": region.keyTrack = real(name, value, -2400...2400, place) ?? region.keyTrack
    case "tune", "pitch": region.tune = real(name, value, -9600...9600, place) ?? region.tune
    case "transpose": region.transpose = integer(name, value, -127...127, place) ?? region.transpose
    case "bend_up", "bendup": region.bendUp = real(name, value, -9600...9600, place) ?? region.bendUp
    case "bend_down", "benddown":
      region.bendDown = real(name, value, -9600...9600, place) ?? region.bendDown
    case "volume", "gain": region.volume = real(name, value, -144...48, place) ?? region.volume
    case "group_volume": region.groupVolume = real(name, value, -144...48, place) ?? region.groupVolume
    case "master_volume": region.masterVolume = real(name, value, -144...48, place) ?? region.masterVolume
    case "global_volume": region.globalVolume = real(name, value, -144...48, place) ?? region.globalVolume
    case "global_tune", "master_tune", "group_tune":
      if let cents = real(name, value, -9600...9600, place) { region.levelTunes[name] = cents }
    case "global_amplitude", "master_amplitude", "group_amplitude":
      if let percent = real(name, value, 0...10000, place) { region.levelAmplitudes[name] = percent }
    case "amplitude": region.amplitude = real(name, value, 0...10000, place) ?? region.amplitude
    case "output": region.output = integer(name, value, 0...Sum.outputs - 1, place) ?? region.output
    case "pan": region.pan = real(name, value, -100...100, place) ?? region.pan
    case "amp_veltrack":
      if let percent = real(name, value, -100...100, place) {
        region.velocityCurve.tracking = percent / 100
      }
    default: return false
    }
    return true
  }

  private mutating func setPlayback(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    let frames = -1.0...4e9
    switch name {
    case "delay": region.delay = real(name, value, 0...3600, place) ?? region.delay
    case "delay_samples": region.delaySamples = real(name, value, 0...1e9, place) ?? region.delaySamples
    case "delay_beats": region.delayBeats = real(name, value, 0...1000, place) ?? region.delayBeats
    case "stop_beats": region.stopBeats = real(name, value, 0...100_000, place) ?? region.stopBeats
    case "sync_beats":
      // Beats closer than frames cannot be counted; 0 waits for none.
      let least = (Self.leadingNumber(value)?.number ?? 0) > 0 ? 0.001 : 0
      region.syncBeats = real(name, value, least...32, place) ?? region.syncBeats
    case "sync_offset": region.syncOffset = real(name, value, 0...32, place) ?? region.syncOffset
    case "direction":
      switch value {
      case "forward": region.isReversed = false
      case "reverse": region.isReversed = true
      default: unreadable(name, value, "forward or reverse", place)
      }
    case "offset": region.offset = real(name, value, 0...4e9, place).map { Int($0) } ?? region.offset
    case "end": region.end = real(name, value, frames, place).map { Int($0) } ?? region.end
    case "loop_start", "loopstart":
      region.loopStart = real(name, value, 0...4e9, place).map { Int($0) } ?? region.loopStart
    case "loop_end", "loopend":
      region.loopEnd = real(name, value, 0...4e9, place).map { Int($0) } ?? region.loopEnd
    case "loop_mode", "loopmode":
      switch value {
      case "no_loop": region.loopMode = LoopMode.none
      case "one_shot": region.loopMode = .oneShot
      case "loop_continuous": region.loopMode = .continuous
      case "loop_sustain": region.loopMode = .sustain
      default: unreadable(name, value, "no_loop, one_shot, loop_continuous or loop_sustain", place)
      }
    case "loop_type", "looptype":
      switch value {
      case "forward": region.loopType = .forward
      case "backward": region.loopType = .backward
      case "alternate": region.loopType = .alternate
      default: unreadable(name, value, "forward, backward or alternate", place)
      }
    case "trigger":
      switch value {
      case "attack": region.trigger = .attack
      case "release": region.trigger = .release
      case "release_key": region.trigger = .releaseKey
      case "first": region.trigger = .first
      case "legato": region.trigger = .legato
      default: unreadable(name, value, "attack, release, release_key, first or legato", place)
      }
    case "rt_dead": region.playsDead = isOn(name, value, place) ?? region.playsDead
    case "rt_decay": region.releaseDecay = real(name, value, 0...200, place) ?? region.releaseDecay
    case "group", "polyphony_group": region.group = integer(name, value, Self.groups, place) ?? region.group
    case "off_by", "offby": region.offBy = integer(name, value, Self.groups, place) ?? region.offBy
    case "off_mode", "offmode":
      switch value {
      case "fast":
        region.offFast = true
        region.offShape = nil
      case "time":
        region.offFast = true
        // ARIA's default.
        region.offShape = region.offShape ?? -10.3616
      case "normal": region.offFast = false
      default: unreadable(name, value, "fast, normal or time", place)
      }
    case "off_time": region.offTime = real(name, value, 0...3600, place) ?? region.offTime
    case "off_shape":
      if let shape = real(name, value, -80...80, place) { region.offShape = shape }
    case "off_curve": region.offCurveNumber = integer(name, value, 0...255, place) ?? region.offCurveNumber
    case "note_selfmask": region.selfMask = isOn(name, value, place) ?? region.selfMask
    case "loop_crossfade", "loopcrossfade": region.loopCrossfade = real(name, value, 0...3600, place) ?? 0
    case "count": region.playCount = integer(name, value, 0...1_000_000, place) ?? 0
    case "loop_count", "loopcount": region.loopCount = integer(name, value, 0...1_000_000, place) ?? 0
    case "polyphony": setPolyphony(name, value, in: &region, place)
    case "note_polyphony":
      region.notePolyphony = integer(name, value, 1...4096, place) ?? region.notePolyphony
    default: return false
    }
    return true
  }

  /// A number, or a note priority.
  private mutating func setPolyphony(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) {
    switch value {
    case "legato_high": (region.polyphony, region.priority) = (1, .highest)
    case "legato_last": (region.polyphony, region.priority) = (1, .last)
    case "legato_low": (region.polyphony, region.priority) = (1, .lowest)
    default:
      guard let voices = integer(name, value, 1...4096, place) else { return }
      (region.polyphony, region.priority) = (voices, .none)
    }
  }

  private static var groups: ClosedRange<Int> { -2_147_483_648...2_147_483_647 }

  private mutating func setConditions(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    switch name {
    case "seq_length": region.sequenceLength = integer(name, value, 1...1000, place) ?? region.sequenceLength
    case "seq_position":
      region.sequencePosition = integer(name, value, 1...1000, place) ?? region.sequencePosition
    case "lorand": region.randomLow = real(name, value, 0...1, place) ?? region.randomLow
    case "lochan", "hichan": setRange(Source.channel, name, value, 1...16, in: &region, place)
    case "lobend", "hibend":
      setRange(Source.bend, name, value, -8192...8192, in: &region, place) { PitchWheel.value(steps: $0) }
    case "lobpm", "hibpm": setRange(Source.tempo, name, value, 0...500, in: &region, place)
    case "lochanaft", "hichanaft": setRange(Source.pressure, name, value, 0...127, in: &region, place)
    case "lopolyaft", "hipolyaft": setRange(Source.keyPressure, name, value, 0...127, in: &region, place)
    case "loprog", "hiprog": setRange(Source.program, name, value, 0...127, in: &region, place)
    case "sustain_sw":
      if let isUsed = isOn(name, value, place) {
        region.pedals.sustain = isUsed ? (region.pedals.sustain < 128 ? region.pedals.sustain : 64) : 255
      }
    case "sustain_cc":
      region.pedals.sustain = integer(name, value, 0...127, place).map { UInt8($0) } ?? region.pedals.sustain
    case "sustain_lo":
      if let low = real(name, value, 0...127, place) { region.pedals.sustainLow = Float(low) }
    case "sostenuto_sw":
      if let isUsed = isOn(name, value, place) {
        region.pedals.sostenuto =
          isUsed ? (region.pedals.sostenuto < 128 ? region.pedals.sostenuto : 66) : 255
      }
    case "sostenuto_cc":
      region.pedals.sostenuto =
        integer(name, value, 0...127, place).map { UInt8($0) } ?? region.pedals.sostenuto
    case "sostenuto_lo":
      if let low = real(name, value, 0...127, place) { region.pedals.sostenutoLow = Float(low) }
    case "xf_cccurve": region.controlPower = isPower(name, value, place) ?? region.controlPower
    case "hirand": region.randomHigh = real(name, value, 0...1, place) ?? region.randomHigh
    default: return false
    }
    return true
  }

  mutating func isOn(_ name: String, _ value: String, _ place: SourceLine) -> Bool? {
    switch value {
    case "on", "1": return true
    case "off", "0": return false
    default:
      unreadable(name, value, "on or off", place)
      return nil
    }
  }

  /// One end, `lo` or `hi`, of a source's range.
  private mutating func setRange(
    _ source: UInt16, _ name: String, _ value: String, _ range: ClosedRange<Double>,
    in region: inout SfzRegion, _ place: SourceLine, as unit: (Float) -> Float = { $0 }
  ) {
    guard let number = real(name, value, range, place) else { return }
    let limit = unit(Float(number))
    SfzRegion.range(Int(source), in: &region.conditions) {
      if name.hasPrefix("lo") { $0.low = limit } else { $0.high = limit }
    }
  }

  /// Opcodes with a number in their names.
  private mutating func setNumbered(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    if let velocity = Self.number(in: name, after: "amp_velcurve_") {
      if let gain = real(name, value, 0...1, place) { region.velocityCurve.points[velocity] = gain }
      return true
    }
    for (word, path) in [
      ("", \SfzRegion.conditions), ("on_", \SfzRegion.starts), ("start_", \SfzRegion.starts),
      ("stop_", \SfzRegion.stops), ("reverse_", \SfzRegion.reverses),
    ] where name.hasPrefix(word) {
      for end in ["locc", "hicc"] {
        guard let control = Self.number(in: name, after: word + end, last: Source.controllers - 1) else {
          continue
        }
        let range = Source.isPlain(UInt16(control)) ? -1e6...1e6 : 0...127
        guard var number = real(name, value, range, place) else { return true }
        // Bend conditions are -1...1.
        if control == Source.bend { number = (number - 64) / (number < 64 ? 64 : 63) }
        if word == "reverse_", region.reverses.count >= SfzRegion.mostReverses,
          !region.reverses.contains(where: { Int($0.control) == control })
        {
          let most = SfzRegion.mostReverses
          find("at most \(most) controllers can reverse a region; `\(name)` is left out", place)
          return true
        }
        SfzRegion.range(control, in: &region[keyPath: path]) {
          if end == "locc" { $0.low = Float(number) } else { $0.high = Float(number) }
        }
        return true
      }
    }
    if name.hasPrefix("rt_decay"), setReleasePart(name, value, in: &region, place) { return true }
    for (fade, path) in [
      ("xfin_locc", \ControlFade.inLow), ("xfin_hicc", \ControlFade.inHigh),
      ("xfout_locc", \ControlFade.outLow), ("xfout_hicc", \ControlFade.outHigh),
    ] {
      guard let control = Self.number(in: name, after: fade, last: Source.controllers - 1) else { continue }
      if let number = integer(name, value, 0...127, place) {
        region.controlFades[control, default: ControlFade()][keyPath: path] = number
      }
      return true
    }
    return false
  }

  /// `rt_decayN` and `rt_decayN_time`.
  private mutating func setReleasePart(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    let isTime = name.hasSuffix("_time")
    guard let part = Self.number(in: String(isTime ? name.dropLast(5) : name[...]), after: "rt_decay"),
      (1...4).contains(part)
    else { return false }
    guard let number = real(name, value, isTime ? 0...3600 : 0...200, place) else { return true }
    var known = region.releaseParts[part] ?? (decay: 0, seconds: .infinity)
    if isTime { known.seconds = number } else { known.decay = number }
    region.releaseParts[part] = known
    return true
  }
}
