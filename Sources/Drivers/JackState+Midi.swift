import CJack
import Midi
import Realtime
import Synchronization

// MIDI between JACK's buffers and the renderer. Audio thread.

/// Takes what has come to the MIDI inputs in a period.
@_noLocks func gatherMidi(
  _ host: RenderHost, _ ports: UnsafeMutablePointer<Atomic<UInt>>, _ frames: UInt32
) {
  var number = 0
  while number < MidiInput.ports {
    if let port = OpaquePointer(bitPattern: ports[number].load(ordering: .acquiring)),
      let buffer = portBuffer(port, frames)
    {
      let count = midiEventCount(buffer)
      var message = jack_midi_event_t()
      var index: UInt32 = 0
      while index < count {
        let isThere = withUnsafeMutablePointer(to: &message) { midiEvent($0, buffer, index) } == 0
        let time = message.time < frames ? message.time : frames &- 1
        if isThere, let bytes = message.buffer {
          host.midi.receive(bytes, count: message.size, offset: Int32(time), port: number)
        }
        index &+= 1
      }
    }
    number &+= 1
  }
}

/// Sends the events of a render; `isLast`: there was none, and receivers are to end what they hold.
@_noLocks func sendMidi(
  _ host: RenderHost, _ ports: UnsafeMutablePointer<Atomic<UInt>>, _ frames: UInt32, isLast: Bool
) {
  var number = 0
  while number < MidiOutput.ports {
    if let port = OpaquePointer(bitPattern: ports[number].load(ordering: .acquiring)),
      let buffer = portBuffer(port, frames)
    {
      clearMidi(buffer)
      host.midi.beginSending(number, isLast: isLast)
      let (outputs, exclusives) = (host.midi.outputs, host.midi.exclusives)
      while let event = outputs[number].next() {
        let isSent = outputs[number].isFree && send(event, to: buffer, exclusives)
        host.midi.settle(number, isSent: isSent)
      }
      host.midi.endSending(number)
    }
    number &+= 1
  }
}

/// Writes one event into the buffer of a MIDI output; false when there is no room.
@_noLocks private func send(
  _ event: Event, to buffer: UnsafeMutableRawPointer, _ exclusives: ExclusiveStore
) -> Bool {
  let time = UInt32(truncatingIfNeeded: event.offset > 0 ? event.offset : 0)
  if event.kind == .exclusive {
    guard exclusives.holds(event), let room = reserveMidi(buffer, time, Int(event.detail)) else {
      return false
    }
    return exclusives.copy(event, to: room)
  }
  // Three bytes, in a type that needs no heap.
  var bytes: UInt32 = 0
  return withUnsafeMutableBytes(of: &bytes) { raw in
    guard let bytes = raw.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
    let count = event.write(to: bytes)
    // No message stands for it, so nothing is lost.
    guard count > 0 else { return true }
    guard let room = reserveMidi(buffer, time, count) else { return false }
    var index = 0
    while index < count {
      room[index] = bytes[index]
      index &+= 1
    }
    return true
  }
}
