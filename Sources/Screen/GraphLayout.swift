/// Columns, order and rows of boxes: layered drawing after Sugiyama, Tagawa and Toda, "Methods for Visual
/// Understanding of Hierarchical System Structures" (1981). Columns follow from longest paths. Crossings are
/// reduced by median sweeps with swaps of neighbours (Gansner et al., "A Technique for Drawing Directed
/// Graphs", 1993). Rows follow from isotonic regression, so that cables are straight where possible.
struct GraphLayout {
  /// An item of a column: a box, or a trunk that passes on its way to a later column.
  enum Item: Hashable {
    case node(Int)
    case pass(Int)
  }

  /// All cables that leave one port.
  struct Trunk {
    var node: Int
    var row: Int
    /// Indices of its cables.
    var cables: [Int] = []
  }

  struct End {
    var node: Int
    var row: Int
  }

  let nodes: [DiagramNode]
  let options: DiagramOptions
  /// nil for a cable of an unknown node.
  var ends: [(source: End, destination: End, trunk: Int)?] = []
  var trunks: [Trunk] = []
  /// Column of each node, from 0, without empty columns.
  var column: [Int] = []
  /// Items by column, from the top.
  var items: [[Item]] = []
  /// Top row of each item, aligned with `items`.
  var rows: [[Int]] = []

  /// Cables that close a cycle.
  private var feedback: Set<Int> = []

  init(nodes: [DiagramNode], cables: [DiagramCable], options: DiagramOptions) {
    self.nodes = nodes
    self.options = options
    let index = Dictionary(
      nodes.indices.map { (nodes[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    var trunkOf: [Point: Int] = [:]
    func row(_ ports: [Int], _ port: Int, _ node: Int) -> Int {
      let wanted = ports.indices.contains(port) ? ports[port] : nodes[node].size.rows / 2
      return min(max(0, wanted), nodes[node].size.rows - 1)
    }
    for (number, cable) in cables.enumerated() {
      guard let from = index[cable.source], let to = index[cable.destination] else {
        ends.append(nil)
        continue
      }
      let source = End(node: from, row: row(nodes[from].outputs, cable.output, from))
      let destination = End(node: to, row: row(nodes[to].inputs, cable.input, to))
      // Ports on a common row share a trunk, since their lines would coincide anyway.
      let key = Point(source.node, source.row)
      let trunk = trunkOf[key] ?? trunks.count
      if trunk == trunks.count {
        trunkOf[key] = trunk
        trunks.append(Trunk(node: source.node, row: source.row))
      }
      trunks[trunk].cables.append(number)
      ends.append((source, destination, trunk))
      if cable.isFeedback || from == to { feedback.insert(number) }
    }
  }

  // MARK: Columns

  mutating func assignColumns() {
    breakCycles()
    var successors = Array(repeating: [Int](), count: nodes.count)
    var waiting = Array(repeating: 0, count: nodes.count)
    for (index, end) in ends.enumerated() where !feedback.contains(index) {
      guard let end else { continue }
      successors[end.source.node].append(end.destination.node)
      waiting[end.destination.node] += 1
    }
    let hasInput = waiting.map { $0 > 0 }
    column = nodes.map { $0.place?.column ?? 0 }
    var order = nodes.indices.filter { waiting[$0] == 0 }
    var next = 0
    while next < order.count {
      let node = order[next]
      next += 1
      for successor in successors[node] {
        if nodes[successor].place == nil { column[successor] = max(column[successor], column[node] + 1) }
        waiting[successor] -= 1
        if waiting[successor] == 0 { order.append(successor) }
      }
    }
    // A node without inputs stands right before the first node that it feeds: a modulator beside its target.
    for node in order.reversed() where !hasInput[node] && nodes[node].place == nil {
      if let nearest = successors[node].map({ column[$0] }).min() {
        column[node] = max(column[node], nearest - 1)
      }
    }
    let used = Set(column).sorted()
    let compact = Dictionary(uniqueKeysWithValues: used.enumerated().map { ($0.element, $0.offset) })
    column = column.map { compact[$0] ?? 0 }
  }

  /// Finds the cables to reverse: the back edges of a depth-first search from the nodes without inputs, in
  /// the order given.
  private mutating func breakCycles() {
    var leaving = Array(repeating: [(cable: Int, to: Int)](), count: nodes.count)
    var isFed = Array(repeating: false, count: nodes.count)
    for (index, end) in ends.enumerated() where !feedback.contains(index) {
      guard let end else { continue }
      leaving[end.source.node].append((index, end.destination.node))
      isFed[end.destination.node] = true
    }
    enum Mark { case fresh, onWay, done }
    var marks = Array(repeating: Mark.fresh, count: nodes.count)
    for start in nodes.indices.filter({ !isFed[$0] }) + Array(nodes.indices) where marks[start] == .fresh {
      // An explicit stack, since chains may be long.
      var way: [(node: Int, next: Int)] = [(start, 0)]
      marks[start] = .onWay
      while let (node, next) = way.last {
        guard next < leaving[node].count else {
          marks[node] = .done
          way.removeLast()
          continue
        }
        way[way.count - 1].next += 1
        let (cable, to) = leaving[node][next]
        switch marks[to] {
        case .fresh:
          marks[to] = .onWay
          way.append((to, 0))
        case .onWay: feedback.insert(cable)
        case .done: break
        }
      }
    }
  }

  /// True when the cable leads to its own or an earlier column.
  func isBackward(_ cable: Int) -> Bool {
    guard let end = ends[cable] else { return false }
    return column[end.destination.node] <= column[end.source.node]
  }

  /// Gives every trunk a pass item in each column between its ends.
  mutating func insertPasses() {
    items = Array(repeating: [], count: (column.max() ?? -1) + 1)
    for node in nodes.indices { items[column[node]].append(.node(node)) }
    for (index, trunk) in trunks.enumerated() {
      let last = lastColumn(of: index)
      let first = column[trunk.node] + 1
      guard first < last else { continue }
      for place in first..<last { items[place].append(.pass(index)) }
    }
  }

  /// The last column that a trunk leads to in the forward direction.
  func lastColumn(of trunk: Int) -> Int {
    trunks[trunk].cables.compactMap { ends[$0].map { column[$0.destination.node] } }.max()
      ?? column[trunks[trunk].node]
  }

  // MARK: Neighbours

  /// A line from an item of one column to one of the next; rows are relative to the items.
  struct Link {
    var left: Item
    var leftRow: Int
    var right: Item
    var rightRow: Int
  }

  /// The lines between each column and the next.
  func links() -> [[Link]] {
    var result = Array(repeating: [Link](), count: max(0, items.count - 1))
    for (index, trunk) in trunks.enumerated() {
      let start = column[trunk.node]
      let last = lastColumn(of: index)
      guard start < last else { continue }
      for gap in start..<last {
        let left = gap == start ? Item.node(trunk.node) : .pass(index)
        let leftRow = gap == start ? trunk.row : 0
        if gap + 1 < last {
          result[gap].append(Link(left: left, leftRow: leftRow, right: .pass(index), rightRow: 0))
        }
        for cable in trunk.cables {
          guard let end = ends[cable]?.destination, column[end.node] == gap + 1 else { continue }
          result[gap].append(Link(left: left, leftRow: leftRow, right: .node(end.node), rightRow: end.row))
        }
      }
    }
    return result
  }

  func height(_ item: Item) -> Int {
    switch item {
    case .node(let node): nodes[node].size.rows
    case .pass: 1
    }
  }
}
