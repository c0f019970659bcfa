import Realtime

/// Modulation sources, which also serve in conditions: a controller 0...511 by number (MIDI's below 128,
/// extended ones above: sfzformat.info, "Extended MIDI CCs"), or one of these.
package enum Source {
  package static var controllers: Int { @_noLocks get { 512 } }
  package static var bend: UInt16 { @_noLocks get { 128 } }
  package static var pressure: UInt16 { @_noLocks get { 129 } }
  package static var keyPressure: UInt16 { @_noLocks get { 130 } }
  package static var velocity: UInt16 { @_noLocks get { 131 } }
  package static var releaseVelocity: UInt16 { @_noLocks get { 132 } }
  package static var key: UInt16 { @_noLocks get { 133 } }
  /// On while any key is down.
  package static var gate: UInt16 { @_noLocks get { 134 } }
  /// Uniform in 0...127, the same for all regions of a note.
  package static var random: UInt16 { @_noLocks get { 135 } }
  package static var randomBipolar: UInt16 { @_noLocks get { 136 } }
  /// 127 and 0 alternating from note to note.
  package static var alternate: UInt16 { @_noLocks get { 137 } }
  /// The velocity again, at its second number.
  package static var velocityAgain: UInt16 { @_noLocks get { 138 } }
  /// Signed distance from the previous note in keys, and its magnitude. From here on values are absolute, not
  /// fractions of 127.
  package static var keyDelta: UInt16 { @_noLocks get { 140 } }
  package static var keyDistance: UInt16 { @_noLocks get { 141 } }
  /// Tempo in beats per minute. There is no host transport here; players of the format without one assume
  /// 120.
  package static var tempo: UInt16 { @_noLocks get { 142 } }
  package static var rate: UInt16 { @_noLocks get { 144 } }
  /// Seconds of the engine; beats per bar and the note value of a beat; beats since the engine began, and
  /// within the bar; seconds since the instrument was loaded, since the last note on, and since the last note
  /// off.
  package static var time: UInt16 { @_noLocks get { 145 } }
  package static var barBeats: UInt16 { @_noLocks get { 146 } }
  package static var beatNote: UInt16 { @_noLocks get { 147 } }
  package static var beats: UInt16 { @_noLocks get { 148 } }
  package static var beatsOfBar: UInt16 { @_noLocks get { 149 } }
  package static var instrumentTime: UInt16 { @_noLocks get { 150 } }
  package static var sinceNoteOn: UInt16 { @_noLocks get { 151 } }
  package static var sinceNoteOff: UInt16 { @_noLocks get { 152 } }
  /// Pitch bend range in semitones, registered parameter 0.
  package static var bendRange: UInt16 { @_noLocks get { 512 } }
  /// MIDI channel 1...16, and program number: for conditions only.
  package static var channel: UInt16 { @_noLocks get { 513 } }
  package static var program: UInt16 { @_noLocks get { 514 } }
  /// Uniform in 0...127 for each voice.
  package static var voiceRandom: UInt16 { @_noLocks get { 515 } }
  /// The first of `Most.links`: sums of the modulations of `Slot.link`.
  package static var link: UInt16 { @_noLocks get { 520 } }
  /// Always at its full value.
  package static var one: UInt16 { @_noLocks get { .max } }

  /// True for absolute values, not fractions of 127.
  @_noLocks package static func isPlain(_ source: UInt16) -> Bool {
    source >= keyDelta && source <= sinceNoteOff
  }

  /// Its bit among 256, if it may move while a voice sounds (otherwise -1).
  @_noLocks package static func bit(_ source: UInt16) -> Int {
    if source < 192 { return Int(source) }
    return source >= 512 && source < 576 ? Int(source) &- 320 : -1
  }
}

/// Indices of a voice's modulatable values. Those below `noteOn` are followed while the voice sounds; the
/// others are evaluated once at its start.
package enum Slot {
  /// Decibels; factor; percent; percent; percent; cents.
  package static var volume: Int { @_noLocks get { 0 } }
  package static var amplitude: Int { @_noLocks get { 1 } }
  package static var pan: Int { @_noLocks get { 2 } }
  package static var width: Int { @_noLocks get { 3 } }
  package static var position: Int { @_noLocks get { 4 } }
  package static var pitch: Int { @_noLocks get { 5 } }
  /// Cutoff (cents above 8.176 Hz) and resonance (decibels) of two filters, alternating.
  package static var cutoff: Int { @_noLocks get { 6 } }
  package static var resonance: Int { @_noLocks get { 7 } }
  /// Gain (decibels), frequency (cents above 8.176 Hz) and width (octaves) of the equalizer's three bands.
  package static var bandGain: Int { @_noLocks get { 10 } }
  package static var bandFrequency: Int { @_noLocks get { 13 } }
  package static var bandWidth: Int { @_noLocks get { 16 } }
  /// Octaves, of a filter that is an equalizer band.
  package static var filterWidth: Int { @_noLocks get { 19 } }
  /// Percent of the voice sent to reverb and to chorus.
  package static var reverb: Int { @_noLocks get { 20 } }
  package static var chorus: Int { @_noLocks get { 21 } }
  /// Values of `VoiceStage`: percent, percent; decibels, percent, percent; percent, percent; cents, percent.
  /// Logarithmic regions have links here instead.
  package static var decimation: Int { @_noLocks get { 22 } }
  package static var bitReduction: Int { @_noLocks get { 23 } }
  package static var noiseLevel: Int { @_noLocks get { 24 } }
  package static var noiseStep: Int { @_noLocks get { 25 } }
  package static var noiseTone: Int { @_noLocks get { 26 } }
  package static var drive: Int { @_noLocks get { 27 } }
  package static var driveShape: Int { @_noLocks get { 28 } }
  package static var oscillatorDetune: Int { @_noLocks get { 29 } }
  package static var oscillatorDepth: Int { @_noLocks get { 30 } }
  /// Centre frequency of the pink filter in cents, which nothing modulates.
  package static var pink: Int { @_noLocks get { 31 } }
  /// Sources that other modulations feed, 0...127 each; these others come first.
  package static var link: Int { @_noLocks get { 22 } }
  /// Depth of each route, in the unit of its target.
  package static var depth: Int { @_noLocks get { 32 } }
  /// Frequency of each LFO in Hz (if logarithmic: cents above 8.176 Hz), and a factor of its effect. Routes may
  /// target both, like the slots below `depth`.
  package static var frequency: Int { @_noLocks get { 48 } }
  package static var swing: Int { @_noLocks get { 56 } }

  package static var noteOn: Int { @_noLocks get { 64 } }
  /// Eight stages of each envelope (numbered as `Envelope.Stage`); the first envelope is the amplifier's.
  package static var stage: Int { @_noLocks get { 64 } }
  /// True for stages and points of envelopes.
  package static func isTime(_ slot: Int) -> Bool { slot >= stage && slot < lfoDelay || slot >= pointTime }
  /// Seconds (if logarithmic: timecents) of each LFO.
  package static var lfoDelay: Int { @_noLocks get { 88 } }
  package static var lfoFade: Int { @_noLocks get { 96 } }
  /// Frames; seconds.
  package static var offset: Int { @_noLocks get { 104 } }
  package static var delay: Int { @_noLocks get { 105 } }
  /// Frames of the engine.
  package static var delayFrames: Int { @_noLocks get { 106 } }
  /// Weight of the velocity curve, -1...1.
  package static var velocityTracking: Int { @_noLocks get { 107 } }
  /// Beats.
  package static var delayBeats: Int { @_noLocks get { 108 } }
  package static var stopBeats: Int { @_noLocks get { 109 } }
  /// Start phase of each LFO, in cycles.
  package static var lfoPhase: Int { @_noLocks get { 112 } }
  /// Seconds and levels of the points of a flexible envelope, sixteen each.
  package static var pointTime: Int { @_noLocks get { 128 } }
  package static var pointLevel: Int { @_noLocks get { 192 } }
}

/// Maximum numbers per voice.
package enum Most {
  package static var lfos: Int { @_noLocks get { 8 } }
  /// Besides the amplifier's.
  package static var envelopes: Int { @_noLocks get { 2 } }
  package static var flexible: Int { @_noLocks get { 4 } }
  package static var points: Int { @_noLocks get { 16 } }
  package static var routes: Int { @_noLocks get { 16 } }
  package static var units: Int { @_noLocks get { 6 } }
  package static var links: Int { @_noLocks get { 10 } }
}

/// Adds `amount` times the curves of two sources to a slot, or multiplies the slot by that.
package struct Modulation: BitwiseCopyable {
  package var source: UInt16
  package var by: UInt16
  package var slot: UInt8
  /// The magnitude of the product counts.
  package var isAbsolute: Bool
  package var isProduct: Bool
  package var amount: Float
  /// Offsets of the curves among the image's.
  package var curve: Int32
  package var byCurve: Int32
  /// The result is quantised to a multiple of this, towards 0 (0: not quantised).
  package var step: Float

  package init(
    source: UInt16, by: UInt16, slot: UInt8, isAbsolute: Bool, isProduct: Bool, amount: Float, curve: Int32,
    byCurve: Int32, step: Float
  ) {
    (self.source, self.by, self.slot) = (source, by, slot)
    (self.isAbsolute, self.isProduct) = (isAbsolute, isProduct)
    (self.amount, self.step) = (amount, step)
    (self.curve, self.byCurve) = (curve, byCurve)
  }
}

/// A connection from an LFO or an envelope to a slot: its value -1...1 (or 0...1) times the depth is added.
package struct Route: BitwiseCopyable {
  /// 0..<8 an LFO, 8..<10 an envelope, 10..<14 a flexible envelope.
  package var generator: UInt8
  package var slot: UInt8

  package init(generator: UInt8, slot: UInt8) { (self.generator, self.slot) = (generator, slot) }

  package static var envelope: UInt8 { @_noLocks get { 8 } }
  package static var flexible: UInt8 { @_noLocks get { 10 } }
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
