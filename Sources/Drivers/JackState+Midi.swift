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
      let (output, exclusives) = (host.midi.outputs + number, host.midi.exclusives)
      if var begun = output.pointee.begun {
        begun.offset = 0
        if !send(begun, from: output.pointee.begunBytes, to: buffer, of: output, exclusives) {
          output.pointee.breakOff()
        }
      }
      while let event = output.pointee.next() {
        let isSent = output.pointee.admits(event) && send(event, to: buffer, of: output, exclusives)
        host.midi.settle(number, isSent: isSent)
      }
      host.midi.endSending(number)
    }
    number &+= 1
  }
}

/// Writes one event into the buffer of a MIDI output; false when there is no room.
@_noLocks private func send(
  _ event: Event, to buffer: UnsafeMutableRawPointer, of output: UnsafeMutablePointer<MidiOutput>,
  _ exclusives: ExclusiveStore
) -> Bool {
  if event.kind == .exclusive { return send(event, from: 0, to: buffer, of: output, exclusives) }
  let time = UInt32(truncatingIfNeeded: event.offset > 0 ? event.offset : 0)
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

/// Writes a system exclusive message from a byte on. One that does not fit behind others is sent in the next period, and one
/// that is longer than the buffer in pieces, as bridges from ALSA do; false when its bytes are gone.
@_noLocks private func send(
  _ message: Event, from first: Int, to buffer: UnsafeMutableRawPointer,
  of output: UnsafeMutablePointer<MidiOutput>, _ exclusives: ExclusiveStore
) -> Bool {
  guard exclusives.holds(message) else { return false }
  // PipeWire's libjack counts room for an event's bytes, and not for the event, and overwrites its own.
  let (left, room) = (Int(message.detail) &- first, midiRoom(buffer) &- 256)
  if left > room, midiEventCount(buffer) > 0 {
    output.pointee.proceed(with: message, to: first)
    return true
  }
  let count = left < room ? left : room
  guard count > 0 else { return false }
  let time = UInt32(truncatingIfNeeded: message.offset > 0 ? message.offset : 0)
  guard let target = reserveMidi(buffer, time, count),
    exclusives.copy(message, from: first, count: count, to: target)
  else { return false }
  output.pointee.proceed(with: message, to: first &+ count)
  return true
}
