import CVector
import Glibc
import Realtime

/// Wave tables for `wavetable`: plain memory owned by a `Resource`, or the program's own.
///
/// Each wave has a table for every third of an octave, with the harmonics that fit below half the rate there. Tables have
/// sixteen frames or more for each cycle of their highest harmonic, so that what the spline leaves of it is 94 dB below.
public struct WavetableImage {
  /// Type of the resource.
  public static var type: Int32 { @_noLocks get { 5 } }
  /// Harmonics that are kept.
  public static let mostHarmonics = 512
  /// Waves that are kept.
  public static let mostWaves = 256

  /// First, so that a pointer to it is a pointer to the whole image.
  var header = ResourceHeader(type: type)
  let waves: Int
  let tables: UnsafeMutablePointer<Float>

  /// Bytes of its tables.
  public var bytes: Int { (waves + 1) * WaveLevels.shared.stride * 4 }

  /// Cosines and sines of a wave's harmonics, from the first on.
  public typealias Harmonics = (cosines: [Double], sines: [Double])

  /// Tables of waves, at least one. Worker.
  public init(_ spectra: [Harmonics]) {
    let levels = WaveLevels.shared
    waves = min(spectra.count, Self.mostWaves)
    let size = (waves + 1) * levels.stride
    tables = .allocate(capacity: size + 16)
    tables.initialize(repeating: 0, count: size + 16)
    for wave in 0...waves {
      // The last one twice, since the next one is always read.
      levels.write(spectra[min(wave, waves - 1)], to: tables + wave * levels.stride)
    }
  }

  /// Frees its tables. Worker.
  public func free() { tables.deallocate() }

  /// Waves of a node without a file: sine, triangle, saw, square, narrow pulse. Their fundamentals have one phase, so that
  /// none is lost between two of them.
  nonisolated(unsafe) static let builtIn: UnsafeMutablePointer<WavetableImage> = {
    let numbers = (1...mostHarmonics).map(Double.init)
    func odd(_ number: Double) -> Bool { Int(number) % 2 == 1 }
    func wave(_ sine: (Double) -> Double) -> Harmonics { ([], numbers.map(sine)) }
    let sine = wave { $0 == 1 ? 1 : 0 }
    let triangle = wave { n in
      guard odd(n) else { return 0 }
      return (Int(n) % 4 == 1 ? 8 : -8) / (Double.pi * Double.pi * n * n)
    }
    let saw = wave { (odd($0) ? 1.6 : -1.6) / (Double.pi * $0) }
    let square = wave { odd($0) ? 3.2 / (Double.pi * $0) : 0 }
    let pulse: [(Double, Double)] = numbers.map { n in
      let size = 3.2 / (Double.pi * n) * sin(Double.pi * n * 0.1)
      return odd(n) ? (0, Int(n) % 4 == 1 ? size : -size) : (Int(n) % 4 == 0 ? size : -size, 0)
    }
    let image = UnsafeMutablePointer<WavetableImage>.allocate(capacity: 1)
    image.initialize(to: WavetableImage([sine, triangle, saw, square, (pulse.map(\.0), pulse.map(\.1))]))
    return image
  }()
}

/// The tables of one wave, the same for all: how many harmonics, how many frames, and where.
struct WaveLevels: BitwiseCopyable, @unchecked Sendable {
  static let shared = WaveLevels()

  let levels: UnsafePointer<sostenuto_wave_level>
  /// Largest frequency for a level, in halves of the rate.
  let limits: UnsafePointer<Float>
  /// The richest level that may fit, for each eighth of an octave's digits.
  let guesses: UnsafePointer<Int32>
  /// Floats from one wave to the next.
  let stride: Int

  /// Thirds of octaves, as far as these are whole harmonics.
  private static let harmonics: [Int] = (0...27).map { Int((512 * exp2(-Double($0) / 3)).rounded()) }
    .reduce(into: []) { if $0.last != $1 { $0.append($1) } }

  static var firstGuess: Int32 { @inline(__always) @_noLocks get { (127 - 11) &<< 3 } }
  static var guessCount: Int32 { @inline(__always) @_noLocks get { 12 * 8 } }

  private init() {
    let harmonics = Self.harmonics
    let count = harmonics.count
    let levels = UnsafeMutablePointer<sostenuto_wave_level>.allocate(capacity: count)
    let limits = UnsafeMutablePointer<Float>.allocate(capacity: count)
    var offset = 0
    for (index, number) in harmonics.enumerated() {
      var bits = 8
      while 1 << bits < number * 16 { bits += 1 }
      let limit = 1 / Double(number)
      // Harmonics below three eighths of the rate (18 kHz of 48) are whole as long as they can be.
      var start = 4.0
      if index + 1 < count { start = 0.75 / Double(harmonics[index + 1] + 1) }
      if index > 0 { start = max(start, 1 / Double(harmonics[index - 1])) }
      let isLast = index + 1 == count
      levels[index] = sostenuto_wave_level(
        offset: Int32(offset), bits: Int32(bits), start: Float(start),
        slope: isLast ? 0 : Float(1 / (limit - start)))
      limits[index] = isLast ? 4 : Float(limit)
      offset += (1 << bits) + 16
    }
    stride = offset
    let guesses = UnsafeMutablePointer<Int32>.allocate(capacity: Int(Self.guessCount))
    for index in 0..<Int(Self.guessCount) {
      let least = Float(bitPattern: UInt32(Int(Self.firstGuess) + index) << 20)
      guesses[index] = Int32((0..<count).first { least <= limits[$0] } ?? count - 1)
    }
    (self.levels, self.limits) = (UnsafePointer(levels), UnsafePointer(limits))
    self.guesses = UnsafePointer(guesses)
  }

  /// Level for a frequency in halves of the rate.
  @inline(__always) @_noLocks func level(_ frequency: Float) -> (number: Int32, blend: Float) {
    let digits = Int32(bitPattern: frequency.bitPattern &>> 20) &- Self.firstGuess
    var number = guesses[Int(digits < 0 ? 0 : digits < Self.guessCount ? digits : Self.guessCount &- 1)]
    if frequency > limits[Int(number)] { number &+= 1 }
    let level = levels[Int(number)]
    return (number, limited((frequency - level.start) * level.slope, 0, 1))
  }

  /// True when a level fits all frames. `sizes`: of phase increments; `largest`: of them.
  @inline(__always) @_noLocks func fits(
    _ number: Int32, _ sizes: UnsafePointer<Float>, _ largest: Float, _ frames: Int
  ) -> Bool {
    guard largest * (1 / 2_147_483_648) <= limits[Int(number)] else { return false }
    guard number > 0 else { return true }
    var least = sizes.vector(0)
    var frame = 16
    while frame < frames {
      least = sostenuto_lesser_sizes(least, sizes.vector(frame))
      frame &+= 16
    }
    let below = limits[Int(number) &- 1]
    return sostenuto_are_within(least * (1 / 2_147_483_648), below, .infinity)
  }

  /// The level that sixteen frequencies have in common, with the blends of each; nil: they have several.
  @inline(__always) @_noLocks func levels(_ frequencies: Frames) -> (number: Int32, blends: Frames)? {
    let number = level(frequencies[0]).number
    let below: Float = number > 0 ? limits[Int(number) &- 1] : -1
    guard sostenuto_are_within(frequencies, below, limits[Int(number)]) else { return nil }
    let level = levels[Int(number)]
    return (number, limited((frequencies - level.start) * level.slope, 0, 1))
  }

  /// Writes all tables of a wave. Worker.
  func write(_ spectrum: WavetableImage.Harmonics, to wave: UnsafeMutablePointer<Float>) {
    for (index, most) in Self.harmonics.enumerated() {
      let size = 1 << Int(levels[index].bits)
      var (re, im) = ([Double](repeating: 0, count: size), [Double](repeating: 0, count: size))
      for number in 1...most {
        let a = number <= spectrum.cosines.count ? spectrum.cosines[number - 1] : 0
        let b = number <= spectrum.sines.count ? spectrum.sines[number - 1] : 0
        let x = Double.pi * Double(number) / Double(size)
        // Attenuation by the spline.
        let more = pow(x / sin(x), 4)
        (re[number], im[number]) = (a * more, -b * more)
      }
      Self.transform(&re, &im)
      let table = wave + Int(levels[index].offset)
      for frame in 0..<size + 4 { table[frame] = Float(re[(frame + size - 1) & (size - 1)]) }
    }
  }

  /// Inverse Fourier transform of a power of two of numbers, in place and not scaled (J. Cooley and J. Tukey, "An algorithm
  /// for the machine calculation of complex Fourier series", 1965).
  private static func transform(_ re: inout [Double], _ im: inout [Double]) {
    let count = re.count
    var reversed = 0
    for index in 1..<count {
      var bit = count >> 1
      while reversed & bit != 0 {
        reversed ^= bit
        bit >>= 1
      }
      reversed |= bit
      if index < reversed {
        re.swapAt(index, reversed)
        im.swapAt(index, reversed)
      }
    }
    let cosines = (0..<count / 2).map { cos(2 * Double.pi * Double($0) / Double(count)) }
    let sines = (0..<count / 2).map { sin(2 * Double.pi * Double($0) / Double(count)) }
    var half = 1
    while half < count {
      let step = count / (2 * half)
      for start in Swift.stride(from: 0, to: count, by: 2 * half) {
        for index in 0..<half {
          let (c, s) = (cosines[index * step], sines[index * step])
          let (a, b) = (start + index, start + index + half)
          let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c)
          (re[b], im[b]) = (re[a] - x, im[a] - y)
          re[a] += x
          im[a] += y
        }
      }
      half *= 2
    }
  }
}
