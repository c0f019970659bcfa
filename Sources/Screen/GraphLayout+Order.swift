extension GraphLayout {
  /// Orders each column so that few cables cross. The order changes only if that reduces crossings.
  mutating func order(keeping previous: Diagram?) {
    let links = links()
    arrangeFirst(links, keeping: previous)
    var best = items
    var fewest = crossings(items, links)
    var current = items
    for sweep in 0..<12 where fewest > 0 {
      let isForward = sweep % 2 == 0
      for step in items.indices.dropFirst() {
        let column = isForward ? step : items.count - 1 - step
        sort(&current, column, links, fromLeft: isForward)
      }
      exchange(&current, links)
      let count = crossings(current, links)
      if count < fewest {
        best = current
        fewest = count
      }
    }
    items = best
  }

  /// Initial order: nodes as before, or as given; each pass beside its source.
  private mutating func arrangeFirst(_ links: [[Link]], keeping previous: Diagram?) {
    for index in items.indices {
      var nodesHere: [Int] = []
      var passes: [Item] = []
      for item in items[index] {
        if case .node(let node) = item { nodesHere.append(node) } else { passes.append(item) }
      }
      if let previous {
        // Known nodes keep their order; each new one follows its known predecessor.
        let known = nodesHere.filter { previous.frames[nodes[$0].name] != nil }
          .sorted { middle($0, previous) < middle($1, previous) }
        var result = known
        for node in nodesHere where previous.frames[nodes[node].name] == nil {
          let before = nodesHere.prefix { $0 != node }.last
          let place = before.flatMap { result.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
          result.insert(node, at: place)
        }
        nodesHere = result
      }
      var result = nodesHere.map { Item.node($0) }
      // A pass starts at the relative height of its source in the previous column.
      let places = index > 0 && !passes.isEmpty ? indices(items[index - 1]) : [:]
      let sources =
        places.isEmpty
        ? [:]
        : Dictionary(
          links[index - 1].map { ($0.right, $0.left) }, uniquingKeysWith: { first, _ in first })
      for pass in passes {
        guard let source = sources[pass], let row = places[source] else {
          result.append(pass)
          continue
        }
        let share = (Double(row) + 0.5) / Double(items[index - 1].count)
        result.insert(pass, at: min(result.count, Int((share * Double(result.count)).rounded())))
      }
      items[index] = result
    }
  }

  private func middle(_ node: Int, _ diagram: Diagram) -> Int {
    diagram.frames[nodes[node].name].map { $0.row * 2 + $0.rows } ?? 0
  }

  /// Position of a port in its column: the item's index plus the port's relative height.
  private func position(_ row: Int, of item: Item, at index: Int) -> Double {
    Double(index) + (Double(row) + 0.5) / Double(height(item))
  }

  private func indices(_ column: [Item]) -> [Item: Int] {
    Dictionary(uniqueKeysWithValues: column.enumerated().map { ($0.element, $0.offset) })
  }

  /// Sorts a column by the medians of its neighbours in the column before or after; items without neighbours
  /// stay.
  private func sort(_ columns: inout [[Item]], _ column: Int, _ links: [[Link]], fromLeft: Bool) {
    let other = fromLeft ? column - 1 : column + 1
    guard columns.indices.contains(other) else { return }
    let places = indices(columns[other])
    var neighbors: [Item: [Double]] = [:]
    for link in links[min(column, other)] {
      let (here, there, row) =
        fromLeft ? (link.right, link.left, link.leftRow) : (link.left, link.right, link.rightRow)
      if let index = places[there] {
        neighbors[here, default: []].append(position(row, of: there, at: index))
      }
    }
    let movable = columns[column].enumerated().compactMap { index, item in
      neighbors[item].map { (item: item, median: median($0.sorted()), index: index) }
    }
    let slots = movable.map(\.index)
    let sorted = movable.sorted { ($0.median, $0.index) < ($1.median, $1.index) }
    for (slot, entry) in zip(slots, sorted) { columns[column][slot] = entry.item }
  }

  /// The median; of an even number, the two middle values weighted towards the denser side (Gansner et al.).
  private func median(_ values: [Double]) -> Double {
    let middle = values.count / 2
    if values.count % 2 == 1 { return values[middle] }
    if values.count == 2 { return (values[0] + values[1]) / 2 }
    let left = values[middle - 1] - values[0]
    let right = values[values.count - 1] - values[middle]
    if left + right == 0 { return (values[middle - 1] + values[middle]) / 2 }
    return (values[middle - 1] * right + values[middle] * left) / (left + right)
  }

  /// Swaps neighbours in a column as long as that reduces crossings.
  private func exchange(_ columns: inout [[Item]], _ links: [[Link]]) {
    for _ in 0..<4 {
      var isBetter = false
      for column in columns.indices where columns[column].count > 1 {
        let left = column > 0 ? ends(links[column - 1], indices(columns[column - 1]), atRight: true) : [:]
        let right =
          column + 1 < columns.count ? ends(links[column], indices(columns[column + 1]), atRight: false) : [:]
        for index in 0..<columns[column].count - 1 {
          let a = columns[column][index]
          let b = columns[column][index + 1]
          let now = crossings(left[a], left[b]) + crossings(right[a], right[b])
          let then = crossings(left[b], left[a]) + crossings(right[b], right[a])
          if then < now {
            columns[column].swapAt(index, index + 1)
            isBetter = true
          }
        }
      }
      if !isBetter { return }
    }
  }

  /// Positions in the neighbouring column that each item of a column is connected to.
  private func ends(_ links: [Link], _ places: [Item: Int], atRight: Bool) -> [Item: [Double]] {
    var result: [Item: [Double]] = [:]
    for link in links {
      let (here, there, row) =
        atRight ? (link.right, link.left, link.leftRow) : (link.left, link.right, link.rightRow)
      result[here, default: []].append(position(row, of: there, at: places[there] ?? 0))
    }
    return result
  }

  /// Number of crossings between the lines of two items if the first stands above the second.
  private func crossings(_ above: [Double]?, _ below: [Double]?) -> Int {
    guard let above, let below else { return 0 }
    return above.reduce(0) { sum, a in sum + below.count { $0 < a } }
  }

  private func crossings(_ columns: [[Item]], _ links: [[Link]]) -> Int {
    var total = 0
    for (gap, lines) in links.enumerated() {
      let left = indices(columns[gap])
      let right = indices(columns[gap + 1])
      let ordered = lines.map { line in
        (
          position(line.leftRow, of: line.left, at: left[line.left] ?? 0),
          position(line.rightRow, of: line.right, at: right[line.right] ?? 0)
        )
      }.sorted { $0 < $1 }
      // Counts inversions by insertion into a sorted list.
      var seen: [Double] = []
      for (_, value) in ordered {
        var low = 0
        var high = seen.count
        while low < high {
          let middle = (low + high) / 2
          if seen[middle] <= value { low = middle + 1 } else { high = middle }
        }
        total += seen.count - low
        seen.insert(value, at: low)
      }
    }
    return total
  }
}
