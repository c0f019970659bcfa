import Engine
import Patch
import Screen
import Session
import Synchronization

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
  private(set) var indexOf: [NodeID: Int] = [:]
  /// Places of the boxes' nodes in the report.
  private var places: [Int?] = []
  /// Ports with cables or hints, by node.
  private var used: (inputs: [NodeID: Set<String>], outputs: [NodeID: Set<String>]) = ([:], [:])
  /// Ports show hints.
  private(set) var isHinting = false
  private var detail = GraphBox.Detail.full

  init(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) {
    let size = Size(columns: columns, rows: rows)
    if let detail = PictureMemo.choice(scene, state, size) {
      self.init(scene, state, detail)
    } else {
      self = Self.fitting(scene, state, size)
      PictureMemo.keepChoice(scene, state, size, detail)
    }
  }

  /// The most detail that fits; if nothing fits, it scrolls.
  private static func fitting(_ scene: Scene, _ state: ViewState, _ size: Size) -> GraphPicture {
    guard size.rows >= 7, size.columns >= 30 else { return GraphPicture(scene, state, .small) }
    func fits(_ picture: GraphPicture) -> Bool {
      picture.diagram.size.columns <= size.columns && picture.diagram.size.rows <= size.rows
    }
    let full = GraphPicture(scene, state, .full)
    if fits(full) { return full }
    var best = GraphPicture(scene, state, .compact(13))
    guard best.diagram.size.columns < full.diagram.size.columns else { return full }
    // Skips attempts that cannot help.
    for width in full.boxes.count > 60 ? [] : [11, 10, 9] where !fits(best) {
      let next = GraphPicture(scene, state, .compact(width))
      if fits(next) { best = next }
    }
    return best
  }

  init(_ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail) {
    self.detail = detail
    let key = PictureMemo.Key(scene, state, detail)
    if let key, let known = PictureMemo.picture(key) {
      self = known
      if refresh(scene, state, detail) { PictureMemo.keep(self, key) }
      return
    }
    build(scene, state, detail)
    if let key { PictureMemo.keep(self, key) }
  }

  private mutating func build(_ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail) {
    let reports = Dictionary(
      scene.report.nodes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    collectWires(scene, reports)
    for wire in wires {
      used.outputs[wire.ends.source.node, default: []].insert(wire.ends.source.port)
      used.inputs[wire.ends.destination.node, default: []].insert(wire.ends.destination.port)
    }
    if let hints = state.overlay as? PortHints {
      isHinting = true
      for hint in hints.targets {
        switch hint.target {
        case .output(let port): used.outputs[port.node, default: []].insert(port.port)
        case .input(let port): used.inputs[port.node, default: []].insert(port.port)
        case .cable: break
        }
      }
    }
    let leaving = scene.report.nodes.filter { scene.patch[$0.id] == nil }
    for id in scene.patch.nodes.keys.map({ $0 }) + leaving.map(\.id) {
      indexOf[id] = boxes.count
      places.append(reports[id])
      boxes.append(box(id, reports[id], scene, state, detail))
    }
    layOut(detail)
  }

  private func box(
    _ id: NodeID, _ place: Int?, _ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail
  ) -> GraphBox {
    GraphBox(
      id, scene, state, report: place, inputs: used.inputs[id] ?? [], outputs: used.outputs[id] ?? [], detail)
  }

  /// Makes the boxes anew whose contents have changed since the picture was made; false if none have.
  private mutating func refresh(_ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail) -> Bool {
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

  static func key(_ id: NodeID) -> String { String(id.raw) }
  static func id(_ key: String?) -> NodeID? { key.flatMap(UInt64.init).map(NodeID.init(raw:)) }

  /// Position of a port on its box's edge, in the diagram's coordinates.
  func place(ofInput port: PortReference) -> Point? {
    guard let index = indexOf[port.node], let frame = frame(of: port.node),
      let place = boxes[index].inputs.firstIndex(where: { $0.name == port.port })
    else { return nil }
    return Point(frame.column, frame.row + boxes[index].inputs[place].row)
  }

  func place(ofOutput port: PortReference) -> Point? {
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
    var seen: Set<Cable.Ends> = []
    let named = Dictionary(grouping: scene.report.nodes.map { ($0.name, $0.id) }, by: \.0)
    for (nodePlace, node) in scene.report.nodes.enumerated() {
      for (portPlace, port) in node.inputs.enumerated() {
        for (cablePlace, cable) in port.cables.enumerated() {
          guard let source = Self.source(of: cable, named[cable.from]?.map(\.1) ?? [], scene) else {
            continue
          }
          let ends = Cable.Ends(PortReference(source, cable.fromPort), PortReference(node.id, port.name))
          guard seen.insert(ends).inserted else { continue }
          wires.append(
            Wire(
              ends: ends, place: (nodePlace, portPlace, cablePlace), cable: scene.patch.cables[ends],
              isEvents: port.isEvents, isFeedback: cable.isFeedback, source: output(ends.source)))
        }
      }
    }
    for cable in scene.patch.orderedCables(catalogue: scene.catalogue) where !seen.contains(cable.ends) {
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
    let isLeaving: Bool
    if case .fadingOut = cable.state { isLeaving = true } else { isLeaving = false }
    return named.first { (scene.patch[$0] == nil) == isLeaving } ?? named[0]
  }

  private mutating func layOut(_ detail: GraphBox.Detail) {
    var options = DiagramOptions()
    options.margin = detail == .full ? 3 : 2
    options.trackPitch = detail == .full ? 2 : 1
    options.rowGap = detail == .small ? 0 : 1
    // Room for two letters at each end.
    if isHinting { options.margin = 5 }
    let cables = wires.indices.map { index in
      let ends = wires[index].ends
      return DiagramCable(
        Self.key(ends.source.node), port(ends.source, \.outputs),
        to: Self.key(ends.destination.node), port(ends.destination, \.inputs),
        isFeedback: wires[index].isFeedback)
    }
    var sizes = boxes.map(\.size)
    diagram = DiagramMemo.diagram(diagramNodes(sizes), cables, options)
    // Boxes in a column have equal width.
    var isRagged = false
    for column in diagram.columns {
      let indices = column.compactMap { Self.id($0).flatMap { indexOf[$0] } }
      let widest = indices.map { sizes[$0].columns }.max() ?? 0
      for index in indices where sizes[index].columns < widest {
        sizes[index].columns = widest
        isRagged = true
      }
    }
    if isRagged { diagram = DiagramMemo.diagram(diagramNodes(sizes), cables, options) }
    frames = boxes.map { diagram.frames[Self.key($0.id)] ?? Rect(column: 0, row: 0, columns: 0, rows: 0) }
  }

  private func diagramNodes(_ sizes: [Size]) -> [DiagramNode] {
    zip(boxes, sizes).map { box, size in
      DiagramNode(
        Self.key(box.id), size: size, inputs: box.inputs.map(\.row), outputs: box.outputs.map(\.row),
        place: box.place.map { Point($0.column, $0.row) })
    }
  }

  private func port(_ port: PortReference, _ side: KeyPath<GraphBox, [GraphBox.Port]>) -> Int {
    guard let box = indexOf[port.node] else { return 0 }
    return boxes[box][keyPath: side].firstIndex { $0.name == port.port } ?? 0
  }
}

/// Cache of the pictures of the present patch and plan, by detail: levels change with every frame, all else rarely.
private enum PictureMemo {
  struct Key {
    private let form: ReportForm
    private let revision: Revision
    private let surroundings: Int
    let detail: GraphBox.Detail

    /// nil where a picture is not kept: for a report that no engine made, and with hints.
    init?(_ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail) {
      guard let form = scene.report.form, !(state.overlay is PortHints) else { return nil }
      (self.form, revision, surroundings) = (form, scene.patch.revision, scene.surroundings)
      self.detail = detail
    }

    func isSame(as other: Key) -> Bool {
      isOfSameScene(as: other) && detail == other.detail
    }

    func isOfSameScene(as other: Key) -> Bool {
      form === other.form && revision === other.revision && surroundings == other.surroundings
    }
  }

  private static let known = Mutex<[(key: Key, picture: GraphPicture)]>([])

  static func picture(_ key: Key) -> GraphPicture? {
    known.withLock { $0.first { $0.key.isSame(as: key) }?.picture }
  }

  static func keep(_ picture: GraphPicture, _ key: Key) {
    known.withLock { known in
      known.removeAll { $0.key.isSame(as: key) || !$0.key.isOfSameScene(as: key) }
      known.append((key, picture))
    }
  }

  // MARK: Choices

  /// The detail that was chosen for a size, until a box has another form.
  private static let choices = Mutex<[(key: Key, size: Size)]>([])

  static func choice(_ scene: Scene, _ state: ViewState, _ size: Size) -> GraphBox.Detail? {
    guard let key = Key(scene, state, .full) else { return nil }
    return choices.withLock { $0.first { $0.size == size && $0.key.isOfSameScene(as: key) }?.key.detail }
  }

  static func keepChoice(_ scene: Scene, _ state: ViewState, _ size: Size, _ detail: GraphBox.Detail) {
    guard let key = Key(scene, state, detail) else { return }
    choices.withLock { choices in
      choices.removeAll { $0.size == size || !$0.key.isOfSameScene(as: key) }
      choices.append((key, size))
    }
  }

  static func forgetChoices() { choices.withLock { $0 = [] } }
}

/// Cache of recent diagrams: most frames show the graph of the frame before, and the mouse and the arrow keys
/// need it again. A cached diagram equals a new one.
private enum DiagramMemo {
  private struct Key: Hashable {
    var nodes: [DiagramNode]
    var cables: [DiagramCable]
    var options: DiagramOptions
  }

  private static let known = Mutex<[Key: Diagram]>([:])

  static func diagram(_ nodes: [DiagramNode], _ cables: [DiagramCable], _ options: DiagramOptions) -> Diagram
  {
    let key = Key(nodes: nodes, cables: cables, options: options)
    if let diagram = known.withLock({ $0[key] }) { return diagram }
    let diagram = Diagram(nodes: nodes, cables: cables, options: options)
    known.withLock { known in
      if known.count >= 16 { known.removeAll() }
      known[key] = diagram
    }
    return diagram
  }
}
