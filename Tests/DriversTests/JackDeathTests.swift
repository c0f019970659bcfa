import CJack
import Foundation
import Patch
import Testing

@testable import Drivers
@testable import Engine

/// Servers that die, again and again.
@Suite(.serialized) @MainActor struct JackDeathTests {
  private func entries(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  /// Sockets and shared memory that the process has open. Tests beside this one open other files.
  private var connections: Int {
    entries("/proc/self/fd").count {
      let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) ?? ""
      return target.hasPrefix("socket:") || target.hasPrefix("/dev/shm/")
    }
  }

  @Test func fiftyServersInARowDieAndNothingIsLeftOfThem() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(
      "node tone oscillator level=-20dB\nnode out output channels=4\nconnect tone -> out\nnode line input")
    let supervisor = Supervisor(engine: graph.engine, options: server.options(standstill: 0))
    supervisor.start()
    defer { supervisor.stop() }
    // The supervisor waits two seconds after each server that it found; here they pass at once.
    var ahead: Int64 = 0
    func poll() { supervisor.poll(now: monotonicTime() + ahead) }
    var early: (descriptors: Int, threads: Int) = (0, 0)
    for round in 0..<50 {
      let (rate, period) = ([48000, 44100, 96000][round % 3], [64, 256, 16, 1024][round % 4])
      let outputs = [2, 4, 8][round / 2 % 3]
      let time = graph.engine.renderer.time
      switch round % 3 {
      case 0: server.crash()
      case 1: server.stop()
      default:
        server.freeze()
        #expect(
          wait {
            ahead += 5_000_000
            poll()
            return supervisor.driver?.name == "clock"
          })
        server.crash()
      }
      #expect(
        wait {
          poll()
          return supervisor.driver?.name == "clock" && supervisor.isDisturbed
        }, "round \(round)")
      #expect(wait { graph.engine.renderer.time > time + 640 }, "round \(round): the engine stands still")
      try server.restart(rate: rate, period: period, outputs: outputs, while: poll)
      ahead += 6_000_000_000
      #expect(
        wait {
          poll()
          return supervisor.driver?.name == "jack" && !supervisor.isDisturbed
        }, "round \(round): \(supervisor.message)")
      #expect(graph.engine.rate == Double(rate))
      try lookAround(poll, server, outputs: outputs, "round \(round)")
      let found = (connections, entries("/proc/self/task").count)
      if round == 9 { early = found }
      if round > 9 {
        #expect(found.0 <= early.descriptors + 3, "round \(round): descriptors")
        #expect(found.1 <= early.threads + 4, "round \(round): threads")
      }
    }
    supervisor.stop()
    server.stop()
    #expect(wait { JackClients.openOrClosing.load(ordering: .acquiring) == 0 })
    #expect(!entries("/dev/shm").contains { $0.contains(server.name) && $0.contains("sostenuto_") })
  }

  /// libjack frees the clients of a dead server at the next opening: whoever uses one then would end with the process.
  @Test func noClientIsOpenedWhileOneOfADeadServerIsInUse() throws {
    let (server, other) = (try JackTestServer(), try JackTestServer())
    defer {
      other.stop()
      server.stop()
    }
    let graph = try LiveGraph("node out output channels=2")
    let driver = try server.driver(of: graph)
    server.crash()
    #expect(wait { driver.status.failure != nil })

    var options = JackClientOptions()
    options.server = other.name
    #expect(throws: DriverError.silentServer) { _ = try JackClients.open(options, within: 0.3) }
    driver.stop()
    let client = try JackClients.open(options, within: 20)
    let probe = try #require(TestClient(server: other.name))
    #expect(probe.ports(of: "system").count > 0)
    let closed = DispatchSemaphore(value: 0)
    JackClients.close(client, on: DispatchQueue(label: "test")) { closed.signal() }
    #expect(closed.wait(timeout: .now() + 20) == .success)
  }

  /// All ports are there, once, and those that the card has are connected.
  private func lookAround(
    _ poll: () -> Void, _ server: JackTestServer, outputs: Int, _ what: String
  ) throws {
    let probe = try #require(TestClient(server: server.name))
    let connected = (1...min(outputs, 4)).map { "sostenuto:out_\($0)" }
    #expect(
      wait {
        poll()
        return probe.ports(of: "sostenuto").count == 6
          && connected.enumerated().allSatisfy {
            probe.connections(of: $1) == ["system:playback_\($0 + 1)"]
          }
      }, "\(what): \(probe.ports(of: "sostenuto")) \(connected.map { probe.connections(of: $0) })")
    #expect(probe.ports(of: "sostenuto-01").isEmpty)
  }
}
