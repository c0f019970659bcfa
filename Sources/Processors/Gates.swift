import CVector
import Realtime

/// Gates and triggers, by one rule for all kinds: a gate is open while its signal is above 0, and a trigger is the frame in
/// which it opens. The frames of a block are bits of a number; bit 0 is the first one.
enum Gates {
  /// The frames in which a channel is open; those behind the block are shut. Channels repeat.
  @inline(__always) @_noLocks static func open(_ input: InputPort, _ channel: Int, _ frames: Int) -> UInt64 {
    if input.isSilent || input.count == 0 { return 0 }
    let from = input[channel < input.count ? channel : channel % input.count]
    return sostenuto_bits_above(from, 0) & all(frames)
  }

  /// The frames of a block.
  @inline(__always) @_noLocks static func all(_ frames: Int) -> UInt64 {
    UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- frames)
  }

  /// Frames from `first` on, up to `end`.
  @inline(__always) @_noLocks static func span(_ first: Int, _ end: Int) -> UInt64 {
    end > first ? all(end &- first) &<< UInt64(truncatingIfNeeded: first) : 0
  }

  /// The frames in which it opens. `wasOpen`: before the block.
  @inline(__always) @_noLocks static func rises(_ open: UInt64, _ wasOpen: Bool) -> UInt64 {
    open & ~(open &<< 1 | (wasOpen ? 1 : 0))
  }

  /// True where the last frame of a block is open.
  @inline(__always) @_noLocks static func last(_ open: UInt64, _ frames: Int) -> Bool {
    open &>> UInt64(truncatingIfNeeded: frames &- 1) & 1 != 0
  }

  /// Writes 1 where it is open, else 0.
  @inline(__always) @_noLocks static func write(_ open: UInt64, _ channel: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < 64 {
      channel.store(
        sostenuto_ones(UInt32(truncatingIfNeeded: open &>> UInt64(truncatingIfNeeded: frame)) & 0xFFFF), frame
      )
      frame &+= 16
    }
  }
}
