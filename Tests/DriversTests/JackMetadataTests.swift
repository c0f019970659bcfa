import CJack
import Dispatch
import Glibc
import Patch
import Synchronization
import Testing

@testable import Drivers
@testable import Engine

/// What other programs are told of our ports.
@Suite(.serialized) @MainActor struct JackMetadataTests {
  private nonisolated static let base = "http://jackaudio.org/metadata/"
  private static let owner = "urn:sostenuto:process"

  private func value(_ uuid: UInt64, _ key: String) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    var type: UnsafeMutablePointer<CChar>?
    let error = JackDatabase.exclusively { jack_get_property(uuid, key, &value, &type) }
    guard error == 0, let value else { return nil }
    defer {
      jack_free(value)
      jack_free(type)
    }
    return String(cString: value)
  }

  private func write(_ uuid: UInt64, _ key: String, _ value: String, by author: TestClient) -> Bool {
    JackDatabase.exclusively { jack_set_property(author.client, uuid, key, value, "text/plain") } == 0
  }

  private func number(_ port: String, _ probe: TestClient) -> UInt64 {
    jack_port_by_name(probe.client, port).map { jack_port_uuid($0) } ?? 0
  }

  @Test func portsHaveNamesAndOrderOfThePatchAndNothingIsLeftOfThem() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(
      """
      node line input channels=1
      node out output channels=2
      node drums output channels=3
      connect line -> out
      connect line -> drums
      """)
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    let probe = try #require(TestClient(server: server.name))
    func names(_ ports: [String], _ key: String) -> [String?] {
      ports.map { value(number($0, probe), Self.base + key) }
    }
    let ports = [
      "line_1", "out_1", "out_2", "drums_1", "drums_2", "drums_3",
    ].map { "sostenuto:\($0)" }
    let polled = {
      supervisor.poll()
      graph.engine.collect()
    }
    #expect(
      wait {
        polled()
        return names(ports, "pretty-name") == [
          "line", "out left", "out right", "drums 1", "drums 2", "drums 3",
        ]
      }, "\(names(ports, "pretty-name"))")
    #expect(wait { names(ports, "signal-type") == Array(repeating: "AUDIO", count: 6) })
    let orders = names(ports, "order").compactMap { $0.flatMap { Int($0) } }
    #expect(orders == [0, 1, 2, 3, 4, 5])
    func aliases(_ ports: [String]) -> [String] {
      ports.flatMap { port in jack_port_by_name(probe.client, port).map(JackPorts.aliases) ?? [] }
    }
    #expect(
      aliases(["sostenuto:out_2", "sostenuto:drums_3"]) == ["sostenuto:out right", "sostenuto:drums 3"])
    let numbers = ports.map { number($0, probe) }
    // A renamed node's ports follow; a removed one's leave nothing.
    try graph.perform("rename drums kit")
    try graph.perform("remove out")
    #expect(
      wait {
        polled()
        return value(numbers[3], Self.base + "pretty-name") == "kit 1"
          && value(numbers[1], Self.base + "pretty-name") == nil
      })
    #expect(wait { aliases(["sostenuto:kit_3"]) == ["sostenuto:kit 3"] })
    supervisor.stop()
    for number in numbers {
      for key in [Self.base + "pretty-name", Self.base + "order", Self.owner] {
        #expect(value(number, key) == nil)
      }
    }
  }

  @Test func aKilledServersPropertiesAndThoseOfAKilledProcessDoNotNameTheNextOnesPorts() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("node out output channels=2")
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    var numbers: [UInt64] = []
    do {
      let probe = try #require(TestClient(server: server.name))
      #expect(wait { value(number("sostenuto:out_2", probe), Self.owner) != nil })
      numbers = [number("sostenuto:out_1", probe), number("sostenuto:out_2", probe)]
    }
    server.crash()
    #expect(
      wait {
        supervisor.poll()
        return numbers.allSatisfy {
          value($0, Self.base + "pretty-name") == nil && value($0, Self.owner) == nil
        }
      })
    supervisor.stop()
    // A process that is no more.
    var gone: pid_t = 0
    var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
    defer { free(words[0]) }
    #expect(posix_spawnp(&gone, "true", nil, nil, &words, nil) == 0)
    waitpid(gone, nil, 0)
    let (left, foreign): (UInt64, UInt64) = (0x1_0000_0F01, 0x1_0000_0F02)
    try server.restart()
    let author = try #require(TestClient(server: server.name, name: "author"))
    for (subject, name) in [(left, "old"), (foreign, "theirs")] {
      #expect(write(subject, Self.base + "pretty-name", name, by: author))
      #expect(write(subject, Self.owner, "\(gone)\nold\n7", by: author))
    }
    defer {
      _ = JackDatabase.exclusively {
        jack_remove_property(author.client, foreign, Self.base + "pretty-name")
      }
    }
    let second = try JackDriver(renderer: graph.engine.renderer, options: server.options().jack)
    defer { second.stop() }
    second.update(graph.engine.endpoints)
    try second.start()
    #expect(wait { value(left, Self.base + "pretty-name") == nil && value(left, Self.owner) == nil })
    #expect(wait { value(foreign, Self.owner) == nil })
    // Another client has named it since.
    #expect(value(foreign, Self.base + "pretty-name") == "theirs")
  }

  @Test func hundredsOfPortsAreNamedAndOrdered() throws {
    let server = try JackTestServer(extra: ["-p", "1024"])
    defer { server.stop() }
    let graph = try LiveGraph((0..<3).map { "node wide\($0) output channels=64" }.joined(separator: "\n"))
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    defer { supervisor.stop() }
    let probe = try #require(TestClient(server: server.name))
    #expect(
      wait {
        supervisor.poll()
        return value(number("sostenuto:wide2_64", probe), Self.base + "order") == "191"
      })
    #expect(wait { value(number("sostenuto:wide1_1", probe), Self.base + "pretty-name") == "wide1 1" })
    #expect(probe.ports(of: "sostenuto").count == 192)
  }

  /// A server that is told of a closed client's ports one after the other blocks when they are many, and every other
  /// program's sound stops.
  @Test(arguments: [1, 24, 64])
  func aServerOutlivesAClientOfManyPorts(channels: Int) throws {
    let server = try JackTestServer(extra: ["-p", "1024"])
    let graph = try LiveGraph(
      (0..<3).map { "node wide\($0) output channels=\(channels)" }.joined(separator: "\n"))
    let supervisor = Supervisor(engine: graph.engine, options: server.options())
    supervisor.start()
    let probe = try #require(TestClient(server: server.name))
    // A server tells of a port that goes only where the port has properties.
    #expect(
      wait {
        supervisor.poll()
        return value(number("sostenuto:wide2_\(channels)", probe), Self.base + "order")
          == "\(3 * channels - 1)"
      })
    do {
      // An engine that was never started has ports too.
      var options = server.options().jack
      options.clientName = "idle"
      let idle = try JackDriver(renderer: graph.engine.renderer, options: options)
      idle.update(graph.engine.endpoints)
      #expect(wait { probe.ports(of: "idle").count == 3 * channels })
    }
    supervisor.stop()
    #expect(wait { probe.ports(of: "idle|sostenuto").isEmpty })
    // No client opens or closes until the server has ended: while one waits for a server that blocks, libjack
    // holds a lock that this needs.
    server.stop()
    withExtendedLifetime(probe) {}
  }

  /// Two threads in libjack's database can wait for each other for ever, and with them each program that opens a client.
  @Test func namesAreReadWhileOthersAreAddedAndRemovedAndNobodyWaitsForEver() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let author = try #require(TestClient(server: server.name, name: "author"))
    nonisolated(unsafe) let metadata = JackMetadata(client: author.client)
    let subjects = (0..<32).map { UInt64(0x1_0000_0E00 + $0) }
    let (isWritten, ended) = (Signal(), DispatchGroup())
    DispatchQueue(label: "writer").async(group: ended) {
      for round in 0..<40 {
        let wanted = subjects.filter { ($0 + UInt64(round)) % 3 != 0 }
          .map { ($0, JackMetadata.port("port \(round % 2)", order: Int($0 % 32))) }
        while !metadata.update(Dictionary(uniqueKeysWithValues: wanted)) {}
      }
      metadata.removeAll()
      isWritten.value.store(true, ordering: .releasing)
    }
    DispatchQueue(label: "reader").async(group: ended) {
      while !isWritten.value.load(ordering: .acquiring) {
        for subject in subjects { _ = JackMetadata.value(subject, Self.base + "pretty-name") }
      }
    }
    // Without a limit: the client may not go while a thread uses it.
    ended.wait()
    #expect(subjects.allSatisfy { value($0, Self.base + "pretty-name") == nil })
  }
}

private final class Signal: Sendable { let value = Atomic<Bool>(false) }
