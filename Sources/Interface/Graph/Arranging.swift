import Patch
import Screen

extension KeyContext {
  static let graph = KeyContext(name: "graph", title: "In the graph")
}

/// Detail, places and groups of boxes, and the window.
@MainActor struct Arranging {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var scene: Scene { desk.scene }

  nonisolated static let actions: [Action] = [
    Action("graph-larger", "Larger boxes: dots, names, all parameters", [.graph: "+ = >"]) {
      Arranging($0).zoom(by: -1)
    },
    Action("graph-smaller", "Smaller boxes: all parameters, names, dots", [.graph: "minus <"]) {
      Arranging($0).zoom(by: 1)
    },
    Action("graph-fit", "Boxes as large as the screen has room for", [.graph: "0"]) { Arranging($0).fit() },
    Action("overview", "The whole graph with the window in it, or back", [.graph: "z"]) {
      Arranging($0).toggleOverview()
    },
    Action("fold-nodes", "Show the marked nodes as one box; a box of several: its nodes again", [.graph: "f"])
    {
      Arranging($0).fold()
    },
    Action("box-left", "Move the box a column to the left", [.graph: "shift-left"], repeats: true) {
      Arranging($0).move(-1, 0)
    },
    Action("box-right", "Move the box a column to the right", [.graph: "shift-right"], repeats: true) {
      Arranging($0).move(1, 0)
    },
    Action("box-up", "Move the box up", [.graph: "shift-up"], repeats: true) { Arranging($0).move(0, -1) },
    Action("box-down", "Move the box down", [.graph: "shift-down"], repeats: true) {
      Arranging($0).move(0, 1)
    },
    Action("box-auto", "Leave the box's place to the program again", [.graph: "A"]) {
      Arranging($0).unplace()
    },
  ]

  // MARK: Detail

  private func zoom(by step: Int) {
    let levels = GraphDetail.levels
    let now = GraphPicture.detail(scene, desk.state, desk.viewSize)
    // The detail that fits lies between the largest boxes and the names.
    let place = levels.firstIndex(of: now) ?? (step > 0 ? 0 : 1)
    let next = min(max(0, place + step), levels.count - 1)
    desk.state.graph.showsOverview = false
    desk.state.graph.zoom = levels[next]
    desk.say(["all parameters", "names", "dots"][next] + ": 0 fits the graph to the screen")
  }

  private func fit() {
    desk.state.graph.zoom = nil
    desk.state.graph.layouts = [:]
    desk.state.graph.widthsFor = nil
    desk.state.graph.showsOverview = false
  }

  /// Where everything is in sight, the overview would show less.
  private func toggleOverview() {
    let (size, whole) = (desk.viewSize, picture.diagram.size)
    if !desk.state.graph.showsOverview, whole.columns <= size.columns, whole.rows <= size.rows {
      return desk.say("the whole graph is on the screen already")
    }
    desk.state.graph.showsOverview.toggle()
  }

  // MARK: Places

  private var picture: GraphPicture {
    GraphPlaces.picture(scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
  }

  private func move(_ columns: Int, _ rows: Int) {
    guard let node = desk.focusedNode, let place = picture.place(of: node.id) else { return }
    desk.perform(
      .place(node.name, Place(column: place.column + columns, row: place.row + rows)), as: .moveBox(node.name)
    )
  }

  private func unplace() {
    let placed = desk.chosenNodes.filter { $0.place != nil }
    guard !placed.isEmpty else { return desk.say("the program chooses its place already") }
    desk.perform(.joined(placed.map { .place($0.name, nil) }))
  }

  /// The drag of a box that begins here.
  func drag(of id: NodeID, at point: Point) -> Drag? {
    picture.place(of: id).map { .box(id, from: $0, start: point) }
  }

  /// Moves a box with the mouse, in steps of a column and of a row of places.
  func drag(_ id: NodeID, from place: Place, start: Point, to point: Point) {
    guard let node = scene.patch[id], let frame = picture.frame(of: id) else { return }
    let pitch = Double(max(4, frame.columns + 5))
    let columns = Int((Double(point.column - start.column) / pitch).rounded())
    let rows = Int((Double(point.row - start.row) / Double(picture.gridRows)).rounded())
    let wanted = Place(column: place.column + columns, row: place.row + rows)
    guard wanted != (node.place ?? place) else { return }
    desk.perform(.place(node.name, wanted), as: .dragBox(node.name))
  }

  // MARK: Groups

  private func fold() {
    if desk.state.marked.count > 1 {
      let nodes = desk.chosenNodes
      let members = Set(nodes.map(\.id))
      desk.state.graph.groups.removeAll { !members.isDisjoint(with: $0.members.keys) }
      desk.state.graph.groups.append(
        GraphGroup(members: Dictionary(uniqueKeysWithValues: nodes.map { ($0.id, $0.name) })))
      desk.state.marked = []
      if let first = nodes.first { desk.focus(first.id) }
      return desk.say("\(nodes.count) nodes as one box, on this screen only: f shows them again")
    }
    if !unfold() { desk.complain("s marks the nodes that f shows as one box") }
  }

  /// Shows the nodes of the focused group again; false if there is none.
  func unfold() -> Bool {
    guard let focus = desk.state.focus,
      let index = desk.state.graph.groups.firstIndex(where: { $0.members[focus] != nil })
    else { return false }
    desk.state.graph.groups.remove(at: index)
    return true
  }

  /// Keeps groups on the nodes that are there; a replacement takes the place of the node of its name.
  func keepGroups() {
    if desk.state.graph.groups.isEmpty { return }
    let patch = scene.patch
    for index in desk.state.graph.groups.indices {
      var members: [NodeID: String] = [:]
      for (id, name) in desk.state.graph.groups[index].members {
        if let node = patch[id] {
          members[id] = node.name
        } else if let other = patch.id(named: name) {
          members[other] = name
        }
      }
      desk.state.graph.groups[index].members = members
    }
    desk.state.graph.groups.removeAll { $0.members.count < 2 }
    // The focus goes to the box that hides its node.
    let hidden = desk.state.graph.hidden(patch)
    if let focus = desk.state.focus, let shown = hidden[focus], shown != focus { desk.focus(shown) }
  }

  // MARK: The window

  /// The engine has told of the patch: boxes are as wide as their meters need.
  private var isReported: Bool {
    guard let node = scene.patch.nodes.values.first(where: { scene.catalogue[$0.kind]?.isClient != true })
    else { return true }
    return scene.report.nodes.contains { $0.id == node.id }
  }

  /// Notes how the graph is first shown on a screen, for as long as it is of the same file.
  private func keepLayout() {
    if desk.state.graph.layoutsOf != scene.fileName {
      (desk.state.graph.layoutsOf, desk.state.graph.layouts) = (scene.fileName, [:])
      desk.state.graph.widthsFor = nil
    }
    if desk.state.overlay is PortHints { return }
    if desk.state.layout == nil {
      guard isReported else { return }
      var frame = desk.state
      if frame.overlay?.isBeside == true { frame.overlay = nil }
      let page = ViewFrame(scene, frame, columns: desk.size.columns, rows: desk.size.rows).view.size
      frame.graph.zoom = nil
      desk.state.graph.layouts[desk.state.layoutKey] = KeptLayout(
        page: page, detail: GraphPicture.detail(scene, frame, page))
    }
    keepWidths()
  }

  private func keepWidths() {
    let graph = desk.state.graph
    let key = GraphState.WidthKey(
      layout: desk.state.layoutKey, revision: scene.patch.revision, form: scene.report.form,
      detail: GraphPicture.detail(scene, desk.state, desk.viewSize), groups: graph.groups,
      inside: graph.inside)
    if let known = graph.widthsFor, known.isSame(as: key) { return }
    guard isReported else { return }
    desk.state.graph.widthsFor = key
    desk.state.graph.layouts[key.layout]?.widths.handOver(to: scene.patch)
    let picture = picture
    let widths = zip(picture.boxes, picture.frames).map { ($0.id, $1.columns) }
    desk.state.graph.layouts[key.layout]?.widths.keep(
      Dictionary(widths, uniquingKeysWith: { first, _ in first }), at: key.detail, in: scene.patch)
  }

  /// Keeps the layout, the window where it is as long as it shows the focus, and letters on the ports in sight.
  func keepWindow() {
    guard desk.state.view == .graph, !scene.patch.nodes.isEmpty else { return }
    let size = desk.viewSize
    keepLayout()
    if var hints = desk.state.overlay as? PortHints {
      guard hints.targets.count < hints.all.count || desk.state.graph.isScrolledFreely else { return }
      clampScroll(size)
      let bounds = Rect(column: 0, row: 0, columns: desk.size.columns, rows: desk.size.rows)
      let ports = GraphPlaces.ports(scene, desk.state, columns: desk.size.columns, rows: desk.size.rows)
      hints.letter(Set(ports.filter { bounds.contains($0.place) }.map(\.target)))
      desk.state.overlay = hints
      return
    }
    let key = GraphState.ScrollKey(
      focus: desk.state.focus, size: size, zoom: desk.state.graph.zoom, revision: scene.patch.revision)
    if let known = desk.state.graph.scrolledFor, known.isSame(as: key) { return }
    desk.state.graph.scrolledFor = key
    desk.state.graph.isScrolledFreely = false
    clampScroll(size)
  }

  private func clampScroll(_ size: Size) {
    let offset = GraphDrawing.offset(picture, desk.state, size)
    desk.state.scroll[.graph] = (max(0, offset.row), max(0, offset.column))
  }

  /// Scrolls the window where the graph is larger.
  func scroll(rows: Int) {
    let size = desk.viewSize
    guard !desk.state.graph.showsOverview, picture.diagram.size.rows > size.rows else { return }
    let place = desk.state.scroll[.graph] ?? (row: 0, column: 0)
    desk.state.graph.isScrolledFreely = true
    desk.state.scroll[.graph] = (max(0, place.row + rows), place.column)
    clampScroll(size)
  }
}
