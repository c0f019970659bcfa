import Glibc

/// The Fourier series of one cycle of a wave, from the first harmonic on, without its constant part. Worker.
struct WaveSpectrum {
  var cosines: [Double]
  var sines: [Double]

  init(sines: [Double]) {
    self.sines = sines
    cosines = []
  }

  /// More frames are a recording, not a cycle of a wave.
  static let mostFrames = 1 << 17

  /// Spectrum of the frames of one cycle; the highest harmonics of a long cycle are left out.
  init(_ frames: [Float]) {
    let count = max(1, min(GeneratedWave.mostHarmonics, (frames.count - 1) / 2))
    (cosines, sines) = ([], [])
    for number in 1...count {
      let (cosine, sine) = Self.step(number, frames.count)
      var (x, y) = (1.0, 0.0)
      var (real, imaginary) = (0.0, 0.0)
      for frame in frames {
        real += x * Double(frame)
        imaginary += y * Double(frame)
        (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
      }
      cosines.append(2 * real / Double(frames.count))
      sines.append(2 * imaginary / Double(frames.count))
    }
  }

  /// One cycle with this many frames, and at most this many harmonics.
  func turn(frames: Int, harmonics: Int) -> [Float] {
    var sums = [Double](repeating: 0, count: frames)
    for index in 0..<min(harmonics, sines.count) {
      let (a, b) = (index < cosines.count ? cosines[index] : 0, sines[index])
      guard a != 0 || b != 0 else { continue }
      // By rotating a vector: one sine and one cosine per harmonic.
      let (cosine, sine) = Self.step(index + 1, frames)
      var (x, y) = (b, a)
      for frame in 0..<frames {
        sums[frame] += y
        (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
      }
    }
    return sums.map { Float($0) }
  }

  /// Rotation of a harmonic's vector from frame to frame.
  private static func step(_ number: Int, _ frames: Int) -> (cosine: Double, sine: Double) {
    let angle = 2 * Double.pi * Double(number) / Double(frames)
    return (cos(angle), sin(angle))
  }
}
