/// The connections on a server that a patch does not wish for. Those that vanish with a port are kept until the port is
/// back, and are then made again; those that somebody ends are forgotten.
///
/// A program that connects itself as it starts does so again: its connections are kept only for show, and so are those
/// of our own client, whose driver keeps them.
struct FoundConnections {
  typealias Link = ServerGraph.Link

  /// Name of the program's own client; empty without one.
  var own = ""
  /// Connections that vanished with a port.
  private(set) var gone: Set<Link> = []
  /// Of all, those that are not made again from here.
  private var left: Set<Link> = []
  private var present: Set<Link> = []
  /// Missing although both ports exist, with the time when that was first seen.
  private var missing: [Link: Double] = [:]
  /// Ports of the last look; nil before the first.
  private var known: Set<String>?
  /// When ports were first seen, lately.
  private var arrivals: [String: Double] = [:]

  /// A program that connects itself does so within this time of its port's arrival, in seconds.
  private static let handshake = 0.15

  var isUncertain: Bool { !missing.isEmpty }

  mutating func lose(_ port: String) {
    for link in present.union(missing.keys) where link.source == port || link.destination == port {
      present.remove(link)
      missing[link] = nil
      // Connections of our own ports are the patch's.
      if isOwn(port) { left.remove(link) } else { gone.insert(link) }
    }
    // A new port may have had the name before.
    known?.remove(port)
  }

  mutating func loseAll() {
    gone.formUnion(present.union(missing.keys))
    (present, missing, known, arrivals) = ([], [:], nil, [:])
  }

  /// Forgets connections that are gone.
  mutating func forget(where isMeant: (Link) -> Bool) {
    gone = gone.filter { !isMeant($0) }
    left = left.filter { present.contains($0) || gone.contains($0) }
  }

  /// Forgets connections: somebody has ended them.
  mutating func end(_ links: Set<Link>) {
    forget(where: links.contains)
    present.subtract(links)
    missing = missing.filter { !links.contains($0.key) }
  }

  /// Has connections made again, now or when their ports are back.
  mutating func recall(_ links: Set<Link>) {
    gone.formUnion(links)
    left.subtract(links)
  }

  /// Records that a due connection has been made; false for one that was not due.
  mutating func record(_ link: Link) -> Bool {
    guard gone.remove(link) != nil else { return false }
    present.insert(link)
    return true
  }

  /// Connections that are due. `others`: connections that are no matter of its.
  mutating func look(_ graph: ServerGraph, besides others: Set<Link>, at seconds: Double) -> [Link] {
    note(graph, at: seconds)
    let now = graph.links.subtracting(others)
    for link in now where !present.contains(link) && missing[link] == nil {
      let isBack = gone.remove(link) != nil
      let isNew = arrivals[link.source] != nil || arrivals[link.destination] != nil
      if isOwn(link.source) || isOwn(link.destination) || isNew && !isBack { left.insert(link) }
    }
    missing = missing.filter { !now.contains($0.key) && !others.contains($0.key) }
    for (link, since) in missing where seconds - since >= WishKeeper.patience {
      missing[link] = nil
      left.remove(link)
    }
    for link in present.subtracting(now).subtracting(others) { missing[link] = seconds }
    present = now
    return due(graph, besides: others)
  }

  /// Takes note of the ports that are new.
  private mutating func note(_ graph: ServerGraph, at seconds: Double) {
    let ports = Set(graph.ports.values.joined().map(\.fullName))
    arrivals = arrivals.filter { seconds - $0.value < Self.handshake && ports.contains($0.key) }
    guard let known else { return self.known = ports }
    for port in ports.subtracting(known) { arrivals[port] = seconds }
    self.known = ports
  }

  private mutating func due(_ graph: ServerGraph, besides others: Set<Link>) -> [Link] {
    var due: [Link] = []
    for link in gone where !others.contains(link) {
      var back = link
      if !graph.has(link.source) { back.source = successor(of: link.source, graph) ?? link.source }
      if !graph.has(link.destination) {
        back.destination = successor(of: link.destination, graph) ?? link.destination
      }
      guard graph.has(back.source), graph.has(back.destination) else { continue }
      gone.remove(link)
      guard left.remove(link) == nil else { continue }
      // Until it is seen: the server refuses ports of a program that is not active yet.
      gone.insert(back)
      due.append(back)
    }
    return due
  }

  /// `recorder-01:in` for `recorder:in`, if it has just come: a program that comes back before its old client is gone has
  /// a number.
  private func successor(of port: String, _ graph: ServerGraph) -> String? {
    guard let colon = port.firstIndex(of: ":") else { return nil }
    return (1...9).lazy.map { "\(port[..<colon])-0\($0)\(port[colon...])" }.first { arrivals[$0] != nil }
  }

  private func isOwn(_ port: String) -> Bool { !own.isEmpty && port.hasPrefix(own + ":") }
}
