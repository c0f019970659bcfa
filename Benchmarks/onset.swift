import CJack
import Glibc
import Synchronization

/// A JACK client that notes when sound begins after silence.
///
/// onset SERVER PORT
///
/// Prints `ready` once it is connected, and ends when it reads a line: then it prints the nanoseconds of the monotonic
/// clock at which each onset reached it.
@main struct Onset {
  static func main() { listen() }

  // Nonisolated: a closure formed on the main actor would check for it on JACK's threads, and trap.
  private nonisolated static func listen() {
    let words = CommandLine.arguments
    guard words.count == 3 else { fail("onset SERVER PORT") }
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
    guard let client = retry({ open(words[1]) }) else { fail("no server \(words[1])") }
    let ear = Ear(
      port: jack_port_register(client, "in", JACK_DEFAULT_AUDIO_TYPE, 1, 0),
      rate: Double(jack_get_sample_rate(client)))
    jack_set_process_callback(client, process, Unmanaged.passUnretained(ear).toOpaque())
    guard jack_activate(client) == 0 else { fail("JACK refused to start the client") }
    guard retry({ jack_connect(client, words[2], "onset:in") == 0 ? true : nil }) != nil else {
      fail("no port \(words[2])")
    }
    print("ready")
    fflush(nil)
    _ = readLine()
    jack_deactivate(client)
    for index in 0..<ear.count.load(ordering: .acquiring) { print(ear.onsets[index]) }
    jack_client_close(client)
  }

  private nonisolated static func open(_ server: String) -> OpaquePointer? {
    var status = JackStatus(0)
    return sostenuto_jack_client_open("onset", JackNoStartServer, &status, server)
  }

  /// Repeats `body` for up to ten seconds, while the other side starts.
  private nonisolated static func retry<Result>(_ body: () -> Result?) -> Result? {
    for _ in 0..<100 {
      if let result = body() { return result }
      usleep(100_000)
    }
    return nil
  }

  private nonisolated static func fail(_ text: String) -> Never {
    let words = "onset: \(text)\n"
    words.withCString { _ = write(2, $0, strlen($0)) }
    exit(1)
  }
}

/// What the callback writes.
private final class Ear: @unchecked Sendable {
  static let most = 100_000
  let port: OpaquePointer?
  let rate: Double
  let onsets = UnsafeMutablePointer<Int64>.allocate(capacity: Ear.most)
  let count = Atomic<Int>(0)
  /// Frames since the last sound.
  var silence = 0

  init(port: OpaquePointer?, rate: Double) {
    self.port = port
    self.rate = rate
  }
}

/// A new onset comes after 30 ms of silence.
private func process(_ frames: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> CInt {
  let ear = Unmanaged<Ear>.fromOpaque(argument!).takeUnretainedValue()
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  let buffer = jack_port_get_buffer(ear.port, frames)
  guard let samples = buffer?.assumingMemoryBound(to: Float.self) else { return 0 }
  for frame in 0..<Int(frames) {
    if abs(samples[frame]) < 1e-4 {
      ear.silence += 1
      continue
    }
    let index = ear.count.load(ordering: .relaxed)
    if Double(ear.silence) > 0.03 * ear.rate, index < Ear.most {
      let time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
      ear.onsets[index] = time + Int64(Double(frame) / ear.rate * 1e9)
      ear.count.store(index + 1, ordering: .releasing)
    }
    ear.silence = 0
  }
  return 0
}
