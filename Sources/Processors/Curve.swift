import CVector
import Realtime

// The curves of a distortion. Oversampled, they are antialiased by antiderivatives (J. Parker,
// V. Zavalishin, E. Le Bivic, "Reducing the aliasing of nonlinear waveshaping using continuous-time convolution", DAFx-16,
// 2016), of the second order (S. Bilbao, F. Esqueda, J. Parker, V. Välimäki, "Antiderivative antialiasing for memoryless
// nonlinearities", IEEE Signal Processing Letters 24, 2017).
//
// The wave between two frames is a straight line. Each output is the curve of that line, averaged by a triangle
// that reaches from the frame before to the frame behind: of each line a frame at its start takes the average
// weighted by 1 - t, the frame at its end that weighted by t. Both are computed here without differences of large
// antiderivatives, which would divide rounding errors by the distance of neighbours that are nearly equal. The
// triangle takes a frame of latency, and dulls the highest frequencies: a short symmetric filter makes up for that.

/// A curve of an oversampled distortion: driven far, each has harmonics beyond any rate.
protocol Curve {
  /// The frames as the lines at them need them. Audio thread.
  @_noLocks init(_ x: Frames)
  /// The frames before these, behind those of `before`.
  @_noLocks func delayed(behind before: Self) -> Self
  /// The same for the next vector of frames.
  var carried: Self { @_noLocks get }
  /// Both averages of the line from this frame to another: weighted by 1 - t, and by t.
  @_noLocks func averages(to end: Self) -> (start: Frames, end: Frames)
}

/// Clips to -1...1.
struct ClippedFrames: Curve {
  private let x: Frames
  private let held: Frames

  @_transparent @_noLocks private init(_ x: Frames, _ held: Frames) {
    self.x = x
    self.held = held
  }

  @_transparent @_noLocks init(_ x: Frames) { self.init(x, limited(x, -1, 1)) }

  @_transparent @_noLocks func delayed(behind before: Self) -> Self {
    Self(sostenuto_delayed_by_one(before.x, x), sostenuto_delayed_by_one(before.held, held))
  }

  var carried: Self { @_transparent @_noLocks get { Self(sostenuto_carried(x), sostenuto_carried(held)) } }

  /// The clipped line is level, then straight from the fraction `enters` to `leaves` of its length, then level. A line of
  /// (nearly) no length counts as straight.
  @_transparent @_noLocks func averages(to end: Self) -> (start: Frames, end: Frames) {
    let drop = held - end.held
    let half = 0.5 * end.held
    // Most sound is not clipped: this is what remains of the lines below, to the bit.
    if !sostenuto_magnitudes_exceed(x, 1), !sostenuto_magnitudes_exceed(end.x, 1) {
      let sixth: Float = 1 / 6
      return (half + drop * (0.5 - sixth), half + drop * sixth)
    }
    let length = end.x - x
    let inverse = sostenuto_where_above(length * length, 1e-30, 1 / length, Frames(repeating: 0))
    let enters = limited((held - x) * inverse, 0, 1)
    let leaves = limited((end.held - end.x) * inverse + 1, 0, 1)
    let both = enters + leaves
    let sixth = (both * both - enters * leaves) * (1 / 6)
    return (half + drop * (0.5 * both - sixth), half + drop * sixth)
  }
}

/// sin x: values beyond -pi/2...pi/2 fold back.
struct FoldedFrames: Curve {
  private let x: Frames
  private let sine: Frames
  private let cosine: Frames

  @_transparent @_noLocks private init(_ x: Frames, _ sine: Frames, _ cosine: Frames) {
    self.x = x
    self.sine = sine
    self.cosine = cosine
  }

  @_transparent @_noLocks init(_ x: Frames) {
    let held = limited(x, -100_000, 100_000)
    let (sine, cosine) = sinesAndCosines(held)
    self.init(held, sine, cosine)
  }

  @_transparent @_noLocks func delayed(behind before: Self) -> Self {
    Self(
      sostenuto_delayed_by_one(before.x, x), sostenuto_delayed_by_one(before.sine, sine),
      sostenuto_delayed_by_one(before.cosine, cosine))
  }

  var carried: Self {
    @_transparent @_noLocks get {
      Self(sostenuto_carried(x), sostenuto_carried(sine), sostenuto_carried(cosine))
    }
  }

  /// With the line's length d, the averages are sin a * e + cos a * o at its start a, and sin b * e - cos b * o at its
  /// end b, where e = (1 - cos d) / d^2 and o = (d - sin d) / d^2. The sine and cosine of d are those of a difference.
  @_transparent @_noLocks func averages(to end: Self) -> (start: Frames, end: Frames) {
    let d = end.x - x
    let s = d * d
    // Where d is small both quotients lose their digits: there their Taylor series.
    var even = addProduct(
      0.5, s, addProduct(-4.166_666_7e-2, s, series(1.388_888_9e-3, -2.480_158_7e-5, 2.755_732e-7, s)))
    var odd = d * addProduct(0.166_666_67, s, series(-8.333_333e-3, 1.984_127e-4, -2.755_732e-6, s))
    if sostenuto_magnitudes_exceed(s, 1) {
      let inverse = 1 / s
      let cosineOfLength = addProduct(cosine * end.cosine, sine, end.sine)
      let sineOfLength = addProduct(end.sine * cosine, 0 - end.cosine, sine)
      even = sostenuto_where_above(s, 1, (1 - cosineOfLength) * inverse, even)
      odd = sostenuto_where_above(s, 1, (d - sineOfLength) * inverse, odd)
    }
    return (addProduct(sine * even, cosine, odd), addProduct(end.sine * even, 0 - end.cosine, odd))
  }
}

/// a + s (b + s c).
@_transparent @_noLocks private func series(_ a: Float, _ b: Float, _ c: Float, _ s: Frames) -> Frames {
  addProduct(a, s, addProduct(b, s, Frames(repeating: c)))
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

/// The curves of a channel's block, frame by frame; the result may go to the input's memory. Audio thread.
struct BareCurve {
  private let input: UnsafePointer<Float>
  private let drive: ParameterStream
  private let channel: Int
  private let frames: Int

  @inline(__always) @_noLocks init(
    _ input: UnsafePointer<Float>, _ drive: ParameterStream, _ channel: Int, _ frames: Int
  ) {
    self.input = input
    self.drive = drive
    self.channel = channel
    self.frames = frames
  }

  // Of one loop for all curves the compiler would share the store, and take vectors apart for it.
  @inline(__always) @_noLocks func run(_ shape: Float, to: UnsafeMutablePointer<Float>) {
    if shape == 0 { saturate(to) } else if shape == 1 { fold(to) } else { clip(to) }
  }

  @inline(__always) @_noLocks private func driven(_ frame: Int) -> Frames {
    input.vector(frame) * drive.vector(channel, frame)
  }

  @inline(never) @_noLocks private func saturate(_ to: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < frames {
      to.store(hyperbolicTangents(driven(frame)) + 0, frame)
      frame &+= 16
    }
  }

  @inline(never) @_noLocks private func fold(_ to: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < frames {
      to.store(sinesAndCosines(limited(driven(frame), -100_000, 100_000)).0 + 0, frame)
      frame &+= 16
    }
  }

  /// Clips a whole block whose drive is at rest, and returns the result too.
  @inline(__always) @_noLocks func clipWhole(
    to: UnsafeMutablePointer<Float>
  ) -> (Frames, Frames, Frames, Frames) {
    let factor = drive.value(channel)
    let (a, b) = (clipped(input.vector(0), factor), clipped(input.vector(16), factor))
    let (c, d) = (clipped(input.vector(32), factor), clipped(input.vector(48), factor))
    to.store(a, 0)
    to.store(b, 16)
    to.store(c, 32)
    to.store(d, 48)
    return (a, b, c, d)
  }

  /// Adding zero turns -0 into 0, and costs nothing beside the product.
  @inline(__always) @_noLocks private func clipped(_ x: Frames, _ factor: Float) -> Frames {
    limited(addProduct(0, x, Frames(repeating: factor)), -1, 1)
  }

  @inline(never) @_noLocks private func clip(_ to: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < frames {
      to.store(limited(driven(frame), -1, 1) + 0, frame)
      frame &+= 16
    }
  }
}

/// Applies the curves to the two phases of one oversampled channel. Its memory is needed within a call only.
struct CurveRoom: BitwiseCopyable {
  private let starts: UnsafeMutablePointer<Float>
  private let ends: UnsafeMutablePointer<Float>
  private let evens: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    starts = arena.take(Float.self, 128, after: 16)
    ends = arena.take(Float.self, 128, after: 16)
    evens = arena.take(Float.self, 128, after: 16)
  }

  /// 0 tanh, 1 fold, 2 hard, 3 the square of tanh. The result is one frame of a phase late. Both phases have 17 frames of history before them.
  @_noLocks func apply(
    _ shape: Float, _ even: UnsafeMutablePointer<Float>, _ odd: UnsafeMutablePointer<Float>,
    toEven: UnsafeMutablePointer<Float>, toOdd: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if shape == 0 {
      lines(SaturatedFrames.self, even, odd, toEven, toOdd, frames)
    } else if shape == 1 {
      lines(FoldedFrames.self, even, odd, toEven, toOdd, frames)
    } else if shape == 3 {
      lines(SquaredFrames.self, even, odd, toEven, toOdd, frames)
    } else {
      lines(ClippedFrames.self, even, odd, toEven, toOdd, frames)
    }
  }

  /// Of the lines to even frames those that end at frame n are stored at n, of the lines to odd frames those that
  /// start there. Generic, and so checked where it is called.
  @inline(__always) private func lines<C: Curve>(
    _ curve: C.Type, _ even: UnsafeMutablePointer<Float>, _ odd: UnsafeMutablePointer<Float>,
    _ toEven: UnsafeMutablePointer<Float>, _ toOdd: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var before = C(Frames(repeating: odd[-17]))
    var frame = -16
    while frame < frames {
      let here = C(even.vector(frame))
      let there = C(odd.vector(frame)).carried
      let toHere = there.delayed(behind: before).averages(to: here)
      let onwards = here.averages(to: there)
      before = there
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

/// 2^x for x in -1...1, by its Taylor series; exactly 1 at 0.
@inline(__always) @_noLocks func powerOfTwo(_ x: Frames) -> Frames {
  let y = x * 0.693_147_2
  var sum = y * 2.480_158_7e-5 + 1.984_127e-4
  sum = sum * y + 1.388_888_9e-3
  sum = sum * y + 8.333_333e-3
  sum = sum * y + 4.166_666_8e-2
  sum = sum * y + 0.166_666_67
  sum = sum * y + 0.5
  return sum * y * y + y + 1
}
