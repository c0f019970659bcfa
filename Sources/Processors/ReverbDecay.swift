import CVector
import Realtime

/// Attenuation of a round through each of a reverb's sixteen lines, so that all of them decay in the same time.
///
/// Decay times of three bands: at 0 Hz, at 1 kHz and at half the rate. In a line of n frames they are gains of -60 dB n over
/// the decay's frames (J.-M. Jot and A. Chaigne, "Digital delay networks for designing artificial reverberators", 1991). A
/// factor and two shelves of the first order have these gains; a shelf's gain in decibels scales its whole response, nearly
/// (J.-M. Jot, "Proportional parametric equalizers", 2015), so that lines of all lengths decay alike in between too. What
/// the shelves take away at 1 kHz the factor gives back.
struct ReverbDecay: BitwiseCopyable {
  /// Coefficients of `sostenuto_shelve` for all lines. The factor, and the quarter with which a Hadamard matrix keeps
  /// the power, are in the first two.
  let numbers: (Frames, Frames, Frames, Frames, Frames)
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
    let (w1, w2, w) = (Self.warped(250, rate), Self.warped(top, rate), Self.warped(1000, rate))
    // With more than three octaves a shelf of the first order would reach far beyond 1 kHz.
    var factor = middle
    var (lowShelf, highShelf) = (low - middle, high - middle)
    var turn = 0
    while turn < 5 {
      lowShelf = atLeast(-3, low - factor)
      highShelf = atLeast(-3, high - factor)
      let below = Self.shelf(lowShelf, inner: w1 * w1, outer: w * w)
      let above = Self.shelf(highShelf, inner: w * w, outer: w2 * w2)
      factor = sostenuto_lesser(middle - below - above, middle * 0.25)
      turn &+= 1
    }
    let gain = sostenuto_powers_of_two(factor)
    let g1 = sostenuto_powers_of_two(lowShelf * 0.5)
    let g2 = sostenuto_powers_of_two(highShelf * 0.5)
    let (under1, under2) = (1 / (1 + w1 / g1), 1 / (1 / g2 + w2))
    let all = 0.25 * gain * under1 * (g2 + w2) * under2
    numbers = (
      all * (1 + w1 * g1), all * (w1 * g1 - 1), (w1 / g1 - 1) * under1,
      (w2 - g2) / (g2 + w2), (w2 - 1 / g2) * under2
    )
    round = exponential2(total(middle) / 16)
  }

  /// The frequency of the analogue model, by the bilinear transform.
  @_noLocks private static func warped(_ frequency: Float, _ rate: Float) -> Float {
    let most = rate * 0.45
    return tangent(3.141_592_7 * (frequency < most ? frequency : most) / rate)
  }

  /// Octaves of a shelf at a frequency: sqrt((inner G + outer) / (inner / G + outer)).
  @inline(__always) @_noLocks private static func shelf(_ octaves: Frames, inner: Float, outer: Float)
    -> Frames
  {
    let g = sostenuto_powers_of_two(octaves)
    return 0.5 * sostenuto_logarithms((g * inner + outer) / (inner / g + outer))
  }
}
