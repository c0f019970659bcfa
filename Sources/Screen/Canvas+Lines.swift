extension Canvas {
  /// Draws a line along the points. Segments are horizontal or vertical; a slanting step goes horizontally
  /// first. The line joins the lines that it meets: a line at a box's edge gives ├, a crossing gives ┼.
  /// Corners are rounded unless the line joins another there.
  public mutating func path(
    _ points: [Point], stroke: Stroke = .light, rounded: Bool = true, _ style: Style = Style(.frame)
  ) {
    var corners: [Point] = []
    for point in points {
      if let last = corners.last, last.column != point.column, last.row != point.row {
        corners.append(Point(point.column, last.row))
      }
      if point != corners.last { corners.append(point) }
    }
    guard corners.count > 1 else { return }
    // Within one path a cell's arms are combined before they are joined with the existing line.
    for index in corners.indices {
      var arms = Arms()
      if index > 0 { arms = arms.joined(arm(from: corners[index], towards: corners[index - 1], stroke)) }
      if index + 1 < corners.count {
        let next = corners[index + 1]
        arms = arms.joined(arm(from: corners[index], towards: next, stroke))
        let along = arm(from: next, towards: corners[index], stroke)
          .joined(arm(from: corners[index], towards: next, stroke))
        let step = Point(
          (next.column - corners[index].column).signum(), (next.row - corners[index].row).signum())
        for place in seen(from: corners[index] + step, to: next, step: step) {
          join(along, at: place, stroke: stroke, rounded: rounded, style)
        }
      }
      join(arms, at: corners[index], stroke: stroke, rounded: rounded, style)
    }
  }

  /// Draws a frame and clears its inside, unless `filled` is false. The frame replaces existing lines, or
  /// joins them on request. A frame less than 2 cells wide or high is a straight line.
  public mutating func box(
    _ rect: Rect, stroke: Stroke = .light, rounded: Bool = false, joining: Bool = false, filled: Bool = true,
    _ style: Style = Style(.frame)
  ) {
    if rect.columns == 1 || rect.rows == 1 {
      path([rect.origin, Point(rect.right - 1, rect.bottom - 1)], stroke: stroke, style)
      return
    }
    if filled { fill(joining ? rect.inset(by: 1) : rect) }
    let area = rect.intersection(visible)
    for row in area.row..<area.bottom {
      let isEdge = row == rect.row || row == rect.bottom - 1
      for column in isEdge ? Array(area.column..<area.right) : [rect.column, rect.right - 1] {
        var arms = Arms()
        if isEdge && column > rect.column { arms.left = stroke.weight }
        if isEdge && column < rect.right - 1 { arms.right = stroke.weight }
        if column == rect.column || column == rect.right - 1 {
          if row > rect.row { arms.up = stroke.weight }
          if row < rect.bottom - 1 { arms.down = stroke.weight }
        }
        let place = Point(column, row)
        if joining {
          join(arms, at: place, stroke: stroke, rounded: rounded, style)
        } else {
          set(arms.character(rounded: rounded, dotted: stroke == .dotted), at: place, style)
        }
      }
    }
  }

  /// Adds arms to an existing line.
  public mutating func join(
    _ arms: Arms, at point: Point, stroke: Stroke = .light, rounded: Bool = true, _ style: Style
  ) {
    guard visible.contains(point), !arms.isEmpty else { return }
    let old = self[point]
    guard let there = Arms(old.glyph) else {
      // A free end is drawn as a whole line: a half line is hard to see.
      set(arms.whole.character(rounded: rounded, dotted: stroke == .dotted), at: point, style)
      return
    }
    let both = there.joined(arms)
    let wasDotted = old.glyph == "┈" || old.glyph == "┊"
    let wasRounded = old.glyph == "╭" || old.glyph == "╮" || old.glyph == "╯" || old.glyph == "╰"
    set(
      both.character(
        rounded: rounded || wasRounded, dotted: stroke == .dotted && (wasDotted || both == arms)),
      at: point, style)
  }

  private func arm(from a: Point, towards b: Point, _ stroke: Stroke) -> Arms {
    let weight = stroke.weight
    if a.row == b.row { return b.column > a.column ? Arms(right: weight) : Arms(left: weight) }
    return b.row > a.row ? Arms(down: weight) : Arms(up: weight)
  }

  /// The visible points from `start` up to, not including, `end`.
  private func seen(from start: Point, to end: Point, step: Point) -> [Point] {
    let area = visible
    guard start != end, !area.isEmpty else { return [] }
    if step.row == 0 {
      guard start.row >= area.row, start.row < area.bottom else { return [] }
      let low = max(min(start.column, end.column + 1), area.column)
      let high = min(max(start.column, end.column - 1), area.right - 1)
      return low <= high ? (low...high).map { Point($0, start.row) } : []
    }
    guard start.column >= area.column, start.column < area.right else { return [] }
    let low = max(min(start.row, end.row + 1), area.row)
    let high = min(max(start.row, end.row - 1), area.bottom - 1)
    return low <= high ? (low...high).map { Point(start.column, $0) } : []
  }
}

extension Arms {
  /// Extends a single arm to a line through the whole cell.
  var whole: Arms {
    guard count == 1 else { return self }
    let horizontal = max(left, right)
    let vertical = max(up, down)
    return Arms(up: vertical, right: horizontal, down: vertical, left: horizontal)
  }
}
