/// Oscillators, as SFZ states them.
struct OscillatorSettings {
  /// The sample is one turn of a wave.
  var isOn = false
  var multi = 1
  var mode = 0
  /// Turns; negative: by chance. nil: as any sample begins.
  var phase: Double?
  /// So many points have half as many harmonics.
  var tableSize: Int?
}

/// Noise, as SFZ states it.
struct NoiseSettings {
  var isStereo = false
  /// nil: the one that `noise_tone` needs, if that is stated.
  var filter: NoiseFilter?
}

extension StagePlan {
  /// Both sides differ though the sample has only one.
  var hasSides: Bool { isNoiseStereo && hasNoise || oscillators > 2 && mode == .sum }
}

extension RegionSettings {
  /// An SFZ region of which nothing is said.
  static var unstated: RegionSettings {
    var settings = RegionSettings()
    settings.shape.base[Slot.noiseLevel] = -96
    settings.shape.base[Slot.noiseTone] = 100
    return settings
  }

  /// It plays one turn of a wave over and over.
  var isWave: Bool {
    guard let sample else { return false }
    guard let wave = GeneratedWave(sample: sample) else { return oscillator.isOn }
    return wave != .noise && wave != .silence
  }

  /// Gain of a mono sample that is played as a stereo one, so that it is as loud as before.
  var stageGain: Double {
    guard stage.hasSides, stage.oscillators == 0 else { return 1 }
    var centred = self
    centred.pan = 0
    centred.shape.base[Slot.position] = 0
    return centred.sides(isStereo: false).left / centred.sides(isStereo: true).left
  }

  /// Finds out what its voices go through before their filters.
  mutating func finishStage() {
    func isMoved(_ slot: Int) -> Bool {
      shape.modulations.contains { Int($0.slot) == slot } || shape.routes.contains { Int($0.slot) == slot }
    }
    func isUsed(_ slot: Int) -> Bool { shape.base[slot] != 0 || isMoved(slot) }
    stage.hasNoise = isMoved(Slot.noiseLevel) || shape.base[Slot.noiseLevel] > -96
    stage.isNoiseStereo = noise.isStereo
    let hasTone = shape.base[Slot.noiseTone] != 100 || isMoved(Slot.noiseTone)
    stage.noiseFilter = noise.filter ?? (hasTone ? .lowpass1 : .none)
    if isWave {
      let isModulated = oscillator.mode > 0
      let isRing = !isModulated && oscillator.multi == 2
      stage.mode = isModulated ? (oscillator.mode == 1 ? .phase : .frequency) : (isRing ? .ring : .sum)
      stage.oscillators = isModulated ? 2 : (oscillator.multi > 1 ? UInt8(oscillator.multi) : 0)
      stage.phase = Float(oscillator.phase ?? 0)
    }
    let slots = [Slot.decimation, Slot.bitReduction, Slot.drive]
    stage.isUsed = stage.hasNoise || stage.oscillators > 0 || slots.contains(where: isUsed)
  }

  /// A wave goes round as a whole, from its phase on; before `clamp(to:)`.
  mutating func turnWave(of sample: AudioFile) {
    guard isWave, oscillator.isOn || stage.oscillators > 0 || oscillator.phase != nil else { return }
    (loopMode, loopType, loopStart, loopEnd, end) = (.continuous, .forward, nil, nil, nil)
    (playCount, loopCount, loopCrossfade) = (0, 0, 0)
    guard let phase = oscillator.phase else { return }
    offset = phase < 0 ? 0 : min(Int(phase * Double(sample.frames)), sample.frames - 1)
    if phase < 0 { randomOffset = Double(sample.frames) }
  }

  /// The units of a slope of 3 dB an octave about its middle.
  mutating func addPink() {
    shape.base[Slot.filterWidth] = 1
    // From 36 Hz to 20 kHz.
    shape.base[Slot.pink] = Self.cents(632.455_532)
    for kind in [FilterKind.pinkLow, .pinkMiddle, .pinkHigh] where shape.units.count < Most.units {
      shape.units.append(
        FilterUnit(
          kind: kind, frequency: UInt8(Slot.pink), level: UInt8(Slot.filterWidth),
          width: UInt8(Slot.filterWidth)))
    }
  }
}
