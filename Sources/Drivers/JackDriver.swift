import CJack
import Dispatch
import Engine
import Glibc
import Patch
import Realtime
import Synchronization

/// Renders in the process callback of a JACK client. Never starts a server. Calls that wait for the server
/// run on a queue of its own, so no method waits longer than a few seconds for a server that hangs.
public final class JackDriver: Driver, @unchecked Sendable {
  /// "jack".
  public let name = "jack"
  /// Client and server, for messages.
  public let place: String
  /// Name that the server has given to the client.
  public let clientName: String?

  private let client: JackPointer
  private let host: RenderHost
  private let state: JackState
  private let transport: JackTransport
  private let queue = DispatchQueue(label: "sostenuto.jack")
  /// On `queue` alone.
  private let metadata: JackMetadata
  /// Reads the database of properties, which libjack opens at the first use without a lock: so one queue for all clients.
  private static let naming = DispatchQueue(label: "sostenuto.jack.names")
  /// Reads under way. libjack frees the database with the last client, whoever reads it then.
  private let namings = DispatchGroup()
  private let wishes: ConnectionWishes
  /// On `queue` alone, as is every request to the server: libjack mixes up the replies to two threads.
  private let ports: JackPorts
  private let isCheckDue: Latch
  /// A refused connection is to be tried again after `retryDelay` seconds; on `queue` alone.
  private var isRetryDue = false
  private var retryDelay = 0.1
  /// Latest requests of the engine, not executed yet; the server may take long.
  private let requests = Mutex(Requests())
  private let isPaused = Atomic<Bool>(false)
  private let hasStopped = Atomic<Bool>(false)
  /// Bits of a Double, in seconds.
  private let roundTrip = Atomic<UInt64>(0)
  private let knownDevice = Mutex(DeviceChannels())
  private let knownMidiFault = Mutex<String?>(nil)
  private let socket: PipeWireSocket?

  /// Opens the client; throws when no server runs or it does not answer within `seconds`.
  public init(
    renderer: Renderer, options: JackClientOptions = JackClientOptions(), within seconds: Double = 3
  ) throws(DriverError) {
    JackMessages.capture()
    client = try JackClients.open(options, within: seconds)
    socket = PipeWireSocket()
    let rate = Int(jack_get_sample_rate(client.raw))
    let period = Int(jack_get_buffer_size(client.raw))
    let name = String(cString: jack_get_client_name(client.raw))
    clientName = name
    place = "JACK client \(name)" + (options.server.map { " of server \($0)" } ?? "")
    let fades = OutputFades(rate: Double(rate), isHeard: false)
    host = RenderHost(renderer, fades: fades)
    metadata = JackMetadata(client: client.raw)
    wishes = options.wishes
    let latch = Latch()
    isCheckDue = latch
    // The ports of an earlier client have gone with it.
    wishes.markAllLost()
    transport = JackTransport(client: client, host: host)
    state = JackState(
      host: host, fades: fades, client: client, rate: rate, period: period, wishes: wishes,
      transport: transport
    ) { latch.set() }
    ports = JackPorts(client: client.raw, state: state, host: host, options: options)
    if PipeWireSocket.ownsLibrary { state.passesLater = { [weak self] in self?.passLatencies($0) } }
    setJackCallbacks(of: client.raw, to: state)
    latch.action = { [weak self] in self?.scheduleCheck() }
    transport.isOpen = { [weak self] in self?.isOpen ?? false }
  }

  /// The server's sample rate, Hz.
  public var rate: Double { Double(state.rate.load(ordering: .relaxed)) }
  /// Frames of the server's period.
  public var period: Int { state.period.load(ordering: .relaxed) }

  /// Activates the client.
  public func start() throws(DriverError) {
    let result = Mutex<Int32?>(nil)
    let done = Semaphore()
    queue.async { [self] in
      activate { error in
        result.withLock { $0 = error }
        done.signal()
      }
    }
    _ = done.wait(seconds: 3)
    switch result.withLock({ $0 }) {
    case 0: return
    case nil: throw DriverError.silentServer
    default: throw DriverError.clientNotStarted
    }
  }

  /// Name of the port for a channel of an endpoint.
  public static func portName(of endpoint: Endpoint, _ channel: Int) -> String {
    JackPorts.portName(endpoint.name, channel)
  }

  /// Name of a MIDI port.
  public static func portName(of port: MidiPort) -> String { JackPorts.portName(of: port) }

  /// On `queue` alone.
  private func activate(then: (Int32) -> Void = { _ in }) {
    let error = jack_activate(client.raw)
    then(error)
    guard error == 0 else { return }
    ports.activate()
    jack_recompute_total_latencies(client.raw)
    look()
    describePorts()
    retryRefused()
  }

  /// Deactivates the client after a fade: a server waits for clients that do not answer, and repeats their buffers.
  public func withdraw() {
    guard isOpen, !isPaused.load(ordering: .relaxed) else { return }
    fadeOut()
    let done = Semaphore()
    queue.async { [self] in
      ports.deactivate()
      if isOpen { jack_deactivate(client.raw) }
      done.signal()
    }
    _ = done.wait(seconds: 1)
  }

  /// Activates the client again, with its connections.
  public func rejoin() {
    guard isOpen, !isPaused.load(ordering: .relaxed) else { return }
    state.fades.open()
    queue.async { [self] in
      if isOpen { activate() }
    }
  }

  private func fadeOut() {
    state.fades.close(within: min(OutputFades.seconds + 0.02 + 3 * Double(period) / max(rate, 1), 0.5))
  }

  private struct Requests {
    var endpoints: [Endpoint]?
    var midi: [MidiPort]?
    var latencies: [PathLatency]?
    var isScheduled = false
  }

  /// Sets the cards beside it.
  public func use(_ cards: Cards) { host.use(cards) }
  /// Sets the endpoints; ports follow in the background.
  public func update(_ endpoints: [Endpoint]) { request { $0.endpoints = endpoints } }
  /// Sets the wanted MIDI ports; they follow in the background.
  public func update(midi wanted: [MidiPort]) { request { $0.midi = wanted } }
  /// True when PipeWire has been started anew.
  public var isSucceeded: Bool { socket?.isReplaced == true }
  /// True: the driver reports port latencies to JACK.
  public var reportsLatencies: Bool { true }
  /// Sets the latencies that JACK's other clients are told.
  public func update(latencies: [PathLatency]) { request { $0.latencies = latencies } }

  private func request(_ change: (inout Requests) -> Void) {
    let isFirst = requests.withLock {
      change(&$0)
      let isFirst = !$0.isScheduled
      $0.isScheduled = true
      return isFirst
    }
    if isFirst { queue.async { [self] in applyRequests() } }
  }

  /// PipeWire's libjack has a lock during its callbacks. A port's new latency makes it do what waits in its loop, such as
  /// another period, for which it wants that lock: the client would never play.
  private func passLatencies(_ mode: jack_latency_callback_mode_t) {
    queue.async { [weak self] in
      if let self, isOpen { state.passLatencies(mode) }
    }
  }

  private func applyRequests() {
    let wanted = requests.withLock {
      let wanted = $0
      $0 = Requests()
      return wanted
    }
    guard isOpen else { return }
    if let midi = wanted.midi { ports.update(midi: midi) }
    if let endpoints = wanted.endpoints { ports.update(endpoints) }
    if let latencies = wanted.latencies { state.latencies.withLock { $0 = latencies } }
    if ports.isActive, wanted.latencies != nil || wanted.endpoints != nil {
      // Once more for clients in a loop with this one: JACK asks one of the two with the other's old figures.
      for _ in 0..<2 { jack_recompute_total_latencies(client.raw) }
    }
    if wanted.endpoints != nil { look() }
    if wanted.endpoints != nil || wanted.midi != nil { describePorts() }
    retryRefused()
  }

  /// Sets whose transport counts; the lead is taken in the background.
  public func update(transport mode: TransportMode) {
    host.clock.update(mode)
    transport.update(mode, on: queue)
  }
  /// Asks the server, unless its transport does not count. A clock that says where it is does as it likes.
  public func perform(_ change: TransportChange) -> Bool {
    host.clock.role == .clock || transport.perform(change, on: queue)
  }
  /// Source of the transport that counts now.
  public var transportRole: TransportRole { host.clock.role ?? transport.role }

  private var isOpen: Bool { !hasStopped.load(ordering: .relaxed) && state.failure == nil }

  /// Checks the connections shortly after the last of a burst of changes.
  private func scheduleCheck() {
    queue.asyncAfter(deadline: .now() + 0.05) { [weak self] in
      guard let self else { return }
      isCheckDue.clear()
      retryDelay = 0.1
      checkConnections()
    }
  }

  private func checkConnections() {
    guard isOpen else { return }
    ports.checkConnections()
    look()
    retryRefused()
  }

  /// Tries refused connections again after a while, and less and less often.
  private func retryRefused() {
    guard ports.isRefused, !isRetryDue else { return }
    isRetryDue = true
    queue.asyncAfter(deadline: .now() + retryDelay) { [weak self] in
      guard let self else { return }
      isRetryDue = false
      retryDelay = min(2 * retryDelay, 5)
      checkConnections()
    }
  }

  /// Channels that JACK has no room for, and outputs that nobody hears, as last seen.
  public var device: DeviceChannels { knownDevice.withLock { $0 } }

  /// MIDI ports that JACK has no room for, as last seen.
  public var midiFault: String? { knownMidiFault.withLock { $0 } }

  /// Bytes of a system exclusive message that came in a moment ago.
  public func bytes(of exclusive: Event) -> [UInt8]? { host.midi.bytes(of: exclusive) }

  /// Takes note of what the ports' connections are.
  private func look() {
    if ports.isActive { state.checkHeard() }
    let device = ports.device
    knownDevice.withLock { $0 = device }
    let missing = ports.missingMidi.map { "`\($0)`" }.joined(separator: ", ")
    knownMidiFault.withLock {
      $0 = missing.isEmpty ? nil : "the server has no room for the MIDI port \(missing)"
    }
    let seconds = ports.roundTrip(rate: state.rate.load(ordering: .relaxed))
    roundTrip.store(seconds.bitPattern, ordering: .relaxed)
  }

  /// Tells other programs the ports' names and order, as soon as the database of such properties answers.
  private func describePorts() {
    namings.enter()
    Self.naming.async { [self] in
      if isOpen { JackMetadata.awaitDatabase() }
      namings.leave()
      queue.async { [self] in writeProperties() }
    }
  }

  /// A part at a time, since neither other work of the queue nor a client that is being closed waits for names.
  private func writeProperties() {
    guard isOpen else { return }
    var wanted = ports.properties
    if let uuid = clientNumber { wanted[uuid] = JackMetadata.ofClient }
    guard !metadata.update(wanted) else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [weak self] in self?.writeProperties() }
  }

  private var clientNumber: UInt64? {
    guard let text = jack_client_get_uuid(client.raw) else { return nil }
    defer { jack_free(text) }
    var number: jack_uuid_t = 0
    return jack_uuid_parse(text, &number) == 0 ? number : nil
  }

  /// Periods requested by the server.
  public var beats: Int { state.beats.load(ordering: .acquiring) }

  /// Unlimited for a server that freewheels, since it takes as long as its slowest client. Otherwise a
  /// standstill is told within a second, or after three periods where those are long.
  public var patience: Double {
    state.isFreewheeling.load(ordering: .relaxed) ? .infinity : max(0.9, 3 * Double(period) / max(rate, 1))
  }

  /// Gives the renderer up; the client and its ports stay.
  public func pause() {
    isPaused.store(true, ordering: .relaxed)
    _ = host.close()
  }

  /// Takes the renderer back.
  public func resume() {
    isPaused.store(false, ordering: .relaxed)
    host.reopen()
  }

  /// Closes the client, waiting two seconds at most.
  public func stop() {
    guard !hasStopped.exchange(true, ordering: .relaxed) else { return }
    let isAlive = state.failure == nil
    if isAlive, !isPaused.load(ordering: .relaxed) { fadeOut() }
    _ = host.close()
    // Keeps `self`, and with it the callbacks' data, until the client is closed. With a dead or stalled
    // server that may take for ever.
    let closed = Semaphore()
    JackClients.close(client, on: queue) { [self] in
      // A database whose lock a crashed client has does not answer at all.
      _ = namings.wait(timeout: .now() + 2)
      if !isAlive || !metadata.isCleanedByServer { metadata.removeAll(answered: isAlive) }
      guard isAlive else { return }
      if ports.hasMidiOutput { waitForBeat() }
      jack_deactivate(client.raw)
      ports.unregisterAll()
    } then: { [self] in
      withExtendedLifetime(self) { closed.signal() }
    }
    if isAlive, !isPaused.load(ordering: .relaxed) {
      _ = closed.wait(seconds: 2)
    }
  }

  /// Waits until the server has asked for one more period, in which the receivers of MIDI outputs end their notes.
  private func waitForBeat() {
    let seen = beats
    let deadline = nanoseconds() + 200_000_000
    while state.failure == nil, beats < seen + 2, nanoseconds() < deadline {
      sleep(until: nanoseconds() + 1_000_000)
    }
  }

  // Closes a client that was never started, or was dropped: JACK must not call into freed memory.
  deinit {
    guard !hasStopped.load(ordering: .relaxed) else { return }
    let (client, state) = (client, state)
    nonisolated(unsafe) let ports = ports
    JackClients.close(client, on: DispatchQueue(label: "sostenuto.jack.close")) {
      guard state.failure == nil else { return }
      jack_deactivate(client.raw)
      ports.unregisterAll()
    } then: {
      withExtendedLifetime(state) {}
    }
  }

  /// Load, xruns, latency and failure so far.
  public var status: DriverStatus {
    var status = host.status
    status.roundTrip = Double(bitPattern: roundTrip.load(ordering: .relaxed))
    status.isFreewheeling = state.isFreewheeling.load(ordering: .relaxed)
    // JACK's own words of an end without a reason say no more.
    status.failure = state.failure.map {
      $0.isEmpty || $0 == "JACK server has been closed" ? "JACK server gone" : "JACK server gone: \($0)"
    }
    if status.failure == nil, !hasStopped.load(ordering: .relaxed) {
      status.serverLoad = Double(jack_cpu_load(client.raw)) / 100
    }
    return status
  }

  /// A flag that runs its action when it is set, and not again until it is cleared. Any thread but the audio
  /// thread.
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
