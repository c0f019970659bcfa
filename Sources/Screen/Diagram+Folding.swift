// Folding: a graph that is larger than the screen is turned into bands and columns, as text into lines and columns, so that
// one scrolls it in one direction only.

extension Diagram {
  /// The same graph, kept to a page as far as possible.
  func folded(
    _ nodes: [DiagramNode], _ cables: [DiagramCable], _ options: DiagramOptions, _ page: Size
  ) -> Diagram {
    let groups = Self.islands(nodes, cables)
    if groups.count == 1 { return wrapped(nodes, cables, options, page) }
    var groupOf: [String: Int] = [:]
    for (number, group) in groups.enumerated() {
      for node in group { groupOf[nodes[node].name] = number }
    }
    var cablesOf = groups.map { _ in [DiagramCable]() }
    for cable in cables {
      guard let group = groupOf[cable.source], groupOf[cable.destination] != nil else { continue }
      cablesOf[group].append(cable)
    }
    let parts = zip(groups, cablesOf).map { group, part in
      let own = group.map { nodes[$0] }
      let diagram = Diagram(nodes: own, cables: part, options: options, bands: [0])
      return diagram.size.columns > page.columns ? diagram.wrapped(own, part, options, page) : diagram
    }
    return Self.joined(parts, nodes, cables, options, page)
  }

  // MARK: Bands

  /// Columns that cables from band to band may take: more of them come from many chains beside each other, which leave no room
  /// for boxes, while in one band they are rows.
  private static let mostLanes = 24

  /// In as many bands as the width asks for. `self` is the diagram in one.
  private func wrapped(
    _ nodes: [DiagramNode], _ cables: [DiagramCable], _ options: DiagramOptions, _ page: Size
  ) -> Diagram {
    guard size.columns > page.columns else { return self }
    let starts = columnStarts
    var best = self
    // Less than the page by what the lines at both edges need, which is known when it is done.
    var width = page.columns
    for _ in 0..<(nodes.count > 200 ? 4 : 10) {
      let (bands, widest) = Self.bands(starts, width)
      if bands.count == 1 { break }
      var next = Diagram(nodes: nodes, cables: cables, options: options, bands: bands)
      next.isFolded = true
      if next.size.columns - widest > Self.mostLanes { return self }
      if next.size.columns < best.size.columns || !best.isFolded { best = next }
      if next.size.columns <= page.columns || bands.count == starts.count { break }
      width = min(width - (next.size.columns - page.columns), widest - 1)
    }
    return best
  }

  /// Left and right edge of each column of the layout, empty ones included.
  private var columnStarts: [(column: Int, left: Int, right: Int)] {
    columns.enumerated().map { index, names in
      let here = names.compactMap { frames[$0] }
      return (layoutColumns[index], here.map(\.column).min() ?? 0, here.map(\.right).max() ?? 0)
    }
  }

  /// The first column of each band, if each has as many columns as fit, and the width of the widest.
  private static func bands(
    _ columns: [(column: Int, left: Int, right: Int)], _ width: Int
  ) -> (bands: [Int], widest: Int) {
    var bands = [0]
    var widest = 0
    var left = columns.first?.left ?? 0
    for (index, column) in columns.enumerated() {
      if index > 0, column.right - left > width {
        bands.append(column.column)
        left = column.left
      }
      widest = max(widest, column.right - left)
    }
    return (bands, widest)
  }

  // MARK: Islands

  /// The unconnected parts, each with its nodes in the order given. Nodes with places are one part, since their places are
  /// relative to each other.
  private static func islands(_ nodes: [DiagramNode], _ cables: [DiagramCable]) -> [[Int]] {
    var parents = Array(nodes.indices)
    func root(_ node: Int) -> Int {
      var node = node
      while parents[node] != node {
        parents[node] = parents[parents[node]]
        node = parents[node]
      }
      return node
    }
    func join(_ a: Int, _ b: Int) {
      let (a, b) = (root(a), root(b))
      parents[max(a, b)] = min(a, b)
    }
    let index = Dictionary(
      nodes.indices.map { (nodes[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    for cable in cables {
      if let from = index[cable.source], let to = index[cable.destination] { join(from, to) }
    }
    let placed = nodes.indices.filter { nodes[$0].place != nil }
    for node in placed.dropFirst() { join(placed[0], node) }
    var groups: [[Int]] = []
    var place: [Int: Int] = [:]
    for node in nodes.indices {
      let root = root(node)
      if let known = place[root] {
        groups[known].append(node)
      } else {
        place[root] = groups.count
        groups.append([node])
      }
    }
    return groups
  }

  /// Parts wider than half a page below each other, then the others in columns.
  private static func joined(
    _ parts: [Diagram], _ nodes: [DiagramNode], _ cables: [DiagramCable], _ options: DiagramOptions,
    _ page: Size
  ) -> Diagram {
    let rowGap = max(1, options.rowGap)
    var origins = Array(repeating: Point.zero, count: parts.count)
    var top = 0
    for (index, part) in parts.enumerated() where part.size.columns * 2 > page.columns {
      origins[index].row = top
      top += part.size.rows + rowGap
    }
    let narrow = parts.indices.filter { parts[$0].size.columns * 2 <= page.columns }
    for (index, origin) in flow(narrow.map { parts[$0].size }, options, page, startsPage: top == 0) {
      origins[narrow[index]] = Point(origin.column, origin.row + top)
    }
    return Diagram(joining: Array(zip(parts, origins)), cables)
  }

  /// Fills columns from the top, as high as a page if they need not be higher.
  private static func flow(
    _ sizes: [Size], _ options: DiagramOptions, _ page: Size, startsPage: Bool
  ) -> [(Int, Point)] {
    let rowGap = max(1, options.rowGap)
    let columnGap = max(1, options.margin) + 1
    var height = max(sizes.map(\.rows).max() ?? 0, startsPage ? page.rows : 0)
    while true {
      var places: [(Int, Point)] = []
      var (column, row, width) = (0, 0, 0)
      for (index, size) in sizes.enumerated() {
        if row > 0, row + size.rows > height {
          (column, row, width) = (column + width + columnGap, 0, 0)
        }
        places.append((index, Point(column, row)))
        row += size.rows + rowGap
        width = max(width, size.columns)
      }
      if column == 0 || column + width <= page.columns { return places }
      height += 1
    }
  }

  /// Parts at their origins. Parts are in the order of their first nodes.
  private init(joining parts: [(diagram: Diagram, origin: Point)], _ cables: [DiagramCable]) {
    isFolded = true
    var partOf: [String: Int] = [:]
    var next = Array(repeating: 0, count: parts.count)
    for (index, (part, origin)) in parts.enumerated() {
      for (name, frame) in part.frames {
        frames[name] = frame.offset(by: origin)
        partOf[name] = index
      }
      places.merge(part.places) { first, _ in first }
      islands.append(columns.count..<columns.count + part.columns.count)
      columns += part.columns
      layoutColumns += part.layoutColumns
      size = Size(
        columns: max(size.columns, origin.column + part.size.columns),
        rows: max(size.rows, origin.row + part.size.rows))
    }
    for cable in cables {
      guard let index = partOf[cable.source], partOf[cable.destination] != nil else {
        routes.append(
          Route(points: [], isBackward: false, endMark: .zero, middleMark: .zero, trunk: -1, target: -1))
        continue
      }
      let (part, origin) = parts[index]
      // Numbers of trunks and targets are unique within a part.
      routes.append(part.routes[next[index]].moved(by: origin, to: index))
      next[index] += 1
    }
  }
}

extension Diagram.Route {
  /// Moved by a vector, as a part of a larger diagram.
  fileprivate func moved(by vector: Point, to part: Int) -> Self {
    Self(
      points: points.map { $0 + vector }, isBackward: isBackward, endMark: endMark + vector,
      middleMark: middleMark + vector, trunk: part << 32 | trunk, target: part << 32 | target)
  }
}
