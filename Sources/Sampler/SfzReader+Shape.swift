import Glibc
import Realtime

/// The opcodes of what moves a voice: envelopes, LFOs, and controllers for all of it.
extension SfzReader {
  /// Sets what an opcode says; false when it is not understood. Worker.
  mutating func setShape(
    _ name: String, _ value: String, in region: inout RegionSettings, _ place: SourceLine
  ) -> Bool {
    if name.hasPrefix("var"), setVariable(name, value, in: &region, place) { return true }
    if let modulated = Self.modulated(name) {
      if modulated.part == .amount, let slot = Self.velocityTracking[modulated.name] {
        guard let amount = real(name, value, -1e6...1e6, place) else { return true }
        region.shape.modulate(slot, by: Source.velocity, and: modulated.source) { $0.amount = Float(amount) }
        return true
      }
      guard let to = Self.destination(modulated.name, &region.shape) else { return false }
      switch modulated.part {
      case .amount:
        guard let amount = real(name, value, -1e6...1e6, place) else { return true }
        region.shape.modulate(to.slot, by: modulated.source) { $0.amount = Float(amount * to.scale) }
      case .curve:
        guard let number = integer(name, value, 0...255, place) else { return true }
        region.shape.modulate(to.slot, by: modulated.source) { $0.curveNumber = number }
      case .smoothing:
        guard let milliseconds = real(name, value, 0...100_000, place) else { return true }
        // What is looked at only as a note begins has nothing to smooth.
        if to.slot < Slot.noteOn { region.smoothing[to.slot] = milliseconds / 1000 }
      case .steps:
        guard let steps = integer(name, value, 0...127, place) else { return true }
        region.shape.modulate(to.slot, by: modulated.source) { $0.steps = Float(steps) }
      }
      return true
    }
    return setFilter(name, value, in: &region, place) || setStage(name, value, in: &region, place)
      || setGenerator(name, value, in: &region, place) || setTracking(name, value, in: &region, place)
  }

  // MARK: Names

  private enum Part {
    case amount, curve, steps, smoothing
  }

  /// Takes `pan_oncc10`, `cutoff_cc74`, `amplfo_depthcc1`, `pan_curvecc10`, `cutoff_chanaft`,
  /// `fileg_vel2depth` apart: the name of what is modulated, and by what.
  private static func modulated(_ name: String) -> (name: String, source: UInt8, part: Part)? {
    for (suffix, source) in [("chanaft", Source.pressure), ("polyaft", Source.keyPressure)]
    where name.hasSuffix(suffix) {
      let rest = name.dropLast(suffix.count)
      return (String(rest.hasSuffix("_") ? rest.dropLast() : rest), source, .amount)
    }
    if let underscore = name.firstIndex(of: "_"), name[underscore...].hasPrefix("_vel2") {
      return (name[..<underscore] + "_" + name[underscore...].dropFirst(5), Source.velocity, .amount)
    }
    guard let last = name.last, last.isASCII, last.isNumber else { return nil }
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
    guard let number = UInt8(name.suffix(digits)), number <= Source.alternate else { return nil }
    let rest = name.dropLast(digits)
    let suffixes: [(String, Part)] = [
      ("_curvecc", .curve), ("_stepcc", .steps), ("_smoothcc", .smoothing), ("_oncc", .amount),
      ("_cc", .amount), ("cc", .amount),
    ]
    for (suffix, part) in suffixes where rest.hasSuffix(suffix) && rest.count > suffix.count {
      return (String(rest.dropLast(suffix.count)), number, part)
    }
    return nil
  }

  /// What a name stands for: its slot, and by what values are multiplied for it.
  static func destination(_ name: String, _ shape: inout ShapeSettings) -> (slot: Int, scale: Double)? {
    switch name {
    case "volume", "gain": return (Slot.volume, 1)
    case "amplitude": return (Slot.amplitude, 0.01)
    case "pan": return (Slot.pan, 1)
    case "width": return (Slot.width, 1)
    case "position": return (Slot.position, 1)
    case "tune", "pitch": return (Slot.pitch, 1)
    case "cutoff": return (Slot.cutoff, 1)
    case "resonance": return (Slot.resonance, 1)
    case "cutoff2": return (Slot.cutoff + 2, 1)
    case "resonance2": return (Slot.resonance + 2, 1)
    case "fil_gain": return (Slot.resonance, 1)
    case "fil2_gain": return (Slot.resonance + 2, 1)
    case "offset": return (Slot.offset, 1)
    case "delay": return (Slot.delay, 1)
    case "delay_samples": return (Slot.delayFrames, 1)
    case "amp_veltrack": return (Slot.velocityTracking, 0.01)
    default: break
    }
    guard let underscore = name.firstIndex(of: "_") else { return nil }
    let unit = String(name[..<underscore])
    let part = String(name[name.index(after: underscore)...])
    switch unit {
    case "ampeg", "pitcheg", "fileg":
      if let stage = stages.firstIndex(of: part) {
        guard let number = unit == "ampeg" ? 0 : shape.envelope(unit).map({ $0 + 1 }) else { return nil }
        return (Slot.stage + 8 * number + stage, part == "sustain" || part == "start" ? 0.01 : 1)
      }
      guard part == "depth", unit != "ampeg", let number = shape.envelope(unit) else { return nil }
      return shape.depth(
        Int(Route.envelope) + number, to: unit == "pitcheg" ? Slot.pitch : Slot.cutoff
      ).map { ($0, 1) }
    case "amplfo", "pitchlfo", "fillfo":
      guard let number = shape.lfo(unit) else { return nil }
      let slot = unit == "amplfo" ? Slot.volume : (unit == "pitchlfo" ? Slot.pitch : Slot.cutoff)
      return part == "depth" ? shape.depth(number, to: slot).map { ($0, 1) } : lfo(part, number)
    default: break
    }
    if let band = number(in: unit, after: "eq"), (1...3).contains(band) {
      switch part {
      case "gain": return (Slot.bandGain + band - 1, 1)
      case "freq": return (Slot.bandFrequency + band - 1, 1)
      case "bw": return (Slot.bandWidth + band - 1, 1)
      default: return nil
      }
    }
    if number(in: unit, after: "lfo") != nil {
      guard let number = shape.lfo(unit) else { return nil }
      if let found = lfo(part, number) { return found }
      return routed(part, generator: number, &shape)
    }
    if number(in: unit, after: "eg") != nil {
      guard let number = shape.flexible(unit) else { return nil }
      if let point = Self.number(in: part, after: "time"), point < Most.points {
        return (Slot.pointTime + 16 * number + point, 1)
      }
      if let point = Self.number(in: part, after: "level"), point < Most.points {
        return (Slot.pointLevel + 16 * number + point, 1)
      }
      return routed(part, generator: Int(Route.flexible) + number, &shape)
    }
    return nil
  }

  private static let stages = ["delay", "attack", "hold", "decay", "sustain", "release", "start"]

  private static func lfo(_ part: String, _ number: Int) -> (slot: Int, scale: Double)? {
    switch part {
    case "freq": (Slot.frequency + number, 1)
    case "delay": (Slot.lfoDelay + number, 1)
    case "fade": (Slot.lfoFade + number, 1)
    default: nil
    }
  }

  /// `lfo1_pitch`, `eg2_cutoff` and so on.
  private static func routed(
    _ part: String, generator: Int, _ shape: inout ShapeSettings
  ) -> (slot: Int, scale: Double)? {
    let (slot, scale): (Int, Double)
    switch part {
    case "pitch": (slot, scale) = (Slot.pitch, 1)
    case "cutoff": (slot, scale) = (Slot.cutoff, 1)
    case "resonance": (slot, scale) = (Slot.resonance, 1)
    case "cutoff2": (slot, scale) = (Slot.cutoff + 2, 1)
    case "resonance2": (slot, scale) = (Slot.resonance + 2, 1)
    case "volume": (slot, scale) = (Slot.volume, 1)
    case "amplitude": (slot, scale) = (Slot.amplitude, 0.01)
    case "ampeg" where generator >= Int(Route.flexible): (slot, scale) = (Slot.amplitude, 1)
    case "pan": (slot, scale) = (Slot.pan, 1)
    case "width": (slot, scale) = (Slot.width, 1)
    case "position": (slot, scale) = (Slot.position, 1)
    default:
      guard part.hasPrefix("eq"), let band = Int(part.dropFirst(2).prefix(1)), (1...3).contains(band) else {
        return nil
      }
      switch part.dropFirst(3) {
      case "gain": (slot, scale) = (Slot.bandGain + band - 1, 1)
      case "bw": (slot, scale) = (Slot.bandWidth + band - 1, 1)
      default: return nil
      }
    }
    return shape.depth(generator, to: slot).map { ($0, scale) }
  }

  /// Names of how far velocity moves something, and the slots of what it moves.
  private static let velocityTracking = [
    "fil_veltrack": Slot.cutoff, "fil2_veltrack": Slot.cutoff + 2, "pitch_veltrack": Slot.pitch,
    "pan_veltrack": Slot.pan, "position_veltrack": Slot.position,
  ]

  // MARK: Envelopes and LFOs

  private mutating func setStage(
    _ name: String, _ value: String, in region: inout RegionSettings, _ place: SourceLine
  ) -> Bool {
    guard let unit = ["ampeg_", "pitcheg_", "fileg_"].first(where: { name.hasPrefix($0) }) else {
      return false
    }
    let path: WritableKeyPath<EnvelopeSettings, Float>
    var range = 0.0...3600.0
    switch name.dropFirst(unit.count) {
    case "delay": path = \.delay
    case "attack": path = \.attack
    case "hold": path = \.hold
    case "decay": path = \.decay
    case "release": path = \.release
    case "sustain":
      path = \.sustain
      range = 0...100
    case "start":
      path = \.start
      range = 0...100
    case "attack_shape":
      path = \.attackShape
      range = -80...80
    case "decay_shape":
      path = \.decayShape
      range = -80...80
    case "release_shape":
      path = \.releaseShape
      range = -80...80
    case "decay_zero":
      if let isZero = isOn(name, value, place) {
        return set(\.decaysToZero, to: isZero, of: unit, in: &region)
      }
      return true
    case "release_zero":
      if let isZero = isOn(name, value, place) {
        return set(\.releasesFromFull, to: isZero, of: unit, in: &region)
      }
      return true
    case "dynamic":
      region.isDynamic = isOn(name, value, place) ?? region.isDynamic
      return true
    default: return false
    }
    guard let number = real(name, value, range, place) else { return true }
    let setting = Float(range.upperBound == 100 ? number / 100 : number)
    return set(path, to: setting, of: unit, in: &region)
  }

  /// Of `ampeg_`, `pitcheg_` or `fileg_`.
  private func set<Value>(
    _ path: WritableKeyPath<EnvelopeSettings, Value>, to setting: Value, of unit: String,
    in region: inout RegionSettings
  ) -> Bool {
    if unit == "ampeg_" {
      region.envelope[keyPath: path] = setting
    } else {
      guard let envelope = region.shape.envelope(String(unit.dropLast())) else { return false }
      region.shape.envelopes[envelope].settings[keyPath: path] = setting
    }
    return true
  }

  private mutating func setGenerator(
    _ name: String, _ value: String, in region: inout RegionSettings, _ place: SourceLine
  ) -> Bool {
    guard let underscore = name.firstIndex(of: "_") else { return false }
    let unit = String(name[..<underscore])
    let part = name[name.index(after: underscore)...]
    let isLfo = unit == "amplfo" || unit == "pitchlfo" || unit == "fillfo"
    if isLfo || Self.number(in: unit, after: "lfo") != nil {
      return setLfo(unit, String(part), name, value, in: &region, place)
        || setSlot(name, value, in: &region, place)
    }
    if Self.number(in: unit, after: "eg") != nil {
      guard let index = region.shape.flexible(unit) else { return false }
      if part == "sustain" {
        region.shape.flexible[index].settings.sustain = integer(name, value, 0...100, place) ?? -1
        return true
      }
      for (word, path) in [
        ("time", \FlexiblePoint.time), ("level", \FlexiblePoint.level), ("shape", \FlexiblePoint.shape),
      ] {
        guard let point = Self.number(in: String(part), after: word) else { continue }
        guard point < Most.points else { return false }
        guard let number = real(name, value, word == "time" ? 0...3600 : -1e4...1e4, place) else {
          return true
        }
        while region.shape.flexible[index].settings.points.count <= point {
          region.shape.flexible[index].settings.points.append(FlexiblePoint())
        }
        region.shape.flexible[index].settings.points[point][keyPath: path] = Float(number)
        return true
      }
    }
    return setSlot(name, value, in: &region, place)
  }

  /// Names that stand for a slot, and have nothing else to them.
  mutating func setSlot(
    _ name: String, _ value: String, in region: inout RegionSettings, _ place: SourceLine
  ) -> Bool {
    guard let to = Self.destination(name, &region.shape), to.slot < Slot.noteOn else { return false }
    if let number = real(name, value, -1e6...1e6, place) {
      region.shape.base[to.slot] = Float(number * to.scale)
    }
    return true
  }

  // MARK: Keys and velocities

  private mutating func setTracking(
    _ name: String, _ value: String, in region: inout RegionSettings, _ place: SourceLine
  ) -> Bool {
    if let slot = Self.velocityTracking[name] {
      if let amount = real(name, value, -9600...9600, place) {
        region.shape.modulate(slot, by: Source.velocity) { $0.amount = Float(amount) }
      }
      return true
    }
    switch name {
    case "width", "position":
      let slot = name == "width" ? Slot.width : Slot.position
      if let percent = real(name, value, -100...100, place) { region.shape.base[slot] = Float(percent) }
    case "amp_keytrack": region.ampKeyTrack = real(name, value, -96...96, place) ?? region.ampKeyTrack
    case "amp_keycenter": region.ampKeyCenter = key(name, value, place) ?? region.ampKeyCenter
    case "position_keytrack":
      region.positionKeyTrack = real(name, value, -100...100, place) ?? region.positionKeyTrack
    case "position_keycenter":
      region.positionKeyCenter = key(name, value, place) ?? region.positionKeyCenter
    case "pan_keytrack": region.panKeyTrack = real(name, value, -100...100, place) ?? region.panKeyTrack
    case "pan_keycenter": region.panKeyCenter = key(name, value, place) ?? region.panKeyCenter
    case "amp_random": region.randomVolume = (real(name, value, 0...96, place) ?? 0) / 2
    case "pitch_random": region.randomPitch = real(name, value, 0...9600, place) ?? 0
    case "offset_random": region.randomOffset = real(name, value, 0...4e9, place) ?? 0
    case "delay_random": region.randomDelay = real(name, value, 0...3600, place) ?? 0
    case "bend_smooth":
      region.smoothing[Slot.pitch] = (real(name, value, 0...10_000, place) ?? 0) / 1000
    case "bend_step", "bendstep":
      if let cents = real(name, value, 1...1200, place) {
        (region.bendStepUp, region.bendStepDown) = (cents, cents)
      }
    case "bend_stepup": region.bendStepUp = real(name, value, 1...1200, place) ?? region.bendStepUp
    case "bend_stepdown": region.bendStepDown = real(name, value, 1...1200, place) ?? region.bendStepDown
    case "phase":
      if value == "invert" {
        region.isInverted = true
      } else if value == "normal" {
        region.isInverted = false
      } else {
        unreadable(name, value, "normal or invert", place)
      }
    default: return false
    }
    return true
  }
}
