import Glibc
import Patch
import Realtime
import Sampler

/// Opcodes of modulation: envelopes, LFOs, and controllers for everything.
extension SfzReader {
  /// Applies an opcode; false for unsupported ones. Worker.
  mutating func setShape(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    if name.hasPrefix("var"), setVariable(name, value, in: &region, place) { return true }
    if name.hasSuffix("_mod") { return setProduct(name, value, in: &region, place) }
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
        // Values evaluated only at a note's start are not smoothed.
        if to.slot < Slot.noteOn { region.smoothing[to.slot] = milliseconds / 1000 }
      case .step:
        guard let step = real(name, value, 0...1e6, place) else { return true }
        region.shape.modulate(to.slot, by: modulated.source) { $0.step = Float(step * to.scale) }
      }
      return true
    }
    return setSource(name, value, in: &region, place) || setFilter(name, value, in: &region, place)
      || setStage(name, value, in: &region, place)
      || setGenerator(name, value, in: &region, place) || setTracking(name, value, in: &region, place)
  }

  // MARK: Names

  private enum Part {
    case amount, curve, step, smoothing
  }

  /// Parses `pan_oncc10`, `cutoff_cc74`, `amplfo_depthcc1`, `pan_curvecc10`, `cutoff_chanaft`,
  /// `fileg_vel2depth`: the name of the target, and the source.
  private static func modulated(_ name: String) -> (name: String, source: UInt16, part: Part)? {
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
    guard let number = UInt16(name.suffix(digits)), number < Source.controllers else { return nil }
    let rest = name.dropLast(digits)
    let suffixes: [(String, Part)] = [
      ("_curvecc", .curve), ("_stepcc", .step), ("_smoothcc", .smoothing), ("_oncc", .amount),
      ("_cc", .amount), ("cc", .amount),
    ]
    for (suffix, part) in suffixes where rest.hasSuffix(suffix) && rest.count > suffix.count {
      return (String(rest.dropLast(suffix.count)), number, part)
    }
    return nil
  }

  /// Target of a name: its slot, and the scale of its values.
  static func destination(_ name: String, _ shape: inout ShapeSettings) -> (slot: Int, scale: Double)? {
    switch name {
    case "volume", "gain": return (Slot.volume, 1)
    case "amplitude": return (Slot.amplitude, 0.01)
    case "pan": return (Slot.pan, 1)
    case "width": return (Slot.width, 1)
    case "position": return (Slot.position, 1)
    case "tune", "pitch": return (Slot.pitch, 1)
    case "transpose": return (Slot.pitch, 100)
    case "cutoff": return (Slot.cutoff, 1)
    case "resonance": return (Slot.resonance, 1)
    case "cutoff2": return (Slot.cutoff + 2, 1)
    case "resonance2": return (Slot.resonance + 2, 1)
    case "fil_gain": return (Slot.resonance, 1)
    case "fil2_gain": return (Slot.resonance + 2, 1)
    case "effect1": return (Slot.reverb, 1)
    case "effect2": return (Slot.chorus, 1)
    case "offset": return (Slot.offset, 1)
    case "delay": return (Slot.delay, 1)
    case "delay_samples": return (Slot.delayFrames, 1)
    case "delay_beats": return (Slot.delayBeats, 1)
    case "stop_beats": return (Slot.stopBeats, 1)
    case "amp_veltrack": return (Slot.velocityTracking, 0.01)
    default: if let slot = stageSlots[name] { return (slot, 1) }
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
    if let name = generatorName(unit, "lfo") {
      guard let number = shape.lfo(name) else { return nil }
      if let found = lfo(part, number) { return found }
      return routed(part, generator: number, &shape)
    }
    if let name = generatorName(unit, "eg") {
      guard let number = shape.flexible(name) else { return nil }
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
    case "phase": (Slot.lfoPhase + number, 1)
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
    case "resonance", "fil_gain": (slot, scale) = (Slot.resonance, 1)
    case "cutoff2": (slot, scale) = (Slot.cutoff + 2, 1)
    case "resonance2", "fil2_gain": (slot, scale) = (Slot.resonance + 2, 1)
    case "volume": (slot, scale) = (Slot.volume, 1)
    case "amplitude": (slot, scale) = (Slot.amplitude, 0.01)
    case "pan": (slot, scale) = (Slot.pan, 1)
    case "width": (slot, scale) = (Slot.width, 1)
    case "position": (slot, scale) = (Slot.position, 1)
    case "decim", "bitred", "drive": (slot, scale) = (stageSlots[part]!, 1)
    case "noiselevel", "noisestep", "noisetone", "driveshape":
      (slot, scale) = (stageSlots[(part.hasPrefix("noise") ? "noise_" : "drive_") + part.dropFirst(5)]!, 1)
    default:
      if let lfo = generatorName(part, "freq_lfo") ?? generatorName(part, "depth_lfo") {
        guard let number = shape.lfo(lfo.substituting("freq_", with: "").substituting("depth_", with: ""))
        else {
          return nil
        }
        (slot, scale) = part.hasPrefix("freq") ? (Slot.frequency + number, 1) : (Slot.swing + number, 0.01)
      } else {
        guard let band = bandName(part), let to = destination(band, &shape) else { return nil }
        (slot, scale) = to
      }
    }
    return shape.depth(generator, to: slot).map { ($0, scale) }
  }

  /// The common name of `lfo1` and `lfo01`, if `unit` is one of them.
  static func generatorName(_ unit: String, _ word: String) -> String? {
    number(in: unit, after: word).map { "\(word)\($0)" }
  }

  // MARK: Addition or multiplication by controllers

  private static let products: Set = [
    "delay", "delay_beats", "stop_beats", "offset", "pitch", "tune", "volume", "amplitude", "cutoff",
    "resonance", "bitred", "decim",
    "fil_gain", "cutoff2", "resonance2", "fil2_gain", "pan", "position", "width",
  ]

  /// `pan_mod` and the like: whether controllers are added to a value or multiply it.
  private mutating func setProduct(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    let target = String(name.dropLast(4))
    guard Self.products.contains(target), let to = Self.destination(target, &region.shape) else {
      return false
    }
    switch value {
    case "add": region.products[to.slot] = false
    case "mult" where to.slot < Slot.noteOn: region.products[to.slot] = true
    default: unreadable(name, value, to.slot < Slot.noteOn ? "add or mult" : "add", place)
    }
    return true
  }

  /// Opcodes of velocity tracking, with the slots that they modulate.
  private static let velocityTracking = [
    "fil_veltrack": Slot.cutoff, "fil2_veltrack": Slot.cutoff + 2, "pitch_veltrack": Slot.pitch,
    "pan_veltrack": Slot.pan, "position_veltrack": Slot.position,
  ]

  // MARK: LFOs, and opcodes that set a slot

  private mutating func setGenerator(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    guard let underscore = name.firstIndex(of: "_") else { return false }
    let unit = String(name[..<underscore])
    let part = name[name.index(after: underscore)...]
    let isLfo = unit == "amplfo" || unit == "pitchlfo" || unit == "fillfo"
    if let lfo = isLfo ? unit : Self.generatorName(unit, "lfo") {
      return setLfo(lfo, String(part), name, value, in: &region, place)
        || setSlot(name, value, in: &region, place)
    }
    if let envelope = Self.generatorName(unit, "eg"),
      setFlexible(envelope, String(part), name, value, in: &region, place)
    {
      return true
    }
    return setSlot(name, value, in: &region, place)
  }

  /// Opcodes that only set a slot.
  mutating func setSlot(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    guard let to = Self.destination(name, &region.shape), to.slot < Slot.noteOn else { return false }
    if let number = real(name, value, -1e6...1e6, place) {
      region.shape.base[to.slot] = Float(number * to.scale)
    }
    return true
  }

  // MARK: Keys and velocities

  private mutating func setTracking(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    if let slot = Self.velocityTracking[name] {
      // Instruments exceed SFZ 1's limit of 9600 cents, and other players allow it.
      if let amount = real(name, value, -1e6...1e6, place) {
        region.shape.modulate(slot, by: Source.velocity) { $0.amount = Float(amount) }
      }
      return true
    }
    switch name {
    case "width", "position":
      let slot = name == "width" ? Slot.width : Slot.position
      if let percent = real(name, value, -100...100, place) { region.shape.base[slot] = Float(percent) }
    case "effect1", "effect2":
      let slot = name == "effect1" ? Slot.reverb : Slot.chorus
      if let percent = real(name, value, 0...100, place) { region.shape.base[slot] = Float(percent) }
    case "amp_keytrack": region.ampKeyTrack = real(name, value, -96...96, place) ?? region.ampKeyTrack
    case "amp_keycenter": region.ampKeyCenter = key(name, value, place) ?? region.ampKeyCenter
    case "position_keytrack":
      region.positionKeyTrack = real(name, value, -100...100, place) ?? region.positionKeyTrack
    case "position_keycenter":
      region.positionKeyCenter = key(name, value, place) ?? region.positionKeyCenter
    case "pan_keytrack": region.panKeyTrack = real(name, value, -100...100, place) ?? region.panKeyTrack
    case "pan_keycenter": region.panKeyCenter = key(name, value, place) ?? region.panKeyCenter
    case "pan_random", "position_random", "width_random":
      if let percent = real(name, value, 0...200, place) {
        let slot = name.hasPrefix("pan") ? Slot.pan : (name.hasPrefix("width") ? Slot.width : Slot.position)
        region.shape.modulate(slot, by: Source.voiceRandom) {
          $0.amount = Float(percent)
          $0.curveNumber = 1
        }
      }
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
