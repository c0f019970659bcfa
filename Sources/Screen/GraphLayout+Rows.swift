extension GraphLayout {
  /// Assigns a top row to every item so that cables are straight where possible; the topmost row is 0.
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
    let top = rows.joined().min() ?? 0
    for index in rows.indices { rows[index] = rows[index].map { $0 - top } }
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
      if case .node(let node) = column[index], nodes[node].place != nil { weights[index] = 1e6 }
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

    struct Block {
      var first: Int
      var weight: Double
      var sum: Double
      var place: Double { sum / weight }
    }
    let weights = weights(items[column])
    var offset = 0
    var offsets: [Int] = []
    var blocks: [Block] = []
    for (index, item) in items[column].enumerated() {
      if index > 0 { offset += separation(items[column][index - 1], item) }
      offsets.append(offset)
      var wanted = rows[column][index]
      if case .node(let node) = item, let place = nodes[node].place {
        wanted = place.row * options.gridRows
      } else if let wish = wishes[item] {
        wanted = wish.row
      }
      let weight = weights[index]
      blocks.append(Block(first: index, weight: weight, sum: weight * Double(wanted - offset)))
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
