import Glibc
import Sampler

extension RegionSettings {
  /// The region itself, or, for a wave with harmonics, parts of three keys each, whose harmonics all stay
  /// below the limit.
  var parts: [RegionSettings] {
    guard let sample else { return [self] }
    guard GeneratedWave(sample: sample)?.isHarmonic ?? oscillator.isOn else { return [self] }
    // For detuned oscillators the highest counts.
    let spread = stage.oscillators > 0 ? Double(abs(shape.base[Slot.oscillatorDetune])) : 0
    let most = oscillator.tableSize.map { max(1, $0 / 2) } ?? GeneratedWave.mostHarmonics
    func hertz(_ key: Int) -> Double {
      let cents =
        Double(key - (keyCenter ?? 60)) * keyTrack + tune + 100 * Double(transpose) + spread
        + levelTune
      return GeneratedWave.middle * exp2(cents / 1200)
    }
    guard keyTrack != 0, lowKey >= 0, lowKey <= highKey else {
      var one = self
      one.harmonics = min(most, GeneratedWave.harmonics(hertz(keyCenter ?? 60)))
      return [one]
    }
    return stride(from: lowKey, through: highKey, by: 3).map { low in
      var part = self
      (part.lowKey, part.highKey) = (low, min(low + 2, highKey))
      part.harmonics = min(most, GeneratedWave.harmonics(max(hertz(part.lowKey), hertz(part.highKey))))
      return part
    }
  }
}
