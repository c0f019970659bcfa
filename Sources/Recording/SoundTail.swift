/// How sound would go on behind its end: by linear prediction from its last frames, fading out. A codec that works in blocks
/// hears no step then, whose noise would reach into what comes before. One thread.
struct SoundTail {
  private let channels: Int
  /// The last frames, interleaved.
  private var heard: [Float] = []
  /// Frames from which the prediction is made, and their number back in time that it goes by.
  private static let memory = 960
  private static let order = 32
  /// Frames of the continuation: 40 ms, two packets.
  private let length: Int

  init(channels: Int, rate: Double) { (self.channels, length) = (channels, Int(rate / 25)) }

  mutating func hear(_ samples: UnsafePointer<Float>, frames: Int) {
    let count = min(frames, Self.memory) * channels
    heard.append(contentsOf: UnsafeBufferPointer(start: samples + frames * channels - count, count: count))
    if heard.count > 2 * Self.memory * channels { heard.removeFirst(heard.count - Self.memory * channels) }
  }

  /// The frames that would follow, interleaved.
  func continuation() -> [Float] {
    var result = [Float](repeating: 0, count: length * channels)
    for channel in 0..<channels {
      var past = stride(from: channel, to: heard.count, by: channels).map { Double(heard[$0]) }.suffix(
        Self.memory)
      let weights = Self.prediction(Array(past))
      for frame in 0..<length {
        var next = 0.0
        for (back, weight) in zip(past.reversed(), weights) { next += back * weight }
        past.append(next)
        let fade = 1 - Double(frame) / Double(length)
        result[frame * channels + channel] = Float(max(-1, min(1, next * fade)))
      }
    }
    return result
  }

  /// Weights of the latest frame, the one before it, and so on (Levinson and Durbin's recursion on the windowed
  /// autocorrelation, which gives a stable prediction).
  private static func prediction(_ samples: [Double]) -> [Double] {
    let count = samples.count
    guard count > order else { return [] }
    let windowed = samples.enumerated().map { index, sample in
      // Toward the end alone would the window hide what matters most, so it opens from the beginning.
      sample * min(1, Double(index + 1) / Double(count / 2))
    }
    var correlation = (0...order).map { lag in
      (lag..<count).reduce(0.0) { $0 + windowed[$1] * windowed[$1 - lag] }
    }
    // As if there were noise 90 dB below.
    correlation[0] *= 1 + 1e-9
    guard correlation[0] > 1e-12 else { return [] }
    var weights = [Double](repeating: 0, count: order)
    var error = correlation[0]
    for step in 0..<order {
      var reflection = correlation[step + 1]
      for index in 0..<step { reflection -= weights[index] * correlation[step - index] }
      reflection /= error
      let before = weights
      weights[step] = reflection
      for index in 0..<step { weights[index] = before[index] - reflection * before[step - 1 - index] }
      error *= 1 - reflection * reflection
      guard error > correlation[0] * 1e-12 else { break }
    }
    return weights
  }
}
