import Realtime

extension Event {
  /// The event of one MIDI 1.0 message; nil for types that no node uses (system messages), and for incomplete
  /// messages. A note on of velocity 0 is a note off.
  ///
  /// `count` bytes, of which the first is the status. Audio thread, and any other.
  @inlinable @_noLocks public init?(midi bytes: UnsafePointer<UInt8>, count: Int, offset: Int32 = 0) {
    guard count > 0 else { return nil }
    let status = bytes[0]
    guard status >= 0x80, status < 0xF0 else { return nil }
    let length = status & 0xE0 == 0xC0 ? 2 : 3
    guard count >= length else { return nil }
    let channel = status & 0x0F
    let first = bytes[1] & 0x7F
    let second = length == 3 ? bytes[2] & 0x7F : 0
    let value = Float(second)
    switch status & 0xF0 {
    case 0x80: self.init(.noteOff, channel: channel, key: first, value: value, offset: offset)
    case 0x90:
      self.init(
        second == 0 ? .noteOff : .noteOn, channel: channel, key: first, value: second == 0 ? 64 : value,
        offset: offset)
    case 0xA0: self.init(.keyPressure, channel: channel, key: first, value: value, offset: offset)
    case 0xB0: self.init(.control, channel: channel, key: first, value: value, offset: offset)
    case 0xC0: self.init(.program, channel: channel, value: Float(first), offset: offset)
    case 0xD0: self.init(.pressure, channel: channel, value: Float(first), offset: offset)
    default:
      let bend = Int32(second) &* 128 &+ Int32(first) &- 8192
      self.init(.bend, channel: channel, value: Float(bend) * (1 / 8192), offset: offset)
    }
  }
}
