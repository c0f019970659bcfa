/// A reversed sound: its last frame comes first. Worker.
final class ReversedSource: FrameSource {
  private let source: any FrameSource
  private let channels: Int
  private let frames: Int
  private let isShort: Bool

  init(_ source: any FrameSource, channels: Int, frames: Int, isShort: Bool) {
    self.source = source
    self.channels = channels
    self.frames = frames
    self.isShort = isShort
  }

  func read(_ first: Int, _ count: Int, into memory: UnsafeMutableRawPointer, stride: Int) {
    source.read(frames - first - count, count, into: memory, stride: stride)
    for channel in 0..<channels {
      let plane = memory + channel * stride
      if isShort {
        reverse(plane.assumingMemoryBound(to: Int16.self), count)
      } else {
        reverse(plane.assumingMemoryBound(to: Float.self), count)
      }
    }
  }

  private func reverse<Sample>(_ plane: UnsafeMutablePointer<Sample>, _ count: Int) {
    var frames = UnsafeMutableBufferPointer(start: plane, count: count)
    frames.reverse()
  }

  func rest() { source.rest() }
}

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
