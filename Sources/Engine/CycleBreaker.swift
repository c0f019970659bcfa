/// Puts nodes in an order in which each comes after those that it hears, and decides which cables close
/// a cycle and therefore go through the feedback delay.
///
/// Which cables those are follows from the patch alone, by names: of each cycle one that leaves a node which
/// makes up for the delay, else one that leads back to where sound comes in. Whoever makes the same patch,
/// in whatever order, has the same cables delayed once all fades have ended.
///
/// On the way there is the union of what sounds and what is to sound. What sounds directly now must stay
/// direct while it fades: it has no past to be delayed from. A cable that arrives, or that is to become
/// direct, is delayed for as long as it would close a cycle with what fades; then the engine asks again, and
/// it becomes direct by crossfade.
///
/// Linear in nodes and edges, but for each edge that may need the delay: that looks once at what lies
/// between its ends.
struct CycleBreaker {
  /// What an edge is.
  enum Standing: UInt8 {
    /// Carries events, which are never delayed.
    case events
    /// Sounds directly now.
    case direct
    /// Goes through the delay now.
    case delayed
    /// Does not sound yet.
    case new
    /// Sounds directly, fades and is no longer wanted.
    case leaving
  }

  private let count: Int
  private let sources: [Int32]
  private let destinations: [Int32]
  private let standings: [Standing]
  /// Edges by their source: those of node `n` are `edges[first[n]..<first[n + 1]]`, in their order.
  private var first: [Int32]
  private var edges: [Int32]
  /// Edges that go through the delay, ascending.
  private(set) var feedback: [Int] = []
  /// All nodes in the order found.
  private(set) var order: [Int32] = []

  /// `count` nodes, numbered from 0. Edges with a negative end do not exist. `canonical` puts numbers of
  /// edges, or of nodes, into an order that depends on names alone; `makesUp` says whether the node of this
  /// number makes up for the delay of a cable that leaves it. They are asked about cycles only.
  init(
    count: Int, sources: [Int32], destinations: [Int32], standings: [Standing],
    canonicalEdges: ([Int]) -> [Int], canonicalNodes: ([Int]) -> [Int], makesUp: (Int) -> Bool
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
    if order.count == count { return }
    isDelayed = choose(canonicalEdges, canonicalNodes, makesUp)
    // What fades while another takes its place, is in order as well.
    var isAbsent = isDelayed
    for edge in isDelayed.indices where isDelayed[edge] && standings[edge] == .direct {
      isAbsent[edge] = false
    }
    order = sorted(without: isAbsent)
    if order.count < count {
      var isOnCycle = [Bool](repeating: true, count: count)
      for node in order { isOnCycle[Int(node)] = false }
      delayMore(&isDelayed, &isAbsent, among: isOnCycle, canonicalEdges)
      order = sorted(without: isAbsent)
    }
    feedback = isDelayed.indices.filter { isDelayed[$0] }
  }

  /// Kahn's algorithm with a stack, so that the nodes of a chain follow each other and their buffers
  /// stay in the cache. Nodes on cycles, and behind them, are missing.
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

  private struct Search {
    var seen: [Int32]
    var round: Int32 = 0
    var stack: [Int] = []
    init(count: Int) { seen = Array(repeating: 0, count: count) }
  }

  /// True when a path without delayed edges leads from one node to another.
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

  /// The edges that close the cycles of what is wanted, whatever sounds now.
  private func choose(
    _ canonicalEdges: ([Int]) -> [Int], _ canonicalNodes: ([Int]) -> [Int], _ makesUp: (Int) -> Bool
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

    // Direct first: events, then what leads forward, then back, and last what is made up for.
    func rank(_ edge: Int) -> Int {
      if standings[edge] == .events { return 0 }
      return (isBackwards[edge] ? 2 : 1) + (makesUp(Int(sources[edge])) ? 2 : 0)
    }
    let ranks = candidates.map { (edge: $0, rank: rank($0)) }
    for edge in candidates { isDelayed[edge] = true }
    // Without the back edges there is no cycle: nothing has to be asked of the first two ranks.
    for candidate in ranks where candidate.rank < 2 { isDelayed[candidate.edge] = false }
    var search = Search(count: count)
    for rank in 2...4 {
      for (edge, _) in ranks.lazy.filter({ $0.rank == rank }) {
        if !reaches(Int(destinations[edge]), Int(sources[edge]), isDelayed, &search) {
          isDelayed[edge] = false
        }
      }
    }
    for edge in isDelayed.indices where standings[edge] == .leaving { isDelayed[edge] = false }
    return isDelayed
  }

  /// Delays those too that would close a cycle with what fades: of the new ones as few as can be, and what is
  /// delayed now rather than them. `isAbsent`: edges that order nothing.
  private func delayMore(
    _ isDelayed: inout [Bool], _ isAbsent: inout [Bool], among isOnCycle: [Bool],
    _ canonicalEdges: ([Int]) -> [Int]
  ) {
    let candidates = canonicalEdges(
      sources.indices.filter {
        sources[$0] >= 0 && !isDelayed[$0] && (standings[$0] == .new || standings[$0] == .delayed)
          && isOnCycle[Int(sources[$0])] && isOnCycle[Int(destinations[$0])]
      })
    for edge in candidates { isAbsent[edge] = true }
    var search = Search(count: count)
    for standing in [Standing.new, .delayed] {
      for edge in candidates where standings[edge] == standing {
        if reaches(Int(destinations[edge]), Int(sources[edge]), isAbsent, &search) {
          isDelayed[edge] = true
        } else {
          isAbsent[edge] = false
        }
      }
    }
  }

  /// Edges that lead back into the path of a depth-first walk that starts where sound comes in.
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
