import CAudit
import CJack
import Dispatch
import Engine
import Glibc
import Patch
import Testing

@testable import Drivers

/// A JACK server for one test: dummy back end, real-time where permitted, unique name. It ends with the test,
/// whatever the outcome.
@MainActor final class JackTestServer {
  let name: String
  private(set) var server: JackServer
  private static var count = 0

  private let extra: [String]
  private var back: [String]

  init(extra: [String] = [], rate: Int = 48000, period: Int = 64, back more: [String] = []) throws {
    self.extra = extra
    back = Self.dummy(rate, period) + more
    Self.count += 1
    name = "sostenuto-test-\(getpid())-\(Self.count)"
    server = try Self.start(name, extra, back)
  }

  private static func dummy(_ rate: Int, _ period: Int) -> [String] {
    ["-d", "dummy", "-r", "\(rate)", "-p", "\(period)"]
  }

  private static func start(_ name: String, _ extra: [String], _ back: [String]) throws -> JackServer {
    for schedule in [["-R", "-P", "60"], ["--no-realtime"]] {
      let server = try JackServer(arguments: schedule + extra + ["-n", name] + back)
      if wait(upTo: 20, until: { !server.isRunning || TestClient(server: name) != nil }), server.isRunning {
        return server
      }
      server.stop()
    }
    throw NoTestServer.notStarted
  }

  /// Settings of a supervisor that plays on it. `standstill`: seconds after which the clock takes over from it; nil: as users
  /// have it.
  func options(standstill: Double? = nil) -> DriverOptions {
    var options = DriverOptions()
    options.preference = .jack
    options.jack.server = name
    if let standstill { options.standstill = standstill }
    return options
  }

  /// Starts a driver of a graph's engine as a client.
  func driver(
    of graph: LiveGraph, named client: String = JackClientOptions().clientName,
    transport: TransportMode = .off
  ) throws -> JackDriver {
    var options = JackClientOptions()
    (options.server, options.clientName) = (name, client)
    let driver = try JackDriver(renderer: graph.engine.renderer, options: options)
    driver.update(graph.engine.endpoints)
    driver.update(midi: graph.engine.midiPorts)
    driver.update(transport: transport)
    try driver.start()
    return driver
  }

  /// Ends it as `kill -9` would.
  func crash() {
    kill(server.process, SIGKILL)
    var info = siginfo_t()
    while waitid(P_PID, id_t(server.process), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    // Reaps the process: a server of the same name cannot start before.
    _ = server.isRunning
  }

  /// Starts the server again after a crash. Waits until no driver has an open client: libjack frees dead
  /// clients when the next one opens. No other client may be open either. Calls `look` repeatedly meanwhile.
  func restart(while look: () -> Void = {}) throws {
    let isFree = wait {
      look()
      return JackClients.openOrClosing.load(ordering: .acquiring) == 0
    }
    guard isFree else { throw NoTestServer.clientIsLeft }
    server = try Self.start(name, extra, back)
  }

  /// The same with another rate, period and number of physical outputs.
  func restart(rate: Int, period: Int, outputs: Int, while look: () -> Void = {}) throws {
    back = Self.dummy(rate, period) + ["-P", "\(outputs)"]
    try restart(while: look)
  }

  /// Stops the server process until `goOn()`. No client call returns meanwhile.
  func freeze() { kill(server.process, SIGSTOP) }
  func goOn() { kill(server.process, SIGCONT) }

  /// Waits for as long as periods of a second and a busy machine may take: no place in JACK's registry is lost. A server
  /// that does not end by then is one that a client of ours has blocked.
  func stop() {
    if !server.stop(within: 20) { Issue.record("The JACK server hung.") }
    if server.wasKilled { freePlace() }
  }

  /// JACK has eight places for servers, and frees a killed one's only for another of its name, which then ends by itself.
  /// No client of this process may look for that: while one of the killed server is open, libjack takes the new server
  /// for it. So its socket tells that it runs.
  private func freePlace() {
    guard let next = try? JackServer(arguments: ["--no-realtime", "-n", name] + back) else { return }
    _ = wait(upTo: 20) { !next.isRunning || isListening }
    next.stop(within: 20)
  }

  private var isListening: Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: "/dev/shm/jack_\(name)_\(getuid())_0".utf8)
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}

/// A plain client that inspects a server's graph from outside.
final class TestClient {
  let client: OpaquePointer
  let server: String

  init?(server: String, name: String = "probe") {
    signal(SIGPIPE, SIG_IGN)
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
    var status = JackStatus(0)
    guard let client = JackClients.open(name, of: server, &status, waiting: 3) else { return nil }
    self.client = client
    self.server = server
  }

  deinit { jack_client_close(client) }

  func ports(of client: String) -> [String] { names(jack_get_ports(self.client, "^\(client):", nil, 0)) }

  func connections(of port: String) -> [String] {
    guard let port = jack_port_by_name(client, port) else { return [] }
    return names(jack_port_get_all_connections(client, port))
  }

  private func names(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard let list else { return [] }
    defer { jack_free(list) }
    var result: [String] = []
    while let name = list[result.count] { result.append(String(cString: name)) }
    return result
  }
}

/// Two steady tones in which a step can be heard.
enum TwoTones {
  static let patch = """
    node c oscillator freq=261.6Hz level=-20dB
    node e oscillator freq=329.6Hz level=-20dB
    node out output channels=1
    connect c -> out
    connect e -> out
    """
  /// Their own largest step, from their frequencies and amplitudes.
  static let step: Float = 0.1 * 2 * .pi * (261.6 + 329.6) / 48000
}

/// Tests `condition` after each render of any driver of this process, and at intervals while nothing renders.
/// False if it does not hold within `seconds`; the default is generous, for busy machines.
func wait(upTo seconds: Double = 20, until condition: () -> Bool) -> Bool {
  let deadline = monotonicTime() + Int64(seconds * 1e9)
  while true {
    let beat = sostenuto_beat()
    if condition() { return true }
    if monotonicTime() > deadline { return false }
    sostenuto_await_beat(beat, 20_000_000)
  }
}

/// Reason why a test has no JACK server.
private enum NoTestServer: Error {
  case notStarted
  /// A client is left of a server that is gone.
  case clientIsLeft
}
