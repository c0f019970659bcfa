import CVector
import Realtime

/// Attenuation of a round through each of a reverb's sixteen lines, so that all of them decay in the same time.
///
/// Decay times of three bands: at 0 Hz, at 1 kHz and at half the rate. In a line of n frames they are gains of -60 dB n over
/// the decay's frames (J.-M. Jot and A. Chaigne, "Digital delay networks for designing artificial reverberators", 1991). A
/// factor and two shelves of the first order have these gains; a shelf's gain in decibels scales its whole response, nearly
/// (J.-M. Jot, "Proportional parametric equalizers", 2015), so that lines of all lengths decay alike in between too. What
/// the shelves take away at 1 kHz the factor gives back. So that nothing of this amplifies, the low shelf may take a quarter
/// there of what the round does, or give an eighth, and the high shelf take half; the corner of one that would change more is
/// farther from 1 kHz.
struct ReverbDecay: BitwiseCopyable {
  /// The low shelf with the factor; and the high one, with the quarter with which a Hadamard matrix keeps the power.
  let low, high: ReverbSection
  /// Gain of a round through a line of mean length at 1 kHz.
  let round: Float

  /// `lengths` in frames; `decay` in seconds, of 1 kHz; `bass` and `damp` in percent.
  @_noLocks init(_ lengths: Frames, decay: Float, bass: Float, damp: Float, rate: Float) {
    // Gains in octaves.
    let times = 0 - 9.965_784 / (limited(decay, 0.05, 1000) * rate)
    let middle = lengths * times
    let low = middle * (100 / limited(bass, 10, 400))
    let high = middle / (1 - 0.9 * limited(damp * 0.01, 0, 1))
    let top = rate * 0.3 < 4000 ? rate * 0.3 : 4000
    let w = Self.warped(1000, rate)
    // How far the corners lie from 1 kHz, at least; squared.
    let (nearLow, nearHigh) = (
      Self.square(w / Self.warped(250, rate)), Self.square(Self.warped(top, rate) / w)
    )
    var factor = middle
    var (lowShelf, highShelf) = (low - middle, high - middle)
    var turn = 0
    while turn < 4 {
      // Twelve octaves are silence within a round.
      lowShelf = atLeast(-12, low - factor)
      highShelf = atLeast(-12, high - factor)
      let below = sostenuto_lesser(
        sostenuto_greater(Self.atOneKilohertz(lowShelf, nearLow), middle * 0.25), middle * -0.125)
      let above = sostenuto_greater(Self.atOneKilohertz(highShelf, nearHigh), middle * 0.5)
      factor = middle - below - above
      turn &+= 1
    }
    let most = sostenuto_where_above(lowShelf, 0, middle * -0.125, middle * 0.25)
    let w1 = w / Self.distance(lowShelf, most, near: nearLow)
    let w2 = w * Self.distance(highShelf, middle * 0.5, near: nearHigh)
    // Gains of half the shelves.
    let g1 = sostenuto_powers_of_two(lowShelf * 0.5)
    let g2 = sostenuto_powers_of_two(highShelf * 0.5)
    // The high shelf amplifies a little where the low one does so at 1 kHz. The low one, with the factor, takes this over.
    let lift = atLeast(1, g2 * g2)
    let gain = sostenuto_powers_of_two(factor) * lift
    let (p1, p2) = (w1 / g1, w2 * g2)
    self.low = ReverbSection(pole: (1 - p1) / (1 + p1), atZero: gain * g1 * g1, atHalfTheRate: gain)
    self.high = ReverbSection(
      pole: (1 - p2) / (1 + p2), atZero: 1 / lift, atHalfTheRate: g2 * g2 / lift, factor: 0.25)
    round = exponential2(total(middle) / 16)
  }

  /// The frequency of the analogue model, by the bilinear transform.
  @_noLocks private static func warped(_ frequency: Float, _ rate: Float) -> Float {
    let most = rate * 0.45
    return tangent(3.141_592_7 * (frequency < most ? frequency : most) / rate)
  }

  @inline(__always) @_noLocks private static func square(_ x: Float) -> Float { x * x }

  /// Octaves of a shelf of `octaves` at 1 kHz: sqrt((G + d) / (1 / G + d)), where d is its corner's distance, squared.
  @inline(__always) @_noLocks private static func atOneKilohertz(_ octaves: Frames, _ distance: Float)
    -> Frames
  {
    let g = sostenuto_powers_of_two(octaves)
    return 0.5 * sostenuto_logarithms((g + distance) / (1 / g + distance))
  }

  /// How far the corner of a shelf is from 1 kHz, so that its gain there is `most` octaves, or nearer to none. `near`: what it is
  /// at least, squared.
  @inline(__always) @_noLocks private static func distance(_ octaves: Frames, _ most: Frames, near: Float)
    -> Frames
  {
    let g = sostenuto_powers_of_two(octaves)
    let squared = sostenuto_powers_of_two(2 * most)
    return squareRoots(atLeast(near, (squared / g - g) / (1 - squared)))
  }
}

/// A filter of the first order for each line: y = c s + d x, s' = a s + b x, where b and c are alike but for their signs.
///
/// As long as its gains at 0 Hz and at half the rate are not above 1, the matrix of the four has no gain above 1 either: y and
/// s' have together at most the power of x and s. A mean of two such matrices is one, too. Therefore no movement from one to
/// another makes a reverb louder.
struct ReverbSection: BitwiseCopyable {
  let a, b, c, d: Frames

  /// `factor`: of what comes out.
  @inline(__always) @_noLocks init(
    pole: Frames, atZero: Frames, atHalfTheRate: Frames, factor: Float = 1
  ) {
    // The gains' mean, and half of their difference through an all-pass.
    let half = (atZero - atHalfTheRate) * 0.5
    a = pole
    b = squareRoots(magnitude(half) * (1 - pole) * (1 + pole))
    c = copySign(b, half) * factor
    d = (half * (1 - pole) + atHalfTheRate) * factor
  }

  @inline(__always) @_noLocks init(_ numbers: UnsafeMutablePointer<Float>) {
    (a, b, c, d) = (numbers.vector(0), numbers.vector(16), numbers.vector(32), numbers.vector(48))
  }

  @inline(__always) @_noLocks func store(_ to: UnsafeMutablePointer<Float>) {
    to.store(a, 0)
    to.store(b, 16)
    to.store(c, 32)
    to.store(d, 48)
  }

  /// Stores what a frame adds on the way from other numbers, in 64 frames.
  @inline(__always) @_noLocks func storeSteps(
    from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>
  ) {
    let share: Float = 1 / 64
    to.store((a - from.vector(0)) * share, 0)
    to.store((b - from.vector(16)) * share, 16)
    to.store((c - from.vector(32)) * share, 32)
    to.store((d - from.vector(48)) * share, 48)
  }
}

extension ReverbTank {
  /// Rows of coefficients while they move, of those at rest, and of states.
  static var movingRows: Int { @_noLocks get { 8 } }
  static var restingRows: Int { @_noLocks get { 5 } }
  static var stateRows: Int { @_noLocks get { 2 } }

  /// Sets the coefficients.
  @inline(__always) @_noLocks func set(_ decay: ReverbDecay) {
    decay.low.store(numbers)
    decay.high.store(numbers + 64)
  }

  /// Has the coefficients move to others, over 64 frames.
  @inline(__always) @_noLocks func move(to decay: ReverbDecay) {
    decay.low.storeSteps(from: numbers, steps)
    decay.high.storeSteps(from: numbers + 64, steps + 64)
  }

  /// At rest five products do instead of eight: with c s for the state of the first section, and d of the second one in the
  /// first. The state of the second section is then d / b as large; where b is nearly zero, nothing of it is heard, and it
  /// is dropped.
  @inline(never) @_noLocks mutating func settle() {
    let (low, high) = (ReverbSection(numbers), ReverbSection(numbers + 64))
    resting.store(low.a, 0)
    resting.store(low.b * low.c * high.d, 16)
    resting.store(low.d * high.d, 32)
    resting.store(high.a, 48)
    resting.store(high.b * high.c / high.d - high.a, 64)
    states.store(states.vector(0) * (low.c * high.d), 0)
    states.store(states.vector(16) * (high.d * high.b / (high.b * high.b + 1e-7)), 16)
  }

  /// The states for moving coefficients, of those at rest. Where c is zero, nothing is left of the first one.
  @inline(never) @_noLocks mutating func loosen() {
    let (low, high) = (ReverbSection(numbers), ReverbSection(numbers + 64))
    states.store(sostenuto_numbers(states.vector(0) / (low.c * high.d)), 0)
    states.store(states.vector(16) * (high.b / high.d), 16)
  }
}
