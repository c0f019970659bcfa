import CJack
import Engine
import Patch
import Realtime
import Testing

@testable import Drivers

/// A MIDI clock of another client moves the transport (`transport midi`): two engines, one of which sends what the other
/// follows.
@Suite(.serialized) @MainActor struct JackClockTests {
  private func quarters(_ graph: LiveGraph) -> Double {
    let transport = graph.engine.renderer.transport
    return transport.quarters(at: graph.engine.renderer.time)
  }

  @Test(arguments: [64, 1024])
  func tempoPlaceStartAndStopOfAClockAreFollowedAndItIsPassedOn(period: Int) throws {
    // Synchronous server (`-S`): on a busy machine the server is late, and its clients lose no events.
    let server = try JackTestServer(extra: ["-S"], period: period)
    defer { server.stop() }
    let master = try LiveGraph(
      "tempo 97\ntransport off\nnode clock transport\nnode o midiout port=beats connect=slave:*\nconnect clock.events -> o",
      period: period)
    let slave = try LiveGraph(
      "tempo 60\nmeter 3/4\ntransport midi\nnode m midi port=nobody\nnode o midiout port=thru connect=listener:*\nconnect m -> o",
      period: period)
    let first = try server.driver(of: master, named: "master")
    let second = try server.driver(of: slave, named: "slave", transport: .midi)
    defer { second.stop() }
    let listener = try #require(MidiListener(server: server.name, name: "listener"))
    #expect(wait { listener.isConnected })
    let renderer = slave.engine.renderer
    func look() {
      master.engine.collect()
      slave.engine.collect()
    }
    func until(_ condition: () -> Bool) -> Bool {
      wait {
        look()
        return condition()
      }
    }
    func hasTempo(_ tempo: Double) -> Bool { abs(renderer.transport.pulse.tempo / tempo - 1) < 0.001 }
    // In the middle of the piece there is a tempo, and no place yet.
    #expect(until { second.transportRole == .clockTempo && hasTempo(97) })
    #expect(renderer.transport.isRolling && renderer.transport.isLed && renderer.transport.pulse.beats == 3)
    #expect(!second.perform(.roll))

    try master.perform("halt")
    #expect(until { second.transportRole == .clock && !renderer.transport.isRolling })
    // Nobody else says where it is.
    #expect(second.perform(.roll))
    try master.perform("locate bar 4")
    #expect(until { quarters(slave) == 12 })
    try master.perform("roll")
    #expect(until { renderer.transport.isRolling && quarters(slave) > 14 })
    try master.perform("tempo 141")
    #expect(until { hasTempo(141) && quarters(slave) > 20 })
    // Both stand where the same tick was the last.
    try master.perform("halt")
    #expect(until { !renderer.transport.isRolling && !master.engine.renderer.transport.isRolling })
    let ticks = 24 * (quarters(slave) - quarters(master))
    let inPeriod = 24 * Double(period) * 141 / (60 * 48000)
    #expect(abs(ticks) < 0.3 + inPeriod, "\(ticks) ticks")
    #expect(renderer.transport.jumps <= 4)

    let passed = Set(listener.messages.map(\.bytes.first))
    #expect(passed.isSuperset(of: [0xF8, 0xFB, 0xFC, 0xF2]), "\(passed)")

    // The sender dies while it moves.
    try master.perform("roll")
    #expect(until { renderer.transport.isRolling && hasTempo(141) })
    first.stop()
    #expect(wait { second.transportRole == .clockLost })
    // The last ticks of a sender that ends may come late on a busy machine.
    #expect(renderer.transport.isRolling && !renderer.transport.isLed)
    #expect(abs(renderer.transport.pulse.tempo / 141 - 1) < 0.01, "\(renderer.transport.pulse.tempo)")
    let before = quarters(slave)
    #expect(wait { quarters(slave) > before + 1 })
    // The patch's own again.
    second.update(transport: .off)
    try slave.perform("transport off")
    #expect(until { renderer.transport.pulse.tempo == 60 && second.transportRole == .own })
  }

  /// Without a node that listens to MIDI the driver has a port for the clock.
  @Test func aPatchWithoutMIDIHasAPortForTheClock() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let master = try LiveGraph(
      "tempo 133\ntransport off\nnode clock transport\nnode o midiout port=beats connect=slave:*\nconnect clock.events -> o"
    )
    let slave = try LiveGraph("node out output")
    var options = server.options()
    options.jack.clientName = "slave"
    options.startsServer = false
    let supervisor = Supervisor(engine: slave.engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    let probe = try #require(TestClient(server: server.name))
    func until(_ condition: () -> Bool) -> Bool {
      wait {
        supervisor.poll()
        slave.engine.collect()
        master.engine.collect()
        return condition()
      }
    }
    #expect(!probe.ports(of: "slave").contains("slave:midi"))
    supervisor.update(transport: .midi)
    #expect(until { probe.ports(of: "slave").contains("slave:midi") })
    #expect(supervisor.transportRole == .noClock)
    let first = try server.driver(of: master, named: "master")
    defer { first.stop() }
    let transport = slave.engine.renderer
    #expect(
      until { supervisor.transportRole == .clockTempo && abs(transport.transport.pulse.tempo - 133) < 0.2 })
    // A server that dies takes the clock with it, and brings it back.
    supervisor.update(transport: .follow)
    #expect(
      until { !probe.ports(of: "slave").contains("slave:midi") && supervisor.transportRole == .follows })
  }
}
