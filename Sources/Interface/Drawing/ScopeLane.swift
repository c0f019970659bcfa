import Analysis
import Patch
import Screen

/// One channel of a scope's trace, with a dotted line at zero.
enum ScopeLane {
  static func draw(
    _ trace: ScopeTrace, lane: Int, scale: Float, kept: ScopeTrace?, _ place: Rect, on canvas: inout Canvas
  ) {
    var zero = BrailleField(columns: place.columns, rows: place.rows)
    for column in stride(from: 0, to: zero.dotColumns, by: 4) { zero.set(column, zero.dotRows / 2) }
    var layers = [(field(trace, lane, scale, place.size), ThemeKey.accent)]
    if let kept { layers.append((field(kept, lane, scale, place.size), .dim)) }
    BrailleField.draw(layers + [(zero, .rule)], at: place.origin, on: &canvas)
  }

  private static func field(_ trace: ScopeTrace, _ lane: Int, _ scale: Float, _ size: Size) -> BrailleField {
    var field = BrailleField(columns: size.columns, rows: size.rows)
    guard trace.channels.indices.contains(lane), field.dotRows > 1 else { return field }
    let columns = trace.channels[lane]
    /// Row of a value; beyond the scale it stays at the edge.
    func row(_ value: Float) -> Int {
      let share = Double(0.5 - 0.5 * min(1, max(-1, value / scale)))
      return Int(limited: share * Double(field.dotRows - 1))
    }
    for dot in 0..<field.dotColumns where !columns.isEmpty {
      // The trace has a column for each dot, except for a moment when the screen has changed.
      let range = columns[min(columns.count - 1, dot * columns.count / field.dotColumns)]
      field.set(dot, rows: row(range.upperBound)...row(range.lowerBound))
    }
    return field
  }
}
