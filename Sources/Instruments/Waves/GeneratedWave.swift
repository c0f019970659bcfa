import Glibc

/// Generated samples, which regions name with a star before.
enum GeneratedWave: String {
  case silence, sine, saw, square, triangle, tri, noise

  /// The wave named by `sample`, with its star; nil if there is none.
  init?(sample: String) {
    guard sample.hasPrefix("*") else { return nil }
    self.init(rawValue: String(sample.dropFirst()))
  }

  /// True for waves made of harmonics.
  var isHarmonic: Bool {
    switch self {
    case .saw, .square, .triangle, .tri: true
    case .silence, .sine, .noise: false
    }
  }

  static var names: String { "*sine, *saw, *square, *triangle (or *tri), *noise and *silence" }

  /// Frequency of C4, in Hz.
  static let middle = 440 * exp2(-9.0 / 12)
  static let mostHarmonics = 1024

  /// Number of harmonics below 20.5 kHz for a fundamental in Hz, rounded down to one of eight values per
  /// octave, so that an instrument needs few waves.
  static func harmonics(_ hertz: Double) -> Int {
    let number = max(1, min(mostHarmonics, Int(20_500 / max(hertz, 1))))
    let spare = max(0, number.bitWidth - number.leadingZeroBitCount - 4)
    return (number >> spare) << spare
  }

  /// Its Fourier series, with peak 1 apart from the overshoot.
  func spectrum(harmonics: Int) -> WaveSpectrum {
    WaveSpectrum(
      sines: (1...harmonics).map { number in
        switch self {
        case .saw: 2 / (Double.pi * Double(number))
        case .square: number % 2 == 1 ? 4 / (Double.pi * Double(number)) : 0
        case .triangle, .tri:
          number % 2 == 1 ? (number % 4 == 1 ? 8 : -8) / (Double.pi * Double.pi * Double(number * number)) : 0
        case .sine: number == 1 ? 1 : 0
        case .silence, .noise: 0
        }
      })
  }

  /// White noise, -1...1, the same each time (Marsaglia's xorshift, "Xorshift RNGs", 2003).
  static func noise(frames: Int) -> [Float] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<frames).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Float(Int32(truncatingIfNeeded: state >> 32)) / 2_147_483_648
    }
  }
}

extension AudioFile {
  /// A looped sample with its own pitch at C4. Worker.
  static func generated(
    _ name: String, harmonics: Int, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    guard let wave = GeneratedWave(sample: name) else {
      throw LoadError(path: name, .noWave)
    }
    switch wave {
    case .silence: return try turn([Float](repeating: 0, count: 48000), name, rate: 48000, in: pool)
    case .noise: return try turn(GeneratedWave.noise(frames: 1 << 18), name, rate: 48000, in: pool)
    case .sine, .saw, .square, .triangle, .tri:
      let spectrum = wave.spectrum(harmonics: wave.isHarmonic ? harmonics : 1)
      return try self.wave(spectrum, harmonics: harmonics, name, in: pool)
    }
  }

  /// One cycle of a wave with some of its harmonics, with its own pitch at C4. Worker.
  static func wave(
    _ spectrum: WaveSpectrum, harmonics: Int, _ name: String, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    // Eight frames per cycle of the highest harmonic are enough for interpolation.
    var count = 1024
    while count < 8 * harmonics { count *= 2 }
    return try turn(
      spectrum.turn(frames: count, harmonics: harmonics), name, rate: GeneratedWave.middle * Double(count),
      in: pool)
  }

  private static func turn(
    _ frames: [Float], _ name: String, rate: Double, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    var facts = Facts(
      path: name, format: "generated", rate: rate, originalRate: 48000, originalFrames: 48000)
    facts.loop = Loop(start: 0, end: frames.count)
    return try AudioFile(facts, channels: 1, floats: frames, in: pool)
  }
}
