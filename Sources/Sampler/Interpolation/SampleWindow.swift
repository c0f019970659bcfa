import CVector
import Realtime

/// Fast path for positions close together. The neighbours of sixteen positions are picked from 32 successive
/// frames: of a 16-bit sample with one load and two permutations instead of sixteen loads, of floats with two and
/// four. The bits are the same.
enum SampleWindow {
  /// True when the processor has the instructions.
  static var isAtHand: Bool { @_noLocks @inline(__always) get { sostenuto_permutes_words != 0 } }
  /// Upper limit of the increment (32.32 fixed point): the last of sixteen positions must lie at most 28
  /// frames after the first.
  static var largestStep: Int64 { @_noLocks @inline(__always) get { (28 &<< 32) / 15 } }
  /// Maximum number of frames read from the last position on.
  static var reach: Int { @_noLocks @inline(__always) get { SamplePlane.window &- 1 } }

  /// Positions (32.32 fixed point) from `first` on, `step` apart, where the step itself grows by `change` per position.
  struct Course {
    var first: Int64
    var step: Int64
    var change: Int64

    @_noLocks @inline(__always) init(_ first: Int64, _ step: Int64, _ change: Int64) {
      (self.first, self.step, self.change) = (first, step, change)
    }

    /// The place of a position.
    @_noLocks @inline(__always) func place(_ number: Int64) -> Int64 {
      first &+ step &* number &+ change &* (number &* (number &- 1) / 2)
    }
  }

  /// Writes interpolated values at `sixteens` times sixteen positions into a row for each side. Audio thread.
  @_noLocks static func read(
    _ planes: HeardPlanes, isStereo: Bool, _ course: Course, _ sixteens: Int,
    to row: UnsafeMutablePointer<Float>,
    _ otherRow: UnsafeMutablePointer<Float>
  ) {
    if planes.left.isShort {
      if isStereo {
        read(isShort: true, isStereo: true, planes, course, sixteens, row, otherRow)
      } else {
        read(isShort: true, isStereo: false, planes, course, sixteens, row, otherRow)
      }
    } else if isStereo {
      read(isShort: false, isStereo: true, planes, course, sixteens, row, otherRow)
    } else {
      read(isShort: false, isStereo: false, planes, course, sixteens, row, otherRow)
    }
  }

  @_noLocks @inline(__always) private static func read(
    isShort: Bool, isStereo: Bool, _ planes: HeardPlanes, _ course: Course, _ sixteens: Int,
    _ row: UnsafeMutablePointer<Float>, _ otherRow: UnsafeMutablePointer<Float>
  ) {
    var (position, step) = (course.first, course.step)
    let change = course.change
    var near = sostenuto_places_from(position, step, change)
    var far = sostenuto_places_from(course.place(8), step &+ change &* 8, change)
    // Distance from a position to that sixteen later, and the growth of that distance.
    var stride = sostenuto_places_from(step &* 16 &+ change &* 120, change &* 16, 0)
    let growth = sostenuto_places_from(change &* 128, 0, 0)
    for sixteen in 0..<sixteens {
      let first = unsafeBitCast(near, to: SIMD16<Float>.self)
      let second = unsafeBitCast(far, to: SIMD16<Float>.self)
      let fraction = fractions(unsafeBitCast(sostenuto_evens(first, second), to: SIMD16<UInt32>.self))
      let start = Int(position >> 32)
      let places = unsafeBitCast(
        sostenuto_plus(
          unsafeBitCast(sostenuto_odds(first, second), to: SIMD16<Int32>.self),
          0 &- Int32(truncatingIfNeeded: start)), to: SIMD16<UInt32>.self)
      store(
        taps(isShort, planes.left, start &- 1, places).interpolated(fraction) * (isShort ? 1 : planes.scale),
        row + 16 &* sixteen)
      if isStereo {
        store(
          taps(isShort, planes.right, start &- 1, places).interpolated(fraction)
            * (isShort ? 1 : planes.scale),
          otherRow + 16 &* sixteen)
      }
      position = position &+ step &* 16 &+ change &* 120
      step = step &+ change &* 16
      near &+= stride
      far &+= stride &+ growth
      stride &+= growth &+ growth
    }
  }

  /// The neighbours by the distances of the frames before the positions from the frame `start`.
  @_noLocks @inline(__always) private static func taps(
    _ isShort: Bool, _ plane: SamplePlane, _ start: Int, _ places: SIMD16<UInt32>
  ) -> Taps {
    guard isShort else {
      let numbers = plane.base.assumingMemoryBound(to: Float.self) + start
      return Taps(
        before: sostenuto_pick(numbers, places), at: sostenuto_pick(numbers, places &+ 1),
        after: sostenuto_pick(numbers, places &+ 2), second: sostenuto_pick(numbers, places &+ 3))
    }
    let words = (plane.base + start &<< 1).loadUnaligned(as: SIMD16<UInt32>.self)
    // The frames before and at a position, as halves of an integer; then the two frames after.
    let halves = ((places &<< 16) | places) &+ 0x10000
    return Taps(
      first: sostenuto_pick_halves(words, halves), last: sostenuto_pick_halves(words, halves &+ 0x20002))
  }
}
