import Realtime

/// A whole audio file for players: plain memory owned by a `Resource`.
package struct AudioImage {
  package static var type: Int32 { @_noLocks get { 2 } }

  /// First, so that a pointer to it is a pointer to the whole image.
  package var header = ResourceHeader(type: type)
  /// Channel 0; the next starts `stride` bytes later.
  package var plane: SamplePlane
  package var stride: Int
  package var channels: Int
  package var frames: Int
  package var rate: Double
  /// Equal for the same file, at any rate.
  package var identity: Int
  /// Chunk table of a file that streams from disk.
  package var stream: UnsafeMutablePointer<StreamTable>?
  /// Frames around both ends for a head that loops.
  package var seam: FileSeam

  package init(
    plane: SamplePlane, stride: Int, channels: Int, frames: Int, rate: Double, identity: Int,
    stream: UnsafeMutablePointer<StreamTable>?, seam: FileSeam
  ) {
    (self.plane, self.stride, self.channels) = (plane, stride, channels)
    (self.frames, self.rate) = (frames, rate)
    (self.identity, self.stream, self.seam) = (identity, stream, seam)
  }

  /// Where positions end (32.32): those of a round, or of the file's frames. Audio thread.
  @_noLocks @inline(__always) func end(_ isLooping: Bool) -> Int64 {
    isLooping ? seam.turn : Int64(frames) &<< 32
  }
}

extension Resource {
  /// Announces that a player will begin at this position: a streamed file is read ahead there. Worker.
  public func expect(seconds: Double) {
    guard header.pointee.type == AudioImage.type, seconds.isFinite else { return }
    let image = UnsafeRawPointer(header).assumingMemoryBound(to: AudioImage.self)
    let frame = min(max(seconds * image.pointee.rate, 0), Double(image.pointee.frames))
    image.pointee.stream?.pointee.expect(Int(frame), pace: 1)
  }
}
