import Realtime
import Sampler

/// Modulation of a zone's voices: LFOs, the modulation envelope, the filter, and modulators.
extension SoundFontZone {
  /// The default modulators of the specification's chapter 8.4, except for the second, "MIDI note-on velocity
  /// to filter cutoff". As written it jumps at half velocity, and players of banks (FluidSynth among them)
  /// leave it out, as the makers of banks expect. A modulator of the bank's own from velocity to cutoff is
  /// used. The pan controller has an amount of 500, which reaches the sides at its ends; the specification's
  /// 1000 would reach them halfway.
  static let defaultModulators: [SoundFontFile.Modulator] = [
    // Velocity, volume and expression to attenuation, each concave and falling.
    .init(source: 0x0502, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    .init(source: 0x0587, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    .init(source: 0x058B, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    // Channel pressure and the modulation wheel to the vibrato depth.
    .init(source: 0x000D, destination: Generator.vibLfoToPitch, amount: 50, amountSource: 0, transform: 0),
    .init(source: 0x0081, destination: Generator.vibLfoToPitch, amount: 50, amountSource: 0, transform: 0),
    .init(source: 0x028A, destination: Generator.pan, amount: 500, amountSource: 0, transform: 0),
    // Reverb and chorus sends.
    .init(source: 0x00DB, destination: Generator.reverb, amount: 200, amountSource: 0, transform: 0),
    .init(source: 0x00DD, destination: Generator.chorus, amount: 200, amountSource: 0, transform: 0),
    defaultBend,
  ]

  /// Pitch bend, scaled by its sensitivity.
  static let defaultBend = SoundFontFile.Modulator(
    source: 0x020E, destination: Generator.pitch, amount: 12700, amountSource: 0x0010, transform: 0)

  /// Envelope from six successive generators: delay, attack, hold, decay, sustain, release.
  func envelope(from first: Int, isLinear: Bool) -> EnvelopeSettings {
    var envelope = EnvelopeSettings()
    envelope.isLogarithmic = true
    envelope.isLinear = isLinear
    func time(_ number: Int) -> Float { Float(min(max(self[number], -12000), 8000)) }
    envelope.delay = time(first)
    envelope.attack = time(first + 1)
    envelope.hold = time(first + 2)
    envelope.decay = time(first + 3)
    envelope.sustain = Float(min(max(self[first + 4], 0), isLinear ? 1000 : 1440))
    envelope.release = time(first + 5)
    return envelope
  }

  /// The LFOs are the modulation LFO, then the vibrato LFO. `center`: the key at which the sample has its own
  /// pitch.
  func shape(center: Int) -> ShapeSettings {
    var shape = ShapeSettings()
    // Banks are tuned by ear to E-mu's hardware, which applied 0.4 of the attenuation in generators (and all
    // of that in modulators); FluidSynth does the same. A preset may subtract more attenuation than its
    // instrument states: only the total, modulators included, is limited to attenuation.
    shape.base[Slot.volume] = -0.04 * Float(min(max(self[Generator.attenuation], -1440), 1440))
    shape.base[Slot.cutoff] = Float(min(max(self[Generator.cutoff], 1500), 13500))
    shape.base[Slot.resonance] = Float(min(max(self[Generator.resonance], 0), 960)) / 10
    shape.base[Slot.reverb] = Float(min(max(self[Generator.reverb], 0), 1000)) / 10
    shape.base[Slot.chorus] = Float(min(max(self[Generator.chorus], 0), 1000)) / 10
    for (index, delay) in [Generator.modLfoDelay, Generator.vibLfoDelay].enumerated() {
      var lfo = LfoSettings(.triangle)
      lfo.delay = Float(min(max(self[delay], -12000), 5000))
      shape.lfos.append(.init(name: "\(index)", settings: lfo))
      shape.base[Slot.frequency + index] = Float(min(max(self[delay + 1], -16000), 4500))
    }
    shape.envelopes = [
      .init(name: "0", settings: envelope(from: Generator.modEnvDelay, isLinear: true))
    ]
    // All of them, also those that are nothing: a channel may give any generator an offset.
    for (number, route) in Self.routes {
      guard let depth = shape.depth(route.generator, to: route.slot) else { continue }
      shape.base[depth] = Float(self[number]) * route.scale
    }
    for modulator in modulators where modulator.amount != 0 { add(modulator, center: center, &shape) }
    for (number, slot) in Self.keyed where self[number] != 0 {
      var settings = ModulationSettings(source: Source.key, slot: UInt8(slot), amount: Float(self[number]))
      settings.curve = Self.keysBelow
      shape.modulations.append(settings)
    }
    let cutoffMoves =
      [Generator.modLfoToCutoff, Generator.modEnvToCutoff].contains { number in
        self[number] != 0 || modulators.contains { $0.destination == number && $0.amount != 0 }
      }
      || shape.modulations.contains { Int($0.slot) == Slot.cutoff || Int($0.slot) == Slot.resonance }
    let filter = FilterUnit(
      kind: .levelledLowpass, frequency: UInt8(Slot.cutoff), level: UInt8(Slot.resonance))
    // Fully open and without resonance the filter has no effect.
    if shape.base[Slot.cutoff] < 13500 || shape.base[Slot.resonance] > 0 || cutoffMoves {
      shape.units = [filter]
    } else {
      shape.spareUnits = [filter]
    }
    return shape
  }

  /// Timecents per key below 60, and the stages that they are added to.
  private static let keyed = [
    (Generator.modEnvKeyToHold, Slot.stage + 8 + 2), (Generator.modEnvKeyToDecay, Slot.stage + 8 + 3),
    (Generator.keyToHold, Slot.stage + 2), (Generator.keyToDecay, Slot.stage + 3),
  ]
  private static let keysBelow = Curve.custom((0..<128).map { Float(60 - $0) })

  /// Generators of route depths, with the routes and the scale from centibels to decibels.
  private static let routes: [(number: Int, route: (generator: Int, slot: Int, scale: Float))] = [
    (Generator.modLfoToPitch, (0, Slot.pitch, 1)), (Generator.vibLfoToPitch, (1, Slot.pitch, 1)),
    (Generator.modEnvToPitch, (8, Slot.pitch, 1)), (Generator.modLfoToCutoff, (0, Slot.cutoff, 1)),
    (Generator.modEnvToCutoff, (8, Slot.cutoff, 1)), (Generator.modLfoToVolume, (0, Slot.volume, 0.1)),
  ]

  // MARK: Modulators

  /// True when a modulator is supported, or has no effect anyway.
  func understands(_ modulator: SoundFontFile.Modulator) -> Bool {
    var shape = ShapeSettings()
    return modulator.amount == 0 || add(modulator, center: 60, &shape)
  }

  /// Returns true if all of it could be added.
  @discardableResult
  private func add(
    _ modulator: SoundFontFile.Modulator, center: Int, _ shape: inout ShapeSettings
  ) -> Bool {
    if let slot = Self.keyed.first(where: { $0.0 == modulator.destination })?.1 {
      return Self.add(modulator, to: slot, 1, each: Self.keysBelow, &shape)
    }
    if modulator.destination == Generator.scaleTuning {
      let keys = Curve.custom((0..<128).map { Float($0 - center) })
      return Self.add(modulator, to: Slot.pitch, 1, each: keys, &shape)
    }
    guard let to = destination(modulator.destination, &shape) else { return false }
    return Self.add(modulator, to: to.slot, to.scale, &shape)
  }

  /// Adds the modulators linked to it first. `keys`: it scales with the distance in keys.
  private static func add(
    _ modulator: SoundFontFile.Modulator, to slot: Int, _ scale: Float, each keys: Curve? = nil,
    _ shape: inout ShapeSettings
  ) -> Bool {
    guard var settings = settings(modulator) else { return false }
    if let keys {
      // A modulation has two factors at most.
      guard settings.by == Source.one else { return false }
      settings.by = Source.key
      settings.byCurve = keys
    }
    var isWhole = true
    if modulator.isLinked {
      guard !modulator.links.isEmpty, let link = shape.link() else { return false }
      for other in modulator.links where !add(other, to: Slot.link + link, 1, &shape) { isWhole = false }
      settings.source = Source.link + UInt16(link)
    }
    settings.slot = UInt8(slot)
    settings.amount *= scale
    shape.modulations.append(settings)
    return isWhole
  }

  private func destination(_ number: Int, _ shape: inout ShapeSettings) -> (slot: Int, scale: Float)? {
    if let route = Self.routes.first(where: { $0.number == number })?.route {
      return shape.depth(route.generator, to: route.slot).map { ($0, route.scale) }
    }
    switch number {
    case Generator.attenuation: return (Slot.volume, -0.1)
    case Generator.pan: return (Slot.pan, 0.2)
    case Generator.reverb: return (Slot.reverb, 0.1)
    case Generator.chorus: return (Slot.chorus, 0.1)
    case Generator.cutoff: return (Slot.cutoff, 1)
    case Generator.resonance: return (Slot.resonance, 0.1)
    case Generator.pitch, Generator.fineTune: return (Slot.pitch, 1)
    case Generator.coarseTune: return (Slot.pitch, 100)
    case Generator.modLfoFrequency: return (Slot.frequency, 1)
    case Generator.vibLfoFrequency: return (Slot.frequency + 1, 1)
    case Generator.modLfoDelay: return (Slot.lfoDelay, 1)
    case Generator.vibLfoDelay: return (Slot.lfoDelay + 1, 1)
    case Generator.startOffset: return (Slot.offset, 1)
    case Generator.startCoarse: return (Slot.offset, 32768)
    case Generator.modEnvDelay...Generator.modEnvRelease:
      return (Slot.stage + 8 + number - Generator.modEnvDelay, 1)
    case Generator.delay...Generator.release: return (Slot.stage + number - Generator.delay, 1)
    default: return nil
    }
  }

  /// Sources and curves of a modulator; nil for sources and transforms unknown to the specification. An
  /// amount source cannot be a link.
  private static func settings(_ modulator: SoundFontFile.Modulator) -> ModulationSettings? {
    guard let source = Self.source(modulator.source), let by = Self.source(modulator.amountSource),
      by.number != Source.link, modulator.transform == 0 || modulator.transform == 2
    else { return nil }
    return ModulationSettings(
      source: source.number, by: by.number, slot: 0, isAbsolute: modulator.transform == 2,
      amount: Float(modulator.amount), curve: source.curve, byCurve: by.curve)
  }

  /// A source's 16 bits: index, controller flag, direction, polarity, type (chapter 8.2).
  private static func source(_ bits: Int) -> (number: UInt16, curve: Curve)? {
    let number: UInt16
    if bits & 0x80 != 0 {
      number = UInt16(bits & 0x7F)
      // Banks, data entry, parameter numbers and modes are not allowed as sources.
      if [0, 6, 32, 38, 98, 99, 100, 101].contains(number) || number >= 120 { return nil }
    } else {
      switch bits & 0x7F {
      case 0: return (Source.one, .linear)
      case 2: number = Source.velocity
      case 3: number = Source.key
      case 10: number = Source.keyPressure
      case 13: number = Source.pressure
      case 14: number = Source.bend
      // A link: see `add`.
      case 127: number = Source.link
      // In semitones, not as a fraction of a range.
      case 16: return (Source.bendRange, .linear)
      default: return nil
      }
    }
    guard bits >> 10 < 4 else { return nil }
    return (
      number,
      .controller(type: UInt8(bits >> 10), isNegative: bits & 0x100 != 0, isBipolar: bits & 0x200 != 0)
    )
  }
}
