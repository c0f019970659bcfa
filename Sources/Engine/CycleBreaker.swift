/// Puts nodes in an order in which each comes after those that it hears, and decides which cables close
/// a cycle and therefore go through the feedback delay.
///
/// Works on the union of what sounds and what is to sound. Cables that sound directly now must stay
/// direct while they fade: they have no past to be delayed from. So it is a cable that arrives which
/// takes the delay if it would close a cycle with them; once they are gone the engine asks again, and
/// the newcomer becomes direct by crossfade.
///
/// Linear in nodes and edges, but for each edge that may need the delay: that looks once at what lies
/// between its ends.
struct CycleBreaker {
  enum Standing: UInt8 {
    /// Sounds directly already, or carries events, which are never delayed.
    case fixed
    case new
    /// Goes through the delay now, and rather stays so than changes places with another.
    case last
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
  /// edges, or of nodes, into an order that depends on names alone; it is asked about cycles only.
  init(
    count: Int, sources: [Int32], destinations: [Int32], standings: [Standing],
    canonicalEdges: ([Int]) -> [Int], canonicalNodes: ([Int]) -> [Int]
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

    var isDelayed = standings.map { $0 == .last }
    let hasLast = isDelayed.contains(true)
    order = sorted(without: isDelayed)
    if order.count == count, !hasLast { return }
    if order.count < count {
      // A new cable closes a cycle: which one, names decide.
      isDelayed = choose(canonicalEdges, canonicalNodes)
    } else {
      release(&isDelayed, canonicalEdges)
    }
    order = sorted(without: isDelayed)
    feedback = isDelayed.indices.filter { isDelayed[$0] && sources[$0] >= 0 }
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

  /// Takes the delay from edges that no longer need it: the others are in order without them.
  private func release(_ isDelayed: inout [Bool], _ canonicalEdges: ([Int]) -> [Int]) {
    var position = [Int32](repeating: 0, count: count)
    for (place, node) in order.enumerated() { position[Int(node)] = Int32(place) }
    var search = Search(count: count)
    let candidates = isDelayed.indices.filter { isDelayed[$0] && sources[$0] >= 0 }
    var hasMoved = false
    for edge in canonicalEdges(candidates) {
      let (source, destination) = (Int(sources[edge]), Int(destinations[edge]))
      // Edges that go forward keep the order; after one that goes back it is known no more.
      if !hasMoved, position[source] < position[destination] {
        isDelayed[edge] = false
        continue
      }
      let bound = hasMoved ? nil : position
      if !reaches(destination, source, isDelayed, bound, &search) {
        isDelayed[edge] = false
        hasMoved = true
      }
    }
  }

  private struct Search {
    var seen: [Int32]
    var round: Int32 = 0
    var stack: [Int] = []
    init(count: Int) { seen = Array(repeating: 0, count: count) }
  }

  /// Whether a path without delayed edges leads from one node to another. In `order`, where that is
  /// known, nothing behind the goal leads to it.
  private func reaches(
    _ from: Int, _ goal: Int, _ isDelayed: [Bool], _ order: [Int32]?, _ search: inout Search
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
        if let order, order[next] > order[goal] { continue }
        search.seen[next] = search.round
        search.stack.append(next)
      }
    }
    return false
  }

  /// Decides anew among all edges on cycles: the fixed stay direct, then those take the delay last that
  /// lead forward from where sound comes in.
  private func choose(_ canonicalEdges: ([Int]) -> [Int], _ canonicalNodes: ([Int]) -> [Int]) -> [Bool] {
    var isOnCycle = [Bool](repeating: true, count: count)
    for node in sorted(without: Array(repeating: false, count: sources.count)) {
      isOnCycle[Int(node)] = false
    }
    let around = canonicalEdges(
      sources.indices.filter { sources[$0] >= 0 && isOnCycle[Int(destinations[$0])] })
    let candidates = around.filter { isOnCycle[Int(sources[$0])] }
    let fed = around.filter { !isOnCycle[Int(sources[$0])] }.map { Int(destinations[$0]) }
    let left = canonicalNodes((0..<count).filter { isOnCycle[$0] })
    let isBackwards = backEdges(candidates, startingAt: fed + left)

    func rank(_ edge: Int) -> Int {
      switch standings[edge] {
      case .fixed: 0
      case .last: 3
      case .new: isBackwards[edge] ? 2 : 1
      }
    }
    var isDelayed = [Bool](repeating: false, count: sources.count)
    for edge in candidates where rank(edge) > 0 { isDelayed[edge] = true }
    var search = Search(count: count)
    // Without the back edges there is no cycle, so that nothing has to be asked of the others.
    let isPlain = !candidates.contains { standings[$0] == .fixed && isBackwards[$0] }
    for wanted in 1...3 {
      for edge in candidates where rank(edge) == wanted {
        if wanted == 1, isPlain {
          isDelayed[edge] = false
        } else if !reaches(Int(destinations[edge]), Int(sources[edge]), isDelayed, nil, &search) {
          isDelayed[edge] = false
        }
      }
    }
    return isDelayed
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
