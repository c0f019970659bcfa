import CJack
import Dispatch
import Engine
import Synchronization

/// How to be a client of JACK.
public struct JackClientOptions: Sendable {
  public var clientName = "sostenuto"
  /// nil: the one that JACK_DEFAULT_SERVER names, or `default`.
  public var server: String?
  /// Whether new output ports are connected to the sound card.
  public var connectsOutputs = true
  /// Whether new input ports are.
  public var connectsInputs = false
  /// Whether MIDI ports are connected to the senders that they are to hear.
  public var connectsMidi = true
  /// Shared by the drivers that follow each other.
  public var memory = ConnectionMemory()

  public init() {}
}

/// Renders in the process callback of a JACK client. Never starts a server. Calls that wait for the
/// server are made on a queue of its own, so no method here waits longer than a few seconds for a
/// server that hangs.
public final class JackDriver: Driver, @unchecked Sendable {
  public let name = "jack"
  public let place: String

  private let client: JackPointer
  private let host: RenderHost
  private let state: JackState
  private let queue = DispatchQueue(label: "sostenuto.jack")
  private let naming = DispatchQueue(label: "sostenuto.jack.names")
  private let memory: ConnectionMemory
  /// On `queue` alone, as is every call that asks the server for something: libjack does not keep
  /// the replies to two threads apart.
  private let ports: JackPorts
  /// The pretty names given so far; on `queue` alone.
  private var named: [UInt64: String] = [:]
  private let isLookDue: Latch
  private let hasStopped = Atomic<Bool>(false)
  /// Bits of a Double, in seconds.
  private let roundTrip = Atomic<UInt64>(0)

  /// Opens the client; throws when no server runs or it does not answer within three seconds.
  public init(renderer: Renderer, options: JackClientOptions = JackClientOptions()) throws(DriverError) {
    JackMessages.capture()
    client = try Self.open(options)
    let rate = Int(jack_get_sample_rate(client.raw))
    let period = Int(jack_get_buffer_size(client.raw))
    let name = String(cString: jack_get_client_name(client.raw))
    place = "JACK client \(name)" + (options.server.map { " of server \($0)" } ?? "")
    host = RenderHost(renderer)
    memory = options.memory
    let latch = Latch()
    isLookDue = latch
    state = JackState(
      host: host, rate: rate, period: period, onChange: { latch.set() },
      onRename: { [memory] old, new in memory.renameOther(old, to: new) })
    ports = JackPorts(client: client.raw, state: state, host: host, options: options)
    setJackCallbacks(of: client.raw, to: state)
    latch.action = { [weak self] in self?.scheduleLook() }
  }

  private static func open(_ options: JackClientOptions) throws(DriverError) -> JackPointer {
    let (name, server) = (options.clientName, options.server)
    let opened = Watched.call(within: 3) {
      var status = JackStatus(0)
      // Without the option, a library that finds no server starts one.
      let client = sostenuto_jack_client_open(name, JackNoStartServer, &status, server)
      return (client.map { JackPointer(raw: $0) }, status.rawValue)
    } late: { client, _ in
      if let client { jack_client_close(client.raw) }
    }
    guard let opened else { throw DriverError("the JACK server does not answer") }
    guard let client = opened.0 else {
      throw DriverError(JackMessages.describe(JackStatus(opened.1), server: server))
    }
    return client
  }

  public var rate: Double { Double(state.rate.load(ordering: .relaxed)) }
  public var period: Int { state.period.load(ordering: .relaxed) }

  public func start() throws(DriverError) {
    let result = Mutex<Int32?>(nil)
    let done = DispatchSemaphore(value: 0)
    queue.async { [self] in
      let error = jack_activate(client.raw)
      result.withLock { $0 = error }
      done.signal()
      guard error == 0 else { return }
      ports.activate()
      measureLatency()
      namePorts()
    }
    _ = done.wait(timeout: .now() + 3)
    switch result.withLock({ $0 }) {
    case 0: return
    case nil: throw DriverError("the JACK server does not answer")
    default: throw DriverError("JACK refused to start the client")
    }
  }

  public func update(_ endpoints: [Endpoint]) {
    queue.async { [self] in
      guard isOpen else { return }
      ports.update(endpoints)
      measureLatency()
      namePorts()
    }
  }

  public func update(midi wanted: [MidiPort]) {
    queue.async { [self] in if isOpen { ports.update(midi: wanted) } }
  }

  private var isOpen: Bool { !hasStopped.load(ordering: .relaxed) && state.failure == nil }

  /// Looks at the connections a moment after the last of a burst of changes.
  private func scheduleLook() {
    queue.asyncAfter(deadline: .now() + 0.05) { [weak self] in
      guard let self else { return }
      isLookDue.clear()
      guard isOpen else { return }
      ports.look()
      measureLatency()
    }
  }

  private func measureLatency() {
    let seconds = ports.roundTrip(rate: state.rate.load(ordering: .relaxed))
    roundTrip.store(seconds.bitPattern, ordering: .relaxed)
  }

  // Swift takes JACK_METADATA_PRETTY_NAME, whose value this is, for a variable.
  private static let prettyNameKey = "http://jackaudio.org/metadata/pretty-name"

  /// Properties live in a database that all clients share, and whoever crashed with its lock held
  /// blocks it. So each is first written elsewhere, telling nobody, and only when that has worked
  /// once more as this client, so that other programs hear of it.
  private func namePorts() {
    let names = ports.prettyNames.filter { named[$0.uuid] != $0.name }
    for (uuid, name) in names { named[uuid] = name }
    guard !names.isEmpty else { return }
    naming.async { [self] in
      for (uuid, name) in names { jack_set_property(nil, uuid, Self.prettyNameKey, name, "text/plain") }
      queue.async { [self] in
        for (uuid, name) in names where isOpen {
          jack_set_property(client.raw, uuid, Self.prettyNameKey, name, "text/plain")
        }
      }
    }
  }

  public func stop() {
    guard !hasStopped.exchange(true, ordering: .relaxed) else { return }
    _ = host.close()
    let isAlive = state.failure == nil
    // Keeps `self`, and with it what the callbacks see, until the client is closed: for ever, if that
    // hangs, as it may with a server that died.
    let closed = DispatchSemaphore(value: 0)
    queue.async { [self] in
      if isAlive { jack_deactivate(client.raw) }
      jack_client_close(client.raw)
      closed.signal()
    }
    if isAlive { _ = closed.wait(timeout: .now() + 2) } else { memory.loseAll() }
  }

  // Never started, or dropped: JACK must not call into what is gone.
  deinit {
    guard !hasStopped.load(ordering: .relaxed) else { return }
    let (client, state) = (client, state)
    DispatchQueue(label: "sostenuto.jack.close").async {
      jack_client_close(client.raw)
      withExtendedLifetime(state) {}
    }
  }

  public var status: DriverStatus {
    var status = host.status
    status.roundTrip = Double(bitPattern: roundTrip.load(ordering: .relaxed))
    status.failure = state.failure.map { $0.isEmpty ? "JACK server gone" : "JACK server gone: \($0)" }
    if status.failure == nil, !hasStopped.load(ordering: .relaxed) {
      status.serverLoad = Double(jack_cpu_load(client.raw)) / 100
    }
    return status
  }

  /// Set once until it is cleared, running its action at that moment. Any thread but the audio thread.
  private final class Latch: @unchecked Sendable {
    /// Assigned once, before JACK can call.
    var action: () -> Void = {}
    private let isSet = Atomic<Bool>(false)

    func set() {
      if !isSet.exchange(true, ordering: .relaxed) { action() }
    }

    func clear() { isSet.store(false, ordering: .relaxed) }
  }
}
