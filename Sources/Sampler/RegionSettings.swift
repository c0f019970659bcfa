import Glibc

/// How loud each velocity is: by default the square of velocity/127 (40 dB over the range), or by points
/// between which it runs straight; `tracking` (-1...1) is how much of that counts.
struct VelocityCurve: Hashable {
  var tracking: Double = 1
  /// Gains by velocity; 0 at 0 and 1 at 127 unless stated.
  var points: [Int: Double] = [:]

  /// 128 gains.
  var gains: [Float] {
    (0..<128).map { velocity in
      let curve = points.isEmpty ? Double(velocity * velocity) / (127 * 127) : interpolated(velocity)
      return Float(tracking >= 0 ? 1 - tracking + tracking * curve : 1 + tracking * curve)
    }
  }

  private func interpolated(_ velocity: Int) -> Double {
    var stated = points
    if stated[0] == nil { stated[0] = 0 }
    if stated[127] == nil { stated[127] = 1 }
    let below = stated.keys.filter { $0 <= velocity }.max()!
    let above = stated.keys.filter { $0 >= velocity }.min()!
    guard above > below else { return stated[below]! }
    let t = Double(velocity - below) / Double(above - below)
    return stated[below]! * (1 - t) + stated[above]! * t
  }
}

/// Everything that can be said about a region, with SFZ's units and defaults.
struct RegionSettings {
  var sample: String?
  var sampleLine = SourceLine(file: "", line: 0)
  /// Where its header stands.
  var line = SourceLine(file: "", line: 0)
  var lowKey = 0
  var highKey = 127
  var lowVelocity = 1
  var highVelocity = 127
  /// nil: as the sample says.
  var keyCenter: Int? = 60
  /// Cents a key.
  var keyTrack: Double = 100
  /// Cents; semitones.
  var tune: Double = 0
  var transpose = 0
  var velocityTune: Double = 0
  var bendUp: Double = 200
  var bendDown: Double = -200
  /// Decibels of the region, and what the levels above it add.
  var volume: Double = 0
  var groupVolume: Double = 0
  var masterVolume: Double = 0
  var globalVolume: Double = 0
  /// Percent.
  var amplitude: Double = 100
  /// -100 left ... 100 right.
  var pan: Double = 0
  /// A plain file: centred at unity on both sides, as a cable spreads mono; else equal power.
  var isPlainFile = false
  var velocityCurve = VelocityCurve()
  var delay: Double = 0
  /// Frames.
  var offset = 0
  /// The last frame; nil: the sample's.
  var end: Int?
  var loopMode: LoopMode?
  var loopStart: Int?
  /// Inclusive.
  var loopEnd: Int?
  var envelope = EnvelopeSettings()
  var fades = CrossfadeRanges()
  var sequenceLength = 1
  var sequencePosition = 1
  var randomLow: Double = 0
  var randomHigh: Double = 1
  var group = 0
  var offBy = 0
  var offFast = true
  var offTime: Double = 0.006
  var trigger = Trigger.attack
  var releaseDecay: Double = 0
  var polyphony = 0
  var notePolyphony = 0
  var conditions: [ControlRange] = []
  var switchLast: Int?

  /// Gains of both sides. Mono samples are panned with equal power (-3 dB on both sides in the middle);
  /// of stereo samples one side is lowered and the other raised by the same law, 0 dB in the middle.
  func gains(isStereo: Bool) -> (left: Double, right: Double) {
    let gain = exp(log(10) * (volume + groupVolume + masterVolume + globalVolume) / 20) * amplitude / 100
    let angle = (max(-100, min(100, pan)) + 100) / 200 * Double.pi / 2
    if isPlainFile { return (gain, gain) }
    let law = isStereo ? 2.0.squareRoot() : 1
    return (gain * law * cos(angle), gain * law * sin(angle))
  }

  /// Changes the condition on a controller.
  mutating func condition(_ control: Int, _ change: (inout ControlRange) -> Void) {
    if let index = conditions.firstIndex(where: { Int($0.control) == control }) {
      change(&conditions[index])
    } else {
      var range = ControlRange(control: UInt8(control), low: 0, high: 127)
      change(&range)
      conditions.append(range)
    }
  }

  /// Sets right what lies outside the sample, and says so in words.
  mutating func clamp(to sample: AudioFile) -> [String] {
    var faults: [String] = []
    let frames = sample.frames
    if offset < 0 || offset >= frames {
      faults.append("offset \(offset) lies outside the sample's \(frames) frames; 0 is used")
      offset = 0
    }
    if let last = end, last >= frames {
      faults.append("end \(last) lies behind the sample's last frame \(frames - 1); that is used")
      end = nil
    }
    if loopMode == nil {
      loopMode = sample.loop != nil || (loopStart != nil && loopEnd != nil) ? .continuous : LoopMode.none
    }
    guard loopMode == .continuous || loopMode == .sustain else { return faults }
    if loopStart == nil { loopStart = sample.loop?.start ?? 0 }
    if loopEnd == nil { loopEnd = (sample.loop?.end ?? ((end ?? frames - 1) + 1)) - 1 }
    if loopEnd! >= frames {
      faults.append("loop_end \(loopEnd!) lies behind the sample's last frame \(frames - 1); that is used")
      loopEnd = frames - 1
    }
    if loopStart! < 0 || loopStart! > loopEnd! {
      faults.append("the loop \(loopStart!)...\(loopEnd!) is empty; the sample plays without it")
      loopMode = LoopMode.none
    } else if offset > loopEnd! {
      faults.append("offset \(offset) lies behind the loop; the sample plays without it")
      loopMode = LoopMode.none
    }
    return faults
  }

  /// The region as the audio thread plays it; `clamp(to:)` came before.
  func region(
    sample: AudioFile, velocityGains: UnsafePointer<Float>, firstCondition: Int, counter: Int
  ) -> Region {
    let isStereo = sample.channels > 1
    let gain = gains(isStereo: isStereo)
    let length = max(1, min(1000, sequenceLength))
    return Region(
      left: UnsafePointer(sample.channel(0)), right: UnsafePointer(sample.channel(isStereo ? 1 : 0)),
      isStereo: isStereo, start: offset, end: end.map { max(0, $0 + 1) } ?? sample.frames,
      loopStart: loopStart ?? 0, loopEnd: loopEnd.map { $0 + 1 } ?? sample.frames,
      loopMode: loopMode ?? .none, rate: sample.rate, keyCenter: Float(keyCenter ?? sample.key ?? 60),
      keyTrack: Float(keyTrack), tune: Float(tune + 100 * Double(transpose)),
      velocityTune: Float(velocityTune), bendUp: Float(bendUp), bendDown: Float(bendDown),
      delay: Float(delay), gainLeft: Float(gain.left), gainRight: Float(gain.right),
      velocityGains: velocityGains, envelope: envelope, fades: fades,
      sequenceLength: Int32(length), sequencePosition: Int32(clamping: sequencePosition - 1),
      sequenceCounter: Int32(counter), randomLow: Float(randomLow), randomHigh: Float(randomHigh),
      group: Int32(clamping: group), offBy: Int32(clamping: offBy), offFast: offFast,
      offTime: Float(offTime), trigger: trigger, releaseDecay: Float(releaseDecay),
      polyphony: Int32(clamping: polyphony), notePolyphony: Int32(clamping: notePolyphony),
      firstCondition: Int32(firstCondition), conditionCount: Int32(conditions.count),
      switchLast: Int32(switchLast ?? -1))
  }
}

/// Where something was said.
struct SourceLine: Hashable {
  var file: String
  /// 1-based.
  var line: Int
}
