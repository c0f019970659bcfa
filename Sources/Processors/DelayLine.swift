import CVector
import Realtime

/// Past sound of one channel: a ring of frames. The first sixteen are repeated behind the end, so that a vector
/// may begin at any frame. As many again are there for what is written beyond them.
struct DelayLine: BitwiseCopyable {
  /// Frames behind the end.
  static var margin: Int { @inline(__always) @_noLocks get { 32 } }

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

  /// True if nothing can be heard of the frames from `position` on.
  @_noLocks func isFaded(_ position: Int, _ frames: Int) -> Bool {
    var frame = 0
    while frame < frames {
      if !isInaudible(self[position &+ frame]) { return false }
      frame &+= 1
    }
    return true
  }

  /// Drops the cell before a position, of which nothing can be heard. A line of such cells is empty: what wakes it is heard
  /// alone, wherever its block begins.
  @inline(never) @_noLocks func drop(before position: Int) {
    var frame = position &- blockCapacity
    while frame < position {
      write(0, at: frame)
      frame &+= 1
    }
  }

  @inline(__always) @_noLocks func write(_ value: Float, at position: Int) {
    let place = position & (length &- 1)
    frames[place] = value
    if place < 16 { frames[length &+ place] = value }
  }

  /// Writes the first `count` lanes. `scratch`: memory for a vector.
  @inline(__always) @_noLocks
  func write(_ values: Frames, _ count: Int, at position: Int, _ scratch: UnsafeMutablePointer<Float>) {
    let place = position & (length &- 1)
    if count == 16, place &+ 16 <= length {
      frames.store(values, place)
      if place < 16 { frames.store(values, length &+ place) }
    } else {
      scratch.store(values, 0)
      writeAtEdge(scratch, count, at: position)
    }
  }

  @inline(never) @_noLocks
  private func writeAtEdge(_ values: UnsafePointer<Float>, _ count: Int, at position: Int) {
    var frame = 0
    while frame < count {
      write(values[frame], at: position &+ frame)
      frame &+= 1
    }
  }

  /// Asks for a block from `position` on, before it is read or written.
  @inline(__always) @_noLocks func fetch(_ position: Int) { sostenuto_fetch(address(position), 320) }

  /// Where a whole block can be read from `position` on; nil: the end lies within it.
  @inline(__always) @_noLocks func whole(_ position: Int) -> UnsafePointer<Float>? {
    let place = position & (length &- 1)
    return place &+ blockCapacity <= length &+ 16 ? UnsafePointer(frames + place) : nil
  }

  /// Where a block is written that begins at a multiple of 64, before which the end does not come.
  @inline(__always) @_noLocks func room(_ position: Int) -> UnsafeMutablePointer<Float> { address(position) }

  /// Repeats the first sixteen frames behind the end, if it is these that begin at `position`.
  @inline(__always) @_noLocks func close(_ values: Frames, at position: Int) {
    if position & (length &- 1) == 0 { frames.store(values, length) }
  }

  /// Repeats the first frames behind the end.
  @_noLocks func closeRing() { copyMemory(frames + length, frames, 64) }

  /// The line of another channel, so many floats further.
  @_noLocks func beside(_ distance: Int) -> DelayLine { DelayLine(frames + distance, length: length) }

  /// Copies the frames `first..<end` of a line that is not longer to the same positions; `closeRing` completes it.
  @_noLocks func copy(_ other: DelayLine, from first: Int, to end: Int) {
    var position = first
    while position < end {
      let (place, source) = (position & (length &- 1), position & (other.length &- 1))
      var count = end &- position
      count = count < length &- place ? count : length &- place
      count = count < other.length &- source ? count : other.length &- source
      copyMemory(frames + place, other.frames + source, count &* 4)
      position = position &+ count
    }
  }

  /// Delays as whole frames and parts of one, 0...1.
  @inline(__always) @_noLocks static func split(_ delays: Frames) -> (SIMD16<Int32>, Frames) {
    // Rounded by the addition: from there on a float has no fraction.
    let rounded = (delays - 0.5) + 12_582_912
    let whole = unsafeBitCast(rounded, to: SIMD16<Int32>.self) &- 0x4b40_0000
    return (whole, delays - (rounded - 12_582_912))
  }

  /// The frames from `position`, each `whole + part` frames earlier, for wholes of at least four. `products`: scratch for
  /// eight vectors.
  @inline(__always) @_noLocks func taps(
    _ position: Int, _ wholes: UnsafePointer<Int32>, _ parts: UnsafePointer<Float>,
    _ products: UnsafeMutablePointer<Float>
  ) -> Frames {
    if hasWideVectors {
      let (first, last) = (0 &- wholes[0], 15 &- wholes[15])
      let least = first < last ? first : last
      let start = position &+ Int(least) &- 4
      if sostenuto_near_taps(address(start), address(start &+ 16), wholes, parts, least, products) {
        return products.vector(0)
      }
    }
    writeProducts(position, wholes, parts, products)
    return sostenuto_sum_rows(products)
  }

  /// The neighbours of each of sixteen places, times their weights.
  @inline(never) @_noLocks private func writeProducts(
    _ position: Int, _ wholes: UnsafePointer<Int32>, _ parts: UnsafePointer<Float>,
    _ products: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < 16 {
      let first = eight(position &+ frame &- Int(wholes[frame]) &- 4)
      let second = eight(position &+ frame &- 3 &- Int(wholes[frame &+ 1]))
      let d = Frames(
        lowHalf: SIMD8(repeating: parts[frame]), highHalf: SIMD8(repeating: parts[frame &+ 1]))
      products.store(Interpolator.weights(d) * Frames(lowHalf: first, highHalf: second), frame &* 8)
      frame &+= 2
    }
  }

  /// The same with weights that are as flat as `flats` says in each frame (`Interpolator.weights(_:flat:)`).
  @inline(__always) @_noLocks func taps(
    _ position: Int, _ wholes: UnsafePointer<Int32>, _ parts: UnsafePointer<Float>,
    flats: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>
  ) -> Frames {
    writeProducts(position, wholes, parts, flats, products)
    return sostenuto_sum_rows(products)
  }

  @inline(never) @_noLocks private func writeProducts(
    _ position: Int, _ wholes: UnsafePointer<Int32>, _ parts: UnsafePointer<Float>,
    _ flats: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < 16 {
      let first = eight(position &+ frame &- Int(wholes[frame]) &- 4)
      let second = eight(position &+ frame &- 3 &- Int(wholes[frame &+ 1]))
      let d = Frames(
        lowHalf: SIMD8(repeating: parts[frame]), highHalf: SIMD8(repeating: parts[frame &+ 1]))
      let flat = Frames(
        lowHalf: SIMD8(repeating: flats[frame]), highHalf: SIMD8(repeating: flats[frame &+ 1]))
      products.store(
        Interpolator.weights(d, flat: flat) * Frames(lowHalf: first, highHalf: second), frame &* 8)
      frame &+= 2
    }
  }

  /// The same for a delay that is the same for all frames, by its `weights`, to the same bits.
  @inline(__always) @_noLocks
  func taps(_ position: Int, _ whole: Int, _ weights: UnsafePointer<Float>) -> Frames {
    sostenuto_even_taps(
      frames, Int64(truncatingIfNeeded: position &- whole &- 4), Int64(truncatingIfNeeded: length &- 1),
      weights)
  }

  /// One such frame, to the same bits, for wholes of at least one. Closer to the present there are fewer frames:
  /// below four a cubic through four of them, below two a line between two. (All agree at whole frames.)
  @inline(__always) @_noLocks func tap(_ position: Int, _ whole: Int, _ part: Float) -> Float {
    let products = Interpolator.weights(whole, part) * eight(position &- whole &- 4)
    let four = products.lowHalf + products.highHalf
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
    var w = addProduct(twice(a4), d, twice(a5))
    w = addProduct(twice(a3), w, d)
    w = addProduct(twice(a2), w, d)
    w = addProduct(twice(a1), w, d)
    return addProduct(twice(a0), w, d)
  }

  /// The same on the way to Lagrange's weights: at 0 these, at 1 Lagrange's. Those lose 6e-6 at a twelfth of the rate, where
  /// the others lose 1.5e-3, for loops so short that a loss there is heard as a decay; but half a frame costs them 0.8 dB at
  /// 15 kHz of 48. They amplify no frequency either.
  @inline(__always) @_noLocks static func weights(_ d: Frames, flat: Frames) -> Frames {
    var w = addProduct(twice(b6), d, twice(b7))
    w = addProduct(twice(b5), w, d)
    w = addProduct(twice(b4), w, d)
    w = addProduct(twice(b3), w, d)
    w = addProduct(twice(b2), w, d)
    w = addProduct(twice(b1), w, d)
    w = addProduct(twice(a0), w, d)
    let plain = weights(d)
    return addProduct(plain, flat, w - plain)
  }

  /// The weights for a delay of `whole` frames and a part of one.
  @inline(__always) @_noLocks static func weights(_ whole: Int, _ part: Float) -> SIMD8<Float> {
    if whole >= 4 { return weights(Frames(repeating: part)).lowHalf }
    let d = SIMD8<Float>(repeating: part)
    return whole >= 2 ? cubic(d) : line(d)
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
  private static var b1: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        -0.007_142_857, 0.066_666_67, -0.3, 1, -0.25, -0.6, 0.1, -0.009_523_81)
    }
  }
  private static var b2: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0, 0.005_555_555_6, -0.075, 0.75, -1.361_111_11, 0.75, -0.075, 0.005_555_555_6)
    }
  }
  private static var b3: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0.009_722_222_2, -0.088_888_89, 0.370_833_33, -0.611_111_1, 0.340_277_8, 0.066_666_67,
        -0.098_611_11, 0.011_111_111)
    }
  }
  private static var b4: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0, -0.006_944_444_4, 0.083_333_333, -0.270_833_33, 0.388_888_9, -0.270_833_33, 0.083_333_333,
        -0.006_944_444_4)
    }
  }
  private static var b5: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        -0.002_777_777_8, 0.023_611_111, -0.075, 0.118_055_555_6, -0.097_222_222, 0.037_5, -0.002_777_777_8,
        -0.001_388_888_9)
    }
  }
  private static var b6: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0, 0.001_388_888_9, -0.008_333_333_33, 0.020_833_333_3, -0.027_777_778, 0.020_833_333_3,
        -0.008_333_333_33, 0.001_388_888_9)
    }
  }
  private static var b7: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      SIMD8(
        0.000_198_412_7, -0.001_388_888_9, 0.004_166_667, -0.006_944_444_4, 0.006_944_444_4, -0.004_166_667,
        0.001_388_888_9, -0.000_198_412_7)
    }
  }
}
