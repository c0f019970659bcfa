import CVector
import Realtime

/// Sixteen frames of one channel: four such vectors are a full block.
typealias Frames = SIMD16<Float>

extension UnsafePointer where Pointee == Float {
  /// The sixteen frames from `frame`.
  @inline(__always) @_noLocks func vector(_ frame: Int) -> Frames {
    UnsafeRawPointer(self + frame).loadUnaligned(as: Frames.self)
  }
}

extension UnsafeMutablePointer where Pointee == Float {
  @inline(__always) @_noLocks func vector(_ frame: Int) -> Frames {
    UnsafeRawPointer(self + frame).loadUnaligned(as: Frames.self)
  }

  @inline(__always) @_noLocks func store(_ vector: Frames, _ frame: Int) {
    UnsafeMutableRawPointer(self + frame).storeBytes(of: vector, as: Frames.self)
  }
}

/// sum + a * b, in one instruction where there is one. Its rounding is the processor's, so that a kernel which has it in
/// one loop has it in all loops that calculate the same number.
@_transparent @_noLocks func addProduct(_ sum: Frames, _ a: Frames, _ b: Frames) -> Frames {
  sostenuto_add_product(sum, a, b)
}

/// `addProduct` with the same factor for all frames.
@_transparent @_noLocks func addProduct(_ sum: Frames, _ a: Frames, _ b: Float) -> Frames {
  sostenuto_add_product(sum, a, Frames(repeating: b))
}

// A whole block of a channel times a factor, or a factor a frame. Adding zero turns -0 into 0, so that silence has one bit
// pattern. All loads come before the stores: the compiler cannot know that the buffers do not overlap.

@inline(__always) @_noLocks func multiplyWhole(
  _ from: UnsafePointer<Float>, _ factor: Float, to: UnsafeMutablePointer<Float>
) {
  let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
  to.store(a * factor + 0, 0)
  to.store(b * factor + 0, 16)
  to.store(c * factor + 0, 32)
  to.store(d * factor + 0, 48)
}

@inline(__always) @_noLocks func multiplyWhole(
  _ from: UnsafePointer<Float>, _ factors: UnsafePointer<Float>, to: UnsafeMutablePointer<Float>
) {
  let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
  let (e, f, g, h) = (factors.vector(0), factors.vector(16), factors.vector(32), factors.vector(48))
  to.store(a * e + 0, 0)
  to.store(b * f + 0, 16)
  to.store(c * g + 0, 32)
  to.store(d * h + 0, 48)
}

/// Copies a whole block of a channel.
@inline(__always) @_noLocks func copyWhole(_ from: UnsafePointer<Float>, to: UnsafeMutablePointer<Float>) {
  let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
  to.store(a, 0)
  to.store(b, 16)
  to.store(c, 32)
  to.store(d, 48)
}

extension UnsafeMutablePointer where Pointee == Affine {
  /// Each channel times a parameter.
  @inline(__always) @_noLocks func fill(_ count: Int, factors: ParameterStream) {
    var channel = 0
    while channel < count {
      self[channel] = Affine(factor: factors.value(channel), addend: 0)
      channel &+= 1
    }
  }

  /// Each channel times a factor, plus a parameter.
  @inline(__always) @_noLocks func fill(_ count: Int, factor: Float, addends: ParameterStream) {
    var channel = 0
    while channel < count {
      self[channel] = Affine(factor: factor, addend: addends.value(channel))
      channel &+= 1
    }
  }
}

extension ParameterStream {
  /// The sixteen frames from `frame` for `channel`, moving or at rest.
  @inline(__always) @_noLocks func vector(_ channel: Int, _ frame: Int) -> Frames {
    guard let moving = frames(channel) else { return Frames(repeating: value(channel)) }
    return moving.vector(frame)
  }
}

/// `addProduct` with the same number for all frames: a step of Horner's rule.
@_transparent @_noLocks func addProduct(_ sum: Float, _ a: Frames, _ b: Frames) -> Frames {
  sostenuto_add_product(Frames(repeating: sum), a, b)
}

/// The least lane.
@_transparent @_noLocks func least(_ v: SIMD16<UInt32>) -> UInt32 { sostenuto_least(v) }

/// The largest lane.
@_transparent @_noLocks func largest(_ v: SIMD16<UInt32>) -> UInt32 { sostenuto_largest(v) }

/// True where a register holds sixteen floats, and there are 32 registers.
var hasWideVectors: Bool { @inline(__always) @_noLocks get { sostenuto_has_wide_vectors != 0 } }

/// Converts each lane. Written lane by lane because the standard library's conversion is a call.
@inline(__always) @_noLocks func converted(_ v: SIMD16<Int32>) -> Frames {
  Frames(
    Float(v[0]), Float(v[1]), Float(v[2]), Float(v[3]), Float(v[4]), Float(v[5]), Float(v[6]),
    Float(v[7]), Float(v[8]), Float(v[9]), Float(v[10]), Float(v[11]), Float(v[12]), Float(v[13]),
    Float(v[14]), Float(v[15]))
}

@inline(__always) @_noLocks func magnitude(_ v: Frames) -> Frames {
  unsafeBitCast(unsafeBitCast(v, to: SIMD16<UInt32>.self) & 0x7fff_ffff, to: Frames.self)
}

/// `magnitude` with the sign of `sign`.
@inline(__always) @_noLocks func copySign(_ magnitude: Frames, _ sign: Frames) -> Frames {
  let bits = unsafeBitCast(magnitude, to: SIMD16<UInt32>.self)
  let signs = unsafeBitCast(sign, to: SIMD16<UInt32>.self) & 0x8000_0000
  return unsafeBitCast(bits | signs, to: Frames.self)
}

/// `v` where it is above `floor`, else `floor` (for NaN too).
@_transparent @_noLocks func atLeast(_ floor: Float, _ v: Frames) -> Frames {
  sostenuto_at_least(v, floor)
}

/// `v` where it is below `ceiling`, else `ceiling` (for NaN too).
@_transparent @_noLocks func atMost(_ ceiling: Float, _ v: Frames) -> Frames {
  sostenuto_at_most(v, ceiling)
}

/// `v` limited to a range; NaN becomes the lower limit.
@_transparent @_noLocks func limited(_ v: Frames, _ low: Float, _ high: Float) -> Frames {
  atMost(high, atLeast(low, v))
}

/// `v` limited to a range; NaN becomes the lower limit.
@inline(__always) @_noLocks func limited(_ v: Float, _ low: Float, _ high: Float) -> Float {
  v > low ? (v < high ? v : high) : low
}

/// Square roots, correctly rounded.
@_transparent @_noLocks func squareRoots(_ x: Frames) -> Frames { sostenuto_square_roots(x) }

/// 1 / x and 1 / root x of positive numbers, within two units in the last place, without the divider.
@_transparent @_noLocks func inverses(_ x: Frames) -> Frames { sostenuto_inverses(x) }
@_transparent @_noLocks func inverseRoots(_ x: Frames) -> Frames { sostenuto_inverse_roots(x) }

/// Sum of the lanes, by halves.
@_transparent @_noLocks func total(_ v: Frames) -> Float { sostenuto_total(v) }

/// True when every lane is zero. A comparison that ends in one flag goes lane by lane.
@inline(__always) @_noLocks func areZero(_ v: Frames) -> Bool {
  let bits = unsafeBitCast(v, to: SIMD16<UInt32>.self) & 0x7fff_ffff
  let eight = bits.lowHalf | bits.highHalf
  let four = eight.lowHalf | eight.highHalf
  let two = unsafeBitCast(four.lowHalf | four.highHalf, to: UInt64.self)
  return two == 0
}

/// The frames of two phases in turn: `even` first.
@inline(__always) @_noLocks func interleaved(_ even: Frames, _ odd: Frames) -> SIMD32<Float> {
  var both = SIMD32<Float>(repeating: 0)
  both.evenHalf = even
  both.oddHalf = odd
  return both
}

/// sin(pi/2 * x) for x in -1...1: the polynomial of degree 9 with the least relative error, 5e-9, less than rounding has.
@inline(__always) @_noLocks func sineOfQuarters(_ x: Frames) -> Frames {
  let s = x * x
  var sum = addProduct(-4.673_766_4e-3, s, Frames(repeating: 1.514_851_3e-4))
  sum = addProduct(7.968_968e-2, sum, s)
  sum = addProduct(-0.645_963_7, sum, s)
  return x * addProduct(1.570_796_4, sum, s)
}

/// Detects silent input over a whole 64-frame cell of engine time, so that the result does not depend on the
/// split of the cell into blocks.
struct QuietCell {
  private(set) var isQuiet = false

  /// Audio thread.
  @inline(__always) @_noLocks mutating func update(_ block: Block, silent: Bool) {
    if block.time & 63 == 0 { isQuiet = true }
    if !silent { isQuiet = false }
  }

  /// True in the last block of a cell that has been quiet. Audio thread.
  @inline(__always) @_noLocks func isOver(_ block: Block) -> Bool {
    isQuiet && (block.time &+ Int64(block.frames)) & 63 == 0
  }
}

/// True below -200 dB: such state is inaudible, and a kernel drops it when it goes to sleep.
@inline(__always) @_noLocks func isInaudible(_ x: Float) -> Bool { x < 1e-10 && x > -1e-10 }
