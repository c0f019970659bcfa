import CJack
import Glibc
import Patch
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

/// Servers that hang.
@Suite(.serialized) @MainActor struct JackHungTests {
  private let seed: UInt64 = 34

  private let text = """
    node tone oscillator level=-20dB
    node a gain
    node out output channels=2
    connect tone -> a
    connect a -> out
    """

  private func until(_ supervisor: Supervisor, _ condition: () -> Bool) -> Bool {
    wait {
      supervisor.poll()
      return condition()
    }
  }

  @Test func whileTheServerStandsStillTheClockPlaysOnAndNothingPilesUpThenItIsAsItWas() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(text)
    let engine = graph.engine
    let supervisor = Supervisor(engine: engine, options: server.options(standstill: 0))
    supervisor.start()
    defer { supervisor.stop() }
    let probe = try #require(TestClient(server: server.name))
    #expect(until(supervisor) { probe.connections(of: "sostenuto:out_2") == ["system:playback_2"] })
    #expect(jack_disconnect(probe.client, "sostenuto:out_1", "system:playback_1") == 0)
    #expect(wait { engine.renderer.time > 640 })

    for round in 1...3 {
      server.freeze()
      #expect(until(supervisor) { supervisor.driver?.name == "clock" })
      #expect(supervisor.isDisturbed)
      #expect(
        supervisor.message
          == "JACK client sostenuto of server \(server.name) stands still: "
          + "playing on through the clock driver until it goes on")
      let time = engine.renderer.time
      #expect(wait { engine.renderer.time > time + 640 })
      let threads = threadCount()
      var most = 0
      for index in 0..<300 {
        try graph.perform(index % 2 == 0 ? "replace a pan" : "replace a gain")
        let now = engine.renderer.time
        #expect(wait { engine.renderer.time > now })
        engine.collect()
        supervisor.poll()
        most = max(most, engine.pending.count)
      }
      // As under a running server: a plan is taken up within the next two periods.
      #expect(most < 20)
      // One for each edit would be hundreds; other tests have threads of their own.
      #expect(threadCount() <= threads + 20)

      // Edits made during the hang take effect when the server goes on.
      try graph.perform("node more\(round) output channels=1 ; connect a -> more\(round)")
      server.goOn()
      #expect(until(supervisor) { supervisor.driver?.name == "jack" })
      #expect(!supervisor.isDisturbed)
      #expect(supervisor.message == "sound is back: JACK client sostenuto of server \(server.name) goes on")
      #expect(until(supervisor) { probe.ports(of: "sostenuto").contains("sostenuto:more\(round)_1") })
      #expect(probe.ports(of: "sostenuto-01").isEmpty)
      #expect(probe.connections(of: "sostenuto:out_2") == ["system:playback_2"])
      #expect(probe.connections(of: "sostenuto:out_1").isEmpty)
      let back = engine.renderer.time
      #expect(wait { engine.renderer.time > back + 640 })
    }
  }

  @Test func aServerThatIsKilledWhileItStandsStillAndStartedAnewIsFound() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(text)
    let supervisor = Supervisor(engine: graph.engine, options: server.options(standstill: 0))
    supervisor.start()
    defer { supervisor.stop() }
    server.freeze()
    #expect(until(supervisor) { supervisor.driver?.name == "clock" })
    server.crash()
    #expect(until(supervisor) { supervisor.message.hasPrefix("JACK server gone") })
    try server.restart()
    #expect(until(supervisor) { supervisor.driver?.name == "jack" })
    #expect(!supervisor.isDisturbed)
    let back = graph.engine.renderer.time
    #expect(wait { graph.engine.renderer.time > back + 640 })
  }

  @Test func whoStopsWhileTheServerStandsStillDoesNotWaitForItAndLeavesNoClientBehind() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(text)
    let supervisor = Supervisor(engine: graph.engine, options: server.options(standstill: 0))
    supervisor.start()
    let probe = try #require(TestClient(server: server.name))
    #expect(until(supervisor) { probe.ports(of: "sostenuto").count == 2 })
    server.freeze()
    #expect(until(supervisor) { supervisor.driver?.name == "clock" })
    // Returns although the server still hangs.
    supervisor.stop()
    #expect(supervisor.driver == nil)
    server.goOn()
    #expect(wait { probe.ports(of: "sostenuto").isEmpty })
  }

  @Test func aPeriodOfASecondIsNoStandstillNorIsFreewheeling() throws {
    let server = try JackTestServer(rate: 8000, period: 8192)
    defer { server.stop() }
    let graph = try LiveGraph(text)
    let supervisor = Supervisor(engine: graph.engine, options: server.options(standstill: 0))
    supervisor.start()
    defer { supervisor.stop() }
    let driver = try #require(supervisor.driver)
    #expect(driver.name == "jack")
    #expect(abs(driver.patience - 3 * 8192.0 / 8000) < 1e-9)
    var isAlways = true
    #expect(
      until(supervisor) {
        isAlways = isAlways && supervisor.driver === driver
        return driver.beats >= 4
      })
    #expect(isAlways)
    let probe = try #require(TestClient(server: server.name))
    #expect(jack_set_freewheel(probe.client, 1) == 0)
    #expect(until(supervisor) { driver.patience == .infinity })
    #expect(jack_set_freewheel(probe.client, 0) == 0)
    #expect(until(supervisor) { driver.patience < 4 })
    #expect(supervisor.driver === driver)
  }

  /// A driver whose beats the test sets.
  private final class Puppet: Driver, @unchecked Sendable {
    let (name, place, rate, period) = ("puppet", "a puppet", 48000.0, 64)
    var beats = 0
    var patience = 1.0
    func start() {}
    func stop() {}
    func update(_ endpoints: [Endpoint]) {}
    var status: DriverStatus { DriverStatus() }
  }

  @Test func aStandstillCountsAsLongAsItIsLookedAtNotWhileTheWholeProgramStoodStill() {
    var random = SeededGenerator(seed: seed)
    print("seed \(seed)")
    for _ in 0..<500 {
      let puppet = Puppet()
      puppet.patience = [1, 1, 3, .infinity].randomElement(using: &random)!
      var watch = Supervisor.Watch()
      var (now, still): (Int64, Double) = (.random(in: 0...1_000_000_000, using: &random), 0)
      for _ in 0..<100 {
        let gap =
          Double.random(in: 0...1, using: &random) < 0.1 ? 20 : Double.random(in: 0...0.3, using: &random)
        now += Int64(gap * 1e9)
        still += gap
        if Double.random(in: 0...1, using: &random) < 0.2 || still > puppet.patience * 0.9 {
          // A beat in the meantime resets the wait.
          puppet.beats += 1
          still = 0
        }
        let hasStalled = watch.hasStalled(puppet, now: now)
        #expect(!hasStalled)
      }
      // Polled at the program's rate, a standstill is found within one poll.
      puppet.beats += 1
      _ = watch.hasStalled(puppet, now: now)
      var polls = 0
      while !watch.hasStalled(puppet, now: now), polls < 500 {
        now += 16_000_000
        polls += 1
      }
      #expect(puppet.patience.isInfinite ? polls == 500 : abs(Double(polls) * 0.016 - puppet.patience) < 0.05)
    }
  }

  private func threadCount() -> Int {
    guard let directory = opendir("/proc/self/task") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }
}
