import Realtime

/// Phases of one channel in a block, for a moving frequency. Phases are signed fractions of a cycle: 2^32 is a whole
/// cycle.
struct MovingPhases: BitwiseCopyable {
  let phases: UnsafeMutablePointer<Int32>
  /// Magnitudes of the increments, at least one unit.
  let sizes: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    phases = arena.reserve(blockCapacity &* 4).assumingMemoryBound(to: Int32.self)
    sizes = arena.take(Float.self, blockCapacity)
  }

  /// Phase increment of a frame, without whole cycles. `freq`: Hz; `limit` of its magnitude, at most 2e9.
  @inline(__always) @_noLocks static func step(_ freq: Float, _ scale: Double, limit: Float) -> Int32 {
    Int32(truncatingIfNeeded: (Double(limited(freq, 0 - limit, limit)) * scale + rounding).bitPattern)
  }

  /// Magnitude of the increment: at least one unit, and a little more than half a cycle at most.
  @inline(__always) @_noLocks static func size(_ freq: Float, _ scale: Double) -> Float {
    let size = (freq < 0 ? 0 - freq : freq) * Float(scale)
    return size > 1 ? (size < 2_200_000_000 ? size : 2_200_000_000) : 1
  }

  /// Added to a double, it leaves the nearest whole number in the low bits.
  private static var rounding: Double { @inline(__always) @_noLocks get { 6_755_399_441_055_744 } }

  /// Writes the phases of a block that begins at `start`, by a prefix sum of the increments. Returns the phase after it,
  /// and the largest increment.
  @_noLocks func fill(
    from start: Int32, _ freq: UnsafePointer<Float>, _ scale: Double, limit: Float, _ frames: Int
  ) -> (end: Int32, largest: Float) {
    var phase = start
    var most = SIMD16<UInt32>(repeating: 0)
    var frame = 0
    while frame < frames {
      let f = limited(freq.vector(frame), 0 - limit, limit)
      let size = limited(magnitude(f) * Float(scale), 1, 2_200_000_000)
      let low = unsafeBitCast(Self.doubles(f.lowHalf) * scale + Self.rounding, to: SIMD16<Int32>.self)
      let high = unsafeBitCast(Self.doubles(f.highHalf) * scale + Self.rounding, to: SIMD16<Int32>.self)
      let steps = SIMD16<Int32>(
        low[0], low[2], low[4], low[6], low[8], low[10], low[12], low[14],
        high[0], high[2], high[4], high[6], high[8], high[10], high[12], high[14])
      var s = steps
      s =
        s
        &+ SIMD16(
          0, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14])
      s =
        s
        &+ SIMD16(
          0, 0, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13])
      s = s &+ SIMD16(0, 0, 0, 0, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
      s = s &+ SIMD16(0, 0, 0, 0, 0, 0, 0, 0, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
      UnsafeMutableRawPointer(phases + frame).storeBytes(
        of: s &- steps &+ phase, as: SIMD16<Int32>.self)
      sizes.store(size, frame)
      most = pointwiseMax(most, unsafeBitCast(size, to: SIMD16<UInt32>.self))
      phase &+= s[15]
      frame &+= 16
    }
    return (frame == frames ? phase : phases[frames], Float(bitPattern: largest(most)))
  }

  @inline(__always) @_noLocks private static func doubles(_ v: SIMD8<Float>) -> SIMD8<Double> {
    SIMD8(
      Double(v[0]), Double(v[1]), Double(v[2]), Double(v[3]), Double(v[4]), Double(v[5]), Double(v[6]),
      Double(v[7]))
  }
}
