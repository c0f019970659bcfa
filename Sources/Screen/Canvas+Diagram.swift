/// Appearance of a cable.
public struct CableLook: Hashable, Sendable {
  /// Colours and attributes.
  public var style: Style
  /// Kind of line.
  public var stroke: Stroke
  /// On a trunk shared by several cables, the one with the highest priority is visible.
  public var priority: Int

  /// A light line with the lowest priority by default.
  public init(_ style: Style, stroke: Stroke = .light, priority: Int = 0) {
    self.style = style
    self.stroke = stroke
    self.priority = priority
  }
}

extension Canvas {
  /// Draws a diagram's cables over its boxes, which must be drawn already. Ends join the frames; branches of
  /// one output and merges into one input become junctions. Where unrelated cables cross, the vertical line
  /// is drawn over the other, which has a gap.
  public mutating func drawCables(of diagram: Diagram, looks: (Int) -> CableLook) {
    let area = visible.intersection(
      Rect(column: 0, row: 0, columns: diagram.size.columns, rows: diagram.size.rows))
    guard !area.isEmpty else { return }
    var crossings = Crossings(area)
    var look: [Int: CableLook] = [:]
    for (index, route) in diagram.routes.enumerated() where route.points.count > 1 && route.crosses(area) {
      let own = looks(index)
      look[index] = own
      crossings.add(route, index, weight: own.stroke.weight)
    }
    for (point, members) in crossings.cells() {
      paint(members, at: point, diagram, look)
    }
  }

  private mutating func paint(
    _ members: [Crossings.Member], at point: Point, _ diagram: Diagram, _ look: [Int: CableLook]
  ) {
    let shown = Canvas.related(members, diagram)
    var arms = Arms()
    var isDotted = true
    guard var top = look[shown[0].route] else { return }
    for member in shown {
      guard let own = look[member.route] else { continue }
      arms = arms.heaviest(member.arms)
      if own.stroke != .dotted { isDotted = false }
      if own.priority > top.priority { top = own }
    }
    let there = self[point]
    if let frame = Arms(there.glyph) {
      // The end at a box: its frame keeps its appearance.
      set(frame.joined(arms).character(rounded: true), at: point, there.style)
    } else {
      set(arms.whole.character(rounded: true, dotted: isDotted), at: point, top.style)
    }
  }

  /// The visible ones of a cell's cables: those related to the vertical ones.
  private static func related(_ members: [Crossings.Member], _ diagram: Diagram) -> [Crossings.Member] {
    guard members.count > 1 else { return members }
    func isRelated(_ a: Int, _ b: Int) -> Bool {
      diagram.routes[a].trunk == diagram.routes[b].trunk
        || diagram.routes[a].target == diagram.routes[b].target
    }
    let start = members.firstIndex { $0.arms.up != .none || $0.arms.down != .none } ?? 0
    var shown = [members[start]]
    var rest = members
    rest.remove(at: start)
    var index = 0
    while index < shown.count {
      let route = shown[index].route
      shown += rest.filter { isRelated($0.route, route) }
      rest.removeAll { isRelated($0.route, route) }
      index += 1
    }
    return shown
  }
}

extension Arms {
  /// The union; each arm has the heavier of the two weights.
  func heaviest(_ other: Arms) -> Arms {
    Arms(
      up: max(up, other.up), right: max(right, other.right), down: max(down, other.down),
      left: max(left, other.left))
  }
}

/// The cables through each cell of an area.
private struct Crossings {
  struct Member {
    var route: Int
    var arms: Arms
    /// Index of the cell's next member, or -1.
    var next: Int
  }

  let area: Rect
  /// Index of the first member of each cell, or -1.
  private var first: [Int]
  private var members: [Member] = []

  init(_ area: Rect) {
    self.area = area
    first = Array(repeating: -1, count: area.columns * area.rows)
  }

  mutating func add(_ route: Diagram.Route, _ index: Int, weight: Arms.Weight) {
    let points = route.points
    for (a, b) in zip(points, points.dropFirst()) {
      if a.row == b.row {
        guard a.row >= area.row, a.row < area.bottom else { continue }
        let left = min(a.column, b.column)
        let right = max(a.column, b.column)
        guard left < area.right, right >= area.column else { continue }
        for column in max(left, area.column)...min(right, area.right - 1) {
          add(
            Arms(right: column < right ? weight : .none, left: column > left ? weight : .none),
            Point(column, a.row), index)
        }
      } else {
        guard a.column >= area.column, a.column < area.right else { continue }
        let top = min(a.row, b.row)
        let bottom = max(a.row, b.row)
        guard top < area.bottom, bottom >= area.row else { continue }
        for row in max(top, area.row)...min(bottom, area.bottom - 1) {
          add(
            Arms(up: row > top ? weight : .none, down: row < bottom ? weight : .none),
            Point(a.column, row), index)
        }
      }
    }
  }

  private mutating func add(_ arms: Arms, _ point: Point, _ route: Int) {
    let cell = (point.row - area.row) * area.columns + point.column - area.column
    // The two sides of a corner are combined.
    if first[cell] >= 0, members[first[cell]].route == route {
      members[first[cell]].arms = members[first[cell]].arms.heaviest(arms)
      return
    }
    members.append(Member(route: route, arms: arms, next: first[cell]))
    first[cell] = members.count - 1
  }

  /// Every cell with cables, in reading order.
  func cells() -> [(Point, [Member])] {
    first.indices.compactMap { cell in
      guard first[cell] >= 0 else { return nil }
      var found: [Member] = []
      var next = first[cell]
      while next >= 0 {
        found.append(members[next])
        next = members[next].next
      }
      return (Point(area.column + cell % area.columns, area.row + cell / area.columns), found)
    }
  }
}
