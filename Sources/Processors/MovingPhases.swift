import CVector
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

  /// Increments of a phase for a frequency of one Hz.
  @inline(__always) @_noLocks static func scale(_ rate: Float) -> Double { 4_294_967_296 / Double(rate) }

  /// Magnitude of frequencies, Hz.
  static var anyFrequency: Float { @inline(__always) @_noLocks get { 2e9 } }

  /// Increment above which tones fade: a sixteenth below half a cycle.
  static var highest: Float { @inline(__always) @_noLocks get { 2_013_265_920 } }

  /// Gain for an increment: one up to `highest`, zero from half a cycle on.
  @inline(__always) @_noLocks static func fade(_ size: Frames) -> Frames {
    let t = limited((2_147_483_648 - size) * (1 / 134_217_728), 0, 1)
    return t * t * t * (10 - t * (15 - 6 * t))
  }

  /// The same for one increment.
  @inline(__always) @_noLocks static func fade(_ size: Float) -> Float {
    size <= highest ? 1 : fade(Frames(repeating: size))[0]
  }

  /// Phase increment of a frame, without whole cycles. `freq`: Hz; `limit` of its magnitude, at most 2e9.
  @inline(__always) @_noLocks static func step(
    _ freq: Float, _ scale: Double, limit: Float = anyFrequency
  ) -> Int32 {
    // Added to a double, the number leaves the nearest whole one in the low bits.
    sostenuto_low_bits_of_one(limited(freq, 0 - limit, limit), scale, 6_755_399_441_055_744)
  }

  /// The largest magnitude of an increment: a little more than half a cycle.
  private static var largest: Float { @inline(__always) @_noLocks get { 2_200_000_000 } }

  /// Magnitude of the increment: at least one unit, and a little more than half a cycle at most.
  @inline(__always) @_noLocks static func size(_ freq: Float, _ scale: Double) -> Float {
    let size = (freq < 0 ? 0 - freq : freq) * Float(scale)
    return size > 1 ? (size < largest ? size : largest) : 1
  }

  /// Writes the phases of a block that begins at `start`, by running sums of the increments. Returns the phase after it, and
  /// the largest increment.
  @_noLocks func fill(
    _ freq: UnsafePointer<Float>, _ scale: Double, limit: Float = anyFrequency, from start: Int32 = 0,
    _ frames: Int
  ) -> (end: Int32, largest: Float) {
    let end = write(freq, scale, start, frames)
    // Found afterwards, since frequencies hardly ever go so far.
    guard end.highest <= limit, end.highest * Float(scale) <= Self.largest else {
      return fillLimited(freq, scale, limit, start, frames)
    }
    return (frames & 15 == 0 ? end.phase : phases[frames], Self.size(end.highest, scale))
  }

  /// The same of frequencies of which some are beyond the limit.
  @inline(never) @_noLocks private func fillLimited(
    _ freq: UnsafePointer<Float>, _ scale: Double, _ limit: Float, _ start: Int32, _ frames: Int
  ) -> (end: Int32, largest: Float) {
    var frame = 0
    while frame < frames {
      sizes.store(limited(freq.vector(frame), 0 - limit, limit), frame)
      frame &+= 16
    }
    let end = write(sizes, scale, start, frames)
    frame = 0
    while frame < frames {
      sizes.store(atMost(Self.largest, sizes.vector(frame)), frame)
      frame &+= 16
    }
    return (frames & 15 == 0 ? end.phase : phases[frames], Self.size(end.highest, scale))
  }

  @inline(__always) @_noLocks private func write(
    _ freq: UnsafePointer<Float>, _ scale: Double, _ start: Int32, _ frames: Int
  ) -> sostenuto_phase_end {
    sostenuto_write_phases(freq, scale, start, Int64(truncatingIfNeeded: frames), phases, sizes)
  }
}
