import CJack
import Synchronization

@testable import Drivers

/// A JACK client that records its input, up to a minute.
final class JackRecorder {
  private let client: TestClient
  private let tape: Tape

  init?(server: String, source: String) {
    guard let client = TestClient(server: server, name: "recorder") else { return nil }
    self.client = client
    guard
      let port = jack_port_register(
        client.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    else { return nil }
    tape = Tape(port)
    jack_set_process_callback(client.client, recordPeriod, Unmanaged.passUnretained(tape).toOpaque())
    guard jack_activate(client.client) == 0 else { return nil }
    guard wait(until: { jack_connect(client.client, source, "recorder:in") == 0 }) else { return nil }
  }

  var count: Int { tape.count.load(ordering: .acquiring) }
  var sound: [Float] { Array(UnsafeBufferPointer(start: tape.samples, count: count)) }

  deinit { jack_deactivate(client.client) }
}

/// Largest difference of two successive samples.
func largestStep(_ sound: ArraySlice<Float>) -> Float {
  zip(sound, sound.dropFirst()).map { abs($1 - $0) }.max() ?? 0
}

private final class Tape: Sendable {
  static let capacity = 60 * 48000
  nonisolated(unsafe) let port: OpaquePointer
  nonisolated(unsafe) let samples: UnsafeMutablePointer<Float>
  let count = Atomic<Int>(0)

  init(_ port: OpaquePointer) {
    self.port = port
    samples = .allocate(capacity: Self.capacity)
  }

  deinit { samples.deallocate() }
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func recordPeriod(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = Unmanaged<Tape>.fromOpaque(argument!).takeUnretainedValue()
  let done = tape.count.load(ordering: .relaxed)
  guard done + Int(frames) <= Tape.capacity, let heard = jack_port_get_buffer(tape.port, frames) else {
    return 0
  }
  (tape.samples + done).update(from: heard.assumingMemoryBound(to: Float.self), count: Int(frames))
  tape.count.store(done + Int(frames), ordering: .releasing)
  return 0
}
