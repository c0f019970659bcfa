import CVector
import Realtime

/// A wave with corners, which are rounded by the kernel of `Corners` where they are twelve frames apart or more, and is a
/// sum of eight harmonics where they are closer. (Always a constant that the compiler sees: generic types may lock.)
enum CornerShape {
  case saw, square, triangle

  /// Largest phase increment at which corners are twelve frames apart.
  var densest: Float { @inline(__always) @_noLocks get { self == .saw ? 357_913_952 : 178_956_976 } }

  /// Numbers of the harmonics.
  var numbers: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      self == .saw ? SIMD8(1, 2, 3, 4, 5, 6, 7, 8) : SIMD8(1, 3, 5, 7, 9, 11, 13, 15)
    }
  }

  /// Their amplitudes.
  var strengths: SIMD8<Float> {
    @inline(__always) @_noLocks get {
      switch self {
      case .saw: -0.636_619_77 * Corners.peak / numbers
      case .square: 1.273_239_54 * Corners.peak / numbers
      case .triangle: 0.810_569_47 * SIMD8(1, -1, 1, -1, 1, -1, 1, -1) / (numbers * numbers)
      }
    }
  }

  /// Phases of its corners, but for the whole number of times that they are apart.
  private var firstCorner: UInt32 { @inline(__always) @_noLocks get { self == .triangle ? 0x4000_0000 : 0 } }
  /// Phase from one corner to the next, less one unit.
  private var lastPlace: UInt32 { @inline(__always) @_noLocks get { self == .saw ? .max : 0x7fff_ffff } }
  /// Phase from one corner to the next.
  var spacing: Float { @inline(__always) @_noLocks get { self == .saw ? 4_294_967_296 : 2_147_483_648 } }

  /// Phase from here to the next corner.
  @inline(__always) @_noLocks func distance(_ phase: Int32, isForward: Bool) -> UInt32 {
    let place = UInt32(bitPattern: phase) &- firstCorner
    return (isForward ? 0 &- place : place) & lastPlace
  }

  /// The wave out of reach of its corners: the same bits as `sparse` has there.
  @_transparent @_noLocks func far(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    switch self {
    case .saw: Saw.far(phase)
    case .square: Square.far(phase)
    case .triangle: Triangle.far(phase, pace)
    }
  }

  /// The wave, where increments are at most `densest`.
  @_transparent @_noLocks func sparse(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    switch self {
    case .saw: Saw.sparse(phase, pace)
    case .square: Square.sparse(phase, pace)
    case .triangle: Triangle.sparse(phase, pace)
    }
  }

  @_transparent @_noLocks func sum(_ phase: SIMD16<Int32>, _ weights: HarmonicWeights) -> Frames {
    if self == .saw { return Saw.sum(phase, weights) }
    // Odd harmonics are even ones of twice the angle.
    let (a, b) = Corners.harmonics(2 * Corners.sine((phase &<< 1) &+ 0x4000_0000), weights)
    return (a + b) * Corners.sine(phase)
  }
}

/// How fast the phases of sixteen frames go.
struct Pace: BitwiseCopyable {
  /// Magnitudes of the increments.
  let size: Frames
  /// Segments of `Corners` in a unit of phase.
  let segments: Frames

  @inline(__always) @_noLocks init(_ size: Float) {
    self.size = Frames(repeating: size)
    segments = Frames(repeating: Corners.perFrame / size)
  }

  @inline(__always) @_noLocks init(_ size: Frames) {
    self.size = size
    segments = Corners.perFrame / size
  }
}

/// Rises from -1 to 1 and falls at phase 0.
enum Saw {
  @_transparent @_noLocks static func far(_ phase: SIMD16<Int32>) -> Frames {
    converted(phase ^ Int32.min) * (Corners.peak / 2_147_483_648)
  }

  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    let rounding = Corners.step(magnitude(converted(phase)) * pace.segments)
    // On both sides towards the middle of the fall.
    let bits = unsafeBitCast(rounding, to: SIMD16<Int32>.self) ^ (phase & Int32.min)
    return addProduct(
      unsafeBitCast(bits, to: Frames.self), converted(phase ^ Int32.min), Corners.peak / 2_147_483_648)
  }

  @_transparent @_noLocks static func sum(_ phase: SIMD16<Int32>, _ weights: HarmonicWeights) -> Frames {
    Corners.harmonics(2 * Corners.sine(phase &+ 0x4000_0000), weights).0 * Corners.sine(phase)
  }
}

/// High in the first half of the cycle.
enum Square {
  @_transparent @_noLocks static func far(_ phase: SIMD16<Int32>) -> Frames {
    copySign(Frames(repeating: Corners.peak), unsafeBitCast(phase, to: Frames.self))
  }

  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    // From the nearest of the two steps.
    let distance = magnitude(converted(phase &<< 1))
    let y = Corners.peak - Corners.step(distance * (0.5 * pace.segments))
    return copySign(y, unsafeBitCast(phase, to: Frames.self))
  }
}

/// In phase with the sine.
enum Triangle {
  @_transparent @_noLocks static func far(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    let fromPeak = phase &- 0x4000_0000
    let distance = magnitude(converted(fromPeak &<< 1))
    return wave(fromPeak, distance * (0.5 * pace.segments), pace)
  }

  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ pace: Pace) -> Frames {
    // From the nearest of the two corners.
    let fromPeak = phase &- 0x4000_0000
    let distance = magnitude(converted(fromPeak &<< 1))
    let fall = distance * (0.5 * pace.segments)
    return wave(fromPeak, fall + Corners.corner(fall), pace)
  }

  /// `fall` from the corner, of which the one in mid-cycle is the trough.
  @_transparent @_noLocks private static func wave(
    _ fromPeak: SIMD16<Int32>, _ fall: Frames, _ pace: Pace
  ) -> Frames {
    let isTrough = (fromPeak ^ (fromPeak &<< 1)) & Int32.min
    // The naive wave falls by one in a quarter of the cycle.
    let y = 1 - fall * (pace.size * (1 / (Corners.perFrame * 1_073_741_824)))
    return unsafeBitCast(unsafeBitCast(y, to: SIMD16<Int32>.self) ^ isTrough, to: Frames.self)
  }
}

/// The kernel that rounds corners, in its four forms: what a rounded step and a rounded corner differ by from sharp ones,
/// the curve over frequency, and what it overshoots by.
///
/// The first two are polynomials, one for each of seven segments of its reach, six frames; beyond is zero. They
/// fit the sums of cosines within 2e-6 (-114 dB).
enum Corners {
  /// Segments to either side of a corner, of which the end of the last one is a part.
  static var reach: Float { @inline(__always) @_noLocks get { 7.000_001 } }
  /// Segments a frame: there are seven in six frames.
  static var perFrame: Float { @inline(__always) @_noLocks get { 7.0 / 6 } }
  /// Gain that brings the overshoot of a step (1.1557) to one.
  static var peak: Float { @inline(__always) @_noLocks get { 0.865_299_13 } }

  /// Sine of a phase. The outer quarters are folded onto the inner ones in integers, which loses no bit.
  @_transparent @_noLocks static func sine(_ phase: SIMD16<Int32>) -> Frames {
    let isOuter = (phase ^ (phase &<< 1)) &>> 31
    let folded = phase ^ ((phase ^ (Int32.min &- phase)) & isOuter)
    return sineOfQuarters(converted(folded) * (1 / 1_073_741_824))
  }

  /// The segment at a distance from the corner, and the place in it, -0.5...0.5. `distance` in segments.
  @_transparent @_noLocks private static func segments(_ distance: Frames) -> (Frames, SIMD16<UInt32>) {
    let place = atMost(7.4, distance - 0.5)
    // Adding a large number rounds to the nearest whole one, which stands in the low bits.
    let whole = place + 12_582_912
    return (place - (whole - 12_582_912), unsafeBitCast(whole, to: SIMD16<UInt32>.self))
  }

  @_transparent @_noLocks private static func pick(
    _ numbers: SIMD8<Float>, _ segment: SIMD16<UInt32>
  ) -> Frames {
    sostenuto_pick_of_eight(numbers, segment)
  }

  /// The lack of a rounded step, which rises to `peak`, at a distance from its middle, in segments.
  @_transparent @_noLocks static func step(_ distance: Frames) -> Frames {
    guard sostenuto_has_below(distance, reach) else { return Frames(repeating: 0) }
    let (place, segment) = segments(distance)
    var sum = pick(
      SIMD8(
        0.0404002371, -0.016929059, -0.0035499515, 0.00863539293, -0.00584949556, 0.0026521314,
        -0.00104858933, 0), segment)
    sum = addProduct(
      pick(
        SIMD8(
          -0.0445985592, 0.0824853207, -0.0518482968, 0.0163257202, -0.00148855648, -0.00157644709,
          0.00070081871, 0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          -0.23662709, 0.0378757427, 0.0678073698, -0.0539690537, 0.0256847978, -0.00775326209, 0.00158018446,
          0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          0.273979996, -0.366939214, 0.109069364, -0.00659177546, -0.0186597289, 0.0119001588, -0.0027588012,
          0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          0.673554363, 0.221847861, -0.184103938, 0.0972169873, -0.0286533569, -0.000127489454, 0.00184945596,
          0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          -1.03566956, 0.205904082, -0.0225952336, -0.0360121621, 0.0334744842, -0.00980648529,
          -0.000594254178, 0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          0.226088209, -0.102565387, 0.0572208155, -0.0232923689, -0.000538827678, 0.00518019919,
          0.000075322423, 0), segment), sum, place)
    return sum
  }

  /// The difference between a rounded corner and a sharp one, the magnitude of the distance; both in segments.
  @_transparent @_noLocks static func corner(_ distance: Frames) -> Frames {
    guard sostenuto_has_below(distance, reach) else { return Frames(repeating: 0) }
    let (place, segment) = segments(distance)
    var sum = pick(
      SIMD8(
        0.0517744688, -0.00753159466, -0.015416174, 0.0118503514, -0.00551412343, 0.00160048019,
        -0.0002894948, 0), segment)
    sum = addProduct(
      pick(
        SIMD8(
          -0.0759362704, 0.100057272, -0.0277670711, 0.000725282667, 0.00549863862, -0.00332429851,
          0.000746446758, 0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          -0.259104031, -0.085613798, 0.0708890632, -0.0373722767, 0.0109851267, 0.000073056559,
          -0.000721923281, 0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          0.598143972, -0.118420004, 0.0127052236, 0.0209196321, -0.0193528027, 0.00565585704, 0.000348122815,
          0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          -0.261294698, 0.118536484, -0.0661273628, 0.0269158486, 0.000624357119, -0.00598734317,
          -0.000086747065, 0), segment), sum, place)
    sum = addProduct(
      pick(
        SIMD8(
          -0.045855367, 0.00921128531, 0.00805360241, -0.0113020339, 0.00913571537, 0.00201352191,
          0.000009029807, 0), segment), sum, place)
    return sum
  }

  /// Weight of a harmonic at this fraction of the sample rate.
  @inline(__always) @_noLocks static func curve(_ frequency: Frames) -> Frames {
    let f = frequency * (1 / 0.68)
    let y = f * f * 2 - 1
    var sum = y * 0.461_124 - 0.843_233_6
    sum = addProduct(-0.221_704_8, sum, y)
    sum = addProduct(1.118_469, sum, y)
    sum = addProduct(-0.883_087_6, sum, y)
    sum = addProduct(1.284_76, sum, y)
    sum = addProduct(-0.800_629_9, sum, y)
    sum = addProduct(-2.057_211, sum, y)
    sum = addProduct(3.470_539, sum, y)
    sum = addProduct(-0.662_581, sum, y)
    sum = addProduct(-2.679_939, sum, y)
    sum = addProduct(2.054_748, sum, y)
    sum = addProduct(0.690_721_6, sum, y)
    sum = addProduct(-1.395_001, sum, y)
    sum = addProduct(0.462_918_6, sum, y)
    return sum.replacing(with: 0, where: f .> 1)
  }

  /// By C. W. Clenshaw's recurrence ("A note on the summation of Chebyshev series", 1955): its last two terms.
  @_transparent @_noLocks static func harmonics(_ c: Frames, _ w: HarmonicWeights) -> (Frames, Frames) {
    let g = addProduct(w.g, c, w.h)
    let f = addProduct(w.f - w.h, c, g)
    let e = addProduct(w.e - g, c, f)
    let d = addProduct(w.d - f, c, e)
    let cc = addProduct(w.c - e, c, d)
    let b = addProduct(w.b - d, c, cc)
    return (addProduct(w.a - cc, c, b), b)
  }
}
