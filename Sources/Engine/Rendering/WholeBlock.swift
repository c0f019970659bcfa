import CVector
import Realtime

/// The 64 frames of a block and one channel, in registers. Audio thread.
struct WholeBlock {
  private var a: SIMD16<Float>
  private var b: SIMD16<Float>
  private var c: SIMD16<Float>
  private var d: SIMD16<Float>

  @inline(__always) @_noLocks init(_ from: UnsafePointer<Float>) {
    (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
  }

  /// The same number in all frames.
  @inline(__always) @_noLocks init(repeating value: Float) {
    a = SIMD16(repeating: value)
    (b, c, d) = (a, a, a)
  }

  /// Frames times a gain, plus an addend.
  @inline(__always) @_noLocks init(_ from: UnsafePointer<Float>, times gain: Float, plus addend: Float) {
    self.init(from)
    multiply(by: Affine(factor: gain, addend: addend))
  }

  @inline(__always) @_noLocks func store(to: UnsafeMutablePointer<Float>) {
    to.store(a, 0)
    to.store(b, 16)
    to.store(c, 32)
    to.store(d, 48)
  }

  /// Times a factor, plus an addend.
  @inline(__always) @_noLocks mutating func multiply(by affine: Affine) {
    a = sostenuto_affine(a, affine.factor, affine.addend)
    b = sostenuto_affine(b, affine.factor, affine.addend)
    c = sostenuto_affine(c, affine.factor, affine.addend)
    d = sostenuto_affine(d, affine.factor, affine.addend)
  }

  /// The same, where a signal times `gain` is added to the factor.
  @inline(__always) @_noLocks mutating func multiply(
    by affine: Affine, factorPlus signal: UnsafePointer<Float>, times gain: Float
  ) {
    a = sostenuto_affine_by_factor(a, affine.factor, affine.addend, signal.vector(0), gain)
    b = sostenuto_affine_by_factor(b, affine.factor, affine.addend, signal.vector(16), gain)
    c = sostenuto_affine_by_factor(c, affine.factor, affine.addend, signal.vector(32), gain)
    d = sostenuto_affine_by_factor(d, affine.factor, affine.addend, signal.vector(48), gain)
  }

  /// The same, where it is added to the addend.
  @inline(__always) @_noLocks mutating func multiply(
    by affine: Affine, addendPlus signal: UnsafePointer<Float>, times gain: Float
  ) {
    a = sostenuto_affine_by_addend(a, affine.factor, affine.addend, signal.vector(0), gain)
    b = sostenuto_affine_by_addend(b, affine.factor, affine.addend, signal.vector(16), gain)
    c = sostenuto_affine_by_addend(c, affine.factor, affine.addend, signal.vector(32), gain)
    d = sostenuto_affine_by_addend(d, affine.factor, affine.addend, signal.vector(48), gain)
  }

  @inline(__always) @_noLocks mutating func add(_ other: WholeBlock) {
    a += other.a
    b += other.b
    c += other.c
    d += other.d
  }

  /// Adds frames times `gain`, each rounded.
  @inline(__always) @_noLocks mutating func add(_ other: WholeBlock, times gain: Float) {
    a += other.a * gain
    b += other.b * gain
    c += other.c * gain
    d += other.d * gain
  }

  /// Adds its frames' magnitudes.
  @inline(__always) func measure(_ magnitudes: inout some MagnitudeSum) { magnitudes.add(a, b, c, d) }
}
