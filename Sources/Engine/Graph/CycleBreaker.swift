/// Sorts nodes topologically, and decides which cables close a cycle and therefore go through the feedback
/// delay.
///
/// The choice follows from the names in the patch alone, and in each strongly connected component from that and the cables
/// into it. In each cycle it prefers a cable that leaves a node which compensates for the delay, then one that leads back
/// towards the sources. The same patch therefore has the same cables delayed after all fades, in whatever order it was
/// made, and an edit elsewhere does not change them.
///
/// During an edit the graph is the union of running and wanted cables. A cable that sounds directly stays
/// direct while it fades, since it has no history to delay. A new cable, or one that is to become direct, is
/// delayed as long as it would close a cycle with fading ones. The engine then asks again, and the cable
/// becomes direct by crossfade.
///
/// Linear in nodes and edges, except that each edge that may need the delay costs one search within its component. Names
/// are read of nodes on cycles only.
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
  /// All nodes in topological order.
  private var sorted: [Int32] = []
  /// Edges that do not constrain the order.
  private var isAbsent: [Bool]

  /// `count` nodes, numbered from 0. Edges with a negative end are ignored. `canonicalEdges` and
  /// `canonicalNodes` sort indices into an order that depends on names alone. `compensatesFeedback`
  /// returns true for a node that compensates for the delay of a cable leaving it. They are called
  /// for cycles only.
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

    isAbsent = Array(repeating: false, count: sources.count)
    sorted = sort()
    guard sorted.count < count else { return }
    var isDelayed = choose(canonicalEdges, canonicalNodes, compensatesFeedback)
    // A cable that fades while its delayed successor fades in still orders the nodes.
    isAbsent = isDelayed
    for edge in isDelayed.indices
    where isDelayed[edge] && (standings[edge] == .direct || standings[edge] == .playing) {
      isAbsent[edge] = false
    }
    sorted = sort()
    if sorted.count < count {
      delayMore(&isDelayed, canonicalEdges)
      sorted = sort()
    }
    feedback = isDelayed.indices.filter { isDelayed[$0] }
  }

  /// Kahn's algorithm with a stack: the nodes of a chain follow each other, so their buffers stay in the
  /// cache. Nodes on cycles, and downstream of them, are missing.
  private func sort() -> [Int32] {
    var waiting = [Int32](repeating: 0, count: count)
    for (edge, destination) in destinations.enumerated() where destination >= 0 && !isAbsent[edge] {
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
        if isAbsent[edge] { continue }
        let destination = Int(destinations[edge])
        waiting[destination] -= 1
        if waiting[destination] == 0 { ready.append(Int32(destination)) }
      }
    }
    return result
  }

  /// All nodes in an order that is kind to caches: each behind its sources, which come right before it, and these in the order
  /// in which it adds them up, if they are many. Depth first from the nodes without successors against the edges.
  func order(_ canonicalNodes: ([Int]) -> [Int]) -> [Int32] {
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
    for last in sorted where isLast[Int(last)] {
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

  /// Nodes that are on a common cycle without absent edges have one number; negative: on none. Strongly connected components by
  /// R. Tarjan, "Depth-first search and linear graph algorithms", 1972, with a stack of its own.
  private func components() -> [Int32] {
    var result = [Int32](repeating: -1, count: count)
    // Places in the order of discovery, from 1 on, and the first place that is reached from each node.
    var (place, low) = ([Int32](repeating: 0, count: count), [Int32](repeating: 0, count: count))
    var next = first
    var (isOpen, isLoop) = ([Bool](repeating: false, count: count), [Bool](repeating: false, count: count))
    var (path, open): ([Int], [Int]) = ([], [])
    var last: Int32 = 0
    func enter(_ node: Int) {
      last += 1
      (place[node], low[node], isOpen[node]) = (last, last, true)
      path.append(node)
      open.append(node)
    }
    for start in 0..<count where place[start] == 0 {
      enter(start)
      while let node = path.last {
        if next[node] < first[node + 1] {
          let edge = Int(edges[Int(next[node])])
          next[node] += 1
          if isAbsent[edge] || destinations[edge] < 0 { continue }
          let destination = Int(destinations[edge])
          if destination == node { isLoop[node] = true }
          if place[destination] == 0 {
            enter(destination)
          } else if isOpen[destination] {
            low[node] = min(low[node], place[destination])
          }
          continue
        }
        path.removeLast()
        if let before = path.last { low[before] = min(low[before], low[node]) }
        guard low[node] == place[node] else { continue }
        let isCycle = open.last != node || isLoop[node]
        while let member = open.popLast() {
          isOpen[member] = false
          if isCycle { result[member] = Int32(node) }
          if member == node { break }
        }
      }
    }
    return result
  }

  private struct Search {
    let components: [Int32]
    private var seen: [Int32]
    private var round: Int32 = 0
    private var stack: [Int] = []

    init(_ components: [Int32]) {
      self.components = components
      seen = Array(repeating: 0, count: components.count)
    }

    /// True for an edge that is part of a cycle.
    func isOnCycle(_ edge: Int, _ breaker: CycleBreaker) -> Bool {
      guard breaker.sources[edge] >= 0 else { return false }
      let component = components[Int(breaker.sources[edge])]
      return component >= 0 && component == components[Int(breaker.destinations[edge])]
    }

    /// True when a path without closed edges leads from an edge's end to its start.
    mutating func closesCycle(_ edge: Int, _ breaker: CycleBreaker, _ isClosed: [Bool]) -> Bool {
      let (from, goal) = (Int(breaker.destinations[edge]), Int(breaker.sources[edge]))
      round += 1
      seen[from] = round
      stack = [from]
      while let node = stack.popLast() {
        if node == goal { return true }
        for position in breaker.first[node]..<breaker.first[node + 1] {
          let edge = Int(breaker.edges[Int(position)])
          let next = Int(breaker.destinations[edge])
          if isClosed[edge] || components[next] != components[from] || seen[next] == round { continue }
          seen[next] = round
          stack.append(next)
        }
      }
      return false
    }
  }

  /// The edges that close cycles of the wanted graph, whatever is running now.
  private mutating func choose(
    _ canonicalEdges: ([Int]) -> [Int], _ canonicalNodes: ([Int]) -> [Int],
    _ compensatesFeedback: (Int) -> Bool
  ) -> [Bool] {
    isAbsent = standings.map { $0 == .leaving }
    var search = Search(components())
    let around = canonicalEdges(
      sources.indices.filter {
        sources[$0] >= 0 && !isAbsent[$0] && search.components[Int(destinations[$0])] >= 0
      })
    let candidates = around.filter { search.isOnCycle($0, self) }
    let fed = around.filter { !search.isOnCycle($0, self) }.map { Int(destinations[$0]) }
    let left = canonicalNodes((0..<count).filter { search.components[$0] >= 0 })
    let isBackwards = backEdges(candidates, startingAt: fed + left)

    // Preference for staying direct: events first, then forward edges, then back edges, and compensated ones
    // last.
    func rank(_ edge: Int) -> Int {
      if standings[edge].isOfEvents { return isBackwards[edge] ? 1 : 0 }
      return (isBackwards[edge] ? 3 : 2) + (compensatesFeedback(Int(sources[edge])) ? 2 : 0)
    }
    let ranks = candidates.map { (edge: $0, rank: rank($0)) }
    var isDelayed = isAbsent
    for edge in candidates { isDelayed[edge] = true }
    // Without the back edges there is no cycle, so forward edges need no search.
    let isSimple = !ranks.contains { $0.rank == 1 }
    for candidate in ranks where candidate.rank == 0 || isSimple && candidate.rank == 2 {
      isDelayed[candidate.edge] = false
    }
    for rank in isSimple ? 3...5 : 1...5 {
      for (edge, _) in ranks.lazy.filter({ $0.rank == rank }) {
        if !search.closesCycle(edge, self, isDelayed) { isDelayed[edge] = false }
      }
    }
    for edge in isDelayed.indices where standings[edge] == .leaving { isDelayed[edge] = false }
    return isDelayed
  }

  /// Delays further edges that would close a cycle with fading ones: as few new edges as possible, and edges
  /// that are already delayed before new ones; of events, new ones at last.
  private mutating func delayMore(_ isDelayed: inout [Bool], _ canonicalEdges: ([Int]) -> [Int]) {
    var search = Search(components())
    let candidates = canonicalEdges(
      sources.indices.filter {
        !isDelayed[$0]
          && (standings[$0] == .new || standings[$0] == .delayed || standings[$0] == .events)
          && search.isOnCycle($0, self)
      })
    for edge in candidates { isAbsent[edge] = true }
    for standing in [Standing.events, .new, .delayed] {
      for edge in candidates where standings[edge] == standing {
        if search.closesCycle(edge, self, isAbsent) {
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
