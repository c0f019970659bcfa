import CJack
import Engine
import Glibc
import Patch
import Realtime
import Synchronization
import Testing

@testable import Drivers

/// The transport of a JACK server, followed and led, beside other clients that do the same.
@Suite(.serialized) @MainActor struct JackTransportTests {
  private func place(_ graph: LiveGraph) -> (bar: Int64, beat: Double) {
    graph.engine.renderer.transport.place(at: graph.engine.renderer.time)
  }

  @Test func theServersTransportIsFollowedFromAnyClientAndMovedFromHere() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("tempo 90\nnode clock transport")
    let driver = try server.driver(of: graph, transport: .follow)
    defer { driver.stop() }
    let other = try #require(TestClient(server: server.name, name: "other"))
    let renderer = graph.engine.renderer
    #expect(wait { renderer.time > 0 && !renderer.transport.isRolling })
    #expect(driver.transportRole == .follows)
    jack_transport_start(other.client)
    #expect(wait { renderer.transport.isRolling })
    // 90 beats a minute: bar 5 is 16 beats, 10.667 s.
    jack_transport_stop(other.client)
    #expect(wait { !renderer.transport.isRolling })
    jack_transport_locate(other.client, 512_000)
    #expect(wait { place(graph).bar == 5 && place(graph).beat < 1e-6 })
    let isAsked = driver.perform(.locate(BarPlace(bar: 3, beat: 2)))
    #expect(isAsked)
    var position = jack_position_t()
    #expect(
      wait {
        jack_transport_query(other.client, &position)
        return position.frame == 9 * 32_000
      })
    #expect(wait { place(graph).bar == 3 && abs(place(graph).beat - 1) < 1e-6 })
    _ = driver.perform(.roll)
    #expect(wait { jack_transport_query(other.client, nil) == JackTransportRolling })
    #expect(wait { renderer.transport.isRolling && place(graph).beat > 1.2 })
    _ = driver.perform(.halt)
    #expect(wait { !renderer.transport.isRolling })
    // Without the server's, the patch's own goes on.
    driver.update(transport: .off)
    #expect(driver.transportRole == .own && !driver.perform(.roll))
  }

  @Test func tempoAndMeterOfAnotherLeaderCountUntilItLeaves() throws {
    // Synchronous (`-S`): on a busy machine the server waits for its clients, and leaves out no period.
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph("tempo 90")
    let driver = try server.driver(of: graph, transport: .follow)
    defer { driver.stop() }
    let renderer = graph.engine.renderer
    do {
      let leader = try #require(Leader(server: server.name, name: "leader", isConditional: true))
      jack_transport_start(leader.client)
      #expect(wait { renderer.transport.isLed && renderer.transport.isRolling })
      let transport = renderer.transport
      #expect(transport.pulse.tempo == 150 && transport.pulse.beats == 7 && transport.pulse.unit == 8)
      #expect(wait { place(graph).bar == 1 && place(graph).beat > 1 })
      let (time, jumps) = (renderer.time, transport.jumps)
      // Its place goes on evenly: no period sets it anew.
      #expect(wait { renderer.time > time + 20_000 })
      #expect(renderer.transport.jumps == jumps)
      #expect(renderer.transport.origin < time + 256)
      leader.leave()
    }
    #expect(wait { !renderer.transport.isLed && renderer.transport.pulse.tempo == 90 })
  }

  @Test func theLeadIsTakenTakenAwayAndTakenBack() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("tempo 90\nmeter 3/4\ntransport lead")
    let driver = try server.driver(of: graph, transport: .lead)
    defer { driver.stop() }
    let other = try #require(TestClient(server: server.name, name: "other"))
    #expect(wait { driver.transportRole == .leads })
    jack_transport_locate(other.client, 480_000)
    // 15 beats are five bars of three.
    var position = jack_position_t()
    func isThere(_ bar: Int32, _ beat: Int32) -> Bool {
      jack_transport_query(other.client, &position)
      return position.valid.rawValue & JackPositionBBT.rawValue != 0 && position.bar == bar
        && position.beat == beat && position.beats_per_minute == 90 && position.beats_per_bar == 3
    }
    #expect(wait { isThere(6, 1) })
    #expect(position.bar_start_tick == 15 * position.ticks_per_beat)
    jack_transport_start(other.client)
    #expect(wait { isThere(6, 2) })
    try graph.perform("tempo 180")
    #expect(
      wait {
        jack_transport_query(other.client, &position)
        return position.beats_per_minute == 180
      })
    do {
      let leader = try #require(Leader(server: server.name, name: "leader", isConditional: false))
      #expect(wait { driver.transportRole == .waits })
      #expect(wait { graph.engine.renderer.transport.pulse.tempo == 150 })
      leader.leave()
    }
    #expect(wait { driver.transportRole == .leads })
    #expect(wait { graph.engine.renderer.transport.pulse.tempo == 180 })
    driver.update(transport: .follow)
    #expect(wait { driver.transportRole == .follows })
    let next = try #require(Leader(server: server.name, name: "next", isConditional: true))
    next.leave()
  }

  /// Another program was first: its tempo counts, and the patch's as soon as it leaves.
  @Test func whoComesSecondWaitsForTheLeadAndTakesItWhenTheFirstLeaves() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("tempo 90\ntransport lead")
    let leader = try #require(Leader(server: server.name, name: "leader", isConditional: true))
    let driver = try server.driver(of: graph, transport: .lead)
    defer { driver.stop() }
    let renderer = graph.engine.renderer
    #expect(wait { driver.transportRole == .waits && renderer.transport.pulse.tempo == 150 })
    #expect(renderer.transport.isLed)
    // It asks again and again, and takes nothing away.
    var position = jack_position_t()
    let seen = renderer.time
    #expect(wait { renderer.time > seen + 36_000 })
    jack_transport_query(leader.client, &position)
    #expect(driver.transportRole == .waits && position.beats_per_minute == 150)
    // Whoever no longer wants it does not wait any more.
    driver.update(transport: .follow)
    #expect(wait { driver.transportRole == .follows })
    driver.update(transport: .lead)
    #expect(wait { driver.transportRole == .waits })
    leader.leave()
    #expect(wait { driver.transportRole == .leads && renderer.transport.pulse.tempo == 90 })
    #expect(
      wait {
        jack_transport_query(leader.client, &position)
        return position.beats_per_minute == 90
      })
  }

  /// Death and return of the server: the place goes on meanwhile, and the lead is taken again.
  @Test func theLeadComesBackWithTheServer() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("tempo 90\nnode out output")
    var options = server.options()
    options.startsServer = false
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.update(transport: .lead)
    supervisor.start()
    defer { supervisor.stop() }
    func look() {
      supervisor.poll()
      graph.engine.collect()
    }
    #expect(
      wait {
        look(); return supervisor.transportRole == .leads
      })
    #expect(supervisor.perform(.roll))
    // The patch's own transport rolled before the server's, so only a place that the server goes on from shows that it does.
    do {
      let probe = try #require(TestClient(server: server.name))
      var position = jack_position_t()
      #expect(
        wait {
          look()
          return jack_transport_query(probe.client, &position) == JackTransportRolling
            && position.frame > 4800
        })
    }
    #expect(
      wait {
        look()
        let transport = graph.engine.renderer.transport
        return transport.isRolling && transport.position(at: graph.engine.renderer.time) > 4800
      })
    server.crash()
    #expect(
      wait {
        look(); return supervisor.transportRole == .own
      })
    let position = graph.engine.renderer.transport.position(at: graph.engine.renderer.time)
    #expect(
      wait {
        look()
        return graph.engine.renderer.transport.position(at: graph.engine.renderer.time) > position + 4800
      })
    try server.restart(while: look)
    #expect(
      wait {
        look(); return supervisor.transportRole == .leads
      })
  }
}

/// A client that is the server's timebase master: 150 beats a minute in 7/8, and coarse ticks.
private final class Leader {
  private let probe: TestClient
  var client: OpaquePointer { probe.client }

  init?(server: String, name: String, isConditional: Bool) {
    guard let probe = TestClient(server: server, name: name),
      jack_set_timebase_callback(probe.client, isConditional ? 1 : 0, lead, nil) == 0,
      jack_activate(probe.client) == 0
    else { return nil }
    self.probe = probe
  }

  func leave() { jack_release_timebase(client) }
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func lead(
  _ state: jack_transport_state_t, _ frames: UInt32, _ position: UnsafeMutablePointer<jack_position_t>?,
  _ isNew: Int32, _ argument: UnsafeMutableRawPointer?
) {
  guard let position else { return }
  let beats = Double(position.pointee.frame) * 150 / (60 * 48000)
  let whole = Int32(beats)
  position.pointee.valid = JackPositionBBT
  position.pointee.bar = whole / 7 + 1
  position.pointee.beat = whole % 7 + 1
  position.pointee.tick = Int32((beats - Double(whole)) * 480)
  position.pointee.bar_start_tick = Double(whole / 7 * 7) * 480
  position.pointee.beats_per_bar = 7
  position.pointee.beat_type = 8
  position.pointee.ticks_per_beat = 480
  position.pointee.beats_per_minute = 150
}
