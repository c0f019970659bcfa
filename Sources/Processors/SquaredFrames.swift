import CVector
import Realtime

/// The square of tanh x, which has even harmonics only, for lines of any length.
///
/// It is 1 less a bell, whose antiderivatives are tanh x and ln cosh x = |x| + ln(1 + z) - ln 2, where z = exp(-2|x|).
struct SquaredFrames: Curve {
  private let x: Frames
  /// tanh x, and ln(1 + z).
  private let y: Frames
  private let rest: Frames

  @_transparent @_noLocks private init(_ x: Frames, _ y: Frames, _ rest: Frames) {
    self.x = x
    self.y = y
    self.rest = rest
  }

  @_transparent @_noLocks init(_ x: Frames) {
    let held = limited(x, -100_000, 100_000)
    let z = sostenuto_powers_of_two(magnitude(held) * -2.885_390_1)
    self.init(held, copySign((1 - z) / (1 + z), held), z * SaturatedFrames.logarithm(z))
  }

  @_transparent @_noLocks func delayed(behind before: Self) -> Self {
    Self(
      sostenuto_delayed_by_one(before.x, x), sostenuto_delayed_by_one(before.y, y),
      sostenuto_delayed_by_one(before.rest, rest))
  }

  var carried: Self {
    @_transparent @_noLocks get {
      Self(sostenuto_carried(x), sostenuto_carried(y), sostenuto_carried(rest))
    }
  }

  /// Of a short line the curve is the cubic with the values and slopes of its ends, as that of tanh is.
  @_transparent @_noLocks func averages(to end: Self) -> (start: Frames, end: Frames) {
    let d = end.x - x
    let (here, there) = (y * y, end.y * end.y)
    let slope = d * (2 * y * (1 - here))
    let endSlope = d * (2 * end.y * (1 - there))
    var atStart = 0.35 * here + 0.15 * there + (0.05 * slope - (1 / 30) * endSlope)
    var atEnd = 0.15 * here + 0.35 * there + ((1 / 30) * slope - 0.05 * endSlope)
    if sostenuto_magnitudes_exceed(d, 0.3) {
      let inverse = 1 / d
      let mean = ((magnitude(end.x) - magnitude(x)) + (end.rest - rest)) * inverse
      let length = magnitude(d)
      atStart = sostenuto_where_above(length, 0.3, 0.5 - (mean - y) * inverse, atStart)
      atEnd = sostenuto_where_above(length, 0.3, 0.5 - (end.y - mean) * inverse, atEnd)
    }
    return (atStart, atEnd)
  }
}
