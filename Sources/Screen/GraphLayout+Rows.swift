extension GraphLayout {
  /// Assigns a top row to every item so that cables are straight where possible; the topmost row of each band is 0. Boxes
  /// with a place of the user leave their natural rows last, so that the others stay where they are.
  mutating func assignRows() {
    let links = links()
    rows = items.map { column in
      var row = 0
      return column.enumerated().map { index, item in
        if index > 0 { row += separation(column[index - 1], item) }
        return row
      }
    }
    for pass in 0..<8 {
      let isForward = pass % 2 == 0
      for step in items.indices {
        let column = isForward ? step : items.count - 1 - step
        // The last two passes consider both sides.
        settle(column, links, left: isForward || pass >= 6, right: !isForward || pass >= 6)
      }
    }
    level()
    guard nodes.contains(where: { $0.place != nil }) else { return }
    for column in items.indices { putPlaced(column) }
    level()
  }

  /// Moves each band so that its topmost row is 0.
  private mutating func level() {
    for band in bands.indices {
      let columns = columns(ofBand: band)
      let top = columns.compactMap { rows[$0].min() }.min() ?? 0
      for column in columns { rows[column] = rows[column].map { $0 - top } }
    }
  }

  /// Moves a column's placed boxes to their rows; the others make way where they must.
  private mutating func putPlaced(_ column: Int) {
    func place(_ item: Item) -> Int? {
      if case .node(let node) = item { nodes[node].place.map { $0.row * options.gridRows } } else { nil }
    }
    guard items[column].contains(where: { place($0) != nil }) else { return }
    let sorted = zip(items[column], rows[column]).map { item, row in (item: item, row: place(item) ?? row) }
      .enumerated().sorted { ($0.element.row, $0.offset) < ($1.element.row, $1.offset) }.map(\.element)
    items[column] = sorted.map(\.item)
    rows[column] = sorted.map(\.row)
    var weights = weights(items[column])
    for (index, item) in items[column].enumerated() where place(item) != nil { weights[index] = 1e6 }
    spread(column, weights)
  }

  /// Minimum distance between the tops of two adjacent items, in rows.
  private func separation(_ above: Item, _ below: Item) -> Int {
    if case .node = above, case .node = below { return height(above) + options.rowGap }
    return height(above)
  }

  /// Weight of each item of a column for keeping its row. A node that comes earlier in the patch outweighs
  /// all later ones, so that adding a node does not move existing ones.
  private func weights(_ column: [Item]) -> [Double] {
    let order = column.indices.sorted { a, b in
      switch (column[a], column[b]) {
      case (.node(let a), .node(let b)): a < b
      case (.node, .pass): true
      case (.pass, .node): false
      case (.pass(let a), .pass(let b)): a < b
      }
    }
    var weights = Array(repeating: 0.0, count: column.count)
    for (rank, index) in order.enumerated() {
      // The last items of long columns have equal weights: smaller ones would vanish beside the first.
      weights[index] = 1 / Double(1 << (6 * min(rank, 8)))
    }
    return weights
  }

  /// Moves a column's items towards the rows where their cables are straight, in unchanged order: isotonic
  /// regression by pooling adjacent violators.
  private mutating func settle(_ column: Int, _ links: [[Link]], left: Bool, right: Bool) {
    // Of several neighbours, the earliest in the patch counts: the main line stays straight, and later
    // additions stand aside.
    var wishes: [Item: (rank: Int, row: Int)] = [:]
    func note(_ item: Item, _ neighbor: Item, _ row: Int) {
      let rank =
        switch neighbor {
        case .node(let node): node
        case .pass(let trunk): nodes.count + trunk
        }
      if let known = wishes[item], known.rank <= rank { return }
      wishes[item] = (rank, row)
    }
    func wish(_ gap: Int, fromLeft: Bool) {
      guard links.indices.contains(gap) else { return }
      let other = fromLeft ? column - 1 : column + 1
      let places = Dictionary(uniqueKeysWithValues: zip(items[other], rows[other]))
      for link in links[gap] {
        if fromLeft {
          note(link.right, link.left, (places[link.left] ?? 0) + link.leftRow - link.rightRow)
        } else {
          note(link.left, link.right, (places[link.right] ?? 0) + link.rightRow - link.leftRow)
        }
      }
    }
    if left { wish(column - 1, fromLeft: true) }
    if right { wish(column, fromLeft: false) }

    for (index, item) in items[column].enumerated() {
      if let wish = wishes[item] { rows[column][index] = wish.row }
    }
    spread(column, weights(items[column]))
  }

  /// Moves a column's items as little as possible until none overlaps another.
  private mutating func spread(_ column: Int, _ weights: [Double]) {
    struct Block {
      var first: Int
      var weight: Double
      var sum: Double
      var place: Double { sum / weight }
    }
    var offset = 0
    var offsets: [Int] = []
    var blocks: [Block] = []
    for (index, item) in items[column].enumerated() {
      if index > 0 { offset += separation(items[column][index - 1], item) }
      offsets.append(offset)
      let weight = weights[index]
      blocks.append(
        Block(first: index, weight: weight, sum: weight * Double(rows[column][index] - offset)))
      while blocks.count > 1, blocks[blocks.count - 2].place > blocks[blocks.count - 1].place {
        let last = blocks.removeLast()
        blocks[blocks.count - 1].weight += last.weight
        blocks[blocks.count - 1].sum += last.sum
      }
    }
    for (index, block) in blocks.enumerated() {
      let end = index + 1 < blocks.count ? blocks[index + 1].first : items[column].count
      let place = Int(block.place.rounded())
      for item in block.first..<end { rows[column][item] = place + offsets[item] }
    }
  }
}
