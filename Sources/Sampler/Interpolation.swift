import Realtime

/// The neighbours of sixteen positions: of each the frame before, at, after, and the one after that, side
/// by side; four positions a vector.
struct Taps {
  var first: SIMD16<Float>
  var second: SIMD16<Float>
  var third: SIMD16<Float>
  var fourth: SIMD16<Float>

  /// The values at the positions, from the weights of the neighbours. Audio thread.
  @_noLocks @inline(__always) func interpolated(_ weights: Weights) -> SIMD16<Float> {
    let low = SIMD32(lowHalf: first * weights.first, highHalf: second * weights.second)
    let high = SIMD32(lowHalf: third * weights.third, highHalf: fourth * weights.fourth)
    let pairs = SIMD32(lowHalf: low.evenHalf + low.oddHalf, highHalf: high.evenHalf + high.oddHalf)
    return pairs.evenHalf + pairs.oddHalf
  }

  /// From what the slow path gathered: sixteen times four floats. Audio thread.
  @_noLocks @inline(__always) init(gathered: UnsafePointer<Float>) {
    let raw = UnsafeRawPointer(gathered)
    first = raw.loadUnaligned(as: SIMD16<Float>.self)
    second = (raw + 64).loadUnaligned(as: SIMD16<Float>.self)
    third = (raw + 128).loadUnaligned(as: SIMD16<Float>.self)
    fourth = (raw + 192).loadUnaligned(as: SIMD16<Float>.self)
  }

  /// Around sixteen positions that are `increment` apart (both 32.32 fixed point). All that is read must
  /// lie in the plane or its margin. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: UnsafePointer<Float>, position: Int64, increment: Int64) {
    let base = UnsafeRawPointer(plane - 1)
    first = Self.four(base, position, increment)
    second = Self.four(base, position &+ increment &* 4, increment)
    third = Self.four(base, position &+ increment &* 8, increment)
    fourth = Self.four(base, position &+ increment &* 12, increment)
  }

  /// The same for positions of any distance: `steps` are the distances to each next. Audio thread.
  @_noLocks @inline(__always)
  init(_ plane: UnsafePointer<Float>, position: Int64, steps: UnsafePointer<Int64>) {
    let base = UnsafeRawPointer(plane - 1)
    var p = position
    first = Self.four(base, &p, steps)
    second = Self.four(base, &p, steps + 4)
    third = Self.four(base, &p, steps + 8)
    fourth = Self.four(base, &p, steps + 12)
  }

  @_noLocks @inline(__always)
  private static func load(_ base: UnsafeRawPointer, _ position: Int64) -> SIMD4<Float> {
    base.loadUnaligned(fromByteOffset: Int(position >> 32) &<< 2, as: SIMD4<Float>.self)
  }

  @_noLocks @inline(__always)
  private static func four(_ base: UnsafeRawPointer, _ p: Int64, _ step: Int64) -> SIMD16<Float> {
    let a = load(base, p)
    let b = load(base, p &+ step)
    let c = load(base, p &+ step &* 2)
    let d = load(base, p &+ step &* 3)
    return SIMD16(lowHalf: SIMD8(lowHalf: a, highHalf: b), highHalf: SIMD8(lowHalf: c, highHalf: d))
  }

  @_noLocks @inline(__always)
  private static func four(
    _ base: UnsafeRawPointer, _ p: inout Int64, _ steps: UnsafePointer<Int64>
  ) -> SIMD16<Float> {
    let a = load(base, p)
    p = p &+ steps[0]
    let b = load(base, p)
    p = p &+ steps[1]
    let c = load(base, p)
    p = p &+ steps[2]
    let d = load(base, p)
    p = p &+ steps[3]
    return SIMD16(lowHalf: SIMD8(lowHalf: a, highHalf: b), highHalf: SIMD8(lowHalf: c, highHalf: d))
  }
}

/// What each neighbour of sixteen positions counts: the 4-point, third-order Hermite interpolator, also
/// known as the Catmull-Rom spline (O. Niemitalo, "Polynomial Interpolators for High-Quality Resampling
/// of Oversampled Audio", 2001), as a polynomial of the fraction for each neighbour. At a fraction of 0
/// the frame itself counts 1 and the others nothing, exactly.
struct Weights {
  var first: SIMD16<Float>
  var second: SIMD16<Float>
  var third: SIMD16<Float>
  var fourth: SIMD16<Float>

  /// For positions that are `increment` apart. Audio thread.
  @_noLocks @inline(__always) init(position: Int64, increment: Int64) {
    let numbers = SIMD16<UInt32>(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
    let step = UInt32(truncatingIfNeeded: increment)
    let start = UInt32(truncatingIfNeeded: position)
    let low = numbers &* SIMD16(repeating: step)
    first = Self.weights(low &+ start)
    second = Self.weights(low &+ (start &+ step &* 4))
    third = Self.weights(low &+ (start &+ step &* 8))
    fourth = Self.weights(low &+ (start &+ step &* 12))
  }

  /// For sixteen low halves of positions, each given four times. Audio thread.
  @_noLocks @inline(__always) init(_ low: UnsafePointer<UInt32>) {
    let raw = UnsafeRawPointer(low)
    first = Self.weights(raw.loadUnaligned(as: SIMD16<UInt32>.self))
    second = Self.weights((raw + 64).loadUnaligned(as: SIMD16<UInt32>.self))
    third = Self.weights((raw + 128).loadUnaligned(as: SIMD16<UInt32>.self))
    fourth = Self.weights((raw + 192).loadUnaligned(as: SIMD16<UInt32>.self))
  }

  /// The upper 23 bits of the low half, as the mantissa of a float of 1..<2, are the fraction.
  @_noLocks @inline(__always) private static func weights(_ low: SIMD16<UInt32>) -> SIMD16<Float> {
    let f = unsafeBitCast((low &>> 9) | 0x3F80_0000, to: SIMD16<Float>.self) - 1
    let c0 = SIMD16<Float>(0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    let c1 = SIMD16<Float>(-0.5, 0, 0.5, 0, -0.5, 0, 0.5, 0, -0.5, 0, 0.5, 0, -0.5, 0, 0.5, 0)
    let c2 = SIMD16<Float>(1, -2.5, 2, -0.5, 1, -2.5, 2, -0.5, 1, -2.5, 2, -0.5, 1, -2.5, 2, -0.5)
    let c3 = SIMD16<Float>(
      -0.5, 1.5, -1.5, 0.5, -0.5, 1.5, -1.5, 0.5, -0.5, 1.5, -1.5, 0.5, -0.5, 1.5, -1.5, 0.5)
    return ((c3 * f + c2) * f + c1) * f + c0
  }
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
