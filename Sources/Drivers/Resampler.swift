import CSamplerate
import Realtime

/// Converts interleaved sound to another rate, which may change all the time, with libsamplerate's windowed sinc
/// (signal-to-noise ratio 121 dB, bandwidth 90 %). A card's thread.
final class Resampler {
  private let state: OpaquePointer
  private let channels: Int
  /// Number of frames taken from the ring, and place of the next frame that it gives among them.
  private(set) var taken = 0
  private(set) var place = 0.0
  /// The latest ratio: new rate divided by old rate.
  private var ratio = 1.0

  /// Half the filter's length, in frames of the lower rate; the coefficients of this quality have 45.7.
  private static let half = 47.0

  /// nil without memory.
  init?(channels: Int) {
    var fault: Int32 = 0
    guard let made = src_new(Int32(SRC_SINC_MEDIUM_QUALITY), Int32(channels), &fault) else { return nil }
    state = made
    self.channels = channels
  }

  deinit { src_delete(state) }

  /// Begins with the ring's next frame, which has the number `position`.
  func restart(at position: Int, ratio: Double) {
    src_reset(state)
    src_set_ratio(state, ratio)
    (taken, place, self.ratio) = (position, Double(position), ratio)
  }

  /// Frames by which it looks ahead of the one that it gives.
  static func lookahead(ratio: Double) -> Double { half / min(ratio, 1) + 2 }

  /// Frames that it can give, with those that wait in the ring.
  func available(in ring: Ring, ratio: Double) -> Int {
    let slowest = min(ratio, self.ratio)
    let frames = Double(taken + ring.count) - place - Self.lookahead(ratio: slowest) - 1
    return max(0, Int(frames * slowest))
  }

  /// Gives frames from those in the ring; the ratio moves evenly to `ratio` meanwhile. False if there are too few.
  func give(_ output: UnsafeMutablePointer<Float>, frames: Int, ratio: Double, from ring: Ring) -> Bool {
    // The mean of the paces at the frames.
    let share = Double(frames - 1) / Double(2 * frames)
    place += Double(frames) * ((1 - share) / self.ratio + share / ratio)
    self.ratio = ratio
    var done = 0
    while done < frames {
      let source = ring.peek(upTo: ring.count)
      var data = SRC_DATA()
      data.src_ratio = ratio
      data.data_in = UnsafePointer(source.first.assumingMemoryBound(to: Float.self))
      data.input_frames = source.count
      data.data_out = output + done * channels
      data.output_frames = frames - done
      guard src_process(state, &data) == 0, data.output_frames_gen > 0 || data.input_frames_used > 0 else {
        return false
      }
      ring.pop(data.input_frames_used)
      taken += data.input_frames_used
      done += data.output_frames_gen
    }
    return true
  }
}
