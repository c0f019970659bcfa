import Realtime

/// What moves the voices of a zone: LFOs, the modulation envelope, the filter, and modulators.
extension SoundFontZone {
  /// The default modulators of the specification's chapter 8.4, but for the second: "MIDI note-on
  /// velocity to filter cutoff" jumps at half velocity if it is taken as written, and players of banks
  /// (FluidSynth among them) leave it out, as the makers of banks expect. A modulator of the bank's own
  /// from velocity to the cutoff counts. The pan controller moves by 500, that is to the sides, where the
  /// specification's 1000 would be there half-way.
  static let defaultModulators: [SoundFontFile.Modulator] = [
    // Velocity, volume and expression to attenuation, each concave and falling.
    .init(source: 0x0502, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    .init(source: 0x0587, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    .init(source: 0x058B, destination: Generator.attenuation, amount: 960, amountSource: 0, transform: 0),
    // Channel pressure and the modulation wheel to the depth of the vibrato.
    .init(source: 0x000D, destination: Generator.vibLfoToPitch, amount: 50, amountSource: 0, transform: 0),
    .init(source: 0x0081, destination: Generator.vibLfoToPitch, amount: 50, amountSource: 0, transform: 0),
    .init(source: 0x028A, destination: Generator.pan, amount: 500, amountSource: 0, transform: 0),
    // Pitch bend, by its sensitivity.
    .init(source: 0x020E, destination: Generator.pitch, amount: 12700, amountSource: 0x0010, transform: 0),
  ]

  /// Generators that follow one another from `first` on: delay, attack, hold, decay, sustain, release.
  func envelope(from first: Int, isLinear: Bool) -> EnvelopeSettings {
    var envelope = EnvelopeSettings()
    envelope.isBank = true
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

  /// The LFOs are the modulation LFO, then the vibrato's.
  func shape() -> ShapeSettings {
    var shape = ShapeSettings()
    // Banks are made to the ear of E-mu's hardware, which counted 0.4 of the centibels that generators
    // state (of modulators it counted all); FluidSynth does the same. What a preset takes off may
    // exceed what its instrument states: only the whole, modulators included, never amplifies.
    shape.base[Slot.volume] = -0.04 * Float(min(max(self[Generator.attenuation], -1440), 1440))
    shape.base[Slot.cutoff] = Float(min(max(self[Generator.cutoff], 1500), 13500))
    shape.base[Slot.resonance] = Float(min(max(self[Generator.resonance], 0), 960)) / 10
    for (index, delay) in [Generator.modLfoDelay, Generator.vibLfoDelay].enumerated() {
      var lfo = LfoSettings(.triangle)
      lfo.delay = Float(min(max(self[delay], -12000), 5000))
      shape.lfos.append(.init(name: "\(index)", settings: lfo))
      shape.base[Slot.frequency + index] = Float(min(max(self[delay + 1], -16000), 4500))
    }
    shape.envelopes = [
      .init(name: "0", settings: envelope(from: Generator.modEnvDelay, isLinear: true))
    ]
    for (number, route) in Self.routes {
      let isModulated = modulators.contains { $0.destination == number && $0.amount != 0 }
      guard self[number] != 0 || isModulated, let depth = shape.depth(route.generator, to: route.slot) else {
        continue
      }
      shape.base[depth] = Float(self[number]) * route.scale
    }
    for modulator in modulators where modulator.amount != 0 {
      guard let to = destination(modulator.destination, &shape), var settings = Self.settings(modulator)
      else { continue }
      settings.slot = UInt8(to.slot)
      settings.amount *= to.scale
      shape.modulations.append(settings)
    }
    addKeys(Generator.modEnvKeyToHold, Slot.stage + 8 + 2, &shape)
    addKeys(Generator.modEnvKeyToDecay, Slot.stage + 8 + 3, &shape)
    addKeys(Generator.keyToHold, Slot.stage + 2, &shape)
    addKeys(Generator.keyToDecay, Slot.stage + 3, &shape)
    let cutoffMoves =
      shape.routes.contains { Int($0.slot) == Slot.cutoff }
      || shape.modulations.contains { Int($0.slot) == Slot.cutoff || Int($0.slot) == Slot.resonance }
    // Open and without resonance it would be heard as nothing.
    if shape.base[Slot.cutoff] < 13500 || shape.base[Slot.resonance] > 0 || cutoffMoves {
      shape.units = [
        FilterUnit(kind: .bankLowpass, frequency: UInt8(Slot.cutoff), level: UInt8(Slot.resonance))
      ]
    }
    return shape
  }

  /// Timecents a key below 60.
  private func addKeys(_ number: Int, _ slot: Int, _ shape: inout ShapeSettings) {
    guard self[number] != 0 else { return }
    var settings = ModulationSettings(source: Source.key, slot: UInt8(slot), amount: Float(self[number]))
    settings.curve = .custom((0..<128).map { Float(60 - $0) })
    shape.modulations.append(settings)
  }

  /// Which generator states the depth of which route, and what makes decibels of centibels.
  private static let routes: [(number: Int, route: (generator: Int, slot: Int, scale: Float))] = [
    (Generator.modLfoToPitch, (0, Slot.pitch, 1)), (Generator.vibLfoToPitch, (1, Slot.pitch, 1)),
    (Generator.modEnvToPitch, (8, Slot.pitch, 1)), (Generator.modLfoToCutoff, (0, Slot.cutoff, 1)),
    (Generator.modEnvToCutoff, (8, Slot.cutoff, 1)), (Generator.modLfoToVolume, (0, Slot.volume, 0.1)),
  ]

  // MARK: Modulators

  /// Whether a modulator can have its effect here, or has none anyhow.
  func understands(_ modulator: SoundFontFile.Modulator) -> Bool {
    var shape = ShapeSettings()
    return modulator.amount == 0
      || (Self.settings(modulator) != nil && destination(modulator.destination, &shape) != nil)
  }

  private func destination(_ number: Int, _ shape: inout ShapeSettings) -> (slot: Int, scale: Float)? {
    if let route = Self.routes.first(where: { $0.number == number })?.route {
      return shape.depth(route.generator, to: route.slot).map { ($0, route.scale) }
    }
    switch number {
    case Generator.attenuation: return (Slot.volume, -0.1)
    case Generator.pan: return (Slot.pan, 0.2)
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

  /// Sources and curves of a modulator; nil for those that other modulators would feed, and for sources
  /// that the specification does not know.
  private static func settings(_ modulator: SoundFontFile.Modulator) -> ModulationSettings? {
    guard let source = Self.source(modulator.source), let by = Self.source(modulator.amountSource),
      modulator.transform == 0 || modulator.transform == 2
    else { return nil }
    return ModulationSettings(
      source: source.number, by: by.number, slot: 0, isAbsolute: modulator.transform == 2,
      amount: Float(modulator.amount), curve: source.curve, byCurve: by.curve)
  }

  /// A source's 16 bits: index, controller or not, direction, polarity, type (chapter 8.2).
  private static func source(_ bits: Int) -> (number: UInt8, curve: Curve)? {
    let number: UInt8
    if bits & 0x80 != 0 {
      number = UInt8(bits & 0x7F)
    } else {
      switch bits & 0x7F {
      case 0: return (Source.one, .linear)
      case 2: number = Source.velocity
      case 3: number = Source.key
      case 10: number = Source.keyPressure
      case 13: number = Source.pressure
      case 14: number = Source.bend
      // In semitones, not in parts of a range.
      case 16: return (Source.bendRange, .linear)
      default: return nil
      }
    }
    guard bits >> 10 < 4 else { return nil }
    return (
      number,
      .bank(type: UInt8(bits >> 10), isNegative: bits & 0x100 != 0, isBipolar: bits & 0x200 != 0)
    )
  }
}
