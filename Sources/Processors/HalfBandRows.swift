import Realtime

/// Memory of a kernel that works at twice the rate: a filter for both ways, and a row of buffers for each channel.
struct HalfBandRows: BitwiseCopyable {
  let filter: HalfBand
  let channels: Int
  private let memory: UnsafeMutableRawPointer
  /// Bytes of a row.
  private let size: Int

  /// Frames by which the way up and down is late.
  static var latency: Int { @inline(__always) @_noLocks get { 32 } }

  @_noLocks init(_ channels: Int, of size: Int, _ arena: inout Arena) {
    (self.channels, self.size) = (channels, size)
    filter = HalfBand(half: 16, &arena)
    memory = arena.reserve(channels &* size)
  }

  /// Bytes for `channels` rows of `size` bytes each.
  static func bytes(_ channels: Int, of size: Int) -> Int {
    Arena.bytes { HalfBandRows(channels, of: size, &$0) }
  }

  /// The same with more channels, in memory of its own.
  @_noLocks func widened(_ widening: Widening, memory: UnsafeMutableRawPointer) -> HalfBandRows {
    var arena = Arena(memory)
    let wide = HalfBandRows(widening.inputs[0], of: size, &arena)
    wide.filter.copy(from: filter)
    var channel = 0
    while channel < wide.channels {
      let from = widening.source(of: channel, from: channels, to: wide.channels)
      if from >= 0 { copyMemory(wide.memory + channel &* size, self.memory + from &* size, size) }
      channel &+= 1
    }
    return wide
  }

  /// The buffers of a channel.
  @inline(__always) @_noLocks subscript(channel: Int) -> Arena { Arena(memory + channel &* size) }

  /// Forgets all sound.
  @_noLocks func clear() { setMemory(memory, 0, channels &* size) }
}
