import Glibc
import Realtime

/// Doubles or halves a sample rate with a linear-phase half-band filter: every other tap is zero, the middle
/// one a half (F. Mintzer, "On half-band, third-band, and Nth-band FIR filters and their design", 1982),
/// windowed after J. F. Kaiser (1974).
///
/// The doubled signal is kept as two phases, `even` (frames 0, 2, 4…) and `odd`, so that every sum runs along
/// time in whole vectors. Upsampling and downsampling together delay by `2 * half - 1` frames of the lower
/// rate.
struct HalfBand: BitwiseCopyable {
  /// The taps at even positions: `2 * half` of them, symmetric, with sum 0.5.
  private let taps: UnsafeMutablePointer<Float>
  /// Half the number of taps.
  let half: Int

  /// Reserves its taps in `arena`. Audio thread.
  @_noLocks init(half: Int, _ arena: inout Arena) {
    self.half = half
    taps = arena.take(Float.self, 2 &* half)
  }

  /// Computes the taps. `beta` is Kaiser's parameter: 8 gives about 80 dB. Worker.
  func design(beta: Double) {
    let count = 2 * half
    var values = (0..<count).map { index in
      let x = Double(2 * index + 1 - count)
      let ideal = sin(.pi * x / 2) / (.pi * x)
      let edge = x / Double(count)
      return ideal * Self.bessel(beta * (1 - edge * edge).squareRoot()) / Self.bessel(beta)
    }
    let sum = values.reduce(0, +)
    values = values.map { $0 / sum / 2 }
    for index in 0..<count { taps[index] = Float(values[index]) }
  }

  /// Audio thread.
  @_noLocks func copy(from other: Self) { copyMemory(taps, other.taps, half &* 8) }

  /// The modified Bessel function of order zero.
  private static func bessel(_ x: Double) -> Double {
    var sum = 1.0
    var term = 1.0
    for k in 1...40 {
      term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
      sum += term
    }
    return sum
  }

  /// Upsamples by two: computes the even phase of `x`, which has `2 * half - 1` frames of history before it. The odd
  /// phase is `odd(x)`. Audio thread.
  @_noLocks func up(_ x: UnsafeMutablePointer<Float>, even: UnsafeMutablePointer<Float>, _ frames: Int) {
    var frame = 0
    while frame < frames {
      even.store(2 * sum(x, frame), frame)
      frame &+= 16
    }
  }

  /// The odd phase of the upsampled `x`, which is `x` itself, later.
  @inline(__always) @_noLocks func odd(_ x: UnsafeMutablePointer<Float>) -> UnsafeMutablePointer<Float> {
    x + (1 &- half)
  }

  /// Downsamples by two: `even` has `2 * half - 1` frames of history before it, `odd` has `half`. Audio
  /// thread.
  @_noLocks func down(
    even: UnsafeMutablePointer<Float>, odd: UnsafeMutablePointer<Float>,
    _ y: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      y.store(sum(even, frame) + 0.5 * odd.vector(frame &- half), frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func sum(_ x: UnsafeMutablePointer<Float>, _ frame: Int) -> Frames {
    var first = Frames(repeating: 0)
    var second = first
    let last = frame &+ 1 &- 2 &* half
    // The taps are symmetric: two frames share each.
    var k = 0
    while k < half {
      first += (x.vector(frame &- k) + x.vector(last &+ k)) * taps[k]
      second += (x.vector(frame &- k &- 1) + x.vector(last &+ k &+ 1)) * taps[k &+ 1]
      k &+= 2
    }
    return first + second
  }
}

/// Moves the last `history` of `history + frames` floats to the front.
@_noLocks func keepHistory(_ row: UnsafeMutablePointer<Float>, _ history: Int, _ frames: Int) {
  var index = 0
  while index < history {
    row.store(row.vector(index &+ frames), index)
    index &+= 16
  }
}
