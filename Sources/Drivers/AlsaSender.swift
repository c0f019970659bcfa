import CAlsa
import Glibc
import Midi
import Realtime

/// Sends the messages of MIDI outputs through ALSA's sequencer, each when it is due. On the sequencer's thread.
final class AlsaSender {
  private struct Outlet {
    var port: Int32
    /// Notes and pedals that the receivers hold.
    var held: HeldNotes
  }

  private struct Message {
    var time: Int64
    var port: Int32
    var bytes: [UInt8]
  }

  private let sequencer: OpaquePointer
  private let host: RenderHost
  /// By the engine's number.
  private var outlets: [Int: Outlet] = [:]
  /// Messages not sent yet, in the order of their times.
  private var waiting: [Message] = []
  private let encoder: OpaquePointer?
  private let ends: UnsafeMutablePointer<EventQueue>
  /// Time between two looks at what the audio thread has for it, in nanoseconds.
  private static let interval: Int64 = 1_000_000
  /// Bytes of a system exclusive message that are sent at once.
  private static let piece = 256

  init(_ sequencer: OpaquePointer, _ host: RenderHost) {
    self.sequencer = sequencer
    self.host = host
    var made: OpaquePointer?
    encoder = snd_midi_event_new(16, &made) >= 0 ? made : nil
    if let encoder { snd_midi_event_no_status(encoder, 1) }
    ends = .allocate(capacity: 1)
    ends.initialize(to: EventQueue())
  }

  deinit {
    for number in Array(outlets.keys) { remove(number) }
    if let encoder { snd_midi_event_free(encoder) }
    ends.pointee.deallocate()
    ends.deallocate()
  }

  func add(_ number: Int, port: Int32) {
    outlets[number] = Outlet(port: port, held: .allocate())
    host.midi.setThreaded(number, true)
  }

  /// Ends what the receivers of an output hold, and forgets it. Its port must still be there.
  func remove(_ number: Int) {
    guard let outlet = outlets.removeValue(forKey: number) else { return }
    host.midi.setThreaded(number, false)
    waiting.removeAll { $0.port == outlet.port }
    outlet.held.end(into: ends)
    for index in 0..<ends.pointee.count {
      _ = send(Message(time: 0, port: outlet.port, bytes: bytes(of: ends.pointee[index])))
    }
    ends.pointee.removeAll()
    outlet.held.deallocate()
  }

  /// Sends what is due. Returns the time of the next look; nil without outputs.
  func sendDue(_ now: Int64) -> Int64? {
    while let departure = host.midi.nextDeparture() {
      guard let outlet = outlets[departure.port] else { continue }
      outlet.held.track(departure.event)
      let message = Message(time: departure.time, port: outlet.port, bytes: bytes(of: departure.event))
      let place = waiting.lastIndex { $0.time <= message.time } ?? -1
      if !message.bytes.isEmpty { waiting.insert(message, at: place + 1) }
    }
    while let message = waiting.first, message.time <= now {
      if let rest = send(message) {
        // No room in the sequencer; it empties at the pace of the slowest receiver.
        waiting[0].bytes = rest
        return now + Self.interval
      }
      waiting.removeFirst()
    }
    guard !outlets.isEmpty else { return nil }
    return min(now + Self.interval, waiting.first?.time ?? .max)
  }

  private func bytes(of event: Event) -> [UInt8] {
    if event.kind == .exclusive {
      var bytes = [UInt8](repeating: 0, count: Int(event.detail))
      return bytes.withUnsafeMutableBufferPointer { host.midi.exclusives.copy(event, to: $0.baseAddress!) }
        ? bytes : []
    }
    return [UInt8](unsafeUninitializedCapacity: 3) { bytes, count in
      count = event.write(to: bytes.baseAddress!)
    }
  }

  /// Sends a message, or what the sequencer takes of it; returns the rest, nil when it is gone.
  private func send(_ message: Message) -> [UInt8]? {
    var rest = message.bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(rest.first == 0xF0 || rest.count > 3 || rest.first! < 0x80 ? Self.piece : 3)
      let error = piece.withUnsafeBufferPointer { sendPiece($0, from: message.port) }
      if error == -EAGAIN || error == -ENOMEM { return Array(rest) }
      rest = rest.dropFirst(piece.count)
    }
    return nil
  }

  private func sendPiece(_ bytes: UnsafeBufferPointer<UInt8>, from port: Int32) -> Int32 {
    var event = snd_seq_event_t()
    if bytes[0] >= 0x80, bytes[0] != 0xF0, bytes[0] != 0xF7 {
      guard let encoder else { return 0 }
      snd_midi_event_reset_encode(encoder)
      guard snd_midi_event_encode(encoder, bytes.baseAddress, bytes.count, &event) > 0,
        event.type != UInt8(SND_SEQ_EVENT_NONE.rawValue)
      else { return 0 }
    } else {
      event.type = UInt8(SND_SEQ_EVENT_SYSEX.rawValue)
      event.flags = UInt8(SND_SEQ_EVENT_LENGTH_VARIABLE)
      event.data.ext.len = UInt32(bytes.count)
      event.data.ext.ptr = UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
    }
    event.queue = UInt8(SND_SEQ_QUEUE_DIRECT)
    event.source.port = UInt8(port)
    event.dest = snd_seq_addr_t(
      client: UInt8(SND_SEQ_ADDRESS_SUBSCRIBERS), port: UInt8(SND_SEQ_ADDRESS_UNKNOWN))
    return snd_seq_event_output_direct(sequencer, &event)
  }
}
