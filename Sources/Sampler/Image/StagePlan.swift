/// Stages of a region's voices before their filters: oscillators in place of the sample, noise, bit and rate
/// reduction, and drive. Their modulatable values are slots.
package struct StagePlan: Hashable, BitwiseCopyable {
  /// False: no stage, at no cost.
  package var isUsed = false
  /// 2...9 oscillators that read the sample as one cycle of a wave (0: it is played as a sample).
  package var oscillators: UInt8 = 0
  package var mode = OscillatorMode.sum
  /// Cycles; negative: random.
  package var phase: Float = 0
  package var hasNoise = false
  /// Each side has noise of its own.
  package var isNoiseStereo = false
  package var noiseFilter = NoiseFilter.none

  package init() {}
}

/// Combination of several oscillators.
package enum OscillatorMode: UInt8, BitwiseCopyable {
  /// Their sum, spread over both sides.
  case sum
  /// The second one multiplies the first, or modulates its phase, or its frequency.
  case ring, phase, frequency

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

package enum NoiseFilter: UInt8, BitwiseCopyable {
  case none, lowpass1, highpass1, lowpass, highpass, bandpass

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}
