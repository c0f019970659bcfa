import Realtime

/// A loop of a sample: its end is followed by its start, and crossfaded with the frames before its start.
package struct SampleLoop: BitwiseCopyable, Hashable {
  package var start: Int
  /// Exclusive.
  package var end: Int
  /// Frames before the end that are crossfaded with those before the start.
  package var crossfade: Int

  @_noLocks package init(start: Int, end: Int, crossfade: Int) {
    (self.start, self.end, self.crossfade) = (start, end, crossfade)
  }

  /// The frame's place in the sample, of a voice that goes round.
  @_noLocks @inline(__always) func folded(_ place: Int) -> Int {
    if place >= end { return start &+ (place &- start) % (end &- start) }
    if place < start { return end &- 1 &- (start &- 1 &- place) % (end &- start) }
    return place
  }

  /// The frame of a sample at a place within the loop, with the crossfade.
  @_noLocks @inline(__always) func heard(_ plane: SamplePlane, _ at: Int) -> Float {
    let into = at &- (end &- crossfade)
    guard crossfade > 0, into >= 0, into < crossfade else { return plane[at] }
    let t = Float(into &+ 1) / Float(crossfade &+ 1)
    return plane[at] + t * (plane[at &- (end &- start)] - plane[at])
  }
}

/// The frames around a loop's end as they are heard by a voice that goes round, side by side, so that it reads them as
/// it reads any others: from before the crossfade until some time after the next pass has begun.
package struct LoopSeam: BitwiseCopyable {
  /// Frames before the crossfade, and after the loop's end: the taps around a vector of frames three octaves up.
  private static var reach: Int { @_noLocks @inline(__always) get { 160 } }

  /// First frame of each side, the same for a mono sample; as large as those of the sample are before they are scaled.
  private let left: UnsafePointer<Float>
  private let right: UnsafePointer<Float>
  /// The frames, by their distance from the sample's start; none if there is no seam.
  let start: Int
  let end: Int

  /// No seam: `place` is any address.
  package init(none place: UnsafePointer<Float>) {
    (left, right, start, end) = (place, place, 0, 0)
  }

  /// Floats for so many sides, with a window behind the last. Worker.
  package static func size(_ loop: SampleLoop, sides: Int) -> Int {
    sides * (loop.crossfade + 2 * reach) + SamplePlane.window
  }

  /// Writes the frames into zeroed memory of `size` floats. Worker.
  package init(
    _ left: SamplePlane, _ right: SamplePlane?, _ loop: SampleLoop, memory: UnsafeMutablePointer<Float>
  ) {
    start = loop.end - loop.crossfade - Self.reach
    end = loop.end + Self.reach
    let scale: Float = left.isShort ? 1 / SamplePlane.scale : 1
    let count = end - start
    for (side, plane) in [left, right ?? left].prefix(right == nil ? 1 : 2).enumerated() {
      for index in 0..<count {
        memory[side * count + index] = loop.heard(plane, loop.folded(start + index)) * scale
      }
    }
    self.left = UnsafePointer(memory)
    self.right = UnsafePointer(right == nil ? memory : memory + count)
  }

  /// Planes in which the frames `first..<last` are those that are heard, or nil if they are not in the seam. A voice that
  /// has come round reads what is before the loop's start behind its end. `isShort`: the sample has integers. Audio
  /// thread.
  @_noLocks @inline(__always)
  func planes(_ first: Int, _ last: Int, of loop: SampleLoop, hasLooped: Bool, isShort: Bool) -> HeardPlanes?
  {
    let turn = loop.end &- loop.start
    var place = start
    if first < start || last > end || !(hasLooped || first >= loop.start) {
      guard hasLooped, first &+ turn >= start, last &+ turn <= end else { return nil }
      place = start &- turn
    }
    return HeardPlanes(
      left: SamplePlane(base: UnsafeRawPointer(left) - place &<< 2, isShort: false),
      right: SamplePlane(base: UnsafeRawPointer(right) - place &<< 2, isShort: false), isSeam: true,
      scale: isShort ? SamplePlane.scale : 1)
  }
}

/// The planes from which a voice reads.
struct HeardPlanes {
  var left: SamplePlane
  var right: SamplePlane
  /// Of a loop, with memory for whole windows behind it.
  var isSeam: Bool
  /// Scale of frames that are not read as integers.
  var scale: Float
}
