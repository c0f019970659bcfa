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

  @_transparent @_noLocks func sparse(_ phase: SIMD16<Int32>, _ perPhase: Frames) -> Frames {
    switch self {
    case .saw: Saw.sparse(phase, perPhase)
    case .square: Square.sparse(phase, perPhase)
    case .triangle: Triangle.sparse(phase, perPhase)
    }
  }

  @_transparent @_noLocks func sum(_ phase: SIMD16<Int32>, _ weights: HarmonicWeights) -> Frames {
    if self == .saw { return Saw.sum(phase, weights) }
    // Odd harmonics are even ones of twice the angle.
    let (a, b) = Corners.harmonics(2 * Corners.sine((phase &<< 1) &+ 0x4000_0000), weights)
    return (a + b) * Corners.sine(phase)
  }
}

/// Rises from -1 to 1 and falls at phase 0.
enum Saw {
  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ perPhase: Frames) -> Frames {
    let p = converted(phase)
    return (p * (1 / 2_147_483_648) - Corners.step(p * perPhase * (1 / Corners.reach))) * Corners.peak
  }

  @_transparent @_noLocks static func sum(_ phase: SIMD16<Int32>, _ weights: HarmonicWeights) -> Frames {
    Corners.harmonics(2 * Corners.sine(phase &+ 0x4000_0000), weights).0 * Corners.sine(phase)
  }
}

/// High in the first half of the cycle.
enum Square {
  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ perPhase: Frames) -> Frames {
    // From the nearest of the two steps, of which the one in mid-cycle falls.
    let doubled = phase &<< 1
    let x = converted(doubled) * (perPhase * (0.5 / Corners.reach))
    let isFalling = (phase ^ doubled) & Int32.min
    return unsafeBitCast(
      unsafeBitCast(Corners.step(x) * Corners.peak, to: SIMD16<Int32>.self) ^ isFalling, to: Frames.self)
  }
}

/// In phase with the sine.
enum Triangle {
  @_transparent @_noLocks static func sparse(_ phase: SIMD16<Int32>, _ perPhase: Frames) -> Frames {
    // From the nearest of the two corners, of which the one in mid-cycle is the trough.
    let fromPeak = phase &- 0x4000_0000
    let doubled = fromPeak &<< 1
    let distance = magnitude(converted(doubled))
    let isTrough = (fromPeak ^ doubled) & Int32.min
    let fall = Corners.corner(distance * (perPhase * (0.5 / Corners.reach)))
    // The naive wave falls by one in a quarter of the cycle.
    let y = 1 - fall * ((Corners.reach / 1_073_741_824) / perPhase)
    return unsafeBitCast(unsafeBitCast(y, to: SIMD16<Int32>.self) ^ isTrough, to: Frames.self)
  }
}

/// The kernel that rounds corners, in its four forms: the rounded step and the rounded corner, the curve over
/// frequency, and what it overshoots by.
enum Corners {
  /// Frames to either side of a corner.
  static var reach: Float { @inline(__always) @_noLocks get { 6 } }
  /// Gain that brings the overshoot of a step (1.1557) to one.
  static var peak: Float { @inline(__always) @_noLocks get { 0.865_299_13 } }

  /// Sine of a phase. The outer quarters are folded onto the inner ones in integers, which loses no bit.
  @_transparent @_noLocks static func sine(_ phase: SIMD16<Int32>) -> Frames {
    let isOuter = (phase ^ (phase &<< 1)) &>> 31
    let folded = phase ^ ((phase ^ (Int32.min &- phase)) & isOuter)
    return sineOfQuarters(converted(folded) * (1 / 1_073_741_824))
  }

  /// No frame is within reach of a corner. (What is left out would not change a bit.)
  @_transparent @_noLocks private static func isFar(_ x: Frames) -> Bool {
    least(unsafeBitCast(magnitude(x), to: SIMD16<UInt32>.self)) >= 0x3f80_0000
  }

  /// From -1 to 1; `x` from the middle of the step, in reaches.
  @_transparent @_noLocks static func step(_ x: Frames) -> Frames {
    if isFar(x) { return copySign(Frames(repeating: 1), x) }
    let u = limited(x, -1, 1)
    let m = magnitude(u)
    let folded = m.replacing(with: 1 - m, where: m .> 0.5)
    let s = copySign(sineOfQuarters(folded * 2), u)
    let c = sineOfQuarters(1 - m * 2)
    var sum = c * 0.001_679_84 + 0.307_756_15
    sum = addProduct(1.202_972_45, sum, c)
    sum = addProduct(1.271_023_72, sum, c)
    sum = addProduct(0.062_795_52, sum, c)
    sum = addProduct(-0.294_342_07, sum, c)
    sum = addProduct(0.225_598_41, sum, c)
    sum = addProduct(0.526_918_3, sum, c)
    return addProduct(u, s, sum)
  }

  /// The integral of the step: the magnitude of `x` with its corner rounded, all in reaches.
  @_transparent @_noLocks static func corner(_ x: Frames) -> Frames {
    if isFar(x) { return x }
    let m = limited(x, 0, 1)
    let c = sineOfQuarters(1 - m * 2)
    var sum = c * -6.683_861_71e-5 - 0.013_994_546_5
    sum = addProduct(-0.063_819_669_8, sum, c)
    sum = addProduct(-0.080_915_883_4, sum, c)
    sum = addProduct(-0.004_997_108_32, sum, c)
    sum = addProduct(0.031_230_663_8, sum, c)
    sum = addProduct(-0.035_905_102_2, sum, c)
    sum = addProduct(-0.167_723_304, sum, c)
    sum = addProduct(0.373_385_65, sum, c)
    return (m * m * 0.5 + sum).replacing(with: x, where: x .>= 1)
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
