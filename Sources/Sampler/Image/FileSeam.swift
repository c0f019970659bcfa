import Realtime

/// The frames around both ends of a file as they are for a head that goes round: behind the end lies the start, and before
/// the start the end. Plain memory owned by the image's resource.
///
/// Of a file that was converted to another rate these are more than the taps of the interpolation, since its own frames
/// fade into the silence beyond; and a round of it does not end at a whole frame.
package struct FileSeam: BitwiseCopyable {
  /// Side of the seam on which a position lies.
  enum Side: UInt8, BitwiseCopyable {
    case start
    case end
    /// Neither end is near.
    case inside
  }

  /// Floats, channel by channel: those around the start, then those around the end. As large as those of the file are
  /// before they are scaled.
  private let memory: UnsafePointer<Float>
  /// Frames of the file from each end that are read here.
  private let reach: Int
  /// First frame that is near the end.
  private let last: Int
  /// Length of a round, 32.32 fixed point.
  let turn: Int64

  /// Frames around each end.
  @_noLocks @inline(__always) package static func count(reach: Int) -> Int {
    reach &+ 2 &* SamplePlane.margin
  }

  /// `memory`: `count` frames from `-margin` on and as many up to `frames + margin`, for each channel. `length`: of a
  /// round. Worker.
  package init(memory: UnsafePointer<Float>, reach: Int, frames: Int, length: Double) {
    (self.memory, self.reach, last) = (memory, reach, frames - reach)
    turn = max(1, min(Int64((length * 4_294_967_296).rounded()), Int64(frames) << 32))
  }

  /// True when some of the frames `least...most` are near an end. Audio thread.
  @_noLocks @inline(__always) func isNear(_ least: Int, _ most: Int) -> Bool { least < reach || most >= last }

  /// The side of a position (32.32). Audio thread.
  @_noLocks @inline(__always) func side(_ place: Int64) -> Side {
    let at = Int(place >> 32)
    return at < reach ? .start : at >= last ? .end : .inside
  }

  /// A channel around an end, numbered as the file's frames are. Audio thread.
  @_noLocks @inline(__always) func plane(_ side: Side, _ channel: Int) -> SamplePlane {
    let count = Self.count(reach: reach)
    let isEnd = side == .end
    let base = memory + (2 &* channel &+ (isEnd ? 1 : 0)) &* count
    return SamplePlane(
      base: UnsafeRawPointer(base) + (SamplePlane.margin &- (isEnd ? last : 0)) &<< 2, isShort: false)
  }
}
