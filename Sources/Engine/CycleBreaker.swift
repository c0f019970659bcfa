/// Decides which cables close a cycle and therefore go through the feedback delay.
///
/// Works on the union of what sounds and what is to sound. Cables that sound directly now must stay
/// direct while they fade: they have no past to be delayed from. So it is a cable that arrives which
/// takes the delay if it would close a cycle with them; once they are gone the engine asks again, and
/// the newcomer becomes direct by crossfade.
struct CycleBreaker {
  struct Edge {
    var source: Int
    var destination: Int
    /// It sounds, directly, already.
    var isFixed: Bool
    /// It goes through the delay now, and rather stays so than changes places with another.
    var isLast: Bool
  }

  private let edges: [Edge]
  private var outgoing: [[Int]]
  private let count: Int

  /// `count` nodes, numbered from 0; `edges` in canonical order.
  init(count: Int, edges: [Edge]) {
    self.count = count
    self.edges = edges
    outgoing = Array(repeating: [], count: count)
    for (index, edge) in edges.enumerated() { outgoing[edge.source].append(index) }
  }

  /// The indices of the edges to delay.
  func feedbackEdges() -> Set<Int> {
    let left = nodesOnCycles()
    guard !left.isEmpty else { return [] }
    let backwards = backEdges(among: left)
    var accepted: [[Int]] = Array(repeating: [], count: count)
    var feedback: Set<Int> = []
    func reaches(_ from: Int, _ goal: Int) -> Bool {
      var seen: Set<Int> = [from]
      var stack = [from]
      while let node = stack.popLast() {
        if node == goal { return true }
        for next in accepted[node] where seen.insert(next).inserted { stack.append(next) }
      }
      return false
    }
    func rank(_ index: Int) -> Int {
      edges[index].isFixed ? 0 : edges[index].isLast ? 3 : backwards.contains(index) ? 2 : 1
    }
    let candidates = edges.indices.filter {
      left.contains(edges[$0].source) && left.contains(edges[$0].destination)
    }
    for wanted in 0...3 {
      for index in candidates where rank(index) == wanted {
        let edge = edges[index]
        if wanted > 0, reaches(edge.destination, edge.source) {
          feedback.insert(index)
        } else {
          accepted[edge.source].append(edge.destination)
        }
      }
    }
    return feedback
  }

  /// What remains when nodes without inputs, and then nodes without outputs, are peeled off.
  private func nodesOnCycles() -> Set<Int> {
    var incoming = Array(repeating: 0, count: count)
    for edge in edges { incoming[edge.destination] += 1 }
    var ready = (0..<count).filter { incoming[$0] == 0 }
    var isLeft = Array(repeating: true, count: count)
    while let node = ready.popLast() {
      isLeft[node] = false
      for index in outgoing[node] {
        let next = edges[index].destination
        incoming[next] -= 1
        if incoming[next] == 0 { ready.append(next) }
      }
    }
    return Set((0..<count).filter { isLeft[$0] })
  }

  /// Edges that lead back into the path of a depth-first walk that starts where sound comes in.
  private func backEdges(among left: Set<Int>) -> Set<Int> {
    var fed: [Int] = []
    for edge in edges where left.contains(edge.destination) && !left.contains(edge.source) {
      fed.append(edge.destination)
    }
    var result: Set<Int> = []
    var state = Array(repeating: 0, count: count)
    for start in fed + left.sorted() where state[start] == 0 {
      var stack = [(node: start, next: 0)]
      state[start] = 1
      while let (node, next) = stack.last {
        guard next < outgoing[node].count else {
          state[node] = 2
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        let edge = outgoing[node][next]
        let destination = edges[edge].destination
        guard left.contains(destination) else { continue }
        if state[destination] == 1 { result.insert(edge) }
        if state[destination] == 0 {
          state[destination] = 1
          stack.append((destination, 0))
        }
      }
    }
    return result
  }
}
