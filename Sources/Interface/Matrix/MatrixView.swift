import Screen

extension KeyContext {
  static let matrix = KeyContext(name: "matrix", title: "In the matrix")
}

/// The matrix screen: the gains of a matrix node, or a cable's channel map, as a grid.
struct MatrixView: View {
  let name = ViewName.matrix
  let help = "The matrix"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F4", .patch: "3"]
  let context: KeyContext? = .matrix

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if state.matrix.node == nil, state.matrix.cable == nil { return Action.hints(ofEmpty: name, scene) }
    if state.matrix.rangeStart != nil {
      let end: [ActionHint] = state.matrix.rangeEnd == nil ? [("range-end", "end of range")] : []
      return [("leave", "drop range")] + end + [
        ("toggle-crosspoint", "on/off"), ("type-gain", "type dB"), ("gain-up", "more"),
        ("gain-down", "less"), ("toggle-mute", "mute"), ("toggle-solo", "solo"),
        ("turn-polarity", "polarity"), ("show-help", "help"),
      ]
    }
    return state.matrix.cable != nil
      ? [
        ("toggle-crosspoint", "on/off"), ("make-matrix", "make matrix"), ("next-matrix", "next cable"),
        ("open-grid", "open"), ("reset-gain", "no map"), ("undo", "undo"), ("matrix-identity", "identity"),
        ("matrix-clear", "clear"), ("show-help", "help"), ("leave", "graph"),
      ]
      : [
        ("toggle-crosspoint", "on/off"), ("type-gain", "type dB"), ("gain-up", "more"),
        ("gain-down", "less"), ("toggle-mute", "mute"), ("toggle-solo", "solo"),
        ("turn-polarity", "polarity"), ("range-start", "range"), ("matrix-presets", "presets"),
        ("label-channel", "label"), ("undo", "undo"), ("show-help", "help"), ("open-grid", "open"),
        ("leave", "graph"),
      ]
  }

  func typingHints(_ state: ViewState) -> [KeyHelp]? {
    guard state.matrix.typed != nil else { return nil }
    return [
      KeyHelp(keys: "Enter", name: "set"), KeyHelp(keys: "Esc", name: "leave"),
      KeyHelp(keys: "0–9 . -", name: "type dB"), KeyHelp(keys: "Backspace", name: "delete"),
    ]
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    MatrixPicture.draw(scene, state, on: &canvas)
  }

  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    MatrixPicture.cellSpans(scene, state, columns: columns)
  }

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    let found = MatrixPicture(scene, state, size)?.cell(at: place)
    return found.map { .crosspoint(row: $0.row, column: $0.column) } ?? .nothing
  }

  // MARK: Keys

  let actions = MatrixView.table

  func open(_ desk: Desk) { GridChoice(desk).show() }

  func settle(_ desk: Desk) {
    if let id = desk.state.matrix.node, desk.scene.patch[id] == nil { GridChoice(desk).settle() }
    GridCursor(desk).clamp()
  }

  func tick(_ desk: Desk) -> Bool {
    let grid = desk.state.view == name ? Grid(desk.scene, desk.state) : nil
    return desk.state.matrix.meters.take(grid?.measurement, at: desk.now())
  }

  let movesFocus = true
  let playHints: [ActionHint] = [("cell-up", "cell +"), ("cell-down", "cell −"), ("cell-toggle", "on/off")]

  func move(_ motion: Motion, _ desk: Desk) { GridCursor(desk).move(motion) }

  func type(_ key: Key, _ desk: Desk) -> Bool {
    desk.state.mode == .patch && GridTyping(desk).handle(key)
  }

  func edit(_ desk: Desk) -> Bool {
    desk.state.matrix.typed = desk.state.matrix.typed ?? ""
    return true
  }

  func leave(_ desk: Desk) -> Bool {
    guard desk.state.matrix.rangeStart != nil else { return false }
    desk.state.matrix.dropRange()
    return true
  }

  // MARK: The mouse

  func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    guard case .crosspoint(let row, let column) = hit else { return }
    let cell = GridCell(row, column)
    // A range that contains the cell stays, so that dragging moves the whole range.
    if !desk.state.matrix.isInRange(cell) { desk.state.matrix.dropRange() }
    GridCursor(desk).select(cell)
    if button == .right {
      desk.drag = .range(from: desk.state.matrix.cell, hasMoved: false)
      return
    }
    guard let grid = Grid(desk.scene, desk.state), grid.contains(desk.state.matrix.cell) else { return }
    let range = desk.state.matrix.range
    desk.drag = .gains(range.cells.map { ($0, grid.gain($0)) }, range: range, start: point)
  }

  func drag(to point: Point, _ hit: Hit, _ desk: Desk) {
    switch desk.drag {
    case .gains(let gains, let range, let start):
      let way = point - start
      if Grid(desk.scene, desk.state) != nil {
        GridGains(desk)?.drag(gains, range, by: way.column - way.row)
      }
    case .range(let from, let hasMoved):
      guard case .crosspoint(let row, let column) = hit else { return }
      guard hasMoved || GridCell(row, column) != from else { return }
      desk.drag = .range(from: from, hasMoved: true)
      GridCursor(desk).select(GridCell(row, column))
      desk.state.matrix.rangeStart = from
      desk.state.matrix.rangeEnd = desk.state.matrix.cell
    default: break
    }
  }

  func release(_ hit: Hit, _ desk: Desk) {
    if case .range(_, hasMoved: false) = desk.drag { GridGains(desk)?.toggle() }
  }

  func turnWheel(_ mouse: MouseEvent, _ hit: Hit, _ desk: Desk) {
    if mouse.modifiers.contains(.ctrl) {
      GridCursor(desk).zoom(mouse.wheelRows < 0 ? 1 : -1)
      return
    }
    guard case .crosspoint(let row, let column) = hit, mouse.wheelRows != 0 else { return }
    let cell = GridCell(row, column)
    if !desk.state.matrix.isInRange(cell) {
      desk.state.matrix.dropRange()
      GridCursor(desk).select(cell)
    }
    GridGains(desk)?.step(by: mouse.wheelRows < 0 ? 1 : -1)
  }
}
