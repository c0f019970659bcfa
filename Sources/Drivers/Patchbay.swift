import CJack
import Dispatch
import Glibc
import Realtime
import Synchronization

/// A JACK client without ports and without a process callback: it shows all programs of a server with their
/// connections, and keeps the connections that a patch wishes for. It finds the server whenever there is one. Its calls
/// to the server run on a queue of its own, so no method waits. Any thread.
public final class Patchbay: @unchecked Sendable {
  /// Its knowledge of the server.
  public struct Picture: Sendable {
    /// The server's ports and connections.
    public var graph = ServerGraph()
    /// Connections that the patch wishes for, and that somebody ended elsewhere.
    public var declined: Set<ServerGraph.Link> = []
    /// Connections that the patch does not wish for, and that vanished with a program.
    public var gone: Set<ServerGraph.Link> = []
    /// The programs that they led to, with the ports that they had.
    public var ghosts: [String: [ServerGraph.Port]] = [:]
    /// Differs after each change.
    public var number = 0

    /// A server with these ports and connections; by default none.
    public init(
      graph: ServerGraph = ServerGraph(), declined: Set<ServerGraph.Link> = [],
      gone: Set<ServerGraph.Link> = [], ghosts: [String: [ServerGraph.Port]] = [:], number: Int = 0
    ) {
      (self.graph, self.declined, self.number) = (graph, declined, number)
      (self.gone, self.ghosts) = (gone, ghosts)
    }
  }

  private let options: JackClientOptions
  private let queue = DispatchQueue(label: "sostenuto.patchbay")
  private let known = Mutex(Picture())
  private let hasStopped = Atomic<Bool>(false)
  /// The client with its events; on `queue` alone, as is all below.
  private var opened: (client: JackPointer, events: PatchbayEvents)?
  private var keeper = WishKeeper()
  private var latest: Set<String> = []
  private var isLookDue = false
  private var retryDelay = firstRetry
  /// The program's own client, whose driver has wishes of its own.
  private var own = ""
  /// Ports of the programs that run, and of those that connections of `keeper.found` are kept for.
  private var seen: [String: [ServerGraph.Port]] = [:]

  private static let firstRetry = 0.1
  /// Seconds between two looks for a server.
  private static let pause = 1.0
  /// Seconds for the changes of a burst to come together.
  private static let burst = 0.03

  /// The time in seconds, from any beginning.
  private let clock: @Sendable () -> Double

  /// A patchbay of the server that the options name; nothing happens before `start`.
  public convenience init(_ options: JackClientOptions) {
    self.init(options) { Double(monotonicTime()) * 1e-9 }
  }

  /// The same, by another clock.
  init(_ options: JackClientOptions, clock: @escaping @Sendable () -> Double) {
    self.clock = clock
    var options = options
    options.clientName =
      String(options.clientName.prefix(max(0, JackClientOptions.longestName - Self.suffix.count)))
      + Self.suffix
    self.options = options
  }

  private static let suffix = "-patchbay"

  /// Nanoseconds without an answer after which a server counts as one that hangs.
  private static let patience: Int64 = 700_000_000
  /// When the server was asked something that it has not answered yet; 0: nothing waits.
  private let asked = Atomic<Int64>(0)

  /// True while a server runs and does not answer.
  public var isUnanswered: Bool {
    let asked = asked.load(ordering: .relaxed)
    return asked != 0 && monotonicTime() - asked > Self.patience
  }

  /// Runs calls to the server on `queue`.
  private func ask(_ body: @escaping @Sendable () -> Void) {
    queue.async { [self] in asking(body) }
  }

  private func asking(_ body: () -> Void) {
    asked.store(monotonicTime(), ordering: .relaxed)
    body()
    asked.store(0, ordering: .relaxed)
  }

  /// Begins to look for the server.
  public func start() { ask { [self] in open() } }

  /// Ends it; connections stay.
  public func stop() {
    hasStopped.store(true, ordering: .relaxed)
    let closed = Semaphore()
    queue.async { [self] in
      close()
      closed.signal()
    }
    // A server that hangs may never answer.
    _ = closed.wait(seconds: 1)
  }

  /// Ports that came or went before the last look that knew of any: JACK tells of them in order.
  var latestPorts: Set<String> { queue.sync { latest } }

  /// True while it is not known yet whether somebody has ended a connection that is missing.
  var isUncertain: Bool { queue.sync { keeper.isUncertain } }

  /// The latest picture.
  public var picture: Picture { known.withLock { $0 } }

  /// Sets the cables that the patch wishes for. `own`: name of the program's own client, empty without one.
  public func wish(_ wishes: [ConnectionWish], own: String) {
    ask { [self] in
      self.own = own
      keeper.found.own = own
      let removed = keeper.wish(wishes)
      if !removed.isEmpty { forget(removed) }
      look()
    }
  }

  /// Ends connections that the patch does not wish for, also those that are gone with a program.
  public func end(_ links: Set<ServerGraph.Link>) {
    ask { [self] in
      keeper.found.end(links)
      if let client = opened?.client {
        for link in links.sorted() { jack_disconnect(client.raw, link.source, link.destination) }
      }
      look()
    }
  }

  /// Makes connections that `end` has ended, now or when their programs are back.
  public func recall(_ links: Set<ServerGraph.Link>) {
    ask { [self] in
      keeper.found.recall(links)
      look()
    }
  }

  /// The driver's own wishes are not to bring back what the patch no longer has.
  private func forget(_ removed: [ConnectionWish]) {
    guard !own.isEmpty else { return }
    options.wishes.forget { [own] port, other in
      let full = own + ":" + port
      return removed.contains {
        $0.holds(ServerGraph.Link(full, other)) || $0.holds(ServerGraph.Link(other, full))
      }
    }
  }

  /// Waits until the server has been looked at, or was looked for in vain; true if it runs.
  public func awaitServer(seconds: Double) -> Bool {
    let done = Semaphore()
    queue.async { done.signal() }
    let end = nanoseconds() + Int64(seconds * 1e9)
    // One that hangs is told at once.
    while !done.wait(seconds: 0.05), nanoseconds() < end, !isUnanswered {}
    return picture.graph.isRunning
  }

  /// The server as it is now. Waits for it, some seconds at most; throws when there is none, or no answer.
  public static func look(_ options: JackClientOptions) throws(DriverError) -> Picture {
    JackMessages.capture()
    let client = try JackClients.open(options, within: 3)
    let picture = Picture(graph: ServerGraph(reading: client.raw))
    let closed = Semaphore()
    JackClients.close(client, on: DispatchQueue(label: "sostenuto.patchbay.look")) { closed.signal() }
    _ = closed.wait(seconds: 2)
    return picture
  }

  // MARK: The client

  private func open() {
    guard !hasStopped.load(ordering: .relaxed), opened == nil else { return }
    JackMessages.capture()
    guard let client = try? JackClients.open(options, within: 1e6) else { return openLater() }
    let events = PatchbayEvents { [weak self, queue] in queue.async { [weak self] in self?.lookSoon() } }
    opened = (client, events)
    setPatchbayCallbacks(of: client.raw, to: events)
    guard jack_activate(client.raw) == 0 else {
      close()
      return openLater()
    }
    look()
  }

  private func openLater() {
    queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      guard let self else { return }
      asking { self.open() }
    }
  }

  private func close() {
    guard let (client, events) = opened else { return }
    opened = nil
    keeper.loseAll()
    JackClients.close(client, on: DispatchQueue(label: "sostenuto.patchbay.close")) {
      if !events.hasFailed.load(ordering: .acquiring) { jack_deactivate(client.raw) }
    } then: {
      // JACK holds a pointer to them until then.
      withExtendedLifetime(events) {}
    }
    publish(ServerGraph())
  }

  private func publish(_ graph: ServerGraph) {
    let (declined, gone) = (keeper.declined, keeper.found.gone.subtracting(graph.links))
    // A program that ends loses one port after the other.
    let ends = Set(gone.flatMap { [$0.source, $0.destination] })
    seen.merge(graph.ports) { old, new in new + old.filter { ends.contains($0.fullName) && !new.contains($0) }
    }
    let kept = Set(gone.flatMap { [$0.source, $0.destination] }.map { String($0.prefix { $0 != ":" }) })
    seen = seen.filter { graph.ports[$0.key] != nil || kept.contains($0.key) }
    let ghosts = seen.filter { graph.ports[$0.key] == nil }
    known.withLock {
      guard $0.graph != graph || $0.declined != declined || $0.gone != gone || $0.ghosts != ghosts else {
        return
      }
      $0 = Picture(graph: graph, declined: declined, gone: gone, ghosts: ghosts, number: $0.number + 1)
    }
  }

  // MARK: Looks

  private func lookSoon(after seconds: Double = burst) {
    guard !isLookDue else { return }
    isLookDue = true
    queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self else { return }
      isLookDue = false
      asking { self.look() }
    }
  }

  /// Compares the server's connections with the wishes, and makes and ends those that are due.
  private func look() {
    guard let (client, events) = opened else { return publish(ServerGraph()) }
    guard !events.hasFailed.load(ordering: .acquiring) else {
      close()
      return openLater()
    }
    let news = events.takeNews()
    let lost = Set(news.compactMap { if case .port(let name) = $0 { name } else { nil } })
    if !lost.isEmpty { latest = lost }
    for new in news {
      switch new {
      case .port(let name): keeper.lose(name)
      case .connection(let link): keeper.record(link)
      }
    }
    var graph = ServerGraph(reading: client.raw)
    let changes = keeper.look(graph, at: clock())
    var isRefused = false
    for link in changes.end where jack_disconnect(client.raw, link.source, link.destination) == 0 {
      graph.links.remove(link)
    }
    for link in changes.make {
      let error = jack_connect(client.raw, link.source, link.destination)
      // JACK refuses a port whose client is not active yet, and tells nobody when that client becomes active.
      if error == 0 || error == EEXIST {
        graph.links.insert(link)
        keeper.record(link)
      } else {
        isRefused = true
      }
    }
    publish(graph)
    if isRefused {
      lookSoon(after: retryDelay)
      retryDelay = min(2 * retryDelay, 5)
    } else {
      retryDelay = Self.firstRetry
      if keeper.isUncertain { lookSoon(after: WishKeeper.patience) }
    }
  }
}

/// Notifications for a patchbay, on JACK's thread.
final class PatchbayEvents: Sendable {
  let hasFailed = Atomic<Bool>(false)
  /// Bits of the client's pointer.
  let client = Atomic<UInt>(0)
  /// Called when something has changed; returns at once.
  let onChange: @Sendable () -> Void
  private let news = Mutex<[News]>([])

  enum News {
    /// A port has come or gone.
    case port(String)
    /// A connection was made.
    case connection(ServerGraph.Link)
  }

  init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

  func note(_ new: News) { news.withLock { $0.append(new) } }

  /// News since the last call, in order.
  func takeNews() -> [News] {
    news.withLock { news in
      let taken = news
      news = []
      return taken
    }
  }
}

extension ServerGraph {
  /// The server's present state. Waits for the server.
  init(reading client: OpaquePointer) {
    var ports: [Port] = []
    var links: Set<Link> = []
    for full in Self.strings(jack_get_ports(client, nil, nil, 0)) {
      guard let port = jack_port_by_name(client, full), let colon = full.firstIndex(of: ":"),
        let type = jack_port_type(port).map({ String(cString: $0) }),
        type == JACK_DEFAULT_AUDIO_TYPE || type == JACK_DEFAULT_MIDI_TYPE
      else { continue }
      let isInput = UInt32(jack_port_flags(port)) & JackPortIsInput.rawValue != 0
      ports.append(
        Port(
          String(full[..<colon]), String(full[full.index(after: colon)...]), isInput: isInput,
          isEvents: type == JACK_DEFAULT_MIDI_TYPE))
      if isInput { continue }
      for other in Self.strings(jack_port_get_all_connections(client, port)) {
        links.insert(Link(full, other))
      }
    }
    self.init(ports, links: links)
  }

  private static func strings(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
    guard let list else { return [] }
    defer { jack_free(list) }
    var result: [String] = []
    while let text = list[result.count] { result.append(String(cString: text)) }
    return result
  }
}
