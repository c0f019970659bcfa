import Patch
import Screen

/// The node graph: boxes and cables. It is the view that leaving the others leads to.
struct GraphView: View {
  let name = ViewName.graph
  let help = "The node graph"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F2", .patch: "1"]
  let context: KeyContext? = .graph
  let actions = GraphView.table + Selecting.actions + Arranging.actions

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    if !state.marked.isEmpty {
      return [
        ("leave", "unmark"), ("mark", "mark"), ("copy", "copy"), ("cut", "cut"), ("duplicate", "duplicate"),
        ("fold-nodes", "fold"),
        ("disconnect", "disconnect"), ("remove", "remove"), ("remove-bridge", "bridge"), ("undo", "undo"),
      ]
    }
    if state.graph.showsOverview {
      return [("leave", "go there"), ("find", "find"), ("show-help", "help"), ("quit", "quit")]
    }
    if scene.status.isPatchbay {
      return [
        ("show-help", "help"), ("connect", "connect"), ("disconnect", "disconnect"), ("find", "find"),
        ("keep-cables", "keep"), ("undo", "undo"), ("prompt", "prompt"), ("quit", "quit"),
      ]
    }
    if scene.patch.nodes.isEmpty { return Action.hints(ofEmpty: name, scene) }
    let isBox = state.focus.flatMap(scene.filledSubPatch) != nil
    let way: [ActionHint] = state.graph.inside == nil ? [] : [("leave", "out of it")]
    return way + [
      ("show-help", "help"), ("play", "play"), ("connect", "connect"), ("replace", "replace"),
      ("insert", "insert"), ("remove", "remove"), ("edit", isBox ? "inside" : "edit"),
      ("add", "add"), ("undo", "undo"),
      ("prompt", "prompt"), ("quit", "quit"),
    ]
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    GraphDrawing.draw(scene, state, on: &canvas)
  }

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    GraphPlaces.hit(scene, state, size, at: place)
  }

  /// The marked nodes, if any.
  func footer(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    if state.graph.showsOverview {
      let focus = state.focus.flatMap { scene.patch[$0] }
      return [
        Span("overview", .accent), Span("  \(scene.patch.nodes.count) nodes", .value),
        Span("  arrows move, z or Esc goes there", .dim), Span("  \(focus?.name ?? "")", .title),
      ]
    }
    if state.marked.isEmpty { return groupSpans(scene, state, columns: columns) }
    // A name takes three columns at least, with its gap.
    let names = scene.patch.nodes.values.lazy.filter { state.marked.contains($0.id) }.map(\.name)
      .prefix(max(0, columns / 3))
    return [Span].fitting(
      [[Span("\(state.marked.count) marked", .accent)]] + names.map { [Span($0, .value)] }, columns: columns,
      gap: 2)
  }

  /// The nodes of the focused group.
  private func groupSpans(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span]? {
    guard let focus = state.focus, let group = state.graph.groups.first(where: { $0.members[focus] != nil })
    else { return nil }
    let names = scene.patch.nodes.values.filter { group.members[$0.id] != nil }.map(\.name)
    return [Span].fitting(
      [[Span("\(names.count) nodes", .accent)]] + names.map { [Span($0, .value)] }, columns: columns, gap: 2)
  }

  func settle(_ desk: Desk) {
    Selecting(desk).settle()
    SubPatchView(desk: desk).follow()
    Arranging(desk).keepGroups()
    Arranging(desk).keepWindow()
  }

  /// A box of several nodes is opened.
  func edit(_ desk: Desk) -> Bool { Arranging(desk).unfold() || SubPatchView(desk: desk).enter() }

  func leave(_ desk: Desk) -> Bool {
    if desk.state.graph.showsOverview {
      desk.state.graph.showsOverview = false
      return true
    }
    if desk.state.marked.isEmpty { return SubPatchView(desk: desk).leave() }
    desk.state.marked = []
    return true
  }

  // MARK: The focus

  let movesFocus = true

  func move(_ motion: Motion, _ desk: Desk) {
    let ids = order(desk)
    guard let node = desk.focusedNode else { return }
    switch motion {
    case .home: if let first = ids.first { desk.focus(first) }
    case .end: if let last = ids.last { desk.focus(last) }
    case .pageUp: for _ in 0..<boxesOfPage(desk) { moveFocus(.up, from: desk.state.focus ?? node.id, desk) }
    case .pageDown:
      for _ in 0..<boxesOfPage(desk) { moveFocus(.down, from: desk.state.focus ?? node.id, desk) }
    case .left: moveFocus(.left, from: node.id, desk)
    case .right: moveFocus(.right, from: node.id, desk)
    case .up: moveFocus(.up, from: node.id, desk)
    case .down: moveFocus(.down, from: node.id, desk)
    }
  }

  /// The nodes of the patch in reading order.
  @MainActor private func order(_ desk: Desk) -> [NodeID] {
    GraphPlaces.order(desk.scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
      .filter { desk.scene.patch[$0] != nil }
  }

  /// Boxes below each other on a screen.
  @MainActor private func boxesOfPage(_ desk: Desk) -> Int {
    let rows =
      switch GraphPicture.detail(desk.scene, desk.state, desk.viewSize) {
      case .full, .compact: 6
      case .small: 3
      case .dot: 1
      }
    return max(1, desk.viewSize.rows / rows)
  }

  /// Skips boxes of leaving nodes, which cannot be edited.
  @MainActor private func moveFocus(_ direction: Diagram.Direction, from node: NodeID, _ desk: Desk) {
    var here = node
    for _ in 0..<8 {
      let found = GraphPlaces.neighbour(
        of: here, direction, desk.scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
      guard let next = found else { return }
      if desk.scene.patch[next] != nil { return desk.focus(next) }
      here = next
    }
  }

  /// The next node in reading order, or the one before.
  @MainActor static func cycleFocus(_ step: Int, _ desk: Desk) {
    let ids = GraphView().order(desk)
    guard !ids.isEmpty else { return }
    let index = desk.state.focus.flatMap { ids.firstIndex(of: $0) } ?? 0
    desk.focus(ids[(index + step + ids.count) % ids.count])
  }

  // MARK: The mouse

  func press(_ button: MouseEvent.Button, _ hit: Hit, at point: Point, _ desk: Desk) {
    switch hit {
    case .node(let id):
      desk.focus(id)
      if button == .right { return Inspector.open(desk) }
      if !desk.state.graph.showsOverview { desk.drag = Arranging(desk).drag(of: id, at: point) }
    case .cable(let ends):
      if button == .left {
        desk.focus(ends.destination.node)
      } else if desk.scene.outsideCables[ends] == nil, desk.scene.isEvents(output: ends.source) != true {
        desk.focus(ends.destination.node)
        GridChoice(desk).show(ends)
      }
    case .output(let port) where button == .left:
      desk.focus(port.node)
      desk.drag = .port(.output(port))
    case .input(let port) where button == .left:
      desk.focus(port.node)
      desk.drag = .port(.input(port))
    default: break
    }
  }

  func drag(to point: Point, _ hit: Hit, _ desk: Desk) {
    guard case .box(let id, let place, let start) = desk.drag else { return }
    Arranging(desk).drag(id, from: place, start: start, to: point)
  }

  func release(_ hit: Hit, _ desk: Desk) {
    guard case .port(let from) = desk.drag else { return }
    switch (from, hit) {
    case (.output(let source), .input(let destination)), (.input(let destination), .output(let source)):
      Wiring(desk).connect(source, destination)
    case (.output(let source), .node(let id)) where id != source.node:
      Wiring(desk).connect(source, with: id, isSource: true)
    case (.input(let destination), .node(let id)) where id != destination.node:
      Wiring(desk).connect(destination, with: id, isSource: false)
    default: break
    }
  }

  func turnWheel(_ mouse: MouseEvent, _ hit: Hit, _ desk: Desk) {
    if mouse.wheelRows != 0 { Arranging(desk).scroll(rows: mouse.wheelRows * 2) }
  }
}
