/// Samples as libsndfile gives them: interleaved frames.
extension SoundFile {
  /// True for a valid float sample: not NaN, and at most 120 dB above full scale.
  static func isSound(_ value: Float) -> Bool { value.magnitude <= 1e6 }

  /// Mixes more than two channels down to stereo: 4 and 6 by the Web Audio rules for quad and 5.1, others
  /// alternately to the left and the right.
  static func fold(_ samples: [Float], channels: Int) -> [Float] {
    let half = Float(0.5).squareRoot()
    let sides: [(Float, Float)] =
      switch channels {
      case 4: [(0.5, 0), (0, 0.5), (0.5, 0), (0, 0.5)]
      case 6: [(1, 0), (0, 1), (half, half), (0, 0), (half, 0), (0, half)]
      default:
        (0..<channels).map { $0 % 2 == 0 ? (2 / Float(channels + 1), 0) : (0, 2 / Float(channels + 1)) }
      }
    let frames = samples.count / channels
    var result = [Float](repeating: 0, count: frames * 2)
    for frame in 0..<frames {
      for channel in 0..<channels {
        let value = samples[frame * channels + channel]
        result[2 * frame] += value * sides[channel].0
        result[2 * frame + 1] += value * sides[channel].1
      }
    }
    return result
  }
}
