/// Parameters of an envelope with any number of points.
package struct FlexibleSettings: BitwiseCopyable {
  package var firstPoint: Int32 = 0
  package var pointCount: Int32 = 0
  /// Point at which it rests while the note is held (-1: none).
  package var sustain: Int32 = -1
  /// Point to which it returns from the sustain or last point while the note is held (-1: none); number of
  /// repetitions (0: unlimited); shape of the way back (NaN: the point's own).
  package var loop: Int32 = -1
  package var loopCount: Int32 = 0
  package var loopShape: Float = .nan
  /// Controllers change the current segment too.
  package var isDynamic = false

  @_noLocks package init() {}
}

/// A point: time in seconds from the one before, its level, and the shape of the segment (0 straight,
/// positive slow at first, negative fast at first), or the offset of its curve among the image's (-1: none).
package struct FlexiblePoint: Hashable, BitwiseCopyable {
  package var time: Float = 0
  package var level: Float = 0
  package var shape: Float = 0
  package var curve: Int32 = -1

  package init() {}
}
