/// Routes cables in the gaps between columns. This is the classic channel routing problem, solved as in
/// Hashimoto and Stevens, "Wire Routing by Optimizing Channel Assignment" (1971), with doglegs where two
/// trunks block each other (Deutsch, "A Dogleg Channel Router", 1976).
///
/// Each trunk has one vertical line in a gap, its track. Lines of different trunks never overlap; at a
/// crossing one goes over the other. Only cables to the same input merge.
struct CableRouter {
  let layout: GraphLayout
  /// Gap n is right of column n - 1. Gap 0 is left of the first columns of all bands: what leads from one band to another
  /// goes that way.
  private var gaps: [[Piece]]
  /// The pieces of each trunk in each gap, in their order.
  private var chains: [[Int: [Int]]] = []
  /// Rows of the trunks that pass each column, from the top of its band.
  private let passRows: [[Int: Int]]
  /// Number of tracks of each gap.
  private var tracks: [Int]
  /// A trunk's lane below its band, for its backward cables and those to other bands: its row, and the first column
  /// above it.
  private var lanes: [Int: (row: Int, first: Int)] = [:]
  /// Top row of each node's box.
  private var tops: [Int]
  /// Top row of each band, and the first row below its boxes.
  private var bandTops: [Int]
  private var bandBottoms: [Int]
  /// Rows kept free below the lanes of each band.
  private let spare: [Int]

  /// `spare`: rows to keep free below each band.
  init(_ layout: GraphLayout, spare: [Int]) {
    self.layout = layout
    self.spare = spare
    gaps = Array(repeating: [], count: layout.items.count + 1)
    tracks = Array(repeating: 0, count: layout.items.count + 1)
    tops = Array(repeating: 0, count: layout.nodes.count)
    bandTops = Array(repeating: 0, count: layout.bands.count)
    bandBottoms = bandTops
    passRows = zip(layout.items, layout.rows).map { items, rows in
      var known: [Int: Int] = [:]
      for case (.pass(let trunk), let row) in zip(items, rows) { known[trunk] = row }
      return known
    }
    for band in layout.bands.indices {
      for column in layout.columns(ofBand: band) {
        for (item, row) in zip(layout.items[column], layout.rows[column]) {
          bandBottoms[band] = max(bandBottoms[band], row + layout.height(item))
          if case .node(let node) = item { tops[node] = row }
        }
      }
    }
  }

  /// The gap left of a column.
  private func gap(leftOf column: Int) -> Int { layout.bands.contains(column) ? 0 : column }

  // MARK: Rows at which trunks enter and leave the gaps

  /// Assigns a row below its band to each trunk with backward cables or cables to other bands, and puts the bands below
  /// each other. Trunks that do not overlap share a row.
  mutating func assignLanes() {
    var taken: [[[ClosedRange<Int>]]] = Array(repeating: [], count: layout.bands.count)
    for (index, trunk) in layout.trunks.enumerated() {
      let start = layout.column[trunk.node]
      let band = layout.band(of: start)
      var first = Int.max
      for cable in trunk.cables {
        if layout.isWrapped(cable) {
          first = layout.bands[band]
        } else if layout.isBackward(cable), let end = layout.ends[cable]?.destination {
          first = min(first, layout.column[end.node])
        }
      }
      guard first < .max else { continue }
      let span = first...start + 1
      let lane = taken[band].firstIndex { !$0.contains { $0.overlaps(span) } } ?? taken[band].count
      if lane == taken[band].count { taken[band].append([]) }
      taken[band][lane].append(span)
      lanes[index] = (lane, first)
    }
    let rowGap = min(1, layout.options.rowGap)
    var shifts: [Int] = []
    var top = 0
    for band in layout.bands.indices {
      shifts.append(top)
      bandTops[band] = top
      bandBottoms[band] += top
      top = bandBottoms[band] + rowGap + taken[band].count + spare[band]
      if !taken[band].isEmpty { top += rowGap }
    }
    for node in tops.indices { tops[node] += shifts[layout.band(of: layout.column[node])] }
    for (index, lane) in lanes {
      let band = layout.band(of: layout.column[layout.trunks[index].node])
      lanes[index]?.row = bandBottoms[band] + rowGap + lane.row
    }
  }

  mutating func assignTracks() {
    for index in layout.trunks.indices { enter(index) }
    for gap in gaps.indices {
      let straight = gaps[gap].filter(\.isStraight)
      let top = gap == 0 ? 0 : bandTops[layout.band(of: gap - 1)]
      let pieces = schedule(merged(gaps[gap].filter { !$0.isStraight }), straight, from: top)
      tracks[gap] = (pieces.map(\.track).max() ?? -1) + 1
      gaps[gap] = straight + pieces
    }
    chains = gaps.map { pieces in
      var known: [Int: [Int]] = [:]
      for (index, piece) in pieces.enumerated() {
        for trunk in piece.trunks { known[trunk, default: []].append(index) }
      }
      return known.mapValues { $0.sorted { pieces[$0].part < pieces[$1].part } }
    }
  }

  /// Rows by which the lines of each band reach into the next one.
  var overflow: [Int] {
    layout.bands.indices.map { band in
      guard band + 1 < bandTops.count else { return 0 }
      let lowest = layout.columns(ofBand: band).flatMap { gaps[$0 + 1] }.map(\.bottom).max() ?? 0
      return max(0, lowest + 1 - bandTops[band + 1])
    }
  }

  /// Merges the pieces that lead to one common input only.
  private func merged(_ pieces: [Piece]) -> [Piece] {
    var result: [Piece] = []
    var single: [Int: Int] = [:]
    for piece in pieces {
      guard piece.lefts.count == 1, piece.rights.count == 1, let row = piece.rights.first else {
        result.append(piece)
        continue
      }
      if let known = single[row] {
        result[known].merge(piece)
      } else {
        single[row] = result.count
        result.append(piece)
      }
    }
    return result
  }

  /// Records the rows where a trunk enters and leaves each gap.
  private mutating func enter(_ index: Int) {
    let trunk = layout.trunks[index]
    let start = layout.column[trunk.node]
    let source = tops[trunk.node] + trunk.row
    var sides: [Int: (lefts: Set<Int>, rights: Set<Int>)] = [:]
    sides[start + 1, default: ([], [])].lefts.insert(source)
    for span in layout.spans[index] {
      for column in stride(from: span.first, to: span.last, by: 1) {
        guard let row = passRow(index, column) else { continue }
        sides[gap(leftOf: column), default: ([], [])].rights.insert(row)
        sides[column + 1, default: ([], [])].lefts.insert(row)
      }
    }
    for cable in trunk.cables {
      guard let end = layout.ends[cable]?.destination else { continue }
      let row = tops[end.node] + end.row
      sides[gap(leftOf: layout.column[end.node]), default: ([], [])].rights.insert(row)
    }
    if let (lane, first) = lanes[index] {
      // From the gap right of the source, below the band, to the leftmost gap with a destination.
      sides[start + 1, default: ([], [])].lefts.insert(lane)
      for column in first...start {
        sides[gap(leftOf: column), default: ([], [])].rights.insert(lane)
        if column > first { sides[gap(leftOf: column)]?.lefts.insert(lane) }
      }
    }
    for (gap, side) in sides.sorted(by: { $0.key < $1.key }) {
      gaps[gap].append(Piece(trunks: [index], lefts: side.lefts, rights: side.rights))
    }
  }

  private func passRow(_ trunk: Int, _ column: Int) -> Int? {
    passRows[column][trunk].map { $0 + bandTops[layout.band(of: column)] }
  }

  // MARK: Order of the tracks

  /// Orders a gap's pieces from left to right so that none overlaps another and few cross, and gives them tracks; cuts pieces
  /// that block each other.
  private func schedule(_ pieces: [Piece], _ straight: [Piece], from top: Int) -> [Piece] {
    // Cables above have nothing to do with those below, unless a cut leads from one to the other.
    let apart = Self.apart(pieces).map { ordered($0, straight, from: top) }
    let isCut = apart.reduce(0) { $0 + $1.count } > pieces.count
    return (isCut ? [ordered(pieces, straight, from: top)] : apart).flatMap { withTracks($0) }
  }

  private func ordered(_ pieces: [Piece], _ straight: [Piece], from top: Int) -> [Piece] {
    var queue = TrackQueue(pieces)
    while !queue.isEmpty { queue.takeNext(avoiding: straight, from: top) }
    return queue.done
  }

  /// Sets of pieces of which none overlaps one of another set.
  private static func apart(_ pieces: [Piece]) -> [[Piece]] {
    var sets: [[Int]] = []
    var bottom = Int.min
    for index in pieces.indices.sorted(by: { (pieces[$0].top, $0) < (pieces[$1].top, $1) }) {
      if pieces[index].top > bottom { sets.append([]) }
      sets[sets.count - 1].append(index)
      bottom = max(bottom, pieces[index].bottom)
    }
    return sets.map { $0.sorted().map { pieces[$0] } }
  }

  private func withTracks(_ ordered: [Piece]) -> [Piece] {
    var pieces = ordered
    for index in pieces.indices {
      var track = 0
      for before in 0..<index where pieces[before].track >= track {
        if pieces[before].overlaps(pieces[index]) || pieces[before].mustPrecede(pieces[index]) {
          track = pieces[before].track + 1
        }
      }
      pieces[index].track = track
    }
    return pieces
  }

  // MARK: The result

  func diagram() -> Diagram {
    var diagram = Diagram()
    let (starts, gapStarts, width) = columnPlaces()
    for (column, items) in layout.items.enumerated() {
      var names: [String] = []
      for case .node(let node) in items {
        let box = layout.nodes[node]
        diagram.frames[box.name] = Rect(
          column: starts[column], row: tops[node], columns: box.size.columns, rows: box.size.rows)
        let row = tops[node] - bandTops[layout.band(of: column)]
        diagram.places[box.name] = Point(layout.asked[node], row / max(1, layout.options.gridRows))
        names.append(box.name)
      }
      guard !names.isEmpty else { continue }
      diagram.columns.append(names)
      diagram.layoutColumns.append(column)
    }
    diagram.islands = [0..<diagram.columns.count]
    for cable in layout.ends.indices {
      diagram.routes.append(route(cable, diagram, gapStarts))
    }
    let lowest = diagram.routes.flatMap(\.points).map { $0.row + 1 } + diagram.frames.values.map(\.bottom)
    diagram.size = Size(columns: width, rows: lowest.max() ?? 0)
    return diagram
  }

  private func pitch(_ gap: Int) -> Int { tracks[gap] > 16 ? 1 : max(1, layout.options.trackPitch) }

  /// Width of a column without boxes.
  private static let emptyColumn = 12

  /// First columns of the boxes and of the gaps' tracks, and the total width.
  private func columnPlaces() -> (boxes: [Int], tracks: [Int], width: Int) {
    let margin = max(1, layout.options.margin)
    var boxes: [Int] = []
    var trackStarts = [0]
    func lines(_ gap: Int) -> Int { tracks[gap] == 0 ? 0 : (tracks[gap] - 1) * pitch(gap) + 1 }
    let start = lines(0) == 0 ? 0 : lines(0) + (layout.items.isEmpty ? 0 : margin)
    var width = start
    for band in layout.bands.indices {
      var place = start
      let columns = layout.columns(ofBand: band)
      for column in columns {
        boxes.append(place)
        let widths = layout.items[column].compactMap { item -> Int? in
          if case .node(let node) = item { layout.nodes[node].size.columns } else { nil }
        }
        place += widths.max() ?? Self.emptyColumn
        let isLast = column + 1 == columns.upperBound
        let lines = lines(column + 1)
        trackStarts.append(place + margin - 1)
        if lines > 0 {
          place += margin - 1 + lines + (isLast ? 0 : margin)
        } else if !isLast {
          place += margin
        }
      }
      width = max(width, place)
    }
    return (boxes, trackStarts, width)
  }

  private func route(_ cable: Int, _ diagram: Diagram, _ trackStarts: [Int]) -> Diagram.Route {
    guard let (source, destination, trunk) = layout.ends[cable],
      let from = diagram.frames[layout.nodes[source.node].name],
      let to = diagram.frames[layout.nodes[destination.node].name]
    else {
      return Diagram.Route(
        points: [], isBackward: false, endMark: .zero, middleMark: .zero, trunk: -1, target: -1)
    }
    let start = layout.column[source.node]
    let end = layout.column[destination.node]
    let target = to.row + destination.row
    var row = from.row + source.row
    var points = [Point(from.right - 1, row)]
    func cross(_ gap: Int, to next: Int, fromLeft: Bool, toRight: Bool) {
      var chain = (chains[gap][trunk] ?? []).map { gaps[gap][$0] }
      if !toRight { chain = Array(chain.prefix(1)) }
      if !fromLeft { chain = Array(chain.suffix(1)) }
      for (index, piece) in chain.enumerated() where !piece.isStraight {
        let column = trackStarts[gap] + piece.track * pitch(gap)
        // The two parts of a dogleg meet on their common row.
        let leaves = index + 1 < chain.count ? piece.rights.first ?? next : next
        points += [Point(column, row), Point(column, leaves)]
        row = leaves
      }
      row = next
    }
    let isBackward = layout.isBackward(cable)
    // The first gap that it goes through as in one band.
    var first = start + 1
    if isBackward || layout.isWrapped(cable), let lane = lanes[trunk]?.row {
      cross(start + 1, to: lane, fromLeft: true, toRight: false)
      let column = isBackward ? end : layout.bands[layout.band(of: end)]
      let next = column == end ? target : passRow(trunk, column) ?? lane
      cross(gap(leftOf: column), to: next, fromLeft: false, toRight: true)
      first = column + 1
    }
    for gap in stride(from: first, through: end, by: 1) {
      let next = gap == end ? target : passRow(trunk, gap) ?? row
      cross(gap, to: next, fromLeft: true, toRight: true)
    }
    points.append(Point(to.column, target))
    points = straightened(points)
    return Diagram.Route(
      points: points, isBackward: isBackward, endMark: Point(to.column - 2, target),
      middleMark: middle(points), trunk: trunk, target: destination.node << 16 | destination.row)
  }

  /// Removes points in the middle of straight lines.
  private func straightened(_ points: [Point]) -> [Point] {
    var result: [Point] = []
    for point in points where point != result.last {
      if result.count > 1 {
        let (a, b) = (result[result.count - 2], result[result.count - 1])
        if a.row == b.row && b.row == point.row || a.column == b.column && b.column == point.column {
          result.removeLast()
        }
      }
      result.append(point)
    }
    return result
  }

  private func middle(_ points: [Point]) -> Point {
    var best = (length: -1, point: points.first ?? .zero)
    for (a, b) in zip(points, points.dropFirst()) where a.row == b.row {
      let length = abs(a.column - b.column)
      if length > best.length { best = (length, Point((a.column + b.column) / 2, a.row)) }
    }
    return best.point
  }
}
