import Glibc
import Sampler

/// LFO opcodes that have no slot.
extension SfzReader {
  /// `unit`: the LFO; `part`: its property. False for other opcodes. Worker.
  mutating func setLfo(
    _ unit: String, _ part: String, _ name: String, _ value: String, in region: inout SfzRegion,
    _ place: SourceLine
  ) -> Bool {
    guard isLfoSetting(part), let index = region.shape.lfo(unit) else { return false }
    var lfo = region.shape.lfos[index].settings
    switch part {
    case "delay": lfo.delay = Float(real(name, value, 0...3600, place) ?? 0)
    case "fade": lfo.fade = Float(real(name, value, 0...3600, place) ?? 0)
    case "phase":
      let turns = real(name, value, -1e6...1e6, place) ?? 0
      lfo.phase = Float(turns - floor(turns))
    case "beats":
      guard let beats = real(name, value, 0.001...1000, place) else { break }
      region.shape.base[Slot.frequency + index] = Sampler.tempo / 60 / Float(beats)
    case "count": lfo.turns = Float(real(name, value, 0...1e6, place) ?? 0)
    case "steps":
      guard let count = integer(name, value, 0...LfoSettings.mostSteps, place) else { break }
      lfo.steps += [Float](repeating: 0, count: max(0, count - lfo.steps.count))
      lfo.steps.removeLast(lfo.steps.count - count)
    default:
      if let step = Self.number(in: part, after: "step") {
        guard let percent = real(name, value, -100...100, place) else { break }
        lfo.steps += [Float](repeating: 0, count: max(0, step - lfo.steps.count))
        lfo.steps[step - 1] = Float(percent / 100)
      } else {
        setWave(part, name, value, in: &lfo, place)
      }
    }
    region.shape.lfos[index].settings = lfo
    return true
  }

  private func isLfoSetting(_ part: String) -> Bool {
    if ["delay", "fade", "phase", "beats", "count", "steps"].contains(part) { return true }
    if let step = Self.number(in: part, after: "step") { return step > 0 }
    guard let word = Self.waveWord(part) else { return false }
    return part == word || (2...LfoSettings.mostWaves).contains(Self.number(in: part, after: word) ?? 0)
  }

  private static func waveWord(_ part: String) -> String? {
    ["wave", "offset", "scale", "ratio"].first { part.hasPrefix($0) }
  }

  /// `wave`, `offset`, `scale` and `ratio` belong to the LFO's first wave, with a number from 2 on to a
  /// further wave.
  private mutating func setWave(
    _ part: String, _ name: String, _ value: String, in lfo: inout LfoSettings, _ place: SourceLine
  ) {
    guard let word = Self.waveWord(part) else { return }
    let index = (Self.number(in: part, after: word) ?? 1) - 1
    while lfo.waves.count <= index { lfo.waves.append(LfoWave(shape: .triangle)) }
    switch word {
    case "offset": lfo.waves[index].offset = Float(real(name, value, -1e4...1e4, place) ?? 0)
    case "scale": lfo.waves[index].scale = Float(real(name, value, -1e4...1e4, place) ?? 1)
    case "ratio": lfo.waves[index].ratio = Float(real(name, value, 0...1e4, place) ?? 1)
    default:
      guard let number = integer(name, value, -1...255, place) else { return }
      // -1 is an old name of the random wave.
      guard let shape = LfoWave.Shape(rawValue: UInt8(number < 0 ? 12 : number)) else {
        unreadable(name, value, "a wave 0...7 or 12", place)
        return
      }
      lfo.waves[index].shape = shape
    }
  }
}
