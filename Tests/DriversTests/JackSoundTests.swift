import CJack
import Engine
import Patch
import Synchronization
import Testing

@testable import Drivers

/// Sound as another JACK client receives it.
@Suite(.serialized) @MainActor struct JackSoundTests {
  /// While a chord sounds and everything behind it is rewired, a recording has no step and no gap.
  @Test func whileAChordSoundsAndEverythingBehindItIsRewired() throws {
    // Synchronous server (`-S`): on a busy machine the server is late, and its clients lose no frames.
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(
      """
      node c oscillator freq=261.6Hz level=-20dB
      node e oscillator freq=329.6Hz level=-20dB
      node g oscillator freq=392Hz level=-20dB
      node chord mix
      node a gain
      node out output channels=1
      connect c -> chord
      connect e -> chord
      connect g -> chord
      connect chord -> a
      connect a -> out
      """)
    var options = JackClientOptions()
    options.server = server.name
    let driver = try JackDriver(renderer: graph.engine.renderer, options: options)
    defer { driver.stop() }
    driver.update(graph.engine.endpoints)
    try driver.start()
    let recorder = try #require(Recorder(server: server.name, source: "sostenuto:out_1"))
    func record(_ seconds: Double) throws {
      let end = recorder.count + Int(seconds * 48000)
      #expect(
        wait {
          graph.engine.collect()
          return recorder.count >= end
        })
    }
    // Measured from the connection on, not from the silence before.
    try record(0.1)
    let start = recorder.count
    try record(0.4)
    let steadyEnd = recorder.count
    let edits = [
      "insert b gain into a -> out", "replace a pan pan=0", "insert m matrix inputs=2 outputs=2 into a -> b",
      "remove b bridge", "connect chord -> out gain=-12dB", "disconnect chord -> out", "remove m bridge",
      "replace a mix", "insert d gain gain=-3dB into chord -> a", "remove d bridge", "replace a gain",
    ]
    for line in edits {
      try graph.perform(line)
      // The next edit comes in the middle of the 10 ms fade.
      try record(0.007)
    }
    try record(0.1)
    let sound = recorder.sound

    let steady = largestStep(sound[start..<steadyEnd])
    #expect(steady > 0.005)
    // One of the edits adds a signal at -12 dB, so steps may grow by a quarter.
    let bound = steady * 1.26
    #expect(largestStep(sound[steadyEnd...]) <= bound)
    // The chord beats more slowly than the window is long, but its quietest part is not silent.
    for window in stride(from: steadyEnd, to: sound.count - 1920, by: 480) {
      #expect(sound[window..<window + 1920].contains { abs($0) > 0.02 }, "silence at \(window)")
    }
  }

  private func largestStep(_ sound: ArraySlice<Float>) -> Float {
    zip(sound, sound.dropFirst()).map { abs($1 - $0) }.max() ?? 0
  }
}

/// A JACK client that records its input, up to 20 seconds.
private final class Recorder {
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

private final class Tape: Sendable {
  static let capacity = 20 * 48000
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
