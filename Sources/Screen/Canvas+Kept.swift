import Synchronization

/// Cells of the last drawing of a region with what they show: most of a screen stays the same while meters move.
public final class KeptCells<Key: Equatable & Sendable>: Sendable {
  private struct Drawing {
    var key: Key
    var size: Size
    var cells: [Cell]
  }

  private let last = Mutex<Drawing?>(nil)

  /// Nothing is kept yet.
  public init() {}

  fileprivate func cells(_ key: Key, _ size: Size) -> [Cell]? {
    last.withLock { $0.flatMap { $0.size == size && $0.key == key ? $0.cells : nil } }
  }

  fileprivate func keep(_ key: Key, _ size: Size, _ cells: [Cell]) {
    last.withLock { $0 = Drawing(key: key, size: size, cells: cells) }
  }
}

extension Canvas {
  /// Draws into a region that is still blank, or puts there what was drawn for an equal key. `body` neither places the cursor
  /// nor marks the focus. `key`: all that the region shows; nil: it is drawn, and not kept.
  public mutating func draw<Key>(
    in rect: Rect, showing key: Key?, from kept: KeptCells<Key>, _ body: (inout Canvas) -> Void
  ) {
    guard let key, isVisible(rect) else { return draw(in: rect, body) }
    if let known = kept.cells(key, rect.size) { return replace(rect, by: known) }
    draw(in: rect, body)
    kept.keep(key, rect.size, contents(of: rect))
  }
}
