import CSamplerate

/// Number of frames that so many become at another rate: a loop of all of them keeps its length in seconds, to a frame.
func convertedFrames(_ frames: Int, ratio: Double) -> Int {
  Int((Double(frames) * ratio - 1e-6).rounded(.up))
}

/// Converts interleaved samples to another rate, with libsamplerate's best converter (a windowed sinc with a
/// signal-to-noise ratio of 145 dB and a bandwidth of 96 %). Worker.
///
/// `ratio`: new rate divided by old rate. Returns `convertedFrames` frames.
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
  // The converter may leave out the last frame: a few of silence behind the sound bring it forth.
  let silence = [Float](repeating: 0, count: 64 * channels)
  let wanted = convertedFrames(frames, ratio: ratio) * channels
  var used = 0
  while true {
    let isOver = used >= frames
    var data = SRC_DATA()
    data.src_ratio = ratio
    data.input_frames = isOver ? frames + 64 - used : min(piece, frames - used)
    data.output_frames = piece
    data.end_of_input = isOver ? 1 : 0
    let code = (isOver ? silence : samples).withUnsafeBufferPointer { input in
      room.withUnsafeMutableBufferPointer { output in
        data.data_in = input.baseAddress! + (isOver ? used - frames : used) * channels
        data.data_out = output.baseAddress!
        return src_process(state, &data)
      }
    }
    guard code == 0 else {
      throw LoadError(path: path, .notConverted(String(cString: src_strerror(code))))
    }
    used += data.input_frames_used
    result.append(contentsOf: room[..<(data.output_frames_gen * channels)])
    guard data.end_of_input != 0, data.output_frames_gen == 0 else { continue }
    result.removeLast(max(0, result.count - wanted))
    result.append(contentsOf: repeatElement(0, count: wanted - result.count))
    return result
  }
}
