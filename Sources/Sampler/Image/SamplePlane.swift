import CVector
import Realtime

/// The frames of one channel for the audio thread: floats, or the integers of a 16-bit file in half the
/// memory. Both give the same bits, since an integer differs from its float by a power of two only.
package struct SamplePlane: BitwiseCopyable {
  /// Silent frames before the first and after the last frame of every channel.
  package static var margin: Int { @_noLocks @inline(__always) get { 16 } }

  /// Frames that a window has from its first position on.
  package static var window: Int { @_noLocks @inline(__always) get { 32 } }

  /// The first frame; `margin` silent frames lie before it and after the last.
  package let base: UnsafeRawPointer
  package let isShort: Bool

  package static var scale: Float { @_noLocks @inline(__always) get { 1 / 32768 } }

  @_noLocks @inline(__always) package init(base: UnsafeRawPointer, isShort: Bool) {
    self.base = base
    self.isShort = isShort
  }

  /// One frame. Audio thread.
  package subscript(frame: Int) -> Float {
    @_noLocks @inline(__always) get {
      isShort
        ? Float(base.assumingMemoryBound(to: Int16.self)[frame]) * Self.scale
        : base.assumingMemoryBound(to: Float.self)[frame]
    }
  }

  /// Four frames from each of four positions on, side by side. Audio thread.
  @_noLocks @inline(__always)
  static func floats(_ base: UnsafeRawPointer, _ a: Int, _ b: Int, _ c: Int, _ d: Int) -> SIMD16<Float> {
    let first = base.loadUnaligned(fromByteOffset: a &<< 2, as: SIMD4<Float>.self)
    let second = base.loadUnaligned(fromByteOffset: b &<< 2, as: SIMD4<Float>.self)
    let third = base.loadUnaligned(fromByteOffset: c &<< 2, as: SIMD4<Float>.self)
    let fourth = base.loadUnaligned(fromByteOffset: d &<< 2, as: SIMD4<Float>.self)
    return SIMD16(
      lowHalf: SIMD8(lowHalf: first, highHalf: second), highHalf: SIMD8(lowHalf: third, highHalf: fourth))
  }

  /// The same for 16-bit integers, unconverted: four are one word. Audio thread.
  @_noLocks @inline(__always)
  static func words(_ base: UnsafeRawPointer, _ a: Int, _ b: Int, _ c: Int, _ d: Int) -> SIMD4<UInt64> {
    SIMD4(
      base.loadUnaligned(fromByteOffset: a &<< 1, as: UInt64.self),
      base.loadUnaligned(fromByteOffset: b &<< 1, as: UInt64.self),
      base.loadUnaligned(fromByteOffset: c &<< 1, as: UInt64.self),
      base.loadUnaligned(fromByteOffset: d &<< 1, as: UInt64.self))
  }

  /// The lower and the upper integer of each lane as floats, unscaled. With its sign bit inverted, an integer
  /// is the low end of the mantissa of a float from 2^23 on. Audio thread.
  @_noLocks @inline(__always) static func lower(_ pairs: SIMD16<UInt32>) -> SIMD16<Float> {
    unsafeBitCast((pairs & 0xFFFF) ^ 0x4B00_8000, to: SIMD16<Float>.self) - 8_421_376
  }

  @_noLocks @inline(__always) static func upper(_ pairs: SIMD16<UInt32>) -> SIMD16<Float> {
    unsafeBitCast((pairs &>> 16) ^ 0x4B00_8000, to: SIMD16<Float>.self) - 8_421_376
  }

  /// The sixteen frames from `first`. Audio thread.
  @_noLocks @inline(__always) func vector(_ first: Int) -> SIMD16<Float> {
    isShort
      ? sostenuto_load_words(base + first &<< 1) * Self.scale
      : (base + first &<< 2).loadUnaligned(as: SIMD16<Float>.self)
  }
}
