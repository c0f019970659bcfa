import Glibc
import Sampler

/// The generators of one zone, by number: an instrument's, with a preset's added.
struct SoundFontZone {
  /// The generators of the specification's chapter 8.1 that are used here.
  enum Generator {
    static let startOffset = 0
    static let endOffset = 1
    static let loopStartOffset = 2
    static let loopEndOffset = 3
    static let startCoarse = 4
    static let endCoarse = 12
    static let modLfoToPitch = 5
    static let vibLfoToPitch = 6
    static let modEnvToPitch = 7
    static let cutoff = 8
    static let resonance = 9
    static let modLfoToCutoff = 10
    static let modEnvToCutoff = 11
    static let modLfoToVolume = 13
    static let chorus = 15
    static let reverb = 16
    static let pan = 17
    static let modLfoDelay = 21
    static let modLfoFrequency = 22
    static let vibLfoDelay = 23
    static let vibLfoFrequency = 24
    static let modEnvDelay = 25
    static let modEnvRelease = 30
    static let modEnvKeyToHold = 31
    static let modEnvKeyToDecay = 32
    static let delay = 33
    static let attack = 34
    static let hold = 35
    static let decay = 36
    static let sustain = 37
    static let release = 38
    static let keyToHold = 39
    static let keyToDecay = 40
    static let instrument = 41
    static let keyRange = 43
    static let velocityRange = 44
    static let loopStartCoarse = 45
    static let key = 46
    static let velocity = 47
    static let attenuation = 48
    static let loopEndCoarse = 50
    static let coarseTune = 51
    static let fineTune = 52
    static let sample = 53
    static let modes = 54
    static let scaleTuning = 56
    static let exclusiveClass = 57
    static let rootKey = 58
    /// The pitch itself: a modulator destination, not a generator.
    static let pitch = 59
  }

  /// Default values.
  private static let defaults: [Int32] = {
    var values = [Int32](repeating: 0, count: 64)
    values[8] = 13500
    values[56] = 100
    for number in [46, 47, 58] { values[number] = -1 }
    for number in [21, 23, 25, 26, 27, 28, 30, 33, 34, 35, 36, 38] { values[number] = -12000 }
    return values
  }()

  /// Bit mask of generators that only an instrument may have; those of a preset are ignored. It includes the
  /// preset's instrument generator.
  private static let ofInstruments: UInt64 = [0, 1, 2, 3, 4, 12, 41, 45, 46, 47, 50, 53, 54, 57, 58].reduce(0)
  {
    $0 | 1 << $1
  }

  /// Values by number, and a bit mask of the stated ones.
  private var values = defaults
  private var stated: UInt64 = 0
  private(set) var modulators: [SoundFontFile.Modulator] = []
  var keys = 0...127
  var velocities = 0...127

  /// Overrides values by those of a zone.
  mutating func state(_ zone: SoundFontFile.Zone) {
    for modulator in SoundFontFile.Modulator.linked(zone.modulators) {
      Self.replace(modulator, in: &modulators)
    }
    for generator in zone.generators {
      switch generator.number {
      case Generator.keyRange where generator.low <= generator.high: keys = generator.low...generator.high
      case Generator.velocityRange where generator.low <= generator.high:
        velocities = generator.low...generator.high
      case Generator.sample, Generator.instrument: set(generator.number, Int32(generator.bits))
      default: set(generator.number, Int32(generator.value))
      }
    }
  }

  private mutating func set(_ number: Int, _ value: Int32) {
    // Higher numbers do not exist.
    guard number < values.count else { return }
    values[number] = value
    stated |= 1 << number
  }

  private static func replace(
    _ modulator: SoundFontFile.Modulator, in list: inout [SoundFontFile.Modulator]
  ) {
    if let known = list.firstIndex(where: modulator.isIdentical) {
      list[known] = modulator
    } else {
      list.append(modulator)
    }
  }

  /// Adds a preset's zone, and narrows the key and velocity ranges to its own; false when nothing is left.
  mutating func add(_ preset: SoundFontZone) -> Bool {
    let added = preset.stated & ~Self.ofInstruments
    for number in values.indices where added >> number & 1 == 1 { values[number] += preset.values[number] }
    // An instrument's modulators replace the default ones; a preset's are added to both.
    var all = Self.defaultModulators
    for modulator in modulators { Self.replace(modulator, in: &all) }
    for modulator in preset.modulators {
      if let known = all.firstIndex(where: modulator.isIdentical) {
        all[known].amount += modulator.amount
      } else {
        all.append(modulator)
      }
    }
    modulators = all
    let key = max(keys.lowerBound, preset.keys.lowerBound)
    let lastKey = min(keys.upperBound, preset.keys.upperBound)
    let velocity = max(velocities.lowerBound, preset.velocities.lowerBound)
    let lastVelocity = min(velocities.upperBound, preset.velocities.upperBound)
    guard key <= lastKey, velocity <= lastVelocity else { return false }
    keys = key...lastKey
    velocities = velocity...lastVelocity
    return true
  }

  subscript(_ number: Int) -> Int { Int(values[number]) }

  /// The region for a sample of `frames` frames; generators count in frames of the bank, in which the sample
  /// begins at `first`.
  func region(_ sample: SoundFontFile.Sample, first: Int, group: Int, frames: Int) -> RegionSettings {
    var region = RegionSettings()
    region.isLogarithmic = true
    region.pedals = .switches
    region.sample = sample.name
    region.lowKey = keys.lowerBound
    region.highKey = min(127, keys.upperBound)
    region.lowVelocity = velocities.lowerBound
    region.highVelocity = min(127, velocities.upperBound)
    let root = self[Generator.rootKey]
    region.keyCenter = (0...127).contains(root) ? root : (sample.key <= 127 ? sample.key : 60)
    region.keyTrack = Double(self[Generator.scaleTuning])
    region.tune = Double(self[Generator.fineTune] + sample.correction)
    region.transpose = min(max(self[Generator.coarseTune], -120), 120)
    region.pan = Double(min(max(self[Generator.pan], -500), 500)) / 5
    // Level of a filter without resonance in players of banks: see ARCHITECTURE.md.
    region.volume = 5 * log10(2)
    // Velocity is applied by a modulator.
    region.velocityCurve.tracking = 0
    if (0...127).contains(self[Generator.key]) { region.fixedKey = self[Generator.key] }
    if (1...127).contains(self[Generator.velocity]) { region.fixedVelocity = self[Generator.velocity] }
    func offset(_ fine: Int, _ coarse: Int) -> Int { self[fine] + 32768 * self[coarse] }
    let (start, end) = sample.isCompressed ? (0, frames) : (sample.start, sample.end)
    region.offset = start + offset(Generator.startOffset, Generator.startCoarse) - first
    region.end = end + offset(Generator.endOffset, Generator.endCoarse) - 1 - first
    region.loopStart = sample.loopStart + offset(Generator.loopStartOffset, Generator.loopStartCoarse) - first
    region.loopEnd = sample.loopEnd + offset(Generator.loopEndOffset, Generator.loopEndCoarse) - 1 - first
    region.loopMode =
      switch self[Generator.modes] & 3 {
      case 1: .continuous
      case 3: .sustain
      default: LoopMode.none
      }
    region.envelope = envelope(from: Generator.delay, isLinear: false)
    region.shape = shape(center: region.keyCenter ?? 60)
    region.group = group
    region.offBy = group
    return region
  }
}
