import Glibc

/// What `sample=*NAME` asks for instead of a file.
enum GeneratedWave: String {
  case silence, sine, saw, square, triangle, tri, noise

  /// The wave's name with its star; nil where there is none such.
  init?(sample: String) {
    guard sample.hasPrefix("*") else { return nil }
    self.init(rawValue: String(sample.dropFirst()))
  }

  /// It has harmonics, as many as are asked for.
  var isHarmonic: Bool {
    switch self {
    case .saw, .square, .triangle, .tri: true
    case .silence, .sine, .noise: false
    }
  }

  static var names: String { "*sine, *saw, *square, *triangle (or *tri), *noise and *silence" }

  /// Hertz of C4.
  static let middle = 440 * exp2(-9.0 / 12)
  static let mostHarmonics = 1024

  /// The harmonics that lie below 20.5 kHz when the first has so many hertz, or some fewer: of these numbers there are
  /// eight an octave, so that an instrument has few such waves.
  static func harmonics(_ hertz: Double) -> Int {
    let number = max(1, min(mostHarmonics, Int(20_500 / max(hertz, 1))))
    let spare = max(0, number.bitWidth - number.leadingZeroBitCount - 4)
    return (number >> spare) << spare
  }

  /// One turn, in so many frames: a Fourier series, of 1 at its highest but for the overshoot.
  func turn(frames: Int, harmonics: Int) -> [Float] {
    var sums = [Double](repeating: 0, count: frames)
    for number in 1...harmonics {
      let level: Double =
        switch self {
        case .saw: 2 / (Double.pi * Double(number))
        case .square: number % 2 == 1 ? 4 / (Double.pi * Double(number)) : 0
        case .triangle, .tri:
          number % 2 == 1 ? (number % 4 == 1 ? 8 : -8) / (Double.pi * Double.pi * Double(number * number)) : 0
        case .sine: number == 1 ? 1 : 0
        case .silence, .noise: 0
        }
      guard level != 0 else { continue }
      // By turning a vector: one sine and one cosine a harmonic.
      let angle = 2 * Double.pi * Double(number) / Double(frames)
      let (cosine, sine) = (cos(angle), sin(angle))
      var (x, y) = (level, 0.0)
      for frame in 0..<frames {
        sums[frame] += y
        (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
      }
    }
    return sums.map { Float($0) }
  }

  /// White, -1...1, the same each time (Marsaglia's xorshift, "Xorshift RNGs", 2003).
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
  /// As a sample that sounds at its own pitch on C4, and loops. Worker.
  static func generated(
    _ name: String, harmonics: Int, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    guard let wave = GeneratedWave(sample: name) else {
      throw LoadError(path: name, "of the generated waves there are \(GeneratedWave.names)")
    }
    var facts = Facts(
      path: name, format: "generated", rate: 48000, originalRate: 48000, originalFrames: 48000)
    let frames: [Float]
    switch wave {
    case .silence: frames = [Float](repeating: 0, count: 48000)
    case .noise: frames = GeneratedWave.noise(frames: 1 << 18)
    case .sine, .saw, .square, .triangle, .tri:
      // Eight frames for the shortest wave in it are enough for interpolation.
      var count = 1024
      while count < 8 * harmonics { count *= 2 }
      facts.rate = GeneratedWave.middle * Double(count)
      frames = wave.turn(frames: count, harmonics: wave.isHarmonic ? harmonics : 1)
    }
    facts.loop = Loop(start: 0, end: frames.count)
    return try AudioFile(facts, channels: 1, floats: frames, in: pool)
  }
}

extension RegionSettings {
  /// Itself; where it plays a wave with harmonics, in parts of three keys each, so that none of these is too high to be
  /// heard.
  var parts: [RegionSettings] {
    guard let sample, let wave = GeneratedWave(sample: sample), wave.isHarmonic else { return [self] }
    func hertz(_ key: Int) -> Double {
      let cents =
        Double(key - (keyCenter ?? 60)) * keyTrack + tune + 100 * Double(transpose)
        + levelTune.values.reduce(0, +)
      return GeneratedWave.middle * exp2(cents / 1200)
    }
    guard keyTrack != 0, lowKey >= 0, lowKey <= highKey else {
      var one = self
      one.harmonics = GeneratedWave.harmonics(hertz(keyCenter ?? 60))
      return [one]
    }
    return stride(from: lowKey, through: highKey, by: 3).map { low in
      var part = self
      (part.lowKey, part.highKey) = (low, min(low + 2, highKey))
      part.harmonics = GeneratedWave.harmonics(max(hertz(part.lowKey), hertz(part.highKey)))
      return part
    }
  }
}
