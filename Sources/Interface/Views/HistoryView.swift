import Patch
import Screen

extension ViewName {
  static let history = ViewName(rawValue: "history")
}

extension KeyContext {
  static let history = KeyContext(name: "history", title: "In the history")
}

/// Every edit with its time of day, the oldest first; the cursor takes the patch to any point between them.
struct HistoryView: View {
  let name = ViewName.history
  let help = "The history: all edits, and the way back to each"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F12", .patch: "U"]
  let context: KeyContext? = .history
  let actions = [
    Action("go-to-edit", "Undo or redo until here; held notes go on", [.history: "enter"]) {
      HistoryView.go($0)
    },
    Action("copy-edit", "Copy the line of the edit", [.history: "y"]) { HistoryView.copy($0) },
    Action("export", "Write the edits that are done into a script", [.history: "w"]) {
      Prompt.open("export ", $0)
    },
  ]

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if scene.history.isEmpty { return Action.hints(ofEmpty: name, scene) }
    return [
      ("go-to-edit", "go there"), ("undo", "undo"), ("redo", "redo"), ("find", "find"),
      ("copy-edit", "copy"), ("export", "export"), ("show-help", "help"), ("leave", "graph"),
    ]
  }

  /// The points between edits: one more than there are edits.
  func extent(_ scene: Scene, _ state: ViewState) -> Int { scene.history.count + 1 }

  // MARK: The cursor

  /// The point at which the patch is: the number of edits that are done.
  private static func present(_ scene: Scene) -> Int { scene.history.count { !$0.isUndone } }

  private static func cursor(_ scene: Scene, _ state: ViewState) -> Int {
    min(state.history.point ?? present(scene), scene.history.count)
  }

  @MainActor private func setCursor(_ point: Int, _ desk: Desk) {
    desk.state.history.point = point == Self.present(desk.scene) ? nil : point
    desk.state.scroll[name] = (first(desk.scene, desk.state, rows: rows(desk.viewSize)), 0)
  }

  /// Takes the patch to the cursor. A refusal ends the way there, and is shown.
  @MainActor private static func go(_ desk: Desk) {
    let start = present(desk.scene)
    let goal = cursor(desk.scene, desk.state)
    if desk.isLocked(steps: goal - start) { return }
    desk.state.history.point = nil
    desk.attempt {
      while present(desk.scene) > goal, try desk.workbench.undo() != nil {}
      while present(desk.scene) < goal, try desk.workbench.redo() != nil {}
      let count = abs(goal - start)
      desk.say(
        count == 0
          ? "the patch is here"
          : "\(goal < start ? "undone" : "redone"): \(count) edit\(count == 1 ? "" : "s")")
    }
  }

  @MainActor private static func copy(_ desk: Desk) {
    let point = cursor(desk.scene, desk.state)
    guard point > 0 else { return desk.complain("there is no edit to copy") }
    let line = desk.scene.history[point - 1].line
    desk.copy(line + "\n")
    desk.say("copied: \(line)")
  }

  // MARK: Searching

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? { [""] + scene.history.map(\.line) }

  @MainActor func line(_ desk: Desk) -> Int { Self.cursor(desk.scene, desk.state) }

  @MainActor func reveal(_ line: Int, _ desk: Desk) { setCursor(line, desk) }

  @MainActor func open(_ desk: Desk) {
    desk.state.history.point = nil
    // The patch's point in the middle, so that what can be redone is seen too.
    desk.state.scroll[name] = (max(0, Self.present(desk.scene) - rows(desk.viewSize) / 2), 0)
  }

  @MainActor func move(_ motion: Motion, _ desk: Desk) {
    var place = ScrollPlace((Self.cursor(desk.scene, desk.state), 0))
    place.move(motion, page: max(1, rows(desk.viewSize) - 1))
    setCursor(place.clamped(lastRow: desk.scene.history.count).row, desk)
  }

  // MARK: The mouse

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    let row = place.row - head(size)
    let point = first(scene, state, rows: rows(size)) + row
    return row >= 0 && row < rows(size) && point <= scene.history.count ? .point(point) : .nothing
  }

  /// The left button puts the cursor there, the right one takes the patch there.
  @MainActor func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    guard case .point(let point) = hit else { return }
    setCursor(point, desk)
    if button == .right { Self.go(desk) }
  }

  // MARK: Drawing

  private func head(_ size: Size) -> Int { size.rows >= 5 ? 1 : 0 }
  private func rows(_ size: Size) -> Int { max(1, size.rows - head(size)) }

  /// The first point shown: the one scrolled to, or as little beside it as shows the cursor.
  private func first(_ scene: Scene, _ state: ViewState, rows: Int) -> Int {
    let cursor = Self.cursor(scene, state)
    let wanted = min(max(state.scroll[name]?.row ?? 0, cursor - rows + 1), cursor)
    return min(max(0, wanted), max(0, scene.history.count + 1 - rows))
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    let size = Size(columns: bounds.columns, rows: bounds.rows)
    let head = head(size)
    let rows = rows(size)
    if head == 1 {
      canvas.put([Span("  time      edit", .header)], at: Point(1, 0), columns: bounds.columns - 2)
      if effectColumns(scene, bounds.columns) > 0 {
        canvas.put([Span("effect on the sound", .header)], endingAt: bounds.columns - 2, row: 0)
      }
    }
    let first = first(scene, state, rows: rows)
    for row in 0..<rows where first + row <= scene.history.count {
      draw(first + row, scene, state, row: head + row, on: &canvas)
    }
    if first > 0 { canvas.set("↑", at: Point(bounds.columns - 1, head), Style(.accent)) }
    if first + rows <= scene.history.count {
      canvas.set("↓", at: Point(bounds.columns - 1, head + rows - 1), Style(.accent))
    }
    canvas.placeCursor(at: Point(1, head + Self.cursor(scene, state) - first))
  }

  /// A bar marks the patch's point, an arrow the cursor. Edits that are undone are grey.
  private func draw(
    _ point: Int, _ scene: Scene, _ state: ViewState, row: Int, on canvas: inout Canvas
  ) {
    let columns = canvas.bounds.columns
    let isCursor = point == Self.cursor(scene, state)
    let ground: ThemeKey = isCursor ? .selection : .background
    if isCursor { canvas.fill(Rect(column: 0, row: row, columns: columns, rows: 1), " ", Style(ground)) }
    if point == Self.present(scene) { canvas.set("▎", at: Point(0, row), Style(.accent)) }
    let step = point > 0 ? scene.history[point - 1] : nil
    let time = step?.time.map(\.description) ?? String(repeating: " ", count: 8)
    let isUndone = step?.isUndone == true
    // Undone edits have a mark, so that this is not said by colour alone.
    var spans = [
      Span(isCursor ? "▸" : " ", .accent), Span(isUndone ? "╌" : " ", .dim), Span(time, .dim), Span("  "),
      Span(step?.line ?? "before these edits", step == nil || isUndone ? .dim : .text),
    ]
    var room = columns - 2
    if effectColumns(scene, columns) > 0, let effect = step.flatMap({ scene.effects[$0.key] }) {
      // Of the cursor's edit the line is more.
      let effectRoom = DisplayWidth.of(effect) + 3
      if !isCursor || spans.width <= room - effectRoom {
        canvas.put([Span(effect, .dim)], endingAt: columns - 2, row: row, on: ground)
        room -= effectRoom
      }
    }
    // Half a figure would be another one.
    let former = Span(step?.former.map { "  was \($0)" } ?? "", .dim)
    if (spans + [former]).width <= room { spans.append(former) }
    canvas.put(spans, at: Point(1, row), columns: room, on: ground)
  }

  /// Columns for the effects; 0 where there is no room, or none is known.
  private func effectColumns(_ scene: Scene, _ columns: Int) -> Int {
    guard columns >= 76 else { return 0 }
    return scene.effects.values.map(\.count).max().map { max($0, 19) } ?? 0
  }

  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    let present = Self.present(scene)
    let cursor = Self.cursor(scene, state)
    // A line that its row cuts is seen whole here, as far as there is room.
    if cursor > 0, DisplayWidth.of(scene.history[cursor - 1].line) > columns - 13 {
      return [Span(scene.history[cursor - 1].line, scene.history[cursor - 1].isUndone ? .dim : .text)]
    }
    var spans = [Span("\(present) of \(scene.history.count) edits", .value), Span(" are done", .dim)]
    if cursor != present {
      spans += [
        Span("   the cursor is ", .dim), Span("\(abs(cursor - present))", .value),
        Span(cursor < present ? " back" : " ahead", .dim),
      ]
    }
    return spans
  }
}
