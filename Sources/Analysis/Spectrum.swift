import Glibc

/// Levels of a sound by frequency. 0 dB is a sine whose peaks are at full scale.
public struct Spectrum: Sendable, Equatable {
  /// Level of what is not there, dB.
  public static let floor: Float = -200

  /// Width of a bin, Hz.
  public let binWidth: Double
  /// Level of each bin from 0 Hz to half the sample rate, dB.
  public var levels: [Float]

  /// A silent spectrum.
  public init(binWidth: Double, bins: Int) {
    self.binWidth = binWidth
    levels = Array(repeating: Self.floor, count: bins)
  }

  /// Highest frequency, Hz.
  public var highest: Double { binWidth * Double(levels.count - 1) }

  /// Takes the higher level of each bin.
  public mutating func hold(_ other: Spectrum) {
    guard other.levels.count == levels.count, other.binWidth == binWidth else {
      self = other
      return
    }
    for index in levels.indices { levels[index] = max(levels[index], other.levels[index]) }
  }

  /// The highest level between two frequencies, dB; between bins, a line from one to the other. nil: above half the
  /// sample rate.
  public func level(from low: Double, to high: Double) -> Float? {
    guard low < highest else { return nil }
    let first = low / binWidth
    let last = min(high, highest) / binWidth
    var level = max(interpolated(first), interpolated(last))
    let inner = Int(first.rounded(.up))...max(Int(first.rounded(.up)), Int(last))
    for index in inner where index < levels.count && Double(index) <= last {
      level = max(level, levels[index])
    }
    return level
  }

  private func interpolated(_ place: Double) -> Float {
    let index = min(max(0, Int(place)), levels.count - 1)
    let next = min(index + 1, levels.count - 1)
    return levels[index] + Float(place - Double(index)) * (levels[next] - levels[index])
  }

  /// The loudest component from 10 Hz on; nil: there is none, as of silence and of sound that stands still.
  public var peak: (frequency: Double, level: Double)? { peak(from: 10, to: highest) }

  /// The loudest component between two frequencies: frequency in Hz and level in dB, both between bins; nil: there is none
  /// above -120 dB. The slope of one that lies outside is no component.
  public func peak(from low: Double, to high: Double) -> (frequency: Double, level: Double)? {
    let first = max(1, Int(low / binWidth))
    let last = min(levels.count - 2, Int((high / binWidth).rounded(.up)))
    guard first <= last else { return nil }
    // The window's side lobes are no components either.
    let least = max(-120, (levels.max() ?? 0) - 91)
    let tops = (first...last).lazy.filter {
      levels[$0] > least && levels[$0] >= levels[$0 - 1] && levels[$0] >= levels[$0 + 1]
    }
    guard let index = tops.max(by: { levels[$0] < levels[$1] }) else { return nil }
    // A parabola through three bins of a logarithmic spectrum: J. O. Smith, "Spectral Audio Signal Processing",
    // "Quadratic Interpolation of Spectral Peaks". With this window it errs by less than 0.01 bins and 0.02 dB.
    let (left, middle, right) = (Double(levels[index - 1]), Double(levels[index]), Double(levels[index + 1]))
    let bend = left - 2 * middle + right
    let shift = bend < 0 ? 0.5 * (left - right) / bend : 0
    return ((Double(index) + shift) * binWidth, middle - 0.25 * (left - right) * shift)
  }
}

/// Measures the spectrum of the latest third of a second or so, through a Blackman-Harris window, whose side lobes are
/// 92 dB down (F. J. Harris, "On the Use of Windows for Harmonic Analysis with the Discrete Fourier Transform", 1978).
public final class SpectrumAnalyser {
  private let transform: RealTransform
  private let window: [Float]
  private let rate: Double
  /// Frames that it looks at.
  public var frames: Int { transform.size }

  /// An analyser for this sample rate, Hz.
  public init(rate: Double) {
    self.rate = rate
    var size = 1024
    while Double(size) < rate * 0.25 { size *= 2 }
    transform = RealTransform(size: size)
    let window = (0..<size).map { index in
      let turn = 2 * Double.pi * Double(index) / Double(size)
      return 0.35875 - 0.48829 * cos(turn) + 0.14128 * cos(2 * turn) - 0.01168 * cos(3 * turn)
    }
    // A full-scale sine has 0 dB.
    let scale = 2 / window.reduce(0, +)
    self.window = window.map { Float($0 * scale) }
  }

  /// The spectrum of some channels; of several, the loudest at each frequency.
  public func measure(_ history: SoundHistory, channels: Range<Int>) -> Spectrum {
    var loudest = [Float](repeating: 0, count: frames / 2 + 1)
    for channel in channels.clamped(to: 0..<history.channels) {
      var samples = history.latest(frames, channel: channel)
      for index in samples.indices { samples[index] *= window[index] }
      for (index, power) in transform.powers(of: samples).enumerated() where power > loudest[index] {
        loudest[index] = power
      }
    }
    var spectrum = Spectrum(binWidth: rate / Double(frames), bins: loudest.count)
    for index in loudest.indices where loudest[index] > 1e-20 {
      spectrum.levels[index] = 10 * log10(loudest[index])
    }
    return spectrum
  }
}
