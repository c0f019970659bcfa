import Glibc
import Realtime

/// Windowed sinc kernels for interpolation by 8 and by 32 points: the weights at 512 positions between two
/// frames, with linear interpolation between positions.
///
/// Kaiser's window (J. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974).
/// There is a long kernel for each half octave of upward transposition, with a lower cutoff that suppresses
/// aliasing.
struct SincKernels: @unchecked Sendable {
  static var places: Int { @_noLocks @inline(__always) get { 512 } }
  static var octaveHalves: Int { @_noLocks get { 7 } }

  /// Made once for all samplers, never freed.
  static let shared = SincKernels()

  let tables: Tables

  /// Addresses of the kernels: plain pointers, for the audio thread.
  struct Tables {
    var eight: UnsafePointer<Float>
    var long: UnsafePointer<Float>

    /// `quality` 1: eight points, 2: 32 points. Audio thread.
    @_noLocks func table(_ quality: UInt8, _ kernel: UInt8) -> Table {
      if quality < 2 { return Table(weights: eight, taps: 8, before: 3) }
      let place = Int(kernel) &* (SincKernels.places &+ 1) &* 32
      return Table(weights: long + place, taps: 32, before: 15)
    }
  }

  struct Table {
    var weights: UnsafePointer<Float>
    var taps: Int
    /// Frames before the one at the position.
    var before: Int

    @_noLocks init(weights: UnsafePointer<Float>, taps: Int, before: Int) {
      self.weights = weights
      self.taps = taps
      self.before = before
    }

    /// The value after the frame `first + before` of a plane, at a fraction of 2^32. Audio thread.
    @_noLocks @inline(__always)
    func value(_ plane: SamplePlane, _ first: Int, _ fraction: UInt32) -> Float {
      plane.isShort
        ? sum(true, plane.base, first, fraction) * SamplePlane.scale
        : sum(false, plane.base, first, fraction)
    }

    @_noLocks @inline(__always)
    private func sum(_ isShort: Bool, _ base: UnsafeRawPointer, _ first: Int, _ fraction: UInt32) -> Float {
      let place = Int(fraction &>> 23)
      let between = Float(fraction & 0x7F_FFFF) / 8_388_608
      let row = weights + place &* taps
      var sum = SIMD8<Float>(repeating: 0)
      var tap = 0
      while tap < taps {
        let one = UnsafeRawPointer(row + tap).loadUnaligned(as: SIMD8<Float>.self)
        let two = UnsafeRawPointer(row + taps + tap).loadUnaligned(as: SIMD8<Float>.self)
        let frames = SamplePlane.eight(base, isShort: isShort, first &+ tap)
        sum += frames * (one + (two - one) * between)
        tap &+= 8
      }
      let four = sum.lowHalf + sum.highHalf
      return (four[0] + four[2]) + (four[1] + four[3])
    }
  }

  /// Number of the long kernel for a pitch of `ratio` frames per frame. Audio thread.
  @_noLocks static func kernel(_ ratio: Double) -> UInt8 {
    var kernel: UInt8 = 0
    var limit = 1.02
    while ratio > limit, Int(kernel) < octaveHalves &- 1 {
      kernel &+= 1
      limit *= 1.414_213_562
    }
    return kernel
  }

  private init() {
    let eight = UnsafeMutablePointer<Float>.allocate(capacity: (Self.places + 1) * 8)
    Self.fill(eight, taps: 8, cutoff: 1, beta: 7)
    let size = (Self.places + 1) * 32
    let long = UnsafeMutablePointer<Float>.allocate(capacity: size * Self.octaveHalves)
    for kernel in 0..<Self.octaveHalves {
      Self.fill(long + kernel * size, taps: 32, cutoff: 0.94 * pow(2, -0.5 * Double(kernel)), beta: 9)
    }
    tables = Tables(eight: UnsafePointer(eight), long: UnsafePointer(long))
  }

  private static func fill(
    _ table: UnsafeMutablePointer<Float>, taps: Int, cutoff: Double, beta: Double
  ) {
    let half = Double(taps / 2)
    for place in 0...places {
      let fraction = Double(place) / Double(places)
      var weights = (0..<taps).map { (tap: Int) -> Double in
        let x = Double(tap - (taps / 2 - 1)) - fraction
        let window =
          abs(x) < half ? bessel(beta * (1 - x * x / (half * half)).squareRoot()) / bessel(beta) : 0
        let angle = Double.pi * cutoff * x
        return window * cutoff * (angle == 0 ? 1 : sin(angle) / angle)
      }
      // Normalised, so that a constant is preserved.
      let sum = weights.reduce(0, +)
      for tap in 0..<taps {
        weights[tap] /= sum
        table[place * taps + tap] = Float(weights[tap])
      }
    }
  }

  /// The modified Bessel function of order 0, by its series.
  private static func bessel(_ x: Double) -> Double {
    var sum = 1.0
    var term = 1.0
    for index in 1...40 {
      term *= (x / 2 / Double(index)) * (x / 2 / Double(index))
      sum += term
    }
    return sum
  }
}
