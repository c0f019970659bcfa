import Realtime

/// A sound that is held in memory, for grains: plain memory owned by a `Resource`.
public struct GrainSample {
  static var type: Int32 { @_noLocks get { 6 } }
  /// Longest sound, in seconds.
  public static let longest = 600
  /// Silent frames at both ends: an interpolation reads around its place, and a vector behind it.
  static var margin: Int { @inline(__always) @_noLocks get { 32 } }

  /// First, so that a pointer to it is a pointer to the whole sound.
  var header = ResourceHeader(type: type)
  /// One, or two of which others are left out.
  let channels: Int
  let frames: Int
  private let memory: UnsafeMutablePointer<Float>

  /// The frames of a channel. Audio thread.
  @inline(__always) @_noLocks func plane(_ channel: Int) -> UnsafeMutablePointer<Float> {
    memory + (channel &* (frames &+ 2 &* Self.margin) &+ Self.margin)
  }

  /// Makes a sound of the frames of each channel. Worker.
  public static func make(_ channels: [[Float]], name: String) -> Resource {
    let channels = channels.isEmpty ? [[]] : Array(channels.prefix(2))
    let frames = channels[0].count
    let size = channels.count * (frames + 2 * margin)
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: size)
    memory.initialize(repeating: 0, count: size)
    let image = UnsafeMutablePointer<GrainSample>.allocate(capacity: 1)
    image.initialize(to: GrainSample(channels: channels.count, frames: frames, memory: memory))
    for (channel, sound) in channels.enumerated() {
      let plane = image.pointee.plane(channel)
      for (frame, value) in sound.prefix(frames).enumerated() { plane[frame] = value }
    }
    let owner = Owner(image: image, memory: memory)
    return Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { size * 4 }, release: { owner.free() })
  }

  private final class Owner: @unchecked Sendable {
    let image: UnsafeMutablePointer<GrainSample>
    let memory: UnsafeMutablePointer<Float>
    init(image: UnsafeMutablePointer<GrainSample>, memory: UnsafeMutablePointer<Float>) {
      (self.image, self.memory) = (image, memory)
    }
    func free() {
      memory.deallocate()
      image.deallocate()
    }
  }
}
