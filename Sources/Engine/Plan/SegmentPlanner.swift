import Realtime

/// Cuts nodes into segments that may run on different threads. Worker.
///
/// A node's level is the longest path from a source. Adjacent levels are joined to bands as long as that
/// costs nothing. Within a band, connected nodes stay together, and the connected components are packed into
/// segments of about equal cost: the longest first, each into the least loaded segment (R. Graham, "Bounds on
/// multiprocessing timing anomalies", 1969). Nothing depends on measured times: the same nodes give the same
/// segments.
struct SegmentPlanner {
  struct Result {
    /// Node indices, segment by segment, in execution order within each.
    var order: [Int]
    /// The segment of each node, in that order.
    var segments: [Int]
    /// Predecessors of each segment, as a bit mask.
    var predecessors: [UInt64]
  }

  /// Cost of a handover between threads, in nanoseconds.
  private static let handover = 700.0
  /// Smallest worthwhile cost of a patch, in nanoseconds per block.
  private static let smallest = 6000.0

  private let threads: Int
  private let costs: [Double]
  /// Predecessors of each node.
  private let sources: [[Int]]
  private let levels: [[Int]]

  /// `nodes`: in execution order, each marked with its index.
  init(_ nodes: [EngineNode], threads: Int) {
    self.threads = threads
    costs = nodes.map(Self.cost)
    sources = Self.findSources(nodes)
    var depth = Array(repeating: 0, count: nodes.count)
    var levels: [[Int]] = []
    for index in nodes.indices {
      depth[index] = sources[index].reduce(0) { max($0, depth[$1] + 1) }
      if depth[index] == levels.count { levels.append([]) }
      levels[depth[index]].append(index)
    }
    self.levels = levels
  }

  /// nil when one thread does as well.
  func run() -> Result? {
    let total = costs.reduce(0, +)
    guard threads > 1, total >= Self.smallest else { return nil }
    var price = Self.handover
    while true {
      let bands = makeBands(price)
      if let result = pack(bands, total), result.predecessors.count > 1 { return result }
      if bands.count * threads <= Segment.most { return nil }
      price *= 4
    }
  }

  // MARK: Dependencies

  private static func findSources(_ nodes: [EngineNode]) -> [[Int]] {
    var sources = nodes.map { node in
      node.incoming.filter { !$0.key.isFeedback }.map(\.source.planIndex)
    }
    // Writer and reader of a feedback ring share state about its silence, so they keep their order.
    for node in nodes {
      for cable in node.incoming where cable.key.isFeedback && cable.source !== node {
        let pair = (cable.source.planIndex, node.planIndex)
        sources[max(pair.0, pair.1)].append(min(pair.0, pair.1))
      }
    }
    // Endpoints that add to the same driver channels keep their order too.
    let ends = nodes.filter { $0.isSink && $0.firstChannel != nil }
    for (position, node) in ends.enumerated() {
      for other in ends[..<position] where channels(node).overlaps(channels(other)) {
        sources[node.planIndex].append(other.planIndex)
      }
    }
    return sources
  }

  private static func channels(_ node: EngineNode) -> Range<Int> {
    let first = node.firstChannel ?? 0
    return first..<first + max(node.inputChannels.first ?? 1, 1)
  }

  /// Estimated nanoseconds per full block, as measured on one processor; only the ratios matter.
  private static func cost(_ node: EngineNode) -> Double {
    let width = Double(max(node.outputChannels.max() ?? 0, node.inputChannels.max() ?? 0, 1))
    let audio = node.incoming.filter { !$0.carriesEvents }
    let mixing = audio.count > 1 ? Double(audio.count) * (10 + 3 * width) : 0
    let cost = node.type?.description.cost ?? .init(3)
    return cost.nanoseconds(inputs: node.inputChannels, outputs: node.outputChannels) + mixing
  }

  // MARK: Bands

  /// Shortest time of a band with these components.
  private func span(_ parts: Parts) -> Double { max(parts.largest, parts.total / Double(threads)) }

  /// Bands, as ranges of levels.
  private func makeBands(_ price: Double) -> [Range<Int>] {
    var bands: [Range<Int>] = []
    var band = Parts(count: costs.count)
    var start = 0
    for level in levels.indices {
      let before = span(band)
      var alone = Parts.Figures()
      for index in levels[level] { alone.add(costs[index]) }
      let mark = band.mark
      add(level, to: &band, from: start)
      let apart = before + price + max(alone.largest, alone.total / Double(threads))
      if level > start, span(band) > apart {
        band.undo(to: mark)
        bands.append(start..<level)
        start = level
        band.clear()
        add(level, to: &band, from: start)
      }
    }
    if start < levels.count { bands.append(start..<levels.count) }
    return bands
  }

  /// Joins the level's nodes to their predecessors within the band that begins at `start`.
  private func add(_ level: Int, to parts: inout Parts, from start: Int) {
    for index in levels[level] { parts.insert(index, costs[index]) }
    guard level > start else { return }
    for index in levels[level] {
      for source in sources[index] where parts.contains(source) { parts.join(source, index) }
    }
  }

  /// Packs the bands' components into segments; nil when there would be too many segments, or no gain.
  private func pack(_ bands: [Range<Int>], _ total: Double) -> Result? {
    var segments = Array(repeating: -1, count: costs.count)
    var count = 0
    var length = 0.0
    for band in bands {
      var parts = Parts(count: costs.count)
      for level in band { add(level, to: &parts, from: band.lowerBound) }
      let members = band.flatMap { levels[$0] }
      let roots = members.filter { parts.root($0) == $0 }
        .sorted { (-parts.cost($0), $0) < (-parts.cost($1), $1) }
      // More segments than threads, so that wrong estimates even out.
      let useful = Int(parts.total / (4 * Self.handover))
      let room = bands.count * 2 * threads <= Segment.most ? 2 * threads : threads
      let bins = max(1, min(room, roots.count, max(useful, min(threads, roots.count))))
      var loads = Array(repeating: 0.0, count: bins)
      var place: [Int: Int] = [:]
      for root in roots {
        let least = loads.indices.min { (loads[$0], $0) < (loads[$1], $1) }!
        loads[least] += parts.cost(root)
        place[root] = least
      }
      // The longest segment begins first.
      var rank = Array(repeating: 0, count: bins)
      let order = loads.indices.sorted { (-loads[$0], $0) < (-loads[$1], $1) }
      for (position, bin) in order.enumerated() { rank[bin] = position }
      for index in members { segments[index] = count + rank[place[parts.root(index)]!] }
      count += bins
      length += span(parts) + Self.handover
      guard count <= Segment.most else { return nil }
    }
    guard length < 0.85 * total else { return nil }
    var predecessors = Array(repeating: UInt64(0), count: count)
    for index in segments.indices {
      for source in sources[index] where segments[source] != segments[index] {
        predecessors[segments[index]] |= 1 << UInt64(segments[source])
      }
    }
    let order = segments.indices.sorted { (segments[$0], $0) < (segments[$1], $1) }
    return Result(order: order, segments: order.map { segments[$0] }, predecessors: predecessors)
  }
}

/// Connected components of nodes with their costs. The last changes can be undone (union by rank, without
/// path compression).
private struct Parts {
  struct Figures {
    var total = 0.0
    var largest = 0.0

    mutating func add(_ cost: Double) {
      total += cost
      largest = max(largest, cost)
    }
  }

  struct Mark {
    var figures: Figures
    var inserted: Int
    var joined: Int
  }

  private var parents: [Int32]
  private var sums: [Double]
  private var ranks: [UInt8]
  private var inserted: [Int] = []
  private var joined: [(child: Int, rankGrew: Bool)] = []
  private var figures = Figures()

  init(count: Int) {
    parents = Array(repeating: -1, count: count)
    sums = Array(repeating: 0, count: count)
    ranks = Array(repeating: 0, count: count)
  }

  var total: Double { figures.total }
  var largest: Double { figures.largest }
  var mark: Mark { Mark(figures: figures, inserted: inserted.count, joined: joined.count) }

  func contains(_ index: Int) -> Bool { parents[index] >= 0 }
  func cost(_ root: Int) -> Double { sums[root] }

  func root(_ index: Int) -> Int {
    var index = index
    while parents[index] != Int32(index) { index = Int(parents[index]) }
    return index
  }

  mutating func insert(_ index: Int, _ cost: Double) {
    parents[index] = Int32(index)
    sums[index] = cost
    ranks[index] = 0
    inserted.append(index)
    figures.add(cost)
  }

  mutating func join(_ a: Int, _ b: Int) {
    var (parent, child) = (root(a), root(b))
    guard parent != child else { return }
    if ranks[parent] < ranks[child] { swap(&parent, &child) }
    let grows = ranks[parent] == ranks[child]
    if grows { ranks[parent] += 1 }
    parents[child] = Int32(parent)
    sums[parent] += sums[child]
    joined.append((child, grows))
    figures.largest = max(figures.largest, sums[parent])
  }

  mutating func undo(to mark: Mark) {
    while joined.count > mark.joined {
      let (child, grew) = joined.removeLast()
      let parent = Int(parents[child])
      sums[parent] -= sums[child]
      if grew { ranks[parent] -= 1 }
      parents[child] = Int32(child)
    }
    while inserted.count > mark.inserted { parents[inserted.removeLast()] = -1 }
    figures = mark.figures
  }

  mutating func clear() {
    for index in inserted { parents[index] = -1 }
    inserted = []
    joined = []
    figures = Figures()
  }
}
