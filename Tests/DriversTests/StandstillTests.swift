import CJack
import Engine
import Patch
import Testing

@testable import Drivers

/// Servers that stand still for some seconds: the engine stands still with them, unless something is asked of it.
@Suite(.serialized) @MainActor struct StandstillTests {
  private func supervisor(
    of graph: LiveGraph, _ server: JackTestServer, standstill: Double? = nil
  ) -> Supervisor {
    Supervisor(engine: graph.engine, options: server.options(standstill: standstill))
  }

  private func until(_ graph: LiveGraph, _ supervisor: Supervisor, _ condition: () -> Bool) -> Bool {
    wait {
      graph.engine.collect()
      supervisor.poll()
      return condition()
    }
  }

  private func silence(_ supervisor: Supervisor) -> Bool {
    supervisor.driver?.name == "jack"
      && supervisor.message.hasSuffix(" stands still: silent until it goes on")
  }

  @Test func itIsToldWithinASecondAndTheClockTakesOverAfterFive() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(TwoTones.patch)
    let supervisor = supervisor(of: graph, server)
    supervisor.start()
    defer { supervisor.stop() }
    #expect(until(graph, supervisor) { graph.engine.renderer.time > 4800 && graph.engine.isSettled })
    server.freeze()
    let start = monotonicTime()
    #expect(until(graph, supervisor) { silence(supervisor) })
    let told = monotonicTime()
    #expect(told - start < 1_500_000_000)
    // Who polls rarely asks.
    #expect((0..<3).map { _ in supervisor.isStill }.dropFirst() == [true, true])
    #expect(supervisor.isDisturbed)
    let time = graph.engine.renderer.time
    // Four more seconds pass at once.
    supervisor.poll(now: told + 3_900_000_000)
    #expect(silence(supervisor))
    #expect(graph.engine.renderer.time == time)
    supervisor.poll(now: told + 4_200_000_000)
    #expect(supervisor.driver?.name == "clock")
    #expect(supervisor.isDisturbed)
    #expect(
      supervisor.message
        == "JACK client sostenuto of server \(server.name) stands still: "
        + "playing on through the clock driver until it goes on")
    #expect(until(graph, supervisor) { graph.engine.renderer.time > time + 640 })
    server.goOn()
    #expect(until(graph, supervisor) { supervisor.driver?.name == "jack" })
    #expect(!supervisor.isDisturbed)
    #expect(wait { !supervisor.isStill })
  }

  @Test func aServerThatGoesOnBeforePlaysOnWhereItWasWithoutAStep() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(TwoTones.patch)
    let supervisor = supervisor(of: graph, server, standstill: 1e6)
    supervisor.start()
    defer { supervisor.stop() }
    let recorder = try #require(JackRecorder(server: server.name, source: "sostenuto:out_1"))
    let probe = try #require(TestClient(server: server.name))
    for round in 0..<3 {
      let before = recorder.count
      #expect(until(graph, supervisor) { recorder.count > before + 9600 })
      let driver = try #require(supervisor.driver)
      let (start, connections) = (recorder.count - 2400, probe.connections(of: "sostenuto:out_1"))
      server.freeze()
      #expect(until(graph, supervisor) { silence(supervisor) })
      let (time, heard) = (graph.engine.renderer.time, recorder.count)
      server.goOn()
      #expect(until(graph, supervisor) { !supervisor.isDisturbed })
      #expect(supervisor.message == "sound is back: JACK client sostenuto of server \(server.name) goes on")
      #expect(supervisor.driver === driver)
      #expect(until(graph, supervisor) { recorder.count > heard + 9600 })
      // Silence takes none of the engine's time, and the clock has added none.
      #expect(graph.engine.renderer.time - time <= recorder.count - heard)
      let sound = recorder.sound[start...]
      #expect(largestStep(sound) < TwoTones.step * 1.2, "round \(round)")
      #expect(sound.contains(0))
      #expect(sound.suffix(4800).contains { abs($0) > 0.1 })
      #expect(probe.connections(of: "sostenuto:out_1") == connections)
    }
  }

  /// A screen that sleeps would else wake at each look, for ever.
  @Test func theClockNeverStandsStill() throws {
    var options = DriverOptions()
    options.preference = .clock
    let supervisor = Supervisor(engine: try LiveGraph(TwoTones.patch).engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    #expect(supervisor.driver?.name == "clock")
    for _ in 0..<3 { #expect(!supervisor.isStill) }
  }

  /// What is done meanwhile.
  enum Doing: String, CaseIterable { case edit, note, transport, much }

  @Test(arguments: Doing.allCases) func whatIsDoneMeanwhileBringsTheClockAtOnce(_ doing: Doing) throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(
      "node keys keyboard\nnode piano sampler\nnode out output channels=2\n"
        + "connect keys -> piano\nconnect piano -> out")
    let engine = graph.engine
    let supervisor = supervisor(of: graph, server, standstill: 1e6)
    supervisor.start()
    defer { supervisor.stop() }
    supervisor.update(transport: .follow)
    #expect(until(graph, supervisor) { engine.renderer.time > 4800 && engine.isSettled })
    server.freeze()
    #expect(until(graph, supervisor) { silence(supervisor) })
    for _ in 0..<20 { supervisor.poll() }
    #expect(silence(supervisor))
    // A script's lines are queued ahead of their frames.
    let later = engine.renderer.time + 96000
    for _ in 0..<20 { engine.perform(.tempo(100), at: later) }
    supervisor.poll()
    #expect(silence(supervisor))
    switch doing {
    case .edit: try graph.perform("set piano.level -6dB")
    case .note: try graph.perform("note piano on C4 100")
    case .transport: if !supervisor.perform(.roll) { engine.perform(.roll) }
    case .much: for _ in 0..<100 { engine.perform(.tempo(100), at: later) }
    }
    supervisor.poll()
    #expect(supervisor.driver?.name == "clock")
    let time = engine.renderer.time
    #expect(until(graph, supervisor) { engine.renderer.time > time + 640 && !engine.isKeptWaiting })
    if doing == .transport { #expect(engine.transport.isRolling) }
    server.goOn()
    #expect(until(graph, supervisor) { supervisor.driver?.name == "jack" })
  }

  @Test func aCardBesideTheServerPlaysOnAtOnce() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(TwoTones.patch + "\nnode cue output device=null\nconnect c -> cue")
    let supervisor = supervisor(of: graph, server, standstill: 1e6)
    supervisor.start()
    defer { supervisor.stop() }
    #expect(until(graph, supervisor) { graph.engine.renderer.time > 4800 })
    server.freeze()
    #expect(until(graph, supervisor) { supervisor.driver?.name == "clock" })
  }

  @Test func itsEndMeanwhileIsToldAndTheProgramsEndDoesNotWait() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    for isKilled in [true, false] {
      let graph = try LiveGraph(TwoTones.patch)
      let supervisor = supervisor(of: graph, server, standstill: 1e6)
      supervisor.start()
      defer { supervisor.stop() }
      #expect(until(graph, supervisor) { graph.engine.renderer.time > 4800 && graph.engine.isSettled })
      server.freeze()
      #expect(until(graph, supervisor) { silence(supervisor) })
      if isKilled {
        server.crash()
        #expect(until(graph, supervisor) { supervisor.message.hasPrefix("JACK server gone") })
        let time = graph.engine.renderer.time
        #expect(until(graph, supervisor) { graph.engine.renderer.time > time + 640 })
        supervisor.stop()
        try server.restart()
      } else {
        supervisor.stop()
        #expect(supervisor.driver == nil)
        server.goOn()
        let probe = try #require(TestClient(server: server.name))
        #expect(wait { probe.ports(of: "sostenuto").isEmpty })
      }
    }
  }
}
