import CEbur128
import Glibc

/// Loudness by EBU R 128 and ITU-R BS.1770. Levels of silence are `-inf`.
public struct Loudness: Sendable, Equatable {
  /// Over the last 400 ms, LUFS.
  public var momentary = -Double.infinity
  /// Over the last 3 s, LUFS.
  public var shortTerm = -Double.infinity
  /// Since the beginning, gated, LUFS.
  public var integrated = -Double.infinity
  /// The highest so far, LUFS.
  public var highestMomentary = -Double.infinity
  /// The highest so far, LUFS.
  public var highestShortTerm = -Double.infinity
  /// Loudness range by EBU Tech 3342 since the beginning, LU.
  public var range = 0.0
  /// Highest true peak of each channel so far, dBTP.
  public var truePeaks: [Double] = []
  /// Seconds measured.
  public var seconds = 0.0

  /// Before anything was heard.
  public init() {}
}

/// Measures loudness, by libebur128. One thread at a time.
public final class LoudnessMeter {
  /// Channels measured at most.
  public static let mostChannels = 16

  private var state: UnsafeMutablePointer<ebur128_state>?
  private let channels: Int
  private let rate: Double
  private var frames: Int64 = 0
  private var interleaved: [Float] = []
  /// Measurements so far.
  public private(set) var loudness = Loudness()
  private var nextTotals: Int64 = 0

  /// A meter of so many channels, the first 16 at most, at this sample rate, Hz. One is measured as a centre, two as left
  /// and right, four, five and six as 4.0, 5.0 and 5.1 in the order L R C LFE Ls Rs; of other numbers every channel
  /// counts alike.
  public init(channels: Int, rate: Double) {
    self.channels = min(max(1, channels), Self.mostChannels)
    self.rate = rate
    state = ebur128_init(
      UInt32(self.channels), UInt(rate.rounded()),
      Int32(
        EBUR128_MODE_M.rawValue | EBUR128_MODE_S.rawValue | EBUR128_MODE_I.rawValue
          | EBUR128_MODE_LRA.rawValue
          | EBUR128_MODE_TRUE_PEAK.rawValue))
    if ![1, 2, 4, 5, 6].contains(self.channels) {
      for channel in 0..<self.channels {
        ebur128_set_channel(state, UInt32(channel), Int32(EBUR128_CENTER.rawValue))
      }
    }
    loudness.truePeaks = Array(repeating: -.infinity, count: self.channels)
  }

  deinit { ebur128_destroy(&state) }

  /// Measures further frames, a list of samples for each channel; a channel without samples is silent.
  public func append(_ samples: [[Float]], frames count: Int) {
    guard let state, count > 0 else { return }
    // A step no longer than 50 ms, so that no highest moment is missed.
    let step = max(1, Int(rate / 20))
    for first in stride(from: 0, to: count, by: step) {
      let length = min(step, count - first)
      interleaved.removeAll(keepingCapacity: true)
      for frame in first..<first + length {
        for channel in 0..<channels {
          let list = samples.indices.contains(channel) ? samples[channel] : []
          let sample = frame < list.count ? list[frame] : 0
          interleaved.append(sample.isFinite ? sample : 0)
        }
      }
      ebur128_add_frames_float(state, interleaved, length)
      frames += Int64(length)
      follow(state)
    }
    for channel in 0..<channels {
      var peak = 0.0
      ebur128_true_peak(state, UInt32(channel), &peak)
      loudness.truePeaks[channel] = peak > 0 ? 20 * log10(peak) : -.infinity
    }
    if frames >= nextTotals {
      nextTotals = frames + Int64(rate / 10)
      loudness.integrated = Self.value { ebur128_loudness_global(state, $0) }
      loudness.range = max(0, Self.value { ebur128_loudness_range(state, $0) })
    }
  }

  private func follow(_ state: UnsafeMutablePointer<ebur128_state>) {
    loudness.seconds = Double(frames) / rate
    // A mean over time that has not passed would be too low.
    if loudness.seconds >= 0.4 - 1e-9 {
      loudness.momentary = Self.value { ebur128_loudness_momentary(state, $0) }
    }
    if loudness.seconds >= 3 - 1e-9 {
      loudness.shortTerm = Self.value { ebur128_loudness_shortterm(state, $0) }
    }
    loudness.highestMomentary = max(loudness.highestMomentary, loudness.momentary)
    loudness.highestShortTerm = max(loudness.highestShortTerm, loudness.shortTerm)
  }

  private static func value(_ read: (UnsafeMutablePointer<Double>) -> Int32) -> Double {
    var value = -Double.infinity
    return read(&value) == Int32(EBUR128_SUCCESS.rawValue) && value > -120 ? value : -.infinity
  }
}
