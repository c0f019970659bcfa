import CVector
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
    let phases = SincTable.phases
    let short = Nodes(taps: 8, count: 2 * phases + 1, first: 0, distance: 0.5 / Double(phases))
    Self.fill(eight, short.weights(short.window(beta: 7), cutoff: 1))
    let size = SincTable.size(32)
    let long = Self.allocate(size * Self.count)
    let rows = Int(sostenuto_points_rows)
    let nodes = Nodes(taps: 32, count: 2 * rows + 1, first: -1, distance: 0.5 / Double(rows - 1))
    let window = nodes.window(beta: 9)
    for kernel in 0..<Self.count {
      Self.fillPacked(long + kernel * size, nodes.weights(window, cutoff: exp2(Double(-kernel) / 12)))
    }
    tables = Tables(eight: UnsafePointer(eight), long: UnsafePointer(long))
  }

  /// Memory in which a vector of sixteen is a line of the cache.
  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
      .bindMemory(to: Float.self, capacity: count)
  }

  /// Places between two frames, at which weights are calculated.
  private struct Nodes {
    let taps: Int
    let count: Int
    /// The first node, in distances between two.
    let first: Int
    let distance: Double

    /// Frames from a node to a tap.
    func frames(_ index: Int) -> Double {
      Double(index % taps - (taps / 2 - 1)) - Double(index / taps + first) * distance
    }

    /// The window at each tap, node by node.
    func window(beta: Double) -> [Double] {
      let half = Double(taps / 2)
      let top = bessel(beta)
      return (0..<count * taps).map { (index: Int) -> Double in
        let x = frames(index) / half
        return abs(x) < 1 ? bessel(beta * (1 - x * x).squareRoot()) / top : 0
      }
    }

    /// The weights of each tap, node by node.
    func weights(_ window: [Double], cutoff: Double) -> [Double] {
      var weights = [Double](repeating: 0, count: count * taps)
      let (turn, step) = (Double.pi * cutoff, (cosine(.pi * cutoff), sine(.pi * cutoff)))
      for node in 0..<count {
        let first = node * taps
        // The sine of each tap from that of the tap before.
        let start = turn * frames(first)
        var (real, imaginary) = (cosine(start), sine(start))
        var sum = 0.0
        for index in first..<first + taps {
          let x = frames(index)
          let isWhole = cutoff == 1 && x == x.rounded()
          weights[index] = window[index] * (x == 0 ? cutoff : isWhole ? 0 : imaginary / (.pi * x))
          sum += weights[index]
          (real, imaginary) = (real * step.0 - imaginary * step.1, imaginary * step.0 + real * step.1)
        }
        // Normalised, so that a constant is preserved.
        for index in first..<first + taps { weights[index] /= sum }
      }
      return weights
    }
  }

  /// Polynomials of eight taps, by both ends and the middle of each phase.
  private static func fill(_ table: UnsafeMutablePointer<Float>, _ weights: [Double]) {
    let taps = 8
    for phase in 0..<SincTable.phases {
      let row = table + phase * SincTable.row(taps)
      for tap in 0..<taps {
        let first = 2 * phase * taps + tap
        let (start, middle, end) = (weights[first], weights[first + taps], weights[first + 2 * taps])
        let square = 2 * (start - 2 * middle + end)
        row[tap] = Float(start)
        row[taps + tap] = Float(end - start - square)
        row[2 * taps + tap] = Float(square)
      }
    }
  }

  /// Polynomials of 32 taps around each row's place, by that and both places halfway to the next, as
  /// `sostenuto_weights_of_points` reads them.
  private static func fillPacked(_ table: UnsafeMutablePointer<Float>, _ weights: [Double]) {
    let taps = 32
    let rows = Int(sostenuto_points_rows)
    let units = table + rows * SincTable.row(taps)
    for tap in 0..<taps {
      let polynomials = (0..<rows).map { (row: Int) -> (linear: Double, square: Double) in
        let middle = (2 * row + 1) * taps + tap
        let (before, after) = (weights[middle - taps], weights[middle + taps])
        return (after - before, 2 * (before - 2 * weights[middle] + after))
      }
      let largest = polynomials.reduce(0) { max($0, abs($1.linear), abs($1.square)) }
      // A place is in units of 2^-16.
      units[tap] = Float(largest / 0x7FFF * 0x1p-16)
      let unit = Double(units[tap]) * 0x1p16
      for (row, polynomial) in polynomials.enumerated() {
        let place = table + row * SincTable.row(taps) + tap
        place.pointee = Float(weights[(2 * row + 1) * taps + tap])
        let linear = UInt16(bitPattern: Int16((polynomial.linear / unit).rounded()))
        let square = UInt16(bitPattern: Int16((polynomial.square / unit).rounded()))
        place[taps] = Float(bitPattern: UInt32(square) &<< 16 | UInt32(linear))
      }
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
