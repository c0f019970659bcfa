import Glibc

/// The generators of one zone, by number: what an instrument states, and what a preset adds to it.
struct SoundFontZone {
  /// The generators of the specification's chapter 8.1 that are used here.
  enum Generator {
    static let startOffset = 0
    static let endOffset = 1
    static let loopStartOffset = 2
    static let loopEndOffset = 3
    static let startCoarse = 4
    static let endCoarse = 12
    static let pan = 17
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
    static let attenuation = 48
    static let loopEndCoarse = 50
    static let coarseTune = 51
    static let fineTune = 52
    static let sample = 53
    static let modes = 54
    static let scaleTuning = 56
    static let exclusiveClass = 57
    static let rootKey = 58
  }

  /// Those without effect here, by their names in the specification.
  static let notUnderstood: [(number: Int, name: String)] = [
    (5, "modLfoToPitch"), (6, "vibLfoToPitch"), (7, "modEnvToPitch"), (8, "initialFilterFc"),
    (9, "initialFilterQ"), (10, "modLfoToFilterFc"), (11, "modEnvToFilterFc"), (13, "modLfoToVolume"),
    (15, "chorusEffectsSend"), (16, "reverbEffectsSend"), (46, "keynum"), (47, "velocity"),
  ]

  /// What a generator is when nobody states it, where that is not 0.
  private static let defaults: [Int: Int] = [
    8: 13500, 33: -12000, 34: -12000, 35: -12000, 36: -12000, 38: -12000, 46: -1, 47: -1, 56: 100, 58: -1,
  ]

  /// Those that only an instrument may state; a preset's are not counted.
  private static let ofInstruments: Set<Int> = [0, 1, 2, 3, 4, 12, 45, 46, 47, 50, 53, 54, 57, 58]

  private(set) var values: [Int: Int] = [:]
  var keys = 0...127
  var velocities = 0...127

  /// Takes what a zone states over what was there.
  mutating func state(_ generators: [SoundFontFile.Generator]) {
    for generator in generators {
      switch generator.number {
      case Generator.keyRange where generator.low <= generator.high: keys = generator.low...generator.high
      case Generator.velocityRange where generator.low <= generator.high:
        velocities = generator.low...generator.high
      case Generator.sample, Generator.instrument: values[generator.number] = Int(generator.bits)
      default: values[generator.number] = generator.value
      }
    }
  }

  /// Adds what a preset's zone states, and narrows the ranges to its own; false when nothing is left.
  mutating func add(_ preset: SoundFontZone) -> Bool {
    for (number, value) in preset.values
    where number != Generator.instrument && !Self.ofInstruments.contains(number) {
      values[number] = self[number] + value
    }
    let key = max(keys.lowerBound, preset.keys.lowerBound)
    let lastKey = min(keys.upperBound, preset.keys.upperBound)
    let velocity = max(velocities.lowerBound, preset.velocities.lowerBound)
    let lastVelocity = min(velocities.upperBound, preset.velocities.upperBound)
    guard key <= lastKey, velocity <= lastVelocity else { return false }
    keys = key...lastKey
    velocities = velocity...lastVelocity
    return true
  }

  subscript(_ number: Int) -> Int { values[number] ?? Self.defaults[number] ?? 0 }

  /// Whether a generator without effect here would change the sound.
  func ignores(_ number: Int) -> Bool { self[number] != Self.defaults[number] ?? 0 }

  private func seconds(_ number: Int) -> Double {
    let timecents = min(max(self[number], -12000), 8000)
    return timecents <= -12000 ? 0 : exp2(Double(timecents) / 1200)
  }

  /// The region of a sample, `sample` in frames of the bank, played from its own first frame.
  func region(_ sample: SoundFontFile.Sample, first: Int, group: Int) -> RegionSettings {
    var region = RegionSettings()
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
    // Banks are made to the ear of E-mu's hardware, which counted 0.4 of the centibels stated.
    region.volume = -0.4 * Double(min(max(self[Generator.attenuation], 0), 1440)) / 10
    func offset(_ fine: Int, _ coarse: Int) -> Int { self[fine] + 32768 * self[coarse] }
    region.offset = sample.start + offset(Generator.startOffset, Generator.startCoarse) - first
    region.end = sample.end + offset(Generator.endOffset, Generator.endCoarse) - 1 - first
    region.loopStart = sample.loopStart + offset(Generator.loopStartOffset, Generator.loopStartCoarse) - first
    region.loopEnd = sample.loopEnd + offset(Generator.loopEndOffset, Generator.loopEndCoarse) - 1 - first
    region.loopMode =
      switch self[Generator.modes] & 3 {
      case 1: .continuous
      case 3: .sustain
      default: LoopMode.none
      }
    // Times are for a fall by 96 dB; an envelope here falls by 9 nepers in its time.
    let share: Double = 180 / log(10.0) / 96
    region.envelope.delay = Float(seconds(Generator.delay))
    region.envelope.attack = Float(seconds(Generator.attack))
    region.envelope.hold = Float(seconds(Generator.hold))
    region.envelope.decay = Float(seconds(Generator.decay) * share)
    region.envelope.release = Float(seconds(Generator.release) * share)
    let sustain = min(max(self[Generator.sustain], 0), 1440)
    region.envelope.sustain = sustain >= 960 ? 0 : Float(pow(10, -Double(sustain) / 200))
    region.group = group
    region.offBy = group
    return region
  }
}
