import Engine
import Patch
import Screen
import Session

/// The graph as boxes and wires with their positions, for the graph view, the mouse and the arrow keys. It
/// has the nodes and cables of the patch, and those still audible.
struct GraphPicture {
  struct Wire {
    var ends: Cable.Ends
    /// Its place in the report: of the node and its input, and among the input's cables. nil: the engine does not run it (at
    /// a placeholder).
    var place: (node: Int, port: Int, cable: Int)?
    /// The patch's cable.
    var cable: Cable?
    var isEvents: Bool
    var isFeedback = false
    /// State of a cable at another program.
    var outside: Surroundings.CableState?
    /// Place of its source's output in the report.
    var source: (node: Int, port: Int)?

    func report(_ scene: Scene) -> CableReport? {
      place.map { scene.report.nodes[$0.node].inputs[$0.port].cables[$0.cable] }
    }

    func isFading(_ scene: Scene) -> Bool {
      place.map { scene.report.nodes[$0.node].inputs[$0.port].cables[$0.cable].state.isFading } ?? false
    }

    /// Loudest channel of its source.
    func peak(_ scene: Scene) -> Float {
      source.flatMap { scene.report.nodes[$0.node].outputs[$0.port].peaks.max() } ?? 0
    }
  }

  private(set) var boxes: [GraphBox] = []
  /// Frames of the boxes.
  private(set) var frames: [Rect] = []
  private(set) var wires: [Wire] = []
  private(set) var diagram = Diagram()
  /// Differs after each change; nil: it is not kept.
  private(set) var version: PictureVersion?
  private(set) var indexOf: [NodeID: Int] = [:]
  /// Places of the boxes' nodes in the report.
  private var places: [Int?] = []
  /// Ports with cables or hints, by node.
  private var used: (inputs: [NodeID: Set<String>], outputs: [NodeID: Set<String>]) = ([:], [:])
  /// Ports show hints.
  private(set) var isHinting = false
  private(set) var detail = GraphDetail.full
  /// Size that it keeps to as far as possible.
  private var page: Size
  /// The node whose box stands for each member of a group, and the members' names.
  private var hidden: [NodeID: NodeID] = [:]
  private var names: [NodeID: String] = [:]
  /// Names of the ports of sub-patches.
  private var labels: [PortReference: String] = [:]
  /// Boxes of sub-patches.
  private var subPatches: Set<NodeID> = []
  /// Widths that boxes keep.
  private var widths = KeptWidths()

  init(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) {
    let size = Size(columns: columns, rows: rows)
    self.init(scene, state, Self.detail(scene, state, size), page: state.layout?.page ?? size)
  }

  /// The level that the user chose, or that fitted when the graph was first shown, or that fits now.
  static func detail(_ scene: Scene, _ state: ViewState, _ size: Size) -> GraphDetail {
    if let zoom = state.graph.zoom {
      // Ports need cells of their own to be chosen.
      return zoom == .dot && state.overlay is PortHints ? .small : zoom
    }
    if let layout = state.layout { return layout.detail }
    if let detail = PictureMemo.choice(scene, state, size) { return detail }
    let detail = fitting(scene, state, size)
    PictureMemo.keepChoice(scene, state, size, detail)
    return detail
  }

  /// The most detail that fits without folding, then with folding; if nothing fits, it scrolls. Of many nodes the cables beside
  /// large boxes would take the whole screen.
  private static func fitting(_ scene: Scene, _ state: ViewState, _ size: Size) -> GraphDetail {
    guard size.rows >= 7, size.columns >= 30 else { return .small }
    func fits(_ picture: GraphPicture) -> Bool {
      picture.diagram.size.columns <= size.columns && picture.diagram.size.rows <= size.rows
    }
    let compact = GraphPicture(scene, state, .compact(13), page: size)
    // Of thousands of boxes no layout is tried that cannot fit, since each takes its time.
    func canFit(_ box: Size) -> Bool {
      compact.boxes.count * box.columns * box.rows <= size.columns * size.rows
    }
    let full = canFit(GraphBox.least(.full)) ? GraphPicture(scene, state, .full, page: size) : nil
    let fitsFull = full.map(fits) ?? false
    if fitsFull, full?.diagram.isFolded == false { return .full }
    if fits(compact), !compact.diagram.isFolded { return .compact(13) }
    // Skips attempts that cannot help.
    for width in compact.boxes.count > 60 ? [] : [11, 10, 9] {
      let next = GraphPicture(scene, state, .compact(width), page: size)
      if fits(next), !next.diagram.isFolded { return .compact(width) }
    }
    if fitsFull { return .full }
    let (area, boxes) = (
      compact.diagram.size.columns * compact.diagram.size.rows,
      compact.boxes.reduce(0) { $0 + $1.size.columns * $1.size.rows }
    )
    guard Double(boxes) < leastShare * Double(area) else { return .compact(13) }
    guard canFit(GraphBox.least(.small)) else { return .dot }
    return fits(GraphPicture(scene, state, .small, page: size)) ? .small : .dot
  }

  /// Part of the picture that boxes must have; otherwise it is mostly cables, and smaller boxes show more.
  private static let leastShare = 0.15

  init(_ scene: Scene, _ state: ViewState, _ detail: GraphDetail, page: Size) {
    (self.detail, self.page, widths) = (detail, page, state.layout?.widths ?? KeptWidths())
    let key = PictureMemo.Key(scene, state, detail, page)
    if let key, let known = PictureMemo.picture(key) {
      self = known
      if refresh(scene, state, detail) { keep(key) }
      return
    }
    build(scene, state, detail)
    if let key { keep(key) }
  }

  private mutating func keep(_ key: PictureMemo.Key) {
    version = PictureVersion()
    PictureMemo.keep(self, key)
  }

  private mutating func build(_ scene: Scene, _ state: ViewState, _ detail: GraphDetail) {
    // While a node is made anew, as for other channels, the one that stays is shown.
    let reports = Dictionary(
      scene.report.nodes.enumerated().map { ($1.id, $0) },
      uniquingKeysWith: { scene.report.nodes[$0].state.isLeaving ? $1 : $0 })
    collectWires(scene, reports)
    hidden = state.graph.hidden(scene.patch)
    for id in hidden.keys { names[id] = scene.patch[id]?.name }
    let leaving = scene.report.nodes.filter { scene.patch[$0.id] == nil }
    // A node that leaves a sub-patch which is not open is not shown.
    var absent = state.graph.absent(scene.patch)
    for node in leaving where NodePath.container(of: node.name) != state.graph.inside {
      absent.insert(node.id)
    }
    if !absent.isEmpty {
      wires.removeAll { absent.contains($0.ends.source.node) || absent.contains($0.ends.destination.node) }
    }
    labelPorts(scene, absent)
    if !hidden.isEmpty {
      wires.removeAll { wire in
        hidden[wire.ends.source.node].map { $0 == hidden[wire.ends.destination.node] } ?? false
      }
    }
    for wire in wires {
      let (from, to) = (shown(wire.ends.source), shown(wire.ends.destination))
      used.outputs[from.node, default: []].insert(from.port)
      used.inputs[to.node, default: []].insert(to.port)
    }
    if let hints = state.overlay as? PortHints {
      isHinting = true
      for target in hints.all {
        if let port = target.port, absent.contains(port.node) || isInside(port) { continue }
        switch target {
        case .output(let port): used.outputs[shown(port).node, default: []].insert(shown(port).port)
        case .input(let port): used.inputs[shown(port).node, default: []].insert(shown(port).port)
        case .cable: break
        }
      }
    }
    for id in scene.patch.nodes.keys.map({ $0 }) + leaving.map(\.id) {
      guard shown(id) == id, !absent.contains(id) else { continue }
      indexOf[id] = boxes.count
      places.append(reports[id])
      if hidden[id] != nil {
        // The level of the group is that of what leaves it.
        let last = wires.first { hidden[$0.ends.source.node] == id && !$0.isEvents }
        places[places.count - 1] = last.flatMap { reports[$0.ends.source.node] }
      }
      boxes.append(box(id, places[places.count - 1], scene, state, detail))
    }
    for (member, id) in hidden { indexOf[member] = indexOf[id] }
    layOut(detail)
  }

  /// Names the ports of sub-patches, all of which their boxes show.
  private mutating func labelPorts(_ scene: Scene, _ absent: Set<NodeID>) {
    for id in Set(hidden.values) where !absent.contains(id) {
      guard let path = scene.filledSubPatch(id) else { continue }
      subPatches.insert(id)
      for port in scene.patch.inlets(of: path, scene.catalogue) {
        labels[port.port] = port.name
        used.inputs[id, default: []].insert(port.name)
      }
      for port in scene.patch.outlets(of: path, scene.catalogue) {
        labels[port.port] = port.name
        used.outputs[id, default: []].insert(port.name)
      }
      for parameter in scene.patch.published(by: path) {
        let inner = scene.patch.published(parameter.node, parameter.path) ?? (parameter.node, parameter.path)
        if let inside = scene.patch.id(named: inner.node) {
          labels[PortReference(inside, inner.path.name)] = parameter.name
        }
      }
    }
  }

  /// True for a port that only the inside of a sub-patch has.
  private func isInside(_ port: PortReference) -> Bool {
    guard let box = hidden[port.node] else { return false }
    return subPatches.contains(box) && labels[port] == nil
  }

  private func box(
    _ id: NodeID, _ place: Int?, _ scene: Scene, _ state: ViewState, _ detail: GraphDetail
  ) -> GraphBox {
    if hidden[id] != nil {
      return GraphBox(
        id, others: scene.patch.nodes.keys.filter { $0 != id && hidden[$0] == id }, scene, state,
        report: place, inputs: used.inputs[id] ?? [], outputs: used.outputs[id] ?? [], detail)
    }
    return GraphBox(
      id, scene, state, report: place, inputs: used.inputs[id] ?? [], outputs: used.outputs[id] ?? [], detail)
  }

  /// Makes the boxes anew whose contents have changed since the picture was made; false if none have.
  private mutating func refresh(_ scene: Scene, _ state: ViewState, _ detail: GraphDetail) -> Bool {
    let stale = scene.report.nodes.withUnsafeBufferPointer { nodes in
      boxes.indices.filter { index in
        !boxes[index].shape.isSame(as: places[index].flatMap { nodes.baseAddress?.advanced(by: $0) }, state)
      }
    }
    var isMoved = false
    for index in stale {
      let fresh = box(boxes[index].id, places[index], scene, state, detail)
      isMoved = isMoved || !fresh.hasSameForm(as: boxes[index])
      boxes[index] = fresh
    }
    if isMoved {
      layOut(detail)
      PictureMemo.forgetChoices()
    }
    return !stale.isEmpty
  }

  func frame(of id: NodeID) -> Rect? { indexOf[id].map { frames[$0] } }

  /// The node whose box shows a node: itself, but for a group.
  func shown(_ id: NodeID) -> NodeID { hidden[id] ?? id }

  /// A port as its box has it: of a group with its node's name.
  private func shown(_ port: PortReference) -> PortReference {
    guard let id = hidden[port.node] else { return port }
    return PortReference(id, labels[port] ?? "\(names[port.node] ?? "").\(port.port)")
  }

  static func key(_ id: NodeID) -> String { String(id.raw) }
  static func id(_ key: String?) -> NodeID? { key.flatMap(UInt64.init).map(NodeID.init(raw:)) }

  /// Place in the patch with which a node's box stays where it is.
  func place(of id: NodeID) -> Place? {
    diagram.places[Self.key(shown(id))].map { Place(column: $0.column, row: $0.row) }
  }

  /// Rows of the screen for a row of places.
  var gridRows: Int { detail == .dot ? 1 : detail == .small ? 3 : 5 }

  /// Position of a port on its box's edge, in the diagram's coordinates.
  func place(ofInput actual: PortReference) -> Point? {
    let port = shown(actual)
    guard let index = indexOf[port.node], let frame = frame(of: port.node),
      let place = boxes[index].inputs.firstIndex(where: { $0.name == port.port })
    else { return nil }
    return Point(frame.column, frame.row + boxes[index].inputs[place].row)
  }

  func place(ofOutput actual: PortReference) -> Point? {
    let port = shown(actual)
    guard let index = indexOf[port.node], let frame = frame(of: port.node),
      let place = boxes[index].outputs.firstIndex(where: { $0.name == port.port })
    else { return nil }
    return Point(frame.right - 1, frame.row + boxes[index].outputs[place].row)
  }

  // MARK: Cables

  private mutating func collectWires(_ scene: Scene, _ reports: [NodeID: Int]) {
    func output(_ port: PortReference) -> (node: Int, port: Int)? {
      guard let node = reports[port.node],
        let place = scene.report.nodes[node].outputs.firstIndex(where: { $0.name == port.port })
      else { return nil }
      return (node, place)
    }
    var seen: [Cable.Ends: Int] = [:]
    let named = Dictionary(grouping: scene.report.nodes.map { ($0.name, $0.id) }, by: \.0)
    for (nodePlace, node) in scene.report.nodes.enumerated() where reports[node.id] == nodePlace {
      for (portPlace, port) in node.inputs.enumerated() {
        for (cablePlace, cable) in port.cables.enumerated() {
          guard let source = Self.source(of: cable, named[cable.from]?.map(\.1) ?? [], scene) else {
            continue
          }
          let ends = Cable.Ends(PortReference(source, cable.fromPort), PortReference(node.id, port.name))
          if let index = seen[ends] {
            if !cable.state.isEnding { wires[index].place = (nodePlace, portPlace, cablePlace) }
            continue
          }
          seen[ends] = wires.count
          wires.append(
            Wire(
              ends: ends, place: (nodePlace, portPlace, cablePlace), cable: scene.patch.cables[ends],
              isEvents: port.isEvents, isFeedback: cable.isFeedback, source: output(ends.source)))
        }
      }
    }
    for cable in scene.patch.orderedCables(catalogue: scene.catalogue) where seen[cable.ends] == nil {
      let outside = scene.outsideCables[cable.ends]
      let isEvents =
        scene.isEvents(output: cable.ends.source)
        ?? (outside == nil ? nil : scene.isEvents(input: cable.ends.destination))
      wires.append(
        Wire(
          ends: cable.ends, place: nil, cable: cable, isEvents: isEvents ?? false, outside: outside,
          source: output(cable.ends.source)))
    }
  }

  /// The source of a cable, which the report gives by name. While a node replaces another of the same name,
  /// cables that fade out belong to the leaving one.
  private static func source(of cable: CableReport, _ named: [NodeID], _ scene: Scene) -> NodeID? {
    guard named.count > 1 else { return named.first }
    return named.first { (scene.patch[$0] == nil) == cable.state.isEnding } ?? named[0]
  }

  private mutating func layOut(_ detail: GraphDetail) {
    var options = DiagramOptions()
    options.margin = detail == .full ? 3 : 2
    options.trackPitch = detail == .full ? 2 : 1
    options.rowGap = detail == .small || detail == .dot ? 0 : 1
    options.gridRows = gridRows
    options.page = page
    let cables = wires.indices.map { index in
      let (source, destination) = (shown(wires[index].ends.source), shown(wires[index].ends.destination))
      return DiagramCable(
        Self.key(source.node), port(source, \.outputs),
        to: Self.key(destination.node), port(destination, \.inputs),
        isFeedback: wires[index].isFeedback)
    }
    diagram = arranged(Array(boxes.indices), cables, options)
    let staying = boxes.indices.filter { !boxes[$0].isLeaving }
    if staying.count < boxes.count, !staying.isEmpty {
      // Leaving nodes stand where they were if the others keep their columns, and their places once they have been shown; otherwise
      // below, without their cables.
      let rest = arranged(staying, cables, options)
      let keys = Set(staying.map { Self.key(boxes[$0].id) })
      let isCalm =
        diagram.isFolded == rest.isFolded
        && diagram.columns.map { keys.intersection($0) } == rest.columns.map { Set($0) }
        && (widths.detail == nil || keys.allSatisfy { diagram.frames[$0] == rest.frames[$0] })
      if !isCalm {
        let leaving = boxes.indices.filter { boxes[$0].isLeaving }
        diagram = rest.adding(below: leaving.map { node($0, columns: ownColumns($0)) }, options)
      }
    }
    frames = boxes.map { diagram.frames[Self.key($0.id)] ?? Rect(column: 0, row: 0, columns: 0, rows: 0) }
  }

  /// The diagram of these boxes.
  private func arranged(_ indices: [Int], _ cables: [DiagramCable], _ options: DiagramOptions) -> Diagram {
    var columns = Dictionary(uniqueKeysWithValues: indices.map { ($0, ownColumns($0)) })
    func diagram() -> Diagram {
      DiagramMemo.diagram(indices.map { node($0, columns: columns[$0] ?? 0) }, cables, options)
    }
    let first = diagram()
    // New boxes are as wide as the others of their column.
    var isRagged = false
    for column in first.columns {
      let here = column.compactMap { Self.id($0).flatMap { indexOf[$0] } }
      let widest = here.compactMap { columns[$0] }.max() ?? 0
      for index in here where widths.width(of: boxes[index].id, at: detail) == nil {
        guard let own = columns[index], own < widest else { continue }
        columns[index] = widest
        isRagged = true
      }
    }
    return isRagged ? diagram() : first
  }

  /// Columns of a box for its contents, and as it was first shown. While parameters are offered, their names widen it, and
  /// their values do not.
  private func ownColumns(_ index: Int) -> Int {
    let box = boxes[index]
    guard let kept = widths.width(of: box.id, at: detail) else { return box.size.columns }
    return max(kept, isHinting ? box.columnsOfNames : box.size.columns)
  }

  private func node(_ index: Int, columns: Int) -> DiagramNode {
    let box = boxes[index]
    return DiagramNode(
      Self.key(box.id), size: Size(columns: columns, rows: box.size.rows), inputs: box.inputs.map(\.row),
      outputs: box.outputs.map(\.row), place: box.place.map { Point($0.column, $0.row) })
  }

  private func port(_ port: PortReference, _ side: KeyPath<GraphBox, [GraphBox.Port]>) -> Int {
    guard let box = indexOf[port.node] else { return 0 }
    return boxes[box][keyPath: side].firstIndex { $0.name == port.port } ?? 0
  }
}
