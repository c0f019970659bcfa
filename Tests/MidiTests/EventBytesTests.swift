import Midi
import Realtime
import Testing

/// Events as MIDI messages, and back.
@Suite struct EventBytesTests {
  private func bytes(_ event: Event) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 3) { bytes, count in count = event.write(to: bytes.baseAddress!) }
  }

  private static let lengths: [UInt8: Int] = [
    0xF1: 2, 0xF2: 3, 0xF3: 2, 0xF6: 1, 0xF8: 1, 0xFA: 1, 0xFB: 1, 0xFC: 1, 0xFE: 1, 0xFF: 1,
  ]

  /// What comes in goes out as it was, whatever it is; the only exception is a note on of velocity 0.
  @Test func everyMessageGoesOutAsItCameIn() {
    for status in UInt8(0x80)...0xFF {
      let length = status < 0xF0 ? (status & 0xE0 == 0xC0 ? 2 : 3) : Self.lengths[status] ?? 0
      for first in stride(from: UInt8(0), through: 127, by: length > 1 ? 1 : 127) {
        for second in stride(from: UInt8(0), through: 127, by: length > 2 ? 1 : 127) {
          let message = Array([status, first, second].prefix(max(length, 1)))
          guard let event = Event(midi: message, count: message.count) else {
            #expect(length == 0, "\(message)")
            continue
          }
          let isOff = status & 0xF0 == 0x90 && second == 0
          let expected = isOff ? [status & 0x8F, first, 64] : message
          if bytes(event) != expected { Issue.record("\(message) becomes \(bytes(event))") }
        }
      }
    }
  }

  /// Such a byte is the status of another message: cut to seven bits it was a key that nothing ended.
  @Test func aMessageWithAStatusByteAmongItsDataIsNone() {
    for status in UInt8(0x80)...0xFF {
      let length = status < 0xF0 ? (status & 0xE0 == 0xC0 ? 2 : 3) : Self.lengths[status] ?? 0
      for place in 1..<max(length, 1) {
        for byte in UInt8(0x80)...0xFF {
          var message: [UInt8] = Array([status, 60, 100].prefix(length))
          message[place] = byte
          if let event = Event(midi: message, count: length) { Issue.record("\(message) becomes \(event)") }
          let isEvent = message.withUnsafeBufferPointer { bytes in
            var events = MidiMessage(bytes.baseAddress!, count: length)
            return events.next() != nil
          }
          #expect(!isEvent, "\(message)")
        }
      }
    }
  }

  @Test func bothStopsOfAPitchWheelAreItsWholeRange() {
    var before = -Float.infinity
    for position in 0...16383 {
      let message: [UInt8] = [0xE5, UInt8(position & 127), UInt8(position >> 7)]
      guard let event = Event(midi: message, count: 3) else {
        Issue.record("\(message)")
        return
      }
      #expect(event.value > before && bytes(event) == message)
      if let whole = [0: Float(-1), 8192: 0, 16383: 1][position] { #expect(event.value == whole) }
      before = event.value
    }
  }

  @Test func aValueBeyondTheRangeIsTheNearestThatMIDIHas() {
    #expect(bytes(Event(.noteOn, key: 60, value: 0.2)) == [0x90, 60, 1])
    #expect(bytes(Event(.noteOn, key: 60, value: 1000)) == [0x90, 60, 127])
    #expect(bytes(Event(.control, channel: 3, key: 7, value: -5)) == [0xB3, 7, 0])
    #expect(bytes(Event(.control, key: 7, value: .nan)) == [0xB0, 7, 0])
    #expect(bytes(Event(.bend, value: 1)) == [0xE0, 0x7F, 0x7F])
    #expect(bytes(Event(.bend, value: -2)) == [0xE0, 0, 0])
    #expect(bytes(Event(.bend, value: .nan)) == [0xE0, 0, 0])
    #expect(bytes(Event(.play)) == [])
  }
}
