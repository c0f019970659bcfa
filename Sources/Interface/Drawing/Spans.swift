import Screen

/// Text in one style.
struct Span {
  var text: String
  var style: Style

  init(
    _ text: String, _ key: ThemeKey = .text, on ground: ThemeKey? = nil, _ attributes: Style.Attributes = []
  ) {
    self.text = text
    style = Style(key, on: ground, attributes)
  }

  var width: Int { DisplayWidth.of(text) }
}

extension [Span] {
  var width: Int { reduce(0) { $0 + $1.width } }

  /// The groups that fit side by side with `gap` columns between them. The last ones are dropped first, since
  /// the first ones matter most. The order stays.
  static func fitting(_ groups: [[Span]], columns: Int, gap: Int = 3) -> [Span] {
    var result: [Span] = []
    for group in groups where !group.isEmpty {
      let space = result.isEmpty ? [] : [Span(String(repeating: " ", count: gap))]
      if result.width + space.width + group.width > columns { break }
      result += space + group
    }
    return result
  }

  /// The groups, of which some are left empty, in the order of their indices in `dropping`, until the others fit.
  static func remaining(_ groups: [[Span]], dropping: [Int], columns: Int, gap: Int = 3) -> [[Span]] {
    var groups = groups
    func width() -> Int { groups.filter { !$0.isEmpty }.reduce(-gap) { $0 + $1.width + gap } }
    for index in dropping where width() > columns { groups[index] = [] }
    return groups
  }
}

extension Canvas {
  /// Writes the spans one after the other, cut with `…` at this width. Returns the columns used.
  @discardableResult
  mutating func put(_ spans: [Span], at point: Point, columns: Int, on ground: ThemeKey? = nil) -> Int {
    var used = 0
    for (index, span) in spans.enumerated() {
      guard used < columns else { break }
      let room = columns - used
      var style = span.style
      if let ground, style.ground == nil { style.ground = ground }
      // A span that just fits is still cut if the next ones have no room at all.
      let isCut = span.width > room || (span.width == room && Array(spans[(index + 1)...]).width > 0)
      let text = isCut ? DisplayWidth.truncated(span.text + " ", to: room) : span.text
      used += put(text, at: Point(point.column + used, point.row), style)
    }
    return used
  }

  /// Writes the spans so that they end before `right`.
  mutating func put(_ spans: [Span], endingAt right: Int, row: Int, on ground: ThemeKey? = nil) {
    put(spans, at: Point(right - spans.width, row), columns: spans.width, on: ground)
  }

  /// Writes cells of one column side by side.
  mutating func put(_ cells: [Cell], at point: Point, on ground: ThemeKey? = nil) {
    for (index, cell) in cells.enumerated() {
      var style = cell.style
      if let ground { style.ground = ground }
      set(cell.glyph, at: point + Point(index, 0), style)
    }
  }

  /// A light horizontal line without junctions.
  mutating func rule(row: Int) {
    fill(Rect(column: 0, row: row, columns: bounds.columns, rows: 1), "─", Style(.rule))
  }
}
