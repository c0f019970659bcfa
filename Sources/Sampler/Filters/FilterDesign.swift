import Realtime

/// The coefficients of a state variable filter that do not depend on its frequency. All kinds are mixtures of
/// its three outputs. A one-pole filter is realised by two equal poles, one of them cancelled by a zero.
struct FilterMix {
  /// Weight of the input, and half the weights of band-pass and low-pass.
  var input: Float = 0
  var band: Float = 0
  var low: Float = 0
  /// 1/Q.
  var damping: Float
  /// Factor of the frequency's tangent.
  var stretch: Float = 1

  /// `index`: lane of the powers. Audio thread.
  @_noLocks init(_ kind: FilterKind, _ powers: FilterPowers, _ index: Int) {
    self.init(
      kind, damping: powers.damping[index], root: powers.root[index], width: powers.width[index])
  }

  @_noLocks init(_ kind: FilterKind, damping k: Float, root a: Float, width: Float) {
    damping = k
    switch kind {
    case .lowpass: low = 1
    case .highpass:
      input = 1
      band = -k
      low = -1
    case .bandpass: band = k
    case .notch:
      input = 1
      band = -k
    case .levelledLowpass:
      damping = k * 1.414_213_6
      low = 1 / a
    case .lowpassStage:
      damping = 1.414_213_6
      low = 1
    case .highpassStage:
      damping = 1.414_213_6
      input = 1
      band = -1.414_213_6
      low = -1
    case .lowpass1:
      damping = 2
      band = 1
      low = 1
    case .highpass1:
      damping = 2
      input = 1
      band = -1
      low = -1
    case .allpass1:
      damping = 2
      input = -1
      band = 2
      low = 2
    case .bandpass1:
      damping = 2
      band = 2
    case .notch1:
      damping = 2
      input = 1
      band = -2
    case .pinkLow: self.makePink(below: true)
    case .pinkMiddle: self.makePink()
    case .pinkHigh: self.makePink(above: true)
    case .peak:
      // 1/Q of a bandwidth in octaves (R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad
      // filter coefficients").
      damping = (width - 1 / width) / a
      input = 1
      band = damping * (a * a - 1)
    case .lowShelf:
      damping = 1.414_213_6
      stretch = 1 / squareRoot(a)
      input = 1
      band = damping * (a - 1)
      low = a * a - 1
    case .highShelf:
      damping = 1.414_213_6
      stretch = squareRoot(a)
      input = a * a
      band = damping * (1 - a) * a
      low = 1 - a * a
    }
    band *= 0.5
    low *= 0.5
  }

  /// Two poles and two zeros alternate, each a factor of the fourth root of ten above the one before. Over
  /// the units' decades the level falls by half of 6 dB per octave. 0 dB below them all, so that nothing is
  /// amplified.
  @_noLocks private mutating func makePink(below: Bool = false, above: Bool = false) {
    // Poles at 1/root and root times the unit's centre frequency, zeros at 1 and root squared.
    let root: Float = 1.778_279_4
    damping = root + 1 / root
    stretch = below ? 0.1 : (above ? 10 : 1)
    input = 1 / (root * root)
    band = 1 + input - damping * input
    low = 1 - input
  }
}

/// Update of the two states of a state variable filter (A. Simper, "Linear Trapezoidal Integrated SVF",
/// Cytomic 2013; with a1, a2 and a3 doubled, so that a state is three operations from the one before). The
/// states stay valid through any change of coefficients:
///
/// ```
/// v = input - second
/// first' = keep first + feed v
/// second' = second + feed first + lift v
/// ```
///
/// The band-pass is half of first + first', the low-pass half of second + second'.
struct FilterPoles {
  var keep: Float
  var feed: Float
  var lift: Float

  /// `tangent`: of half the frequency's angle. Audio thread.
  @_noLocks @inline(__always) init(tangent: Float, damping: Float, stretch: Float) {
    let g = tangent * stretch
    let twice = 2 / (1 + g * (g + damping))
    keep = twice - 1
    feed = g * twice
    lift = g * feed
  }
}

/// The expensive intermediate results of filter design, for sixteen filters at once.
struct FilterPowers {
  /// 1/Q of the level; square root of the level as a gain; square root of the ratio of a band's edges.
  var damping: SIMD16<Float>
  var root: SIMD16<Float>
  var width: SIMD16<Float>

  /// `level` in decibels. Audio thread.
  @_noLocks init(level: SIMD16<Float>, octaves: SIMD16<Float>) {
    // log2(10) / 20
    let height = Self.limited(level, -96, 96) * 0.166_096_404
    damping = exponential2(-height)
    root = exponential2(height * 0.5)
    width = exponential2(Self.limited(octaves, 0.001, 4) * 0.5)
  }

  /// Tangent of half the angle of a frequency in `cents` above 8.176 Hz. Audio thread.
  @_noLocks static func tangent(cents: SIMD16<Float>, rate: Float) -> SIMD16<Float> {
    let pitch = limited(cents, 0, 20000) * (1 / 1200)
    let turns = limited(exponential2(pitch) * (8.175_799 / rate), 0.0001, 0.49)
    // tan(x) on 0..<pi/2 by its continued fraction: to 1e-3 at 0.49 pi, far better below.
    let x = turns * Float.pi
    let square = x * x
    return x * (945 - square * (105 - square)) / (945 - square * (420 - square * 15))
  }

  /// NaN becomes `low`.
  @_noLocks @inline(__always) private static func limited(
    _ x: SIMD16<Float>, _ low: Float, _ high: Float
  ) -> SIMD16<Float> {
    let raised = SIMD16(repeating: low).replacing(with: x, where: x .> low)
    return raised.replacing(with: high, where: raised .> high)
  }
}
