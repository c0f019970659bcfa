import CVector
import Realtime

/// Phases of one tone in a block: from an origin on, at a steady frequency or one that moves.
struct PhaseCourse: BitwiseCopyable {
  /// Phase of the first frame; zero at a steady frequency.
  let origin: Int32
  /// Increment of a steady frequency.
  let step: Int32
  /// Phase after the block, for one that begins at zero.
  let end: Int32
  /// Magnitude of the increments, the largest where they differ.
  let size: Float
  /// Phases and increments of each frame; nil: the frequency is steady.
  let moving: MovingPhases?

  /// A steady frequency, Hz.
  @inline(__always) @_noLocks init(_ frequency: Float, _ scale: Double, _ frames: Int) {
    step = MovingPhases.step(frequency, scale)
    size = MovingPhases.size(frequency, scale)
    end = step &* Int32(truncatingIfNeeded: frames)
    origin = 0
    moving = nil
  }

  /// A frequency of each frame, whose phases are written to `room`.
  @inline(__always) @_noLocks init(
    _ frequencies: UnsafePointer<Float>, _ scale: Double, from origin: Int32 = 0, _ frames: Int,
    _ room: MovingPhases
  ) {
    let (last, largest) = room.fill(frequencies, scale, from: origin, frames)
    (end, size) = (last &- origin, largest)
    (self.origin, step, moving) = (origin, 0, room)
  }

  /// The sixteen phases from `frame` on, of a tone that begins the block `start` after the origin.
  @inline(__always) @_noLocks func phases(from start: Int32, _ frame: Int) -> SIMD16<Int32> {
    guard let moving else {
      return sostenuto_row(start &+ step &* Int32(truncatingIfNeeded: frame), step)
    }
    return sostenuto_plus(
      UnsafeRawPointer(moving.phases + frame).loadUnaligned(as: SIMD16<Int32>.self), start)
  }

  /// Gain that silences what would alias, in the sixteen frames from `frame` on.
  @inline(__always) @_noLocks func fade(_ frame: Int) -> Frames {
    guard let moving else { return Frames(repeating: MovingPhases.fade(size)) }
    return MovingPhases.fade(moving.sizes.vector(frame))
  }

  /// The phase of one frame.
  @inline(__always) @_noLocks func phase(_ frame: Int) -> Int32 {
    moving?.phases[frame] ?? step &* Int32(truncatingIfNeeded: frame)
  }
}
