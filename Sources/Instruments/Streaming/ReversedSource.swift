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
