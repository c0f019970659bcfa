import Glibc
import Realtime

/// Modulation sources, which also serve in conditions: a controller 0...511 by number (MIDI's below 128,
/// ARIA's extended ones above: sfzformat.info, "Extended MIDI CCs"), or one of these.
enum Source {
  static var controllers: Int { @_noLocks get { 512 } }
  static var bend: UInt16 { @_noLocks get { 128 } }
  static var pressure: UInt16 { @_noLocks get { 129 } }
  static var keyPressure: UInt16 { @_noLocks get { 130 } }
  static var velocity: UInt16 { @_noLocks get { 131 } }
  static var releaseVelocity: UInt16 { @_noLocks get { 132 } }
  static var key: UInt16 { @_noLocks get { 133 } }
  /// On while any key is down.
  static var gate: UInt16 { @_noLocks get { 134 } }
  /// Uniform in 0...127, the same for all regions of a note.
  static var random: UInt16 { @_noLocks get { 135 } }
  static var randomBipolar: UInt16 { @_noLocks get { 136 } }
  /// 127 and 0 alternating from note to note.
  static var alternate: UInt16 { @_noLocks get { 137 } }
  /// The velocity again, at ARIA's second number.
  static var velocityAgain: UInt16 { @_noLocks get { 138 } }
  /// Signed distance from the previous note in keys, and its magnitude. From here on values are absolute, not
  /// fractions of 127.
  static var keyDelta: UInt16 { @_noLocks get { 140 } }
  static var keyDistance: UInt16 { @_noLocks get { 141 } }
  /// Tempo in beats per minute. There is no host transport here; players of the format without one assume
  /// 120.
  static var tempo: UInt16 { @_noLocks get { 142 } }
  static var rate: UInt16 { @_noLocks get { 144 } }
  /// Seconds of the engine; beats per bar and the note value of a beat; beats since the engine began, and
  /// within the bar; seconds since the instrument was loaded, since the last note on, and since the last note
  /// off.
  static var time: UInt16 { @_noLocks get { 145 } }
  static var barBeats: UInt16 { @_noLocks get { 146 } }
  static var beatNote: UInt16 { @_noLocks get { 147 } }
  static var beats: UInt16 { @_noLocks get { 148 } }
  static var beatsOfBar: UInt16 { @_noLocks get { 149 } }
  static var instrumentTime: UInt16 { @_noLocks get { 150 } }
  static var sinceNoteOn: UInt16 { @_noLocks get { 151 } }
  static var sinceNoteOff: UInt16 { @_noLocks get { 152 } }
  /// Pitch bend range in semitones, registered parameter 0.
  static var bendRange: UInt16 { @_noLocks get { 512 } }
  /// MIDI channel 1...16, and program number: for conditions only.
  static var channel: UInt16 { @_noLocks get { 513 } }
  static var program: UInt16 { @_noLocks get { 514 } }
  /// Uniform in 0...127 for each voice.
  static var voiceRandom: UInt16 { @_noLocks get { 515 } }
  /// The first of `Most.links`: sums of the modulations of `Slot.link`.
  static var link: UInt16 { @_noLocks get { 520 } }
  /// Always at its full value.
  static var one: UInt16 { @_noLocks get { .max } }

  /// True for absolute values, not fractions of 127.
  @_noLocks static func isPlain(_ source: UInt16) -> Bool { source >= keyDelta && source <= sinceNoteOff }

  /// Its bit among 256, if it may move while a voice sounds (otherwise -1).
  @_noLocks static func bit(_ source: UInt16) -> Int {
    if source < 192 { return Int(source) }
    return source >= 512 && source < 576 ? Int(source) &- 320 : -1
  }
}

/// Indices of a voice's modulatable values. Those below `noteOn` are followed while the voice sounds; the
/// others are evaluated once at its start.
enum Slot {
  /// Decibels; factor; percent; percent; percent; cents.
  static var volume: Int { @_noLocks get { 0 } }
  static var amplitude: Int { @_noLocks get { 1 } }
  static var pan: Int { @_noLocks get { 2 } }
  static var width: Int { @_noLocks get { 3 } }
  static var position: Int { @_noLocks get { 4 } }
  static var pitch: Int { @_noLocks get { 5 } }
  /// Cutoff (cents above 8.176 Hz) and resonance (decibels) of two filters, alternating.
  static var cutoff: Int { @_noLocks get { 6 } }
  static var resonance: Int { @_noLocks get { 7 } }
  /// Gain (decibels), frequency (cents above 8.176 Hz) and width (octaves) of the equalizer's three bands.
  static var bandGain: Int { @_noLocks get { 10 } }
  static var bandFrequency: Int { @_noLocks get { 13 } }
  static var bandWidth: Int { @_noLocks get { 16 } }
  /// Octaves, of a filter that is an equalizer band.
  static var filterWidth: Int { @_noLocks get { 19 } }
  /// Percent of the voice sent to reverb and to chorus.
  static var reverb: Int { @_noLocks get { 20 } }
  static var chorus: Int { @_noLocks get { 21 } }
  /// Values of `VoiceStage`, for SFZ regions: percent, percent; decibels, percent, percent; percent, percent;
  /// cents, percent. Banks use these slots for links.
  static var decimation: Int { @_noLocks get { 22 } }
  static var bitReduction: Int { @_noLocks get { 23 } }
  static var noiseLevel: Int { @_noLocks get { 24 } }
  static var noiseStep: Int { @_noLocks get { 25 } }
  static var noiseTone: Int { @_noLocks get { 26 } }
  static var drive: Int { @_noLocks get { 27 } }
  static var driveShape: Int { @_noLocks get { 28 } }
  static var oscillatorDetune: Int { @_noLocks get { 29 } }
  static var oscillatorDepth: Int { @_noLocks get { 30 } }
  /// Centre frequency of the pink filter in cents, which nothing modulates.
  static var pink: Int { @_noLocks get { 31 } }
  /// Sources that other modulations feed, 0...127 each; these others come first.
  static var link: Int { @_noLocks get { 22 } }
  /// Depth of each route, in the unit of its target.
  static var depth: Int { @_noLocks get { 32 } }
  /// Frequency of each LFO in Hz (in a bank: cents above 8.176 Hz), and a factor of its effect. Routes may
  /// target both, like the slots below `depth`.
  static var frequency: Int { @_noLocks get { 48 } }
  static var swing: Int { @_noLocks get { 56 } }

  static var noteOn: Int { @_noLocks get { 64 } }
  /// Eight stages of each envelope (numbered as `Envelope.Stage`); the first envelope is the amplifier's.
  static var stage: Int { @_noLocks get { 64 } }
  /// True for stages and points of envelopes.
  static func isTime(_ slot: Int) -> Bool { slot >= stage && slot < lfoDelay || slot >= pointTime }
  /// Seconds (in a bank: timecents) of each LFO.
  static var lfoDelay: Int { @_noLocks get { 88 } }
  static var lfoFade: Int { @_noLocks get { 96 } }
  /// Frames; seconds.
  static var offset: Int { @_noLocks get { 104 } }
  static var delay: Int { @_noLocks get { 105 } }
  /// Frames of the engine.
  static var delayFrames: Int { @_noLocks get { 106 } }
  /// Weight of the velocity curve, -1...1.
  static var velocityTracking: Int { @_noLocks get { 107 } }
  /// Beats.
  static var delayBeats: Int { @_noLocks get { 108 } }
  static var stopBeats: Int { @_noLocks get { 109 } }
  /// Start phase of each LFO, in cycles.
  static var lfoPhase: Int { @_noLocks get { 112 } }
  /// Seconds and levels of the points of a flexible envelope, sixteen each.
  static var pointTime: Int { @_noLocks get { 128 } }
  static var pointLevel: Int { @_noLocks get { 192 } }
}

/// Maximum numbers per voice.
enum Most {
  static var lfos: Int { @_noLocks get { 8 } }
  /// Besides the amplifier's.
  static var envelopes: Int { @_noLocks get { 2 } }
  static var flexible: Int { @_noLocks get { 4 } }
  static var points: Int { @_noLocks get { 16 } }
  static var routes: Int { @_noLocks get { 16 } }
  static var units: Int { @_noLocks get { 6 } }
  static var links: Int { @_noLocks get { 10 } }
}

/// Adds `amount` times the curves of two sources to a slot, or multiplies the slot by that.
struct Modulation {
  var source: UInt16
  var by: UInt16
  var slot: UInt8
  /// The magnitude of the product counts (SoundFont's absolute transform).
  var isAbsolute: Bool
  var isProduct: Bool
  var amount: Float
  /// Offsets of the curves among the image's.
  var curve: Int32
  var byCurve: Int32
  /// The result is quantised to a multiple of this, towards 0 (0: not quantised).
  var step: Float
}

/// A connection from an LFO or an envelope to a slot: its value -1...1 (or 0...1) times the depth is added.
struct Route {
  /// 0..<8 an LFO, 8..<10 an envelope, 10..<14 a flexible envelope.
  var generator: UInt8
  var slot: UInt8

  static var envelope: UInt8 { @_noLocks get { 8 } }
  static var flexible: UInt8 { @_noLocks get { 10 } }
}

/// A curve of 128 points with linear interpolation. Audio thread.
@_noLocks func curveValue(_ curve: UnsafePointer<Float>, _ position: Float) -> Float {
  let limited = position > 0 ? (position < 127 ? position : 127) : 0
  let index = Int(limited)
  let fraction = limited - Float(index)
  let value = curve[index]
  return fraction == 0 ? value : value + fraction * (curve[index &+ 1] - value)
}

/// Like `curveValue`, for an absolute value: the curve's ends are extrapolated linearly per 0...1.
@_noLocks func plainCurveValue(_ curve: UnsafePointer<Float>, _ value: Float) -> Float {
  curve[0] + value * (curve[127] - curve[0])
}

/// Curve of a source, before it is tabulated.
enum Curve: Hashable, Sendable {
  /// 0...1; 1...0; -1...1 with 64 in the middle.
  case linear, falling, bipolar
  /// The square of `linear`.
  case square
  /// A SoundFont source's type (0 linear, 1 concave, 2 convex, 3 switch), direction and polarity.
  case bank(type: UInt8, isNegative: Bool, isBipolar: Bool)
  case custom([Float])

  /// 128 values.
  var values: [Float] {
    switch self {
    case .linear: (0..<128).map { Float($0) / 127 }
    case .falling: (0..<128).map { 1 - Float($0) / 127 }
    case .bipolar: (0..<128).map { Float($0 - 64) / ($0 < 64 ? 64 : 63) }
    case .bank(let type, let isNegative, let isBipolar):
      (0..<128).map { Self.bankValue(isNegative ? 127 - $0 : $0, type, isNegative, isBipolar) }
    case .square: (0..<128).map { Float($0 * $0) / (127 * 127) }
    case .custom(let values): values
    }
  }

  /// "SoundFont Technical Specification" 2.04, chapter 9.5.3; curves in decibels over 96 dB.
  private static func bankValue(
    _ place: Int, _ type: UInt8, _ isNegative: Bool, _ isBipolar: Bool
  ) -> Float {
    if isBipolar {
      // 64 is the middle in both directions.
      let middle = isNegative ? 63 : 64
      let distance = place - middle
      let t = Float(abs(distance)) / Float(distance < 0 ? middle : 127 - middle)
      if type == 3 { return distance >= 0 ? 1 : -1 }
      return (distance < 0 ? -1 : 1) * shaped(t, type)
    }
    // A controller's 128 values are 0...127/128, or in the negative direction 1...1/128.
    let t = isNegative ? Float(place + 1) / 128 : Float(place) / 128
    return type == 3 ? (place >= (isNegative ? 63 : 64) ? 1 : 0) : shaped(t, type)
  }

  private static func shaped(_ t: Float, _ type: UInt8) -> Float {
    switch type {
    case 1: t >= 1 ? 1 : min(1, -400 / 960 * log10f(1 - t))
    case 2: t <= 0 ? 0 : max(0, 1 + 400 / 960 * log10f(t))
    default: t
    }
  }
}
