import Sampler

/// Filter and equalizer opcodes.
extension SfzReader {
  /// Worker.
  mutating func setFilter(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    switch name {
    case "cutoff", "cutoff2":
      if let hertz = real(name, value, 0...100_000, place) {
        region.filters[name == "cutoff" ? 0 : 1].cutoff = hertz
      }
    case "resonance", "resonance2":
      let slot = Slot.resonance + (name == "resonance" ? 0 : 2)
      if let decibels = real(name, value, -96...96, place) { region.shape.base[slot] = Float(decibels) }
    case "fil_type", "filtype", "fil2_type":
      guard SfzFilter.kinds[value] != nil else {
        unreadable(name, value, "one of \(SfzFilter.kinds.keys.sorted().joined(separator: ", "))", place)
        return true
      }
      region.filters[name == "fil2_type" ? 1 : 0].type = value
    case "fil_keytrack", "fil2_keytrack":
      region.filters[name == "fil_keytrack" ? 0 : 1].keyTrack = real(name, value, -1200...1200, place) ?? 0
    case "fil_keycenter", "fil2_keycenter":
      region.filters[name == "fil_keycenter" ? 0 : 1].keyCenter = key(name, value, place) ?? 60
    case "fil_gain", "fil2_gain":
      if let decibels = real(name, value, -96...96, place) {
        region.filters[name == "fil_gain" ? 0 : 1].gain = decibels
      }
    case "fil_random", "fil2_random":
      if let cents = real(name, value, 0...9600, place) {
        let slot = Slot.cutoff + (name == "fil_random" ? 0 : 2)
        region.shape.modulate(slot, by: Source.voiceRandom) {
          $0.amount = Float(cents)
          $0.curveNumber = 1
        }
      }
    default:
      guard name.hasPrefix("eq"), name.utf8.count > 4, let band = Int(name.dropFirst(2).prefix(1)),
        (1...3).contains(band), name.dropFirst(3).first == "_"
      else { return false }
      switch name.dropFirst(4) {
      case "gain":
        region.bands[band - 1].isUsed = true
        region.shape.base[Slot.bandGain + band - 1] = Float(real(name, value, -96...96, place) ?? 0)
      case "freq":
        region.bands[band - 1].frequency = real(name, value, 1...100_000, place) ?? 1000
      case "bw":
        region.shape.base[Slot.bandWidth + band - 1] = Float(real(name, value, 0.001...4, place) ?? 1)
      case "type":
        switch value {
        case "peak": region.bands[band - 1].kind = .peak
        case "lshelf": region.bands[band - 1].kind = .lowShelf
        case "hshelf": region.bands[band - 1].kind = .highShelf
        default: unreadable(name, value, "peak, lshelf or hshelf", place)
        }
      default: return false
      }
    }
    return true
  }
}

/// Filter opcodes of an SFZ region.
struct SfzFilter {
  var type = "lpf_2p"
  /// Hertz.
  var cutoff: Double?
  /// Cents per key from the center.
  var keyTrack: Double = 0
  var keyCenter = 60
  /// Decibels, of shelves and peaks.
  var gain: Double = 0

  static let kinds: [String: [FilterKind]] = [
    "lpf_1p": [.lowpass1], "hpf_1p": [.highpass1], "lpf_2p": [.lowpass], "hpf_2p": [.highpass],
    "bpf_2p": [.bandpass], "brf_2p": [.notch], "lpf_2p_sv": [.lowpass], "hpf_2p_sv": [.highpass],
    "bpf_2p_sv": [.bandpass], "brf_2p_sv": [.notch], "lpf_4p": [.lowpass, .lowpassStage],
    "hpf_4p": [.highpass, .highpassStage], "lpf_6p": [.lowpass, .lowpassStage, .lowpassStage],
    "hpf_6p": [.highpass, .highpassStage, .highpassStage], "peq": [.peak], "pkf_2p": [.peak],
    "lsh": [.lowShelf], "hsh": [.highShelf], "apf_1p": [.allpass1], "bpf_1p": [.bandpass1],
    "brf_1p": [.notch1], "pink": [],
  ]
}

/// An equalizer band of an SFZ region.
struct SfzBand {
  var kind = FilterKind.peak
  var frequency: Double
  var isUsed = false
}
