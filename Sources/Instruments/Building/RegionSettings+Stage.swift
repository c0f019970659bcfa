import Sampler

/// Settings of regions that repeat one cycle of a wave.
struct OscillatorSettings {
  /// The sample is one cycle of a wave.
  var isOn = false
  var multi = 1
  var mode = 0
  /// Cycles; negative: random. nil: as for other samples.
  var phase: Double?
  /// Points of the table; it holds half as many harmonics.
  var tableSize: Int?
}

/// Settings of noise beside or in place of a sample.
struct NoiseSettings {
  var isStereo = false
  /// nil: the one that a tone other than 100 % needs.
  var filter: NoiseFilter?
}

extension StagePlan {
  /// True when both sides differ even for a mono sample.
  var hasSides: Bool { isNoiseStereo && hasNoise || oscillators > 2 && mode == .sum }
}

extension RegionSettings {
  /// True when it repeats one cycle of a wave.
  var isWave: Bool {
    guard let sample else { return false }
    guard let wave = GeneratedWave(sample: sample) else { return oscillator.isOn }
    return wave != .noise && wave != .silence
  }

  /// Gain of a mono sample played as a stereo one, for equal loudness.
  var stageGain: Double {
    guard stage.hasSides, stage.oscillators == 0 else { return 1 }
    var centred = self
    centred.pan = 0
    centred.shape.base[Slot.position] = 0
    return centred.sides(isStereo: false).left / centred.sides(isStereo: true).left
  }

  /// Determines the stages of its voices before their filters.
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

  /// Sets up a wave as a loop over the whole sample, from its phase on; call it before `clamp(to:)`.
  mutating func turnWave(of sample: AudioFile) {
    guard isWave, oscillator.isOn || stage.oscillators > 0 || oscillator.phase != nil else { return }
    (loopMode, loopType, loopStart, loopEnd, end) = (.continuous, .forward, nil, nil, nil)
    (playCount, loopCount, loopCrossfade) = (0, 0, 0)
    guard let phase = oscillator.phase else { return }
    offset = phase < 0 ? 0 : min(Int(phase * Double(sample.frames)), sample.frames - 1)
    if phase < 0 { randomOffset = Double(sample.frames) }
  }

  /// Adds the units of a slope of 3 dB per octave.
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
