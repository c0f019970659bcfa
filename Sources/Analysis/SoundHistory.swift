/// The latest sound of a port, channel by channel, for what looks back from now. One thread.
public struct SoundHistory: Sendable {
  /// Number of channels.
  public let channels: Int
  /// Sample rate, Hz.
  public let rate: Double
  /// Frames heard since the beginning.
  public private(set) var heard: Int64 = 0
  /// Frames that it keeps, a power of two.
  public let capacity: Int
  private var rings: [[Float]]

  /// An empty history that keeps at least so many seconds.
  public init(channels: Int, rate: Double, seconds: Double) {
    self.channels = max(1, channels)
    self.rate = rate
    var capacity = 1024
    while Double(capacity) < rate * seconds { capacity *= 2 }
    self.capacity = capacity
    rings = Array(repeating: Array(repeating: 0, count: capacity), count: self.channels)
  }

  /// Appends frames, a list of samples for each channel; a channel without samples is silent, and so is
  /// what is no number.
  public mutating func append(_ samples: [[Float]], frames: Int) {
    let skipped = max(0, frames - capacity)
    for channel in rings.indices {
      let list = samples.indices.contains(channel) ? samples[channel] : []
      rings[channel].withUnsafeMutableBufferPointer { ring in
        for frame in skipped..<frames {
          let sample = frame < list.count ? list[frame] : 0
          ring[(Int(truncatingIfNeeded: heard) &+ frame) & (capacity &- 1)] = sample.isFinite ? sample : 0
        }
      }
    }
    heard += Int64(frames)
  }

  /// The last `count` frames of a channel, oldest first, silence where nothing was heard yet. `before`: frames after
  /// them that are left out.
  public func latest(_ count: Int, channel: Int, before: Int = 0) -> [Float] {
    guard rings.indices.contains(channel), count > 0, count + before <= capacity else {
      return Array(repeating: 0, count: max(0, count))
    }
    let first = Int(truncatingIfNeeded: heard) &- before &- count
    return rings[channel].withUnsafeBufferPointer { ring in
      [Float](unsafeUninitializedCapacity: count) { list, filled in
        for frame in 0..<count { list[frame] = ring[(first &+ frame) & (capacity &- 1)] }
        filled = count
      }
    }
  }

  /// Largest magnitude of the last `count` frames of some channels, linear.
  public func peak(_ count: Int, channels: Range<Int>) -> Float {
    let count = min(count, capacity)
    let first = (Int(truncatingIfNeeded: heard) &- count) & (capacity &- 1)
    let end = min(first + count, capacity)
    var peak: Float = 0
    for channel in channels.clamped(to: 0..<self.channels) {
      rings[channel].withUnsafeBufferPointer { ring in
        // In the ring's order: up to its end, and on from its beginning.
        peak = max(peak, Self.peak(ring[first..<end]), Self.peak(ring[..<(first + count - end)]))
      }
    }
    return peak
  }

  private static func peak(_ samples: Slice<UnsafeBufferPointer<Float>>) -> Float {
    typealias Lanes = SIMD16<Float>
    let samples = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: samples))
    let size = MemoryLayout<Lanes>.size
    var peaks = Lanes.zero
    var place = 0
    while place + size <= samples.count {
      let lanes = samples.loadUnaligned(fromByteOffset: place, as: Lanes.self)
      let magnitudes = lanes.replacing(with: -lanes, where: lanes .< .zero)
      peaks.replace(with: magnitudes, where: magnitudes .> peaks)
      place += size
    }
    var peak = peaks.max()
    while place < samples.count {
      peak = max(peak, abs(samples.loadUnaligned(fromByteOffset: place, as: Float.self)))
      place += MemoryLayout<Float>.size
    }
    return peak
  }
}
