import CJack
import Engine
import Patch
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
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let recorder = try #require(JackRecorder(server: server.name, source: "sostenuto:out_1"))
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
}
