import CVector
import Realtime

/// tanh x, for lines of any length.
///
/// tanh x is the sign of x less sgn(x) 2z / (1 + z), where z = exp(-2|x|). A line's averages of the sign are exact: they
/// depend on where the line crosses zero. The rest has antiderivatives that stay small however far the sound is driven:
/// ln(1 + z), and from that sgn(x) (pi^2 / 24 + Li2(-z) / 2), with Euler's dilogarithm Li2.
struct SaturatedFrames: Curve {
  private let x: Frames
  private let y: Frames
  /// First and second antiderivatives of the rest.
  private let first: Frames
  private let second: Frames

  @_transparent @_noLocks private init(_ x: Frames, _ y: Frames, _ first: Frames, _ second: Frames) {
    self.x = x
    self.y = y
    self.first = first
    self.second = second
  }

  @_transparent @_noLocks init(_ x: Frames) {
    let held = limited(x, -100_000, 100_000)
    let z = sostenuto_powers_of_two(magnitude(held) * -2.885_390_1)
    self.init(
      held, copySign((1 - z) / (1 + z), held), z * Self.logarithm(z),
      copySign(0.411_233_52 - z * Self.dilogarithm(z), held))
  }

  /// ln(1 + z) / z for z of 0...1, within 2e-7: a fit at Chebyshev's points.
  @_transparent @_noLocks static func logarithm(_ z: Frames) -> Frames {
    var sum = addProduct(0.044_214_193, z, Frames(repeating: -0.008_574_675_8))
    sum = addProduct(-0.107_853_68, z, sum)
    sum = addProduct(0.177_570_24, z, sum)
    sum = addProduct(-0.244_996_12, z, sum)
    sum = addProduct(0.332_761_76, z, sum)
    sum = addProduct(-0.499_974_49, z, sum)
    return addProduct(0.999_999_82, z, sum)
  }

  /// -Li2(-z) / 2z for z of 0...1, within 1e-7, likewise.
  @_transparent @_noLocks private static func dilogarithm(_ z: Frames) -> Frames {
    var sum = addProduct(-0.006_523_054_6, z, Frames(repeating: 0.001_318_087_7))
    sum = addProduct(0.016_138_883, z, sum)
    sum = addProduct(-0.030_090_911, z, sum)
    sum = addProduct(0.055_380_456, z, sum)
    sum = addProduct(-0.124_989_77, z, sum)
    return addProduct(0.499_999_91, z, sum)
  }

  @_transparent @_noLocks func delayed(behind before: Self) -> Self {
    Self(
      sostenuto_delayed_by_one(before.x, x), sostenuto_delayed_by_one(before.y, y),
      sostenuto_delayed_by_one(before.first, first), sostenuto_delayed_by_one(before.second, second))
  }

  var carried: Self {
    @_transparent @_noLocks get {
      Self(
        sostenuto_carried(x), sostenuto_carried(y), sostenuto_carried(first), sostenuto_carried(second))
    }
  }

  /// Of a short line, where differences of antiderivatives lose their digits, the curve is the cubic with the values and
  /// slopes of its ends, which is right within 4e-5.
  @_transparent @_noLocks func averages(to end: Self) -> (start: Frames, end: Frames) {
    let d = end.x - x
    let slope = d * (1 - y * y)
    let endSlope = d * (1 - end.y * end.y)
    var atStart = 0.35 * y + 0.15 * end.y + (0.05 * slope - (1 / 30) * endSlope)
    var atEnd = 0.15 * y + 0.35 * end.y + ((1 / 30) * slope - 0.05 * endSlope)
    if sostenuto_magnitudes_exceed(d, 0.3) {
      let inverse = 1 / d
      // The part of the line before it crosses zero: all of it where it does not.
      let before = sostenuto_where_above(
        0 - x * end.x, 0, magnitude(x) * magnitude(inverse), Frames(repeating: 1))
      let sign = copySign(Frames(repeating: 1), x)
      let mean = (end.second - second) * inverse
      let length = magnitude(d)
      atStart = sostenuto_where_above(
        length, 0.3, sign * (before * (2 - before) - 0.5) + (mean - first) * inverse, atStart)
      atEnd = sostenuto_where_above(
        length, 0.3, sign * (before * before - 0.5) + (end.first - mean) * inverse, atEnd)
    }
    return (atStart, atEnd)
  }
}
