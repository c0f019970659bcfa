import Realtime

extension Event {
  /// The event of one MIDI 1.0 message; nil for a system exclusive one, for types that MIDI does not define, and for
  /// messages that are incomplete or have a status byte among their data. A note on of velocity 0 is a note off.
  ///
  /// `count` bytes, of which the first is the status. Audio thread, and any other.
  @inlinable @_noLocks public init?(midi bytes: UnsafePointer<UInt8>, count: Int, offset: Int32 = 0) {
    guard count > 0 else { return nil }
    let status = bytes[0]
    guard status >= 0x80 else { return nil }
    let length = Self.length(status)
    guard length > 0 else { return nil }
    guard count >= length else { return nil }
    let channel = status & 0x0F
    let first = length > 1 ? bytes[1] : 0
    let second = length == 3 ? bytes[2] : 0
    // Cut to seven bits it would be another key, which nothing ends.
    guard first | second < 0x80 else { return nil }
    let value = Float(second)
    switch status & 0xF0 {
    case 0xF0:
      self.init(.system, key: status & 0x0F, offset: offset, detail: Int32(first) | Int32(second) << 7)
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
      self.init(.bend, channel: channel, value: PitchWheel.value(steps: Float(bend)), offset: offset)
    }
  }

  /// Length of the message with a status byte; 0 where it is not fixed, or not defined.
  @usableFromInline @_noLocks static func length(_ status: UInt8) -> Int {
    switch status {
    case 0x80..<0xC0, 0xE0..<0xF0, 0xF2: 3
    case 0xC0..<0xE0, 0xF1, 0xF3: 2
    case 0xF6, 0xF8, 0xFA...0xFC, 0xFE, 0xFF: 1
    default: 0
    }
  }

  /// Writes the event as one MIDI 1.0 message of at most three bytes. Returns their number; 0 for an event that is none.
  /// Audio thread, and any other.
  @_noLocks public func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
    let status: UInt8
    var data = (key & 0x7F, seven(value))
    switch kind {
    case .noteOff: status = 0x80
    // A velocity of 0 would end the note.
    case .noteOn: (status, data.1) = (0x90, data.1 > 0 ? data.1 : 1)
    case .keyPressure: status = 0xA0
    case .control: status = 0xB0
    case .program: (status, data) = (0xC0, (seven(value), 0))
    case .pressure: (status, data) = (0xD0, (seven(value), 0))
    case .bend:
      let bend = PitchWheel.position(value)
      data = (UInt8(truncatingIfNeeded: bend & 0x7F), UInt8(truncatingIfNeeded: bend >> 7))
      status = 0xE0
    case .system:
      status = 0xF0 | key
      data = (UInt8(truncatingIfNeeded: detail & 0x7F), UInt8(truncatingIfNeeded: detail >> 7 & 0x7F))
    default: return 0
    }
    let length = Self.length(status)
    guard length > 0 else { return 0 }
    bytes[0] = kind == .system ? status : status | channel & 0x0F
    if length > 1 { bytes[1] = data.0 }
    if length > 2 { bytes[2] = data.1 }
    return length
  }
}

/// The nearest of 0...127.
@_noLocks private func seven(_ value: Float) -> UInt8 {
  value > 0 ? (value < 127 ? UInt8(value + 0.5) : 127) : 0
}
