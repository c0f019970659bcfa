import Glibc
import Realtime

/// Windowed sinc kernels for interpolation by 8 and by 32 points.
///
/// Kaiser's window (J. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974).
/// There is a long kernel for each semitone of upward transposition, with a lower cutoff that suppresses
/// aliasing.
struct SincKernels: @unchecked Sendable {
  /// Long kernels: their cutoffs fall by a semitone each, from the Nyquist frequency on.
  static var count: Int { @_noLocks get { 38 } }

  /// Made once for all samplers and players, never freed.
  static let shared = SincKernels()

  let tables: Tables

  /// Addresses of the kernels: plain pointers, for the audio thread.
  struct Tables {
    var eight: UnsafePointer<Float>
    var long: UnsafePointer<Float>

    /// `quality` 1: eight points, 2: 32 points. Audio thread.
    @_noLocks func table(_ quality: UInt8, _ kernel: UInt8) -> SincTable {
      quality < 2
        ? SincTable(rows: eight, taps: 8)
        : SincTable(rows: long + Int(kernel) &* SincTable.size(32), taps: 32)
    }
  }

  /// Number of the long kernel for a pitch of `ratio` frames per frame. Audio thread.
  @_noLocks static func kernel(_ ratio: Double) -> UInt8 {
    var kernel: UInt8 = 1
    var limit = 1.02
    while ratio > limit, Int(kernel) < count &- 1 {
      kernel &+= 1
      limit *= 1.059_463_094_359_295
    }
    return kernel
  }

  private init() {
    let eight = Self.allocate(SincTable.size(8))
    Self.fill(eight, Self.window(taps: 8, beta: 7), taps: 8, cutoff: 1)
    let size = SincTable.size(32)
    let long = Self.allocate(size * Self.count)
    let window = Self.window(taps: 32, beta: 9)
    for kernel in 0..<Self.count {
      Self.fill(long + kernel * size, window, taps: 32, cutoff: exp2(Double(-kernel) / 12))
    }
    tables = Tables(eight: UnsafePointer(eight), long: UnsafePointer(long))
  }

  /// Memory in which a vector of sixteen is a line of the cache.
  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
      .bindMemory(to: Float.self, capacity: count)
  }

  /// Nodes of the polynomials: both ends and the middle of each phase.
  private static var nodes: Int { 2 * SincTable.phases + 1 }

  /// The window at each tap, node by node.
  private static func window(taps: Int, beta: Double) -> [Double] {
    let half = Double(taps / 2)
    let top = bessel(beta)
    return (0..<nodes * taps).map { (index: Int) -> Double in
      let x = (distance(index, taps)) / half
      return abs(x) < 1 ? bessel(beta * (1 - x * x).squareRoot()) / top : 0
    }
  }

  /// Frames from the position to a tap.
  private static func distance(_ index: Int, _ taps: Int) -> Double {
    Double(index % taps - (taps / 2 - 1)) - Double(index / taps) / Double(nodes - 1)
  }

  private static func fill(
    _ table: UnsafeMutablePointer<Float>, _ window: [Double], taps: Int, cutoff: Double
  ) {
    var weights = [Double](repeating: 0, count: nodes * taps)
    let (turn, step) = (Double.pi * cutoff, (cosine(.pi * cutoff), sine(.pi * cutoff)))
    for node in 0..<nodes {
      let first = node * taps
      // The sine of each tap from that of the tap before.
      let start = turn * distance(first, taps)
      var (real, imaginary) = (cosine(start), sine(start))
      var sum = 0.0
      for index in first..<first + taps {
        let x = distance(index, taps)
        let isWhole = cutoff == 1 && x == x.rounded()
        weights[index] = window[index] * (x == 0 ? cutoff : isWhole ? 0 : imaginary / (.pi * x))
        sum += weights[index]
        (real, imaginary) = (real * step.0 - imaginary * step.1, imaginary * step.0 + real * step.1)
      }
      // Normalised, so that a constant is preserved.
      for index in first..<first + taps { weights[index] /= sum }
    }
    let isPacked = taps == 32
    // Parts of a phase in which the place is counted.
    let parts: Double = isPacked ? 0x1p20 : 1
    var squares = [Double](repeating: 0, count: taps)
    for phase in 0..<SincTable.phases {
      let first = 2 * phase * taps
      let row = table + phase * SincTable.row(taps)
      for tap in 0..<taps {
        let (start, middle, end) = (first + tap, first + taps + tap, first + 2 * taps + tap)
        squares[tap] = 2 * (weights[start] - 2 * weights[middle] + weights[end])
        if !isPacked { row[2 * taps + tap] = Float(squares[tap]) }
      }
      if isPacked { pack(&squares, row + 2 * taps) }
      for tap in 0..<taps {
        let (start, end) = (weights[first + tap], weights[first + 2 * taps + tap])
        row[tap] = Float(start)
        row[taps + tap] = Float((end - start - squares[tap]) * parts)
      }
    }
  }

  /// Packs the squares' coefficients of 32 taps into sixteen words, as `sostenuto_weights_of_points` reads them, and leaves
  /// what is read.
  private static func pack(_ squares: inout [Double], _ words: UnsafeMutablePointer<Float>) {
    let unit = 0x1p-24
    for tap in 0..<16 {
      let lower = Int16((squares[tap + 16] / unit).rounded())
      let bits = UInt32(UInt16(bitPattern: lower))
      let below = Double(bits) / 0x1p16
      let upper = Int16((squares[tap] / unit - below).rounded())
      UnsafeMutableRawPointer(words + tap).storeBytes(
        of: UInt32(UInt16(bitPattern: upper)) &<< 16 | bits, as: UInt32.self)
      squares[tap] = (Double(upper) + below) * unit
      squares[tap + 16] = Double(lower) * unit
    }
  }

  /// The modified Bessel function of order 0, by its series.
  private static func bessel(_ x: Double) -> Double {
    let square = x * x / 4
    var sum = 1.0
    var term = 1.0
    for index in 1...30 {
      term *= square / Double(index * index)
      sum += term
    }
    return sum
  }
}
