import Patch
import Screen

/// The row of scenes in play mode: numbers and names, the present one marked, with a dot when the patch has moved on from
/// it, and the time of a recall.
///
/// ```
///  scenes  1 verse  ▸2 break •   3 out                              over 2s
/// ```
struct SceneStrip {
  private let scene: Scene
  private let state: ViewState
  private let columns: Int

  private static let longestName = 14

  init(_ scene: Scene, _ state: ViewState, columns: Int) {
    self.scene = scene
    self.state = state
    self.columns = columns
  }

  /// A scene in the row.
  private struct Item {
    var number: Int
    var spans: [Span]
    var column = 0
  }

  private var time: [Span] {
    (state.play.recallTime == nil ? [] : [Span("over ", .dim)])
      + [Span(Scenes.words(state.play.recallTime), .value)]
  }

  /// On a narrow screen the scenes have the room.
  private var title: [Span] { columns < 50 ? [] : [Span(" scenes ", .dim)] }

  /// The scenes that have room, the present one among them, and whether there are others at the left and at the right.
  private var shown: (items: [Item], hasEarlier: Bool, hasLater: Bool) {
    var items = scene.patch.scenes.sorted { $0.key < $1.key }.map { number, stored in
      let isPresent = scene.presentScene?.number == number
      let name = Wrapping.shortened(stored.name, to: Self.longestName)
      let words = name.isEmpty ? "\(number)" : "\(number) \(name)"
      let mark = isPresent && scene.presentScene?.isChanged == true ? " •" : ""
      return Item(
        number: number,
        spans: [
          Span(isPresent ? "▸" : " ", .accent), Span(words, isPresent ? .accent : .text),
          Span(mark + "  ", .warning),
        ])
    }
    let all = items.map(\.number)
    let room = columns - time.width - 2 - title.width
    // The marks of others have a column each.
    func width() -> Int { items.reduce(0) { $0 + $1.spans.width } + (items.count < all.count ? 2 : 0) }
    while items.count > 1, width() > room {
      // From the end that is farther from the present one.
      let index = items.firstIndex { $0.number == scene.presentScene?.number } ?? 0
      if index >= items.count - 1 - index { items.removeFirst() } else { items.removeLast() }
    }
    let hasEarlier = items.first?.number != all.first
    var column = title.width + (hasEarlier ? 1 : 0)
    for index in items.indices {
      items[index].column = column
      column += items[index].spans.width
    }
    return (items, hasEarlier, items.last?.number != all.last)
  }

  func draw(on canvas: inout Canvas) {
    canvas.put(title, at: .zero, columns: columns)
    let (items, hasEarlier, hasLater) = shown
    if hasEarlier { canvas.set("‹", at: Point(title.width, 0), Style(.accent)) }
    if hasLater, let last = items.last {
      let end = min(last.column + last.spans.width, columns - time.width - 2)
      canvas.set("›", at: Point(max(0, end), 0), Style(.accent))
    }
    for item in items {
      canvas.put(item.spans, at: Point(item.column, 0), columns: columns - item.column)
    }
    canvas.put(time, at: Point(max(0, columns - time.width - 1), 0), columns: columns)
  }

  /// The scene at a column of the row.
  func number(at column: Int) -> Int? {
    shown.items.last { $0.column <= column && column < $0.column + $0.spans.width }?.number
  }
}
