import CVector
import Realtime

/// The neighbours of sixteen positions: the frames before, at, after, and the second after each position; one
/// vector each.
struct Taps {
  private var before: SIMD16<Float>
  private var at: SIMD16<Float>
  private var after: SIMD16<Float>
  private var second: SIMD16<Float>
  /// Scale of all four.
  private var scale: Float = 1

  /// The values at the positions: the 4-point, third-order Hermite interpolator, also known as the
  /// Catmull-Rom spline (O. Niemitalo, "Polynomial Interpolators for High-Quality Resampling of Oversampled
  /// Audio", 2001). At a fraction of 0 it is exactly the frame itself. Audio thread.
  @_noLocks @inline(__always) func interpolated(_ f: SIMD16<Float>) -> SIMD16<Float> {
    let c1 = (after - before) * 0.5
    let c2 = sum(sum(sum(before, at, -2.5), after, 2), second, -0.5)
    let c3 = sum((second - before) * 0.5, at - after, 1.5)
    return sostenuto_add_product(
      at, sostenuto_add_product(c1, sostenuto_add_product(c2, c3, f), f), f) * scale
  }

  @_noLocks @inline(__always)
  private func sum(_ sum: SIMD16<Float>, _ v: SIMD16<Float>, _ factor: Float) -> SIMD16<Float> {
    sostenuto_add_product(sum, v, SIMD16(repeating: factor))
  }

  /// Neighbours by their places. Audio thread.
  @_noLocks @inline(__always)
  init(before: SIMD16<Float>, at: SIMD16<Float>, after: SIMD16<Float>, second: SIMD16<Float>) {
    (self.before, self.at, self.after, self.second) = (before, at, after, second)
  }

  /// Neighbours from four vectors of four positions each; every position has its four neighbours side by
  /// side.
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

  /// Neighbours from the results of the slow path: sixteen times four floats. Audio thread.
  @_noLocks @inline(__always) init(gathered: UnsafePointer<Float>) {
    let raw = UnsafeRawPointer(gathered)
    self.init(
      raw.loadUnaligned(as: SIMD16<Float>.self), (raw + 64).loadUnaligned(as: SIMD16<Float>.self),
      (raw + 128).loadUnaligned(as: SIMD16<Float>.self), (raw + 192).loadUnaligned(as: SIMD16<Float>.self))
  }

  /// Neighbours from sixteen words of four integers each, in pairs.
  @_noLocks @inline(__always)
  private init(
    _ a: SIMD4<UInt64>, _ b: SIMD4<UInt64>, _ c: SIMD4<UInt64>, _ d: SIMD4<UInt64>
  ) {
    // Pairs of integers in the lanes of floats, only for moving them.
    let low = unsafeBitCast(SIMD8(lowHalf: a, highHalf: b), to: SIMD16<Float>.self)
    let high = unsafeBitCast(SIMD8(lowHalf: c, highHalf: d), to: SIMD16<Float>.self)
    self.init(
      first: unsafeBitCast(evens(low, high), to: SIMD16<UInt32>.self),
      last: unsafeBitCast(odds(low, high), to: SIMD16<UInt32>.self))
  }

  /// Neighbours from the first two and the last two of each position, packed as halves of integers. Audio
  /// thread.
  @_noLocks @inline(__always) init(first: SIMD16<UInt32>, last: SIMD16<UInt32>) {
    before = SamplePlane.lower(first)
    at = SamplePlane.upper(first)
    after = SamplePlane.lower(last)
    second = SamplePlane.upper(last)
    scale = SamplePlane.scale
  }

  /// Around sixteen positions `increment` apart (both 32.32 fixed point). All frames read must lie in the
  /// plane or its margin. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, position: Int64, increment: Int64) {
    self.init(plane, position: position, increment: increment, change: 0)
  }

  /// The same with an increment that itself grows by `change` per position. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, position p: Int64, increment: Int64, change: Int64) {
    let base = plane.base
    // After n steps the position has moved by n increments and n (n - 1) / 2 changes.
    let (q, second) = (p &+ increment &* 4 &+ change &* 6, increment &+ change &* 4)
    let (r, third) = (p &+ increment &* 8 &+ change &* 28, increment &+ change &* 8)
    let (s, fourth) = (p &+ increment &* 12 &+ change &* 66, increment &+ change &* 12)
    if plane.isShort {
      self.init(
        Self.words(base, p, increment, change), Self.words(base, q, second, change),
        Self.words(base, r, third, change), Self.words(base, s, fourth, change))
    } else {
      self.init(
        Self.floats(base, p, increment, change), Self.floats(base, q, second, change),
        Self.floats(base, r, third, change), Self.floats(base, s, fourth, change))
    }
  }

  @_noLocks @inline(__always) private static func floats(
    _ base: UnsafeRawPointer, _ p: Int64, _ step: Int64, _ change: Int64
  ) -> SIMD16<Float> {
    SamplePlane.floats(
      base, before(p), before(p &+ step), before(p &+ step &* 2 &+ change),
      before(p &+ step &* 3 &+ change &* 3))
  }

  @_noLocks @inline(__always) private static func words(
    _ base: UnsafeRawPointer, _ p: Int64, _ step: Int64, _ change: Int64
  ) -> SIMD4<UInt64> {
    SamplePlane.words(
      base, before(p), before(p &+ step), before(p &+ step &* 2 &+ change),
      before(p &+ step &* 3 &+ change &* 3))
  }

  /// The same around any sixteen positions. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: SamplePlane, positions f: UnsafePointer<Int64>) {
    let base = plane.base
    if plane.isShort {
      self.init(
        Self.words(base, f), Self.words(base, f + 4), Self.words(base, f + 8), Self.words(base, f + 12))
    } else {
      self.init(
        Self.floats(base, f), Self.floats(base, f + 4), Self.floats(base, f + 8), Self.floats(base, f + 12))
    }
  }

  @_noLocks @inline(__always)
  private static func floats(_ base: UnsafeRawPointer, _ f: UnsafePointer<Int64>) -> SIMD16<Float> {
    SamplePlane.floats(base, before(f[0]), before(f[1]), before(f[2]), before(f[3]))
  }

  @_noLocks @inline(__always)
  private static func words(_ base: UnsafeRawPointer, _ f: UnsafePointer<Int64>) -> SIMD4<UInt64> {
    SamplePlane.words(base, before(f[0]), before(f[1]), before(f[2]), before(f[3]))
  }

  /// The frame before a position.
  @_noLocks @inline(__always) private static func before(_ position: Int64) -> Int {
    Int(position >> 32) &- 1
  }
}

/// The fractions 0..<1 of positions `increment` apart: the upper 23 bits of the low half, as the mantissa of
/// a float in 1..<2. Audio thread.
@_noLocks @inline(__always) func fractions(position: Int64, increment: Int64) -> SIMD16<Float> {
  let numbers = SIMD16<UInt32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  return fractions(
    numbers &* SIMD16(repeating: UInt32(truncatingIfNeeded: increment))
      &+ SIMD16(repeating: UInt32(truncatingIfNeeded: position)))
}

/// The same with an increment that itself grows by `change` per position. Audio thread.
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

/// A frame increment in 32.32 fixed point, limited to 4096 frames per frame. Audio thread.
@_noLocks @inline(__always) func fixedPoint(_ ratio: Double) -> Int64 {
  let limited = ratio < 4096 ? (ratio > -4096 ? ratio : -4096) : 4096
  return Int64(limited * 4_294_967_296)
}
