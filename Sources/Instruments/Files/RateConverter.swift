import CSamplerate

/// Converts interleaved samples to another rate, with libsamplerate's best converter (a windowed sinc with a
/// signal-to-noise ratio of 145 dB and a bandwidth of 96 %). Worker.
///
/// `ratio`: new rate divided by old rate.
func convert(
  _ samples: [Float], channels: Int, ratio: Double, path: String
) throws(LoadError) -> [Float] {
  guard src_is_valid_ratio(ratio) != 0, channels <= 1024 else {
    throw LoadError(path: path, .invalidRatio(ratio))
  }
  var fault: Int32 = 0
  guard let state = src_new(Int32(SRC_SINC_BEST_QUALITY), Int32(channels), &fault) else {
    throw LoadError(path: path, .notConverted(String(cString: src_strerror(fault))))
  }
  defer { src_delete(state) }
  let frames = samples.count / channels
  var result: [Float] = []
  result.reserveCapacity(Int(Double(frames) * ratio + 64) * channels)
  let piece = 1 << 16
  var room = [Float](repeating: 0, count: piece * channels)
  var used = 0
  while true {
    var data = SRC_DATA()
    data.src_ratio = ratio
    data.input_frames = min(piece, frames - used)
    data.output_frames = piece
    data.end_of_input = used + data.input_frames >= frames ? 1 : 0
    let code = samples.withUnsafeBufferPointer { input in
      room.withUnsafeMutableBufferPointer { output in
        data.data_in = input.baseAddress! + used * channels
        data.data_out = output.baseAddress!
        return src_process(state, &data)
      }
    }
    guard code == 0 else {
      throw LoadError(path: path, .notConverted(String(cString: src_strerror(code))))
    }
    used += data.input_frames_used
    result.append(contentsOf: room[..<(data.output_frames_gen * channels)])
    if data.end_of_input != 0, data.output_frames_gen == 0 { return result }
  }
}
