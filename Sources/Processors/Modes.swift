import Glibc

/// Frequencies of the modes of bodies, as multiples of the lowest one.
enum Modes {
  static var most: Int { @inline(__always) @_noLocks get { 64 } }

  static let shapes = ["string", "bar", "membrane", "plate"]

  /// Modes of each shape in order, `most` of them.
  static let ratios: [[Float]] = [string, bar, membrane, plate].map { modes in
    modes.map { Float($0 / modes[0]) }
  }

  private static var string: [Double] { (1...most).map(Double.init) }

  /// A bar with free ends: the zeros of cosh x cos x - 1, squared (Rayleigh, "The theory of sound", 1877, chapter VIII).
  private static var bar: [Double] {
    (1...most).map { number in
      var x = (Double(number) + 0.5) * .pi
      // The equation divided by cosh x, by Newton's method.
      for _ in 0..<20 { x += (cos(x) - 1 / cosh(x)) / (sin(x) - sinh(x) / (cosh(x) * cosh(x))) }
      return x * x
    }
  }

  /// A round membrane: the zeros of Bessel's functions.
  private static var membrane: [Double] {
    var zeros: [Double] = []
    for order in 0..<40 {
      var (x, before) = (1e-3, jn(Int32(order), 1e-3))
      while x < 32 {
        let next = x + 0.05
        let value = jn(Int32(order), next)
        if before * value < 0, next > 1 {
          var (low, high) = (x, next)
          for _ in 0..<60 {
            let middle = (low + high) / 2
            if jn(Int32(order), middle) * before > 0 { low = middle } else { high = middle }
          }
          zeros.append(low)
        }
        (x, before) = (next, value)
      }
    }
    return Array(zeros.sorted().prefix(most))
  }

  /// A plate that is 1.3 times as long as wide, with supported edges.
  private static var plate: [Double] {
    var modes: [Double] = []
    for m in 1...20 {
      for n in 1...20 { modes.append(Double(m * m) + Double(n * n) / (1.3 * 1.3)) }
    }
    return Array(modes.sorted().prefix(most))
  }
}
