import Realtime

/// The neighbours of sixteen positions: the frames before, at, after, and the ones after those; a vector
/// each.
struct Taps {
  private var before: SIMD16<Float>
  private var at: SIMD16<Float>
  private var after: SIMD16<Float>
  private var second: SIMD16<Float>

  /// The values at the positions: the 4-point, third-order Hermite interpolator, also known as the
  /// Catmull-Rom spline (O. Niemitalo, "Polynomial Interpolators for High-Quality Resampling of
  /// Oversampled Audio", 2001). At a fraction of 0 it is the frame itself, exactly. Audio thread.
  @_noLocks @inline(__always) func interpolated(_ f: SIMD16<Float>) -> SIMD16<Float> {
    let c1 = (after - before) * 0.5
    let c2 = before - at * 2.5 + after * 2 - second * 0.5
    let c3 = (second - before) * 0.5 + (at - after) * 1.5
    return ((c3 * f + c2) * f + c1) * f + at
  }

  /// From four vectors of four positions each, of which every one has its four neighbours side by side.
  @_noLocks @inline(__always)
  private init(_ a: SIMD16<Float>, _ b: SIMD16<Float>, _ c: SIMD16<Float>, _ d: SIMD16<Float>) {
    let evenLow = evens(a, b)
    let evenHigh = evens(c, d)
    let oddLow = odds(a, b)
    let oddHigh = odds(c, d)
    before = evens(evenLow, evenHigh)
    at = evens(oddLow, oddHigh)
    after = odds(evenLow, evenHigh)
    second = odds(oddLow, oddHigh)
  }

  /// From what the slow path gathered: sixteen times four floats. Audio thread.
  @_noLocks @inline(__always) init(gathered: UnsafePointer<Float>) {
    let raw = UnsafeRawPointer(gathered)
    self.init(
      raw.loadUnaligned(as: SIMD16<Float>.self), (raw + 64).loadUnaligned(as: SIMD16<Float>.self),
      (raw + 128).loadUnaligned(as: SIMD16<Float>.self), (raw + 192).loadUnaligned(as: SIMD16<Float>.self))
  }

  /// Around sixteen positions that are `increment` apart (both 32.32 fixed point). All that is read must
  /// lie in the plane or its margin. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, position: Int64, increment: Int64) {
    self.init(plane, position: position, increment: increment, change: 0)
  }

  /// The same while the distance itself grows by `change` with each. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, position: Int64, increment: Int64, change: Int64) {
    if plane.isShort {
      self.init(true, plane.base, position, increment, change)
      scale(SamplePlane.scale)
    } else {
      self.init(false, plane.base, position, increment, change)
    }
  }

  @_noLocks @inline(__always)
  private init(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ position: Int64, _ increment: Int64, _ change: Int64
  ) {
    // After n steps the position has moved by n increments and n (n - 1) / 2 changes.
    let second = increment &* 4 &+ change &* 6
    let third = increment &* 8 &+ change &* 28
    let fourth = increment &* 12 &+ change &* 66
    self.init(
      Self.four(isShort, base, position, increment, change),
      Self.four(isShort, base, position &+ second, increment &+ change &* 4, change),
      Self.four(isShort, base, position &+ third, increment &+ change &* 8, change),
      Self.four(isShort, base, position &+ fourth, increment &+ change &* 12, change))
  }

  @_noLocks @inline(__always) private static func four(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ p: Int64, _ step: Int64, _ change: Int64
  ) -> SIMD16<Float> {
    SamplePlane.sixteen(
      base, isShort: isShort, before(p), before(p &+ step), before(p &+ step &* 2 &+ change),
      before(p &+ step &* 3 &+ change &* 3))
  }

  /// The same for positions of any distance: `steps` are the distances to each next. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, position: Int64, steps: UnsafePointer<Int64>) {
    if plane.isShort {
      self.init(true, plane.base, position, steps)
      scale(SamplePlane.scale)
    } else {
      self.init(false, plane.base, position, steps)
    }
  }

  @_noLocks @inline(__always)
  private init(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ position: Int64, _ steps: UnsafePointer<Int64>
  ) {
    var p = position
    let a = Self.four(isShort, base, &p, steps)
    let b = Self.four(isShort, base, &p, steps + 4)
    let c = Self.four(isShort, base, &p, steps + 8)
    self.init(a, b, c, Self.four(isShort, base, &p, steps + 12))
  }

  @_noLocks @inline(__always)
  private static func four(
    _ isShort: Bool, _ base: UnsafeRawPointer, _ p: inout Int64, _ steps: UnsafePointer<Int64>
  ) -> SIMD16<Float> {
    let a = before(p)
    p = p &+ steps[0]
    let b = before(p)
    p = p &+ steps[1]
    let c = before(p)
    p = p &+ steps[2]
    let d = before(p)
    p = p &+ steps[3]
    return SamplePlane.sixteen(base, isShort: isShort, a, b, c, d)
  }

  /// The frame before a position.
  @_noLocks @inline(__always) private static func before(_ position: Int64) -> Int {
    Int(position >> 32) &- 1
  }

  @_noLocks @inline(__always) private mutating func scale(_ scale: Float) {
    before *= scale
    at *= scale
    after *= scale
    second *= scale
  }
}

/// Every second element of two vectors, from the first on. (The library's `evenHalf` is not always
/// inlined.)
@_noLocks @inline(__always)
func evens(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
  SIMD16(
    a[0], a[2], a[4], a[6], a[8], a[10], a[12], a[14], b[0], b[2], b[4], b[6], b[8], b[10], b[12], b[14])
}

/// Every second element of two vectors, from the second on.
@_noLocks @inline(__always)
func odds(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
  SIMD16(
    a[1], a[3], a[5], a[7], a[9], a[11], a[13], a[15], b[1], b[3], b[5], b[7], b[9], b[11], b[13], b[15])
}

/// The fractions 0..<1 of positions that are `increment` apart: the upper 23 bits of the low half, as the
/// mantissa of a float of 1..<2. Audio thread.
@_noLocks @inline(__always) func fractions(position: Int64, increment: Int64) -> SIMD16<Float> {
  let numbers = SIMD16<UInt32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  return fractions(
    numbers &* SIMD16(repeating: UInt32(truncatingIfNeeded: increment))
      &+ SIMD16(repeating: UInt32(truncatingIfNeeded: position)))
}

/// The same while the distance itself grows by `change` with each. Audio thread.
@_noLocks @inline(__always)
func fractions(position: Int64, increment: Int64, change: Int64) -> SIMD16<Float> {
  let numbers = SIMD16<UInt32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  let triangles = SIMD16<UInt32>(0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105)
  return fractions(
    numbers &* SIMD16(repeating: UInt32(truncatingIfNeeded: increment))
      &+ (triangles &* SIMD16(repeating: UInt32(truncatingIfNeeded: change))
        &+ SIMD16(repeating: UInt32(truncatingIfNeeded: position))))
}

/// The fractions of sixteen low halves of positions. Audio thread.
@_noLocks @inline(__always) func fractions(_ low: SIMD16<UInt32>) -> SIMD16<Float> {
  unsafeBitCast((low &>> 9) | 0x3F80_0000, to: SIMD16<Float>.self) - 1
}

/// The lanes' numbers.
var lanes16: SIMD16<Float> {
  @_noLocks @inline(__always) get { SIMD16<Float>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}

/// Adds sixteen values to memory at any address. Audio thread.
@_noLocks @inline(__always) func add(_ values: SIMD16<Float>, to memory: UnsafeMutablePointer<Float>) {
  let raw = UnsafeMutableRawPointer(memory)
  raw.storeBytes(of: raw.loadUnaligned(as: SIMD16<Float>.self) + values, as: SIMD16<Float>.self)
}

/// `cycles a frame` in 32.32 fixed point, limited to 4096 frames a frame. Audio thread.
@_noLocks @inline(__always) func fixedPoint(_ ratio: Double) -> Int64 {
  let limited = ratio < 4096 ? (ratio > -4096 ? ratio : -4096) : 4096
  return Int64(limited * 4_294_967_296)
}

/// `blockCapacity`, where the audio thread needs it: a constant that the compiler can see.
var blockFrames: Int { @_noLocks @inline(__always) get { 64 } }
