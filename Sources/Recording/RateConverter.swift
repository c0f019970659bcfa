import CSamplerate

/// Converts interleaved sound to another rate, with libsamplerate's best windowed sinc. One thread.
final class RateConverter {
  /// New rate divided by old rate.
  let ratio: Double
  private let state: OpaquePointer
  private let channels: Int
  private var buffer: [Float]
  private static let block = 4096

  /// nil without memory.
  init?(channels: Int, ratio: Double) {
    var fault: Int32 = 0
    guard let made = src_new(Int32(SRC_SINC_BEST_QUALITY), Int32(channels), &fault) else { return nil }
    (state, self.channels, self.ratio) = (made, channels, ratio)
    buffer = [Float](repeating: 0, count: Self.block * channels)
  }

  deinit { src_delete(state) }

  /// Gives `body` the frames that can be told by now.
  func convert<Fault: Error>(
    _ samples: UnsafePointer<Float>, frames: Int, isLast: Bool = false,
    _ body: (UnsafePointer<Float>, Int) throws(Fault) -> Void
  ) throws(Fault) {
    var done = 0
    while true {
      var data = SRC_DATA()
      (data.data_in, data.input_frames) = (samples + done * channels, frames - done)
      (data.src_ratio, data.end_of_input) = (ratio, isLast ? 1 : 0)
      data.output_frames = Self.block
      let fault = buffer.withUnsafeMutableBufferPointer {
        data.data_out = $0.baseAddress
        return src_process(state, &data)
      }
      done += data.input_frames_used
      if fault == 0, data.output_frames_gen > 0 { try body(buffer, data.output_frames_gen) }
      if fault != 0 || data.output_frames_gen == 0 && data.input_frames_used == 0 { return }
    }
  }

  /// Gives `body` the rest, behind the last frame.
  func finish<Fault: Error>(_ body: (UnsafePointer<Float>, Int) throws(Fault) -> Void) throws(Fault) {
    let none = [Float](repeating: 0, count: channels)
    try convert(none, frames: 0, isLast: true, body)
  }
}
