/// Compares the connections of a server with those that a patch wishes for, and says which are to be made and ended. A
/// connection that somebody ends elsewhere stays ended until its cable is removed or made anew; one that vanishes with
/// a port comes back with it. So do connections that the patch does not wish for (`FoundConnections`).
struct WishKeeper {
  typealias Link = ServerGraph.Link

  private(set) var wishes: [ConnectionWish] = []
  /// Ended elsewhere.
  private(set) var declined: Set<Link> = []
  /// Connections that no wish asks for.
  var found = FoundConnections()
  /// Wished for, and made since both ports exist.
  private var made: Set<Link> = []
  /// Connections that the keeper itself has made for a wish.
  private var own: Set<Link> = []
  /// Missing although both ports exist, with the time when that was first seen. A program that ends loses its connections
  /// before its ports.
  private var missing: [Link: Double] = [:]
  /// The wishes of the last look.
  private var looked: [ConnectionWish] = []

  /// Seconds in which the ports of a program that ends follow its connections.
  static let patience = 0.25

  /// True when a later look may find that somebody has ended a connection.
  var isUncertain: Bool { !missing.isEmpty || found.isUncertain }

  /// Sets the patch's wishes; returns those that it no longer has.
  mutating func wish(_ new: [ConnectionWish]) -> [ConnectionWish] {
    let removed = Set(wishes).subtracting(new)
    wishes = new
    return Array(removed)
  }

  /// Records that a port was registered, or unregistered: it has no connections that anybody could have ended.
  mutating func lose(_ port: String) {
    made = made.filter { $0.source != port && $0.destination != port }
    missing = missing.filter { $0.key.source != port && $0.key.destination != port }
    found.lose(port)
  }

  /// Records that the server has gone.
  mutating func loseAll() {
    (made, own, missing) = ([], [], [:])
    found.loseAll()
  }

  /// Records that a connection has been made, by us or elsewhere; if it vanishes from now on, somebody ended it. The
  /// server's news of a port may come late, after its connection was made and ended: that of the connection follows it.
  mutating func record(_ link: Link) { if own.contains(link) || !found.record(link) { made.insert(link) } }

  /// Changes that are due, in order. `seconds`: the time, from any beginning.
  mutating func look(_ graph: ServerGraph, at seconds: Double) -> (make: [Link], end: [Link]) {
    let wished = Set(wishes.flatMap(graph.links))
    var end: Set<Link> = []
    if wishes != looked {
      let before = Set(looked.flatMap(graph.links))
      end = before.subtracting(wished).intersection(graph.links)
      let changed = Set(looked).symmetricDifference(wishes)
      declined = declined.filter { link in !changed.contains { $0.holds(link) } }
      found.forget { link in changed.contains { $0.holds(link) } }
      looked = wishes
    }
    end.formUnion(outgrown(graph, wished))
    made.formIntersection(wished)
    var stillMissing: [Link: Double] = [:]
    var make: [Link] = []
    for link in wished {
      if graph.links.contains(link) {
        made.insert(link)
        declined.remove(link)
      } else if let since = missing[link] {
        if seconds - since < Self.patience { stillMissing[link] = since } else { declined.insert(link) }
      } else if made.remove(link) != nil {
        stillMissing[link] = seconds
      } else if !declined.contains(link) {
        make.append(link)
      }
    }
    missing = stillMissing
    own = own.intersection(graph.links).intersection(wished).union(make)
    make += found.look(graph, besides: wished.union(end), at: seconds)
    return (make.sorted(), end.sorted())
  }

  /// Connections of ours that no wish asks for any more, because a program has more or fewer ports now. A program may
  /// register its ports one by one: the first is sent to both speakers, as a single port is, until the second comes.
  private func outgrown(_ graph: ServerGraph, _ wished: Set<Link>) -> Set<Link> {
    let outgrown = own.intersection(graph.links).subtracting(wished).subtracting(found.gone)
    if outgrown.isEmpty { return [] }
    // `rec-01`, connected while `rec` was missing, keeps its connections when `rec` comes.
    let (sources, destinations) = (Set(wished.map(\.source)), Set(wished.map(\.destination)))
    return outgrown.filter { sources.contains($0.source) && destinations.contains($0.destination) }
  }
}
