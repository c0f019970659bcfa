/// A unit of a region's filter chain, with the slots of its frequency and of its resonance, gain or width.
package struct FilterUnit: Hashable, BitwiseCopyable {
  package var kind: FilterKind
  package var frequency: UInt8
  /// Decibels: resonance, or gain of a band.
  package var level: UInt8
  /// Octaves, of a band.
  package var width: UInt8 = 0

  package init(kind: FilterKind, frequency: UInt8, level: UInt8, width: UInt8 = 0) {
    (self.kind, self.frequency, self.level, self.width) = (kind, frequency, level, width)
  }
}

/// Type of a filter unit. The number after a name is the number of poles.
package enum FilterKind: UInt8, Hashable, Sendable, BitwiseCopyable {
  case lowpass1, highpass1, lowpass, highpass, bandpass, notch, peak, lowShelf, highShelf
  /// A low-pass of steadier level: resonance counts from -3 dB, and half the peak's height is subtracted from
  /// the level.
  case levelledLowpass
  /// A further two-pole stage without resonance of its own.
  case lowpassStage, highpassStage
  case allpass1, bandpass1, notch1
  /// 3 dB per octave: each unit has two of the steps that make up the slope.
  case pinkLow, pinkMiddle, pinkHigh

  @_noLocks package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}
