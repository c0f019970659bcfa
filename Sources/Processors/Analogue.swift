import Realtime

// Digital two-pole sections with the magnitude response of analogue ones up to the top. The bilinear transform
// has the analogue response at tan(w / 2) / tan(w0 / 2) in place of the frequency w / w0: exact at 0 and at w0, but
// without end at half the rate. Here the square of the frequency is a quotient of two straight lines,
//
//   x^2 = (1 + u) r / (1 + u r),   r = (tan(w / 2) / tan(w0 / 2))^2,   u = beta * tan(w0 / 2)^2,
//
// exact at 0 and at w0 as well, and finite at half the rate. An analogue two-pole response, squared, is a quotient
// of quadratics in x^2. So it stays one in r, and the section follows from it as it does from its magnitudes at
// three frequencies in M. Vicanek, "Matched second order digital filters", 2016. beta(w0) is fitted so that x is
// close to w / w0 up to the top, and for responses around one frequency their width is too: they are within 0.5 dB
// of the analogue ones up to 0.42 of the rate, 20 kHz at 48 kHz (`ResponseTests`). Peaks, notches and gains are
// exact as before, and a cut is the inverse of the boost.

/// The fit of a family of responses: coefficients of polynomials in the square of the frequency, as a fraction of
/// the rate.
struct Warp {
  private let start: Float
  private let first: Float
  private let second: Float
  private let wider: Float
  private let widest: Float

  /// Band-passes, notches and peaks.
  static var width: Self { @_noLocks get { Self(0.5406, -2.6514, 3.5193, 0.9203, 11.8979) } }
  static var lowpass: Self { @_noLocks get { Self(0.5402, -1.0433, 0, 0, 0) } }
  static var highpass: Self { @_noLocks get { Self(0.5223, 0.9195, -6.846, 0, 0) } }
  static var shelf: Self { @_noLocks get { Self(0.5639, -1.4669, 3.8092, 0, 0) } }

  @inline(__always) @_noLocks private init(
    _ start: Float, _ first: Float, _ second: Float, _ wider: Float, _ widest: Float
  ) {
    self.start = start
    self.first = first
    self.second = second
    self.wider = wider
    self.widest = widest
  }

  @inline(__always) @_noLocks func beta(_ square: Frames) -> Frames {
    start + square * (first + square * second)
  }

  /// Factor of the width.
  @inline(__always) @_noLocks func widening(_ square: Frames) -> Frames {
    1 + square * (wider + square * widest)
  }
}

/// A response that filters and equalizers share: a part of 1, k s and s^2 over their sum, with k = 1 / Q.
enum Pass {
  case low, high, band, notch
}

/// An analogue response: the quotient of two quadratics in s, which is 1j at the section's frequency.
struct Analogue {
  /// Coefficients of 1, s and s^2.
  typealias Quadratic = (Frames, Frames, Frames)

  let over: Quadratic
  let under: Quadratic
  /// Gain at 0.
  let low: Frames
  let warp: Warp

  @inline(__always) @_noLocks init(over: Quadratic, under: Quadratic, low: Frames, warp: Warp) {
    self.over = over
    self.under = under
    self.low = low
    self.warp = warp
  }

  static var one: Frames { @inline(__always) @_noLocks get { Frames(repeating: 1) } }
}

extension SectionCoefficients {
  /// The section with an analogue response at `freq` Hz, limited to 0.000001...0.49 of the rate.
  @inline(__always) @_noLocks init(_ analogue: Analogue, _ freq: Frames, _ rate: Float) {
    let (t, square) = Self.tangents(freq, rate)
    let u = analogue.warp.beta(square) * t * t
    let wider = analogue.warp.widening(square)
    let (over, under) = (analogue.over, analogue.under)
    let n = Self.matched((over.0, over.1 * wider, over.2), u)
    let d = Self.matched((under.0, under.1 * wider, under.2), u)
    let r = reciprocalRoots(under.0 * d.squared)
    let high = n.squared / d.squared
    self.init(
      g: t * under.0 * r, k: d.plain * r, m0: high, m1: (n.plain - high * d.plain) * r,
      m2: analogue.low - high)
  }

  /// The same for a pass, whose numerators need fewer roots.
  @inline(__always) @_noLocks init(_ pass: Pass, _ k: Frames, _ freq: Frames, _ rate: Float) {
    let warp: Warp
    switch pass {
    case .low: warp = .lowpass
    case .high: warp = .highpass
    case .band, .notch: warp = .width
    }
    let (t, square) = Self.tangents(freq, rate)
    let u = warp.beta(square) * t * t
    let v = u + 1
    let wide = k * warp.widening(square)
    let width = v * wide * wide
    // `matched` of 1, `wide` and 1.
    let squared = squareRoots(1 + u * width)
    let plain = squareRoots(width + 2 * (u * width / (squared + 1)))
    let r = reciprocalRoots(squared)
    let g = t * r
    let inverse = r * r
    let rest = plain * r
    switch pass {
    case .low:
      let high = u * inverse
      self.init(g: g, k: rest, m0: high, m1: (2 * squareRoots(u) - high * plain) * r, m2: 1 - high)
    case .high:
      let high = v * inverse
      self.init(g: g, k: rest, m0: high, m1: 0 - high * rest, m2: 0 - high)
    case .band:
      let side = wide * squareRoots(v)
      let high = side * squareRoots(u) * inverse
      self.init(g: g, k: rest, m0: high, m1: (side - high * plain) * r, m2: 0 - high)
    case .notch:
      self.init(g: g, k: rest, m0: inverse, m1: 0 - inverse * rest, m2: 1 - inverse)
    }
  }

  /// tan(pi * freq / rate), and the square of freq / rate.
  @inline(__always) @_noLocks private static func tangents(_ freq: Frames, _ rate: Float) -> (Frames, Frames)
  {
    let quarters = limited(freq * (2 / rate), 0.000_002, 0.98)
    return (sineOfQuarters(quarters) / sineOfQuarters(1 - quarters), quarters * quarters * 0.25)
  }

  /// Coefficients of s and s^2 of the quadratic in tan(w / 2) / tan(w0 / 2) with the magnitude of `q` at the
  /// warped frequency. That of 1 stays as it is.
  @_transparent @_noLocks private static func matched(_ q: Analogue.Quadratic, _ u: Frames) -> (
    plain: Frames, squared: Frames
  ) {
    let v = u + 1
    let difference = v * q.2 - u * q.0
    let width = v * q.1 * q.1
    let squared = squareRoots(difference * difference + u * width)
    // squared - difference, without cancelling digits.
    let rest = (squared - difference).replacing(
      with: u * width / (squared + difference), where: difference .> Frames(repeating: 0))
    return (squareRoots(width + 2 * q.0 * rest), squared)
  }
}
