import Sampler

/// Envelope opcodes that have no slot.
extension SfzReader {
  /// `ampeg_`, `pitcheg_` and `fileg_`; false for other opcodes. Worker.
  mutating func setStage(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    guard let unit = ["ampeg_", "pitcheg_", "fileg_"].first(where: { name.hasPrefix($0) }) else {
      return false
    }
    let path: WritableKeyPath<EnvelopeSettings, Float>
    var range = 0.0...3600.0
    switch name.dropFirst(unit.count) {
    case "delay": path = \.delay
    case "attack": path = \.attack
    case "hold": path = \.hold
    case "decay": path = \.decay
    case "release": path = \.release
    case "sustain":
      path = \.sustain
      range = 0...100
    case "start":
      path = \.start
      range = 0...100
    case "attack_shape":
      path = \.attackShape
      range = -80...80
    case "decay_shape":
      path = \.decayShape
      range = -80...80
    case "release_shape":
      path = \.releaseShape
      range = -80...80
    case "decay_zero":
      if let isZero = isOn(name, value, place) {
        return set(\.decaysToZero, to: isZero, of: unit, in: &region)
      }
      return true
    case "release_zero":
      if let isZero = isOn(name, value, place) {
        return set(\.releasesFromFull, to: isZero, of: unit, in: &region)
      }
      return true
    case "dynamic":
      if let isDynamic = isOn(name, value, place) {
        return set(\.isDynamic, to: isDynamic, of: unit, in: &region)
      }
      return true
    default: return false
    }
    guard let number = real(name, value, range, place) else { return true }
    let setting = Float(range.upperBound == 100 ? number / 100 : number)
    return set(path, to: setting, of: unit, in: &region)
  }

  /// Sets a property of `ampeg_`, `pitcheg_` or `fileg_`.
  private func set<Value>(
    _ path: WritableKeyPath<EnvelopeSettings, Value>, to setting: Value, of unit: String,
    in region: inout SfzRegion
  ) -> Bool {
    if unit == "ampeg_" {
      region.envelope[keyPath: path] = setting
    } else {
      guard let envelope = region.shape.envelope(String(unit.dropLast())) else { return false }
      region.shape.envelopes[envelope].settings[keyPath: path] = setting
    }
    return true
  }

  /// Opcodes of the envelopes `egN`. `unit`: the envelope; `part`: its property. False for other opcodes.
  /// Worker.
  mutating func setFlexible(
    _ unit: String, _ part: String, _ name: String, _ value: String, in region: inout SfzRegion,
    _ place: SourceLine
  ) -> Bool {
    guard let index = region.shape.flexible(unit) else { return false }
    var envelope = region.shape.flexible[index].settings
    switch part {
    case "sustain": envelope.sustain = integer(name, value, 0...100, place) ?? envelope.sustain
    case "loop": envelope.loop = integer(name, value, 0...100, place) ?? envelope.loop
    case "loop_count":
      envelope.loopCount = integer(name, value, 0...1_000_000, place) ?? envelope.loopCount
    case "loop_shape":
      if let shape = real(name, value, -80...80, place) { envelope.loopShape = Float(shape) }
    case "dynamic": envelope.isDynamic = isOn(name, value, place) ?? envelope.isDynamic
    // The number of points follows from the points themselves.
    case "points": _ = integer(name, value, 0...Most.points, place)
    case "ampeg":
      guard let share = real(name, value, 0...100, place),
        let depth = region.shape.depth(Int(Route.flexible) + index, to: Slot.amplitude)
      else { break }
      envelope.isAmplifier = share > 0
      region.shape.base[depth] = share > 0 ? 1 : 0
    default:
      guard setPoint(part, name, value, of: &envelope, place) else { return false }
    }
    region.shape.flexible[index].settings = envelope
    return true
  }

  private mutating func setPoint(
    _ part: String, _ name: String, _ value: String, of envelope: inout ShapeSettings.Flexible,
    _ place: SourceLine
  ) -> Bool {
    for word in ["time", "level", "shape", "curve"] {
      guard let point = Self.number(in: part, after: word), point < Most.points else { continue }
      guard let number = real(name, value, word == "time" ? 0...3600 : -1e4...1e4, place) else { return true }
      while envelope.points.count <= point { envelope.points.append(FlexiblePoint()) }
      switch word {
      case "time": envelope.points[point].time = Float(number)
      case "level": envelope.points[point].level = Float(number)
      case "shape": envelope.points[point].shape = Float(number)
      default: envelope.curveNumbers[point] = Int(number)
      }
      return true
    }
    return false
  }
}
