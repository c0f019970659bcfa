import CJack
import Glibc
import Patch
import Testing

@testable import Drivers
@testable import Engine

/// Runs against real servers, one at a time.
@Suite(.serialized) @MainActor struct JackDriverTests {
  private func endpoint(
    _ node: UInt64, _ name: String, first: Int, channels: Int, isInput: Bool = false
  ) -> Endpoint {
    Endpoint(
      node: NodeID(raw: node), name: name, isInput: isInput, firstChannel: first, channels: channels,
      isTap: false)
  }

  private func options(_ server: JackTestServer) -> JackClientOptions {
    var options = JackClientOptions()
    options.server = server.name
    return options
  }

  @Test func withoutAServerTheDriverSaysSoAndStartsNone() {
    var options = JackClientOptions()
    options.server = "sostenuto-test-nobody"
    let engine = Engine(rate: 48000, period: 64)
    #expect(throws: DriverError.self) { try JackDriver(renderer: engine.renderer, options: options) }
    do {
      _ = try JackDriver(renderer: engine.renderer, options: options)
    } catch {
      #expect("\(error)" == "JACK server `sostenuto-test-nobody` is not running")
    }
  }

  /// A client has the name that was asked for, with a number when it is taken, and its place says so.
  @Test func aClientHasTheNameThatWasAskedForWithANumberWhenItIsTaken() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    var options = options(server)
    var kept: [JackDriver] = []
    defer { for driver in kept { driver.stop() } }
    let longest = String(repeating: "n", count: JackClientOptions.longestName)
    options.clientName = longest
    for name in [longest, longest + "-01"] {
      let driver = try JackDriver(renderer: Engine(rate: 48000, period: 64).renderer, options: options)
      kept.append(driver)
      #expect(driver.place == "JACK client \(name) of server \(server.name)")
    }
    options.clientName = "organ"
    let first = try JackDriver(renderer: Engine(rate: 48000, period: 64).renderer, options: options)
    defer { first.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let second = try JackDriver(renderer: engine.renderer, options: options)
    defer { second.stop() }
    #expect(first.place == "JACK client organ of server \(server.name)")
    #expect(second.place == "JACK client organ-01 of server \(server.name)")
    second.update([endpoint(1, "out", first: 0, channels: 1)])
    try second.start()
    let probe = try #require(TestClient(server: server.name))
    #expect(wait { probe.ports(of: "organ-01") == ["organ-01:out_1"] })
  }

  /// Ports are named after their node, connected to the sound card, and come and go while it runs.
  @Test func portsAreNamedAfterTheirNodeConnectedToTheSoundCard() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let driver = try JackDriver(renderer: engine.renderer, options: options(server))
    defer { driver.stop() }
    #expect(driver.rate == 48000)
    #expect(driver.period == 64)
    driver.update([endpoint(1, "out", first: 0, channels: 2)])
    try driver.start()
    let probe = try #require(TestClient(server: server.name))
    #expect(wait { probe.ports(of: "sostenuto") == ["sostenuto:out_1", "sostenuto:out_2"] })
    #expect(wait { probe.connections(of: "sostenuto:out_1") == ["system:playback_1"] })
    #expect(wait { probe.connections(of: "sostenuto:out_2") == ["system:playback_2"] })
    #expect(wait { engine.renderer.time > 640 })

    // A mono output is connected to both speakers; an input stays unconnected unless asked for.
    driver.update([
      endpoint(1, "out", first: 0, channels: 2), endpoint(2, "click", first: 2, channels: 1),
      endpoint(3, "guitar", first: 0, channels: 1, isInput: true),
    ])
    #expect(wait { probe.ports(of: "sostenuto").count == 4 })
    #expect(
      wait {
        Set(probe.connections(of: "sostenuto:click_1")) == ["system:playback_1", "system:playback_2"]
      })
    #expect(probe.connections(of: "sostenuto:guitar_1") == [])

    driver.update([endpoint(2, "click", first: 2, channels: 1)])
    #expect(wait { probe.ports(of: "sostenuto") == ["sostenuto:click_1"] })
    let time = engine.renderer.time
    #expect(wait { engine.renderer.time > time })
  }

  @Test func aRenamedNodesPortAndThatOfANodeWhichReplacesAnotherKeepTheirConnections() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let driver = try JackDriver(renderer: engine.renderer, options: options(server))
    defer { driver.stop() }
    driver.update([endpoint(1, "out", first: 0, channels: 1)])
    try driver.start()
    let probe = try #require(TestClient(server: server.name))
    #expect(wait { probe.connections(of: "sostenuto:out_1").count == 2 })
    #expect(jack_disconnect(probe.client, "sostenuto:out_1", "system:playback_1") == 0)

    driver.update([endpoint(1, "main", first: 0, channels: 1)])
    #expect(wait { probe.ports(of: "sostenuto") == ["sostenuto:main_1"] })
    driver.update([endpoint(7, "main", first: 0, channels: 1)])
    // Changes are made in order: once the later one is seen, the earlier one has been made.
    driver.update([endpoint(7, "main", first: 0, channels: 1), endpoint(8, "mark", first: 5, channels: 1)])
    #expect(wait { probe.ports(of: "sostenuto").count == 2 })
    #expect(probe.connections(of: "sostenuto:main_1") == ["system:playback_2"])
  }

  @Test func aClientOfAnotherProgramThatComesBackGetsItsConnectionsBack() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let options = options(server)
    let driver = try JackDriver(renderer: engine.renderer, options: options)
    defer { driver.stop() }
    driver.update([endpoint(1, "out", first: 0, channels: 1)])
    try driver.start()
    let probe = try #require(TestClient(server: server.name))
    #expect(wait { probe.connections(of: "sostenuto:out_1").count == 2 })

    func withRecorder(_ body: (TestClient) throws -> Void) throws {
      let recorder = try #require(TestClient(server: server.name, name: "recorder"))
      jack_port_register(recorder.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
      jack_activate(recorder.client)
      try body(recorder)
    }
    try withRecorder { _ in
      #expect(jack_connect(probe.client, "sostenuto:out_1", "recorder:in") == 0)
      #expect(wait { options.memory.remembers("out_1", "recorder:in") == true })
    }
    #expect(wait { options.memory.remembers("out_1", "recorder:in") == false })
    try withRecorder { _ in
      #expect(wait { probe.connections(of: "sostenuto:out_1").contains("recorder:in") })
    }
  }

  /// When the server is killed, the supervisor goes on with the clock and comes back with the server.
  @Test func whenTheServerIsKilled() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 44100, period: 256)
    var options = DriverOptions()
    options.preference = .jack
    options.jack = self.options(server)
    let supervisor = Supervisor(engine: engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    #expect(supervisor.driver?.name == "jack")
    #expect(supervisor.message == "playing as JACK client sostenuto of server \(server.name)")
    // The engine takes the server's rate.
    #expect(engine.rate == 48000)
    #expect(wait { engine.renderer.time > 640 })

    server.crash()
    #expect(
      wait {
        supervisor.poll()
        return supervisor.driver?.name == "clock"
      })
    #expect(supervisor.isDisturbed)
    #expect(supervisor.message.hasPrefix("JACK server gone"))
    #expect(supervisor.message.hasSuffix("playing on through the clock driver; trying again in 2 s"))
    #expect(supervisor.driver?.rate == 48000)
    #expect(supervisor.driver?.period == 64)
    let time = engine.renderer.time
    #expect(wait { engine.renderer.time > time + 640 })

    try server.restart()
    #expect(
      wait {
        supervisor.poll()
        return supervisor.driver?.name == "jack"
      })
    #expect(!supervisor.isDisturbed)
    let back = engine.renderer.time
    #expect(back > time)
    #expect(wait { engine.renderer.time > back + 640 })
    #expect(supervisor.status.failure == nil)
  }
}
