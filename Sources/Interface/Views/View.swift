import Screen

/// A view of the running graph: a tab, its contents, its keys and its mouse. It is one file, and one line in
/// `Views.all`. Drawing is a pure function of the scene and the view state.
protocol View: Sendable {
  /// Its tab's text; `show-` before it is the name of the action that shows it.
  var name: ViewName { get }
  /// Help of that action, and its default keys.
  var help: String { get }
  var keys: KeyValuePairs<KeyContext, String> { get }
  /// Context of its own keys.
  var context: KeyContext? { get }
  /// Actions of its own.
  var actions: [Action] { get }
  /// The most useful actions, for the last row.
  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint]

  /// The keys while something is typed into it; nil: nothing is.
  func typingHints(_ state: ViewState) -> [KeyHelp]?

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas)
  /// The message row without a message; nil: the focused node.
  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]?
  /// The item at a cell of the view.
  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit
  /// Number of lines to scroll through.
  func extent(_ scene: Scene, _ state: ViewState) -> Int

  /// The lines that `/` searches; nil: it finds nodes.
  func lines(_ scene: Scene, _ state: ViewState) -> [String]?
  /// The line at which a search begins.
  @MainActor func line(_ desk: Desk) -> Int
  /// Brings a line that was found into the view.
  @MainActor func reveal(_ line: Int, _ desk: Desk)

  /// All arrows move the focus or a cursor, in play mode too.
  var movesFocus: Bool { get }
  /// Keys of play mode that do something in this view only.
  var playHints: [ActionHint] { get }
  @MainActor func open(_ desk: Desk)
  /// Effect of the action that shows it, while it is shown.
  @MainActor func showAgain(_ desk: Desk)
  /// Keeps its part of the view state in step with the scene: after each event and each tick.
  @MainActor func settle(_ desk: Desk)
  /// Updates what moves by itself; returns true if the appearance changed.
  @MainActor func tick(_ desk: Desk) -> Bool
  @MainActor func move(_ motion: Motion, _ desk: Desk)
  /// Takes a key before the keymap does, for typing; returns false for other keys.
  @MainActor func type(_ key: Key, _ desk: Desk) -> Bool
  /// Begins to edit the item under the cursor; returns false to edit the focused node.
  @MainActor func edit(_ desk: Desk) -> Bool
  /// Takes back a step that the user began; returns false to leave the view.
  @MainActor func leave(_ desk: Desk) -> Bool

  @MainActor func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk)
  @MainActor func drag(to point: Point, _ hit: Hit, _ desk: Desk)
  @MainActor func release(_ hit: Hit, _ desk: Desk)
  @MainActor func turnWheel(_ mouse: MouseEvent, _ hit: Hit, _ desk: Desk)
}

extension View {
  var context: KeyContext? { nil }
  var actions: [Action] { [] }
  func typingHints(_ state: ViewState) -> [KeyHelp]? { nil }
  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? { nil }
  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit { .nothing }
  func extent(_ scene: Scene, _ state: ViewState) -> Int { 0 }

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? { nil }
  @MainActor func line(_ desk: Desk) -> Int { desk.state.scroll[name]?.row ?? 0 }
  @MainActor func reveal(_ line: Int, _ desk: Desk) {
    let row = max(0, line - desk.viewSize.rows / 2)
    desk.state.scroll[name] = (min(row, lastRow(desk)), desk.state.scroll[name]?.column ?? 0)
  }

  var movesFocus: Bool { false }
  var playHints: [ActionHint] { [] }
  @MainActor func open(_ desk: Desk) {}
  @MainActor func showAgain(_ desk: Desk) { open(desk) }
  @MainActor func settle(_ desk: Desk) {}
  @MainActor func tick(_ desk: Desk) -> Bool { false }
  @MainActor func move(_ motion: Motion, _ desk: Desk) { scroll(motion, desk) }
  @MainActor func type(_ key: Key, _ desk: Desk) -> Bool { false }
  @MainActor func edit(_ desk: Desk) -> Bool { false }
  @MainActor func leave(_ desk: Desk) -> Bool { false }

  @MainActor func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    guard case .node(let id) = hit else { return }
    desk.focus(id)
    if button == .right { Inspector.open(desk) }
  }
  @MainActor func drag(to point: Point, _ hit: Hit, _ desk: Desk) {}
  @MainActor func release(_ hit: Hit, _ desk: Desk) {}
  @MainActor func turnWheel(_ mouse: MouseEvent, _ hit: Hit, _ desk: Desk) {
    for _ in 0..<3 { move(mouse.wheelRows < 0 ? .up : .down, desk) }
  }

  // MARK: Scrolling

  @MainActor func page(_ desk: Desk) -> Int { max(1, desk.size.rows - 6) }

  /// Last useful scroll position.
  @MainActor func lastRow(_ desk: Desk) -> Int {
    max(0, extent(desk.scene, desk.state) - max(1, desk.size.rows - 7))
  }

  @MainActor func scroll(_ motion: Motion, _ desk: Desk) {
    var place = ScrollPlace(desk.state.scroll[name])
    place.move(motion, page: page(desk))
    desk.state.scroll[name] = place.clamped(lastRow: lastRow(desk))
  }
}
