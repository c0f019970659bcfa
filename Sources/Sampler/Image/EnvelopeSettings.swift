/// Parameters of an envelope in an instrument.
package struct EnvelopeSettings: BitwiseCopyable {
  /// Seconds (if logarithmic: timecents).
  package var delay: Float = 0
  package var attack: Float = 0
  package var hold: Float = 0
  package var decay: Float = 0
  /// 0...1 (if logarithmic: centibels, or tenths of a percent below full when `isLinear`).
  package var sustain: Float = 1
  package var release: Float = 0.001
  /// Start level of the attack, 0...1.
  package var start: Float = 0
  /// Decay and release are linear in amplitude, not in decibels.
  package var isLinear = false
  /// Times and levels are logarithmic.
  package var isLogarithmic = false
  /// Curvature of these stages: 0 is straight, positive is slow at first (NaN: the default in `Envelope`).
  package var attackShape = Float.nan
  package var decayShape = Float.nan
  package var releaseShape = Float.nan
  /// The decay time is from full to zero, not to the sustain level; `releasesFromFull`: the release time is
  /// from full.
  package var decaysToZero = true
  package var releasesFromFull = false
  /// Controllers change the current stage too, not only later ones.
  package var isDynamic = false

  package init() {}
}
