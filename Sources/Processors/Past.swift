import Glibc

/// Contents of a delay line, resampled to another rate after a change of the sample rate. Worker.
///
/// In the interior, a sinc windowed by J. F. Kaiser's function (“Nonrecursive digital filter design using the
/// I0-sinh window function”, 1974; beta 10, so that images lie below -100 dB). Near the newest frame, where
/// no frames follow yet, Lagrange interpolation: through the four newest frames at the very end, otherwise
/// through eight.
struct Past {
  /// Newest first; that frame is one frame old.
  private let frames: [Float]
  /// Frames from this one on are silent.
  private let end: Int
  private let kernel: [Float]
  private let half: Int
  private static let phases = 512

  /// `step`: frames of the old rate in one frame of the new rate.
  init(_ frames: [Float], step: Double) {
    self.frames = frames
    end = (frames.lastIndex { $0 != 0 } ?? -1) + 1
    let cutoff = step > 1 ? 0.94 / step : 0.94
    half = Int((24 * max(step, 1)).rounded(.up))
    var kernel = [Float](repeating: 0, count: (half + 1) * Self.phases + 1)
    let top = Self.bessel(10)
    for index in 0..<kernel.count {
      let x = Double(index) / Double(Self.phases)
      let edge = x / Double(half)
      guard edge < 1 else { continue }
      let sinc = x == 0 ? cutoff : sin(.pi * cutoff * x) / (.pi * x)
      kernel[index] = Float(sinc * Self.bessel(10 * (1 - edge * edge).squareRoot()) / top)
    }
    self.kernel = kernel
  }

  /// The sound `age` frames ago (more than 0), fractions included.
  func value(_ age: Double) -> Float {
    let place = age - 1
    if place > Double(end + half) { return 0 }
    if place < 0 { return polynomial(4, place) }
    if place < Double(half) { return polynomial(8, place) }
    let first = Int(place) - half + 1
    var sum: Float = 0
    for index in max(first, 0)..<min(Int(place) + half + 1, frames.count) {
      let distance = abs(place - Double(index)) * Double(Self.phases)
      let entry = Int(distance)
      let part = Float(distance - Double(entry))
      guard entry + 1 < kernel.count else { continue }
      sum += frames[index] * (kernel[entry] + part * (kernel[entry + 1] - kernel[entry]))
    }
    return sum
  }

  /// Lagrange interpolation through `count` frames around `place`, or the newest ones.
  private func polynomial(_ count: Int, _ place: Double) -> Float {
    let first = max(0, Int(place) - count / 2 + 1)
    guard first + count <= frames.count else { return 0 }
    var sum = 0.0
    for index in 0..<count {
      var weight = 1.0
      for other in 0..<count where other != index {
        weight *= (place - Double(first + other)) / Double(index - other)
      }
      sum += weight * Double(frames[first + index])
    }
    return Float(sum)
  }

  /// The modified Bessel function of order zero.
  private static func bessel(_ x: Double) -> Double {
    var (sum, term) = (1.0, 1.0)
    for n in 1...60 {
      term *= (x / 2 / Double(n)) * (x / 2 / Double(n))
      sum += term
    }
    return sum
  }
}
