import Patch
import Screen
import Session

extension KeyContext {
  static let meters = KeyContext(name: "meters", title: "In the meters")
}

/// The meter bridge: levels of all ports beside each other, with held peaks, the highest so far and clipping.
struct MeterView: View {
  let name = ViewName.meters
  let help = "Meters of all ports; again for those of the driver alone"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "alt-m", .patch: "6"]
  let context: KeyContext? = .meters
  let actions = [
    Action("reset-meters", "Forget the highest levels, and what clipped", [.meters: "delete backspace 0"]) {
      desk in
      desk.state.meters.reset()
      desk.say("measured from here on")
    },
    Action("meter-ports", "The ports of all nodes, or those of the driver alone", [.meters: "e"]) {
      $0.state.meters.showsEndsOnly.toggle()
    },
  ]

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if state.meters.shown.isEmpty { return Action.hints(ofEmpty: name, scene) }
    return [
      ("reset-meters", "begin anew"), ("leave", "graph"), ("meter-ports", "which ports"),
      ("show-scope", "scope"), ("edit", "edit"), ("find", "find"), ("show-help", "help"),
    ]
  }

  // MARK: Following the sound and the focus

  func tick(_ desk: Desk) -> Bool {
    desk.state.meters.take(desk.scene, at: desk.now(), isShown: desk.state.view == name)
  }

  /// The cursor is at a port of the focused node, if that has one.
  func settle(_ desk: Desk) {
    guard desk.state.view == name else { return }
    let shown = desk.state.meters.shown
    if let selected = desk.state.meters.selected, selected.node == desk.state.focus,
      shown.contains(where: { $0.port == selected })
    {
      return
    }
    desk.state.meters.selected =
      shown.first { $0.port.node == desk.state.focus }?.port ?? desk.state.meters.selected
      ?? shown.first?.port
  }

  func showAgain(_ desk: Desk) { desk.state.meters.showsEndsOnly.toggle() }

  // MARK: Moving

  let movesFocus = true

  func move(_ motion: Motion, _ desk: Desk) {
    let shown = desk.state.meters.shown
    guard !shown.isEmpty else { return }
    let picture = MeterPicture(desk.state, desk.viewSize)
    let index = desk.state.meters.index
    let next =
      switch motion {
      case .up: index - 1
      case .down: index + 1
      case .pageUp: index - max(1, picture.rows / 2)
      case .pageDown: index + max(1, picture.rows / 2)
      case .home: 0
      case .end: shown.count - 1
      case .left: picture.beside(index, by: -1)
      case .right: picture.beside(index, by: 1)
      }
    select(shown[min(max(0, next), shown.count - 1)].port, desk)
  }

  /// The scope shows the port at the cursor.
  @MainActor private func select(_ port: ListenedPort, _ desk: Desk) {
    desk.state.meters.selected = port
    desk.state.sound.port = port
    desk.focus(port.node)
  }

  // MARK: Searching

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? {
    state.meters.shown.map { strip in
      "\(strip.name), \(MeterPicture.count(strip)), highest \(MeterPicture.decibels(strip.highest)) dB"
        + (strip.isClipped ? ", clipped" : "")
    }
  }

  func line(_ desk: Desk) -> Int { desk.state.meters.index }

  func reveal(_ line: Int, _ desk: Desk) {
    let shown = desk.state.meters.shown
    if shown.indices.contains(line) { select(shown[line].port, desk) }
  }

  // MARK: The mouse

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    MeterPicture(state, size).strip(at: place).map { .port(state.meters.shown[$0].port) } ?? .nothing
  }

  func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    guard case .port(let port) = hit else { return }
    select(port, desk)
    if button == .right { Inspector.open(desk) }
  }

  // MARK: Drawing

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    MeterPicture(state, canvas.bounds.size).draw(state, on: &canvas)
  }

  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    let shown = state.meters.shown
    guard shown.indices.contains(state.meters.index) else { return nil }
    let strip = shown[state.meters.index]
    let now = strip.channels.map(\.level.peak).max() ?? 0
    var groups = [
      [Span(strip.name, .accent), Span(strip.port.isInput ? " what goes in" : "", .dim)],
      [Span(MeterPicture.count(strip), .dim)],
      [Span("now ", .dim), Span("\(MeterPicture.decibels(now)) dB", .value)],
      [Span("highest ", .dim), Span("\(MeterPicture.decibels(strip.highest)) dB", .value)],
    ]
    if strip.isClipped { groups.append([Span("clipped", .trouble)]) }
    return [Span].fitting(groups, columns: columns)
  }
}
