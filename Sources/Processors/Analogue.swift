import CVector
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
// of the analogue ones up to 0.42 of the rate, 20 kHz at 48 kHz, where w0 is below 0.39 of the rate and the Q is usual
// (`ResponseTests`); a high-pass at 20 kHz with a Q of 100 is 2 dB off. Peaks, notches and gains are exact as before,
// and a cut is the inverse of the boost.

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

  @_transparent @_noLocks func beta(_ square: Frames) -> Frames {
    addProduct(start, square, addProduct(first, square, Frames(repeating: second)))
  }

  /// Factor of the width.
  @_transparent @_noLocks func widening(_ square: Frames) -> Frames {
    addProduct(1, square, addProduct(wider, square, Frames(repeating: widest)))
  }
}

/// A response of a section.
enum Response: UInt8 {
  case peak, lowShelf, highShelf, low, high, notch, band

  /// It depends on the gain, other than the passes and the notch: parts of 1, k s and s^2 over their sum, with k = 1 / Q.
  var hasGain: Bool { @inline(__always) @_noLocks get { rawValue < Response.low.rawValue } }
}

/// An analogue response: the quotient of two quadratics in s, which is 1j at the section's frequency.
private struct Analogue {
  /// Coefficients of 1, s and s^2.
  typealias Quadratic = (Frames, Frames, Frames)

  let over: Quadratic
  let under: Quadratic
  /// Gain at 0.
  let low: Frames

  @inline(__always) @_noLocks init(over: Quadratic, under: Quadratic, low: Frames) {
    self.over = over
    self.under = under
    self.low = low
  }
}

/// A response apart from its frequency.
struct SectionShape: BitwiseCopyable {
  /// 1 / Q; for responses with gain, its root (the cookbook's A), and the widths of a peak and of a shelf.
  let k: Frames
  let root: Frames
  let bell: Frames
  let slope: Frames

  /// Limited to a Q of 0.05 to 200 and to 60 dB either way, whatever the modulation.
  @inline(__always) @_noLocks init(_ q: Frames, _ gain: Frames, hasGain: Bool) {
    k = 1 / limited(q, 0.05, 200)
    if hasGain {
      root = squareRoots(limited(gain, 0.001, 1000))
      bell = k / root
      slope = k * squareRoots(root)
    } else {
      root = k
      bell = k
      slope = k
    }
  }
}

/// The shape of q and gain at rest, one number of each vector: sections are to stay small.
struct RestingShape: BitwiseCopyable {
  private var known = SIMD2<Float>(repeating: .nan)
  private var hasGain = false
  private var values = SIMD4<Float>(repeating: 0)

  var shape: SectionShape { @inline(__always) @_noLocks get { SectionShape(values) } }

  /// Calculates what has changed. Audio thread.
  @inline(__always) @_noLocks mutating func follow(_ q: Float, _ gain: Float, hasGain: Bool) {
    if known[0] != q || known[1] != gain || self.hasGain != hasGain { learn(q, gain, hasGain) }
  }

  @inline(never) @_noLocks private mutating func learn(_ q: Float, _ gain: Float, _ hasGain: Bool) {
    known = SIMD2(q, gain)
    self.hasGain = hasGain
    let shape = SectionShape(Frames(repeating: q), Frames(repeating: gain), hasGain: hasGain)
    values = SIMD4(shape.k[0], shape.root[0], shape.bell[0], shape.slope[0])
  }
}

extension SectionShape {
  @inline(__always) @_noLocks fileprivate init(_ values: SIMD4<Float>) {
    k = Frames(repeating: values[0])
    root = Frames(repeating: values[1])
    bell = Frames(repeating: values[2])
    slope = Frames(repeating: values[3])
  }
}

/// The frequency of a section.
struct SectionTangent: BitwiseCopyable {
  /// tan(w0 / 2).
  let t: Frames
  /// Square of the frequency as a fraction of the rate.
  let square: Frames

  /// `freq` in Hz, limited to 0.000001...0.49 of the rate.
  @_transparent @_noLocks init(_ freq: Frames, _ rate: Float) {
    let quarters = limited(freq * (2 / rate), 0.000_002, 0.98)
    t = sineOfQuarters(quarters) / sineOfQuarters(1 - quarters)
    square = quarters * quarters * 0.25
  }
}

extension SectionCoefficients {
  /// Coefficients at `freq` Hz.
  @_transparent @_noLocks init(
    _ response: Response, _ freq: Frames, _ shape: SectionShape, _ rate: Float
  ) {
    self.init(response, SectionTangent(freq, rate), shape)
  }

  @_transparent @_noLocks init(_ response: Response, _ tangent: SectionTangent, _ shape: SectionShape) {
    let (t, square) = (tangent.t, tangent.square)
    switch response {
    case .peak: self.init(peak: shape, t, square)
    case .lowShelf, .highShelf: self.init(shelf: shape, isLow: response == .lowShelf, t, square)
    case .low, .high, .band, .notch: self.init(pass: response, shape.k, t, square)
    }
  }

  /// Both quadratics are 1 at 0 and at the top: `matched` of 1, their width and 1.
  @_transparent @_noLocks private init(peak shape: SectionShape, _ t: Frames, _ square: Frames) {
    let warp = Warp.width
    let u = warp.beta(square) * t * t
    let v = u + 1
    let wide = shape.bell * warp.widening(square)
    let under = v * wide * wide
    let gain = shape.root * shape.root
    let over = under * (gain * gain)
    let (squared, plain) = Self.matched(over, u, divides: true)
    let (poles, rest) = Self.matched(under, u)
    let r = inverseRoots(poles)
    let high = squared * (r * r)
    self.init(g: t * r, k: rest * r, m0: high, m1: (plain - high * rest) * r, m2: 1 - high)
  }

  @_transparent @_noLocks private init(
    shelf shape: SectionShape, isLow: Bool, _ t: Frames, _ square: Frames
  ) {
    let (root, slope) = (shape.root, shape.slope)
    let gain = root * root
    let one = Frames(repeating: 1)
    let analogue =
      isLow
      ? Analogue(over: (gain, slope * root, root), under: (one, slope, root), low: gain)
      : Analogue(over: (root, slope * root, gain), under: (root, slope, one), low: one)
    let warp = Warp.shelf
    let u = warp.beta(square) * t * t
    let wider = warp.widening(square)
    let (over, under) = (analogue.over, analogue.under)
    let n = Self.matched((over.0, over.1 * wider, over.2), u)
    let d = Self.matched((under.0, under.1 * wider, under.2), u)
    let r = inverseRoots(under.0 * d.squared)
    let high = n.squared * inverses(d.squared)
    self.init(
      g: t * under.0 * r, k: d.plain * r, m0: high, m1: (n.plain - high * d.plain) * r,
      m2: analogue.low - high)
  }

  @_transparent @_noLocks private init(pass: Response, _ k: Frames, _ t: Frames, _ square: Frames) {
    let warp: Warp = pass == .low ? .lowpass : pass == .high ? .highpass : .width
    let u = warp.beta(square) * t * t
    let v = u + 1
    let wide = k * warp.widening(square)
    let (squared, plain) = Self.matched(v * wide * wide, u)
    let r = inverseRoots(squared)
    let inverse = r * r
    let g = t * r
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
    default:
      self.init(g: g, k: rest, m0: inverse, m1: 0 - inverse * rest, m2: 1 - inverse)
    }
  }

  /// Coefficients of s^2 and s of the quadratic in tan(w / 2) / tan(w0 / 2) with the magnitude of 1, w and 1 at the
  /// warped frequency; `width` is (1 + u) w^2. That of 1 stays as it is. `divides`: the first root is the divider's too.
  @_transparent @_noLocks private static func matched(_ width: Frames, _ u: Frames, divides: Bool = false)
    -> (squared: Frames, plain: Frames)
  {
    let more = u * width
    let squared = divides ? squareRoots(more + 1) : roots(more + 1)
    // The root less one, without cancelling digits.
    return (squared, squareRoots(width + 2 * (more / (squared + 1))))
  }

  /// The same of any quadratic `q`.
  @_transparent @_noLocks private static func matched(_ q: Analogue.Quadratic, _ u: Frames) -> (
    squared: Frames, plain: Frames
  ) {
    let v = u + 1
    let difference = v * q.2 - u * q.0
    let width = v * q.1 * q.1
    let squared = roots(difference * difference + u * width)
    // squared - difference, without cancelling digits.
    let rest = sostenuto_where_above(
      difference, 0, u * width / (squared + difference), squared - difference)
    return (squared, squareRoots(width + 2 * q.0 * rest))
  }

  /// Square roots without the divider, which the others keep busy. Where there are two, one is left to it, so that neither it
  /// nor the rest waits for the other.
  @_transparent @_noLocks private static func roots(_ x: Frames) -> Frames { x * inverseRoots(x) }
}
