import Sampler

/// Opcodes of oscillators, noise, bit reduction and drive that have no slot, or have a limited range.
extension SfzReader {
  /// Worker.
  mutating func setSource(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    switch name {
    case "oscillator":
      if value == "auto" { return true }
      region.oscillator.isOn = isOn(name, value, place) ?? region.oscillator.isOn
    case "oscillator_multi":
      region.oscillator.multi = integer(name, value, 1...9, place) ?? region.oscillator.multi
    case "oscillator_mode":
      region.oscillator.mode = integer(name, value, 0...2, place) ?? region.oscillator.mode
    case "oscillator_phase":
      if let degrees = real(name, value, -360...360, place) {
        region.oscillator.phase = degrees < 0 ? -1 : degrees / 360
      }
    case "oscillator_table_size":
      region.oscillator.tableSize = integer(name, value, 1...1 << 20, place) ?? region.oscillator.tableSize
    // Waves have eight frames per cycle of their highest harmonic, so four-point interpolation is better than
    // any of these.
    case "oscillator_quality": _ = integer(name, value, 0...3, place)
    case "noise_stereo": region.noise.isStereo = isOn(name, value, place) ?? region.noise.isStereo
    case "noise_filter":
      guard let filter = Self.noiseFilters[value] else {
        unreadable(name, value, "one of \(Self.noiseFilters.keys.sorted().joined(separator: ", "))", place)
        return true
      }
      region.noise.filter = filter
    default:
      guard let slot = Self.stageSlots[name] else { return false }
      let range: ClosedRange<Double> =
        switch slot {
        case Slot.noiseLevel: -96...24
        case Slot.oscillatorDetune: -12_000...12_000
        case Slot.oscillatorDepth: -10_000...10_000
        default: 0...100
        }
      if let number = real(name, value, range, place) { region.shape.base[slot] = Float(number) }
    }
    return true
  }

  private static let noiseFilters: [String: NoiseFilter] = [
    "off": .none, "on": .lowpass1, "lpf_1p": .lowpass1, "hpf_1p": .highpass1, "lpf_2p": .lowpass,
    "hpf_2p": .highpass, "bpf_2p": .bandpass,
  ]

  /// Slots of `VoiceStage` by opcode.
  static let stageSlots = [
    "decim": Slot.decimation, "bitred": Slot.bitReduction, "noise_level": Slot.noiseLevel,
    "noise_step": Slot.noiseStep, "noise_tone": Slot.noiseTone, "drive": Slot.drive,
    "drive_shape": Slot.driveShape, "oscillator_detune": Slot.oscillatorDetune,
    "oscillator_mod_depth": Slot.oscillatorDepth,
  ]
}
