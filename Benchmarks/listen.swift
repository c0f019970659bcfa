import CJack
import Glibc
import Synchronization

/// A JACK client that records one port, or nothing, and counts xruns.
///
/// listen SERVER SECONDS [PORT FILE]
///
/// Prints `ready` once it is connected, and starts when it reads a line. Writes 32-bit floats, and prints the
/// server's xruns and its own late callbacks for each second.
@main struct Listen {
  static func main() { listen() }

  // Nonisolated: a closure formed on the main actor would check for it on JACK's threads, and trap.
  private nonisolated static func listen() {
    let words = CommandLine.arguments
    guard words.count == 3 || words.count == 5, let seconds = Double(words[2]) else {
      fail("listen SERVER SECONDS [PORT FILE]")
    }
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
    guard let client = retry({ open(words[1]) }) else { fail("no server \(words[1])") }
    let rate = Double(jack_get_sample_rate(client))
    let port = words.count > 3 ? jack_port_register(client, "in", JACK_DEFAULT_AUDIO_TYPE, 1, 0) : nil
    let tape = Tape(
      port, rate: rate, period: Double(jack_get_buffer_size(client)) / rate, frames: Int(seconds * rate))
    let argument = Unmanaged.passUnretained(tape).toOpaque()
    jack_set_process_callback(client, process, argument)
    jack_set_xrun_callback(client, countXrun, argument)
    guard jack_activate(client) == 0 else { fail("JACK refused to start the client") }
    if words.count > 3, retry({ jack_connect(client, words[3], "listen:in") == 0 ? true : nil }) == nil {
      fail("no port \(words[3])")
    }
    print("ready")
    fflush(nil)
    _ = readLine()
    tape.isRecording.store(true, ordering: .releasing)
    // A server that hangs, or lost its shared memory, no longer calls the client and reports nothing.
    let end = time(nil) + 20 + 2 * Int(seconds)
    while tape.frames.load(ordering: .acquiring) < tape.capacity {
      guard time(nil) < end else { fail("the server does not call any more") }
      usleep(50_000)
    }
    jack_deactivate(client)
    if words.count > 3 {
      guard let file = fopen(words[4], "wb") else { fail("cannot write \(words[4])") }
      fwrite(tape.samples, 4, tape.capacity, file)
      fclose(file)
    }
    jack_client_close(client)
    print("{\"xruns\": \(tape.xruns.seconds), \"late\": \(tape.late.seconds)}")
  }

  private nonisolated static func open(_ server: String) -> OpaquePointer? {
    var status = JackStatus(0)
    return sostenuto_jack_client_open("listen", JackNoStartServer, &status, server)
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
    let words = "listen: \(text)\n"
    words.withCString { _ = write(2, $0, strlen($0)) }
    exit(1)
  }
}

private final class Tape: Sendable {
  nonisolated(unsafe) let port: OpaquePointer?
  nonisolated(unsafe) let samples: UnsafeMutablePointer<Float>
  let capacity: Int
  let rate: Double
  /// In microseconds.
  let period: UInt64
  let frames = Atomic<Int>(0)
  let isRecording = Atomic<Bool>(false)
  let xruns: Tally
  let late: Tally
  let last = Atomic<UInt64>(0)
  /// Seconds recorded so far.
  var second: Double { Double(frames.load(ordering: .relaxed)) / rate }

  init(_ port: OpaquePointer?, rate: Double, period: Double, frames: Int) {
    self.port = port
    self.rate = rate
    self.period = UInt64(period * 1e6)
    // A multiple of 8192 frames holds whole periods of any size.
    capacity = frames / 8192 * 8192
    samples = .allocate(capacity: capacity)
    samples.initialize(repeating: 0, count: capacity)
    xruns = Tally(seconds: Double(frames) / rate)
    late = Tally(seconds: Double(frames) / rate)
  }
}

/// Event counts, one for each second of the recording.
private final class Tally: Sendable {
  private nonisolated(unsafe) let counts: UnsafeMutablePointer<Int>
  private let size: Int

  init(seconds: Double) {
    size = Int(seconds.rounded(.up))
    counts = .allocate(capacity: size)
    counts.initialize(repeating: 0, count: size)
  }

  /// One writing thread per tally.
  func add(at second: Double) { counts[min(Int(second), size - 1)] += 1 }

  var seconds: [Int] { Array(UnsafeBufferPointer(start: counts, count: size)) }
}

private func tape(_ argument: UnsafeMutableRawPointer?) -> Tape {
  Unmanaged<Tape>.fromOpaque(argument!).takeUnretainedValue()
}

private func countXrun(_ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = tape(argument)
  if tape.isRecording.load(ordering: .acquiring) { tape.xruns.add(at: tape.second) }
  return 0
}

private func process(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = tape(argument)
  let now = jack_get_time()
  let last = tape.last.exchange(now, ordering: .relaxed)
  let done = tape.frames.load(ordering: .relaxed)
  guard tape.isRecording.load(ordering: .acquiring), done < tape.capacity else { return 0 }
  if now - last > 2 * tape.period { tape.late.add(at: tape.second) }
  if let port = tape.port, let heard = jack_port_get_buffer(port, frames) {
    (tape.samples + done).update(from: heard.assumingMemoryBound(to: Float.self), count: Int(frames))
  }
  tape.frames.store(done + Int(frames), ordering: .releasing)
  return 0
}
