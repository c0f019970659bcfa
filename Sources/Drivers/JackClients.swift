import CJack
import Dispatch
import Glibc
import Realtime
import Recording
import Synchronization

/// The JACK clients of this process. Any thread but the audio thread.
///
/// After a server's death libjack frees all clients of the process when the next one is opened, whoever uses them then
/// (jackd2 1.9.21). So an opening waits until those that are there have been closed: their owners are told of the death
/// one after the other, and close them.
enum JackClients {
  /// Clients that are open, and clients that are being closed.
  static let openOrClosing = Atomic<Int>(0)
  private static let closing = Atomic<Int>(0)
  /// A server has given up a client since the last opening.
  private static let hasLostServer = Atomic<Bool>(false)

  /// Opens a client; throws when no server runs or it does not answer within `seconds`.
  static func open(
    _ options: JackClientOptions, within seconds: Double
  ) throws(DriverError) -> JackPointer {
    let (name, server) = (options.clientName, options.server)
    let asked = server ?? getenv("JACK_DEFAULT_SERVER").map { String(cString: $0) }
    // libjack ends the process for a name that fills its buffers.
    if let asked, asked.utf8.count > JackClientOptions.longestServer { throw DriverError.longServerName }
    let opened = Watched.call(within: seconds) {
      var status = JackStatus(0)
      let client = open(name, of: server, &status)
      return (client.map { JackPointer(raw: $0) }, status.rawValue)
    } late: { client, _ in
      if let client { jack_client_close(client.raw) }
    }
    guard let opened else { throw DriverError.silentServer }
    guard let client = opened.0 else {
      throw .refused(JackMessages.refusal(JackStatus(opened.1)), server: server)
    }
    openOrClosing.wrappingAdd(1, ordering: .relaxed)
    // As a netJACK slave whose master has not told it yet.
    guard jack_get_sample_rate(client.raw) > 0, jack_get_buffer_size(client.raw) > 0 else {
      close(client, on: DispatchQueue(label: "sostenuto.jack.close"), then: {})
      throw .noRate(server: server)
    }
    return client
  }

  /// Opens a client that is not counted, of a running server; nil is the usual one. Waits for others that must be closed
  /// first, `seconds` at most.
  static func open(
    _ name: String, of server: String?, _ status: inout JackStatus, waiting seconds: Double = .infinity
  ) -> OpaquePointer? {
    let end = Double(nanoseconds()) + seconds * 1e9
    while isBlocked, Double(nanoseconds()) < end { sleep(until: nanoseconds() + 5_000_000) }
    return JackDatabase.exclusively {
      // The first client opens the database, maybe once more.
      if openOrClosing.load(ordering: .acquiring) == 0 {
        JackMessages.lacksDatabase.store(false, ordering: .releasing)
      }
      // Without this option, a library that finds no server starts one.
      let client = sostenuto_jack_client_open(name, JackNoStartServer, &status, server)
      if client != nil { hasLostServer.store(false, ordering: .releasing) }
      return client
    }
  }

  /// True while an opening would free a client that is in use.
  private static var isBlocked: Bool {
    closing.load(ordering: .acquiring) > 0
      || hasLostServer.load(ordering: .acquiring) && openOrClosing.load(ordering: .acquiring) > 0
  }

  /// Takes note that a server has given up a client. JACK's threads; neither locks nor waits.
  static func noteLostServer() { hasLostServer.store(true, ordering: .releasing) }

  /// Closes the client on a thread that may wait for ever.
  static func close(
    _ client: JackPointer, on queue: DispatchQueue, first: @escaping @Sendable () -> Void = {},
    then: @escaping @Sendable () -> Void
  ) {
    closing.wrappingAdd(1, ordering: .releasing)
    queue.async {
      first()
      jack_client_close(client.raw)
      closing.wrappingSubtract(1, ordering: .releasing)
      openOrClosing.wrappingSubtract(1, ordering: .releasing)
      then()
    }
  }
}
