import Realtime

/// What a filter unit does. The numbers of stages are those of SFZ's `fil_type`.
enum FilterKind: UInt8, Hashable, Sendable {
  case lowpass1, highpass1, lowpass, highpass, bandpass, notch, peak, lowShelf, highShelf
  /// A bank's: its resonance counts from -3 dB, and half the peak's height is taken off the level.
  case bankLowpass
  /// A further stage behind one of two poles, without resonance of its own.
  case lowpassStage, highpassStage

  @_noLocks static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

/// A unit of a region's chain and the slots that its frequency and its resonance, gain or width have.
struct FilterUnit: Hashable {
  var kind: FilterKind
  var frequency: UInt8
  /// Decibels: resonance, or gain of a band.
  var level: UInt8
  /// Octaves, of a band.
  var width: UInt8 = 0
}

/// The coefficients of a state variable filter (A. Simper, "Linear Trapezoidal Integrated SVF", Cytomic
/// 2013), which keeps its state through any change of them. All kinds are mixtures of its three outputs;
/// one of one pole is one of two equal poles with a zero on the one.
struct FilterCoefficients {
  var a1: Float = 0
  var a2: Float = 0
  var a3: Float = 0
  var m0: Float = 0
  var m1: Float = 0
  var m2: Float = 0

  @_noLocks init() {}

  /// `cents` above 8.176 Hz; `level` in decibels. Audio thread.
  @_noLocks init(_ kind: FilterKind, cents: Float, level: Float, octaves: Float, rate: Float) {
    var turns = 8.175_799 * exponential2((cents < 20000 ? cents : 20000) / 1200) / rate
    turns = turns > 0.0001 ? (turns < 0.49 ? turns : 0.49) : 0.0001
    let decibels = level > -96 ? (level < 96 ? level : 96) : -96
    var g = Self.tangent(Float.pi * turns)
    // log2(10) / 20
    let octavesPerDecibel: Float = 0.166_096_404
    var k = exponential2(-decibels * octavesPerDecibel)
    switch kind {
    case .lowpass: m2 = 1
    case .highpass:
      m0 = 1
      m1 = -k
      m2 = -1
    case .bandpass: m1 = k
    case .notch:
      m0 = 1
      m1 = -k
    case .bankLowpass:
      k = exponential2((3.0103 - decibels) * octavesPerDecibel)
      m2 = exponential2(-decibels * octavesPerDecibel / 2)
    case .lowpassStage:
      k = 1.414_213_6
      m2 = 1
    case .highpassStage:
      k = 1.414_213_6
      m0 = 1
      m1 = -k
      m2 = -1
    case .lowpass1:
      k = 2
      m1 = 1
      m2 = 1
    case .highpass1:
      k = 2
      m0 = 1
      m1 = -1
      m2 = -1
    case .peak:
      let a = exponential2(decibels * octavesPerDecibel / 2)
      k = Self.damping(octaves) / a
      m0 = 1
      m1 = k * (a * a - 1)
    case .lowShelf:
      let a = exponential2(decibels * octavesPerDecibel / 2)
      g = g / squareRoot(a)
      k = 1.414_213_6
      m0 = 1
      m1 = k * (a - 1)
      m2 = a * a - 1
    case .highShelf:
      let a = exponential2(decibels * octavesPerDecibel / 2)
      g = g * squareRoot(a)
      k = 1.414_213_6
      m0 = a * a
      m1 = k * (1 - a) * a
      m2 = 1 - a * a
    }
    a1 = 1 / (1 + g * (g + k))
    a2 = g * a1
    a3 = g * a2
  }

  /// The tangent of 0..<pi/2, by its continued fraction: to 1e-3 at 0.49 of a turn of pi, far better
  /// below. Audio thread.
  @_noLocks @inline(__always) private static func tangent(_ x: Float) -> Float {
    let square = x * x
    return x * (945 - square * (105 - square)) / (945 - square * (420 - 15 * square))
  }

  /// 1/Q of a bandwidth in octaves (R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad
  /// filter coefficients"). Audio thread.
  @_noLocks private static func damping(_ octaves: Float) -> Float {
    let width = octaves > 0.001 ? (octaves < 4 ? octaves : 4) : 0.001
    let x = exponential2(width / 2)
    return x - 1 / x
  }
}
