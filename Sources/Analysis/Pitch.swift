import Glibc

/// The pitch of a sound.
public struct Pitch: Sendable, Equatable {
  /// Frequency, Hz.
  public var frequency: Double
  /// How periodic the sound is: 1 is a tone that repeats exactly.
  public var clarity: Double
  /// Several notes sound together: the frequency is that of their common period, which none of them has.
  public var isOfSeveral = false

  /// A pitch of a frequency in Hz.
  public init(frequency: Double, clarity: Double = 1) {
    self.frequency = frequency
    self.clarity = clarity
  }

  /// The nearest key, MIDI number, and the cents by which the pitch lies above it. Of no frequency it is far below all keys.
  /// `a4`: frequency of A4, Hz.
  public func note(a4: Double = 440) -> (key: Int, cents: Double) {
    let place = 69 + 12 * log2((frequency > 1e-9 ? min(frequency, 1e9) : 1e-9) / a4)
    let key = place.rounded()
    return (Int(key), 100 * (place - key))
  }
}

/// Finds the pitch of one voice between 25 Hz and 5 kHz, by the McLeod pitch method: P. McLeod and G. Wyvill, "A smarter
/// way to find pitch", ICMC 2005. The period is then measured over many periods, so that it is exact to a small part of
/// a frame.
public final class PitchDetector {
  /// Lowest and highest frequency, Hz.
  public static let range = 25.0...5000.0
  /// A peak counts as the period if it is so high, compared with the highest (the paper's `k`).
  private static let threshold: Float = 0.9
  /// Clarity below which there is no pitch.
  private static let leastClarity: Float = 0.8
  /// Power per frame below which there is no pitch: -70 dBFS.
  private static let leastPower: Float = 1e-7

  private let rate: Double
  /// Values of the curve for each frame: 11 or more in the shortest period.
  private let fineness: Int
  private let transform: RealTransform
  /// Frames that it looks at.
  public let frames: Int

  /// A detector for this sample rate, Hz.
  public init(rate: Double) {
    self.rate = rate
    var frames = 512
    while Double(frames) < rate * 0.12 { frames *= 2 }
    self.frames = frames
    fineness = rate < 30000 ? 4 : rate < 80000 ? 2 : 1
    // Twice as long, so that the correlation does not wrap around.
    transform = RealTransform(size: 2 * frames, fineness: fineness)
  }

  /// The pitch of the latest sound, the sum of some channels; nil: there is none. They have different weights, since two of
  /// opposite signs would cancel each other.
  public func measure(_ history: SoundHistory, channels: Range<Int>) -> Pitch? {
    var sum = [Float](repeating: 0, count: frames)
    for (place, channel) in channels.clamped(to: 0..<history.channels).enumerated() {
      let weight = 2 / Float(2 + place)
      for (index, sample) in history.latest(frames, channel: channel).enumerated() {
        sum[index] += sample * weight
      }
    }
    return pitch(of: sum)
  }

  func pitch(of samples: [Float]) -> Pitch? {
    let mean = samples.reduce(0, +) / Float(max(1, samples.count))
    let samples = samples.map { $0 - mean }
    guard let curve = similarity(of: samples) else { return nil }
    let rate = rate * Double(fineness)
    let shortest = max(2, Int(rate / Self.range.upperBound))
    let longest = min(curve.count - 2, Int(rate / Self.range.lowerBound) + 2)
    let peaks = Self.peaks(curve, before: longest)
    guard let highest = peaks.map(\.height).max(), highest > Self.leastClarity,
      let first = peaks.first(where: { $0.height >= Self.threshold * highest }),
      first.place >= Double(shortest) - 0.5
    else { return nil }
    let period = refined(first.place, curve)
    let frequency = rate / period
    guard Self.range.contains(frequency) else { return nil }
    var pitch = Pitch(frequency: frequency, clarity: Double(min(1, first.height)))
    pitch.isOfSeveral = isOfSeveral(samples, frequency)
    return pitch
  }

  /// True when a sound of this period lacks what one voice would have. The notes of a triad are harmonics from the third on
  /// of their common period, those of a fifth are even ones and multiples of three; and a voice without its first harmonic
  /// has its strongest among the next two.
  private func isOfSeveral(_ samples: [Float], _ frequency: Double) -> Bool {
    let highest = max(1, min(Self.harmonics, Int(0.5 * rate / frequency)))
    let powers = (1...highest).map { power(of: samples, at: frequency * Double($0)) }
    let most = powers.max() ?? 0
    func lacks(_ number: Int) -> Bool {
      !powers.indices.contains(number - 1) || powers[number - 1] < Self.leastHarmonic * most
    }
    guard lacks(1) else { return false }
    return lacks(2) || lacks(5) && lacks(7) || powers.prefix(3).allSatisfy { $0 < most }
  }

  /// Harmonics that are looked at.
  private static let harmonics = 16
  /// Power of a harmonic that is there, of the strongest one's: -26 dB, above the window's side lobes.
  private static let leastHarmonic = 0.0025

  /// Power at a frequency in Hz, through a Hann window.
  private func power(of samples: [Float], at frequency: Double) -> Double {
    // Unit vectors that turn with the frequency and with the window.
    let (turn, opening) = (2 * Double.pi * frequency / rate, 2 * Double.pi / Double(samples.count))
    let (turnX, turnY, openX, openY) = (cos(turn), sin(turn), cos(opening), sin(opening))
    var (x, y, a, b, sumX, sumY) = (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    for sample in samples {
      let value = Double(sample) * (1 - a)
      sumX += value * x
      sumY += value * y
      (x, y) = (x * turnX - y * turnY, x * turnY + y * turnX)
      (a, b) = (a * openX - b * openY, a * openY + b * openX)
    }
    return sumX * sumX + sumY * sumY
  }

  /// The paper's normalised square difference function: 1 where the sound is the same as it was so much earlier, in
  /// parts of a frame (`fineness`).
  private func similarity(of samples: [Float]) -> [Float]? {
    let correlation = transform.autocorrelation(of: samples + [Float](repeating: 0, count: frames))
    let power = samples.reduce(0) { $0 + $1 * $1 }
    guard power > Self.leastPower * Float(frames) else { return nil }
    var curve = [Float](repeating: 0, count: (frames / 2 + 2) * fineness)
    // Sums of squares in double precision, since they are made by subtraction.
    var squares = 2 * samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    for frame in 0..<curve.count / fineness {
      let (first, last) = (Double(samples[frame]), Double(samples[frames - 1 - frame]))
      let next = squares - first * first - last * last
      for part in 0..<fineness {
        let lag = frame * fineness + part
        let norm = squares + (next - squares) * Double(part) / Double(fineness)
        curve[lag] = norm > 1e-12 ? Float(2 * Double(correlation[lag]) / norm) : 0
      }
      squares = next
    }
    return curve
  }

  /// The highest point between each upward zero crossing and the next downward one, after the first downward one.
  private static func peaks(_ curve: [Float], before end: Int) -> [(place: Double, height: Float)] {
    var peaks: [(place: Double, height: Float)] = []
    var lag = curve.firstIndex { $0 <= 0 } ?? end
    while lag < end {
      while lag < end, curve[lag] <= 0 { lag += 1 }
      var best = lag
      while lag < end, curve[lag] > 0 {
        if curve[lag] > curve[best] { best = lag }
        lag += 1
      }
      if best + 1 < end, best > 0, curve[best] > curve[best - 1] || curve[best] > curve[best + 1] {
        peaks.append(vertex(curve, best))
      }
    }
    return peaks
  }

  /// The top of the parabola through three points.
  private static func vertex(_ curve: [Float], _ index: Int) -> (place: Double, height: Float) {
    let (left, middle, right) = (curve[index - 1], curve[index], curve[index + 1])
    let bend = left - 2 * middle + right
    guard bend < 0 else { return (Double(index), middle) }
    let shift = max(-0.5, min(0.5, 0.5 * (left - right) / bend))
    return (Double(index) + Double(shift), middle - 0.25 * (left - right) * shift)
  }

  /// The period, measured over as many periods as the frames hold and the sound repeats.
  private func refined(_ period: Double, _ curve: [Float]) -> Double {
    var best = period
    var count = 1
    while true {
      let next = max(count + 1, count * 3 / 2)
      let place = best * Double(next)
      // Half a period to each side belongs to this repetition.
      let reach = max(1, Int(period / 3))
      let (low, high) = (Int(place.rounded()) - reach, Int(place.rounded()) + reach)
      guard low > 0, high + 1 < curve.count else { return best }
      let index = (low...high).max { curve[$0] < curve[$1] } ?? low
      guard curve[index] > Self.threshold * curve[min(curve.count - 1, Int(period.rounded()))],
        curve[index] >= curve[index - 1], curve[index] >= curve[index + 1]
      else { return best }
      best = Self.vertex(curve, index).place / Double(next)
      count = next
    }
  }
}
