import Sampler

/// A region as its opcodes state it. `finish` turns what only this format has into settings that all formats
/// share.
@dynamicMemberLookup
struct SfzRegion {
  var settings: RegionSettings
  var filters = [SfzFilter(), SfzFilter()]
  var bands = [SfzBand(frequency: 50), SfzBand(frequency: 500), SfzBand(frequency: 5000)]
  var variables: [Int: SfzVariable] = [:]
  /// Slots for which `_mod` states whether controllers multiply them.
  var products: [Int: Bool] = [:]
  /// Decibels added by the levels above.
  var groupVolume: Double = 0
  var masterVolume: Double = 0
  var globalVolume: Double = 0
  /// Tuning added and amplitude multiplied by the levels above, by opcode.
  var levelTunes: [String: Double] = [:]
  var levelAmplitudes: [String: Double] = [:]
  /// Decibels and percent per key from the center.
  var ampKeyTrack: Double = 0
  var ampKeyCenter = 60
  var panKeyTrack: Double = 0
  var panKeyCenter = 60
  var positionKeyTrack: Double = 0
  var positionKeyCenter = 60
  /// Crossfades by controllers, by their numbers.
  var controlFades: [Int: ControlFade] = [:]
  var controlPower = true
  /// Controllers that reverse playback, at most `mostReverses`.
  var reverses: [ControlRange] = []
  /// Number of the curve of `off_mode=time`.
  var offCurveNumber: Int?

  /// Each controller that reverses playback splits the region in three.
  static let mostReverses = 8

  /// A region without any opcodes.
  init() {
    settings = RegionSettings()
    settings.shape.base[Slot.noiseLevel] = -96
    settings.shape.base[Slot.noiseTone] = 100
  }

  /// A setting that all formats share.
  subscript<Value>(dynamicMember path: WritableKeyPath<RegionSettings, Value>) -> Value {
    get { settings[keyPath: path] }
    _modify { yield &settings[keyPath: path] }
  }

  subscript<Value>(dynamicMember path: KeyPath<RegionSettings, Value>) -> Value { settings[keyPath: path] }

  /// Changes the range of a controller in one of the lists.
  static func range(_ control: Int, in list: inout [ControlRange], _ change: (inout ControlRange) -> Void) {
    if let index = list.firstIndex(where: { Int($0.control) == control }) {
      change(&list[index])
    } else {
      let isOpen = control == Source.bend || Source.isPlain(UInt16(control))
      var range = ControlRange(
        control: UInt16(control), low: isOpen ? -.infinity : 0, high: isOpen ? .infinity : 127)
      change(&range)
      list.append(range)
    }
  }

  /// Reason why no note can start it; nil if one can.
  var neverSounds: String? {
    func words(_ low: String, _ high: String) -> String {
      "the region never sounds: \(low) lies above \(high)"
    }
    // A key of -1 is for regions that a controller starts.
    if settings.lowKey > settings.highKey, settings.highKey >= 0 {
      return words("lokey \(settings.lowKey)", "hikey \(settings.highKey)")
    }
    if settings.lowVelocity > settings.highVelocity {
      return words("lovel \(settings.lowVelocity)", "hivel \(settings.highVelocity)")
    }
    if settings.randomLow >= settings.randomHigh {
      return
        "the region never sounds: lorand \(settings.randomLow) is not below hirand \(settings.randomHigh)"
    }
    if settings.sequencePosition > settings.sequenceLength {
      return words("seq_position \(settings.sequencePosition)", "seq_length \(settings.sequenceLength)")
    }
    return nil
  }

  /// The region's settings; if controllers choose the direction, settings for each way to do so.
  var directions: [RegionSettings] {
    guard !reverses.isEmpty else { return [settings] }
    var turned = settings
    turned.conditions += reverses
    turned.isReversed.toggle()
    var result = [turned]
    for (index, range) in reverses.enumerated() {
      for (low, high) in [(-Float.infinity, range.low.nextDown), (range.high.nextUp, .infinity)]
      where low <= high {
        var other = settings
        other.conditions += reverses[..<index]
        other.conditions.append(ControlRange(control: range.control, low: low, high: high))
        result.append(other)
      }
    }
    return result
  }
}

/// Crossfade ranges of a region by a controller; `low == high` is no fade.
struct ControlFade: Hashable {
  var inLow = 0
  var inHigh = 0
  var outLow = 127
  var outHigh = 127

  /// 128 gains.
  func gains(isPower: Bool) -> [Float] {
    (0..<128).map { value in
      func rise(_ distance: Int, _ length: Int) -> Double {
        if distance < 0 { return 0 }
        if distance >= length { return 1 }
        let t = Double(distance) / Double(length)
        return isPower ? t.squareRoot() : t
      }
      return Float(rise(value - inLow, inHigh - inLow) * rise(outHigh - value, outHigh - outLow))
    }
  }
}
