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

  /// Plays these endpoints on a server of its own, while another client looks on.
  private func play(
    extra: [String] = [], back: [String] = [], _ endpoints: [Endpoint],
    _ look: (JackDriver, TestClient) throws -> Void
  ) throws {
    let server = try JackTestServer(extra: extra, back: back)
    defer { server.stop() }
    let driver = try JackDriver(
      renderer: Engine(rate: 48000, period: 64).renderer, options: options(server))
    defer { driver.stop() }
    driver.update(endpoints)
    try driver.start()
    try look(driver, #require(TestClient(server: server.name)))
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

    // An input stays unconnected unless asked for; a mono output is connected to both speakers when it has them.
    driver.update([
      endpoint(1, "out", first: 0, channels: 2), endpoint(2, "click", first: 2, channels: 1),
      endpoint(3, "guitar", first: 0, channels: 1, isInput: true),
    ])
    #expect(wait { probe.ports(of: "sostenuto").count == 4 })
    #expect(probe.connections(of: "sostenuto:guitar_1") == [])
    driver.update([endpoint(2, "click", first: 2, channels: 1)])
    #expect(wait { probe.ports(of: "sostenuto") == ["sostenuto:click_1"] })
    #expect(
      wait {
        Set(probe.connections(of: "sostenuto:click_1")) == ["system:playback_1", "system:playback_2"]
      })
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
      // What comes after the recorder's port may be the one that connects it.
      let patchBay = TestClient(server: server.name, name: "patch bay")
      defer { withExtendedLifetime(patchBay) {} }
      try body(recorder)
    }
    try withRecorder { _ in
      #expect(jack_connect(probe.client, "sostenuto:out_1", "recorder:in") == 0)
      #expect(wait { options.wishes.remembers("out_1", "recorder:in") == true })
    }
    #expect(wait { options.wishes.remembers("out_1", "recorder:in") == false })
    try withRecorder { _ in
      #expect(wait { probe.connections(of: "sostenuto:out_1").contains("recorder:in") })
    }
  }

  /// A node that is removed and comes back, channels that go and come back, and our own new client on the same server
  /// (after a change of rate) find their connections as they were.
  @Test func ourOwnPortsThatComeBackAreConnectedAsTheyWere() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let options = options(server)
    let first = try JackDriver(renderer: engine.renderer, options: options)
    let probe = try #require(TestClient(server: server.name))
    jack_port_register(probe.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    jack_activate(probe.client)
    let stereo = [endpoint(1, "out", first: 0, channels: 2)]
    first.update(stereo)
    try first.start()
    #expect(wait { probe.connections(of: "sostenuto:out_2") == ["system:playback_2"] })
    // On a busy machine the probe's port may be known as late as its connection: another program has made that.
    let patchBay = TestClient(server: server.name, name: "patch bay")
    defer { withExtendedLifetime(patchBay) {} }
    #expect(jack_connect(probe.client, "sostenuto:out_2", "probe:in") == 0)
    #expect(jack_disconnect(probe.client, "sostenuto:out_1", "system:playback_1") == 0)
    func isAsBefore() -> Bool {
      Set(probe.connections(of: "sostenuto:out_2")) == ["system:playback_2", "probe:in"]
        && probe.connections(of: "sostenuto:out_1") == []
    }
    #expect(
      wait {
        options.wishes.remembers("out_2", "probe:in") == true
          && options.wishes.remembers("out_1", "system:playback_1") == nil
      })
    for between in [
      [], [endpoint(1, "out", first: 0, channels: 1)], [endpoint(5, "other", first: 0, channels: 2)],
    ] {
      first.update(between)
      #expect(wait { !probe.ports(of: "sostenuto").contains("sostenuto:out_2") })
      first.update(stereo)
      #expect(wait { isAsBefore() })
    }
    first.stop()
    let second = try JackDriver(renderer: engine.renderer, options: options)
    defer { second.stop() }
    second.update(stereo)
    try second.start()
    #expect(wait { isAsBefore() })
  }

  /// Outputs have the card's channels for themselves; a stereo output that is added while it plays has its left on one
  /// of them; an output with no channel left is told as unheard.
  @Test func everyOutputHasItsOwnChannelsOfTheCard() throws {
    try play(back: ["-P", "5"], [endpoint(1, "mains", first: 0, channels: 2)]) { driver, probe in
      #expect(wait { probe.connections(of: "sostenuto:mains_2") == ["system:playback_2"] })
      driver.update([
        endpoint(1, "mains", first: 0, channels: 2), endpoint(2, "phones", first: 2, channels: 2),
        endpoint(3, "click", first: 4, channels: 1), endpoint(4, "more", first: 5, channels: 2),
      ])
      #expect(wait { probe.connections(of: "sostenuto:phones_1") == ["system:playback_3"] })
      #expect(wait { probe.connections(of: "sostenuto:phones_2") == ["system:playback_4"] })
      #expect(wait { probe.connections(of: "sostenuto:click_1") == ["system:playback_5"] })
      #expect(probe.connections(of: "sostenuto:mains_1") == ["system:playback_1"])
      #expect(wait { driver.device.unheard == [NodeID(raw: 4)] })
      #expect(driver.device.lacking == [:])
    }
  }

  @Test func anOutputBecomesMonoAndStereoAgainOnBothSpeakers() throws {
    try play([endpoint(1, "out", first: 0, channels: 1)]) { driver, probe in
      let both: Set = ["system:playback_1", "system:playback_2"]
      for _ in 0..<2 {
        #expect(wait { Set(probe.connections(of: "sostenuto:out_1")) == both })
        driver.update([endpoint(1, "out", first: 0, channels: 2)])
        #expect(wait { probe.connections(of: "sostenuto:out_1") == ["system:playback_1"] })
        #expect(wait { probe.connections(of: "sostenuto:out_2") == ["system:playback_2"] })
        driver.update([endpoint(1, "out", first: 0, channels: 1)])
      }
    }
  }

  @Test func aSinkThatAppearsLaterIsConnected() throws {
    try play(back: ["-P", "0", "-C", "0"], [endpoint(1, "out", first: 0, channels: 2)]) { driver, probe in
      #expect(wait { probe.ports(of: "sostenuto").count == 2 && driver.device.unheard == [NodeID(raw: 1)] })
      for name in ["usb", "built-in"] {
        let sink = try #require(TestClient(server: probe.server, name: name))
        for channel in 1...2 {
          jack_port_register(
            sink.client, "playback_\(channel)", JACK_DEFAULT_AUDIO_TYPE,
            UInt(JackPortIsInput.rawValue | JackPortIsPhysical.rawValue), 0)
        }
        jack_activate(sink.client)
        #expect(wait { probe.connections(of: "sostenuto:out_2") == ["\(name):playback_2"] })
        #expect(wait { driver.device.unheard.isEmpty })
      }
    }
  }

  /// `connect` of an output names other programs' ports, by patterns; what it no longer names is disconnected.
  @Test func aPatchConnectsItsOutputsToWhatItNames() throws {
    let server = try JackTestServer(back: ["-P", "12"])
    defer { server.stop() }
    let engine = Engine(rate: 48000, period: 64)
    let driver = try JackDriver(renderer: engine.renderer, options: options(server))
    defer { driver.stop() }
    let probe = try #require(TestClient(server: server.name))
    for name in ["left", "right"] {
      jack_port_register(probe.client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    }
    jack_activate(probe.client)
    func ask(_ words: String, channels: Int = 2) {
      var out = endpoint(1, "out", first: 0, channels: channels)
      out.connections = words
      driver.update([out])
    }
    func connections(_ channel: Int) -> Set<String> { Set(probe.connections(of: "sostenuto:out_\(channel)")) }
    ask("probe:*, system:playback_*")
    try driver.start()
    #expect(wait { connections(1) == ["probe:left", "system:playback_1"] })
    #expect(wait { connections(2) == ["probe:right", "system:playback_2"] })
    ask("system:playback_1?")
    #expect(wait { connections(1) == ["system:playback_10"] })
    #expect(wait { connections(2) == ["system:playback_11"] })
    ask("probe:right")
    #expect(wait { connections(1) == ["probe:right"] && connections(2) == ["probe:right"] })
    ask("none")
    #expect(wait { connections(1).isEmpty && connections(2).isEmpty })
    ask("", channels: 1)
    #expect(wait { connections(1) == ["system:playback_1", "system:playback_2"] })
  }

  @Test func portsThatTheServerHasNoRoomForAreTold() throws {
    try play(extra: ["-p", "16"], [endpoint(1, "out", first: 0, channels: 40)]) { driver, probe in
      #expect(wait { driver.device.lacking != [:] })
      #expect(wait { driver.device.lacking == [NodeID(raw: 1): 40 - probe.ports(of: "sostenuto").count] })
    }
  }

  /// When the server is killed, the supervisor goes on with the clock and comes back with the server.
  @Test func whenTheServerIsKilled() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let engine = Engine(rate: 44100, period: 256)
    let supervisor = Supervisor(engine: engine, options: server.options())
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
    #expect(supervisor.message.hasSuffix("playing on through the clock driver; trying again"))
    #expect(supervisor.driver?.rate == 48000)
    #expect(supervisor.driver?.period == 64)
    let time = engine.renderer.time
    #expect(wait { engine.renderer.time > time + 640 })

    try server.restart()
    // By the supervisor's time it is found within a second.
    let latest = monotonicTime() + 1_000_000_000
    #expect(
      wait {
        supervisor.poll(now: min(monotonicTime(), latest))
        return supervisor.driver?.name == "jack"
      })
    #expect(!supervisor.isDisturbed)
    let back = engine.renderer.time
    #expect(back > time)
    #expect(wait { engine.renderer.time > back + 640 })
    #expect(supervisor.status.failure == nil)
  }
}
