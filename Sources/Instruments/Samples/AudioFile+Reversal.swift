extension AudioFile {
  /// Reverses interleaved frames, and the loop stated in the file. Worker.
  static func reverse<Sample>(_ samples: inout [Sample], channels: Int, _ facts: inout Facts) {
    samples.reverse()
    let frames = samples.count / channels
    if channels > 1 {
      for frame in 0..<frames { samples[frame * channels..<(frame + 1) * channels].reverse() }
    }
    facts.loop = facts.loop?.reversed(frames)
  }
}

extension AudioFile.Loop {
  /// The same loop in the reversed sound.
  func reversed(_ frames: Int) -> Self { Self(start: frames - end, end: frames - start, type: type) }
}
