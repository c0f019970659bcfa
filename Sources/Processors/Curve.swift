import Realtime

// The curves of a distortion, without the aliases of the corners of a clipped or folded wave: antiderivative
// antialiasing (J. Parker, V. Zavalishin, E. Le Bivic, "Reducing the aliasing of nonlinear waveshaping using
// continuous-time convolution", DAFx-16, 2016), of the second order (S. Bilbao, F. Esqueda, J. Parker, V. Välimäki,
// "Antiderivative antialiasing for memoryless nonlinearities", IEEE Signal Processing Letters 24, 2017).
//
// The wave between two frames is a straight line. Each output is the curve of that line, averaged by a triangle
// that reaches from the frame before to the frame behind: of each line a frame at its start takes the average
// weighted by 1 - t, the frame at its end that weighted by t. Both are computed here without differences of
// antiderivatives, which would divide rounding errors by the distance of neighbours that are nearly equal. The
// triangle takes a frame of latency, and dulls the highest frequencies: a short symmetric filter makes up for that.

/// Curves with corners, or with so many harmonics that they alias as if they had.
private enum Curve {
  /// Both averages of the line from `a` to `b`.
  @_transparent @_noLocks static func averages(_ folds: Bool, _ a: Frames, _ b: Frames) -> (
    start: Frames, end: Frames
  ) {
    folds ? folding(a, b) : clipping(a, b)
  }

  /// Clips to -1...1. The clipped line is level, then straight from the fraction `enters` to `leaves` of its
  /// length, then level. A line of (nearly) no length counts as straight.
  @_transparent @_noLocks static func clipping(_ a: Frames, _ b: Frames) -> (
    start: Frames, end: Frames
  ) {
    let from = limited(a, -1, 1)
    let to = limited(b, -1, 1)
    let length = b - a
    let none = Frames(repeating: 0)
    let inverse = none.replacing(with: 1 / length, where: length * length .> Frames(repeating: 1e-30))
    let enters = limited((from - a) * inverse, 0, 1)
    let leaves = limited((to - b) * inverse + 1, 0, 1)
    let drop = from - to
    let both = enters + leaves
    let sixth = (both * both - enters * leaves) * (1 / 6)
    let half = 0.5 * to
    return (half + drop * (0.5 * both - sixth), half + drop * sixth)
  }

  /// sin x: values beyond -pi/2...pi/2 fold back. With the line's middle m and half its length h, the averages are
  /// half of sin m * sin h / h, plus and minus half of cos m * (cos h - sin h / h) / h.
  @_transparent @_noLocks static func folding(_ a: Frames, _ b: Frames) -> (
    start: Frames, end: Frames
  ) {
    let from = limited(a, -100_000, 100_000)
    let to = limited(b, -100_000, 100_000)
    let h = 0.5 * (to - from)
    let (sineOfMiddle, cosineOfMiddle) = sinesAndCosines(0.5 * (to + from))
    let (sine, cosine) = sinesAndCosines(h)
    // Where h is small both quotients lose their digits: there their Taylor series.
    let s = h * h
    let isSmall = s .< Frames(repeating: 0.0625)
    let inverse = 1 / h
    let ratio = (sine * inverse).replacing(
      with: ((s * -1.984_127e-4 + 8.333_333e-3) * s - 0.166_666_67) * s + 1, where: isSmall)
    let slope = ((cosine - ratio) * inverse).replacing(
      with: h * ((s * -1.190_476_2e-3 + 3.333_333_3e-2) * s - 0.333_333_33), where: isSmall)
    let even = 0.5 * sineOfMiddle * ratio
    let odd = 0.5 * cosineOfMiddle * slope
    return (even + odd, even - odd)
  }
}

/// tanh by Lambert's continued fraction to seven terms, within 0.0001, limited to -1...1.
@_transparent @_noLocks func hyperbolicTangents(_ x: Frames) -> Frames {
  let held = limited(x, -5, 5)
  let s = held * held
  let above = ((s + 378) * s + 17_325) * s + 135_135
  let below = ((28 * s + 3_150) * s + 62_370) * s + 135_135
  return limited(held * above / below, -1, 1)
}

/// sin x and cos x, for x within -100000...100000.
@_transparent @_noLocks func sinesAndCosines(_ x: Frames) -> (Frames, Frames) {
  let quarters = x * (2 / Float.pi)
  // Adding and subtracting a large number rounds to the nearest whole cycle.
  let cycles = (quarters * 0.25 + 12_582_912) - 12_582_912
  let inner = quarters - 4 * cycles
  let size = magnitude(inner)
  let folded = copySign(1 - magnitude(size - 1), inner)
  return (sineOfQuarters(folded), sineOfQuarters(1 - size))
}

/// Applies the curves to one channel. Its memory is needed within a call only.
struct CurveRoom: BitwiseCopyable {
  private let starts: UnsafeMutablePointer<Float>
  private let ends: UnsafeMutablePointer<Float>
  private let evens: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    starts = arena.take(Float.self, 128, after: 16)
    ends = arena.take(Float.self, 128, after: 16)
    evens = arena.take(Float.self, 128, after: 16)
  }

  /// Applies a curve at the node's rate; the result is three frames late. `x` has 17 frames of history before it.
  @_noLocks func apply(
    _ shape: Float, _ x: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if shape == 0 {
      smooth(x - 3, to, frames)
    } else if shape == 1 {
      line(true, x, to, frames)
    } else {
      line(false, x, to, frames)
    }
  }

  /// Applies a curve to the two phases of an oversampled signal; the result is one frame of a phase late. Both
  /// have 17 frames of history before them.
  @_noLocks func apply(
    _ shape: Float, _ even: UnsafeMutablePointer<Float>, _ odd: UnsafeMutablePointer<Float>,
    toEven: UnsafeMutablePointer<Float>, toOdd: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if shape == 0 {
      smooth(even - 1, toEven, frames)
      smooth(odd - 1, toOdd, frames)
    } else if shape == 1 {
      lines(true, even, odd, toEven, toOdd, frames)
    } else {
      lines(false, even, odd, toEven, toOdd, frames)
    }
  }

  /// The smooth curve is taken frame by frame.
  @_transparent @_noLocks private func smooth(
    _ x: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      to.store(hyperbolicTangents(x.vector(frame)), frame)
      frame &+= 16
    }
  }

  /// The line that ends at frame n is stored at n.
  @_transparent @_noLocks private func line(
    _ folds: Bool, _ x: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = -16
    while frame < frames {
      let averages = Curve.averages(folds, x.vector(frame &- 1), x.vector(frame))
      starts.store(averages.start, frame)
      ends.store(averages.end, frame)
      frame &+= 16
    }
    frame = 0
    while frame < frames {
      // The droop of the lines is 20 log((2 + cos w) / 3) dB, 7.3 dB at three quarters of the highest frequency:
      // these five taps level it within 0.25 dB up to there.
      let middle = starts.vector(frame &- 2) + ends.vector(frame &- 3)
      let near =
        (starts.vector(frame &- 3) + ends.vector(frame &- 4))
        + (starts.vector(frame &- 1) + ends.vector(frame &- 2))
      let far =
        (starts.vector(frame &- 4) + ends.vector(frame &- 5))
        + (starts.vector(frame) + ends.vector(frame &- 1))
      to.store((1.71 * middle - 0.44 * near) + 0.085 * far, frame)
      frame &+= 16
    }
  }

  /// Of the lines to even frames those that end at frame n are stored at n, of the lines to odd frames those that
  /// start there.
  @_transparent @_noLocks private func lines(
    _ folds: Bool, _ even: UnsafeMutablePointer<Float>, _ odd: UnsafeMutablePointer<Float>,
    _ toEven: UnsafeMutablePointer<Float>, _ toOdd: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = -16
    while frame < frames {
      let here = even.vector(frame)
      let toHere = Curve.averages(folds, odd.vector(frame &- 1), here)
      let onwards = Curve.averages(folds, here, odd.vector(frame))
      starts.store(toHere.start, frame)
      evens.store(toHere.end + onwards.start, frame)
      ends.store(onwards.end, frame)
      frame &+= 16
    }
    frame = 0
    while frame < frames {
      // The droop, here up to 2.5 dB at 5/12 of the highest frequency, is levelled within 0.15 dB by three taps.
      let before = starts.vector(frame &- 1) + ends.vector(frame &- 2)
      let evenOne = evens.vector(frame &- 1)
      let oddOne = starts.vector(frame) + ends.vector(frame &- 1)
      toEven.store(1.42 * evenOne - 0.21 * (before + oddOne), frame)
      toOdd.store(1.42 * oddOne - 0.21 * (evenOne + evens.vector(frame)), frame)
      frame &+= 16
    }
  }
}
