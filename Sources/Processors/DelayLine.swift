import Realtime

/// Past sound of one channel: a ring of frames. The first sixteen are repeated behind the end, so that a vector
/// may begin at any frame.
struct DelayLine: BitwiseCopyable {
  /// Frames behind the end.
  static var margin: Int { @inline(__always) @_noLocks get { 16 } }

  private let frames: UnsafeMutablePointer<Float>
  /// A power of two.
  private let length: Int

  @inline(__always) @_noLocks init(_ frames: UnsafeMutablePointer<Float>, length: Int) {
    self.frames = frames
    self.length = length
  }

  @inline(__always) @_noLocks private func address(_ position: Int) -> UnsafeMutablePointer<Float> {
    frames + (position & (length &- 1))
  }

  @inline(__always) @_noLocks subscript(position: Int) -> Float { address(position).pointee }

  /// The sixteen frames from `position`.
  @inline(__always) @_noLocks func vector(_ position: Int) -> Frames { address(position).vector(0) }

  @inline(__always) @_noLocks private func eight(_ position: Int) -> SIMD8<Float> {
    UnsafeRawPointer(address(position)).loadUnaligned(as: SIMD8<Float>.self)
  }

  @inline(__always) @_noLocks func write(_ value: Float, at position: Int) {
    let place = position & (length &- 1)
    frames[place] = value
    if place < Self.margin { frames[length &+ place] = value }
  }

  /// Writes the first `count` lanes.
  @inline(__always) @_noLocks func write(_ values: Frames, _ count: Int, at position: Int) {
    let place = position & (length &- 1)
    if count == 16, place >= Self.margin, place &+ 16 <= length {
      frames.store(values, place)
    } else {
      writeAtEdge(values, count, at: position)
    }
  }

  @inline(never) @_noLocks private func writeAtEdge(_ values: Frames, _ count: Int, at position: Int) {
    withUnsafeBytes(of: values) { bytes in
      var frame = 0
      while frame < count {
        write(bytes.loadUnaligned(fromByteOffset: frame &* 4, as: Float.self), at: position &+ frame)
        frame &+= 1
      }
    }
  }

  /// Repeats the first frames behind the end.
  @_noLocks func closeRing() { copyMemory(frames + length, frames, Self.margin &* 4) }

  /// The frames from `position`, each `whole + part` frames earlier, for wholes of at least four. `products`: scratch for
  /// eight vectors. (Through memory, since otherwise the compiler takes the products apart lane by lane.)
  @inline(__always) @_noLocks func taps(
    _ position: Int, _ wholes: UnsafePointer<Int32>, _ parts: UnsafePointer<Float>,
    _ products: UnsafeMutablePointer<Float>
  ) -> Frames {
    var frame = 0
    while frame < 16 {
      let first = eight(position &+ frame &- Int(wholes[frame]) &- 4)
      let second = eight(position &+ frame &- 3 &- Int(wholes[frame &+ 1]))
      let d = Frames(
        lowHalf: SIMD8(repeating: parts[frame]), highHalf: SIMD8(repeating: parts[frame &+ 1]))
      products.store(Interpolator.weights(d) * Frames(lowHalf: first, highHalf: second), frame &* 8)
      frame &+= 2
    }
    let low = pairSums(pairs(products, 0), pairs(products, 2))
    let high = pairSums(pairs(products, 4), pairs(products, 6))
    return pairSums(low, high)
  }

  @inline(__always) @_noLocks private func pairs(
    _ products: UnsafeMutablePointer<Float>, _ row: Int
  ) -> Frames {
    pairSums(products.vector(row &* 16), products.vector(row &* 16 &+ 16))
  }

  /// One such frame, to the same bits, for wholes of at least one. Closer to the present there are fewer frames:
  /// below four a cubic through four of them, below two a line between two. (All agree at whole frames.)
  @inline(__always) @_noLocks func tap(_ position: Int, _ whole: Int, _ part: Float) -> Float {
    let d = SIMD8<Float>(repeating: part)
    let weights: SIMD8<Float>
    if whole >= 4 {
      weights = Interpolator.weights(d)
    } else if whole >= 2 {
      weights = Interpolator.cubic(d)
    } else {
      weights = Interpolator.line(d)
    }
    let products = weights * eight(position &- whole &- 4)
    let four = products.evenHalf + products.oddHalf
    let two = four.evenHalf + four.oddHalf
    return two[0] + two[1]
  }
}

/// Weights of eight neighbouring frames, oldest first, for a place `d` (0...1) frames before the fifth of them.
///
/// Polynomials in `d`, designed for the frequency domain (J. Vesma and T. Saramäki, "Interpolation filters with
/// arbitrary frequency response for all-digital receivers", 1996). By linear programming the largest error up to a
/// third of the sample rate is least, with less and less towards low frequencies (-50 dB at 5 kHz of 48); no frequency
/// is amplified, so that a loop with full feedback stays bounded; whole frames are exact. Half a frame costs 0.13 dB
/// at 15 kHz of 48, where a cubic costs 2.5 dB.
enum Interpolator {
  @inline(__always) @_noLocks static func weights(_ d: Frames) -> Frames {
    var w = d * twice(a5) + twice(a4)
    w = w * d + twice(a3)
    w = w * d + twice(a2)
    w = w * d + twice(a1)
    return w * d + twice(a0)
  }

  @inline(__always) @_noLocks static func weights(_ d: SIMD8<Float>) -> SIMD8<Float> {
    var w = d * a5 + a4
    w = w * d + a3
    w = w * d + a2
    w = w * d + a1
    return w * d + a0
  }

  /// Cubic Hermite interpolation through the four middle frames.
  @inline(__always) @_noLocks static func cubic(_ d: SIMD8<Float>) -> SIMD8<Float> {
    var w = d * SIMD8(0, 0, 0.5, -1.5, 1.5, -0.5, 0, 0) + SIMD8(0, 0, -0.5, 2, -2.5, 1, 0, 0)
    w = w * d + SIMD8(0, 0, 0, 0.5, 0, -0.5, 0, 0)
    return w * d + a0
  }

  @inline(__always) @_noLocks static func line(_ d: SIMD8<Float>) -> SIMD8<Float> {
    d * SIMD8(0, 0, 0, 1, -1, 0, 0, 0) + a0
  }

  @inline(__always) @_noLocks private static func twice(_ v: SIMD8<Float>) -> Frames {
    Frames(lowHalf: v, highHalf: v)
  }

  private static var a0: SIMD8<Float> { @inline(__always) @_noLocks get { SIMD8(0, 0, 0, 0, 1, 0, 0, 0) } }
  private static var a1: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        -0.007_650_006_9, 0.020_073_615, -0.210_608_21, 0.953_201_95, -0.137_345_56, -0.746_239_69,
        0.065_693_448, 0.062_874_452)
    }
  }
  private static var a2: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0.343_705_91, -0.464_188_45, 0.285_519_88, -0.365_963_39, -0.097_320_845, -0.411_477_21,
        1.653_084_4, -0.943_360_27)
    }
  }
  private static var a3: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        -1.677_080_2, 3.187_981_8, -2.989_346_3, 4.731_975_4, -5.437_119_7, 5.154_956_8, -5.737_307_8,
        2.765_94)
    }
  }
  private static var a4: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        2.416_517_1, -4.997_999_3, 5.218_326_2, -7.316_213_9, 7.668_786_1, -6.301_131_4, 6.272_662_3,
        -2.960_947)
    }
  }
  private static var a5: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        -1.075_492_8, 2.254_132_3, -2.303_891_5, 2.997, -2.997, 2.303_891_5, -2.254_132_3, 1.075_492_8)
    }
  }
}
