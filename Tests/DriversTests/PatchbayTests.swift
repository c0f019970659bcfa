import CJack
import Glibc
import Synchronization
import Testing

@testable import Drivers

/// The patchbay against a real server, with programs of our own, while others connect and disconnect.
@MainActor @Suite(.serialized) struct PatchbayTests {
  private typealias Link = ServerGraph.Link
  private typealias End = ConnectionWish.End

  /// A program with two audio ports and a MIDI port on each side.
  private final class Program {
    let client: OpaquePointer

    init?(_ name: String, on server: JackTestServer) {
      var status = JackStatus(0)
      guard let client = JackClients.open(name, of: server.name, &status, waiting: 3) else { return nil }
      self.client = client
      for (flags, side) in [(JackPortIsInput, "in"), (JackPortIsOutput, "out")] {
        for number in 1...2 {
          jack_port_register(
            client, "\(side)_\(number)", JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0)
        }
        jack_port_register(client, "midi \(side)", JACK_DEFAULT_MIDI_TYPE, UInt(flags.rawValue), 0)
      }
      jack_activate(client)
    }

    func connect(_ source: String, _ destination: String) -> Bool {
      jack_connect(client, source, destination) == 0
    }

    func disconnect(_ source: String, _ destination: String) -> Bool {
      jack_disconnect(client, source, destination) == 0
    }

    func add(_ port: String) {
      jack_port_register(client, port, JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsInput.rawValue), 0)
    }

    deinit { jack_client_close(client) }
  }

  /// The patchbay's time, which stands: what others do takes no longer than the test says, however busy the machine is.
  private final class Clock: Sendable {
    private let now = Mutex(0.0)
    var seconds: Double { now.withLock { $0 } }
    func goOn(_ seconds: Double = 1) { now.withLock { $0 += seconds } }
  }

  private let clock = Clock()

  private func patchbay(_ server: JackTestServer) -> Patchbay {
    var options = JackClientOptions()
    options.server = server.name
    let patchbay = Patchbay(options) { [clock] in clock.seconds }
    patchbay.start()
    return patchbay
  }

  /// Waits until the patchbay knows of all that happened before `a` gets another port.
  private func catchUp(_ patchbay: Patchbay, _ a: Program, _ number: Int) -> Bool {
    a.add("last \(number)")
    return wait { patchbay.latestPorts.contains("a:last \(number)") }
  }

  private let pair = [Link("a:out_1", "b:in_1"), Link("a:out_2", "b:in_2")]
  private let wish = ConnectionWish(End("a", ["out_*"]), End("b", ["in_*"]))

  /// The ports and connections as the tools of JACK list them.
  private func list(_ server: JackTestServer) -> String {
    let probe = TestClient(server: server.name)
    return ["a", "b", "b-01"].flatMap { name in
      (probe?.ports(of: name) ?? []).flatMap { port in
        (probe?.connections(of: port) ?? []).map { "\(port)>\($0)" }
      }
    }.joined(separator: " ")
  }

  @Test func itShowsEveryProgramAndWhatOthersConnectAsItHappens() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let patchbay = patchbay(server)
    defer { patchbay.stop() }
    #expect(wait { patchbay.picture.graph.programs == ["system"] })
    let a = try #require(Program("a", on: server))
    var b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.programs == ["a", "b", "system"] })
    let ports = patchbay.picture.graph.ports["a"] ?? []
    #expect(ports.filter(\.isEvents).map(\.name).sorted() == ["midi in", "midi out"])
    #expect(ports.filter(\.isInput).map(\.name).sorted() == ["in_1", "in_2", "midi in"])
    #expect(a.connect("a:out_1", "b:in_2") && a.connect("a:midi out", "b:midi in"))
    #expect(
      wait { patchbay.picture.graph.links == [Link("a:out_1", "b:in_2"), Link("a:midi out", "b:midi in")] })
    #expect(a.disconnect("a:out_1", "b:in_2"))
    #expect(wait { patchbay.picture.graph.links == [Link("a:midi out", "b:midi in")] })
    b = nil
    #expect(
      wait { patchbay.picture.graph.programs == ["a", "system"] && patchbay.picture.graph.links.isEmpty })
    // It has no ports, and leaves what is found as it is.
    b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.programs == ["a", "b", "system"] })
    #expect(patchbay.picture.graph.links.isEmpty)
    withExtendedLifetime(b) {}
  }

  @Test func aWishComesBackWithItsProgramAndStaysEndedWhenOthersEndIt() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let patchbay = patchbay(server)
    defer { patchbay.stop() }
    patchbay.wish([wish], own: "")
    let a = try #require(Program("a", on: server))
    var b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.links == Set(pair) })
    #expect(wait { list(server).hasPrefix("a:out_1>b:in_1 a:out_2>b:in_2") }, "\(list(server))")
    for _ in 0..<3 {
      b = nil
      #expect(wait { patchbay.picture.graph.links.isEmpty })
      b = Program("b", on: server)
      #expect(wait { patchbay.picture.graph.links == Set(pair) })
      #expect(patchbay.picture.declined.isEmpty)
    }
    // Under another name too, while the old one is there no longer.
    b = nil
    b = Program("b-01", on: server)
    #expect(
      wait { patchbay.picture.graph.links == [Link("a:out_1", "b-01:in_1"), Link("a:out_2", "b-01:in_2")] })
    b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.links == Set(pair) }, "\(patchbay.picture.graph.links)")
    // JACK may tell of a port after its first connection: then what somebody ends at once counts as gone with the port.
    #expect(catchUp(patchbay, a, 1))
    // Somebody else ends one of the two.
    #expect(a.disconnect("a:out_2", "b:in_2"))
    #expect(wait { patchbay.isUncertain })
    clock.goOn()
    #expect(wait { patchbay.picture.declined == [pair[1]] })
    #expect(patchbay.picture.graph.links == [pair[0]])
    // Its cable removed and made anew, it is connected again.
    patchbay.wish([], own: "")
    #expect(wait { patchbay.picture.graph.links.isEmpty && patchbay.picture.declined.isEmpty })
    patchbay.wish([wish], own: "")
    #expect(wait { patchbay.picture.graph.links == Set(pair) })
    withExtendedLifetime(b) {}
  }

  @Test func whatOthersConnectedStaysWithAGhostAndComesBackWithItsProgram() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let patchbay = patchbay(server)
    defer { patchbay.stop() }
    let a = try #require(Program("a", on: server))
    var b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.programs == ["a", "b", "system"] })
    // A program that connects itself is quicker.
    #expect(catchUp(patchbay, a, 1))
    clock.goOn()
    #expect(a.connect("a:out_1", "b:in_1"))
    #expect(wait { patchbay.picture.graph.links == [pair[0]] })
    for _ in 0..<2 {
      b = nil
      #expect(wait { patchbay.picture.gone == [pair[0]] })
      #expect(wait { patchbay.picture.ghosts["b"]?.contains { $0.name == "in_1" } == true })
      #expect(patchbay.picture.ghosts.count == 1)
      b = Program("b", on: server)
      #expect(wait { patchbay.picture.graph.links == [pair[0]] }, "\(patchbay.picture)")
      #expect(patchbay.picture.gone.isEmpty && patchbay.picture.ghosts.isEmpty)
    }
    b = nil
    b = Program("b-01", on: server)
    #expect(wait { patchbay.picture.graph.links == [Link("a:out_1", "b-01:in_1")] }, "\(patchbay.picture)")
    // Ended by an edit, and by its undo made again.
    patchbay.end([Link("a:out_1", "b-01:in_1")])
    #expect(wait { patchbay.picture.graph.links.isEmpty })
    patchbay.recall([Link("a:out_1", "b-01:in_1")])
    #expect(wait { patchbay.picture.graph.links == [Link("a:out_1", "b-01:in_1")] })
    // Ended by others, it is forgotten.
    #expect(a.disconnect("a:out_1", "b-01:in_1"))
    #expect(wait { patchbay.picture.graph.links.isEmpty && patchbay.isUncertain })
    clock.goOn()
    #expect(wait { !patchbay.isUncertain })
    b = nil
    #expect(wait { patchbay.picture.graph.programs == ["a", "system"] })
    #expect(patchbay.picture.gone.isEmpty && patchbay.picture.ghosts.isEmpty)
    b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.programs == ["a", "b", "system"] })
    // A removed ghost does not come back.
    #expect(catchUp(patchbay, a, 2))
    clock.goOn()
    #expect(a.connect("a:out_1", "b:in_1"))
    #expect(wait { patchbay.picture.graph.links == [pair[0]] })
    b = nil
    #expect(wait { patchbay.picture.gone == [pair[0]] })
    patchbay.end([pair[0]])
    #expect(wait { patchbay.picture.ghosts.isEmpty })
    b = Program("b", on: server)
    #expect(wait { patchbay.picture.graph.programs == ["a", "b", "system"] })
    #expect(catchUp(patchbay, a, 3))
    #expect(patchbay.picture.graph.links.isEmpty)
    withExtendedLifetime(b) {}
  }

  /// The first port alone goes to both; the second takes its own from it.
  @Test func portsThatComeOneByOneAreConnectedAsIfTheyHadComeAtOnce() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let patchbay = patchbay(server)
    defer { patchbay.stop() }
    patchbay.wish([wish], own: "")
    let b = try #require(Program("b", on: server))
    var status = JackStatus(0)
    let a = try #require(JackClients.open("a", of: server.name, &status, waiting: 3))
    defer { jack_client_close(a) }
    jack_activate(a)
    func register(_ name: String) {
      jack_port_register(a, name, JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
    }
    register("out_1")
    #expect(wait { patchbay.picture.graph.links == [pair[0], Link("a:out_1", "b:in_2")] })
    register("out_2")
    #expect(wait { patchbay.picture.graph.links == Set(pair) }, "\(patchbay.picture.graph.links)")
    #expect(patchbay.picture.declined.isEmpty && patchbay.picture.gone.isEmpty)
    withExtendedLifetime(b) {}
  }

  @Test func itOutlivesItsServer() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let patchbay = patchbay(server)
    defer { patchbay.stop() }
    patchbay.wish([wish], own: "")
    do {
      let programs = try [#require(Program("a", on: server)), #require(Program("b", on: server))]
      #expect(wait { patchbay.picture.graph.links == Set(pair) })
      withExtendedLifetime(programs) {}
    }
    // Closed before: libjack frees what is left of a dead server when a client is opened.
    server.crash()
    #expect(wait { !patchbay.picture.graph.isRunning })
    try server.restart()
    #expect(wait { patchbay.picture.graph.isRunning })
    // A busy server that has just begun may refuse a program at first.
    func open(_ name: String) throws -> Program {
      var program: Program?
      _ = wait {
        program = Program(name, on: server)
        return program != nil
      }
      return try #require(program)
    }
    let programs = try [open("b"), open("a")]
    #expect(
      wait { patchbay.picture.graph.links == Set(pair) },
      "\(patchbay.picture), uncertain: \(patchbay.isUncertain)")
    withExtendedLifetime(programs) {}
  }
}
