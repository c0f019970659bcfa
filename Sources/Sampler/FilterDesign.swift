import Realtime

/// What a filter unit does. The numbers of stages are those of SFZ's `fil_type`.
enum FilterKind: UInt8, Hashable, Sendable {
  case lowpass1, highpass1, lowpass, highpass, bandpass, notch, peak, lowShelf, highShelf
  /// A bank's: its resonance counts from -3 dB, and half the peak's height is taken off the level.
  case bankLowpass
  /// A further stage behind one of two poles, without resonance of its own.
  case lowpassStage, highpassStage
  case allpass1

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

  /// From six rows of sixteen lanes. Audio thread.
  @_noLocks @inline(__always) init(_ row: UnsafePointer<Float>) {
    a1 = row[0]
    a2 = row[16]
    a3 = row[32]
    m0 = row[48]
    m1 = row[64]
    m2 = row[80]
  }

  /// What a frame adds that is such a `share` of the way. Audio thread.
  @_noLocks @inline(__always) func change(to next: Self, _ share: Float) -> Self {
    var change = Self()
    change.a1 = (next.a1 - a1) * share
    change.a2 = (next.a2 - a2) * share
    change.a3 = (next.a3 - a3) * share
    change.m0 = (next.m0 - m0) * share
    change.m1 = (next.m1 - m1) * share
    change.m2 = (next.m2 - m2) * share
    return change
  }

  /// `index` is the lane of the powers that are meant. Audio thread.
  @_noLocks init(_ kind: FilterKind, _ powers: FilterPowers, _ index: Int) {
    self.init(
      kind, g: powers.g[index], k: powers.damping[index], root: powers.root[index],
      width: powers.width[index])
  }

  @_noLocks init(_ kind: FilterKind, g: Float, k: Float, root: Float, width: Float) {
    var g = g
    var k = k
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
      k *= 1.414_213_6
      m2 = 1 / root
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
    case .allpass1:
      k = 2
      m0 = -1
      m1 = 2
      m2 = 2
    case .peak:
      let a = root
      // 1/Q of a bandwidth in octaves (R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad
      // filter coefficients").
      k = (width - 1 / width) / a
      m0 = 1
      m1 = k * (a * a - 1)
    case .lowShelf:
      let a = root
      g = g / squareRoot(a)
      k = 1.414_213_6
      m0 = 1
      m1 = k * (a - 1)
      m2 = a * a - 1
    case .highShelf:
      let a = root
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
}

/// What a filter's coefficients are made of that costs most to find, for sixteen filters at once.
struct FilterPowers {
  /// The tangent of half the frequency's angle; 1/Q of the level; the root of the level as a gain; the
  /// root of the ratio of a band's ends.
  var g: SIMD16<Float>
  var damping: SIMD16<Float>
  var root: SIMD16<Float>
  var width: SIMD16<Float>

  /// `cents` above 8.176 Hz, `level` in decibels. Audio thread.
  @_noLocks init(
    cents: SIMD16<Float>, level: SIMD16<Float>, octaves: SIMD16<Float>, rate: SIMD16<Float>
  ) {
    let pitch = Self.limited(cents, 0, 20000) * (1 / 1200)
    let turns = Self.limited(8.175_799 * exponential2(pitch) / rate, 0.0001, 0.49)
    // The tangent of 0..<pi/2 by its continued fraction: to 1e-3 at 0.49 of pi, far better below.
    let x = turns * Float.pi
    let square = x * x
    g = x * (945 - square * (105 - square)) / (945 - square * (420 - square * 15))
    // log2(10) / 20
    let height = Self.limited(level, -96, 96) * 0.166_096_404
    damping = exponential2(-height)
    root = exponential2(height * 0.5)
    width = exponential2(Self.limited(octaves, 0.001, 4) * 0.5)
  }

  @_noLocks @inline(__always) private static func limited(
    _ x: SIMD16<Float>, _ low: Float, _ high: Float
  ) -> SIMD16<Float> {
    let least = x.replacing(with: low, where: .!(x .> SIMD16(repeating: low)))
    return least.replacing(with: high, where: least .> SIMD16(repeating: high))
  }
}
