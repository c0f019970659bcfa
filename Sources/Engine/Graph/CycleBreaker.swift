/// Sorts nodes topologically, and decides which cables close a cycle and therefore go through the feedback
/// delay.
///
/// The choice follows from the names in the patch alone. In each cycle it prefers a cable that leaves a node
/// which compensates for the delay, then one that leads back towards the sources. The same patch therefore
/// has the same cables delayed after all fades, in whatever order it was made.
///
/// During an edit the graph is the union of running and wanted cables. A cable that sounds directly stays
/// direct while it fades, since it has no history to delay. A new cable, or one that is to become direct, is
/// delayed as long as it would close a cycle with fading ones. The engine then asks again, and the cable
/// becomes direct by crossfade.
///
/// Linear in nodes and edges, except that each edge that may need the delay costs one search between its
/// ends.
struct CycleBreaker {
  /// State of an edge.
  enum Standing: UInt8 {
    /// Carries events, and does not run yet. Events are never delayed: where nothing else opens a cycle, a cable of events is
    /// left out.
    case events
    /// Carries events now.
    case playing
    /// Runs without delay now.
    case direct
    /// Runs through the delay now.
    case delayed
    /// Does not run yet.
    case new
    /// Runs without delay, fades out, and is no longer in the patch.
    case leaving

    var isOfEvents: Bool { self == .events || self == .playing }
  }

  private let count: Int
  private let sources: [Int32]
  private let destinations: [Int32]
  private let standings: [Standing]
  /// Edges grouped by source: node `n` has `edges[first[n]..<first[n + 1]]`, in their original order.
  private var first: [Int32]
  private var edges: [Int32]
  /// Edges that go through the delay, ascending.
  private(set) var feedback: [Int] = []
  /// All nodes in topological order: each behind its sources, and those in the order in which it adds them up, if they are many.
  private(set) var order: [Int32] = []

  /// `count` nodes, numbered from 0. Edges with a negative end are ignored. `canonicalEdges` and
  /// `canonicalNodes` sort indices into an order that depends on names alone. `compensatesFeedback`
  /// returns true for a node that compensates for the delay of a cable leaving it. They are called
  /// for cycles only, and `canonicalNodes` for the sources of a node with many.
  init(
    count: Int, sources: [Int32], destinations: [Int32], standings: [Standing],
    canonicalEdges: ([Int]) -> [Int], canonicalNodes: ([Int]) -> [Int], compensatesFeedback: (Int) -> Bool
  ) {
    self.count = count
    self.sources = sources
    self.destinations = destinations
    self.standings = standings
    first = Array(repeating: 0, count: count + 1)
    edges = []
    for source in sources where source >= 0 { first[Int(source) + 1] += 1 }
    for node in 0..<count { first[node + 1] += first[node] }
    edges = Array(repeating: 0, count: Int(first[count]))
    var next = first
    for (edge, source) in sources.enumerated() where source >= 0 {
      edges[Int(next[Int(source)])] = Int32(edge)
      next[Int(source)] += 1
    }

    var isDelayed = [Bool](repeating: false, count: sources.count)
    order = sorted(without: isDelayed)
    if order.count == count {
      order = depthFirst(without: isDelayed, canonicalNodes)
      return
    }
    isDelayed = choose(canonicalEdges, canonicalNodes, compensatesFeedback)
    // A cable that fades while its delayed successor fades in still orders the nodes.
    var isAbsent = isDelayed
    for edge in isDelayed.indices
    where isDelayed[edge] && (standings[edge] == .direct || standings[edge] == .playing) {
      isAbsent[edge] = false
    }
    order = sorted(without: isAbsent)
    if order.count < count {
      var isOnCycle = [Bool](repeating: true, count: count)
      for node in order { isOnCycle[Int(node)] = false }
      delayMore(&isDelayed, &isAbsent, among: isOnCycle, canonicalEdges)
      order = sorted(without: isAbsent)
    }
    order = depthFirst(without: isAbsent, canonicalNodes)
    feedback = isDelayed.indices.filter { isDelayed[$0] }
  }

  /// Kahn's algorithm with a stack: the nodes of a chain follow each other, so their buffers stay in the
  /// cache. Nodes on cycles, and downstream of them, are missing.
  private func sorted(without isDelayed: [Bool]) -> [Int32] {
    var waiting = [Int32](repeating: 0, count: count)
    for (edge, destination) in destinations.enumerated() where destination >= 0 && !isDelayed[edge] {
      waiting[Int(destination)] += 1
    }
    var ready: [Int32] = []
    ready.reserveCapacity(count)
    for node in stride(from: count - 1, through: 0, by: -1) where waiting[node] == 0 {
      ready.append(Int32(node))
    }
    var result: [Int32] = []
    result.reserveCapacity(count)
    while let node = ready.popLast() {
      result.append(node)
      for position in first[Int(node)]..<first[Int(node) + 1] {
        let edge = Int(edges[Int(position)])
        if isDelayed[edge] { continue }
        let destination = Int(destinations[edge])
        waiting[destination] -= 1
        if waiting[destination] == 0 { ready.append(Int32(destination)) }
      }
    }
    return result
  }

  /// The same nodes, depth first from those without successors against the edges: a node's sources come right before it.
  private func depthFirst(without isAbsent: [Bool], _ canonicalNodes: ([Int]) -> [Int]) -> [Int32] {
    var start = [Int32](repeating: 0, count: count + 1)
    var isLast = [Bool](repeating: true, count: count)
    for (edge, source) in sources.enumerated() where source >= 0 && destinations[edge] >= 0 && !isAbsent[edge]
    {
      start[Int(destinations[edge]) + 1] += 1
      isLast[Int(source)] = false
    }
    for node in 0..<count { start[node + 1] += start[node] }
    var before = [Int32](repeating: 0, count: Int(start[count]))
    var next = start
    for (edge, source) in sources.enumerated() where source >= 0 && destinations[edge] >= 0 && !isAbsent[edge]
    {
      before[Int(next[Int(destinations[edge])])] = source
      next[Int(destinations[edge])] += 1
    }
    var result: [Int32] = []
    result.reserveCapacity(count)
    var isSeen = [Bool](repeating: false, count: count)
    next = start
    var path: [Int32] = []
    for last in order where isLast[Int(last)] {
      path.append(last)
      while let node = path.last {
        let (place, end) = (Int(next[Int(node)]), Int(start[Int(node) + 1]))
        if !isSeen[Int(node)] {
          isSeen[Int(node)] = true
          if end - place >= RunningSum.leastCables {
            let names = canonicalNodes(before[place..<end].map(Int.init))
            for (offset, name) in names.enumerated() { before[place + offset] = Int32(name) }
          }
        }
        guard place < end else {
          result.append(node)
          path.removeLast()
          continue
        }
        next[Int(node)] += 1
        if !isSeen[Int(before[place])] { path.append(before[place]) }
      }
    }
    return result
  }

  private struct Search {
    var seen: [Int32]
    var round: Int32 = 0
    var stack: [Int] = []
    init(count: Int) { seen = Array(repeating: 0, count: count) }
  }

  /// True when a path without delayed edges leads from one node to the other.
  private func reaches(
    _ from: Int, _ goal: Int, _ isDelayed: [Bool], _ search: inout Search
  ) -> Bool {
    search.round += 1
    search.seen[from] = search.round
    search.stack = [from]
    while let node = search.stack.popLast() {
      if node == goal { return true }
      for position in first[node]..<first[node + 1] {
        let edge = Int(edges[Int(position)])
        let next = Int(destinations[edge])
        if isDelayed[edge] || search.seen[next] == search.round { continue }
        search.seen[next] = search.round
        search.stack.append(next)
      }
    }
    return false
  }

  /// The edges that close cycles of the wanted graph, whatever is running now.
  private func choose(
    _ canonicalEdges: ([Int]) -> [Int], _ canonicalNodes: ([Int]) -> [Int],
    _ compensatesFeedback: (Int) -> Bool
  ) -> [Bool] {
    var isDelayed = standings.map { $0 == .leaving }
    var isOnCycle = [Bool](repeating: true, count: count)
    for node in sorted(without: isDelayed) { isOnCycle[Int(node)] = false }
    let around = canonicalEdges(
      sources.indices.filter {
        sources[$0] >= 0 && standings[$0] != .leaving && isOnCycle[Int(destinations[$0])]
      })
    let candidates = around.filter { isOnCycle[Int(sources[$0])] }
    let fed = around.filter { !isOnCycle[Int(sources[$0])] }.map { Int(destinations[$0]) }
    let left = canonicalNodes((0..<count).filter { isOnCycle[$0] })
    let isBackwards = backEdges(candidates, startingAt: fed + left)

    // Preference for staying direct: events first, then forward edges, then back edges, and compensated ones
    // last.
    func rank(_ edge: Int) -> Int {
      if standings[edge].isOfEvents { return isBackwards[edge] ? 1 : 0 }
      return (isBackwards[edge] ? 3 : 2) + (compensatesFeedback(Int(sources[edge])) ? 2 : 0)
    }
    let ranks = candidates.map { (edge: $0, rank: rank($0)) }
    for edge in candidates { isDelayed[edge] = true }
    // Without the back edges there is no cycle, so forward edges need no search.
    let isSimple = !ranks.contains { $0.rank == 1 }
    for candidate in ranks where candidate.rank == 0 || isSimple && candidate.rank == 2 {
      isDelayed[candidate.edge] = false
    }
    var search = Search(count: count)
    for rank in isSimple ? 3...5 : 1...5 {
      for (edge, _) in ranks.lazy.filter({ $0.rank == rank }) {
        if !reaches(Int(destinations[edge]), Int(sources[edge]), isDelayed, &search) {
          isDelayed[edge] = false
        }
      }
    }
    for edge in isDelayed.indices where standings[edge] == .leaving { isDelayed[edge] = false }
    return isDelayed
  }

  /// Delays further edges that would close a cycle with fading ones: as few new edges as possible, and edges
  /// that are already delayed before new ones; of events, new ones at last. `isAbsent`: edges that do not constrain the order.
  private func delayMore(
    _ isDelayed: inout [Bool], _ isAbsent: inout [Bool], among isOnCycle: [Bool],
    _ canonicalEdges: ([Int]) -> [Int]
  ) {
    let candidates = canonicalEdges(
      sources.indices.filter {
        sources[$0] >= 0 && !isDelayed[$0]
          && (standings[$0] == .new || standings[$0] == .delayed || standings[$0] == .events)
          && isOnCycle[Int(sources[$0])] && isOnCycle[Int(destinations[$0])]
      })
    for edge in candidates { isAbsent[edge] = true }
    var search = Search(count: count)
    for standing in [Standing.events, .new, .delayed] {
      for edge in candidates where standings[edge] == standing {
        if reaches(Int(destinations[edge]), Int(sources[edge]), isAbsent, &search) {
          isDelayed[edge] = true
        } else {
          isAbsent[edge] = false
        }
      }
    }
  }

  /// Back edges of a depth-first search that starts at the sources.
  private func backEdges(_ candidates: [Int], startingAt starts: [Int]) -> [Bool] {
    var outgoing: [Int: [Int]] = [:]
    for edge in candidates { outgoing[Int(sources[edge]), default: []].append(edge) }
    var result = [Bool](repeating: false, count: sources.count)
    var state = [UInt8](repeating: 0, count: count)
    for start in starts where state[start] == 0 {
      var stack = [(edges: outgoing[start] ?? [], node: start, next: 0)]
      state[start] = 1
      while let top = stack.last {
        guard top.next < top.edges.count else {
          state[top.node] = 2
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        let edge = top.edges[top.next]
        let destination = Int(destinations[edge])
        if state[destination] == 1 { result[edge] = true }
        if state[destination] == 0 {
          state[destination] = 1
          stack.append((outgoing[destination] ?? [], destination, 0))
        }
      }
    }
    return result
  }
}
