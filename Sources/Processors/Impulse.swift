import Realtime

/// An impulse that nodes convolve with, as they need it: its beginning frame by frame, and spectra of its parts.
///
/// The parts are of two sizes (W. G. Gardner, "Efficient convolution without input-output delay", 1995): short ones for what
/// is heard soon, long ones for the rest.
public struct Impulse {
  static var type: Int32 { @_noLocks get { 4 } }
  /// Longest impulse, in seconds.
  public static let longest = 30
  /// Frames that are taken one by one, and those of a short part; those of a long part.
  static var short: Int { @inline(__always) @_noLocks get { 64 } }
  static var long: Int { @inline(__always) @_noLocks get { 1024 } }
  /// Short parts that there are before the first long one.
  static var shortParts: Int { @inline(__always) @_noLocks get { 2 &* long / short &- 1 } }

  /// First, so that a pointer to it is a pointer to the whole impulse.
  var header = ResourceHeader(type: type)
  /// Of each channel: the first frames, spectra of the short parts, spectra of the long ones.
  fileprivate let memory: UnsafeMutablePointer<Float>
  fileprivate let stride: Int
  let channels: Int
  let longParts: Int

  @inline(__always) @_noLocks func taps(_ channel: Int) -> UnsafePointer<Float> {
    UnsafePointer(memory) + (channels == 1 ? 0 : channel % channels) &* stride
  }
  @inline(__always) @_noLocks func shortSpectra(_ channel: Int) -> UnsafePointer<Float> {
    taps(channel) + Self.short
  }
  @inline(__always) @_noLocks func longSpectra(_ channel: Int) -> UnsafePointer<Float> {
    shortSpectra(channel) + 2 &* Self.short &* Self.shortParts
  }

  /// Makes an impulse of the frames of each channel. Worker.
  public static func make(_ channels: [[Float]], name: String) -> Resource {
    let frames = channels.map(\.count).max() ?? 0
    let longParts = max(0, (frames - 2 * long + long - 1) / long)
    let stride = short + 2 * short * shortParts + 2 * long * longParts
    let bytes = max(1, channels.count) * stride * 4
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    let image = UnsafeMutablePointer<Impulse>.allocate(capacity: 1)
    image.initialize(
      to: Impulse(
        memory: memory.assumingMemoryBound(to: Float.self), stride: stride, channels: max(1, channels.count),
        longParts: longParts))
    for (channel, frames) in channels.enumerated() {
      let taps = UnsafeMutablePointer(mutating: image.pointee.taps(channel))
      for frame in 0..<min(short, frames.count) { taps[frame] = frames[frame] }
      write(frames[...], from: short, of: short, parts: shortParts, to: taps + short)
      write(
        frames[...], from: 2 * long, of: long, parts: longParts,
        to: taps + short + 2 * short * shortParts)
    }
    let owner = Owner(image: image, memory: memory)
    return Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self), name: name,
      bytes: { bytes }, release: { owner.free() })
  }

  /// Spectra of parts of `size` frames from a frame on. The inverse transform's factor is taken here.
  private static func write(
    _ frames: ArraySlice<Float>, from first: Int, of size: Int, parts: Int,
    to place: UnsafeMutablePointer<Float>
  ) {
    guard parts > 0 else { return }
    let room = UnsafeMutableRawPointer.allocate(
      byteCount: Arena.bytes { BlockTransform(size, &$0) }, alignment: 64)
    defer { room.deallocate() }
    var arena = Arena(room)
    let transform = BlockTransform(size, &arena)
    transform.design()
    let silence = [Float](repeating: 0, count: size)
    for part in 0..<parts {
      let begin = first + part * size
      let block = (begin..<begin + size).map { $0 < frames.count ? frames[$0] / Float(size) : 0 }
      // The impulse's frames are the first half: the older block.
      block.withUnsafeBufferPointer { older in
        silence.withUnsafeBufferPointer { newer in
          transform.forward(older.baseAddress!, newer.baseAddress!, to: place + part * transform.spectrum)
        }
      }
    }
  }

  private final class Owner: @unchecked Sendable {
    let image: UnsafeMutablePointer<Impulse>
    let memory: UnsafeMutableRawPointer
    init(image: UnsafeMutablePointer<Impulse>, memory: UnsafeMutableRawPointer) {
      (self.image, self.memory) = (image, memory)
    }
    func free() {
      memory.deallocate()
      image.deallocate()
    }
  }
}
