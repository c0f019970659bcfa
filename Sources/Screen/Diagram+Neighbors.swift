extension Diagram {
  /// The next node for an arrow key. To the left and right it is one of the next column, or of the next band, at about the same
  /// height; up and down one of the same column, or else the nearest one there.
  public func neighbor(of name: String, _ direction: Direction) -> String? {
    guard let here = frames[name], let own = columns.firstIndex(where: { $0.contains(name) }) else {
      return nil
    }
    switch direction {
    case .up, .down:
      let index = (columns[own].firstIndex(of: name) ?? 0) + (direction == .up ? -1 : 1)
      return columns[own].indices.contains(index)
        ? columns[own][index] : nearest(to: here, direction, from: own)
    case .left, .right:
      let next = own + (direction == .left ? -1 : 1)
      guard islands.contains(where: { $0.contains(own) && $0.contains(next) }) else {
        return nearest(to: here, direction, from: own)
      }
      let middle = here.row * 2 + here.rows
      return columns[next].min { distance($0, middle) < distance($1, middle) }
    }
  }

  private func distance(_ other: String, _ middle: Int) -> Int {
    frames[other].map { abs($0.row * 2 + $0.rows - middle) } ?? Int.max
  }

  /// The nearest box in a direction, by rows and columns of the screen; straight ahead before diagonal.
  private func nearest(to here: Rect, _ direction: Direction, from own: Int) -> String? {
    guard isFolded else { return nil }
    let island = islands.firstIndex { $0.contains(own) }
    func distance(_ other: Rect) -> Int? {
      let gap: Int
      switch direction {
      case .left: gap = here.column - other.right
      case .right: gap = other.column - here.right
      case .up: gap = 2 * (here.row - other.bottom)
      case .down: gap = 2 * (other.row - here.bottom)
      }
      guard gap >= 0 else { return nil }
      switch direction {
      case .left, .right:
        // Only what is beside it.
        guard other.row < here.bottom + here.rows, other.bottom > here.row - here.rows else { return nil }
        return gap + 2 * abs(other.row * 2 + other.rows - here.row * 2 - here.rows)
      case .up, .down:
        return gap + abs(other.column * 2 + other.columns - here.column * 2 - here.columns) / 2
      }
    }
    var best: (name: String, distance: Int)?
    for (index, names) in columns.enumerated() {
      // To the left and right the ends of a chain are ends; other parts stand there.
      let isSame = island.map { islands[$0].contains(index) } ?? true
      if isSame, direction == .left || direction == .right { continue }
      for name in names {
        guard let frame = frames[name], let distance = distance(frame) else { continue }
        if best.map({ distance < $0.distance }) ?? true { best = (name, distance) }
      }
    }
    return best?.name
  }
}
