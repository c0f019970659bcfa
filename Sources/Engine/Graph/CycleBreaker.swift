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
/// are read of nodes on cycles only, and sorted where several edges leave one node or may need the delay.
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

  /// `count` nodes, numbered from 0. Edges with a negative end are ignored. `isEdgeBefore` and `isNodeBefore` compare
  /// names alone. `compensatesFeedback` returns true for a node that compensates for the delay of a cable leaving it. They
  /// are called for cycles only.
  init(
    count: Int, sources: [Int32], destinations: [Int32], standings: [Standing],
    isEdgeBefore: (Int, Int) -> Bool, isNodeBefore: (Int, Int) -> Bool, compensatesFeedback: (Int) -> Bool
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
    var isDelayed = choose(isEdgeBefore, isNodeBefore, compensatesFeedback)
    // A cable that fades while its delayed successor fades in still orders the nodes.
    isAbsent = isDelayed
    for edge in isDelayed.indices
    where isDelayed[edge] && (standings[edge] == .direct || standings[edge] == .playing) {
      isAbsent[edge] = false
    }
    sorted = sort()
    if sorted.count < count {
      delayMore(&isDelayed, isEdgeBefore)
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
    _ isEdgeBefore: (Int, Int) -> Bool, _ isNodeBefore: (Int, Int) -> Bool,
    _ compensatesFeedback: (Int) -> Bool
  ) -> [Bool] {
    isAbsent = standings.map { $0 == .leaving }
    var search = Search(components())
    let candidates = sources.indices.filter { !isAbsent[$0] && search.isOnCycle($0, self) }
    let starts = starts(search, isEdgeBefore, isNodeBefore)
    let isBackwards = backEdges(search, starts, isEdgeBefore)

    // Preference for staying direct: events first, then forward edges, then back edges, and compensated ones
    // last.
    func rank(_ edge: Int) -> Int {
      if standings[edge].isOfEvents { return isBackwards[edge] ? 1 : 0 }
      return (isBackwards[edge] ? 3 : 2) + (compensatesFeedback(Int(sources[edge])) ? 2 : 0)
    }
    let ranks = candidates.map { (edge: $0, rank: rank($0)) }
    var isDelayed = isAbsent
    for edge in candidates { isDelayed[edge] = true }
    // Without the back edges a component has no cycle, so forward edges need no search.
    let searched = Set(ranks.filter { $0.rank == 1 }.map { search.components[Int(sources[$0.edge])] })
    func isFree(_ edge: Int, _ rank: Int) -> Bool {
      rank == 0 || rank == 2 && !searched.contains(search.components[Int(sources[edge])])
    }
    for (edge, rank) in ranks where isFree(edge, rank) { isDelayed[edge] = false }
    for rank in 1...5 {
      let edges = ranks.filter { $0.rank == rank && !isFree($0.edge, rank) }.map(\.edge)
      for edge in edges.sorted(by: isEdgeBefore) {
        if !search.closesCycle(edge, self, isDelayed) { isDelayed[edge] = false }
      }
    }
    for edge in isDelayed.indices where standings[edge] == .leaving { isDelayed[edge] = false }
    return isDelayed
  }

  /// A node of each component, from which all of it is reached: where the first edge leads into it, or else its first node.
  private func starts(
    _ search: Search, _ isEdgeBefore: (Int, Int) -> Bool, _ isNodeBefore: (Int, Int) -> Bool
  ) -> [Int] {
    // By the component's number. -1: none.
    var entries = [Int](repeating: -1, count: count)
    for edge in sources.indices where sources[edge] >= 0 && !isAbsent[edge] && !search.isOnCycle(edge, self) {
      let component = Int(search.components[Int(destinations[edge])])
      guard component >= 0 else { continue }
      if entries[component] < 0 || isEdgeBefore(edge, entries[component]) { entries[component] = edge }
    }
    var result = entries.map { $0 < 0 ? -1 : Int(destinations[$0]) }
    for node in 0..<count {
      let component = Int(search.components[node])
      guard component >= 0, entries[component] < 0 else { continue }
      if result[component] < 0 || isNodeBefore(node, result[component]) { result[component] = node }
    }
    return result.filter { $0 >= 0 }
  }

  /// Delays further edges that would close a cycle with fading ones: as few new edges as possible, and edges
  /// that are already delayed before new ones; of events, new ones at last.
  private mutating func delayMore(_ isDelayed: inout [Bool], _ isEdgeBefore: (Int, Int) -> Bool) {
    var search = Search(components())
    let candidates = sources.indices.filter {
      !isDelayed[$0]
        && (standings[$0] == .new || standings[$0] == .delayed || standings[$0] == .events)
        && search.isOnCycle($0, self)
    }.sorted(by: isEdgeBefore)
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

  /// Back edges of a depth-first search within the components, which takes the edges of a node in the order of their names.
  private func backEdges(
    _ search: Search, _ starts: [Int], _ isEdgeBefore: (Int, Int) -> Bool
  ) -> [Bool] {
    var result = [Bool](repeating: false, count: sources.count)
    // Edges of the nodes on the path, one node's behind the other's.
    var (waiting, path): ([Int], [(node: Int, end: Int)]) = ([], [])
    var state = [UInt8](repeating: 0, count: count)
    func enter(_ node: Int) {
      state[node] = 1
      path.append((node, waiting.count))
      let start = waiting.count
      for position in first[node]..<first[node + 1] {
        let edge = Int(edges[Int(position)])
        if !isAbsent[edge], search.isOnCycle(edge, self) { waiting.append(edge) }
      }
      // The first one is taken from the end.
      if waiting.count - start > 1 { waiting[start...].sort { isEdgeBefore($1, $0) } }
    }
    for start in starts {
      enter(start)
      while let last = path.last {
        guard waiting.count > last.end, let edge = waiting.popLast() else {
          state[last.node] = 2
          path.removeLast()
          continue
        }
        let destination = Int(destinations[edge])
        if state[destination] == 1 { result[edge] = true }
        if state[destination] == 0 { enter(destination) }
      }
    }
    return result
  }
}
