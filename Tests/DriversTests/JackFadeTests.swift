import CJack
import Patch
import Testing

@testable import Drivers
@testable import Engine

/// Sound that begins to be heard while it goes on, and sound whose process is about to be stopped.
@Suite(.serialized) @MainActor struct JackFadeTests {
  private func until(_ supervisor: Supervisor, _ condition: () -> Bool) -> Bool {
    wait {
      supervisor.poll()
      return condition()
    }
  }

  @Test func aConnectionFadesInEachTimeThatItIsMade() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(TwoTones.patch)
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    #expect(until(supervisor) { graph.engine.renderer.time > 4800 })
    let recorder = try #require(JackRecorder(server: server.name, source: "sostenuto:out_1"))
    let probe = try #require(TestClient(server: server.name))
    #expect(until(supervisor) { recorder.sound.contains { abs($0) > 0.1 } })
    // JACK itself ends a connection at once, so each begins in a recording of its own.
    var windows: [Range<Int>] = []
    while windows.count < 5 {
      // What the driver knew of the connection before would pass for news.
      #expect(until(supervisor) { graph.engine.device.unheard.isEmpty })
      for other in probe.connections(of: "sostenuto:out_1") {
        #expect(jack_disconnect(probe.client, "sostenuto:out_1", other) == 0)
      }
      let end = recorder.count
      // The driver looks at the connections once in a while, and late on a busy machine.
      #expect(until(supervisor) { !graph.engine.device.unheard.isEmpty })
      // Periods that were under way.
      try #require(until(supervisor) { recorder.count > end + 9600 })
      let (begin, late) = (recorder.count, supervisor.status.xruns)
      #expect(jack_connect(probe.client, "sostenuto:out_1", "recorder:in") == 0)
      // On a busy machine JACK may tell us of it late.
      try #require(until(supervisor) { recorder.sound[begin...].contains { abs($0) > 0.05 } })
      let heard = recorder.count
      try #require(until(supervisor) { recorder.count > heard + 4800 })
      // The server leaves periods out when it is late, and the recording jumps.
      if supervisor.status.xruns == late { windows.append(begin..<recorder.count) }
    }
    let sound = recorder.sound
    for window in windows {
      #expect(largestStep(sound[window]) < TwoTones.step * 1.2, "a click at \(window)")
    }
  }

  @Test func beforeTheProcessIsStoppedTheSoundFadesOutAndTheServerIsLeftThenAllIsAsItWas() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(TwoTones.patch)
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    let recorder = try #require(JackRecorder(server: server.name, source: "sostenuto:out_1"))
    let probe = try #require(TestClient(server: server.name))
    #expect(until(supervisor) { probe.connections(of: "sostenuto:out_1").contains("system:playback_1") })
    for _ in 0..<3 {
      let before = recorder.count
      #expect(until(supervisor) { recorder.count > before + 4800 })
      let driver = try #require(supervisor.driver)
      let start = recorder.count
      supervisor.withdraw()
      #expect(probe.connections(of: "sostenuto:out_1").isEmpty)
      // Nobody polls, as while the process stands still; the server goes on without us.
      let (left, time) = (recorder.count, graph.engine.renderer.time)
      #expect(wait { recorder.count > left + 9600 })
      #expect(graph.engine.renderer.time == time)
      #expect(largestStep(recorder.sound[start...]) < TwoTones.step * 1.2)
      supervisor.rejoin()
      #expect(
        until(supervisor) { probe.connections(of: "sostenuto:out_1").contains("system:playback_1") })
      #expect(until(supervisor) { graph.engine.renderer.time > time + 4800 })
      #expect(supervisor.driver === driver)
      #expect(!supervisor.isDisturbed)
      if !probe.connections(of: "sostenuto:out_1").contains("recorder:in") {
        #expect(jack_connect(probe.client, "sostenuto:out_1", "recorder:in") == 0)
      }
    }
  }
}
