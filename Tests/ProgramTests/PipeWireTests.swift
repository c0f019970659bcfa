import Foundation
import Testing

/// The program as a client of PipeWire: as a JACK client by `pw-jack`, and through ALSA's device.
@Suite(.serialized, .enabled(if: PipeWire.isInstalled)) struct PipeWireTests {
  private func play(
    _ server: PipeWire, _ text: String, _ arguments: [String], jack: Bool
  ) throws -> (process: Process, log: String) {
    let patch = try server.folder.file("p.patch", "sostenuto 1\n" + text)
    let log = server.folder.path + "/log"
    let all = ["play", patch, "--headless"] + arguments
    let process =
      jack
      ? try server.begin("pw-jack", [Program.path] + all, output: log)
      : try server.begin(Program.path, all, output: log)
    return (process, log)
  }

  private let tone = "node tone oscillator freq=997Hz level=-20dB\nnode out output\nconnect tone -> out\n"

  /// libjack stood still for ever in two of three starts of a patch with latency: a callback of ours made it wait for its
  /// own lock.
  @MainActor @Test func itPlaysAtEachStartUnderPipeWire() throws {
    let late = tone.replacingOccurrences(
      of: "connect tone -> out", with: "node d distortion\nconnect tone -> d\nconnect d -> out")
    let server = try PipeWire()
    try server.addSink("first")
    for _ in 0..<8 {
      let (process, log) = try play(server, late, ["--driver", "jack", "--seconds", "1.6"], jack: true)
      process.waitUntilExit()
      let said = try String(contentsOfFile: log, encoding: .utf8)
      #expect(
        said.contains("playing as JACK client sostenuto\n") && !said.contains("stands still"), "\(said)")
    }
  }

  @MainActor @Test func underPipeWireItFollowsTheDefaultSinkItsRateItsPeriodAndItsDeath() throws {
    let server = try PipeWire()
    try server.addSink("first")
    try server.addSink("second")
    _ = try server.run(
      "pw-metadata", "0", "default.configured.audio.sink", "{ \"name\": \"second\" }", "Spa:String:JSON")
    #expect(
      try server.wait {
        try server.run("pw-metadata").contains("'default.audio.sink' value:'{\"name\":\"second\"}'")
      })
    let (process, log) = try play(server, tone, ["--driver", "jack"], jack: true)
    #expect(try server.isLinked("sostenuto", to: "second"))
    #expect(abs(try server.peak(of: "second") - 0.1) < 0.01)
    // Rate and period.
    try server.set("clock.force-rate", 96000)
    #expect(
      server.wait {
        (try? String(contentsOfFile: log, encoding: .utf8))?.contains("the rate is now 96000 Hz") == true
      })
    #expect(try server.isLinked("sostenuto", to: "second"))
    for period in [64, 2048] {
      try server.set("clock.force-quantum", period)
      #expect(try server.isLinked("sostenuto", to: "second"))
      #expect(abs(try server.peak(of: "second") - 0.1) < 0.01)
    }
    // The sink goes and comes; meanwhile there is another.
    try server.removeSink("second")
    #expect(try server.isLinked("sostenuto", to: "first"))
    try server.addSink("second")
    #expect(try server.isLinked("sostenuto", to: "second"))
    // The server dies, and another starts.
    server.crash()
    try server.start()
    try server.addSink("second")
    #expect(try server.isLinked("sostenuto", to: "second"))
    #expect(abs(try server.peak(of: "second") - 0.1) < 0.01)
    // The new server was seen as such, and not found after the time that a hung one is given.
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("has another server"))
    #expect(process.isRunning)
  }

  @MainActor @Test(.enabled(if: PipeWire.hasDevice))
  func throughAlsasDeviceItSurvivesPeriodsAndTheServersDeath() throws {
    let server = try PipeWire()
    try server.addSink("sink")
    let (process, log) = try play(server, tone, ["--driver", "alsa", "--device", "pipewire"], jack: false)
    #expect(try server.wait { try server.links(of: "ALSA Playback").count == 2 })
    #expect(abs(try server.peak(of: "sink") - 0.1) < 0.01)
    try server.set("clock.force-quantum", 2048)
    #expect(abs(try server.peak(of: "sink") - 0.1) < 0.01)
    server.crash()
    try server.start()
    try server.addSink("sink")
    #expect(try server.wait { try server.links(of: "ALSA Playback").count == 2 })
    #expect(abs(try server.peak(of: "sink") - 0.1) < 0.01)
    #expect(process.isRunning)
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("sound is back"))
  }

  /// A second way to the same server stands for a second card: it has a clock of its own as well.
  @MainActor @Test(.enabled(if: PipeWire.hasDevice))
  func anOutputWithADeviceOfItsOwnPlaysBesideTheOthers() throws {
    let server = try PipeWire()
    try server.addSink("first")
    let text = tone + "node cue output channels=1 device=pipewire\nconnect tone -> cue gain=-6dB\n"
    let (process, _) = try play(server, text, ["--driver", "jack"], jack: true)
    #expect(try server.isLinked("sostenuto", to: "first"))
    #expect(try server.wait { try server.links(of: "ALSA Playback").count == 2 })
    // Both tones: of one frequency, with any phase between.
    #expect(try server.wait { abs(try server.peak(of: "first") - 0.1) < 0.055 })
    #expect(process.isRunning)
  }
}
