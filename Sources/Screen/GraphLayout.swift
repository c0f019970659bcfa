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
  /// Top row of each item, aligned with `items`; from 0 in each band.
  var rows: [[Int]] = []
  /// First column of each band. A graph that is wider than its page goes on in a band below, as text does.
  var bands: [Int] = [0]
  /// Column that each node's place, or its cables, ask for; `column` leaves out most of the empty ones.
  private(set) var asked: [Int] = []
  /// The columns that each trunk runs through, one span for each band.
  private(set) var spans: [[Span]] = []

  /// Columns of a trunk in one band: it passes `first..<last`, and may end in each of them and in `last`.
  struct Span {
    var first: Int
    var last: Int
    /// The band of its source. In the others it comes in from the left edge.
    var isOwn: Bool
  }

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
    asked = column
    // Of empty columns, which only places of the user leave, as many are kept as a screen can show.
    var compact: [Int: Int] = [:]
    var place = -1
    var before: Int?
    for number in Set(column).sorted() {
      place += before.map { min(number - $0, Self.mostEmpty + 1) } ?? 1
      compact[number] = place
      before = number
    }
    column = column.map { compact[$0] ?? 0 }
  }

  /// Largest number of empty columns beside each other.
  private static let mostEmpty = 3

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

  // MARK: Bands

  /// The band of a column.
  func band(of column: Int) -> Int {
    var (low, high) = (0, bands.count)
    while low < high {
      let middle = (low + high) / 2
      if bands[middle] > column { high = middle } else { low = middle + 1 }
    }
    return low - 1
  }

  /// Columns of a band.
  func columns(ofBand band: Int) -> Range<Int> {
    bands[band]..<(band + 1 < bands.count ? bands[band + 1] : max(items.count, bands[band]))
  }

  /// True when the cable leads to another band.
  func isWrapped(_ cable: Int) -> Bool {
    guard let end = ends[cable] else { return false }
    return band(of: column[end.destination.node]) != band(of: column[end.source.node])
  }

  /// True when the cable leads to its own or an earlier column of its band.
  func isBackward(_ cable: Int) -> Bool {
    guard let end = ends[cable] else { return false }
    return column[end.destination.node] <= column[end.source.node] && !isWrapped(cable)
  }

  /// Gives every trunk a pass item in each column that it runs through.
  mutating func insertPasses() {
    items = Array(repeating: [], count: (column.max() ?? -1) + 1)
    for node in nodes.indices { items[column[node]].append(.node(node)) }
    spans = trunks.indices.map { spans(of: $0) }
    for index in trunks.indices {
      for span in spans[index] where span.first < span.last {
        for place in span.first..<span.last { items[place].append(.pass(index)) }
      }
    }
  }

  private func spans(of trunk: Int) -> [Span] {
    let start = column[trunks[trunk].node]
    let own = band(of: start)
    var last: [Int: Int] = [own: start]
    for cable in trunks[trunk].cables {
      guard let end = ends[cable].map({ column[$0.destination.node] }) else { continue }
      let band = band(of: end)
      last[band] = max(last[band] ?? bands[band], end)
    }
    return last.sorted { $0.key < $1.key }.map { band, last in
      Span(first: band == own ? start + 1 : bands[band], last: last, isOwn: band == own)
    }
  }

  // MARK: Neighbours

  /// A line from an item of one column to one of the next; rows are relative to the items.
  struct Link {
    var left: Item
    var leftRow: Int
    var right: Item
    var rightRow: Int
  }

  /// The lines between each column and the next; none between two bands.
  func links() -> [[Link]] {
    var result = Array(repeating: [Link](), count: max(0, items.count - 1))
    for (index, trunk) in trunks.enumerated() {
      for span in spans[index] {
        let start = span.isOwn ? span.first - 1 : span.first
        guard start < span.last else { continue }
        for gap in start..<span.last {
          let isSource = span.isOwn && gap == start
          let left = isSource ? Item.node(trunk.node) : .pass(index)
          let leftRow = isSource ? trunk.row : 0
          if gap + 1 < span.last {
            result[gap].append(Link(left: left, leftRow: leftRow, right: .pass(index), rightRow: 0))
          }
          for cable in trunk.cables {
            guard let end = ends[cable]?.destination, column[end.node] == gap + 1 else { continue }
            result[gap].append(Link(left: left, leftRow: leftRow, right: .node(end.node), rightRow: end.row))
          }
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
